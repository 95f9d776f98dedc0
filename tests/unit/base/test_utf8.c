#include "base/utf8.h"
#include "test.h"

#include <string.h>

#define FFFD "\xEF\xBF\xBD"

/* Where the first bad byte is, how many characters, and what repair makes of it. */
static void checks_and_repairs(void **state)
{
    /* clang-format off */
    static const struct { loci_str in; size_t bad, count; const char *repaired; } cases[] = {
        { LOCI_STR(""),                          0, 0, "" },
        { LOCI_STR("plain"),                     5, 5, "plain" },
        { LOCI_STR("h\xC3\xA9!"),                4, 3, "h\xC3\xA9!" },
        { LOCI_STR("\xC2\x80"),                  2, 1, "\xC2\x80" },          /* smallest of two */
        { LOCI_STR("\xDF\xBF"),                  2, 1, "\xDF\xBF" },
        { LOCI_STR("\xE0\xA0\x80"),              3, 1, "\xE0\xA0\x80" },      /* smallest of three */
        { LOCI_STR("\xED\x9F\xBF\xEE\x80\x80"),  6, 2, "\xED\x9F\xBF\xEE\x80\x80" },
        { LOCI_STR("\xEF\xBF\xBF"),              3, 1, "\xEF\xBF\xBF" },      /* a noncharacter is fine */
        { LOCI_STR("\xF0\x90\x80\x80"),          4, 1, "\xF0\x90\x80\x80" },  /* smallest of four */
        { LOCI_STR("\xF4\x8F\xBF\xBF"),          4, 1, "\xF4\x8F\xBF\xBF" },  /* the last there is */
        { LOCI_STR("a\x80" "b"),                 1, 3, "a" FFFD "b" },        /* a stray continuation */
        { LOCI_STR("\xC0\xAF"),                  0, 2, FFFD FFFD },           /* overlong slash */
        { LOCI_STR("\xC1\xBF"),                  0, 2, FFFD FFFD },
        { LOCI_STR("\xE0\x9F\xBF"),              0, 3, FFFD FFFD FFFD },      /* overlong */
        { LOCI_STR("\xF0\x8F\xBF\xBF"),          0, 4, FFFD FFFD FFFD FFFD },
        { LOCI_STR("\xED\xA0\x80"),              0, 3, FFFD FFFD FFFD },      /* a surrogate */
        { LOCI_STR("\xED\xBF\xBF"),              0, 3, FFFD FFFD FFFD },
        { LOCI_STR("\xF4\x90\x80\x80"),          0, 4, FFFD FFFD FFFD FFFD }, /* U+110000 */
        { LOCI_STR("\xF5"),                      0, 1, FFFD },
        { LOCI_STR("\xFE\xFF"),                  0, 2, FFFD FFFD },
        { LOCI_STR("x\xC3"),                     1, 2, "x" FFFD },            /* cut short */
        { LOCI_STR("\xE2\x82"),                  0, 1, FFFD },
        { LOCI_STR("\xF0\x9F\x98"),              0, 1, FFFD },
        { LOCI_STR("\xF0\x9F\x98z"),             0, 2, FFFD "z" },
        { LOCI_STR("\xE2\x82\xE2\x82\xAC"),      0, 2, FFFD "\xE2\x82\xAC" },
        /* The example of the Unicode standard, table 3-8 and its neighbours. */
        { LOCI_STR("a\xF1\x80\x80\xE1\x80\xC2" "b\x80" "c\x80\xBF" "d"),
          1, 10, "a" FFFD FFFD FFFD "b" FFFD "c" FFFD FFFD "d" },
        { LOCI_STR("0123456789abcdef0123456789abcdef\xFF"), 32, 33, "0123456789abcdef0123456789abcdef" FFFD },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_buf_init(&out, 200);
        assert_int_equal(loci_utf8_check(cases[i].in), cases[i].bad);
        assert_int_equal(loci_utf8_valid(cases[i].in), cases[i].bad == cases[i].in.len);
        assert_int_equal(loci_utf8_count(cases[i].in), cases[i].count);
        loci_utf8_repair(&out, cases[i].in);
        assert_str(loci_buf_str(&out), cases[i].repaired);
        assert_int_equal(loci_buf_check(&out, NULL), LOCI_OK);
    }
    assert_true(loci_utf8_valid((loci_str){ NULL, 0 }));
    assert_int_equal(loci_utf8_count((loci_str){ NULL, 0 }), 0);
}

