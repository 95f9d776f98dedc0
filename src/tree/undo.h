/* tree/undo.h -- bringing an agent back to how it was.
 *
 * Here:     undo to a time, as new revisions; what it would do.
 * Not here: reviving an agent alone (tree/agent.h).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread.
 * Errors:   LOCI_EINVAL when the agent did not exist at that time, LOCI_ELIMIT for more than
 * LOCI_UNDO_ROWS rows; else those of loci_write.
 *
 * Nothing is overwritten: what ended since comes back as a new revision, what was added since ends,
 * what was changed gets its old content as a new revision. So an undo can be undone, and done twice
 * it does nothing the second time. What other agents have in common with this one (a block linked
 * to them, an archive attached to them) is only listed, unless `shared` says to touch it too.
 */
#ifndef LOCI_TREE_UNDO_H
#define LOCI_TREE_UNDO_H

#include "tree/past.h"

enum {
    LOCI_UNDO_ROWS = 100000, /* most things that one undo may touch */
    LOCI_UNDO_LISTED = 1000  /* how many of them an answer lists */
};

typedef enum loci_undo_event {
    LOCI_UNDO_RESTORED, /* it had ended */
    LOCI_UNDO_REMOVED,  /* it had been added */
    LOCI_UNDO_REVERTED  /* it had been changed */
} loci_undo_event;

/* "restored", "removed", "reverted". */
const char *loci_undo_event_name(loci_undo_event event);

typedef struct loci_undo_item {
    loci_undo_event event;
    const char *table;
    int64_t obj;
    loci_str id, name, node; /* as in loci_past_row */
} loci_undo_item;

/* Something that other agents have too. */
typedef struct loci_undo_shared {
    const char *table; /* "block", "archive" */
    int64_t obj;
    loci_str id, name;
    int64_t agents; /* how many others */
    size_t rows;    /* how many things of it would be touched, or were */
} loci_undo_shared;

typedef struct loci_undo_result {
    size_t restored, removed, reverted;
    loci_undo_item *items; /* the first LOCI_UNDO_LISTED */
    size_t item_count;
    loci_undo_shared *shared; /* left alone; with the flag: touched */
    size_t shared_count;
    int64_t ver, born; /* of the write; 0 for a plan */
} loci_undo_result;

/* Zero means the default everywhere. */
typedef struct loci_undo_request {
    int64_t org, agent; /* the agent may have ended */
    int64_t to;
    const loci_past_table *const *tables; /* ends with NULL; NULL for the store's own */
    bool shared;                          /* touch what other agents have too */
    loci_str who, door;                   /* as in loci_write_request */
} loci_undo_request;

/* What an undo would do. */
LOCI_MUST loci_rc loci_undo_plan(loci_tx *tx, const loci_undo_request *request, loci_arena *arena,
                                 loci_undo_result *ret_result, loci_err *err);

/* Do it inside a closure; who and door are the closure's. */
LOCI_MUST loci_rc loci_undo_in(loci_change *change, const loci_undo_request *request,
                               loci_arena *arena, loci_undo_result *ret_result, loci_err *err);

/* Do it in one write of its own. */
LOCI_MUST loci_rc loci_undo(loci_writer *writer, const loci_undo_request *request,
                            loci_arena *arena, loci_undo_result *ret_result, loci_err *err);

#endif
