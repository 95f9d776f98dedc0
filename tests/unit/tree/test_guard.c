#include "world.h"

#include <string.h>

/* trunk - a - b - c, and trunk - z; another agent has x. */
typedef struct family {
    world w;
    int64_t agent, other, a, b, c, z, x;
    loci_view *view;
} family;

static family family_open(void **state)
{
    family f = { .w = world_open(store_of(state)->url) };

    f.agent = world_do(&f.w, (act){ CREATE, .name = "sam" });
    f.other = world_do(&f.w, (act){ CREATE, .name = "max" });
    f.a = world_do(&f.w, (act){ FORK, .agent = f.agent, .name = "a" });
    f.b = world_do(&f.w, (act){ FORK, .agent = f.agent, .parent = f.a, .name = "b" });
    f.c = world_do(&f.w, (act){ FORK, .agent = f.agent, .parent = f.b, .name = "c" });
    f.z = world_do(&f.w, (act){ FORK, .agent = f.agent, .name = "z" });
    f.x = world_do(&f.w, (act){ FORK, .agent = f.other, .name = "x" });
    f.view = world_view(&f.w);
    return f;
}

static void family_close(family *f)
{
    loci_view_end(f->view);
    world_close(&f->w);
}

static void writes_touch_their_own_branch(void **state)
{
    family f = family_open(state);
    loci_scope scope = world_scope(&f.w, f.agent, "b", LOCI_NEVER);
    loci_scope past = world_scope(&f.w, f.agent, "b", f.w.born);
    loci_err err = { 0 };

    assert_str(scope.node, "b");
    assert_int_equal(scope.chain.count, 3);
    assert_ok(loci_guard_write(f.view, &scope, f.b, &err), err);
    assert_int_equal(loci_guard_write(f.view, &scope, f.a, &err), LOCI_EDENIED);
    assert_non_null(strstr(err.msg, "'b'"));
    assert_non_null(strstr(err.msg, "'a'"));
    assert_int_equal(loci_guard_write(f.view, &scope, LOCI_TRUNK, &err), LOCI_EDENIED);
    assert_non_null(strstr(err.msg, "the trunk"));
    assert_int_equal(loci_guard_write(f.view, &scope, f.z, &err), LOCI_EDENIED);
    assert_int_equal(past.chain.count, 3);
    assert_int_equal(loci_guard_write(f.view, &past, f.b, &err), LOCI_EDENIED);
    assert_true(loci_scope_sees(&scope, f.a) && loci_scope_sees(&scope, LOCI_TRUNK));
    assert_false(loci_scope_sees(&scope, f.c) || loci_scope_sees(&scope, f.z));
    family_close(&f);
}

static void fence_holds(void **state)
{
    family f = family_open(state);
    loci_fence none = { 0 }, fence = { .on = true, .agent = f.agent, .branch = f.b };
    const struct {
        int64_t agent, branch;
        loci_rc use, fork, promote_from;
    } cases[] = {
        { f.agent, f.b, LOCI_OK, LOCI_OK, LOCI_OK },
        { f.agent, f.c, LOCI_EDENIED, LOCI_OK, LOCI_EDENIED },
        { f.agent, f.a, LOCI_EDENIED, LOCI_EDENIED, LOCI_EDENIED },
        { f.agent, f.z, LOCI_EDENIED, LOCI_EDENIED, LOCI_EDENIED },
        { f.agent, LOCI_TRUNK, LOCI_EDENIED, LOCI_EDENIED, LOCI_EDENIED },
        { f.other, f.x, LOCI_EDENIED, LOCI_EDENIED, LOCI_EDENIED },
    };

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_scope scope;
        int64_t agent = cases[i].agent, branch = cases[i].branch;
        loci_err err = { 0 };
        assert_ok(loci_scope_of(f.view, ORG, agent, branch, f.w.arena, &scope, &err), err);
        assert_int_equal(loci_guard_use(f.view, &fence, &scope, &err), cases[i].use);
        if (cases[i].use) assert_non_null(strstr(err.msg, "bound to node 'b'"));
        assert_int_equal(loci_guard_fork(f.view, &fence, agent, branch, &err), cases[i].fork);
        assert_int_equal(loci_guard_promote(f.view, &fence, agent, branch, LOCI_TRUNK, &err),
                         cases[i].promote_from);
        assert_ok(loci_guard_use(f.view, &none, &scope, &err), err);
        assert_ok(loci_guard_fork(f.view, &none, agent, branch, &err), err);
    }
    family_close(&f);
}

static void promotes_to_ancestors_only(void **state)
{
    family f = family_open(state);
    loci_fence none = { 0 }, fence = { .on = true, .agent = f.agent, .branch = f.b };
    loci_err err = { 0 };

    assert_ok(loci_guard_promote(f.view, &fence, f.agent, f.b, f.a, &err), err);
    assert_ok(loci_guard_promote(f.view, &fence, f.agent, f.b, LOCI_TRUNK, &err), err);
    assert_ok(loci_guard_promote(f.view, &none, f.agent, f.c, f.a, &err), err);
    assert_int_equal(loci_guard_promote(f.view, &none, f.agent, f.b, f.c, &err), LOCI_EDENIED);
    assert_int_equal(loci_guard_promote(f.view, &none, f.agent, f.b, f.b, &err), LOCI_EDENIED);
    assert_int_equal(loci_guard_promote(f.view, &none, f.agent, f.b, f.z, &err), LOCI_EDENIED);
    assert_non_null(strstr(err.msg, "'b'"));
    assert_non_null(strstr(err.msg, "'z'"));
    assert_int_equal(loci_guard_promote(f.view, &none, f.agent, f.b, f.x, &err), LOCI_ENOTFOUND);
    family_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(writes_touch_their_own_branch),
        ON_BOTH(fence_holds),
        ON_BOTH(promotes_to_ancestors_only),
    };
    return cmocka_run_group_tests_name("tree/guard", tests, NULL, NULL);
}
