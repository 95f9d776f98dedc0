/* Every token's start is a possible border. One pass rates them all; then chunks are taken
 * greedily: as many tokens as fit, back to the best border of the second half (a paragraph before a
 * sentence before a word), or as far as a character border allows. The next chunk starts at the
 * earliest good border within the overlap. */
#include "text/chunk.h"

#include "base/utf8.h"

#include <string.h>

/* How good a border is. */
typedef enum rating {
    FORBIDDEN, /* inside a character, or no step forward */
    CHARACTER,
    WORD,
    SENTENCE,
    PARAGRAPH,
} rating;

enum { LOOK = 32 }; /* how many bytes around a border decide about it */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ',';
}

/* Does a sentence end right before `at`: a mark, and perhaps closing quotes or brackets after it?
 */
static bool sentence_ends(loci_str text, size_t at)
{
    static const char *const closers[] = {
        "\"",           "'",           ")", "]", "\xE2\x80\x9D", "\xE2\x80\x99", "\xC2\xBB",
        "\xE3\x80\x8D", "\xE3\x80\x8F"
    };
    static const char *const marks[] = { ".",
                                         "!",
                                         "?",
                                         "\xE2\x80\xA6",
                                         "\xE3\x80\x82",
                                         "\xEF\xBC\x81",
                                         "\xEF\xBC\x9F",
                                         "\xE0\xA5\xA4",
                                         "\xD8\x9F",
                                         "\xEF\xBD\xA1" };
    loci_str before = loci_str_sub(text, 0, at);

    if (at == 0 || is_plain(text.ptr[at - 1])) return false; /* the usual case, at once */
    for (size_t round = 0, i = 0; round < 3 && i < LOCI_COUNT(closers); i++) {
        if (!loci_str_ends(before, loci_str_from(closers[i]))) continue;
        before.len -= strlen(closers[i]);
        round++, i = (size_t)-1; /* look for one more from the start */
    }
    for (size_t i = 0; i < LOCI_COUNT(marks); i++)
        if (loci_str_ends(before, loci_str_from(marks[i]))) return true;
    return false;
}

/* A full stop of the scripts that put no blank after it. */
static bool wide_sentence_ends(loci_str text, size_t at)
{
    return at > 0 && (unsigned char)text.ptr[at - 1] >= 0x80 && sentence_ends(text, at);
}

static rating rate(loci_str text, size_t at)
{
    size_t first = at, last = at, lines = 0;

    if (loci_utf8_cut(text, at).len != at) return FORBIDDEN;
    while (first > 0 && at - first < LOOK && is_blank(text.ptr[first - 1])) first--;
    while (last < text.len && last - at < LOOK && is_blank(text.ptr[last])) last++;
    for (size_t i = first; i < last; i++) lines += text.ptr[i] == '\n';
    if (lines > 1) return PARAGRAPH;
    if (lines == 1) return SENTENCE;
    if (first == last) return wide_sentence_ends(text, at) ? SENTENCE : CHARACTER;
    return sentence_ends(text, first) ? SENTENCE : WORD;
}

static uint8_t *rate_all(loci_str text, const loci_tokens *tokens, loci_arena *arena)
{
    uint8_t *ratings = loci_arena_alloc(arena, tokens->count + 1);

    for (size_t i = 1; ratings && i < tokens->count; i++)
        if (tokens->items[i].start > tokens->items[i - 1].start)
            ratings[i] = (uint8_t)rate(text, tokens->items[i].start);
    return ratings;
}

/* The last best-rated token in first..last, or 0 when all are forbidden (0 is never a border). */
static size_t last_best(const uint8_t *ratings, size_t first, size_t last)
{
    size_t best = 0;

    for (size_t i = last; i >= first && i > 0; i--)
        if (ratings[i] > FORBIDDEN && (best == 0 || ratings[i] > ratings[best])) best = i;
    return best;
}

