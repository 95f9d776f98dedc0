#include "base/suggest.h"
#include "test.h"

#include <string.h>

static void finds_what_was_meant(void **state)
{
    static const char *const names[] = { "add", "search", "body_limit", "body_total", "db", "x" };
    static const struct {
        const char *wanted;
        const char *words;
    } cases[] = {
        { "serach", "; did you mean 'search'?" },
        { "sea", "" },
        { "ad", "; did you mean 'add'?" },
        { "ab", "; did you mean 'db'?" },
        { "y", "" }, /* any letter would do */
        { "", "" },
        { "body-limit", "; did you mean 'body_limit'?" }, /* no slip at all */
        { "bdy-limt", "; did you mean 'body_limit'?" },
        { "body-tottal", "; did you mean 'body_total'?" },
        { "nothing", "" },
        { "a-name-that-is-longer-than-anything-that-is-ever-looked-at-in-this-place", "" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_suggest near = { .wanted = loci_str_from(cases[i].wanted) };
        for (size_t j = 0; j < LOCI_COUNT(names); j++)
            loci_suggest_try(&near, loci_str_from(names[j]));
        assert_string_equal(loci_suggest_text(&near).text, cases[i].words);
    }
}

static void bears_long_candidates(void **state)
{
    char name[100];
    loci_suggest near = { .wanted = LOCI_STR("xxxxxxxx") };
    (void)state;

    memset(name, 'x', sizeof name);
    loci_suggest_try(&near, (loci_str){ name, sizeof name });
    assert_string_equal(loci_suggest_text(&near).text, "");
    loci_suggest_try(&near, (loci_str){ NULL, 0 });
    assert_string_equal(loci_suggest_text(&near).text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_meant),
        cmocka_unit_test(bears_long_candidates),
    };
    return cmocka_run_group_tests_name("base/suggest", tests, NULL, NULL);
}
