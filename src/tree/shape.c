#include "tree/shape.h"

#include "base/alloc.h"
#include "tree/branch.h"
#include "tree/forest.h"

#include <assert.h>
#include <string.h>

enum {
    UNKNOWN = UINT16_MAX,
    CIRCLE = UINT16_MAX - 1,
    DEEP = UINT16_MAX - 2,
    ON_PATH = UINT16_MAX - 3
};
static_assert((int)LOCI_CHAIN_MAX < (int)ON_PATH, "depths fit beside the marks");

/* What walking up needs. */
typedef struct hop {
    int64_t obj;
    uint32_t parent;
    uint16_t depth; /* or a mark */
    bool alive;
} hop;

/* The rest of a slot. */
typedef struct twig {
    int64_t row, agent;
    loci_str node;
    uint32_t next; /* in its bucket of names; only for live ones */
} twig;

struct loci_shape {
    hop *hops;
    twig *twigs;
    uint32_t count, room;
    uint32_t *by_obj; /* slot + 1, or 0: open addressing */
    uint32_t *names;  /* first slot of each bucket, or NONE */
    uint32_t buckets; /* of both; a power of two, at least twice the slots */
    uint32_t settled; /* slots below it have their depth */
    bool moved;       /* a branch got another parent: all depths anew */
    size_t alive;
    loci_arena *texts;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    return x;
}

static uint32_t obj_bucket(const loci_shape *s, int64_t obj)
{
    return (uint32_t)mix((uint64_t)obj) & (s->buckets - 1);
}

static uint32_t name_bucket(const loci_shape *s, int64_t agent, loci_str node)
{
    uint64_t h = (uint64_t)agent;

    for (size_t i = 0; i < node.len; i++)
        h = (h ^ (unsigned char)node.ptr[i]) * UINT64_C(0x100000001b3);
    return (uint32_t)mix(h) & (s->buckets - 1);
}

static uint32_t find_slot(const loci_shape *s, int64_t obj)
{
    for (uint32_t at = obj_bucket(s, obj); s->by_obj[at]; at = (at + 1) & (s->buckets - 1))
        if (s->hops[s->by_obj[at] - 1].obj == obj) return s->by_obj[at] - 1;
    return LOCI_SHAPE_NONE;
}

static void link_obj(loci_shape *s, uint32_t slot)
{
    uint32_t at = obj_bucket(s, s->hops[slot].obj);

    while (s->by_obj[at]) at = (at + 1) & (s->buckets - 1);
    s->by_obj[at] = slot + 1;
}

static void link_name(loci_shape *s, uint32_t slot)
{
    uint32_t at = name_bucket(s, s->twigs[slot].agent, s->twigs[slot].node);

    s->twigs[slot].next = s->names[at];
    s->names[at] = slot;
}

static void unlink_name(loci_shape *s, uint32_t slot)
{
    uint32_t *at = &s->names[name_bucket(s, s->twigs[slot].agent, s->twigs[slot].node)];

    while (*at != slot) at = &s->twigs[*at].next;
    *at = s->twigs[slot].next;
}

static bool grow_slots(loci_shape *s)
{
    uint32_t room = s->room ? 2 * s->room : 64;
    hop *hops = loci_realloc(s->hops, room * sizeof *hops);

    if (!hops) return false;
    s->hops = hops;
    twig *twigs = loci_realloc(s->twigs, room * sizeof *twigs);
    if (!twigs) return false;
    s->twigs = twigs;
    s->room = room;
    return true;
}

static bool grow_buckets(loci_shape *s)
{
    uint32_t buckets = s->buckets ? 2 * s->buckets : 256;
    uint32_t *by_obj = loci_zalloc(buckets * sizeof *by_obj);
    uint32_t *names = loci_zalloc(buckets * sizeof *names);

    if (!by_obj || !names) {
        loci_free(by_obj);
        loci_free(names);
        return false;
    }
    loci_free(s->by_obj);
    loci_free(s->names);
    s->by_obj = by_obj;
    s->names = names;
    s->buckets = buckets;
    memset(names, 0xff, buckets * sizeof *names);
    for (uint32_t i = 0; i < s->count; i++) {
        link_obj(s, i);
        if (i != LOCI_SHAPE_TRUNK && s->hops[i].alive) link_name(s, i);
    }
    return true;
}

