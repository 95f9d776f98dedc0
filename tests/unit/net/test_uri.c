#include "net/uri.h"
#include "test.h"

static loci_arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = loci_arena_new(1 << 20);
    return arena ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    loci_arena_free(arena);
    return 0;
}

static void splits(void **state)
{
    static const struct {
        const char *target;
        loci_rc want;
        const char *path, *query;
    } cases[] = {
        { "/", LOCI_OK, "/", "" },           { "/a?b=c", LOCI_OK, "/a", "b=c" },
        { "/a?b?c", LOCI_OK, "/a", "b?c" },  { "/a?", LOCI_OK, "/a", "" },
        { "/a%20b", LOCI_OK, "/a%20b", "" }, { "", LOCI_EINVAL, "", "" },
        { "*", LOCI_EINVAL, "", "" },        { "http://localhost/a", LOCI_EINVAL, "", "" },
        { "/a b", LOCI_EINVAL, "", "" },     { "/a#b", LOCI_EINVAL, "", "" },
        { "/\x7f", LOCI_EINVAL, "", "" },    { "/\xc3\xa4", LOCI_EINVAL, "", "" },
        { "/a?\x01", LOCI_EINVAL, "", "" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_str path = LOCI_STR("?"), query = LOCI_STR("?");
        loci_rc rc = loci_uri_split(loci_str_from(cases[i].target), &path, &query, NULL);
        if (rc != cases[i].want) fail_msg("%s: %s", cases[i].target, loci_rc_name(rc));
        assert_str(path, rc ? "?" : cases[i].path);
        assert_str(query, rc ? "?" : cases[i].query);
    }
}

static void decodes(void **state)
{
    static const struct {
        const char *in;
        bool plus;
        loci_rc want;
        const char *out;
    } cases[] = {
        { "plain", false, LOCI_OK, "plain" },
        { "", false, LOCI_OK, "" },
        { "a%20b", false, LOCI_OK, "a b" },
        { "a+b", false, LOCI_OK, "a+b" },
        { "a+b", true, LOCI_OK, "a b" },
        { "a%2Bb", true, LOCI_OK, "a+b" },
        { "%C3%a4", false, LOCI_OK, "\xc3\xa4" },
        { "%2525", false, LOCI_OK, "%25" }, /* once, not twice */
        { "%2F", false, LOCI_OK, "/" },
        { "%", false, LOCI_EINVAL, "" },
        { "%4", false, LOCI_EINVAL, "" },
        { "%4g", false, LOCI_EINVAL, "" },
        { "%g4", false, LOCI_EINVAL, "" },
        { "%%41", false, LOCI_EINVAL, "" },
        { "a%00b", false, LOCI_EINVAL, "" },
        { "%ff", false, LOCI_EINVAL, "" },
        { "%C3", false, LOCI_EINVAL, "" },
        { "%ED%A0%80", false, LOCI_EINVAL, "" }, /* a surrogate */
        { "%C0%AF", false, LOCI_EINVAL, "" },    /* an overlong slash */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_str out = LOCI_STR("?");
        loci_rc rc = loci_uri_decode(arena, loci_str_from(cases[i].in), cases[i].plus, &out, NULL);
        if (rc != cases[i].want) fail_msg("%s: %s", cases[i].in, loci_rc_name(rc));
        assert_str(out, rc ? "?" : cases[i].out);
    }
}

static void reads_queries(void **state)
{
    loci_uri_param *params = NULL;
    size_t count = 99;
    (void)state;

    assert_int_equal(loci_uri_query(arena, LOCI_STR("tags=a&tags=b%26c&&flag&x=1=2&=v&n+m=%20"),
                                    &params, &count, NULL),
                     LOCI_OK);
    assert_int_equal(count, 6);
    assert_str(params[0].name, "tags");
    assert_str(params[0].value, "a");
    assert_str(params[1].value, "b&c");
    assert_str(params[2].name, "flag");
    assert_str(params[2].value, "");
    assert_str(params[3].value, "1=2");
    assert_str(params[4].name, "");
    assert_str(params[5].name, "n m");
    assert_str(params[5].value, " ");
    assert_int_equal(loci_uri_query(arena, LOCI_STR("a=%zz"), &params, &count, NULL), LOCI_EINVAL);
    assert_int_equal(count, 6); /* untouched */
}

static void counts_parameters(void **state)
{
    char many[2 * LOCI_URI_PARAMS + 2];
    loci_uri_param *params;
    size_t count;
    (void)state;

    for (size_t i = 0; i < sizeof many; i++) many[i] = i % 2 ? '&' : 'a';
    assert_int_equal(
        loci_uri_query(arena, (loci_str){ many, sizeof many - 2 }, &params, &count, NULL), LOCI_OK);
    assert_int_equal(count, LOCI_URI_PARAMS);
    assert_int_equal(loci_uri_query(arena, (loci_str){ many, sizeof many }, &params, &count, NULL),
                     LOCI_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(splits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_queries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_parameters, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
