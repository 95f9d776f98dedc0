#include "tree/forest.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "db/catchup.h"
#include "tree/shape.h"

#include <pthread.h>
#include <string.h>

enum {
    DEFAULT_BYTES = 256 << 20,
    DEFAULT_TREES = 1024,
    BUCKETS = 256,
    NEWS_BYTES = 64 << 20, /* more news than this: loading anew is as good */
    DEAD = 10000,          /* more dead branches than live ones and this: load anew */
    SOURCES = 8
};

/* One organization's tree; a view is a tree that somebody uses. */
struct loci_view {
    loci_forest *forest;
    int64_t org;
    loci_view *next;          /* in its bucket */
    size_t users;             /* the forest's mutex guards this and the next two */
    uint64_t used;            /* when it was last used, by the forest's count */
    size_t bytes, size;       /* as last counted: memory, branches */
    pthread_mutex_t catching; /* whoever brings news */
    pthread_rwlock_t lock;    /* guards what follows; news need it and `catching` */
    loci_shape *shape;
    loci_cursor cursor;
    bool loaded;
};

struct loci_forest {
    loci_db *db;
    loci_forest_options options;
    loci_catchup_source sources[SOURCES];
    size_t source_count;
    pthread_mutex_t mutex; /* guards what follows */
    loci_view *buckets[BUCKETS];
    loci_forest_counts counts;
    uint64_t clock;
};

/* Of all that can be caught up, what a tree is made of. */
static void pick_sources(loci_forest *f)
{
    for (size_t i = 0; i < loci_catchup_source_count && f->source_count < SOURCES; i++) {
        const loci_catchup_source *s = &loci_catchup_sources[i];
        if (strcmp(s->table, "branch") == 0 || s->event == LOCI_EVENT_PURGED)
            f->sources[f->source_count++] = *s;
    }
}