/* The slot of `obj`; a new one is not alive and knows no parent. NONE: no memory. */
static uint32_t get_slot(loci_shape *s, int64_t obj)
{
    uint32_t slot = find_slot(s, obj);

    if (slot != LOCI_SHAPE_NONE) return slot;
    if (s->count == s->room && !grow_slots(s)) return LOCI_SHAPE_NONE;
    if (s->count >= s->buckets / 2 && !grow_buckets(s)) return LOCI_SHAPE_NONE;
    slot = s->count++;
    s->hops[slot] = (hop){ .obj = obj, .parent = LOCI_SHAPE_NONE, .depth = UNKNOWN };
    s->twigs[slot] = (twig){ .next = LOCI_SHAPE_NONE };
    link_obj(s, slot);
    return slot;
}

loci_shape *loci_shape_new(void)
{
    LOCI_AUTO(loci_shape_freep) loci_shape *s = loci_zalloc(sizeof *s);

    if (!s) return NULL;
    s->texts = loci_arena_new((size_t)LOCI_FOREST_BRANCHES * (LOCI_NODE_BYTES + 32));
    if (!s->texts || !grow_slots(s) || !grow_buckets(s)) return NULL;
    (void)get_slot(s, LOCI_TRUNK); /* there is room */
    s->hops[LOCI_SHAPE_TRUNK].depth = 0;
    s->hops[LOCI_SHAPE_TRUNK].alive = true;
    s->settled = 1;
    return LOCI_TAKE(s);
}

void loci_shape_free(loci_shape *shape)
{
    if (!shape) return;
    loci_arena_free(shape->texts);
    loci_free(shape->hops);
    loci_free(shape->twigs);
    loci_free(shape->by_obj);
    loci_free(shape->names);
    loci_free(shape);
}

static loci_rc take_node(loci_shape *s, uint32_t slot, loci_str node, loci_err *err)
{
    if (loci_str_eq(s->twigs[slot].node, node)) return LOCI_OK;
    loci_str copy = loci_arena_str(s->texts, node);
    if (!copy.ptr) return loci_arena_fail(s->texts, err);
    s->twigs[slot].node = copy;
    return LOCI_OK;
}

/* A placeholder gets its parent; settled already, it makes all depths doubtful. */
static void take_parent(loci_shape *s, uint32_t slot, uint32_t parent)
{
    if (s->hops[slot].parent == parent) return;
    s->hops[slot].parent = parent;
    if (slot < s->settled) s->moved = true;
}

loci_rc loci_shape_add(loci_shape *shape, int64_t obj, int64_t row, int64_t agent, int64_t parent,
                       loci_str node, loci_err *err)
{
    if (shape->count > LOCI_FOREST_BRANCHES)
        return loci_fail(err, LOCI_ELIMIT, "the organization has more than %d branches",
                         LOCI_FOREST_BRANCHES);
    uint32_t up = get_slot(shape, parent), slot = get_slot(shape, obj);
    if (up == LOCI_SHAPE_NONE || slot == LOCI_SHAPE_NONE)
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (slot == LOCI_SHAPE_TRUNK)
        return loci_fail(err, LOCI_ECORRUPT, "a branch has the number of the trunk");
    if (shape->hops[slot].alive) {
        unlink_name(shape, slot);
        shape->hops[slot].alive = false;
        shape->alive--;
    }
    loci_rc rc = take_node(shape, slot, node, err);
    if (rc) return rc;
    take_parent(shape, slot, up);
    shape->twigs[slot].row = row;
    shape->twigs[slot].agent = agent;
    shape->hops[slot].alive = true;
    shape->alive++;
    link_name(shape, slot);
    return LOCI_OK;
}

void loci_shape_end(loci_shape *shape, int64_t obj, int64_t row)
{
    uint32_t slot = find_slot(shape, obj);

    if (slot == LOCI_SHAPE_NONE || slot == LOCI_SHAPE_TRUNK || !shape->hops[slot].alive ||
        shape->twigs[slot].row != row)
        return;
    unlink_name(shape, slot);
    shape->hops[slot].alive = false;
    shape->alive--;
}

