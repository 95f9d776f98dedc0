#include "text/bpe.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "test.h"
#include "text/bpe_split.h"
#include "toy_table.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static loci_buf table;
static loci_bpe *bpe;
static loci_arena *arena;

static int open_toy(void **state)
{
    (void)state;
    loci_buf_init(&table, 1 << 20);
    arena = loci_arena_new((size_t)64 << 20);
    return !arena || toy_table(LOCI_DICT_O200K, &table, NULL) ||
           loci_bpe_open_memory(loci_buf_str(&table), LOCI_BPE_O200K, &bpe, NULL);
}

static int close_toy(void **state)
{
    (void)state;
    loci_bpe_close(bpe);
    loci_arena_free(arena);
    loci_buf_done(&table);
    return 0;
}

/* The pieces of a text with | between them. */
static loci_str pieces(size_t (*split)(loci_str, size_t), const char *text)
{
    loci_str in = loci_str_from(text);
    loci_buf out;

    loci_buf_init_arena(&out, arena, 4096);
    for (size_t at = 0; at < in.len;) {
        size_t end = split(in, at);
        assert_true(end > at && end <= in.len);
        if (at > 0) loci_buf_add_char(&out, '|');
        loci_buf_add(&out, (loci_str){ in.ptr + at, end - at });
        at = end;
    }
    return loci_buf_str(&out);
}

static void splits_as_the_patterns_say(void **state)
{
    static const struct {
        const char *in, *o200k, *cl100k;
    } cases[] = {
        /* clang-format off */
        { "Hello world", "Hello| world", "Hello| world" },
        { "don't DON'T", "don't| DON'T", "don|'t| DON|'T" },
        { "it'\xC5\xBF", "it'\xC5\xBF", "it|'\xC5\xBF" },        /* the long s is an s */
        { "'sure", "'sure", "'s|ure" },
        { "I'LLbe", "I'LL|be", "I|'LL|be" },
        { "getHTTPCode", "get|HTTPCode", "getHTTPCode" },
        { "12345 67", "123|45| |67", "123|45| |67" },
        { "a   b", "a|  | b", "a|  | b" },
        { "a \n \n  b", "a| \n \n| | b", "a| \n \n| | b" },
        { "a  ", "a|  ", "a|  " },
        { "!?\n\n/x", "!?\n\n/|x", "!?\n\n|/x" },
        { " != y", " !=| y", " !=| y" },
        { "\xE4\xB8\xAD" "A", "\xE4\xB8\xAD|A", "\xE4\xB8\xAD" "A" }, /* a head gives back */
        { "\xCC\x81" "AB", "\xCC\x81|AB", "\xCC\x81" "AB" },     /* a mark alone is a word */
        { "\xFF\xFE" "a", "\xFF\xFE|a", "\xFF\xFE|a" },
        { "\xC2\xA0x", "\xC2\xA0x", "\xC2\xA0x" },
        { "\xE0\xA2\x97" "A", "\xE0\xA2\x97|A", "\xE0\xA2\x97" "A" }, /* U+0897: Unicode 16 */
        /* clang-format on */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        assert_str(pieces(loci_bpe_split_o200k, cases[i].in), cases[i].o200k);
        assert_str(pieces(loci_bpe_split_cl100k, cases[i].in), cases[i].cl100k);
    }
}

static void merges_lowest_rank_first(void **state)
{
    static const struct {
        const char *in;
        size_t count;
        uint32_t ids[6];
    } cases[] = {
        { "", 0, { 0 } },
        { "a", 1, { 'a' } },
        { "aaa", 2, { 256, 'a' } },  /* the leftmost of equal pairs */
        { "aabc", 2, { 256, 258 } }, /* aa before ab */
        { "xabc", 2, { 'x', 259 } }, /* ab before bc, then abc */
        { "zzzz", 1, { 264 } },      /* a whole piece needs no merges */
        { "zzzzz", 5, { 'z', 'z', 'z', 'z', 'z' } },
        { " abc", 1, { 265 } },
        { "\xff", 1, { 255 } },
    };
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_str in = loci_str_from(cases[i].in);
        loci_tokens tokens = { 0 };
        size_t count = 99;
        assert_ok(loci_bpe_encode(bpe, in, arena, &tokens, &err), err);
        assert_ok(loci_bpe_count(bpe, in, &count, &err), err);
        assert_int_equal(tokens.count, cases[i].count);
        assert_int_equal(count, cases[i].count);
        for (size_t k = 0; k < count; k++) assert_int_equal(tokens.items[k].id, cases[i].ids[k]);
    }
}

