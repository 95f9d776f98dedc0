#include "net/route.h"
#include "test.h"

static void nothing(void *context, loci_http_request *request)
{
    (void)context, (void)request;
}

static const loci_route table[] = {
    /* clang-format off */
    { LOCI_GET,    "/",                              0,                nothing, "root" },
    { LOCI_GET,    "/v1/health/",                    LOCI_ROUTE_CHEAP, nothing, "health" },
    { LOCI_GET,    "/v1/agents/{agent}",             0,                nothing, "get agent" },
    { LOCI_DELETE, "/v1/agents/{agent}",             0,                nothing, "delete agent" },
    { LOCI_POST,   "/v1/agents/search",              0,                nothing, "search" },
    { LOCI_GET,    "/v1/agents/{agent}/b/{label}",   0,                nothing, "block" },
    { LOCI_PATCH,  "/v1/agents/{a}/b/attach/{id}",   0,                nothing, "attach" },
    { LOCI_GET,    "/web/{file*}",                   0,                nothing, "file" },
    { LOCI_GET,    "/web/index",                     0,                nothing, "index" },
    /* clang-format on */
};

static loci_router *router;
static loci_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = loci_arena_new(1 << 20);
    return !arena || loci_router_new(&router, NULL) ||
           loci_router_add(router, "", table, LOCI_COUNT(table), &router, NULL) ||
           loci_router_add(router, "/latest", table + 1, 3, &arena, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    loci_router_free(router);
    loci_arena_free(arena);
    return 0;
}

