/* tree/label.h -- which labelled blocks a branch sees.
 *
 * Here:     resolving block links along a chain, and writing links and tombstones.
 * Not here: the blocks themselves, copy on write, budgets (the memory room).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread; writes run inside a closure of loci_write.
 * Errors:   LOCI_ENOTFOUND for a label that is not seen, LOCI_EINVAL and LOCI_ELIMIT for a bad
 * label, LOCI_EDENIED for writing in a scope of the past.
 *
 * For one label the nearest branch of the chain wins. A link with block 0 is a tombstone: from that
 * branch on down the label is not seen.
 */
#ifndef LOCI_TREE_LABEL_H
#define LOCI_TREE_LABEL_H

#include "tree/guard.h"

enum {
    LOCI_LABEL_BYTES = 512, /* longest label */
    LOCI_TOMBSTONE = 0      /* the block of a link that hides its label */
};

typedef struct loci_label {
    loci_str label;
    int64_t block;  /* its obj */
    int64_t branch; /* where the link is: the scope's own, or an ancestor */
    int64_t place;  /* order in the prompt */
    int64_t obj, row, rev, born;
} loci_label;

typedef struct loci_labels {
    loci_label *items;
    size_t count;
} loci_labels;

/* A label is 1..LOCI_LABEL_BYTES bytes of UTF-8 without NUL. */
LOCI_MUST loci_rc loci_label_check(loci_str label, loci_err *err);

/* All labels that the scope sees, by place, then by label. Works for the past as well. */
LOCI_MUST loci_rc loci_label_list(loci_tx *tx, const loci_scope *scope, loci_arena *arena,
                                  loci_labels *ret_labels, loci_err *err);

/* The link that the scope sees under `label`. */
LOCI_MUST loci_rc loci_label_find(loci_tx *tx, const loci_scope *scope, loci_str label,
                                  loci_arena *arena, loci_label *ret_label, loci_err *err);

/* Link `block` under `label` on the scope's own branch: a new link, or a new revision of the one
 * that is there. The same block and place again changes nothing. */
LOCI_MUST loci_rc loci_label_link(loci_change *change, const loci_scope *scope, loci_str label,
                                  int64_t block, int64_t place, loci_err *err);

/* End the link on the scope's own branch; what an ancestor has under the label is seen again. */
LOCI_MUST loci_rc loci_label_unlink(loci_change *change, const loci_scope *scope, loci_str label,
                                    loci_err *err);

/* Let the label be seen no more from the scope's branch on down: its own link ends, and where an
 * ancestor would show through, a tombstone stays. */
LOCI_MUST loci_rc loci_label_drop(loci_change *change, const loci_scope *scope, loci_str label,
                                  loci_err *err);

#endif
