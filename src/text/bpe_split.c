/* The two patterns, as their makers publish them:
 *
 * cl100k: (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
 *         | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * o200k:  [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|...)?
 *         |[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|...)?
 *         |\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 *
 * The first alternative that matches wins, and inside one the usual greedy order with backtracking
 * decides. Each matcher below does what that order comes to and says why where it is not obvious.
 */
#include "text/bpe_split.h"

#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

/* Classes of characters; a set of them is a mask. */
enum {
    UPPER = 1 << 0,    /* Lu Lt */
    LOWER = 1 << 1,    /* Ll */
    CASELESS = 1 << 2, /* Lm Lo */
    MARK = 1 << 3,     /* M* */
    NUMBER = 1 << 4,   /* N* */
    BREAK = 1 << 5,    /* CR LF */
    BLANK = 1 << 6,    /* other white space */
    OTHER = 1 << 7,
    NOTHING = 0, /* the end of the text: in no set */

    LETTER = UPPER | LOWER | CASELESS,
    SPACE = BREAK | BLANK,
    HEAD = UPPER | CASELESS | MARK, /* what may start a word in o200k */
    TAIL = LOWER | CASELESS | MARK, /* what may end one */
    PREFIX = MARK | BLANK | OTHER,  /* [^\r\n\p{L}\p{N}] */
    SYMBOL = MARK | OTHER,          /* [^\s\p{L}\p{N}] */
};

/* The reference knows Unicode 16; the library may be older. These are the letters, marks and
 * numbers that 15.1 and 16.0 added, for when it calls them unassigned. Sorted. */
static const struct {
    uint32_t first, last;
    uint8_t class;
} newer[] = {
    /* clang-format off */
    { 0x897, 0x897, MARK },         { 0x1C89, 0x1C89, UPPER },      { 0x1C8A, 0x1C8A, LOWER },
    { 0xA7CB, 0xA7CC, UPPER },      { 0xA7CD, 0xA7CD, LOWER },      { 0xA7DA, 0xA7DA, UPPER },
    { 0xA7DB, 0xA7DB, LOWER },      { 0xA7DC, 0xA7DC, UPPER },      { 0x105C0, 0x105F3, CASELESS },
    { 0x10D40, 0x10D49, NUMBER },   { 0x10D4A, 0x10D4F, CASELESS }, { 0x10D50, 0x10D65, UPPER },
    { 0x10D69, 0x10D6D, MARK },     { 0x10D6F, 0x10D6F, CASELESS }, { 0x10D70, 0x10D85, LOWER },
    { 0x10EC2, 0x10EC4, CASELESS }, { 0x10EFC, 0x10EFC, MARK },     { 0x11380, 0x11389, CASELESS },
    { 0x1138B, 0x1138B, CASELESS }, { 0x1138E, 0x1138E, CASELESS }, { 0x11390, 0x113B5, CASELESS },
    { 0x113B7, 0x113B7, CASELESS }, { 0x113B8, 0x113C0, MARK },     { 0x113C2, 0x113C2, MARK },
    { 0x113C5, 0x113C5, MARK },     { 0x113C7, 0x113CA, MARK },     { 0x113CC, 0x113D0, MARK },
    { 0x113D1, 0x113D1, CASELESS }, { 0x113D2, 0x113D2, MARK },     { 0x113D3, 0x113D3, CASELESS },
    { 0x113E1, 0x113E2, MARK },     { 0x116D0, 0x116E3, NUMBER },   { 0x11BC0, 0x11BE0, CASELESS },
    { 0x11BF0, 0x11BF9, NUMBER },   { 0x11F5A, 0x11F5A, MARK },     { 0x13460, 0x143FA, CASELESS },
    { 0x16100, 0x1611D, CASELESS }, { 0x1611E, 0x1612F, MARK },     { 0x16130, 0x16139, NUMBER },
    { 0x16D40, 0x16D6C, CASELESS }, { 0x16D70, 0x16D79, NUMBER },   { 0x18CFF, 0x18CFF, CASELESS },
    { 0x1CCF0, 0x1CCF9, NUMBER },   { 0x1E5D0, 0x1E5ED, CASELESS }, { 0x1E5EE, 0x1E5EF, MARK },
    { 0x1E5F0, 0x1E5F0, CASELESS }, { 0x1E5F1, 0x1E5FA, NUMBER },   { 0x2EBF0, 0x2EE5D, CASELESS },
    /* clang-format on */
};

