/* cli/access.h -- what loci org and loci key have in common.
 *
 * Here:     times and absent texts, for people and as JSON; a verb that is none.
 * Not here: the commands (cli/orgs.c, cli/keys.c).
 * Owns:     nothing; texts live in the run's arena.
 * Threads:  the main one.
 * Errors:   none.
 */
#ifndef LOCI_CLI_ACCESS_H
#define LOCI_CLI_ACCESS_H

#include "base/json.h"
#include "cli/cli.h"

/* "2026-11-18T12:00:00Z"; "-" for 0. */
loci_str loci_cli_time(const loci_cli *cli, int64_t time);

/* The same as JSON, with null for 0; and a text, with null for none. */
void loci_cli_time_or_null(loci_json_writer *w, int64_t time);
void loci_cli_text_or_null(loci_json_writer *w, loci_str text);

/* The first word is not one of `verbs`; the exit code. */
LOCI_MUST int loci_cli_usage(const loci_cli *cli, const char *verbs);

#endif