/* The token before which a chunk ends that starts at token `start` and must get past `least`. The
 * best border of the second half; is there none between words, then the last of the first half that
 * is. Past the window only when all of it is one character, which no real tokenizer does. */
static size_t choose_end(const uint8_t *ratings, size_t count, size_t start, size_t least,
                         size_t window)
{
    size_t last = start + window, middle = start + window / 2;

    if (middle <= least) middle = least + 1;
    size_t best = last_best(ratings, middle, last);
    if (best && ratings[best] >= WORD) return best;
    size_t early = middle > least + 1 ? last_best(ratings, least + 1, middle - 1) : 0;
    if (early && (!best || ratings[early] >= WORD)) return early;
    while (!best && ++last < count)
        if (ratings[last] > FORBIDDEN) best = last;
    return best ? best : count;
}

/* The token at which the chunk after `end` starts: of the `overlap` tokens before it the first that
 * is between sentences, else between words; between characters only where `end` is. */
static size_t choose_start(const uint8_t *ratings, size_t end, size_t overlap)
{
    uint8_t best_rating = ratings[end] >= WORD ? CHARACTER : FORBIDDEN; /* to be beaten */
    size_t best = end;

    for (size_t i = end - overlap; i < end; i++) {
        uint8_t rating_here = ratings[i] > SENTENCE ? SENTENCE : ratings[i];
        if (rating_here <= best_rating) continue;
        best_rating = rating_here;
        best = i;
    }
    return best;
}

static loci_rc append(loci_chunk_list *list, size_t *room, loci_chunk chunk, loci_arena *arena,
                      loci_err *err)
{
    if (list->count == *room) {
        size_t larger = 2 * *room + 8;
        loci_chunk *items =
            loci_arena_grow(arena, list->items, *room * sizeof *items, larger * sizeof *items);
        if (!items) return loci_arena_fail(arena, err);
        list->items = items;
        *room = larger;
    }
    list->items[list->count++] = chunk;
    return LOCI_OK;
}

static loci_rc check_size(loci_chunk_size size, loci_err *err)
{
    if (size.tokens < LOCI_CHUNK_LEAST || size.tokens > LOCI_CHUNK_MOST)
        return loci_fail(err, LOCI_EINVAL, "a chunk has %d..%d tokens, not %zu", LOCI_CHUNK_LEAST,
                         LOCI_CHUNK_MOST, size.tokens);
    if (size.overlap > size.tokens / 2)
        return loci_fail(err, LOCI_EINVAL, "chunks of %zu tokens overlap by up to %zu, not %zu",
                         size.tokens, size.tokens / 2, size.overlap);
    return LOCI_OK;
}

loci_rc loci_chunk_split(loci_str text, const loci_tokens *tokens, loci_chunk_size size,
                         loci_arena *arena, loci_chunk_list *ret_list, loci_err *err)
{
    loci_chunk_list list = { 0 };
    loci_chunk chunk = { 0 };
    size_t first = 0, fresh = 0, end = 0, room = 0; /* but for room, tokens of the chunk */

    loci_rc rc = check_size(size, err);
    if (rc) return rc;
    const uint8_t *ratings = rate_all(text, tokens, arena);
    if (!ratings) return loci_arena_fail(arena, err);
    while (chunk.end < text.len) {
        chunk.start = first ? tokens->items[first].start : 0;
        chunk.fresh = chunk.end;
        end = first + size.tokens < tokens->count
                  ? choose_end(ratings, tokens->count, first, fresh, size.tokens)
                  : tokens->count;
        chunk.end = end < tokens->count ? tokens->items[end].start : text.len;
        chunk.tokens = end - first;
        rc = append(&list, &room, chunk, arena, err);
        if (rc) return rc;
        size_t half = (end - fresh) / 2;
        first = choose_start(ratings, end, size.overlap < half ? size.overlap : half);
        fresh = end;
    }
    *ret_list = list;
    return LOCI_OK;
}
