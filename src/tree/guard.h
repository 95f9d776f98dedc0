/* tree/guard.h -- what a caller may see and write: scopes and fences.
 *
 * Here:     the scope of one call, and the rules for writing, forking and promoting.
 * Not here: roles and keys (the doors), what is in a scope (the rooms that are handed one).
 * Owns:     nothing; a scope lives in the arena that it was made in.
 * Threads:  safe from any thread.
 * Errors:   LOCI_EDENIED names both nodes, the one that is allowed and the one that was asked for.
 *
 * A branch reads along its chain and writes only to itself. An explicit node is the current one of
 * a call; what a connection says is only the default. A fence is more: its caller may use that node
 * and no other, except that it may fork below it and promote to one of its ancestors.
 */
#ifndef LOCI_TREE_GUARD_H
#define LOCI_TREE_GUARD_H

#include "tree/forest.h"

/* What one call sees, and where it writes. Rooms hand it to SQL and to search as it is. */
typedef struct loci_scope {
    int64_t org, agent;
    int64_t branch;   /* the current one: LOCI_TRUNK or the first of the chain */
    loci_str node;    /* its node id; empty on the trunk */
    loci_chain chain; /* what is seen: the branch itself first, the trunk last */
    int64_t as_of;    /* LOCI_NEVER: now. A scope of the past cannot be written */
} loci_scope;

/* The node that a connection or key is tied to. */
typedef struct loci_fence {
    bool on;
    int64_t agent, branch;
} loci_fence;

/* The scope of the agent's branch `node` (empty: the trunk) at `as_of`. The present comes out of
 * the forest, the past out of the store. The agent's existence is the caller's to know. */
LOCI_MUST loci_rc loci_scope_open(loci_forest *forest, loci_tx *tx, int64_t org, int64_t agent,
                                  loci_str node, int64_t as_of, loci_arena *arena,
                                  loci_scope *ret_scope, loci_err *err);

/* The same by number, for a branch that is known; now. */
LOCI_MUST loci_rc loci_scope_of(loci_view *view, int64_t org, int64_t agent, int64_t branch,
                                loci_arena *arena, loci_scope *ret_scope, loci_err *err);

/* Is `branch` seen from the scope? */
bool loci_scope_sees(const loci_scope *scope, int64_t branch);

/* May a call in `scope` touch a row of `branch`? Only if it is the scope's own, and now. */
LOCI_MUST loci_rc loci_guard_write(loci_view *view, const loci_scope *scope, int64_t branch,
                                   loci_err *err);

/* May a fenced caller work in `scope`? */
LOCI_MUST loci_rc loci_guard_use(loci_view *view, const loci_fence *fence, const loci_scope *scope,
                                 loci_err *err);

/* May it fork below `parent`? The fence itself and whatever is below it; and not deeper than
 * LOCI_CHAIN_MAX allows. */
LOCI_MUST loci_rc loci_guard_fork(loci_view *view, const loci_fence *fence, int64_t agent,
                                  int64_t parent, loci_err *err);

/* May it promote from `child` to `above`? Only to an ancestor; fenced, only from its own node. */
LOCI_MUST loci_rc loci_guard_promote(loci_view *view, const loci_fence *fence, int64_t agent,
                                     int64_t child, int64_t above, loci_err *err);

#endif