/* The rule itself, without any cleverness: the oracle for both ways of merging. */
static size_t naive_count(const loci_dict *dict, const uint8_t *bytes, size_t len)
{
    uint32_t ends[512];
    size_t n = len;

    if (loci_dict_find(dict, bytes, len) != LOCI_DICT_NONE) return 1;
    for (size_t i = 0; i < n; i++) ends[i] = (uint32_t)i + 1;
    for (;;) {
        uint32_t best = LOCI_DICT_NONE;
        size_t where = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            uint32_t start = i ? ends[i - 1] : 0;
            uint32_t rank = loci_dict_find(dict, bytes + start, ends[i + 1] - start);
            if (rank < best) best = rank, where = i;
        }
        if (best == LOCI_DICT_NONE) return n;
        memmove(ends + where, ends + where + 1, (n - where - 1) * sizeof *ends);
        n--;
    }
}

static void merges_long_pieces_alike(void **state)
{
    uint32_t seed = 7;
    loci_err err = { 0 };
    loci_dict dict;
    char text[200];
    (void)state;

    assert_ok(loci_dict_init(&dict, table.ptr, table.len, LOCI_DICT_O200K, &err), err);
    for (int round = 0; round < 80; round++) {
        size_t len = 1 + (seed >> 8) % sizeof text, count = 0;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1664525U + 1013904223U;
            text[i] = "aaabc"[(seed >> 16) % 5];
        }
        assert_ok(loci_bpe_count(bpe, (loci_str){ text, len }, &count, &err), err);
        assert_int_equal(count, naive_count(&dict, (const uint8_t *)text, len));
    }
}

static void takes_hostile_text_in_its_stride(void **state)
{
    enum { SIZE = 1 << 18 };
    LOCI_AUTO(loci_freep) char *text = loci_zalloc(SIZE);
    loci_err err = { 0 };
    size_t count = 0;
    (void)state;

    assert_non_null(text);
    memset(text, 'a', SIZE);
    assert_ok(loci_bpe_count(bpe, (loci_str){ text, SIZE }, &count, &err), err);
    assert_int_equal(count, SIZE / 4);
    memset(text, ' ', SIZE);
    assert_ok(loci_bpe_count(bpe, (loci_str){ text, SIZE }, &count, &err), err);
    assert_int_equal(count, SIZE / 2);
    assert_int_equal(
        loci_bpe_count(bpe, (loci_str){ text, LOCI_TOKEN_TEXT_BYTES + 1 }, &count, &err),
        LOCI_ELIMIT);
}

static void cuts_on_a_character(void **state)
{
    static const struct {
        const char *in;
        size_t limit, len;
    } cases[] = {
        /* clang-format off */
        { "abc abc abc", 2, 7 },
        { "abc", 1, 3 },
        { "abc", 0, 0 },
        { "", 5, 0 },
        { "x\xE4\xB8\xAD", 2, 1 },          /* x, two bytes of the character, the third */
        { "x\xE4\xB8\xAD", 3, 4 },
        { "\xE4\xB8\xAD\xE6\x96\x87", 1, 0 }, /* one token, but it ends inside; alone it is two */
        { "\xE4\xB8\xAD\xE6\x96\x87", 2, 3 },
        { "\x80\x80\x80", 2, 2 },           /* no characters: every byte is a border */
        /* clang-format on */
    };
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        size_t len = 99;
        assert_ok(loci_bpe_cut(bpe, loci_str_from(cases[i].in), cases[i].limit, &len, &err), err);
        assert_int_equal(len, cases[i].len);
    }
}

static void estimates(void **state)
{
    (void)state;
    assert_int_equal(loci_bpe_estimate(0), 0);
    assert_int_equal(loci_bpe_estimate(1), 1);
    assert_int_equal(loci_bpe_estimate(4), 1);
    assert_int_equal(loci_bpe_estimate(5), 2);
    assert_true(loci_bpe_estimate(SIZE_MAX) == SIZE_MAX / 4 + 1);
}

static void knows_its_schemes(void **state)
{
    loci_bpe_scheme scheme = LOCI_BPE_O200K;
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_bpe_scheme_parse(LOCI_STR("cl100k"), &scheme, &err), err);
    assert_int_equal(scheme, LOCI_BPE_CL100K);
    assert_ok(loci_bpe_scheme_parse(LOCI_STR("o200k_base"), &scheme, &err), err);
    assert_int_equal(scheme, LOCI_BPE_O200K);
    assert_string_equal(loci_bpe_scheme_name(LOCI_BPE_CL100K), "cl100k_base");
    assert_int_equal(loci_bpe_scheme_parse(LOCI_STR("gpt2"), &scheme, &err), LOCI_EINVAL);
    assert_string_equal(err.msg, "no token scheme 'gpt2': there are o200k_base, cl100k_base");
}

