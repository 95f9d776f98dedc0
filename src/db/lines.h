/* db/lines.h -- files of lines, plain or gzip, in and out.
 *
 * Here:     writing one privately, whole or not at all; reading one line by line with a limit.
 * Not here: what stands in a line (db/carry.h).
 * Owns:     an open file and its buffers; a line that was read is borrowed until the next.
 * Threads:  one file, one thread at a time.
 * Errors:   LOCI_ECORRUPT for a damaged or cut gzip file or a last line without its end,
 *           LOCI_ELIMIT for a line that is too long, LOCI_ECONFLICT when the file exists; and
 *           LOCI_EIO, LOCI_EDENIED, LOCI_ENOTFOUND, LOCI_EINVAL as in base/fs.h.
 */
#ifndef LOCI_DB_LINES_H
#define LOCI_DB_LINES_H

#include "base/err.h"
#include "base/str.h"

enum { LOCI_LINE_BYTES = 64 << 20 }; /* longest line, without its end */

typedef struct loci_lines_out loci_lines_out;

/* Begin a file at `path`; "-" is standard output; a name that ends in .gz is compressed. It is
 * written under another name with mode 0600 and gets its own in loci_lines_finish. */
LOCI_MUST loci_rc loci_lines_create(const char *path, bool replace, loci_lines_out **ret_out,
                                    loci_err *err);
/* `line` without its end. */
LOCI_MUST loci_rc loci_lines_put(loci_lines_out *out, loci_str line, loci_err *err);
/* Bring it to the disk and under its name. */
LOCI_MUST loci_rc loci_lines_finish(loci_lines_out *out, loci_err *err);
/* What was not finished is removed. NULL is fine. */
void loci_lines_out_free(loci_lines_out *out);
LOCI_DEFINE_CLEANUP(loci_lines_out_freep, loci_lines_out, loci_lines_out_free)

typedef struct loci_lines_in loci_lines_in;

/* A regular file; whether it is gzip, its first bytes tell. */
LOCI_MUST loci_rc loci_lines_open(const char *path, loci_lines_in **ret_in, loci_err *err);
/* The same from memory, which must outlive the reader. */
LOCI_MUST loci_rc loci_lines_open_memory(loci_str bytes, loci_lines_in **ret_in, loci_err *err);
/* Begin again at the first line. */
LOCI_MUST loci_rc loci_lines_rewind(loci_lines_in *in, loci_err *err);
/* LOCI_OK: the next line, without its end. LOCI_DONE: no more. */
LOCI_MUST loci_rc loci_lines_next(loci_lines_in *in, loci_str *ret_line, loci_err *err);
/* The number of the last line, from 1. */
size_t loci_lines_number(const loci_lines_in *in);
/* Bytes of the file read so far, and how many there are. */
int64_t loci_lines_position(const loci_lines_in *in);
int64_t loci_lines_size(const loci_lines_in *in);
void loci_lines_in_free(loci_lines_in *in);
LOCI_DEFINE_CLEANUP(loci_lines_in_freep, loci_lines_in, loci_lines_in_free)

#endif
