/* cli/table.h -- rows for people: aligned on a terminal, separated by tabs in a pipe.
 *
 * Here:     laying out cells that the caller made.
 * Not here: JSON (the commands write it themselves with --json).
 * Owns:     nothing: cells are borrowed, output goes to the caller's buffer.
 * Threads:  pure.
 * Errors:   sticky in the buffer.
 */
#ifndef LOCI_CLI_TABLE_H
#define LOCI_CLI_TABLE_H

#include "base/buf.h"

/* `rows` rows of `columns` cells each, row by row; the first row is the heading, which a pipe does
 * not get. Control characters in cells become blanks. */
void loci_table_write(loci_buf *out, const loci_str *cells, size_t columns, size_t rows,
                      bool terminal);

#endif
