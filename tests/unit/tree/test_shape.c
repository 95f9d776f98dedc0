#include "tree/shape.h"

#include "test.h"
#include "tree/branch.h"

#include <stdio.h>
#include <stdlib.h>

static void add(loci_shape *s, int64_t obj, int64_t parent, const char *node)
{
    loci_err err = { 0 };

    assert_ok(loci_shape_add(s, obj, obj, 1, parent, loci_str_from(node), &err), err);
}

static void settle(loci_shape *s)
{
    loci_err err = { 0 };

    assert_ok(loci_shape_settle(s, &err), err);
}

static loci_shape_state check(const loci_shape *s, int64_t obj)
{
    uint32_t slot = loci_shape_slot(s, 1, obj);
    int64_t objs[64], gone = 0;

    if (slot == LOCI_SHAPE_NONE) return LOCI_SHAPE_GONE;
    loci_shape_state state = loci_shape_check(s, slot);
    return state ? state : loci_shape_chain(s, slot, objs, &gone);
}

static void children_may_come_first(void **state)
{
    LOCI_AUTO(loci_shape_freep) loci_shape *s = loci_shape_new();
    int64_t objs[4], gone = 0;
    (void)state;

    add(s, 30, 20, "c");
    settle(s);
    assert_int_equal(check(s, 30), LOCI_SHAPE_ORPHAN);
    add(s, 20, 10, "b");
    add(s, 10, 0, "a");
    settle(s);
    uint32_t slot = loci_shape_find(s, 1, LOCI_STR("c"));
    assert_int_equal(loci_shape_depth(s, slot), 3);
    assert_int_equal(loci_shape_chain(s, slot, objs, &gone), LOCI_SHAPE_WELL);
    assert_int_equal(objs[0], 30);
    assert_int_equal(objs[1], 20);
    assert_int_equal(objs[2], 10);
    assert_int_equal(objs[3], 0);
    assert_int_equal(loci_shape_alive(s), 3);
}

static void circles_are_found(void **state)
{
    LOCI_AUTO(loci_shape_freep) loci_shape *s = loci_shape_new();
    (void)state;

    add(s, 1, 3, "a");
    add(s, 2, 1, "b");
    add(s, 3, 2, "c");
    add(s, 4, 3, "hangs on the circle");
    add(s, 5, 5, "its own parent");
    add(s, 6, 0, "well");
    settle(s);
    for (int64_t obj = 1; obj <= 5; obj++) assert_int_equal(check(s, obj), LOCI_SHAPE_CIRCLE);
    assert_int_equal(check(s, 6), LOCI_SHAPE_WELL);

    /* A new revision of one of them breaks the circle. */
    loci_err err = { 0 };
    assert_ok(loci_shape_add(s, 1, 100, 1, 6, LOCI_STR("a"), &err), err);
    settle(s);
    for (int64_t obj = 1; obj <= 4; obj++) assert_int_equal(check(s, obj), LOCI_SHAPE_WELL);
    assert_int_equal(loci_shape_depth(s, loci_shape_slot(s, 1, 4)), 5);
}

static void ends_only_the_named_revision(void **state)
{
    LOCI_AUTO(loci_shape_freep) loci_shape *s = loci_shape_new();
    loci_err err = { 0 };
    (void)state;

    add(s, 1, 0, "a");
    assert_ok(loci_shape_add(s, 1, 7, 1, 0, LOCI_STR("renamed"), &err), err);
    loci_shape_end(s, 1, 1); /* the end of the first revision comes behind the second */
    settle(s);
    assert_int_equal(check(s, 1), LOCI_SHAPE_WELL);
    assert_int_equal(loci_shape_find(s, 1, LOCI_STR("a")), LOCI_SHAPE_NONE);
    assert_int_equal(loci_shape_find(s, 2, LOCI_STR("renamed")), LOCI_SHAPE_NONE);
    assert_int_not_equal(loci_shape_find(s, 1, LOCI_STR("renamed")), LOCI_SHAPE_NONE);
    loci_shape_end(s, 1, 7);
    loci_shape_end(s, 1, 7);
    loci_shape_end(s, 99, 99);
    assert_int_equal(check(s, 1), LOCI_SHAPE_GONE);
    assert_int_equal(loci_shape_find(s, 1, LOCI_STR("renamed")), LOCI_SHAPE_NONE);
    assert_int_equal(loci_shape_alive(s), 0);
    assert_int_equal(loci_shape_dead(s), 1);
}

