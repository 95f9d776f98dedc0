/* tree/shape.h -- the shape of one organization's branch tree, as plain memory.
 *
 * Here:     who hangs below whom, by number and by node id; depths; chains.
 * Not here: where it comes from, locks, freshness (tree/forest.h).
 * Owns:     its arrays and the node ids.
 * Threads:  many readers or one changer at a time.
 * Errors:   LOCI_ENOMEM, LOCI_ELIMIT; a shape that failed to change must be thrown away.
 *
 * Every branch has a slot; slot 0 is the trunk. What a chain needs lies in 16 bytes per slot (obj,
 * parent's slot, depth, alive), so that a chain of ten thousand walks through 160 kB. Depths are
 * worked out once, when a branch comes: they say how long the chain will be, and whoever has no way
 * to the trunk (a circle, in damaged data) never gets one, so that no reader can walk in circles.
 * Branches may come in any order, also before their parents.
 */
#ifndef LOCI_TREE_SHAPE_H
#define LOCI_TREE_SHAPE_H

#include "base/arena.h"
#include "base/err.h"

typedef struct loci_shape loci_shape;

enum { LOCI_SHAPE_TRUNK = 0 }; /* the trunk's slot */
#define LOCI_SHAPE_NONE UINT32_MAX

typedef enum loci_shape_state {
    LOCI_SHAPE_WELL,     /* it has a way to the trunk */
    LOCI_SHAPE_GONE,     /* it is not alive */
    LOCI_SHAPE_ORPHAN,   /* an ancestor is not alive */
    LOCI_SHAPE_CIRCLE,   /* its ancestors form a circle */
    LOCI_SHAPE_TOO_DEEP, /* more than LOCI_CHAIN_MAX in its chain */
} loci_shape_state;

LOCI_MUST loci_shape *loci_shape_new(void); /* NULL when out of memory */
void loci_shape_free(loci_shape *shape);    /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_shape_freep, loci_shape, loci_shape_free)

/* A live revision `row` of branch `obj`. */
LOCI_MUST loci_rc loci_shape_add(loci_shape *shape, int64_t obj, int64_t row, int64_t agent,
                                 int64_t parent, loci_str node, loci_err *err);

/* Revision `row` of `obj` ended; nothing happens when a newer one is there already. */
void loci_shape_end(loci_shape *shape, int64_t obj, int64_t row);

/* Work out the depths of what was added. Needed before the next question. */
LOCI_MUST loci_rc loci_shape_settle(loci_shape *shape, loci_err *err);

/* Slots; LOCI_SHAPE_NONE for no live branch. */
uint32_t loci_shape_find(const loci_shape *shape, int64_t agent, loci_str node);
uint32_t loci_shape_slot(const loci_shape *shape, int64_t agent, int64_t obj);

/* How a live branch stands. A look at the whole chain for LOCI_SHAPE_ORPHAN is only taken by
 * loci_shape_chain. */
loci_shape_state loci_shape_check(const loci_shape *shape, uint32_t slot);
size_t loci_shape_depth(const loci_shape *shape, uint32_t slot);
int64_t loci_shape_obj(const loci_shape *shape, uint32_t slot);
loci_str loci_shape_node(const loci_shape *shape, uint32_t slot); /* borrowed */

/* Fill `ret_objs` with depth + 1 objs, from the slot to the trunk. Only for one that stands
 * LOCI_SHAPE_WELL; LOCI_SHAPE_ORPHAN: *ret_gone is the obj of the ancestor that is not alive. */
loci_shape_state loci_shape_chain(const loci_shape *shape, uint32_t slot, int64_t *ret_objs,
                                  int64_t *ret_gone);

/* Is `above` on the way from `slot` to the trunk? Both stand LOCI_SHAPE_WELL. */
bool loci_shape_is_above(const loci_shape *shape, uint32_t above, uint32_t slot);

size_t loci_shape_alive(const loci_shape *shape); /* branches, without the trunk */
size_t loci_shape_dead(const loci_shape *shape);  /* slots of branches that are gone */
size_t loci_shape_bytes(const loci_shape *shape);

#endif
