/* cli/progress.h -- the bar that long work shows on a terminal.
 *
 * Here:     a callback for db/progress.h that draws on stderr.
 * Not here: what the work is.
 * Owns:     nothing.
 * Threads:  the one that works.
 * Errors:   never ends the work.
 */
#ifndef LOCI_CLI_PROGRESS_H
#define LOCI_CLI_PROGRESS_H

#include "db/progress.h"

#include <stdbool.h>

/* What the bar remembers; zeros to begin with. */
typedef struct loci_bar {
    int64_t drawn; /* when, by the steady clock: it is not drawn more often than the eye can see */
    bool visible;
} loci_bar;

/* Give it with a loci_bar as its arg. In a pipe it draws nothing. */
LOCI_MUST loci_rc loci_bar_tell(const loci_progress *progress, void *bar, loci_err *err);

/* Wipe it off, before anything else is printed. */
void loci_bar_end(loci_bar *bar);

#endif
