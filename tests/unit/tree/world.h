/* tests/unit/tree/world.h -- a store with agents, and short ways to do things to them.
 *
 * Here:     opening a store with the tree room, one-line writes, rows of the memory room's tables.
 * Not here: what is tested.
 * Owns:     a world owns its store, writer, forest and arena.
 * Threads:  a world may be used by several; its arena by one.
 * Errors:   whatever fails, fails the test, unless the call returns a loci_rc.
 */
#ifndef LOCI_TEST_WORLD_H
#define LOCI_TEST_WORLD_H

#include "db/catchup.h"
#include "db/schema.h"
#include "db/write.h"
#include "store.h"
#include "tree/agent.h"
#include "tree/branch.h"
#include "tree/forest.h"
#include "tree/guard.h"
#include "tree/label.h"
#include "tree/statements.h"

enum { ORG = LOCI_DEFAULT_ORG };

typedef struct world {
    loci_db *db;
    loci_writer *writer;
    loci_forest *forest;
    loci_arena *arena;
    int64_t born; /* of the last write */
} world;

extern const loci_db_room world_room;
extern const loci_db_room *const world_rooms[];

world world_open(const char *url);
void world_close(world *w);

typedef enum world_op {
    CREATE,  /* agent `name` with id `id`: obj */
    ENSURE,  /* agent `name`, or `id` when it is new: obj, created */
    RENAME,  /* agent `obj` to `name` */
    END,     /* agent `obj` */
    REVIVE,  /* agent `obj` */
    FORK,    /* node `name` of `agent` below `parent`: obj, created */
    GROW,    /* the same wherever it is, else below the trunk */
    CUT,     /* branch `obj` of `agent` */
    CUT_ALL, /* the same with all below it: count */
    LINK,    /* block `obj` as `name` in `scope`, at `place` */
    UNLINK,  /* `name` in `scope` */
    DROP,    /* `name` in `scope` */
    BLOCK,   /* with label `name` and value `text`: obj */
    MESSAGE, /* `text` of `agent` on branch `parent`: obj */
    ARCHIVE, /* called `name`: obj */
    ATTACH,  /* archive `obj` to `agent` */
    PASSAGE, /* `text` in archive `parent`; with `agent` and `branch` when it has one: obj */
    SET,     /* block, message or passage `obj` of `table` gets `text` */
    KILL,    /* whatever `obj` is in `table` */
} world_op;

typedef struct act {
    world_op op;
    const char *name, *id, *text;
    int64_t agent, parent, branch, place;
    const loci_scope *scope;
    const loci_past_table *table;
    int64_t obj; /* in or out */
    int64_t count;
    bool created;
} act;

/* Do it in one write; w->born is its time. */
loci_rc world_try(world *w, act *a, loci_err *err);
/* The same; it must succeed. Gives obj. */
int64_t world_do(world *w, act a);
/* The same inside a closure. */
loci_rc world_act(loci_change *change, act *a, loci_err *err);

/* Run one statement of world_room with up to three numbers, outside of loci_write. */
void world_damage(world *w, size_t number, int64_t a, int64_t b, int64_t c);
enum { DAMAGE_PARENT = 6, DAMAGE_TAG, DAMAGE_VERSIONS };

/* A fresh view, a scope, a chain: in the world's arena. */
loci_view *world_view(world *w);
loci_scope world_scope(world *w, int64_t agent, const char *node, int64_t as_of);
loci_chain world_chain(world *w, int64_t agent, int64_t branch);
loci_tx *world_read(world *w);

/* "label=block@branch label=..." in the order of loci_label_list. */
const char *world_labels(world *w, const loci_scope *scope);

#endif
