/* tree/forest.h -- the branch trees of organizations, held in memory.
 *
 * Here:     node names, chains and ancestry of live branches in microseconds; catching up.
 * Not here: the past (loci_branch_chain_at), writing (tree/branch.h).
 * Owns:     a forest owns its trees and borrows the store; chains go to the caller's arena.
 * Threads:  everything is safe from any thread. Readers of one tree share a lock; whoever brings
 * news holds it alone only while they are put in, not while they are read from the store.
 * Errors:   LOCI_ENOTFOUND for no such branch, LOCI_ECORRUPT for one whose ancestors do not lead to
 * the trunk, LOCI_ELIMIT past LOCI_FOREST_BRANCHES; else those of the store.
 *
 * A tree is caught up by version before it is read: one single-row SELECT when nothing happened.
 * A tree that the store no longer knows is loaded anew. Trees that were not used for longest leave
 * when the forest holds more than it may; what is in use stays.
 */
#ifndef LOCI_TREE_FOREST_H
#define LOCI_TREE_FOREST_H

#include "base/arena.h"
#include "db/db.h"
#include "tree/branch.h"

enum { LOCI_FOREST_BRANCHES = 10000000 }; /* most branches of one organization */

typedef struct loci_forest loci_forest;
typedef struct loci_view loci_view;

/* Zero means the default everywhere. */
typedef struct loci_forest_options {
    size_t bytes; /* most memory for trees that nobody is using: 256 MiB */
    size_t trees; /* most trees: 1,024 */
} loci_forest_options;

LOCI_MUST loci_rc loci_forest_new(loci_db *db, const loci_forest_options *options,
                                  loci_forest **ret_forest, loci_err *err);
/* Every view must have ended. NULL is fine. */
void loci_forest_free(loci_forest *forest);
LOCI_DEFINE_CLEANUP(loci_forest_freep, loci_forest, loci_forest_free)

typedef enum loci_freshness {
    LOCI_FRESH, /* everything committed before the call is there */
    LOCI_STALE  /* what is in memory, if anything is; does not ask the store */
} loci_freshness;

/* Look at an organization's tree. The view grows fresher while others look at it, never older. */
LOCI_MUST loci_rc loci_forest_view(loci_forest *forest, int64_t org, loci_freshness freshness,
                                   loci_view **ret_view, loci_err *err);
/* NULL is fine. */
void loci_view_end(loci_view *view);
LOCI_DEFINE_CLEANUP(loci_view_endp, loci_view, loci_view_end)

/* The agent's branch with that node id; the empty one is the trunk. */
LOCI_MUST loci_rc loci_view_find(loci_view *view, int64_t agent, loci_str node, int64_t *ret_branch,
                                 loci_err *err);

/* From `branch` to the trunk, in `arena`. Costs some nanoseconds per branch. */
LOCI_MUST loci_rc loci_view_chain(loci_view *view, int64_t agent, int64_t branch, loci_arena *arena,
                                  loci_chain *ret_chain, loci_err *err);

/* Is `above` an ancestor of `branch`? The trunk is one of every branch; nothing is its own. */
LOCI_MUST loci_rc loci_view_is_ancestor(loci_view *view, int64_t agent, int64_t above,
                                        int64_t branch, bool *ret_is, loci_err *err);

/* The node id of a branch, in `arena`; empty for the trunk. */
LOCI_MUST loci_rc loci_view_node(loci_view *view, int64_t agent, int64_t branch, loci_arena *arena,
                                 loci_str *ret_node, loci_err *err);

/* How many ancestors it has; 0 for the trunk. */
LOCI_MUST loci_rc loci_view_depth(loci_view *view, int64_t agent, int64_t branch, size_t *ret_depth,
                                  loci_err *err);

typedef struct loci_forest_counts {
    size_t trees, branches, bytes;
    uint64_t loads;   /* whole trees read */
    uint64_t updates; /* times that news were put in */
    uint64_t evicted;
} loci_forest_counts;

loci_forest_counts loci_forest_count(loci_forest *forest);

#endif
