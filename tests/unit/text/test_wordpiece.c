#include "text/wordpiece.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "test.h"
#include "toy_vocabulary.h"

#include <string.h>

static loci_buf table;
static loci_wordpiece wp;
static loci_arena *arena;

static int build_toy(void **state)
{
    (void)state;
    loci_buf_init(&table, 1 << 16);
    arena = loci_arena_new((size_t)64 << 20);
    return !arena || loci_wordpiece_build(LOCI_STR(TOY_VOCABULARY), &table, NULL) ||
           loci_wordpiece_init(&wp, table.ptr, table.len, NULL);
}

static int free_toy(void **state)
{
    (void)state;
    loci_buf_done(&table);
    loci_arena_free(arena);
    return 0;
}

static void follows_the_rules(void **state)
{
    static const struct {
        const char *in;
        size_t count;
        uint32_t ids[8];
    } cases[] = {
        /* clang-format off */
        { "", 0, { 0 } },
        { " \t\n", 0, { 0 } },
        { "unwanted runs", 5, { UN, WANT, ED, RUN, S } },
        { "UNWANTED", 3, { UN, WANT, ED } },
        { "the,runs.", 5, { THE, COMMA, RUN, S, DOT } },
        { "runx the", 2, { UNK, THE } },                       /* a part without a piece */
        { "Caf\xC3\xA9 cafe\xCC\x81", 2, { CAFE, CAFE } },     /* composed or not */
        { "the\xE4\xB8\xAD" "the", 3, { THE, ZHONG, THE } },   /* an ideograph is a word */
        { "t\xC2\xADh\xE2\x80\x8B" "e\x01", 1, { THE } },      /* soft hyphen, ZWSP, control */
        { "th\xFF\xC3" "e\xEF\xBF\xBD", 1, { THE } },          /* not UTF-8, U+FFFD */
        { "the\xE2\x80\xA8the\xC2\xA0the", 3, { THE, THE, THE } },
        { "\xCE\xA3\xCE\xA3\xCE\xA3", 3, { SIGMA, SIGMA2, FINAL } },
        { "\xCE\xA3", 1, { SIGMA } },                          /* alone it is not final */
        { "\xEA\xB0\x80", 2, { KIYEOK, JUNGSEONG_A } },        /* Hangul decomposes */
        { "a'\xCE\xA3'a", 5, { A, QUOTE, SIGMA, QUOTE, A } },  /* a letter follows: not final */
        { "[SEP]", 3, { UNK, UNK, UNK } },                     /* special pieces are text */
        /* clang-format on */
    };
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_tokens tokens = { 0 };
        assert_ok(loci_wordpiece_encode(&wp, loci_str_from(cases[i].in), 0, arena, &tokens, &err),
                  err);
        assert_int_equal(tokens.count, cases[i].count);
        for (size_t k = 0; k < tokens.count; k++)
            assert_int_equal(tokens.items[k].id, cases[i].ids[k]);
    }
}

static void knows_the_places(void **state)
{
    static const loci_token want[] = {
        { UN, 2, 4 },     { WANT, 4, 8 },     { ED, 8, 10 },           { COMMA, 10, 11 },
        { CAFE, 12, 17 }, { KIYEOK, 18, 21 }, { JUNGSEONG_A, 18, 21 }, { UNK, 22, 24 },
    };
    loci_tokens tokens = { 0 };
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_wordpiece_encode(&wp, LOCI_STR("  UNwanted, caf\xC3\xA9 \xEA\xB0\x80 xy"), 0,
                                    arena, &tokens, &err),
              err);
    assert_int_equal(tokens.count, LOCI_COUNT(want));
    for (size_t i = 0; i < tokens.count; i++)
        assert_memory_equal(&tokens.items[i], &want[i], sizeof *want);
}

static void cuts_to_the_window(void **state)
{
    loci_tokens tokens = { 0 };
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_wordpiece_encode(&wp, LOCI_STR("the unwanted"), 2, arena, &tokens, &err), err);
    assert_int_equal(tokens.count, 2);
    assert_ok(loci_wordpiece_input(&wp, LOCI_STR("the unwanted runs"), 4, arena, &tokens, &err),
              err);
    assert_int_equal(tokens.count, 4);
    assert_int_equal(tokens.items[0].id, CLS);
    assert_int_equal(tokens.items[2].id, UN);
    assert_int_equal(tokens.items[3].id, SEP);
    assert_ok(loci_wordpiece_input(&wp, LOCI_STR(""), 512, arena, &tokens, &err), err);
    assert_int_equal(tokens.count, 2);
    assert_int_equal(loci_wordpiece_input(&wp, LOCI_STR(""), 1, arena, &tokens, &err), LOCI_EINVAL);
}

static void bounds_long_words(void **state)
{
    LOCI_AUTO(loci_freep) char *text = loci_zalloc(1 << 20);
    loci_tokens tokens = { 0 };
    loci_err err = { 0 };
    (void)state;

    assert_non_null(text);
    memset(text, 'a', 1 << 20);
    assert_ok(loci_wordpiece_encode(&wp, (loci_str){ text, 100 }, 0, arena, &tokens, &err), err);
    assert_int_equal(tokens.count, 100);
    assert_int_equal(tokens.items[99].id, A2);
    assert_ok(loci_wordpiece_encode(&wp, (loci_str){ text, 101 }, 0, arena, &tokens, &err), err);
    assert_int_equal(tokens.count, 1);
    assert_ok(loci_wordpiece_encode(&wp, (loci_str){ text, 1 << 20 }, 0, arena, &tokens, &err),
              err);
    assert_int_equal(tokens.count, 1);
    assert_int_equal(tokens.items[0].id, UNK);
    assert_int_equal(tokens.items[0].end, 1 << 20);
}

static void refuses_bad_vocabularies(void **state)
{
    static const struct {
        const char *text;
        loci_rc want;
    } cases[] = {
        { "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]", LOCI_OK },
        { "[PAD]\n[UNK]\n[CLS]\n", LOCI_ECORRUPT },
        { "[PAD]\n\n[UNK]\n[CLS]\n[SEP]\n", LOCI_EINVAL },
        { "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\na\n", LOCI_EINVAL },
        { "", LOCI_ELIMIT },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_err err = { 0 };
        loci_buf_init(&out, 1 << 16);
        assert_int_equal(loci_wordpiece_build(loci_str_from(cases[i].text), &out, &err),
                         cases[i].want);
    }
}

static void stays_in_its_arena(void **state)
{
    static char text[4096];
    LOCI_AUTO(loci_arena_freep) loci_arena *small = loci_arena_new(8192);
    loci_tokens tokens = { 0 };
    loci_err err = { 0 };
    (void)state;

    memset(text, ',', sizeof text);
    assert_int_equal(
        loci_wordpiece_encode(&wp, (loci_str){ text, sizeof text }, 0, small, &tokens, &err),
        LOCI_ELIMIT);
    assert_null(tokens.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_the_rules),        cmocka_unit_test(knows_the_places),
        cmocka_unit_test(cuts_to_the_window),       cmocka_unit_test(bounds_long_words),
        cmocka_unit_test(refuses_bad_vocabularies), cmocka_unit_test(stays_in_its_arena),
    };
    return cmocka_run_group_tests_name("text/wordpiece", tests, build_toy, free_toy);
}