static void depth_has_an_end(void **state)
{
    LOCI_AUTO(loci_shape_freep) loci_shape *s = loci_shape_new();
    char node[16];
    (void)state;

    for (int64_t i = 1; i <= LOCI_CHAIN_MAX + 1; i++) {
        (void)snprintf(node, sizeof node, "%lld", (long long)i);
        add(s, i, i - 1, node);
    }
    settle(s);
    uint32_t last = loci_shape_slot(s, 1, LOCI_CHAIN_MAX - 1);
    assert_int_equal(loci_shape_check(s, last), LOCI_SHAPE_WELL);
    assert_int_equal(loci_shape_depth(s, last), LOCI_CHAIN_MAX - 1);
    assert_int_equal(loci_shape_check(s, loci_shape_slot(s, 1, LOCI_CHAIN_MAX)),
                     LOCI_SHAPE_TOO_DEEP);
    assert_int_equal(loci_shape_check(s, loci_shape_slot(s, 1, LOCI_CHAIN_MAX + 1)),
                     LOCI_SHAPE_TOO_DEEP);
    assert_true(loci_shape_is_above(s, loci_shape_slot(s, 1, 5), last));
    assert_true(loci_shape_is_above(s, LOCI_SHAPE_TRUNK, last));
    assert_false(loci_shape_is_above(s, last, last));
    assert_false(loci_shape_is_above(s, last, loci_shape_slot(s, 1, 5)));
}

/* Random adds, ends and revivals against arrays that are walked naively. */
static void agrees_with_a_plain_model(void **state)
{
    enum { N = 400, STEPS = 20000 };
    LOCI_AUTO(loci_shape_freep) loci_shape *s = loci_shape_new();
    static int64_t parent[N + 1], row[N + 1];
    static bool alive[N + 1];
    unsigned seed = 7;
    int64_t next_row = 1000;
    (void)state;

    alive[0] = true;
    for (int step = 0; step < STEPS; step++) {
        int64_t obj = 1 + rand_r(&seed) % N;
        char node[16];
        loci_err err = { 0 };
        (void)snprintf(node, sizeof node, "n%lld", (long long)obj);
        if (rand_r(&seed) % 3 == 0) {
            loci_shape_end(s, obj, row[obj]);
            alive[obj] = false;
        } else {
            if (!row[obj]) parent[obj] = rand_r(&seed) % obj;
            row[obj] = next_row++;
            alive[obj] = true;
            assert_ok(loci_shape_add(s, obj, row[obj], 1, parent[obj], loci_str_from(node), &err),
                      err);
        }
        settle(s);
        int64_t asked = 1 + rand_r(&seed) % N, objs[N + 1], gone = 0, n = 0;
        uint32_t slot = loci_shape_slot(s, 1, asked);
        assert_int_equal(slot != LOCI_SHAPE_NONE, alive[asked]);
        if (slot == LOCI_SHAPE_NONE) continue;
        bool well = loci_shape_check(s, slot) == LOCI_SHAPE_WELL;
        assert_true(well);
        int64_t at = asked;
        while (at && alive[at]) at = parent[at];
        assert_int_equal(loci_shape_chain(s, slot, objs, &gone) == LOCI_SHAPE_WELL, at == 0);
        if (at) {
            assert_int_equal(gone, at);
            continue;
        }
        for (at = asked; at; at = parent[at]) assert_int_equal(objs[n++], at);
        assert_int_equal(objs[n], 0);
        assert_int_equal(loci_shape_depth(s, slot), n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_may_come_first),      cmocka_unit_test(circles_are_found),
        cmocka_unit_test(ends_only_the_named_revision), cmocka_unit_test(depth_has_an_end),
        cmocka_unit_test(agrees_with_a_plain_model),
    };
    return cmocka_run_group_tests_name("tree/shape", tests, NULL, NULL);
}
