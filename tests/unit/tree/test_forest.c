#include "world.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void catches_up_by_version(void **state)
{
    world w = world_open(store_of(state)->url), other = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t a = world_do(&w, (act){ FORK, .agent = agent, .name = "a" }), found = 0;
    LOCI_AUTO(loci_view_endp) loci_view *view = world_view(&w);
    loci_err err = { 0 };

    assert_ok(loci_view_find(view, agent, LOCI_STR("a"), &found, &err), err);
    assert_int_equal(found, a);
    /* Somebody else forks and ends. The view is told at the next fresh look, not before. */
    int64_t b = world_do(&other, (act){ FORK, .agent = agent, .parent = a, .name = "b" });
    assert_int_equal(loci_view_find(view, agent, LOCI_STR("b"), &found, &err), LOCI_ENOTFOUND);
    assert_int_equal(world_chain(&w, agent, b).count, 3);
    assert_ok(loci_view_find(view, agent, LOCI_STR("b"), &found, &err), err);
    (void)world_do(&other, (act){ CUT, .agent = agent, .obj = b });
    loci_view_endp(&view);
    view = world_view(&w);
    assert_int_equal(loci_view_find(view, agent, LOCI_STR("b"), &found, &err), LOCI_ENOTFOUND);
    loci_forest_counts counts = loci_forest_count(w.forest);
    assert_int_equal(counts.loads, 1);
    assert_int_equal(counts.updates, 2);
    assert_int_equal(counts.branches, 1);
    loci_view_endp(&view);
    world_close(&other);
    world_close(&w);
}

static void reloads_when_the_store_lost_versions(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t a = world_do(&w, (act){ FORK, .agent = agent, .name = "a" });

    assert_int_equal(world_chain(&w, agent, a).count, 2);
    assert_int_equal(loci_forest_count(w.forest).loads, 1);
    world_damage(&w, DAMAGE_VERSIONS, ORG, 0, INT64_MAX);
    world_damage(&w, DAMAGE_TAG, ORG, 4711, 0); /* the same version under another tag */
    assert_int_equal(world_chain(&w, agent, a).count, 2);
    assert_int_equal(loci_forest_count(w.forest).loads, 2);
    world_damage(&w, DAMAGE_TAG, ORG, 4712, -1); /* an older one */
    assert_int_equal(world_chain(&w, agent, a).count, 2);
    assert_int_equal(loci_forest_count(w.forest).loads, 3);
    world_close(&w);
}

static void knows_ancestors(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t a = world_do(&w, (act){ FORK, .agent = agent, .name = "a" });
    int64_t b = world_do(&w, (act){ FORK, .agent = agent, .parent = a, .name = "b" });
    int64_t c = world_do(&w, (act){ FORK, .agent = agent, .parent = a, .name = "c" });
    const struct {
        int64_t above, branch;
        bool want;
    } cases[] = { { a, b, true }, { b, a, false }, { b, c, false }, { b, b, false },
                  { 0, c, true }, { 0, 0, false }, { a, 0, false } };
    LOCI_AUTO(loci_view_endp) loci_view *view = world_view(&w);
    loci_err err = { 0 };
    size_t depth = 0;
    bool is = false;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        assert_ok(loci_view_is_ancestor(view, agent, cases[i].above, cases[i].branch, &is, &err),
                  err);
        assert_int_equal(is, cases[i].want);
    }
    assert_int_equal(loci_view_is_ancestor(view, agent, 99, b, &is, &err), LOCI_ENOTFOUND);
    assert_int_equal(loci_view_is_ancestor(view, agent + 1, a, b, &is, &err), LOCI_ENOTFOUND);
    assert_ok(loci_view_depth(view, agent, c, &depth, &err), err);
    assert_int_equal(depth, 2);
    loci_view_endp(&view);
    world_close(&w);
}

/* Many forks in one write. */
typedef struct many {
    int64_t agent, first, last, count;
    bool deep; /* each below the one before; else all below the trunk */
} many;

static loci_rc fork_many(loci_change *change, void *arg, loci_err *err)
{
    many *m = arg;
    int64_t parent = LOCI_TRUNK;
    loci_rc rc = LOCI_OK;

    for (int64_t i = 0; !rc && i < m->count; i++) {
        char node[32], id[32];
        (void)snprintf(node, sizeof node, "n%lld", (long long)i);
        (void)snprintf(id, sizeof id, "branch-%lld", (long long)i);
        act a = { FORK, .agent = m->agent, .parent = parent, .name = node, .id = id };
        rc = world_act(change, &a, err);
        if (i == 0) m->first = a.obj;
        m->last = a.obj;
        if (m->deep) parent = a.obj;
    }
    return rc;
}

static void write_many(world *w, many *m)
{
    loci_write_request request = {
        .org = ORG, .run = fork_many, .arg = m, .door = LOCI_STR("test")
    };
    loci_err err = { 0 };

    assert_ok(loci_write(w->writer, &request, NULL, NULL, &err), err);
}

