#include "base/buf.h"
#include "db/dialect.h"
#include "test.h"

static void translates(void **state)
{
    static const struct {
        const char *in, *sqlite, *postgres;
    } cases[] = {
        /* clang-format off */
        { "SELECT ?1, ?12",            "SELECT ?1, ?12",               "SELECT $1, $12" },
        { "SELECT '?1 {text}', \"?2\"", "SELECT '?1 {text}', \"?2\"",   "SELECT '?1 {text}', \"?2\"" },
        { "SELECT 'it''s ?1', ?1",     "SELECT 'it''s ?1', ?1",        "SELECT 'it''s ?1', $1" },
        { "a {text}, b {blob}",        "a TEXT, b BLOB",               "a TEXT COLLATE \"C\", b BYTEA" },
        { "a {int}",                   "a INTEGER",                    "a BIGINT" },
        { "(x) {strict}",              "(x) STRICT",                   "(x) " },
        { "(x) {narrow}",              "(x) STRICT, WITHOUT ROWID",    "(x) " },
        { "ended = {never}",           "ended = 9223372036854775807",  "ended = 9223372036854775807" },
        { "a {in ?2} AND b",           "a IN (SELECT value FROM json_each(?2)) AND b", "a = ANY($2) AND b" },
        { "a ? b",                     "a ? b",                        "a ? b" },
        /* clang-format on */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        for (int engine = LOCI_SQLITE; engine <= LOCI_POSTGRES; engine++) {
            LOCI_AUTO(loci_buf_done) loci_buf out;
            loci_err err = { 0 };
            loci_buf_init(&out, 1000);
            assert_ok(
                loci_dialect_translate((loci_engine)engine, loci_str_from(cases[i].in), &out, &err),
                err);
            assert_str(loci_buf_str(&out),
                       engine == LOCI_SQLITE ? cases[i].sqlite : cases[i].postgres);
        }
    }
}

static void refuses(void **state)
{
    static const char *const cases[] = { "SELECT 'open", "{nothing}", "{in 2}", "{in ?}",
                                         "{in ?2x}",     "{",         "{text",  "\"" };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_err err = { 0 };
        loci_buf_init(&out, 1000);
        assert_int_equal(loci_dialect_translate(LOCI_SQLITE, loci_str_from(cases[i]), &out, &err),
                         LOCI_EINVAL);
        assert_int_equal(err.code, LOCI_EINVAL);
    }
}

static void cuts_statements(void **state)
{
    static const char *const want[] = { "a", "b ';' c", "d \";\"" };
    loci_str rest = LOCI_STR(" a ;; b ';' c;\n;d \";\" ; "), one;
    size_t n = 0;
    (void)state;

    while (loci_dialect_cut(&rest, &one)) {
        assert_true(n < LOCI_COUNT(want));
        assert_str(one, want[n++]);
    }
    assert_int_equal(n, LOCI_COUNT(want));
}

static void writes_lists(void **state)
{
    static const int64_t numbers[] = { 1, -2, INT64_MIN };
    const loci_str texts[] = { LOCI_STR("a\"b\\"), LOCI_STR(""), LOCI_STR("\n,{}") };
    LOCI_AUTO(loci_buf_done) loci_buf out;
    (void)state;

    loci_buf_init(&out, 1000);
    loci_dialect_i64s(LOCI_SQLITE, numbers, 3, &out);
    loci_dialect_i64s(LOCI_POSTGRES, numbers, 3, &out);
    loci_dialect_i64s(LOCI_POSTGRES, numbers, 0, &out);
    assert_str(loci_buf_str(&out), "[1,-2,-9223372036854775808]{1,-2,-9223372036854775808}{}");
    loci_buf_clear(&out);
    loci_dialect_texts(LOCI_SQLITE, texts, 3, &out);
    assert_str(loci_buf_str(&out), "[\"a\\\"b\\\\\",\"\",\"\\u000a,{}\"]");
    loci_buf_clear(&out);
    loci_dialect_texts(LOCI_POSTGRES, texts, 3, &out);
    assert_str(loci_buf_str(&out), "{\"a\\\"b\\\\\",\"\",\"\n,{}\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(translates),
        cmocka_unit_test(refuses),
        cmocka_unit_test(cuts_statements),
        cmocka_unit_test(writes_lists),
    };
    return cmocka_run_group_tests_name("db/dialect", tests, NULL, NULL);
}
