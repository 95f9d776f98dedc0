#include "text/wordpiece.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>
#include <utf8proc.h>

enum { LONGEST_WORD = 100, DECOMPOSED = 8, CHAR_BYTES = 4, MARK_BYTES = 2 /* of "##" */ };

/* The word under way. Its text stands behind two spare bytes, so that "##" can be put before any
 * part of it: what stands there belongs to pieces that are found already. */
typedef struct word {
    char text[MARK_BYTES + LONGEST_WORD * CHAR_BYTES];
    size_t offset[LONGEST_WORD + 1]; /* of character i in text; [count] is the end */
    uint32_t start[LONGEST_WORD], end[LONGEST_WORD]; /* of character i in the source */
    size_t count;                                    /* characters, also those that did not fit */
    uint32_t last_end;                               /* in the source, of the last character */
} word;

typedef struct encoder {
    const loci_wordpiece *wp;
    loci_arena *arena;
    loci_tokens tokens;
    size_t room, limit;
    word word;
    bool cased_before; /* the last character that is not case-ignorable has case */
} encoder;

/* What becomes of a source character by rule 1. */
typedef enum fate { DROP, BLANK, KEEP } fate;

static fate fate_of(uint32_t c)
{
    if (c == '\t' || c == '\n' || c == '\r' || c == ' ') return BLANK;
    if (c == 0xFFFD || c == LOCI_UTF8_BAD) return DROP;
    if (c > ' ' && c < 0x7F) return KEEP;
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CS: return DROP;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return BLANK;
    default: return KEEP;
    }
}

static bool is_ideograph(uint32_t c)
{
    static const uint32_t blocks[][2] = {
        { 0x3400, 0x4DBF },   { 0x4E00, 0x9FFF },   { 0xF900, 0xFAFF },   { 0x20000, 0x2A6DF },
        { 0x2A700, 0x2B73F }, { 0x2B740, 0x2B81F }, { 0x2B820, 0x2CEAF }, { 0x2F800, 0x2FA1F },
    };

    for (size_t i = 0; c >= 0x3400 && i < LOCI_COUNT(blocks); i++)
        if (c >= blocks[i][0] && c <= blocks[i][1]) return true;
    return false;
}

static bool is_punctuation(uint32_t c)
{
    if (c < 0x80)
        return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
               (c >= 123 && c <= 126);
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);
    return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

/* Unicode's Case_Ignorable: what stands inside a word without ending it. */
static bool is_case_ignorable(uint32_t c)
{
    static const uint32_t signs[] = { '\'',   '.',    ':',    0xB7,   0x387,  0x55F,
                                      0x5F4,  0x2018, 0x2019, 0x2024, 0x2027, 0xFE13,
                                      0xFE52, 0xFE55, 0xFF07, 0xFF0E, 0xFF1A };

    for (size_t i = 0; i < LOCI_COUNT(signs); i++)
        if (c == signs[i]) return true;
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK: return true;
    default: return false;
    }
}

/* Unicode's Cased, without what is case-ignorable too. */
static bool is_cased(uint32_t c)
{
    utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)c);

    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
           category == UTF8PROC_CATEGORY_LT || c == 0xAA || c == 0xBA ||
           (c >= 0x2160 && c <= 0x217F) || (c >= 0x24B6 && c <= 0x24E9) ||
           (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
           (c >= 0x1F170 && c <= 0x1F189);
}

/* Does a letter with case follow, over case-ignorable characters only? The scan ends at the next
 * sigma at the latest, so all scans of a text together read it once. */
static bool cased_follows(loci_str rest)
{
    uint32_t c;

    while (rest.len > 0) {
        rest = loci_str_sub(rest, loci_utf8_decode(rest, &c), rest.len);
        fate what = fate_of(c);
        if (what == BLANK || (what == KEEP && is_ideograph(c))) return false;
        if (what == KEEP && !is_case_ignorable(c)) return is_cased(c);
    }
    return false;
}

/* Only the capital sigma looks at its neighbours. */
static uint32_t lower(encoder *e, uint32_t c, loci_str rest)
{
    enum { CAPITAL_SIGMA = 0x3A3, FINAL_SIGMA = 0x3C2 };

    if (c < 0x80) return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
    if (c == CAPITAL_SIGMA && e->cased_before && !cased_follows(rest)) return FINAL_SIGMA;
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
}