/* One bad byte is found wherever it stands to the sixteen-byte steps. */
static void finds_it_at_every_offset(void **state)
{
    char text[100];
    (void)state;

    for (size_t len = 1; len <= sizeof text; len++) {
        for (size_t at = 0; at < len; at++) {
            memset(text, 'x', sizeof text);
            text[at] = (char)0xFF;
            assert_int_equal(loci_utf8_check((loci_str){ text, len }), at);
            assert_int_equal(loci_utf8_count((loci_str){ text, len }), len);
        }
    }
}

/* Every number: characters come back as themselves, the others are refused. */
static void encodes_and_decodes_every_character(void **state)
{
    (void)state;

    for (uint32_t code = 0; code < 0x110100; code++) {
        char bytes[4] = { 0 };
        uint32_t back = 0;
        size_t n = loci_utf8_encode(code, bytes);
        if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
            assert_int_equal(n, 0);
            continue;
        }
        loci_str s = { bytes, n };
        if (n == 0 || loci_utf8_decode(s, &back) != n || back != code || !loci_utf8_valid(s))
            fail_msg("U+%04X does not come back", code);
        if (n > 1) { /* and no shorter part of it is a character */
            s.len--;
            assert_int_equal(loci_utf8_decode(s, &back), n - 1);
            assert_true(back == LOCI_UTF8_BAD);
        }
    }
    assert_int_equal(loci_utf8_encode(UINT32_MAX, (char[4]){ 0 }), 0);
}

static void cuts_between_characters(void **state)
{
    static const char text[] = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z"; /* 1 2 3 4 1 */
    static const size_t want[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };
    (void)state;

    for (size_t max = 0; max < LOCI_COUNT(want); max++)
        assert_int_equal(loci_utf8_cut(loci_str_from(text), max).len, want[max]);
    assert_int_equal(loci_utf8_cut((loci_str){ NULL, 0 }, 5).len, 0);
    assert_int_equal(loci_utf8_cut(LOCI_STR("\x80\x80\x80\x80\x80\x80"), 5).len, 5);
    assert_int_equal(loci_utf8_cut(LOCI_STR("ab\xE2(x"), 3).len, 3); /* not a character: no unit */
    assert_int_equal(loci_utf8_cut(LOCI_STR("ab\xF0\x9F\x98x"), 3).len, 2);
}

static void tells_a_full_buffer(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf out;
    (void)state;

    loci_buf_init(&out, 5);
    loci_utf8_repair(&out, LOCI_STR("\xFF\xFF"));
    assert_int_equal(loci_buf_check(&out, NULL), LOCI_ELIMIT);
}

static void knows_what_can_be_seen(void **state)
{
    static const struct {
        uint32_t code;
        bool visible;
    } cases[] = {
        { 0, false },       { 0x1F, false },     { ' ', true },
        { '~', true },      { 0x7F, false },     { 0x9B, false },
        { 0xA0, false },    { 0xA1, true },      { 0xAD, false },
        { 0xE4, true },     { 0x61C, false },    { 0x200B, false },
        { 0x2010, true },   { 0x2028, false },   { 0x202A, false },
        { 0x202E, false },  { 0x2030, true },    { 0x2066, false },
        { 0x2069, false },  { 0x20AC, true },    { 0xD800, false },
        { 0xFEFF, false },  { 0x1F600, true },   { 0xE0041, false },
        { 0x10FFFF, true }, { 0x110000, false }, { LOCI_UTF8_BAD, false },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        if (loci_utf8_visible(cases[i].code) != cases[i].visible)
            fail_msg("U+%04X", (unsigned)cases[i].code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_and_repairs),
        cmocka_unit_test(finds_it_at_every_offset),
        cmocka_unit_test(encodes_and_decodes_every_character),
        cmocka_unit_test(cuts_between_characters),
        cmocka_unit_test(tells_a_full_buffer),
        cmocka_unit_test(knows_what_can_be_seen),
    };
    return cmocka_run_group_tests_name("base/utf8", tests, NULL, NULL);
}
