#include "text/words.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "test.h"

#include <string.h>

static loci_words *english, *plain;
static loci_arena *arena;

static int open_both(void **state)
{
    (void)state;
    arena = loci_arena_new((size_t)256 << 20);
    return !arena || loci_words_open(LOCI_STR(""), &english, NULL) ||
           loci_words_open(LOCI_STR("none"), &plain, NULL);
}

static int close_both(void **state)
{
    (void)state;
    loci_words_close(english);
    loci_words_close(plain);
    loci_arena_free(arena);
    return 0;
}

/* All words with blanks between them; an exact form has a = before it. */
static loci_str words_of(loci_words *words, const char *text, loci_words_flags flags)
{
    loci_word_list list = { 0 };
    loci_err err = { 0 };
    loci_buf out;

    loci_buf_init_arena(&out, arena, 1 << 16);
    assert_ok(loci_words_list(words, loci_str_from(text), flags, arena, &list, &err), err);
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0) loci_buf_add_char(&out, ' ');
        if (list.items[i].exact) loci_buf_add_char(&out, '=');
        loci_buf_add(&out, list.items[i].text);
    }
    return loci_buf_str(&out);
}

static void splits_and_folds(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        /* clang-format off */
        { "", "" },
        { " \t.,;!", "" },
        { "Hello, World!", "hello world" },
        { "Müller ÉCOLE Straße øre Łódź ﬁn x²", "muller ecole strasse ore lodz fin x2" },
        { "cafe\xCC\x81 a\xCC\x88\xCC\xA3", "cafe a" },
        { "ΟΔΥΣΣΕΎΣ Οδυσσεύς", "οδυσσευσ οδυσσευσ" },
        { "мой Ёлка", "мой елка" },
        { "user_name", "user name username" },
        { "kebab-case-word", "kebab case word kebabcaseword" },
        { "getHTTPResponseCode", "get http response code gethttpresponsecode" },
        { "base64Encode H2O", "base64 encode base64encode h2o" },
        { "iPhone", "i phone iphone" },
        { "example.com.", "example com examplecom" },
        { "3.14 2024-05-01 v1.2", "3 14 3.14 2024 05 01 2024-05-01 v1 2 v1.2" },
        { "_private __init__ -x x-", "private init x x" },
        { "don't Bob's they\xE2\x80\x99re O'Brien", "dont bob they o brien obrien" },
        { "'quoted' rock'n'roll", "quoted rock n roll rocknroll" },
        { "co\xC2\xADoperate", "cooperate" },
        { "a\xFF" "b\xC3", "a b" },
        { "नमस्ते", "नमस्ते" },
        { "שָׁלוֹם", "שלום" },
        { "ＡＢＣ１２", "abc12" },
        { "😀 x 🎉", "x" },
        /* clang-format on */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        assert_str(words_of(plain, cases[i].in, 0), cases[i].want);
}

static void pairs_where_there_are_no_blanks(void **state)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        { "東京都", "東京 京都" },
        { "東", "東" },
        { "東京 都", "東京 都" },
        { "カタ", "カタ" },
        { "ｶﾀｶﾞ", "カタ タガ" },        /* halfwidth, with its voicing sign */
        { "か\xE3\x82\x99く", "がく" }, /* composed */
        { "안녕하", "안녕 녕하" },
        { "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "한" }, /* written in parts */
        { "สวัสดี", "สวั วัส สดี" }, /* a tone or vowel stays with its letter */
        { "iPhone15を買う", "i phone15 iphone15 を買 買う" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        assert_str(words_of(plain, cases[i].in, 0), cases[i].want);
}

static void stems_by_language(void **state)
{
    static const struct {
        const char *language, *in, *want;
    } cases[] = {
        { "english", "running memories sha256s", "run memori sha256s" },
        { "en", "Running", "run" },
        { "german", "Häuser häusern", "haus haus" },
        { "french", "mangées mangée", "mang mang" },
        { "russian", "красивой красивая", "красив красив" },
        { "none", "running", "running" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_words_closep) loci_words *words = NULL;
        loci_err err = { 0 };
        assert_ok(loci_words_open(loci_str_from(cases[i].language), &words, &err), err);
        assert_str(words_of(words, cases[i].in, 0), cases[i].want);
    }
    assert_str(words_of(english, "running late", LOCI_WORDS_EXACT), "run =running late");
}

static void names_the_languages(void **state)
{
    loci_words *words = NULL;
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(loci_words_open(LOCI_STR("klingon"), &words, &err), LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "no language 'klingon'; there are: none"));
    assert_non_null(strstr(err.msg, " english "));
    assert_int_equal(
        loci_words_open(LOCI_STR("a-name-that-is-longer-than-any-language"), &words, &err),
        LOCI_EINVAL);
    assert_null(words);
}