/* A list of all bytes in the published form, then `more`. */
static loci_str byte_list(const char *more)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    loci_buf out;

    loci_buf_init_arena(&out, arena, 1 << 16);
    for (unsigned i = 0; i < 256; i++)
        loci_buf_printf(&out, "%c%c== %u\n", digits[i >> 2], digits[i << 4 & 63], i);
    loci_buf_add_cstr(&out, more);
    return loci_buf_str(&out);
}

static void converts_a_published_list(void **state)
{
    static const struct {
        const char *more;
        loci_rc want;
    } cases[] = {
        { "YWI= 256\nYWJj 257\n", LOCI_OK },                                   /* ab, abc */
        { "YWI= 256\nYWJj 257", LOCI_OK },    { "YWI= 257\n", LOCI_ECORRUPT }, /* a gap */
        { "YWI= 255\n", LOCI_ECORRUPT },                                       /* doubled rank */
        { "YWI 256\n", LOCI_ECORRUPT },       { "Y*I= 256\n", LOCI_ECORRUPT },
        { "==== 256\n", LOCI_ECORRUPT },      { " 256\n", LOCI_ECORRUPT },
        { "YWI=\n", LOCI_ECORRUPT },          { "YWI= x\n", LOCI_ECORRUPT },
        { "YWI= 99999999\n", LOCI_ECORRUPT }, { "YQ== 256\n", LOCI_EINVAL }, /* doubled word */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_err err = { 0 };
        loci_buf_init(&out, 1 << 20);
        loci_rc rc = loci_bpe_convert(byte_list(cases[i].more), LOCI_BPE_CL100K, &out, &err);
        assert_int_equal(rc, cases[i].want);
        if (rc) continue;
        LOCI_AUTO(loci_bpe_closep) loci_bpe *made = NULL;
        size_t count = 0;
        assert_ok(loci_bpe_open_memory(loci_buf_str(&out), LOCI_BPE_CL100K, &made, &err), err);
        assert_ok(loci_bpe_count(made, LOCI_STR("abcab"), &count, &err), err);
        assert_int_equal(count, 2);
    }
}

static void refuses_a_list_without_every_byte(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf out;
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&out, 1 << 20);
    assert_int_equal(loci_bpe_convert(LOCI_STR("AA== 0\n"), LOCI_BPE_O200K, &out, &err),
                     LOCI_ECORRUPT);
    assert_string_equal(err.msg, "token table has no token for byte 1");
}

static void opens_files(void **state)
{
    char path[] = "/tmp/loci-test-bpe-XXXXXX";
    LOCI_AUTO(loci_bpe_closep) loci_bpe *opened = NULL;
    loci_err err = { 0 };
    (void)state;

    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(loci_bpe_open(path, LOCI_BPE_O200K, &opened, &err), LOCI_ECORRUPT);
    assert_int_equal(write(fd, table.ptr, table.len), (ssize_t)table.len);
    assert_ok(loci_bpe_open(path, LOCI_BPE_O200K, &opened, &err), err);
    assert_ok(loci_bpe_verify(opened, &err), err);
    loci_bpe_closep(&opened);
    assert_int_equal(loci_bpe_open(path, LOCI_BPE_CL100K, &opened, &err), LOCI_ECORRUPT);
    assert_int_equal(ftruncate(fd, (off_t)table.len - 8), 0);
    assert_int_equal(loci_bpe_open(path, LOCI_BPE_O200K, &opened, &err), LOCI_ECORRUPT);
    (void)close(fd);
    (void)unlink(path);
    assert_int_equal(loci_bpe_open(path, LOCI_BPE_O200K, &opened, &err), LOCI_ENOTFOUND);
    assert_null(opened);
}

static void says_when_memory_is_short(void **state)
{
    static char text[200];
    size_t count = 77;
    loci_err err = { 0 };
    (void)state;

    memset(text, 'q', sizeof text);
    (void)loci_alloc_fail_at(1);
    loci_rc rc = loci_bpe_count(bpe, (loci_str){ text, sizeof text }, &count, &err);
    (void)loci_alloc_fail_at(0);
    assert_int_equal(rc, LOCI_ENOMEM);
    assert_int_equal(count, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_as_the_patterns_say),
        cmocka_unit_test(merges_lowest_rank_first),
        cmocka_unit_test(merges_long_pieces_alike),
        cmocka_unit_test(takes_hostile_text_in_its_stride),
        cmocka_unit_test(cuts_on_a_character),
        cmocka_unit_test(estimates),
        cmocka_unit_test(knows_its_schemes),
        cmocka_unit_test(converts_a_published_list),
        cmocka_unit_test(refuses_a_list_without_every_byte),
        cmocka_unit_test(opens_files),
        cmocka_unit_test(says_when_memory_is_short),
    };
    return cmocka_run_group_tests_name("text/bpe", tests, open_toy, close_toy);
}
