/* How a text becomes words.
 *
 * Characters are read as units (text/words_char.h). Letters and digits gather in a part; a
 * camel-case border, a joiner or an apostrophe between them ends the part but not the cluster;
 * anything else ends both. Each part is a word, and a cluster of several parts is one more, joined.
 * Both buffers are bounded: a part that is too long is cut, a joined form that is too long is left
 * out.
 *
 * Words are kept in lower case with their accents until after stemming, because stemmers know the
 * accents of their language (and Russian endings are lost without the short i); then the accents
 * go.
 */
#include "text/words.h"

#include "base/alloc.h"
#include "text/fold.h"
#include "text/words_char.h"

#include <libstemmer.h>
#include <string.h>

struct loci_words {
    struct sb_stemmer *stemmer; /* NULL: no stemming */
    bool english;               /* has stop words */
};

typedef struct gather {
    char text[LOCI_WORD_BYTES];
    size_t len;
    size_t start, end; /* in the source */
    bool full;         /* something did not fit */
    bool digits;       /* has some: not stemmed */
} gather;

typedef struct scan {
    loci_words *words;
    loci_str text;
    loci_words_flags flags;
    loci_word_fn fn;
    void *context;
    loci_err *err;
    uint32_t position;       /* of the next word */
    gather part, joined;     /* empty: end == 0 */
    size_t parts;            /* of the cluster that were emitted */
    uint32_t first_position; /* of the cluster */
    loci_words_kind last;    /* kind and case of the part's last unit */
    bool last_upper, last_lower;
    loci_words_char pair; /* the first unit of the next bigram; len 0: none */
    size_t pair_start;
    bool pair_alone; /* no bigram has used it yet */
} scan;

static const char NO_STEMMER[] = "none";

/* Say what there is. Porter is an older stemmer for English, not a language. */
static loci_rc unknown_language(loci_str language, loci_err *err)
{
    char list[200];
    size_t used = 0;

    for (const char **name = sb_stemmer_list(); *name && used < sizeof list; name++) {
        if (strcmp(*name, "porter") == 0) continue;
        int n = snprintf(list + used, sizeof list - used, " %s", *name);
        used += n > 0 ? (size_t)n : 0;
    }
    return loci_fail(err, LOCI_EINVAL, "no language '%.*s'; there are: none%s",
                     LOCI_ARG(loci_str_sub(language, 0, 16)), used ? list : "");
}

loci_rc loci_words_open(loci_str language, loci_words **ret_words, loci_err *err)
{
    LOCI_AUTO(loci_words_closep) loci_words *words = loci_zalloc(sizeof *words);
    char name[32] = "english";

    if (!words) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (language.len >= sizeof name) return unknown_language(language, err);
    if (language.len > 0) {
        memcpy(name, language.ptr, language.len);
        name[language.len] = '\0';
    }
    if (strcmp(name, NO_STEMMER) != 0) {
        words->stemmer = sb_stemmer_new(name, "UTF_8");
        if (!words->stemmer) return unknown_language(language, err);
    }
    words->english = strcmp(name, "english") == 0 || strcmp(name, "en") == 0 ||
                     strcmp(name, "eng") == 0 || strcmp(name, "porter") == 0;
    *ret_words = LOCI_TAKE(words);
    return LOCI_OK;
}

void loci_words_close(loci_words *words)
{
    if (!words) return;
    if (words->stemmer) sb_stemmer_delete(words->stemmer);
    loci_free(words);
}

/* Hand over one form of a word. */
static loci_rc send(scan *s, loci_str text, const gather *from, uint32_t position, loci_word word)
{
    word.text = text;
    word.start = (uint32_t)from->start;
    word.len = (uint32_t)(from->end - from->start);
    word.position = position;
    return text.len ? s->fn(s->context, &word, s->err) : LOCI_OK;
}

/* Stem, take the accents off, hand over. */
static loci_rc emit(scan *s, const gather *g, uint32_t position)
{
    char exact[LOCI_WORD_BYTES], folded[LOCI_WORD_BYTES];
    struct sb_stemmer *stemmer = s->words->stemmer;

    loci_str plain = { exact,
                       loci_fold_accents((loci_str){ g->text, g->len }, exact, sizeof exact) };
    loci_word word = { .stop = (s->flags & LOCI_WORDS_QUERY) && s->words->english &&
                               loci_words_is_stop(plain) };
    if (!stemmer || g->digits) return send(s, plain, g, position, word);

    const sb_symbol *stem = sb_stemmer_stem(stemmer, (const sb_symbol *)g->text, (int)g->len);
    if (!stem) return loci_fail(s->err, LOCI_ENOMEM, "out of memory");
    size_t len = (size_t)sb_stemmer_length(stemmer);
    loci_str stemmed = { folded, loci_fold_accents((loci_str){ (const char *)stem, len }, folded,
                                                   sizeof folded) };
    if (stemmed.len == 0) stemmed = plain;
    loci_rc rc = send(s, stemmed, g, position, word);
    if (rc || !(s->flags & LOCI_WORDS_EXACT) || loci_str_eq(plain, stemmed)) return rc;
    word.exact = true;
    return send(s, plain, g, position, word);
}