static loci_rc emit(encoder *e, uint32_t id, uint32_t start, uint32_t end, loci_err *err)
{
    if (e->tokens.count >= e->limit) return LOCI_OK;
    if (e->tokens.count == e->room) {
        size_t room = 2 * e->room + 64;
        loci_token *items = loci_arena_grow(e->arena, e->tokens.items, e->room * sizeof *items,
                                            room * sizeof *items);
        if (!items) return loci_arena_fail(e->arena, err);
        e->tokens.items = items;
        e->room = room;
    }
    e->tokens.items[e->tokens.count++] = (loci_token){ id, start, end };
    return LOCI_OK;
}

/* The longest piece from character `from` on: its id, and in *ret_to the character after it. */
static uint32_t longest_piece(const loci_dict *vocabulary, word *w, size_t from, size_t *ret_to)
{
    char *start = w->text + w->offset[from];

    if (from > 0) {
        start -= MARK_BYTES;
        memcpy(start, "##", MARK_BYTES);
    }
    for (size_t to = w->count; to > from; to--) {
        uint32_t id = loci_dict_find(vocabulary, start, (size_t)(w->text + w->offset[to] - start));
        *ret_to = to;
        if (id != LOCI_DICT_NONE) return id;
    }
    return LOCI_DICT_NONE;
}

