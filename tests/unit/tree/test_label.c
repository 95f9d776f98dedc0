#include "world.h"

#include <stdio.h>
#include <string.h>

static void nearest_wins(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t a = world_do(&w, (act){ FORK, .agent = agent, .name = "a" });
    int64_t b = world_do(&w, (act){ FORK, .agent = agent, .parent = a, .name = "b" });
    loci_scope trunk = world_scope(&w, agent, "", LOCI_NEVER);
    loci_scope in_a = world_scope(&w, agent, "a", LOCI_NEVER);
    loci_scope in_b = world_scope(&w, agent, "b", LOCI_NEVER);
    char want[128];

    (void)world_do(&w, (act){ LINK, .name = "persona", .obj = 100, .place = 2, .scope = &trunk });
    (void)world_do(&w, (act){ LINK, .name = "human", .obj = 101, .place = 1, .scope = &trunk });
    (void)world_do(&w, (act){ LINK, .name = "beta", .obj = 102, .place = 1, .scope = &trunk });
    assert_string_equal(world_labels(&w, &in_b), "beta=102@0 human=101@0 persona=100@0");
    (void)world_do(&w, (act){ LINK, .name = "persona", .obj = 200, .place = 2, .scope = &in_a });
    (void)snprintf(want, sizeof want, "beta=102@0 human=101@0 persona=200@%lld", (long long)a);
    assert_string_equal(world_labels(&w, &in_a), want);
    assert_string_equal(world_labels(&w, &in_b), want);
    assert_string_equal(world_labels(&w, &trunk), "beta=102@0 human=101@0 persona=100@0");

    /* Dropping an inherited label hides it here and below, also what ancestors write later. */
    int64_t before = w.born;
    (void)world_do(&w, (act){ DROP, .name = "human", .scope = &in_a });
    (void)world_do(&w, (act){ LINK, .name = "human", .obj = 300, .place = 1, .scope = &trunk });
    (void)snprintf(want, sizeof want, "beta=102@0 persona=200@%lld", (long long)a);
    assert_string_equal(world_labels(&w, &in_b), want);
    assert_string_equal(world_labels(&w, &trunk), "beta=102@0 human=300@0 persona=100@0");
    (void)world_do(&w, (act){ LINK, .name = "human", .obj = 400, .place = 1, .scope = &in_b });
    (void)snprintf(want, sizeof want, "beta=102@0 human=400@%lld persona=200@%lld", (long long)b,
                   (long long)a);
    assert_string_equal(world_labels(&w, &in_b), want);

    /* Without the tombstone the ancestor's shows through again. */
    (void)world_do(&w, (act){ UNLINK, .name = "human", .scope = &in_a });
    (void)snprintf(want, sizeof want, "beta=102@0 human=300@0 persona=200@%lld", (long long)a);
    assert_string_equal(world_labels(&w, &in_a), want);

    loci_scope past = world_scope(&w, agent, "b", before);
    (void)snprintf(want, sizeof want, "beta=102@0 human=101@0 persona=200@%lld", (long long)a);
    assert_string_equal(world_labels(&w, &past), want);
    world_close(&w);
}

static void finds_and_refuses(void **state)
{
    static char longest[LOCI_LABEL_BYTES + 2];
    world w = world_open(store_of(state)->url);
    int64_t agent = world_do(&w, (act){ CREATE, .name = "sam" });
    loci_scope trunk = world_scope(&w, agent, "", LOCI_NEVER);
    loci_scope past = world_scope(&w, agent, "", w.born);
    const struct {
        act a;
        loci_rc want;
    } cases[] = {
        { { LINK, .name = "", .obj = 1, .scope = &trunk }, LOCI_EINVAL },
        { { LINK, .name = "\xff", .obj = 1, .scope = &trunk }, LOCI_EINVAL },
        { { LINK, .name = longest, .obj = 1, .scope = &trunk }, LOCI_ELIMIT },
        { { LINK, .name = "x", .obj = 0, .scope = &trunk }, LOCI_EINVAL },
        { { LINK, .name = "x", .obj = 1, .scope = &past }, LOCI_EDENIED },
        { { UNLINK, .name = "x", .scope = &trunk }, LOCI_ENOTFOUND },
        { { DROP, .name = "x", .scope = &trunk }, LOCI_ENOTFOUND },
    };
    loci_label found;
    loci_err err = { 0 };

    memset(longest, 'x', sizeof longest - 1);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        act a = cases[i].a;
        assert_int_equal(world_try(&w, &a, &err), cases[i].want);
    }
    (void)world_do(&w, (act){ LINK, .name = "human", .obj = 5, .scope = &trunk });
    (void)world_do(&w, (act){ LINK, .name = "human", .obj = 5, .scope = &trunk }); /* the same */
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&w);
    assert_ok(loci_label_find(tx, &trunk, LOCI_STR("human"), w.arena, &found, &err), err);
    assert_int_equal(found.block, 5);
    assert_int_equal(found.rev, 1);
    assert_int_equal(loci_label_find(tx, &trunk, LOCI_STR("x"), w.arena, &found, &err),
                     LOCI_ENOTFOUND);
    loci_tx_endp(&tx);
    (void)world_do(&w, (act){ DROP, .name = "human", .scope = &trunk }); /* no tombstone needed */
    (void)world_do(&w, (act){ LINK, .name = "human", .obj = 6, .scope = &trunk });
    tx = world_read(&w);
    assert_ok(loci_label_find(tx, &trunk, LOCI_STR("human"), w.arena, &found, &err), err);
    assert_int_equal(found.rev, 2); /* one link, one history */
    loci_tx_endp(&tx);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BOTH(nearest_wins), ON_BOTH(finds_and_refuses) };

    return cmocka_run_group_tests_name("tree/label", tests, NULL, NULL);
}
