/* ops/format.h -- the named forms that a string field may be asked to have.
 *
 * Here:     date, date-time, host-path, <prefix>-id: what `format` in a schema may say.
 * Not here: what the texts mean: dates become times in base/date.h, paths in ops/path.h.
 * Owns:     nothing; formats are constants.
 * Threads:  pure functions.
 * Errors:   none.
 */
#ifndef LOCI_OPS_FORMAT_H
#define LOCI_OPS_FORMAT_H

#include "base/str.h"

typedef struct loci_format {
    const char *name;
    const char *what; /* completes "must be ..." */
    bool (*check)(loci_str format_name, loci_str text);
} loci_format;

/* The format called `name`, or NULL. A name such as "passage-id" finds the family of ids; hand the
 * same name to its check. */
const loci_format *loci_format_find(loci_str name);

/* Whether a field of this format is a path of the host. */
bool loci_format_is_path(const loci_format *format);

#endif