static unsigned class_of_newer(uint32_t c)
{
    size_t low = 0, high = LOCI_COUNT(newer);

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c > newer[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < LOCI_COUNT(newer) && c >= newer[low].first ? newer[low].class : OTHER;
}

static unsigned class_of(uint32_t c)
{
    switch (utf8proc_category((utf8proc_int32_t)c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT: return UPPER;
    case UTF8PROC_CATEGORY_LL: return LOWER;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return CASELESS;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return MARK;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return NUMBER;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return BLANK;
    case UTF8PROC_CATEGORY_CN: return class_of_newer(c);
    default: return c == 0x85 ? BLANK : OTHER;
    }
}

#define O OTHER
#define B BLANK
#define N NUMBER
#define U UPPER
#define L LOWER
static const uint8_t ascii[128] = {
    /* clang-format off */
    O, O, O, O, O, O, O, O, O, B, BREAK, B, B, BREAK, O, O,
    O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
    B, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
    N, N, N, N, N, N, N, N, N, N, O, O, O, O, O, O,
    O, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U,
    U, U, U, U, U, U, U, U, U, U, U, O, O, O, O, O,
    O, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, O, O, O, O, O,
    /* clang-format on */
};
#undef O
#undef B
#undef N
#undef U
#undef L

/* The class of the character at `at` and its length; NOTHING past the end. */
static unsigned peek(loci_str text, size_t at, size_t *ret_size)
{
    *ret_size = 1;
    if (at >= text.len) return NOTHING;
    uint8_t byte = (uint8_t)text.ptr[at];
    if (byte < 0x80) return ascii[byte];

    uint32_t code;
    *ret_size = loci_utf8_decode((loci_str){ text.ptr + at, text.len - at }, &code);
    return code == LOCI_UTF8_BAD ? OTHER : class_of(code);
}

/* The end of the run of characters in `set` that starts at `at`. */
static size_t run(loci_str text, size_t at, unsigned set)
{
    size_t size;

    while (peek(text, at, &size) & set) at += size;
    return at;
}

/* The end of 's 't 're 've 'm 'll 'd at `at`, in any case; `at` when there is none. Without regard
 * to case the long s (U+017F) is an s. */
static size_t contraction(loci_str text, size_t at)
{
    const char *p = text.ptr + at;
    size_t rest = text.len - at;

    if (rest < 2 || p[0] != '\'') return at;
    char a = (char)(p[1] | 0x20), b = rest > 2 ? (char)(p[2] | 0x20) : '\0';
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return at + 3;
    if (rest > 2 && memcmp(p + 1, "\xC5\xBF", 2) == 0) return at + 3;
    return at;
}

/* \p{N}{1,3} */
static size_t digits(loci_str text, size_t at)
{
    size_t size;

    for (int i = 0; i < 3 && peek(text, at, &size) == NUMBER; i++) at += size;
    return at;
}

/* [^\s\p{L}\p{N}]+ with one space before it and, after it, any of `after`. */
static size_t symbols(loci_str text, size_t at, const char *after)
{
    size_t start = at + (text.ptr[at] == ' ');
    size_t end = run(text, start, SYMBOL);

    if (end == start) return at;
    while (end < text.len && text.ptr[end] && strchr(after, text.ptr[end])) end++;
    return end;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ on a run of white space. A run with a line break ends after its last
 * one. Else a run before something leaves its last character to that, unless it is the only one. */
static size_t spaces(loci_str text, size_t at)
{
    size_t end = at, last = at, after_break = at, size;
    unsigned class;

    while ((class = peek(text, end, &size)) & SPACE) {
        last = end;
        end += size;
        if (class == BREAK) after_break = end;
    }
    if (after_break > at) return after_break;
    if (end < text.len && last > at) return last;
    return end;
}

/* What both patterns have after their words. Something always matches: the classes are complete. */
static size_t rest(loci_str text, size_t at, unsigned class, const char *after)
{
    if (class == NUMBER) return digits(text, at);
    size_t end = symbols(text, at, after);
    return end > at ? end : spaces(text, at);
}

size_t loci_bpe_split_cl100k(loci_str text, size_t at)
{
    size_t size, next_size;
    unsigned class = peek(text, at, &size);

    size_t end = contraction(text, at);
    if (end > at) return end;
    if (class & LETTER) return run(text, at + size, LETTER);
    if ((class & PREFIX) && (peek(text, at + size, &next_size) & LETTER))
        return run(text, at + size + next_size, LETTER);
    return rest(text, at, class, "\r\n");
}

/* HEAD*TAIL+ at `at`, or `at`. The heads take all they can. Is the next character a tail, they are
 * done. Else they give back characters until the first that is a tail too; what follows that one
 * in the run is not, so the match ends right after it. *ret_heads is the end of the run. */
static size_t heads_tails(loci_str text, size_t at, size_t *ret_heads)
{
    size_t heads = at, after_both = at, size;
    unsigned class;

    while ((class = peek(text, heads, &size)) & HEAD) {
        heads += size;
        if (class & TAIL) after_both = heads;
    }
    *ret_heads = heads;
    return class & TAIL ? run(text, heads + size, TAIL) : after_both;
}

/* The two alternatives for words, each first with the optional character before it. HEAD+TAIL* is
 * only reached when no tail follows the heads, so it is the heads alone. */
static size_t word(loci_str text, size_t at, size_t size, unsigned class)
{
    size_t bare = at + (class & PREFIX ? size : 0), heads, heads_here, end;

    end = heads_tails(text, bare, &heads);
    if (end > bare) return end;
    if (bare == at) return heads;
    end = heads_tails(text, at, &heads_here);
    if (end > at) return end;
    if (heads > bare) return heads;
    return heads_here;
}

size_t loci_bpe_split_o200k(loci_str text, size_t at)
{
    size_t size;
    unsigned class = peek(text, at, &size);

    if (class & (LETTER | PREFIX)) {
        size_t end = word(text, at, size, class);
        if (end > at) return contraction(text, end);
    }
    return rest(text, at, class, "\r\n/");
}