static void ten_thousand_deep(void **state)
{
    world w = world_open(store_of(state)->url);
    many m = { .agent = world_do(&w, (act){ CREATE, .name = "sam" }),
               .count = 10000,
               .deep = true };

    write_many(&w, &m);
    loci_chain chain = world_chain(&w, m.agent, m.last);
    assert_int_equal(chain.count, 10001);
    for (int64_t i = 0; i < 10000; i++) assert_int_equal(chain.branches[i], m.last - i);
    assert_int_equal(chain.branches[10000], LOCI_TRUNK);

    /* What the store says, and what labels make of a chain longer than a list in SQL. */
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&w);
    loci_chain same;
    loci_err err = { 0 };
    assert_ok(loci_branch_chain_at(tx, ORG, m.agent, m.last, LOCI_NEVER, w.arena, &same, &err),
              err);
    assert_int_equal(same.count, chain.count);
    assert_memory_equal(same.branches, chain.branches, chain.count * sizeof *chain.branches);
    loci_tx_endp(&tx);
    loci_scope trunk = world_scope(&w, m.agent, "", LOCI_NEVER);
    loci_scope deep = world_scope(&w, m.agent, "n9999", LOCI_NEVER);
    (void)world_do(&w, (act){ LINK, .name = "l", .obj = 77, .scope = &trunk });
    assert_string_equal(world_labels(&w, &deep), "l=77@0");
    world_close(&w);
}

static void hundred_thousand_wide(void **state)
{
    world w = world_open(store_of(state)->url);
    many m = { .agent = world_do(&w, (act){ CREATE, .name = "sam" }), .count = 100000 };

    write_many(&w, &m);
    assert_int_equal(world_chain(&w, m.agent, m.last).count, 2);
    loci_forest_counts counts = loci_forest_count(w.forest);
    assert_int_equal(counts.branches, 100000);
    assert_true(counts.bytes < 32 << 20);
    world_close(&w);
}

/* Trees leave when there are too many, and come back when they are wanted. */
static void is_bounded(void **state)
{
    world w = world_open(store_of(state)->url);
    loci_forest_options small = { .bytes = 1 };
    LOCI_AUTO(loci_forest_freep) loci_forest *forest = NULL;
    LOCI_AUTO(loci_view_endp) loci_view *view = NULL;
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" }), found = 0;
    loci_err err = { 0 };

    (void)world_do(&w, (act){ FORK, .agent = agent, .name = "a" });
    assert_ok(loci_forest_new(w.db, &small, &forest, &err), err);
    for (int i = 0; i < 3; i++) {
        assert_ok(loci_forest_view(forest, ORG, LOCI_FRESH, &view, &err), err);
        assert_int_equal(loci_forest_count(forest).trees, 1); /* in use: it stays */
        assert_ok(loci_view_find(view, agent, LOCI_STR("a"), &found, &err), err);
        loci_view_endp(&view);
        assert_int_equal(loci_forest_count(forest).trees, 0);
        assert_int_equal(loci_forest_count(forest).bytes, 0);
    }
    assert_int_equal(loci_forest_count(forest).loads, 3);
    assert_int_equal(loci_forest_view(forest, 99, LOCI_FRESH, &view, &err), LOCI_ENOTFOUND);
    loci_forest_freep(&forest);
    world_close(&w);
}

enum { THREADS = 32, FORKS = 20 };

typedef struct worker {
    world *w;
    int64_t agent;
    int number, failed;
} worker;

/* Fork, and find at once what was forked, by name and as a chain. */
static void *work(void *arg)
{
    worker *x = arg;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    int64_t parent = LOCI_TRUNK;

    for (int i = 0; i < FORKS; i++) {
        char node[32];
        world mine = *x->w;
        loci_err err = { 0 };
        (void)snprintf(node, sizeof node, "t%d.%d", x->number, i);
        act a = { FORK, .agent = x->agent, .parent = parent, .name = node };
        LOCI_AUTO(loci_view_endp) loci_view *view = NULL;
        loci_chain chain = { 0 };
        int64_t found = 0;
        bool is = i == 0;
        loci_arena_reset(arena);
        bool ok = world_try(&mine, &a, &err) == LOCI_OK &&
                  loci_forest_view(mine.forest, ORG, LOCI_FRESH, &view, &err) == LOCI_OK &&
                  loci_view_find(view, x->agent, loci_str_from(node), &found, &err) == LOCI_OK &&
                  found == a.obj &&
                  loci_view_chain(view, x->agent, found, arena, &chain, &err) == LOCI_OK &&
                  chain.count == (size_t)i + 2 && chain.branches[1] == parent &&
                  loci_view_is_ancestor(view, x->agent, parent, found, &is, &err) == LOCI_OK && is;
        if (!ok) {
            x->failed++;
            (void)fprintf(stderr, "# thread %d, fork %d: %s\n", x->number, i, err.msg);
        }
        parent = a.obj;
    }
    return NULL;
}

static void threads_fork_and_read(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    pthread_t threads[THREADS];
    worker workers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){ .w = &w, .agent = agent, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(workers[i].failed, 0);
    }
    (void)world_chain(&w, agent, LOCI_TRUNK);
    assert_int_equal(loci_forest_count(w.forest).branches, THREADS * FORKS);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(catches_up_by_version),   ON_BOTH(reloads_when_the_store_lost_versions),
        ON_BOTH(knows_ancestors),         ON_BOTH(ten_thousand_deep),
        ON_SQLITE(hundred_thousand_wide), ON_BOTH(is_bounded),
        ON_BOTH(threads_fork_and_read),
    };
    return cmocka_run_group_tests_name("tree/forest", tests, NULL, NULL);
}
