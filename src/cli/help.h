/* cli/help.h -- the texts that are made from the tables: help, manual page, shell completions.
 *
 * Here:     writing them into a buffer.
 * Not here: the tables (cli/command.h, base/config.h).
 * Owns:     nothing.
 * Threads:  one buffer, one thread at a time.
 * Errors:   sticky in the buffer.
 */
#ifndef LOCI_CLI_HELP_H
#define LOCI_CLI_HELP_H

#include "base/buf.h"
#include "cli/command.h"

/* loci --help: all commands and the global options. */
void loci_help_overview(loci_buf *out);

/* loci COMMAND --help. */
void loci_help_command(loci_buf *out, const loci_command *command);

/* The manual page loci(1), in mdoc. */
void loci_help_manual(loci_buf *out);

/* Completion scripts; `shell` is "bash", "zsh" or "fish". False for another. */
LOCI_MUST bool loci_help_completion(loci_buf *out, loci_str shell);

#endif
