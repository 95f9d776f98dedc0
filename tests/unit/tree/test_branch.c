#include "world.h"

#include <stdio.h>
#include <string.h>

static loci_chain chain_at(world *w, int64_t agent, int64_t branch, int64_t time)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
    loci_chain chain = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_branch_chain_at(tx, ORG, agent, branch, time, w->arena, &chain, &err), err);
    return chain;
}

static loci_rc chain_rc(world *w, int64_t agent, int64_t branch, int64_t time, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
    loci_chain chain = { 0 };

    return loci_branch_chain_at(tx, ORG, agent, branch, time, w->arena, &chain, err);
}

static void forks_one_row(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t a = world_do(&w, (act){ FORK, .agent = agent, .name = "a" });
    act b = { FORK, .agent = agent, .parent = a, .name = "b" }, again = b;
    loci_err err = { 0 };

    assert_ok(world_try(&w, &b, &err), err);
    assert_true(b.created);
    assert_int_equal(b.obj, a + 1); /* one row was handed out */
    assert_ok(world_try(&w, &again, &err), err);
    assert_false(again.created);
    assert_int_equal(again.obj, b.obj);

    loci_chain chain = world_chain(&w, agent, b.obj);
    assert_int_equal(chain.count, 3);
    assert_int_equal(chain.branches[0], b.obj);
    assert_int_equal(chain.branches[1], a);
    assert_int_equal(chain.branches[2], LOCI_TRUNK);
    world_close(&w);
}

static void refuses_bad_forks(void **state)
{
    static char longest[LOCI_NODE_BYTES + 2];
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t other = world_do(&w, (act){ CREATE, .name = "max" });
    int64_t a = world_do(&w, (act){ FORK, .agent = agent, .name = "a" });
    const struct {
        act a;
        loci_rc want;
    } cases[] = {
        { { FORK, .agent = agent, .name = "" }, LOCI_EINVAL },
        { { FORK, .agent = agent, .name = "\xff" }, LOCI_EINVAL },
        { { FORK, .agent = agent, .name = longest }, LOCI_ELIMIT },
        { { FORK, .agent = agent, .parent = 999, .name = "b" }, LOCI_ENOTFOUND },
        { { FORK, .agent = agent, .parent = a, .name = "a" }, LOCI_ECONFLICT }, /* below itself */
        { { FORK, .agent = other, .parent = a, .name = "b" }, LOCI_ENOTFOUND }, /* another's */
        { { FORK, .agent = 999, .name = "b" }, LOCI_ENOTFOUND },
        { { CUT, .agent = agent, .obj = LOCI_TRUNK }, LOCI_EINVAL },
        { { CUT, .agent = other, .obj = a }, LOCI_ENOTFOUND },
        { { CUT, .agent = agent, .obj = 999 }, LOCI_ENOTFOUND },
    };

    memset(longest, 'x', sizeof longest - 1);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        act x = cases[i].a;
        loci_err err = { 0 };
        assert_int_equal(world_try(&w, &x, &err), cases[i].want);
    }
    /* The same node of another agent is another branch. */
    assert_int_not_equal(world_do(&w, (act){ FORK, .agent = other, .name = "a" }), a);
    world_close(&w);
}

static void unknown_nodes_grow_on_the_trunk(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t a = world_do(&w, (act){ GROW, .agent = agent, .name = "a" });
    int64_t b = world_do(&w, (act){ FORK, .agent = agent, .parent = a, .name = "b" });

    assert_int_equal(world_chain(&w, agent, a).count, 2);
    assert_int_equal(world_do(&w, (act){ GROW, .agent = agent, .name = "b" }), b);
    assert_int_equal(world_do(&w, (act){ GROW, .agent = agent, .name = "" }), LOCI_TRUNK);
    world_close(&w);
}

