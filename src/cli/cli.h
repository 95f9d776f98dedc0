/* cli/cli.h -- one run of the program: what its commands are given, and how they speak.
 *
 * Here:     the run's state, opening the store, calling operations, printing results and errors.
 * Not here: the table of commands (cli/command.h), reading argv (cli/args.h).
 * Owns:     the run owns its arena, settings and application; main() releases them.
 * Threads:  commands run on the main thread.
 * Errors:   printed once, on stderr: for people, or as JSON with --json.
 */
#ifndef LOCI_CLI_CLI_H
#define LOCI_CLI_CLI_H

#include "base/buf.h"
#include "base/config.h"
#include "cli/args.h"
#include "ops/app.h"

enum {
    LOCI_CLI_TEXT_MAX = 1 << 20,     /* most bytes of a text that a command prints */
    LOCI_CLI_ANSWER_MAX = 256 << 20, /* most bytes of an operation's answer */
};

struct loci_cli {
    loci_arena *arena;
    loci_args args;
    loci_config *config;
    loci_app *app; /* NULL until loci_cli_open */
};

/* Open the store, once. */
LOCI_MUST loci_rc loci_cli_open(loci_cli *cli, loci_err *err);

/* The organization that --org names, or the default one; opens the store. */
LOCI_MUST loci_rc loci_cli_org(loci_cli *cli, int64_t *ret_org, loci_err *err);

/* Whoever runs the program: admin of the organization, as whom revisions are remembered. */
#define LOCI_CLI_ACTOR LOCI_STR("cli")

/* Run one operation and append its JSON. *ret_refused: it is a failure that the operation itself
 * words; print it, and exit with 1. */
LOCI_MUST loci_rc loci_cli_call(loci_cli *cli, loci_str op, loci_str input, loci_buf *out,
                                bool *ret_refused, loci_err *err);

/* Print what was built, and an exit code: 1 when the text did not fit or stdout is gone. */
LOCI_MUST int loci_cli_print(const loci_cli *cli, const loci_buf *text);

/* Print rows as cli/table.h says; the exit code. */
LOCI_MUST int loci_cli_rows(const loci_cli *cli, const loci_str *cells, size_t columns,
                            size_t rows);

/* "loci: message" on stderr, or {"detail", "code"} with --json. The value is `exit_code`. */
int loci_cli_fail(const loci_cli *cli, const loci_err *err, int exit_code);

/* Print the help of `command`, or the overview for NULL; the exit code. */
LOCI_MUST int loci_cli_explain(loci_cli *cli, const loci_command *command);

#endif
