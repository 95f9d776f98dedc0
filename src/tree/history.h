/* tree/history.h -- every revision of one thing, and what happened to an agent.
 *
 * Here:     history by public id; the log of an agent, newest first.
 * Not here: comparing two times (tree/diff.h), going back (tree/undo.h).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread, each with its own transaction.
 * Errors:   LOCI_ENOTFOUND for an id that nothing ever had, LOCI_EINVAL for a bad page.
 */
#ifndef LOCI_TREE_HISTORY_H
#define LOCI_TREE_HISTORY_H

#include "tree/past.h"

typedef struct loci_history {
    const loci_past_table *table;
    int64_t obj;
    loci_past_row *revisions; /* oldest first */
    size_t count;
} loci_history;

/* All revisions of the thing with public id `id`, dead or alive. `tables` ends with NULL; NULL for
 * the store's own. */
LOCI_MUST loci_rc loci_history_read(loci_tx *tx, const loci_past_table *const *tables, int64_t org,
                                    loci_str id, loci_arena *arena, loci_history *ret_history,
                                    loci_err *err);

enum {
    LOCI_LOG_PAGE = 1000,     /* most entries in one answer */
    LOCI_LOG_TEXT_BYTES = 400 /* how much of a text an entry shows */
};

typedef enum loci_log_event {
    LOCI_LOG_ADDED,
    LOCI_LOG_CHANGED,
    LOCI_LOG_REVIVED, /* it had ended, and came back */
    LOCI_LOG_ENDED
} loci_log_event;

/* "added", "changed", "revived", "ended". */
const char *loci_log_event_name(loci_log_event event);

typedef struct loci_log_entry {
    int64_t at;
    loci_log_event event;
    const char *table;
    int64_t obj, row, rev;
    loci_str who, door;      /* of this event; who.ptr is NULL when nobody is known */
    loci_str id, name, node; /* as in loci_past_row */
    loci_str text;           /* its beginning, whole characters */
    size_t text_bytes;       /* how long it is as a whole */
} loci_log_entry;

typedef struct loci_log {
    loci_log_entry *entries;
    size_t count;
    loci_str next; /* hand it in as `behind` for the next page; ptr is NULL on the last */
} loci_log;

/* Zero means the default everywhere. */
typedef struct loci_log_request {
    int64_t org, agent;
    const loci_past_table *const *tables; /* ends with NULL; NULL for the store's own */
    size_t limit;                         /* 1..LOCI_LOG_PAGE; 50 */
    loci_str behind;                      /* `next` of the page before */
} loci_log_request;

/* What happened to the agent, its branches, links, messages, to blocks while they were linked to it
 * and to passages while it had their archive: newest first. */
LOCI_MUST loci_rc loci_log_read(loci_tx *tx, const loci_log_request *request, loci_arena *arena,
                                loci_log *ret_log, loci_err *err);

#endif
