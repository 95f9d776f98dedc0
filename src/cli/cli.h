/* cli/cli.h -- one run of the program: what its commands are given, and how they speak.
 *
 * Here:     the run's state, printing results and errors.
 * Not here: the table of commands (cli/command.h), reading argv (cli/args.h).
 * Owns:     the run owns its arena and settings; main() releases them.
 * Threads:  commands run on the main thread.
 * Errors:   printed once, on stderr: for people, or as JSON with --json.
 */
#ifndef LOCI_CLI_CLI_H
#define LOCI_CLI_CLI_H

#include "base/buf.h"
#include "base/config.h"
#include "cli/args.h"

enum { LOCI_CLI_TEXT_MAX = 1 << 20 }; /* most bytes of a text that a command prints */

struct loci_cli {
    loci_arena *arena;
    loci_args args;
    loci_config *config;
};

/* Print what was built, and an exit code: 1 when the text did not fit or stdout is gone. */
LOCI_MUST int loci_cli_print(const loci_cli *cli, const loci_buf *text);

/* "loci: message" on stderr, or {"detail", "code"} with --json. The value is `exit_code`. */
int loci_cli_fail(const loci_cli *cli, const loci_err *err, int exit_code);

/* Print the help of `command`, or the overview for NULL; the exit code. */
LOCI_MUST int loci_cli_explain(loci_cli *cli, const loci_command *command);

#endif
