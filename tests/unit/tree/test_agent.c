#include "world.h"

#include <stdio.h>
#include <string.h>

static loci_agent find(world *w, const char *name)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
    loci_agent a = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_agent_find(tx, ORG, loci_str_from(name), w->arena, &a, &err), err);
    return a;
}

static loci_rc find_rc(world *w, loci_str name, bool ever)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
    loci_agent a;
    loci_err err = { 0 };

    return ever ? loci_agent_find_ever(tx, ORG, name, w->arena, &a, &err)
                : loci_agent_find(tx, ORG, name, w->arena, &a, &err);
}

static void finds_by_id_and_name(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t one = world_do(&w, (act){ CREATE, .name = "sam", .id = "agent-1" });
    int64_t two = world_do(&w, (act){ CREATE, .name = "sam", .id = "agent-2" });

    assert_int_equal(find(&w, "agent-2").obj, two);
    assert_int_equal(find(&w, "sam").obj, one); /* the oldest of both */
    assert_str(find(&w, "sam").type, LOCI_AGENT_TYPE);
    assert_int_equal(find_rc(&w, LOCI_STR("max"), false), LOCI_ENOTFOUND);
    assert_int_equal(find_rc(&w, LOCI_STR(""), false), LOCI_ENOTFOUND);
    assert_int_equal(find_rc(&w, LOCI_STR("a\0b"), false), LOCI_ENOTFOUND);
    assert_int_equal(find_rc(&w, LOCI_STR("\xff"), true), LOCI_ENOTFOUND);
    world_close(&w);
}

static void refuses_bad_values(void **state)
{
    static char longest[LOCI_AGENT_NAME_BYTES + 2];
    world w = world_open(store_of(state)->url);
    const struct {
        act a;
        loci_rc want;
    } cases[] = {
        { { CREATE, .name = "", .id = "agent-1" }, LOCI_EINVAL },
        { { CREATE, .name = longest, .id = "agent-1" }, LOCI_ELIMIT },
        { { CREATE, .name = "\xc3", .id = "agent-1" }, LOCI_EINVAL },
        { { CREATE, .name = "x", .id = "" }, LOCI_EINVAL },
        { { CREATE, .name = "x", .id = "agent-0" }, LOCI_ECONFLICT },
        { { ENSURE, .name = "agent-11111111-1111-4111-8111-111111111111" }, LOCI_ENOTFOUND },
        { { RENAME, .name = "y", .obj = 999 }, LOCI_ENOTFOUND },
        { { END, .obj = 999 }, LOCI_ENOTFOUND },
        { { REVIVE, .obj = 999 }, LOCI_ENOTFOUND },
        { { REVIVE, .obj = 1 }, LOCI_ECONFLICT },
    };

    memset(longest, 'x', sizeof longest - 1);
    assert_int_equal(world_do(&w, (act){ CREATE, .name = "zero", .id = "agent-0" }), 1);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        act a = cases[i].a;
        loci_err err = { 0 };
        assert_int_equal(world_try(&w, &a, &err), cases[i].want);
        assert_true(strlen(err.msg) > 0);
    }
    world_close(&w);
}

static void named_for_the_first_time_is_created(void **state)
{
    world w = world_open(store_of(state)->url);
    act a = { ENSURE, .name = "new one" }, again = { ENSURE, .name = "new one" };
    loci_err err = { 0 };

    assert_ok(world_try(&w, &a, &err), err);
    assert_true(a.created);
    assert_ok(world_try(&w, &again, &err), err);
    assert_false(again.created);
    assert_int_equal(a.obj, again.obj);
    world_close(&w);
}