static void finds(void **state)
{
    static const struct {
        loci_method method;
        const char *path;
        const char *want; /* NULL: no such path; "": no such method */
        const char *first, *second;
    } cases[] = {
        { LOCI_GET, "/", "root", "", "" },
        { LOCI_GET, "/v1/health", "health", "", "" },
        { LOCI_GET, "/v1/health/", "health", "", "" },
        { LOCI_HEAD, "/v1/health", "health", "", "" },
        { LOCI_GET, "/v1/%68ealth", "health", "", "" },
        { LOCI_GET, "/latest/v1/health", "health", "", "" },
        { LOCI_POST, "/v1/health", "", "", "" },
        { LOCI_METHOD_NONE, "/v1/health", "", "", "" },
        { LOCI_OPTIONS, "/v1/health", "", "", "" },
        { LOCI_GET, "/v1/agents/x", "get agent", "x", "" },
        { LOCI_DELETE, "/v1/agents/x/", "delete agent", "x", "" },
        { LOCI_POST, "/v1/agents/search", "search", "", "" },
        { LOCI_GET, "/v1/agents/search", "get agent", "search", "" }, /* the literal has no GET */
        { LOCI_PUT, "/v1/agents/search", "", "", "" },
        { LOCI_GET, "/v1/agents/x/b/a%2Fb", "block", "x", "a/b" },
        { LOCI_GET, "/v1/agents/x/b/attach", "block", "x", "attach" },
        { LOCI_PATCH, "/v1/agents/x/b/attach/9", "attach", "x", "9" },
        { LOCI_GET, "/web/index", "index", "", "" },
        { LOCI_GET, "/web/js/a%20b.js", "file", "js/a b.js", "" },
        { LOCI_GET, "/web/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", "file",
          "1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", "" },
        { LOCI_GET, "/web/", NULL, "", "" },
        { LOCI_GET, "/v1/agents/", NULL, "", "" },
        { LOCI_GET, "/v1/agents//b/x", NULL, "", "" }, /* a name is never empty */
        { LOCI_GET, "//v1/health", NULL, "", "" },
        { LOCI_GET, "/v1/health//", NULL, "", "" },
        { LOCI_GET, "/v1//health", NULL, "", "" },
        { LOCI_GET, "/v1", NULL, "", "" },
        { LOCI_GET, "/v1/Health", NULL, "", "" },
        { LOCI_GET, "/v1/agents/x/../y", NULL, "", "" }, /* dots are ordinary text */
        { LOCI_GET, "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", NULL, "", "" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_route_match m = { 0 };
        loci_rc rc = loci_router_find(router, cases[i].method, loci_str_from(cases[i].path), arena,
                                      &m, NULL);
        const char *got = rc ? NULL : m.route ? m.route->data : "";
        if (!got != !cases[i].want || (got && strcmp(got, cases[i].want) != 0))
            fail_msg("%s: '%s'", cases[i].path, got ? got : "nothing");
        if (rc) assert_int_equal(rc, LOCI_ENOTFOUND);
        assert_str(m.count > 0 ? m.params[0].value : LOCI_STR(""), cases[i].first);
        assert_str(m.count > 1 ? m.params[1].value : LOCI_STR(""), cases[i].second);
    }
}

static void tells_names_and_methods(void **state)
{
    loci_route_match m = { 0 };
    char allow[LOCI_ALLOW_BYTES];
    (void)state;

    assert_int_equal(
        loci_router_find(router, LOCI_PUT, LOCI_STR("/v1/agents/search"), arena, &m, NULL),
        LOCI_OK);
    assert_null(m.route);
    loci_route_allow_text(m.allow, allow);
    assert_string_equal(allow, "GET, HEAD, POST, DELETE, OPTIONS");

    assert_int_equal(
        loci_router_find(router, LOCI_PATCH, LOCI_STR("/v1/agents/x/b/attach/9"), arena, &m, NULL),
        LOCI_OK);
    assert_str(m.params[0].name, "a");
    assert_str(m.params[1].name, "id");
    assert_ptr_equal(m.context, &router);
    assert_int_equal(
        loci_router_find(router, LOCI_GET, LOCI_STR("/latest/v1/health"), arena, &m, NULL),
        LOCI_OK);
    assert_ptr_equal(m.context, &arena);
    loci_route_allow_text(~0u, allow);
    assert_string_equal(allow, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
}

static void refuses_bad_paths(void **state)
{
    static const char *const bad[] = {
        "", "v1/health", "/v1/agents/%00", "/v1/agents/%ff", "/v1/agents/%4", "/web/a/%zz"
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(bad); i++) {
        loci_route_match m = { .count = 77 };
        assert_int_equal(loci_router_find(router, LOCI_GET, loci_str_from(bad[i]), arena, &m, NULL),
                         LOCI_EINVAL);
        assert_int_equal(m.count, 77);
    }
}

static void refuses_bad_tables(void **state)
{
    static const struct {
        loci_route route;
        loci_rc want;
    } cases[] = {
        { { LOCI_GET, "/v1/health", 0, nothing, NULL }, LOCI_ECONFLICT },
        { { LOCI_GET, "/v1/agents/{other}", 0, nothing, NULL }, LOCI_ECONFLICT },
        { { LOCI_GET, "/x", 0, NULL, NULL }, LOCI_EINVAL },
        { { LOCI_GET, "x", 0, nothing, NULL }, LOCI_EINVAL },
        { { LOCI_METHOD_NONE, "/x", 0, nothing, NULL }, LOCI_EINVAL },
        { { LOCI_GET, "/{a}/{b}/{c}/{d}/{e}/{f}/{g}", 0, nothing, NULL }, LOCI_EINVAL },
        { { LOCI_GET, "/1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h", 0, nothing, NULL }, LOCI_EINVAL },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_err err = { 0 };
        assert_int_equal(loci_router_add(router, "", &cases[i].route, 1, NULL, &err),
                         cases[i].want);
        assert_int_equal(err.code, cases[i].want);
    }
}

static void names_methods(void **state)
{
    (void)state;
    assert_int_equal(loci_method_parse(LOCI_STR("PATCH")), LOCI_PATCH);
    assert_int_equal(loci_method_parse(LOCI_STR("get")), LOCI_METHOD_NONE);
    assert_int_equal(loci_method_parse(LOCI_STR("")), LOCI_METHOD_NONE);
    assert_string_equal(loci_method_name(LOCI_DELETE), "DELETE");
    assert_string_equal(loci_method_name(LOCI_METHOD_NONE), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_names_and_methods, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_bad_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_bad_tables, set_up, tear_down),
        cmocka_unit_test(names_methods),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