loci_rc loci_forest_new(loci_db *db, const loci_forest_options *options, loci_forest **ret_forest,
                        loci_err *err)
{
    loci_forest *f = loci_zalloc(sizeof *f);

    if (!f || pthread_mutex_init(&f->mutex, NULL) != 0) {
        loci_free(f);
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    f->db = db;
    if (options) f->options = *options;
    if (!f->options.bytes) f->options.bytes = DEFAULT_BYTES;
    if (!f->options.trees) f->options.trees = DEFAULT_TREES;
    pick_sources(f);
    *ret_forest = f;
    return LOCI_OK;
}

static void free_tree(loci_view *t)
{
    loci_shape_free(t->shape);
    (void)pthread_rwlock_destroy(&t->lock);
    (void)pthread_mutex_destroy(&t->catching);
    loci_free(t);
}

void loci_forest_free(loci_forest *forest)
{
    if (!forest) return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (forest->buckets[i]) {
            loci_view *t = forest->buckets[i];
            forest->buckets[i] = t->next;
            free_tree(t);
        }
    (void)pthread_mutex_destroy(&forest->mutex);
    loci_free(forest);
}

/* Readers come all the time; who waits to write goes before them. */
static bool init_lock(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attributes;
    bool ok = pthread_rwlockattr_init(&attributes) == 0;

    if (!ok) return false;
    (void)pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    ok = pthread_rwlock_init(lock, &attributes) == 0;
    (void)pthread_rwlockattr_destroy(&attributes);
    return ok;
}

static loci_view *new_tree(loci_forest *f, int64_t org)
{
    loci_view *t = loci_zalloc(sizeof *t);

    if (!t) return NULL;
    if (!init_lock(&t->lock)) {
        loci_free(t);
        return NULL;
    }
    (void)pthread_mutex_init(&t->catching, NULL);
    t->forest = f;
    t->org = org;
    return t;
}

static loci_view **bucket_of(loci_forest *f, int64_t org)
{
    return &f->buckets[(uint64_t)org % BUCKETS];
}

/* Find or make the tree and count a user in. */
static loci_view *lease_tree(loci_forest *f, int64_t org)
{
    (void)pthread_mutex_lock(&f->mutex);
    loci_view **bucket = bucket_of(f, org), *t = *bucket;
    while (t && t->org != org) t = t->next;
    if (!t && (t = new_tree(f, org))) {
        t->next = *bucket;
        *bucket = t;
        f->counts.trees++;
    }
    if (t) {
        t->users++;
        t->used = ++f->clock;
    }
    (void)pthread_mutex_unlock(&f->mutex);
    return t;
}

/* The mutex is held. NULL: every tree is in use. */
static loci_view **oldest_unused(loci_forest *f)
{
    loci_view **oldest = NULL;

    for (size_t i = 0; i < BUCKETS; i++)
        for (loci_view **at = &f->buckets[i]; *at; at = &(*at)->next)
            if (!(*at)->users && (!oldest || (*at)->used < (*oldest)->used)) oldest = at;
    return oldest;
}

/* The mutex is held. */
static void evict(loci_forest *f)
{
    while (f->counts.bytes > f->options.bytes || f->counts.trees > f->options.trees) {
        loci_view **at = oldest_unused(f), *t = at ? *at : NULL;
        if (!t) return;
        *at = t->next;
        f->counts.trees--;
        f->counts.bytes -= t->bytes;
        f->counts.branches -= t->size;
        f->counts.evicted++;
        free_tree(t);
    }
}

void loci_view_end(loci_view *view)
{
    if (!view) return;
    loci_forest *f = view->forest;

    (void)pthread_mutex_lock(&f->mutex);
    view->users--;
    evict(f);
    (void)pthread_mutex_unlock(&f->mutex);
}

/* After news, with `catching` held: what the tree weighs now. */
static void weigh(loci_view *t, bool loaded)
{
    loci_forest *f = t->forest;
    size_t bytes = sizeof *t + loci_shape_bytes(t->shape), size = loci_shape_alive(t->shape);

    (void)pthread_mutex_lock(&f->mutex);
    f->counts.bytes += bytes - t->bytes;
    f->counts.branches += size - t->size;
    t->bytes = bytes;
    t->size = size;
    if (loaded)
        f->counts.loads++;
    else
        f->counts.updates++;
    evict(f);
    (void)pthread_mutex_unlock(&f->mutex);
}

/* Something that happened to a branch, kept until the tree is locked. */
typedef struct news {
    bool ended;
    int64_t obj, row, agent, parent;
    loci_str node;
    struct news *next;
} news;

typedef struct gathering {
    loci_shape *shape; /* put them in at once; else keep them */
    loci_arena *arena;
    news *first, **end;
    bool anew; /* something cannot be put in: load anew */
} gathering;

static loci_rc read_news(loci_stmt *q, bool ended, news *n)
{
    *n = (news){ .ended = ended, .row = loci_stmt_i64(q, 0), .obj = loci_stmt_i64(q, 1) };
    if (ended) return LOCI_OK;
    n->agent = loci_stmt_i64(q, 7);
    n->node = loci_stmt_text(q, 8);
    n->parent = loci_stmt_i64(q, 9);
    /* What was added and has ended since is not worth a slot. */
    return loci_stmt_i64(q, 4) == LOCI_NEVER ? LOCI_OK : LOCI_DONE;
}

static loci_rc put_in(loci_shape *s, const news *n, loci_err *err)
{
    if (!n->ended) return loci_shape_add(s, n->obj, n->row, n->agent, n->parent, n->node, err);
    loci_shape_end(s, n->obj, n->row);
    return LOCI_OK;
}

static void keep(gathering *g, const news *n)
{
    news *kept = loci_arena_alloc(g->arena, sizeof *kept);
    loci_str node = n->node.ptr ? loci_arena_str(g->arena, n->node) : n->node;

    if (!kept || (n->node.ptr && !node.ptr)) {
        g->anew = true;
        return;
    }
    *kept = *n;
    kept->node = node;
    *g->end = kept;
    g->end = &kept->next;
}

static loci_rc on_event(const loci_catchup_source *source, loci_stmt *q, void *arg, loci_err *err)
{
    gathering *g = arg;
    news n;

    if (source->event == LOCI_EVENT_PURGED) {
        /* Branches vanish with themselves or with their agent; nothing else touches a tree. */
        loci_str kind = loci_stmt_text(q, 1);
        g->anew |= !g->shape && !loci_str_eq(kind, LOCI_STR("passage")) &&
                   !loci_str_eq(kind, LOCI_STR("message")) && !loci_str_eq(kind, LOCI_STR("block"));
        return LOCI_OK;
    }
    if (g->anew || read_news(q, source->event == LOCI_EVENT_ENDED, &n) == LOCI_DONE) return LOCI_OK;
    if (g->shape) return put_in(g->shape, &n, err);
    keep(g, &n);
    return LOCI_OK;
}

static loci_rc gather(loci_view *t, loci_cursor from, gathering *g, loci_cursor *ret_cursor,
                      bool *ret_reload, loci_err *err)
{
    loci_catchup_request request = { .org = t->org,
                                     .from = from,
                                     .sources = t->forest->sources,
                                     .source_count = t->forest->source_count,
                                     .event = on_event,
                                     .arg = g };

    return loci_catchup(t->forest->db, &request, ret_cursor, ret_reload, err);
}

/* Build a new shape beside the old one and swap. `catching` is held. */
static loci_rc load(loci_view *t, loci_err *err)
{
    LOCI_AUTO(loci_shape_freep) loci_shape *fresh = loci_shape_new();
    gathering g = { .shape = fresh };
    loci_cursor cursor = { 0, 0 };
    bool reload = false;

    if (!fresh) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = gather(t, cursor, &g, &cursor, &reload, err);
    if (!rc) rc = loci_shape_settle(fresh, err);
    if (rc) return rc;
    (void)pthread_rwlock_wrlock(&t->lock);
    loci_shape *old = t->shape;
    t->shape = fresh;
    t->cursor = cursor;
    t->loaded = true;
    (void)pthread_rwlock_unlock(&t->lock);
    fresh = old;
    weigh(t, true);
    return LOCI_OK;
}

static loci_rc put_all(loci_shape *s, const gathering *g, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    for (const news *n = g->first; !rc && n; n = n->next) rc = put_in(s, n, err);
    return rc ? rc : loci_shape_settle(s, err);
}

/* Read the news, then lock and put them in. LOCI_DONE: that is not possible, load anew. */
static loci_rc update(loci_view *t, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(NEWS_BYTES);
    gathering g = { .arena = arena };
    loci_cursor cursor = t->cursor;
    bool reload = false;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    g.end = &g.first;
    loci_rc rc = gather(t, t->cursor, &g, &cursor, &reload, err);
    if (rc) return rc;
    if (reload || g.anew) return LOCI_DONE;
    (void)pthread_rwlock_wrlock(&t->lock);
    rc = put_all(t->shape, &g, err);
    t->cursor = cursor;
    if (rc) t->loaded = false; /* half of it is in */
    bool wasteful = loci_shape_dead(t->shape) > loci_shape_alive(t->shape) + DEAD;
    (void)pthread_rwlock_unlock(&t->lock);
    if (!rc && g.first) weigh(t, false);
    return !rc && wasteful ? LOCI_DONE : rc;
}

static bool is_current(loci_view *t, loci_cursor head)
{
    (void)pthread_rwlock_rdlock(&t->lock);
    bool current = t->loaded && t->cursor.ver == head.ver && t->cursor.tag == head.tag;
    (void)pthread_rwlock_unlock(&t->lock);
    return current;
}

static bool is_loaded(loci_view *t)
{
    (void)pthread_rwlock_rdlock(&t->lock);
    bool loaded = t->loaded;
    (void)pthread_rwlock_unlock(&t->lock);
    return loaded;
}

static loci_rc refresh(loci_view *t, loci_err *err)
{
    loci_cursor head = { 0, 0 };
    loci_rc rc = loci_catchup_head(t->forest->db, t->org, &head, err);

    if (rc || is_current(t, head)) return rc;
    (void)pthread_mutex_lock(&t->catching);
    rc = t->loaded ? update(t, err) : LOCI_DONE;
    if (rc == LOCI_DONE) rc = load(t, err);
    (void)pthread_mutex_unlock(&t->catching);
    return rc;
}

loci_rc loci_forest_view(loci_forest *forest, int64_t org, loci_freshness freshness,
                         loci_view **ret_view, loci_err *err)
{
    LOCI_AUTO(loci_view_endp) loci_view *t = lease_tree(forest, org);

    if (!t) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (freshness == LOCI_FRESH || !is_loaded(t)) {
        loci_rc rc = refresh(t, err);
        if (rc) return rc;
    }
    *ret_view = LOCI_TAKE(t);
    return LOCI_OK;
}

static loci_rc no_branch(int64_t branch, loci_err *err)
{
    return loci_fail(err, LOCI_ENOTFOUND, "no branch with the number %lld", (long long)branch);
}

/* The lock is held for reading. */
static loci_rc find_well(loci_view *v, int64_t agent, int64_t branch, uint32_t *ret_slot,
                         loci_err *err)
{
    uint32_t slot = loci_shape_slot(v->shape, agent, branch);

    if (slot == LOCI_SHAPE_NONE) return no_branch(branch, err);
    switch (loci_shape_check(v->shape, slot)) {
    case LOCI_SHAPE_CIRCLE:
        return loci_fail(err, LOCI_ECORRUPT, "the ancestors of branch %lld form a circle",
                         (long long)branch);
    case LOCI_SHAPE_TOO_DEEP:
        return loci_fail(err, LOCI_ELIMIT, "branch %lld has more than %d ancestors",
                         (long long)branch, LOCI_CHAIN_MAX - 1);
    default: *ret_slot = slot; return LOCI_OK;
    }
}

loci_rc loci_view_find(loci_view *view, int64_t agent, loci_str node, int64_t *ret_branch,
                       loci_err *err)
{
    (void)pthread_rwlock_rdlock(&view->lock);
    uint32_t slot = loci_shape_find(view->shape, agent, node);
    int64_t obj = slot == LOCI_SHAPE_NONE ? 0 : loci_shape_obj(view->shape, slot);
    (void)pthread_rwlock_unlock(&view->lock);
    if (slot == LOCI_SHAPE_NONE)
        return loci_fail(err, LOCI_ENOTFOUND, "no node '%.*s'", LOCI_ARG(loci_utf8_cut(node, 100)));
    *ret_branch = obj;
    return LOCI_OK;
}

/* The lock is held for reading. */
static loci_rc read_chain(loci_view *v, int64_t agent, int64_t branch, loci_arena *arena,
                          loci_chain *ret_chain, loci_err *err)
{
    uint32_t slot = 0;
    int64_t gone = 0;
    loci_rc rc = find_well(v, agent, branch, &slot, err);

    if (rc) return rc;
    size_t count = loci_shape_depth(v->shape, slot) + 1;
    int64_t *objs = loci_arena_array(arena, count, sizeof *objs);
    if (!objs) return loci_arena_fail(arena, err);
    if (loci_shape_chain(v->shape, slot, objs, &gone) != LOCI_SHAPE_WELL)
        return loci_fail(err, LOCI_ECORRUPT, "branch %lld hangs below branch %lld, which is gone",
                         (long long)branch, (long long)gone);
    *ret_chain = (loci_chain){ .agent = agent, .branches = objs, .count = count };
    return LOCI_OK;
}

loci_rc loci_view_chain(loci_view *view, int64_t agent, int64_t branch, loci_arena *arena,
                        loci_chain *ret_chain, loci_err *err)
{
    (void)pthread_rwlock_rdlock(&view->lock);
    loci_rc rc = read_chain(view, agent, branch, arena, ret_chain, err);
    (void)pthread_rwlock_unlock(&view->lock);
    return rc;
}

loci_rc loci_view_is_ancestor(loci_view *view, int64_t agent, int64_t above, int64_t branch,
                              bool *ret_is, loci_err *err)
{
    uint32_t upper = 0, lower = 0;

    (void)pthread_rwlock_rdlock(&view->lock);
    loci_rc rc = find_well(view, agent, above, &upper, err);
    if (!rc) rc = find_well(view, agent, branch, &lower, err);
    if (!rc) *ret_is = loci_shape_is_above(view->shape, upper, lower);
    (void)pthread_rwlock_unlock(&view->lock);
    return rc;
}

loci_rc loci_view_node(loci_view *view, int64_t agent, int64_t branch, loci_arena *arena,
                       loci_str *ret_node, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    (void)pthread_rwlock_rdlock(&view->lock);
    uint32_t slot = loci_shape_slot(view->shape, agent, branch);
    if (slot == LOCI_SHAPE_NONE) {
        rc = no_branch(branch, err);
    } else {
        loci_str copy = loci_arena_str(arena, loci_shape_node(view->shape, slot));
        if (copy.ptr)
            *ret_node = copy;
        else
            rc = loci_arena_fail(arena, err);
    }
    (void)pthread_rwlock_unlock(&view->lock);
    return rc;
}

loci_rc loci_view_depth(loci_view *view, int64_t agent, int64_t branch, size_t *ret_depth,
                        loci_err *err)
{
    uint32_t slot = 0;

    (void)pthread_rwlock_rdlock(&view->lock);
    loci_rc rc = find_well(view, agent, branch, &slot, err);
    if (!rc) *ret_depth = loci_shape_depth(view->shape, slot);
    (void)pthread_rwlock_unlock(&view->lock);
    return rc;
}

loci_forest_counts loci_forest_count(loci_forest *forest)
{
    (void)pthread_mutex_lock(&forest->mutex);
    loci_forest_counts counts = forest->counts;
    (void)pthread_mutex_unlock(&forest->mutex);
    return counts;
}
