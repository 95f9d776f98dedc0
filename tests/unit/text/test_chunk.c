#include "text/chunk.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "test.h"
#include "text/bpe.h"
#include "text/wordpiece.h"
#include "toy_table.h"
#include "toy_vocabulary.h"

#include <string.h>

static loci_arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = loci_arena_new((size_t)256 << 20);
    return !arena;
}

static int free_arena(void **state)
{
    (void)state;
    loci_arena_free(arena);
    return 0;
}

/* Every run of letters is a token, and so is every sign; blanks are none. */
static loci_tokens simple_tokens(loci_str text)
{
    loci_tokens tokens = { loci_arena_array(arena, text.len + 1, sizeof(loci_token)), 0 };

    assert_non_null(tokens.items);
    for (size_t at = 0, end; at < text.len; at = end) {
        unsigned char c = (unsigned char)text.ptr[at];
        end = at + 1;
        if (c == ' ' || c == '\n') continue;
        while (((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && end < text.len &&
               (text.ptr[end] | 0x20) >= 'a' && (text.ptr[end] | 0x20) <= 'z')
            end++;
        tokens.items[tokens.count++] = (loci_token){ 0, (uint32_t)at, (uint32_t)end };
    }
    return tokens;
}

static loci_chunk_list split(loci_str text, const loci_tokens *tokens, loci_chunk_size size)
{
    loci_chunk_list list = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_chunk_split(text, tokens, size, arena, &list, &err), err);
    return list;
}

/* The chunks with | between them. */
static loci_str show(const char *text, size_t tokens, size_t overlap)
{
    loci_str in = loci_str_from(text);
    loci_tokens list = simple_tokens(in);
    loci_chunk_list chunks = split(in, &list, (loci_chunk_size){ tokens, overlap });
    loci_buf out;

    loci_buf_init_arena(&out, arena, 4096);
    for (size_t i = 0; i < chunks.count; i++) {
        loci_chunk c = chunks.items[i];
        if (i > 0) loci_buf_add_char(&out, '|');
        loci_buf_add(&out, loci_str_sub(in, c.start, c.end - c.start));
    }
    return loci_buf_str(&out);
}

static void prefers_good_borders(void **state)
{
    static const struct {
        const char *in, *want;
        size_t tokens, overlap;
    } cases[] = {
        { "", "", 8, 0 },
        { "  ", "  ", 8, 0 },
        { "short text", "short text", 8, 0 },
        { "a b c d e f g h i j", "a b c d e f g h |i j", 8, 0 },
        { "a b c d. e f g h i j", "a b c d. |e f g h i j", 8, 0 },       /* a sentence */
        { "a b c d\n\ne. f g h i j", "a b c d\n\n|e. f g h i j", 8, 0 }, /* a paragraph wins */
        { "a. b c d e f g h i j", "a. b c d e f g |h i j", 8, 0 },       /* not that early */
        { "a b c d (e.) f g h i", "a b c d (e.) |f g h i", 8, 0 },       /* closed after the mark */
        { "a b c ........................", "a b c |........|........|........", 8, 0 },
        { "a b c d e f g h i j k l", "a b c d e f g h |f g h i j k l", 8, 3 },
        { "a b c d e. f g h i j k", "a b c d e. |f g h i j k", 8, 1 },
        { "a b. c d e f g h i j k l", "a b. c d e f g |e f g h i j k l", 8, 3 },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        assert_str(show(cases[i].in, cases[i].tokens, cases[i].overlap), cases[i].want);
}

static void refuses_bad_sizes(void **state)
{
    loci_tokens none = { 0 };
    loci_chunk_list list = { 0 };
    (void)state;

    assert_int_equal(
        loci_chunk_split(LOCI_STR("x"), &none, (loci_chunk_size){ 7, 0 }, arena, &list, NULL),
        LOCI_EINVAL);
    assert_int_equal(
        loci_chunk_split(LOCI_STR("x"), &none, (loci_chunk_size){ 10, 6 }, arena, &list, NULL),
        LOCI_EINVAL);
    assert_int_equal(loci_chunk_split(LOCI_STR("x"), &none,
                                      (loci_chunk_size){ LOCI_CHUNK_MOST + 1, 0 }, arena, &list,
                                      NULL),
                     LOCI_EINVAL);
    assert_null(list.items);
}

/* What must hold for any text, tokens and sizes. */
static void check(loci_str text, const loci_tokens *tokens, loci_chunk_size size)
{
    loci_chunk_list list = split(text, tokens, size);
    size_t at = 0, bytes = 0;

    assert_int_equal(list.count > 0, text.len > 0);
    for (size_t i = 0; i < list.count; i++) {
        loci_chunk c = list.items[i];
        assert_int_equal(c.fresh, at); /* the new parts are the text, without holes */
        assert_true(c.start <= c.fresh && c.end > c.fresh);
        assert_true(c.tokens <= size.tokens);
        assert_int_equal(loci_utf8_cut(text, c.start).len, c.start);
        assert_int_equal(loci_utf8_cut(text, c.end).len, c.end);
        at = c.end;
        bytes += c.tokens;
    }
    assert_int_equal(at, text.len);
    assert_true(bytes <= tokens->count + tokens->count / 2);
}

static const char *const pieces[] = {
    "a",
    "b",
    "abc",
    " ",
    "  ",
    "\n",
    "\n\n",
    ". ",
    "! ",
    "\xE4\xB8\xAD",
    "\xE3\x80\x82",
    "\xF0\x9F\x98\x80",
    "e\xCC\x81",
    "\xFF",
    "\xE4\xB8",
    "the",
    "unwanted",
    "runs",
    ",",
    "\xEA\xB0\x80",
    "zzzzzzzzzzzzzzzz",
};

static loci_str random_text(uint32_t *seed)
{
    loci_buf out;

    loci_buf_init_arena(&out, arena, 1 << 16);
    uint32_t kinds = 1 + (*seed >> 9) % LOCI_COUNT(pieces);
    for (uint32_t n = (*seed >> 16) % 600; n > 0; n--) {
        *seed = *seed * 1664525U + 1013904223U;
        loci_buf_add_cstr(&out, pieces[(*seed >> 16) % kinds]);
    }
    *seed = *seed * 1664525U + 1013904223U;
    return loci_buf_str(&out);
}

static void holds_its_promises_for_any_text(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf table;
    LOCI_AUTO(loci_buf_done) loci_buf vocabulary;
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;
    loci_wordpiece wp;
    loci_err err = { 0 };
    uint32_t seed = 11;
    (void)state;

    loci_buf_init(&table, 1 << 20);
    loci_buf_init(&vocabulary, 1 << 20);
    assert_ok(toy_table(LOCI_DICT_CL100K, &table, &err), err);
    assert_ok(loci_bpe_open_memory(loci_buf_str(&table), LOCI_BPE_CL100K, &bpe, &err), err);
    assert_ok(loci_wordpiece_build(LOCI_STR(TOY_VOCABULARY), &vocabulary, &err), err);
    assert_ok(loci_wordpiece_init(&wp, vocabulary.ptr, vocabulary.len, &err), err);
    for (int round = 0; round < 400; round++) {
        loci_arena_reset(arena);
        loci_str text = random_text(&seed);
        loci_tokens tokens = { 0 };
        loci_chunk_size size = { 8 + (seed >> 20) % 60, 0 };
        size.overlap = (seed >> 8) % (size.tokens / 2 + 1);
        assert_ok(loci_bpe_encode(bpe, text, arena, &tokens, &err), err);
        check(text, &tokens, size);
        assert_ok(loci_wordpiece_encode(&wp, text, 0, arena, &tokens, &err), err);
        check(text, &tokens, size);
    }
}

static void takes_a_long_text_without_borders(void **state)
{
    enum { SIZE = 1 << 20 };
    LOCI_AUTO(loci_freep) char *text = loci_zalloc(SIZE);
    loci_tokens tokens = { 0 };
    (void)state;

    assert_non_null(text);
    loci_arena_reset(arena);
    memset(text, ',', SIZE);
    tokens = simple_tokens((loci_str){ text, SIZE });
    assert_int_equal(tokens.count, SIZE);
    check((loci_str){ text, SIZE }, &tokens, (loci_chunk_size){ 300, 150 });
    memset(text, ' ', SIZE);
    tokens.count = 0;
    assert_int_equal(split((loci_str){ text, SIZE }, &tokens, (loci_chunk_size){ 300, 30 }).count,
                     1);
}

/* Tokens that share a place cannot be parted; the chunk is too long then, but nothing is lost. */
static void survives_tokens_that_share_a_place(void **state)
{
    loci_token items[40] = { { 0, 0, 0 } };
    loci_tokens tokens = { items, LOCI_COUNT(items) };
    (void)state;

    for (size_t i = 30; i < LOCI_COUNT(items); i++) items[i].start = 5;
    loci_chunk_list list = split(LOCI_STR("hello you"), &tokens, (loci_chunk_size){ 8, 4 });
    assert_int_equal(list.count, 2);
    assert_int_equal(list.items[0].end, 5);
    assert_int_equal(list.items[1].end, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefers_good_borders),
        cmocka_unit_test(refuses_bad_sizes),
        cmocka_unit_test(holds_its_promises_for_any_text),
        cmocka_unit_test(takes_a_long_text_without_borders),
        cmocka_unit_test(survives_tokens_that_share_a_place),
    };
    return cmocka_run_group_tests_name("text/chunk", tests, make_arena, free_arena);
}
