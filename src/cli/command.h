/* cli/command.h -- the commands of the program, as one table.
 *
 * Here:     what a command is, and the table from which --help, the manual page and the shell
 *           completions are made.
 * Not here: reading argv (cli/args.h), what a command does (one file each).
 * Owns:     nothing: the table is constant.
 * Threads:  read-only.
 * Errors:   a command returns its exit code: 0 ok, 1 the operation failed, 2 usage.
 */
#ifndef LOCI_CLI_COMMAND_H
#define LOCI_CLI_COMMAND_H

#include "base/err.h"
#include "base/str.h"

enum { LOCI_EXIT_OK = 0, LOCI_EXIT_FAILED = 1, LOCI_EXIT_USAGE = 2 };

/* --name, or --name VALUE when `value` says what the value is. */
typedef struct loci_option {
    const char *name;
    const char *value;
    const char *help;
} loci_option;

typedef struct loci_cli loci_cli;

typedef struct loci_command {
    const char *name;
    const char *usage;          /* what follows the name: "[--listen HOST:PORT]" */
    const char *help;           /* one line */
    const char *details;        /* more, for --help and the manual; may be NULL */
    const loci_option *options; /* ends with a NULL name; may be NULL */
    size_t words_min, words_max;
    bool hidden;    /* not listed: for the build, not for people */
    bool no_config; /* runs whatever the settings are, also wrong ones */
    int (*run)(loci_cli *cli);
} loci_command;

/* All commands, in the order in which they are listed. */
const loci_command *loci_commands(size_t *ret_count);

/* The options that every command takes; ends with a NULL name. */
const loci_option *loci_global_options(void);

/* NULL when there is none. */
const loci_command *loci_command_find(loci_str name);

/* The error for a name that is no command's, with the one that was perhaps meant. */
LOCI_MUST loci_rc loci_command_unknown(const char *name, loci_err *err);

int loci_cli_serve(loci_cli *cli);
int loci_cli_version(loci_cli *cli);
int loci_cli_help(loci_cli *cli);
int loci_cli_config(loci_cli *cli);
int loci_cli_docs(loci_cli *cli);
int loci_cli_run_call(loci_cli *cli);
int loci_cli_ops(loci_cli *cli);
int loci_cli_verb(loci_cli *cli);
int loci_cli_backup(loci_cli *cli);
int loci_cli_restore(loci_cli *cli);
int loci_cli_run_org(loci_cli *cli);
int loci_cli_run_key(loci_cli *cli);

#endif