static void lists_children_by_pages(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t other = world_do(&w, (act){ CREATE, .name = "max" });
    loci_branches list = { 0 };
    int64_t behind = 0;
    size_t seen = 0;
    char name[16];
    loci_err err = { 0 };

    for (int i = 0; i < 7; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        (void)world_do(&w, (act){ FORK, .agent = agent, .name = name });
        (void)world_do(&w, (act){ FORK, .agent = other, .name = name });
    }
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&w);
    do {
        assert_ok(loci_branch_children(tx, ORG, agent, LOCI_TRUNK, behind, 3, w.arena, &list, &err),
                  err);
        for (size_t i = 0; i < list.count; i++, seen++) {
            (void)snprintf(name, sizeof name, "n%zu", seen);
            assert_str(list.items[i].node, name);
            assert_int_equal(list.items[i].agent, agent);
            behind = list.items[i].obj;
        }
    } while (list.count == 3);
    assert_int_equal(seen, 7);
    assert_int_equal(loci_branch_children(tx, ORG, agent, 0, 0, 0, w.arena, &list, &err),
                     LOCI_EINVAL);
    loci_tx_endp(&tx);
    world_close(&w);
}

static void ends_with_what_is_below(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t a = world_do(&w, (act){ FORK, .agent = agent, .name = "a" });
    int64_t b = world_do(&w, (act){ FORK, .agent = agent, .parent = a, .name = "b" });
    int64_t c = world_do(&w, (act){ FORK, .agent = agent, .parent = b, .name = "c" });
    int64_t before = w.born;
    act cut = { CUT, .agent = agent, .obj = a }, all = { CUT_ALL, .agent = agent, .obj = a };
    loci_err err = { 0 };

    assert_int_equal(world_try(&w, &cut, &err), LOCI_ECONFLICT);
    assert_non_null(strstr(err.msg, "'a' has children"));
    assert_ok(world_try(&w, &all, &err), err);
    assert_int_equal(all.count, 3);
    assert_int_equal(chain_rc(&w, agent, c, LOCI_NEVER, &err), LOCI_ENOTFOUND);

    loci_chain chain = chain_at(&w, agent, c, before);
    assert_int_equal(chain.count, 4);
    assert_int_equal(chain.branches[0], c);
    assert_int_equal(chain.branches[3], LOCI_TRUNK);
    assert_int_equal(chain_rc(&w, agent, c, before - 1, &err), LOCI_ENOTFOUND);
    assert_int_equal(chain_at(&w, agent, LOCI_TRUNK, 0).count, 1);

    /* The name is free again, and the past knows which one was meant. */
    int64_t fresh = world_do(&w, (act){ FORK, .agent = agent, .name = "c" });
    loci_branch found = { 0 };
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&w);
    assert_ok(loci_branch_find(tx, ORG, agent, LOCI_STR("c"), LOCI_NEVER, w.arena, &found, &err),
              err);
    assert_int_equal(found.obj, fresh);
    assert_ok(loci_branch_find(tx, ORG, agent, LOCI_STR("c"), before, w.arena, &found, &err), err);
    assert_int_equal(found.obj, c);
    assert_int_equal(loci_branch_find_id(tx, ORG, found.id, w.arena, &found, &err), LOCI_ENOTFOUND);
    loci_tx_endp(&tx);
    world_close(&w);
}

static void damaged_chains_are_told(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t a = world_do(&w, (act){ FORK, .agent = agent, .name = "a" });
    int64_t b = world_do(&w, (act){ FORK, .agent = agent, .parent = a, .name = "b" });
    LOCI_AUTO(loci_view_endp) loci_view *view = NULL;
    loci_chain chain;
    loci_err err = { 0 };

    world_damage(&w, DAMAGE_PARENT, ORG, a, b);
    assert_int_equal(chain_rc(&w, agent, b, LOCI_NEVER, &err), LOCI_ECORRUPT);
    view = world_view(&w); /* the first look: it reads the damage */
    assert_int_equal(loci_view_chain(view, agent, b, w.arena, &chain, &err), LOCI_ECORRUPT);
    assert_non_null(strstr(err.msg, "circle"));
    world_damage(&w, DAMAGE_PARENT, ORG, a, 12345);
    assert_int_equal(chain_rc(&w, agent, b, LOCI_NEVER, &err), LOCI_ECORRUPT);
    assert_non_null(strstr(err.msg, "12345"));
    loci_view_endp(&view);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(forks_one_row),
        ON_BOTH(refuses_bad_forks),
        ON_BOTH(unknown_nodes_grow_on_the_trunk),
        ON_BOTH(lists_children_by_pages),
        ON_BOTH(ends_with_what_is_below),
        ON_BOTH(damaged_chains_are_told),
    };
    return cmocka_run_group_tests_name("tree/branch", tests, NULL, NULL);
}