static void pages(void **state)
{
    world w = world_open(store_of(state)->url);
    char name[16];
    loci_err err = { 0 };

    for (int i = 0; i < 25; i++) {
        (void)snprintf(name, sizeof name, "a%02d", i);
        (void)world_do(&w, (act){ CREATE, .name = name });
    }
    for (int oldest_first = 0; oldest_first <= 1; oldest_first++) {
        loci_agent_page page = { .limit = 10, .oldest_first = oldest_first };
        loci_agents list = { 0 };
        int seen = 0;
        do {
            LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&w);
            assert_ok(loci_agent_list(tx, ORG, &page, w.arena, &list, &err), err);
            for (size_t i = 0; i < list.count; i++, seen++) {
                (void)snprintf(name, sizeof name, "a%02d", oldest_first ? seen : 24 - seen);
                assert_str(list.items[i].name, name);
            }
            page.behind = list.count ? &list.items[list.count - 1] : page.behind;
        } while (list.count == 10);
        assert_int_equal(seen, 25);
    }
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&w);
    loci_agent_page bad = { .limit = LOCI_AGENT_PAGE + 1 }, named = { .name = LOCI_STR("a07") };
    loci_agents list = { 0 };
    assert_int_equal(loci_agent_list(tx, ORG, &bad, w.arena, &list, &err), LOCI_EINVAL);
    assert_ok(loci_agent_list(tx, ORG, &named, w.arena, &list, &err), err);
    assert_int_equal(list.count, 1);
    loci_tx_endp(&tx);
    world_close(&w);
}

static void change_is_a_revision(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t obj = world_do(&w, (act){ CREATE, .name = "before", .id = "agent-1" }), then = w.born;
    loci_agent a;
    loci_err err = { 0 };

    (void)world_do(&w, (act){ RENAME, .name = "after", .obj = obj });
    a = find(&w, "agent-1");
    assert_str(a.name, "after");
    assert_int_equal(a.rev, 2);
    assert_int_equal(a.obj, obj);
    assert_int_equal(find_rc(&w, LOCI_STR("before"), false), LOCI_ENOTFOUND);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&w);
    assert_ok(loci_agent_get(tx, ORG, obj, then, w.arena, &a, &err), err);
    assert_str(a.name, "before");
    assert_int_equal(loci_agent_get(tx, ORG, obj, then - 1, w.arena, &a, &err), LOCI_ENOTFOUND);
    loci_tx_endp(&tx);
    world_close(&w);
}

static void end_takes_links_and_revive_brings_them(void **state)
{
    world w = world_open(store_of(state)->url);
    int64_t obj = world_do(&w, (act){ CREATE, .name = "sam" });
    int64_t kept = world_do(&w, (act){ BLOCK, .name = "human", .text = "v" });
    int64_t lost = world_do(&w, (act){ BLOCK, .name = "persona", .text = "v" });
    loci_scope trunk = world_scope(&w, obj, "", LOCI_NEVER);
    char want[64];

    (void)world_do(&w, (act){ LINK, .name = "human", .obj = kept, .scope = &trunk });
    (void)world_do(&w, (act){ LINK, .name = "persona", .obj = lost, .scope = &trunk });
    (void)world_do(&w, (act){ LINK, .name = "gone", .obj = kept, .scope = &trunk });
    (void)world_do(&w, (act){ UNLINK, .name = "gone", .scope = &trunk });
    (void)world_do(&w, (act){ END, .obj = obj });
    assert_string_equal(world_labels(&w, &trunk), "");
    assert_int_equal(find_rc(&w, LOCI_STR("sam"), false), LOCI_ENOTFOUND);
    assert_int_equal(find_rc(&w, LOCI_STR("sam"), true), LOCI_OK);
    (void)world_do(&w, (act){ KILL, .obj = lost, .table = &loci_past_block });
    (void)world_do(&w, (act){ REVIVE, .obj = obj });
    assert_int_equal(find(&w, "sam").rev, 2);
    (void)snprintf(want, sizeof want, "human=%lld@0", (long long)kept);
    assert_string_equal(world_labels(&w, &trunk), want);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(finds_by_id_and_name),
        ON_BOTH(refuses_bad_values),
        ON_BOTH(named_for_the_first_time_is_created),
        ON_BOTH(pages),
        ON_BOTH(change_is_a_revision),
        ON_BOTH(end_takes_links_and_revive_brings_them),
    };
    return cmocka_run_group_tests_name("tree/agent", tests, NULL, NULL);
}
