#include "text/fold.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "test.h"

static void folds_case_and_nothing_else(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "", "" },
        { "Hello, WORLD 1", "hello, world 1" },
        { "Straße", "strasse" },
        { "ΣΊΣΥΦΟΣ", "σίσυφοσ" },
        { "ÉCOLE e\xCC\x81", "école e\xCC\x81" }, /* accents and composition stay */
        { "ＡＢ", "ａｂ" },                       /* width too */
        { "\xFF"
          "A\xC3",
          "\xFF"
          "a\xC3" }, /* what is not UTF-8 is copied */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_buf_init(&out, 1000);
        loci_fold_case(loci_str_from(cases[i].in), &out);
        assert_str(loci_buf_str(&out), cases[i].want);
    }
}

/* No character grows by more than the factor that the header promises. */
static void keeps_its_length_promise(void **state)
{
    (void)state;
    for (uint32_t c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 7) {
        LOCI_AUTO(loci_buf_done) loci_buf out;
        char bytes[4];
        size_t len = loci_utf8_encode(c, bytes);
        loci_buf_init(&out, 64);
        loci_fold_case((loci_str){ bytes, len }, &out);
        assert_int_equal(loci_buf_check(&out, NULL), LOCI_OK);
        assert_true(out.len <= 3 * len);
    }
}

static void takes_accents_off(void **state)
{
    static const struct {
        const char *in, *want;
        size_t room;
    } cases[] = {
        { "", "", 10 },           { "plain", "plain", 10 },
        { "éàü", "eau", 10 },     { "øłæþ", "olaeth", 10 },
        { "йё", "йе", 10 },       { "がパ한", "がパ한", 10 },
        { "हिन्दी", "हिन्दी", 30 }, { "น้ำ", "น้ำ", 30 },
        { "中国", "中", 5 }, /* whole characters only */
        { "abc", "ab", 2 },       { "abc", "", 0 },
    };
    char out[64];
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        size_t len = loci_fold_accents(loci_str_from(cases[i].in), out, cases[i].room);
        assert_str(((loci_str){ out, len }), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_case_and_nothing_else),
        cmocka_unit_test(keeps_its_length_promise),
        cmocka_unit_test(takes_accents_off),
    };
    return cmocka_run_group_tests_name("text/fold", tests, NULL, NULL);
}
