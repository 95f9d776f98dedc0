/* reference-wordpiece VOCABULARY RECORDS: our pieces against those of the reference (TAP), and the
 * five sentences whose ids are known from the model's own tokenizer. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "records.h"
#include "text/wordpiece.h"

#include <stdio.h>
#include <utf8proc.h>

static const struct {
    const char *text;
    uint32_t ids[20];
} sentences[] = {
    /* clang-format off */
    { "The cat sat on the mat.", { 101, 1996, 4937, 2938, 2006, 1996, 13523, 1012, 102 } },
    { "A kitten was resting on the rug.",
      { 101, 1037, 18401, 2001, 8345, 2006, 1996, 20452, 1012, 102 } },
    { "When did Caroline go to the LGBTQ support group?",
      { 101, 2043, 2106, 7981, 2175, 2000, 1996, 12010, 4160, 2490, 2177, 1029, 102 } },
    { "Stock prices fell sharply after the central bank's decision.",
      { 101, 4518, 7597, 3062, 9249, 2044, 1996, 2430, 2924, 1005, 1055, 3247, 1012, 102 } },
    { "Café Zoë in 東京 costs 12.50€ — naïve résumé!",
      { 101, 7668, 11199, 1999, 1879, 1755, 5366, 2260, 1012, 2753, 30102, 1517, 15743, 13746, 999,
        102 } },
    /* clang-format on */
};

static bool sentence_agrees(const loci_wordpiece *wp, size_t which, loci_arena *arena)
{
    loci_tokens tokens;

    if (loci_wordpiece_input(wp, loci_str_from(sentences[which].text), 512, arena, &tokens, NULL))
        return false;
    for (size_t i = 0; i < tokens.count; i++)
        if (tokens.items[i].id != sentences[which].ids[i]) return false;
    return tokens.count > 2 && tokens.items[tokens.count - 1].id == 102;
}

/* Places rise, stay inside the text and begin and end on characters. */
static bool places_fit(loci_str text, const loci_tokens *tokens)
{
    uint32_t at = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        loci_token t = tokens->items[i];
        if (t.start < at || t.end <= t.start || t.end > text.len) return false;
        if (((unsigned char)text.ptr[t.start] & 0xC0) == 0x80) return false;
        at = t.start;
    }
    return true;
}

/* The reference may know a newer Unicode than the library; what ours drops as unassigned is a
 * letter there. Such strings are not compared. */
static bool has_unassigned(loci_str text)
{
    uint32_t c;

    for (size_t at = 0; at < text.len;) {
        at += loci_utf8_decode(loci_str_sub(text, at, text.len), &c);
        if (utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_CN) return true;
    }
    return false;
}

static bool agrees(const loci_wordpiece *wp, const record *r, loci_arena *arena)
{
    loci_tokens tokens;

    loci_arena_reset(arena);
    if (loci_wordpiece_encode(wp, r->text, 0, arena, &tokens, NULL)) return false;
    if (tokens.count != r->count) return false;
    for (size_t i = 0; i < r->count; i++)
        if (tokens.items[i].id != record_id(r, i)) return false;
    return places_fit(r->text, &tokens);
}

int main(int argc, char **argv)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new((size_t)64 << 20);
    LOCI_AUTO(loci_buf_done) loci_buf vocabulary = { 0 };
    LOCI_AUTO(loci_buf_done) loci_buf table = { 0 };
    LOCI_AUTO(loci_buf_done) loci_buf data = { 0 };
    size_t at = 0, number = 0, wrong = 0;
    loci_wordpiece wp;
    loci_err err = { 0 };
    record r;

    loci_buf_init(&table, (size_t)16 << 20);
    if (argc != 3 || !arena || !records_read(argv[1], &vocabulary) ||
        !records_read(argv[2], &data) ||
        loci_wordpiece_build(loci_buf_str(&vocabulary), &table, &err) ||
        loci_wordpiece_init(&wp, table.ptr, table.len, &err)) {
        (void)printf("1..1\nnot ok 1 - %s\n", err.msg);
        return 1;
    }
    while (records_next(loci_buf_str(&data), &at, &r)) {
        if (has_unassigned(r.text)) continue;
        number++;
        if (agrees(&wp, &r, arena)) continue;
        wrong++;
        (void)printf("# string %zu differs: ", number);
        record_print(&r);
    }
    (void)printf("%s 1 - %zu of %zu strings equal the reference\n",
                 wrong || !number ? "not ok" : "ok", number - wrong, number);
    for (size_t i = 0; i < LOCI_COUNT(sentences); i++) {
        bool same = sentence_agrees(&wp, i, arena);
        wrong += !same;
        (void)printf("%s %zu - ids of sentence %zu\n", same ? "ok" : "not ok", i + 2, i + 1);
    }
    (void)printf("1..%zu\n", 1 + LOCI_COUNT(sentences));
    return wrong || !number;
}