static void add(gather *g, loci_str bytes, size_t start, size_t end)
{
    if (g->end == 0) g->start = start;
    g->end = end;
    if (g->full || bytes.len > sizeof g->text - g->len) {
        g->full = true; /* and nothing after it, or the word would have a hole */
        return;
    }
    memcpy(g->text + g->len, bytes.ptr, bytes.len);
    g->len += bytes.len;
}

/* Empty again; the bytes need no clearing. */
static void clear(gather *g)
{
    g->len = g->start = g->end = 0;
    g->full = g->digits = false;
}

static loci_rc end_part(scan *s)
{
    if (s->part.end == 0) return LOCI_OK;
    if (s->parts++ == 0) s->first_position = s->position;
    loci_rc rc = emit(s, &s->part, s->position++);
    clear(&s->part);
    return rc;
}

static loci_rc end_cluster(scan *s)
{
    loci_rc rc = end_part(s);

    if (!rc && s->parts > 1 && !s->joined.full) rc = emit(s, &s->joined, s->first_position);
    s->parts = 0;
    clear(&s->joined);
    return rc;
}

/* The last unit of a run of bigrams; a run of one is a word by itself. */
static loci_rc end_pairs(scan *s)
{
    gather g = { 0 };

    if (s->pair.len == 0) return LOCI_OK;
    bool alone = s->pair_alone;
    add(&g, (loci_str){ s->pair.bytes, s->pair.len }, s->pair_start, s->pair.end);
    s->pair.len = 0;
    g.digits = true; /* not stemmed */
    return alone ? emit(s, &g, s->position++) : LOCI_OK;
}

static bool in_word(const loci_words_char *c)
{
    return c->kind == LOCI_WORDS_LETTER || c->kind == LOCI_WORDS_DIGIT;
}

/* Does camel case start a new part at `c`? After a lower-case letter; and where capitals or digits
 * end in a capitalised word (HTTPServer, base64Encode). */
static bool is_hump(const scan *s, const loci_words_char *c)
{
    loci_words_char next;

    if (s->part.end == 0 || !c->upper) return false;
    if (s->last_lower) return true;
    if (!s->last_upper && s->last != LOCI_WORDS_DIGIT) return false;
    loci_words_char_read(s->text, c->end, &next);
    return next.lower;
}

static loci_rc take_letter(scan *s, const loci_words_char *c, size_t at)
{
    loci_rc rc = is_hump(s, c) ? end_part(s) : LOCI_OK;
    loci_str bytes = { c->bytes, c->len };

    add(&s->part, bytes, at, c->end);
    add(&s->joined, bytes, at, c->end);
    if (c->kind == LOCI_WORDS_DIGIT) s->part.digits = s->joined.digits = true;
    s->last = c->kind;
    s->last_upper = c->upper;
    s->last_lower = c->lower;
    return rc;
}

/* How many letters a-z stand at `at`, not counting one that a mark may follow. Texts are mostly
 * such runs, so they are taken whole. */
static size_t lower_run(loci_str text, size_t at)
{
    size_t end = at;

    while (end < text.len && text.ptr[end] >= 'a' && text.ptr[end] <= 'z') end++;
    if (end > at && end < text.len && (unsigned char)text.ptr[end] >= 0x80) end--;
    return end - at;
}

static loci_rc take_run(scan *s, size_t at, size_t len)
{
    loci_rc rc = end_pairs(s);

    for (gather *g = &s->part;; g = &s->joined) {
        size_t fits = sizeof g->text - g->len < len ? sizeof g->text - g->len : len;
        add(g, (loci_str){ s->text.ptr + at, g->full ? 0 : fits }, at, at + len);
        g->full = g->full || fits < len;
        if (g == &s->joined) break;
    }
    s->last = LOCI_WORDS_LETTER;
    s->last_upper = false;
    s->last_lower = true;
    return rc;
}

/* Between two parts: the cluster goes on. The sign stays in the joined form where digits meet. */
static loci_rc take_joiner(scan *s, const loci_words_char *c, size_t at)
{
    loci_words_char next;

    if (s->part.end == 0) return end_cluster(s);
    loci_words_char_read(s->text, c->end, &next);
    if (!in_word(&next)) return end_cluster(s);
    if (s->last == LOCI_WORDS_DIGIT && next.kind == LOCI_WORDS_DIGIT)
        add(&s->joined, (loci_str){ c->bytes, c->len }, at, c->end);
    return end_part(s);
}

/* How many bytes of an English ending (s re ve m ll d, and t of n't) stand at the end of a word
 * from `at` on; 0 for none. */
