#include "base/str.h"
#include "test.h"

static void compares(void **state)
{
    (void)state;
    assert_true(loci_str_eq(LOCI_STR("ab"), LOCI_STR("ab")));
    assert_true(loci_str_eq((loci_str){ NULL, 0 }, LOCI_STR("")));
    assert_false(loci_str_eq(LOCI_STR("ab"), LOCI_STR("abc")));
    assert_true(loci_str_eq_nocase(LOCI_STR("Host"), LOCI_STR("hOST")));
    assert_false(loci_str_eq_nocase(LOCI_STR("Host"), LOCI_STR("hOS")));
    assert_true(loci_str_eq_name(LOCI_STR("body-limit_x"), LOCI_STR("body_limit-x")));
    assert_false(loci_str_eq_name(LOCI_STR("body-limit"), LOCI_STR("body.limit")));
    assert_int_equal(loci_str_cmp(LOCI_STR("a"), LOCI_STR("ab")), -1);
    assert_int_equal(loci_str_cmp(LOCI_STR("b"), LOCI_STR("ab")), 1);
    assert_int_equal(loci_str_cmp((loci_str){ NULL, 0 }, LOCI_STR("")), 0);
    assert_true(loci_str_starts(LOCI_STR("unix:/x"), LOCI_STR("unix:")));
    assert_false(loci_str_starts(LOCI_STR("un"), LOCI_STR("unix:")));
    assert_true(loci_str_ends(LOCI_STR("a.gz"), LOCI_STR(".gz")));
    assert_false(loci_str_ends(LOCI_STR("gz"), LOCI_STR(".gz")));
}

static void cuts(void **state)
{
    loci_str rest = LOCI_STR("a,,b,"), part;
    (void)state;

    assert_true(loci_str_cut(&rest, ',', &part));
    assert_str(part, "a");
    assert_true(loci_str_cut(&rest, ',', &part));
    assert_str(part, "");
    assert_true(loci_str_cut(&rest, ',', &part));
    assert_str(part, "b");
    assert_true(loci_str_cut(&rest, ',', &part));
    assert_str(part, "");
    assert_false(loci_str_cut(&rest, ',', &part));
    assert_str(loci_str_trim(LOCI_STR(" \t x y\r\n")), "x y");
    assert_str(loci_str_trim(LOCI_STR("  ")), "");
    assert_str(loci_str_sub(LOCI_STR("hello"), 3, 10), "lo");
    assert_str(loci_str_sub(LOCI_STR("hello"), 9, 1), "");
    assert_int_equal(loci_str_find(LOCI_STR("hello"), LOCI_STR("ll")), 2);
    assert_int_equal(loci_str_find(LOCI_STR("hello"), LOCI_STR("z")), 5);
    assert_int_equal(loci_str_find(LOCI_STR(""), LOCI_STR("z")), 0);
}

static void reads_integers(void **state)
{
    static const struct {
        const char *in;
        bool ok;
        int64_t want;
    } cases[] = {
        { "0", true, 0 },
        { "-0", true, 0 },
        { "007", true, 7 },
        { "9223372036854775807", true, INT64_MAX },
        { "-9223372036854775808", true, INT64_MIN },
        { "9223372036854775808", false, 0 },
        { "-9223372036854775809", false, 0 },
        { "99999999999999999999999", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "+1", false, 0 },
        { " 1", false, 0 },
        { "1x", false, 0 },
    };
    uint64_t u = 5;
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        int64_t n = 77;
        assert_int_equal(loci_str_to_i64(loci_str_from(cases[i].in), &n), cases[i].ok);
        assert_int_equal(n, cases[i].ok ? cases[i].want : 77);
    }
    assert_true(loci_str_to_u64(LOCI_STR("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    assert_false(loci_str_to_u64(LOCI_STR("18446744073709551616"), &u));
    assert_true(u == UINT64_MAX);
}

static void measures_distance(void **state)
{
    (void)state;
    assert_int_equal(loci_str_distance(LOCI_STR("serve"), LOCI_STR("serve"), 3), 0);
    assert_int_equal(loci_str_distance(LOCI_STR("serv"), LOCI_STR("serve"), 3), 1);
    assert_int_equal(loci_str_distance(LOCI_STR("sevre"), LOCI_STR("serve"), 3), 1);
    assert_int_equal(loci_str_distance(LOCI_STR(""), LOCI_STR("abc"), 3), 3);
    assert_int_equal(loci_str_distance(LOCI_STR("kitten"), LOCI_STR("sitting"), 5), 3);
    assert_int_equal(loci_str_distance(LOCI_STR("abcdef"), LOCI_STR("uvwxyz"), 3), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares),
        cmocka_unit_test(cuts),
        cmocka_unit_test(reads_integers),
        cmocka_unit_test(measures_distance),
    };
    return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