/* Give depths to `slot` and to all above it that have none. `path` has room for all of them. */
static void settle_one(loci_shape *s, uint32_t slot, uint32_t *path)
{
    uint32_t n = 0, at = slot;

    while (at != LOCI_SHAPE_NONE && s->hops[at].depth == UNKNOWN) {
        s->hops[at].depth = ON_PATH;
        path[n++] = at;
        at = s->hops[at].parent;
    }
    /* A placeholder that nothing was told about counts as hanging below the trunk: it is not alive,
     * which is what its children are told. */
    uint16_t depth = at == LOCI_SHAPE_NONE ? 0 : s->hops[at].depth;
    if (depth == ON_PATH) depth = CIRCLE;
    while (n > 0) {
        if (depth < LOCI_CHAIN_MAX - 1)
            depth++;
        else if (depth < ON_PATH)
            depth = DEEP;
        s->hops[path[--n]].depth = depth;
    }
}

loci_rc loci_shape_settle(loci_shape *shape, loci_err *err)
{
    if (shape->settled == shape->count && !shape->moved) return LOCI_OK;
    uint32_t settled = shape->moved ? 1 : shape->settled;
    LOCI_AUTO(loci_freep)
    uint32_t *path = loci_zalloc((shape->count - settled) * sizeof *path);
    if (!path) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    for (uint32_t i = settled; i < shape->count; i++) shape->hops[i].depth = UNKNOWN;
    shape->settled = settled;
    shape->moved = false;
    while (shape->settled < shape->count) settle_one(shape, shape->settled++, path);
    return LOCI_OK;
}

uint32_t loci_shape_find(const loci_shape *shape, int64_t agent, loci_str node)
{
    if (!node.len) return LOCI_SHAPE_TRUNK;
    uint32_t slot = shape->names[name_bucket(shape, agent, node)];
    while (slot != LOCI_SHAPE_NONE &&
           (shape->twigs[slot].agent != agent || !loci_str_eq(shape->twigs[slot].node, node)))
        slot = shape->twigs[slot].next;
    return slot;
}

uint32_t loci_shape_slot(const loci_shape *shape, int64_t agent, int64_t obj)
{
    uint32_t slot = find_slot(shape, obj);

    if (slot == LOCI_SHAPE_NONE || slot == LOCI_SHAPE_TRUNK) return slot;
    return shape->hops[slot].alive && shape->twigs[slot].agent == agent ? slot : LOCI_SHAPE_NONE;
}

loci_shape_state loci_shape_check(const loci_shape *shape, uint32_t slot)
{
    const hop *h = &shape->hops[slot];

    if (!h->alive) return LOCI_SHAPE_GONE;
    assert(h->depth != UNKNOWN && h->depth != ON_PATH);
    if (h->depth == CIRCLE) return LOCI_SHAPE_CIRCLE;
    return h->depth == DEEP ? LOCI_SHAPE_TOO_DEEP : LOCI_SHAPE_WELL;
}

size_t loci_shape_depth(const loci_shape *shape, uint32_t slot)
{
    return shape->hops[slot].depth;
}

int64_t loci_shape_obj(const loci_shape *shape, uint32_t slot)
{
    return shape->hops[slot].obj;
}

loci_str loci_shape_node(const loci_shape *shape, uint32_t slot)
{
    return shape->twigs[slot].node;
}

loci_shape_state loci_shape_chain(const loci_shape *shape, uint32_t slot, int64_t *ret_objs,
                                  int64_t *ret_gone)
{
    const hop *hops = shape->hops;
    size_t n = 0;

    for (;;) {
        const hop *h = &hops[slot];
        if (!h->alive) {
            *ret_gone = h->obj;
            return LOCI_SHAPE_ORPHAN;
        }
        ret_objs[n++] = h->obj;
        if (slot == LOCI_SHAPE_TRUNK) return LOCI_SHAPE_WELL;
        slot = h->parent;
    }
}

bool loci_shape_is_above(const loci_shape *shape, uint32_t above, uint32_t slot)
{
    const hop *hops = shape->hops;

    while (slot != LOCI_SHAPE_NONE && hops[slot].depth > hops[above].depth) {
        slot = hops[slot].parent;
        if (slot == above) return true;
    }
    return false;
}

size_t loci_shape_alive(const loci_shape *shape)
{
    return shape->alive;
}

size_t loci_shape_dead(const loci_shape *shape)
{
    return shape->count - 1 - shape->alive;
}

size_t loci_shape_bytes(const loci_shape *shape)
{
    return sizeof *shape + shape->room * (sizeof(hop) + sizeof(twig)) +
           2 * shape->buckets * sizeof(uint32_t) + loci_arena_used(shape->texts);
}