static size_t english_ending(loci_str text, size_t at)
{
    static const char *const endings[] = { "s", "t", "re", "ve", "m", "ll", "d" };
    loci_words_char next;

    for (size_t i = 0; i < LOCI_COUNT(endings); i++) {
        loci_str ending = loci_str_from(endings[i]);
        if (!loci_str_eq_nocase(loci_str_sub(text, at, ending.len), ending)) continue;
        loci_words_char_read(text, at + ending.len, &next);
        if (!in_word(&next)) return ending.len;
    }
    return 0;
}

/* don't: the sign alone goes. Bob's, they're: the ending goes too. Else it joins, as in O'Brien.
 * *next is where reading goes on. */
static loci_rc take_apostrophe(scan *s, const loci_words_char *c, size_t *next)
{
    loci_words_char after;

    if (s->part.end == 0 || s->last != LOCI_WORDS_LETTER) return end_cluster(s);
    loci_words_char_read(s->text, c->end, &after);
    if (after.kind != LOCI_WORDS_LETTER) return end_cluster(s);
    size_t ending = english_ending(s->text, c->end);
    if (ending == 0) return end_part(s);
    if (after.bytes[0] == 't') return LOCI_OK;
    *next = c->end + ending;
    return LOCI_OK;
}

static loci_rc take_bigram(scan *s, const loci_words_char *c, size_t at)
{
    gather g = { 0 };
    bool first = s->pair.len == 0;
    loci_rc rc = LOCI_OK;

    if (!first) {
        add(&g, (loci_str){ s->pair.bytes, s->pair.len }, s->pair_start, s->pair.end);
        add(&g, (loci_str){ c->bytes, c->len }, at, c->end);
        g.digits = true; /* not stemmed */
        rc = emit(s, &g, s->position++);
    }
    s->pair = *c;
    s->pair_start = at;
    s->pair_alone = first;
    return rc;
}

static loci_rc take(scan *s, const loci_words_char *c, size_t at, size_t *next)
{
    loci_rc rc = c->kind == LOCI_WORDS_BIGRAM ? end_cluster(s) : end_pairs(s);
    if (rc) return rc;
    switch (c->kind) {
    case LOCI_WORDS_LETTER:
    case LOCI_WORDS_DIGIT: return take_letter(s, c, at);
    case LOCI_WORDS_BIGRAM: return take_bigram(s, c, at);
    case LOCI_WORDS_JOINER: return take_joiner(s, c, at);
    case LOCI_WORDS_APOSTROPHE: return take_apostrophe(s, c, next);
    default: return end_cluster(s);
    }
}

loci_rc loci_words_each(loci_words *words, loci_str text, loci_words_flags flags, loci_word_fn fn,
                        void *context, loci_err *err)
{
    scan s = {
        .words = words, .text = text, .flags = flags, .fn = fn, .context = context, .err = err
    };
    loci_words_char c;

    if (text.len > LOCI_WORDS_TEXT_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "text of %zu bytes: the most is %zu", text.len,
                         LOCI_WORDS_TEXT_BYTES);
    for (size_t at = 0, next; at < text.len; at = next) {
        loci_rc rc;
        size_t run = lower_run(text, at);
        next = at + run;
        if (run > 0) {
            rc = take_run(&s, at, run);
        } else {
            loci_words_char_read(text, at, &c);
            next = c.end;
            rc = take(&s, &c, at, &next);
        }
        if (rc) return rc;
    }
    loci_rc rc = end_pairs(&s);
    return rc ? rc : end_cluster(&s);
}

typedef struct collector {
    loci_arena *arena;
    loci_word_list list;
    size_t room;
    bool content; /* something that is not a stop word */
} collector;

/* Texts and list lie in one arena, so the list is moved when it grows; it doubles. */
static loci_rc collect(void *context, const loci_word *word, loci_err *err)
{
    collector *c = context;

    if (c->list.count == c->room) {
        size_t room = 2 * c->room + 32;
        loci_word *items =
            loci_arena_grow(c->arena, c->list.items, c->room * sizeof *items, room * sizeof *items);
        if (!items) return loci_arena_fail(c->arena, err);
        c->list.items = items;
        c->room = room;
    }
    loci_word copy = *word;
    copy.text = loci_arena_str(c->arena, word->text);
    if (!copy.text.ptr) return loci_arena_fail(c->arena, err);
    c->list.items[c->list.count++] = copy;
    c->content = c->content || !word->stop;
    return LOCI_OK;
}

loci_rc loci_words_list(loci_words *words, loci_str text, loci_words_flags flags, loci_arena *arena,
                        loci_word_list *ret_list, loci_err *err)
{
    collector c = { .arena = arena };
    size_t kept = 0;

    loci_rc rc = loci_words_each(words, text, flags, collect, &c, err);
    if (rc) return rc;
    for (size_t i = 0; i < c.list.count; i++)
        if (!c.content || !c.list.items[i].stop) c.list.items[kept++] = c.list.items[i];
    c.list.count = kept;
    *ret_list = c.list;
    return LOCI_OK;
}