/* Rule 5 for the word under way, which is empty afterwards. */
static loci_rc end_word(encoder *e, loci_err *err)
{
    word *w = &e->word;
    uint32_t ids[LONGEST_WORD];
    size_t ends[LONGEST_WORD], n = 0, at = 0, count = w->count;

    if (count == 0) return LOCI_OK;
    while (count <= LONGEST_WORD && at < count) {
        ids[n] = longest_piece(&e->wp->vocabulary, w, at, &ends[n]);
        if (ids[n] == LOCI_DICT_NONE) break;
        at = ends[n++];
    }
    w->count = 0;
    if (at < count) return emit(e, e->wp->unknown, w->start[0], w->last_end, err);
    for (size_t i = 0; i < n; i++) {
        size_t first = i ? ends[i - 1] : 0;
        loci_rc rc = emit(e, ids[i], w->start[first], w->end[ends[i] - 1], err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

static void push(word *w, uint32_t c, uint32_t start, uint32_t end)
{
    w->last_end = end;
    if (w->count == 0) w->offset[0] = MARK_BYTES;
    if (w->count < LONGEST_WORD) {
        size_t offset = w->offset[w->count];
        w->start[w->count] = start;
        w->end[w->count] = end;
        w->offset[w->count + 1] = offset + loci_utf8_encode(c, w->text + offset);
    }
    if (w->count <= LONGEST_WORD) w->count++;
}

/* One character that is a word. */
static loci_rc push_alone(encoder *e, uint32_t c, uint32_t start, uint32_t end, loci_err *err)
{
    loci_rc rc = end_word(e, err);
    if (rc) return rc;
    push(&e->word, c, start, end);
    return end_word(e, err);
}

/* Rules 3 and 4 for one character in lower case. Marks that are not deleted are not put into
 * canonical order: no vocabulary has such, so the word is [UNK] either way. */
static loci_rc add_char(encoder *e, uint32_t c, bool alone, uint32_t start, uint32_t end,
                        loci_err *err)
{
    utf8proc_int32_t parts[DECOMPOSED] = { (utf8proc_int32_t)c };
    utf8proc_ssize_t n = 1;

    if (c >= 0x80)
        n = utf8proc_decompose_char((utf8proc_int32_t)c, parts, DECOMPOSED, UTF8PROC_DECOMPOSE,
                                    NULL);
    for (utf8proc_ssize_t i = 0; i < n && i < DECOMPOSED; i++) {
        uint32_t part = (uint32_t)parts[i];
        if (part >= 0x80 && utf8proc_category(parts[i]) == UTF8PROC_CATEGORY_MN) continue;
        if (!alone && !is_punctuation(part)) {
            push(&e->word, part, start, end);
            continue;
        }
        loci_rc rc = push_alone(e, part, start, end, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

static void note_case(encoder *e, uint32_t c)
{
    if (c < 0x80) {
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
        if (letter)
            e->cased_before = true;
        else if (!is_case_ignorable(c))
            e->cased_before = false;
        return;
    }
    if (!is_case_ignorable(c)) e->cased_before = is_cased(c);
}

static loci_rc encode_all(encoder *e, loci_str text, loci_err *err)
{
    uint32_t c;

    for (size_t at = 0, next; at < text.len && e->tokens.count < e->limit; at = next) {
        loci_rc rc = LOCI_OK;
        next = at + loci_utf8_decode((loci_str){ text.ptr + at, text.len - at }, &c);
        fate what = fate_of(c);
        if (what == DROP) continue;
        if (what == BLANK) {
            e->cased_before = false;
            rc = end_word(e, err);
        } else {
            uint32_t low = lower(e, c, loci_str_sub(text, next, text.len));
            rc = add_char(e, low, is_ideograph(c), (uint32_t)at, (uint32_t)next, err);
            note_case(e, c);
        }
        if (rc) return rc;
    }
    return end_word(e, err);
}

static loci_rc encode(encoder *e, loci_str text, loci_err *err)
{
    if (text.len > LOCI_TOKEN_TEXT_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "text of %zu bytes: the most is %zu", text.len,
                         LOCI_TOKEN_TEXT_BYTES);
    return encode_all(e, text, err);
}

loci_rc loci_wordpiece_encode(const loci_wordpiece *wp, loci_str text, size_t limit,
                              loci_arena *arena, loci_tokens *ret_tokens, loci_err *err)
{
    encoder e;

    memset(&e, 0, sizeof e);
    e.wp = wp;
    e.arena = arena;
    e.limit = limit ? limit : SIZE_MAX;
    loci_rc rc = encode(&e, text, err);
    if (rc) return rc;
    *ret_tokens = e.tokens;
    return LOCI_OK;
}

loci_rc loci_wordpiece_input(const loci_wordpiece *wp, loci_str text, size_t max, loci_arena *arena,
                             loci_tokens *ret_tokens, loci_err *err)
{
    encoder e;

    if (max < 2)
        return loci_fail(err, LOCI_EINVAL, "a model reads at least 2 tokens, not %zu", max);
    memset(&e, 0, sizeof e);
    e.wp = wp;
    e.arena = arena;
    e.limit = max - 1;
    loci_rc rc = emit(&e, wp->cls, 0, 0, err);
    if (!rc) rc = encode(&e, text, err);
    e.limit = max;
    if (!rc) rc = emit(&e, wp->sep, (uint32_t)text.len, (uint32_t)text.len, err);
    if (rc) return rc;
    *ret_tokens = e.tokens;
    return LOCI_OK;
}

loci_rc loci_wordpiece_init(loci_wordpiece *wp, const void *table, size_t size, loci_err *err)
{
    loci_wordpiece made = { 0 };
    const struct {
        const char *name;
        uint32_t *id;
    } special[] = {
        { "[UNK]", &made.unknown },
        { "[CLS]", &made.cls },
        { "[SEP]", &made.sep },
        { "[PAD]", &made.pad },
    };

    loci_rc rc = loci_dict_init(&made.vocabulary, table, size, LOCI_DICT_WORDPIECE, err);
    if (rc) return rc;
    for (size_t i = 0; i < LOCI_COUNT(special); i++) {
        *special[i].id = loci_dict_find(&made.vocabulary, special[i].name, strlen(special[i].name));
        if (*special[i].id == LOCI_DICT_NONE)
            return loci_fail(err, LOCI_ECORRUPT, "vocabulary without %s", special[i].name);
    }
    *wp = made;
    return LOCI_OK;
}

/* The lines of a text as slices; the empty one after the last LF does not count. */
static size_t split_lines(loci_str text, loci_str *lines)
{
    size_t n = 0;
    loci_str line;

    while (text.len > 0 && loci_str_cut(&text, '\n', &line)) {
        if (line.len > 0 && line.ptr[line.len - 1] == '\r') line.len--;
        lines[n++] = line;
    }
    return n;
}

loci_rc loci_wordpiece_build(loci_str vocabulary_text, loci_buf *out, loci_err *err)
{
    loci_wordpiece wp;
    size_t start = out->len, lines = 1;

    for (size_t i = 0; i < vocabulary_text.len; i++) lines += vocabulary_text.ptr[i] == '\n';
    LOCI_AUTO(loci_freep) loci_str *words = loci_zalloc(lines * sizeof *words);
    if (!words) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    size_t count = split_lines(vocabulary_text, words);
    loci_rc rc = loci_dict_build(words, count, LOCI_DICT_WORDPIECE, out, err);
    if (rc) return rc;
    return loci_wordpiece_init(&wp, out->ptr + start, out->len - start, err);
}
