/* db/progress.h -- how long work tells how far it is, and how it is stopped.
 *
 * Here:     one callback type.
 * Not here: the bar on the terminal.
 * Owns:     nothing.
 * Threads:  called in the thread that does the work.
 * Errors:   what the callback returns ends the work cleanly.
 */
#ifndef LOCI_DB_PROGRESS_H
#define LOCI_DB_PROGRESS_H

#include "base/err.h"

#include <stdint.h>

typedef struct loci_progress {
    const char *what; /* "checking", "writing": a constant */
    int64_t done;     /* bytes, rows or steps */
    int64_t total;    /* 0 when it is not known */
} loci_progress;

typedef loci_rc (*loci_progress_fn)(const loci_progress *progress, void *arg, loci_err *err);

/* Tell it, if somebody listens. */
LOCI_MUST static inline loci_rc loci_progress_tell(loci_progress_fn tell, void *arg,
                                                   const char *what, int64_t done, int64_t total,
                                                   loci_err *err)
{
    loci_progress p = { what, done, total };

    return tell ? tell(&p, arg, err) : LOCI_OK;
}

#endif