static void drops_stop_words_from_questions(void **state)
{
    (void)state;
    assert_str(words_of(english, "What did I tell you about my dog's birthday?", LOCI_WORDS_QUERY),
               "dog birthday");
    assert_str(words_of(english, "what did I say", LOCI_WORDS_QUERY), "what did i say");
    assert_str(words_of(english, "what did I say", 0), "what did i say");
    assert_str(words_of(english, "the-the", LOCI_WORDS_QUERY), "theth");
    assert_str(words_of(plain, "what dog", LOCI_WORDS_QUERY), "what dog"); /* no English, no list */
    assert_true(loci_words_is_stop(LOCI_STR("a")));
    assert_true(loci_words_is_stop(LOCI_STR("yourself")));
    assert_false(loci_words_is_stop(LOCI_STR("")));
    assert_false(loci_words_is_stop(LOCI_STR("dog")));
}

static void finds_stop_words_all_over_the_list(void **state)
{
    static const char *const all[] = { "about", "dont", "i", "me", "okay", "told", "what", "you" };
    (void)state;
    for (size_t i = 0; i < LOCI_COUNT(all); i++)
        assert_true(loci_words_is_stop(loci_str_from(all[i])));
}

static void knows_places_and_positions(void **state)
{
    static const struct {
        const char *text;
        uint32_t start, len, position;
    } want[] = {
        { "my", 2, 2, 0 },       { "user", 5, 4, 1 },  { "name", 10, 4, 2 },
        { "username", 5, 9, 1 }, { "東京", 15, 6, 3 }, { "end", 22, 3, 4 },
    };
    loci_word_list list = { 0 };
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_words_list(plain, LOCI_STR("  My user_name 東京 end"), 0, arena, &list, &err),
              err);
    assert_int_equal(list.count, LOCI_COUNT(want));
    for (size_t i = 0; i < list.count; i++) {
        assert_str(list.items[i].text, want[i].text);
        assert_int_equal(list.items[i].start, want[i].start);
        assert_int_equal(list.items[i].len, want[i].len);
        assert_int_equal(list.items[i].position, want[i].position);
    }
}

static void bounds_every_word(void **state)
{
    static const char *const units[] = { "a",         "a.",       "aB", "\xE4\xB8\xAD",
                                         "a\xCC\x81", "\xCC\x81", "A",  "'",
                                         "a'",        "-",        "1.", "\xF0\x9F\x98\x80" };
    enum { SIZE = 1 << 16 };
    LOCI_AUTO(loci_freep) char *text = loci_zalloc(SIZE);
    loci_word_list list = { 0 };
    loci_err err = { 0 };
    (void)state;

    assert_non_null(text);
    for (size_t u = 0; u < LOCI_COUNT(units); u++) {
        for (size_t i = 0; i < SIZE; i++) text[i] = units[u][i % strlen(units[u])];
        assert_ok(loci_words_list(english, (loci_str){ text, SIZE }, LOCI_WORDS_EXACT, arena, &list,
                                  &err),
                  err);
        for (size_t i = 0; i < list.count; i++)
            assert_true(list.items[i].text.len <= LOCI_WORD_BYTES && list.items[i].text.len > 0);
        loci_arena_reset(arena);
    }
    memset(text, 'a', SIZE);
    assert_ok(loci_words_list(plain, (loci_str){ text, SIZE }, 0, arena, &list, &err), err);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].text.len, LOCI_WORD_BYTES);
    assert_int_equal(list.items[0].len, SIZE);
}

static loci_rc stop_at_second(void *context, const loci_word *word, loci_err *err)
{
    (void)word;
    if (++*(int *)context == 2) return loci_fail(err, LOCI_EBUSY, "enough");
    return LOCI_OK;
}

static void ends_when_told(void **state)
{
    int seen = 0;
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(
        loci_words_each(plain, LOCI_STR("one two three"), 0, stop_at_second, &seen, &err),
        LOCI_EBUSY);
    assert_int_equal(seen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_and_folds),
        cmocka_unit_test(pairs_where_there_are_no_blanks),
        cmocka_unit_test(stems_by_language),
        cmocka_unit_test(names_the_languages),
        cmocka_unit_test(drops_stop_words_from_questions),
        cmocka_unit_test(finds_stop_words_all_over_the_list),
        cmocka_unit_test(knows_places_and_positions),
        cmocka_unit_test(bounds_every_word),
        cmocka_unit_test(ends_when_told),
    };
    return cmocka_run_group_tests_name("text/words", tests, open_both, close_both);
}
