/* tree/branch.h -- branches of an agent's memory, as the store has them.
 *
 * Here:     forking, finding, listing and ending branches; chains of the past.
 * Not here: chains of the present (tree/forest.h), who may fork what (tree/guard.h).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread; writes run inside a closure of loci_write.
 * Errors:   LOCI_ENOTFOUND for no such branch, LOCI_ECONFLICT when the node exists elsewhere or has
 * children, LOCI_ECORRUPT for a chain that does not end at the trunk.
 *
 * The trunk always exists and has no row: it is branch 0, and its node id is the empty string. A
 * branch never moves to another parent, so that its chain, once known, stays true while it lives.
 */
#ifndef LOCI_TREE_BRANCH_H
#define LOCI_TREE_BRANCH_H

#include "base/arena.h"
#include "db/write.h"

enum {
    LOCI_TRUNK = 0,
    LOCI_NODE_BYTES = 512,           /* longest node id */
    LOCI_CHAIN_MAX = 16384,          /* most branches in one chain, the trunk included */
    LOCI_BRANCH_PAGE = 1000,         /* most branches in one answer */
    LOCI_BRANCH_ENDS = 100000,       /* most branches that one call may end */
    LOCI_BRANCH_TEXT_BYTES = 1 << 20 /* longest title or metadata */
};

#define LOCI_BRANCH_PREFIX "branch"

/* One revision of a branch. */
typedef struct loci_branch {
    int64_t obj, row, rev, born, ended;
    int64_t agent, parent; /* objs; parent LOCI_TRUNK hangs below the trunk */
    loci_str id, node, title, metadata, extra;
    int64_t created_at;
} loci_branch;

typedef struct loci_branches {
    loci_branch *items;
    size_t count;
} loci_branches;

/* A branch, its parent, and so on up to the trunk, which is the last. */
typedef struct loci_chain {
    int64_t agent;
    const int64_t *branches; /* objs; the last is LOCI_TRUNK */
    size_t count;            /* at least 1 */
} loci_chain;

typedef struct loci_branch_values {
    loci_str id;   /* public, made before the write */
    loci_str node; /* the caller's name for it, unique among the agent's live branches */
    loci_str title, metadata;
} loci_branch_values;

/* A node id is 1..LOCI_NODE_BYTES bytes of UTF-8 without NUL. */
LOCI_MUST loci_rc loci_node_check(loci_str node, loci_err *err);

/* Add one row below `parent`; nothing is copied, whatever the parent holds. A node that exists
 * below the same parent is left as it is: *ret_created false. Below another it is LOCI_ECONFLICT.
 */
LOCI_MUST loci_rc loci_branch_fork(loci_change *change, int64_t agent, int64_t parent,
                                   const loci_branch_values *values, int64_t *ret_obj,
                                   bool *ret_created, loci_err *err);

/* The branch called values->node, wherever it hangs; made below the trunk when there is none. The
 * empty node is the trunk. */
LOCI_MUST loci_rc loci_branch_ensure(loci_change *change, int64_t agent,
                                     const loci_branch_values *values, int64_t *ret_obj,
                                     bool *ret_created, loci_err *err);

/* End it; with `below` everything under it first, else a branch with children is LOCI_ECONFLICT.
 * *ret_count: how many ended. */
LOCI_MUST loci_rc loci_branch_end(loci_change *change, int64_t agent, int64_t obj, bool below,
                                  int64_t *ret_count, loci_err *err);

/* By node id, at `time` (LOCI_NEVER: now). */
LOCI_MUST loci_rc loci_branch_find(loci_tx *tx, int64_t org, int64_t agent, loci_str node,
                                   int64_t time, loci_arena *arena, loci_branch *ret_branch,
                                   loci_err *err);

/* By public id, now. */
LOCI_MUST loci_rc loci_branch_find_id(loci_tx *tx, int64_t org, loci_str id, loci_arena *arena,
                                      loci_branch *ret_branch, loci_err *err);

/* By number, at `time` (LOCI_NEVER: now). */
LOCI_MUST loci_rc loci_branch_get(loci_tx *tx, int64_t org, int64_t obj, int64_t time,
                                  loci_arena *arena, loci_branch *ret_branch, loci_err *err);

/* Live children of `parent` in the order of their birth, behind `behind` (0: from the first);
 * at most `limit` (1..LOCI_BRANCH_PAGE). */
LOCI_MUST loci_rc loci_branch_children(loci_tx *tx, int64_t org, int64_t agent, int64_t parent,
                                       int64_t behind, size_t limit, loci_arena *arena,
                                       loci_branches *ret_branches, loci_err *err);

/* The chain as it was at `time`, read from the store: a millisecond for some hundred branches.
 * For the present, tree/forest.h has it in microseconds. */
LOCI_MUST loci_rc loci_branch_chain_at(loci_tx *tx, int64_t org, int64_t agent, int64_t obj,
                                       int64_t time, loci_arena *arena, loci_chain *ret_chain,
                                       loci_err *err);

#endif
