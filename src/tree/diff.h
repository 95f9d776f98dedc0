/* tree/diff.h -- what is not the same at two times.
 *
 * Here:     added, ended and changed things of an agent, with their old and new content.
 * Not here: every step in between (loci_log_read in tree/history.h).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread, each with its own transaction.
 * Errors:   LOCI_EINVAL when `to` is not after `from`; LOCI_ELIMIT when the arena is full.
 *
 * What came and went in between is not shown, nor what was changed and changed back.
 */
#ifndef LOCI_TREE_DIFF_H
#define LOCI_TREE_DIFF_H

#include "tree/past.h"

enum { LOCI_DIFF_PAGE = 10000 }; /* most entries in one answer */

typedef enum loci_diff_event {
    LOCI_DIFF_ADDED,
    LOCI_DIFF_CHANGED,
    LOCI_DIFF_ENDED
} loci_diff_event;

/* "added", "changed", "ended". */
const char *loci_diff_event_name(loci_diff_event event);

/* A column that is not the same. */
typedef struct loci_diff_field {
    const loci_past_value *old, *new;
} loci_diff_field;

typedef struct loci_diff_entry {
    loci_diff_event event;
    const char *table;
    const loci_past_row *old, *new; /* old is NULL when added, new when ended */
    const loci_diff_field *fields;  /* of a change */
    size_t field_count;
} loci_diff_entry;

typedef struct loci_diff {
    loci_diff_entry *entries; /* table by table, in the order of birth */
    size_t count;
    bool more; /* there was no room for all */
} loci_diff;

/* Zero means the default everywhere. */
typedef struct loci_diff_request {
    int64_t org, agent;
    int64_t from, to;                     /* LOCI_NEVER: now */
    const loci_past_table *const *tables; /* ends with NULL; NULL for the store's own */
    size_t limit;                         /* 1..LOCI_DIFF_PAGE; LOCI_DIFF_PAGE */
} loci_diff_request;

LOCI_MUST loci_rc loci_diff_read(loci_tx *tx, const loci_diff_request *request, loci_arena *arena,
                                 loci_diff *ret_diff, loci_err *err);

#endif
