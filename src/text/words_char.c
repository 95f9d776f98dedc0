#include "text/words_char.h"

#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

/* Marks beyond this many on one letter are passed over. */
enum { MOST_MARKS = 8, DECOMPOSED = 256 };

static utf8proc_category_t category_of(uint32_t c)
{
    return utf8proc_category((utf8proc_int32_t)c);
}

static bool in_ranges(uint32_t c, const uint32_t (*ranges)[2], size_t count)
{
    for (size_t i = 0; i < count && c >= ranges[i][0]; i++)
        if (c <= ranges[i][1]) return true;
    return false;
}

/* Scripts without blanks between words, and Hangul, whose words carry their particles. Sorted. */
static bool is_bigram_script(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        { 0x0E00, 0x0EFF },                                             /* Thai, Lao */
        { 0x1000, 0x109F },                                             /* Myanmar */
        { 0x1100, 0x11FF },                                             /* Hangul jamo */
        { 0x1780, 0x17FF },                                             /* Khmer */
        { 0x2E80, 0x2FDF },                                             /* radicals */
        { 0x3005, 0x3007 },   { 0x3031, 0x3035 },   { 0x3040, 0x318F }, /* kana, bopomofo, jamo */
        { 0x31A0, 0x31BF },   { 0x31F0, 0x31FF },   { 0x3400, 0x4DBF }, { 0x4E00, 0x9FFF },
        { 0xA960, 0xA97F },   { 0xAC00, 0xD7FF },   { 0xF900, 0xFAFF }, { 0xFF66, 0xFFDC },
        { 0x1AFF0, 0x1B16F }, { 0x20000, 0x3FFFF },
    };
    return in_ranges(c, ranges, LOCI_COUNT(ranges));
}

/* Does `c` belong to the unit before it? Marks do, and so do the invisible joiners and hyphens, the
 * halfwidth voicing signs, and the vowels and finals of Hangul written in parts. */
static bool extends(uint32_t c)
{
    static const uint32_t others[][2] = {
        { 0xAD, 0xAD },     { 0x1160, 0x11FF }, { 0x200C, 0x200D }, { 0x2060, 0x2060 },
        { 0xD7B0, 0xD7FF }, { 0xFEFF, 0xFEFF }, { 0xFF9E, 0xFF9F },
    };

    if (c < 0x80) return false;
    utf8proc_category_t category = category_of(c);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
           category == UTF8PROC_CATEGORY_ME || in_ranges(c, others, LOCI_COUNT(others));
}

static loci_words_kind kind_of_sign(uint32_t c)
{
    switch (c) {
    case '_':
    case '-':
    case '.':
    case 0x2010:
    case 0x2011:
    case 0xFF0D:
    case 0xFF0E:
    case 0xFF3F: return LOCI_WORDS_JOINER;
    case '\'':
    case 0x2019:
    case 0xFF07: return LOCI_WORDS_APOSTROPHE;
    default: return LOCI_WORDS_BORDER;
    }
}

static loci_words_kind kind_of(uint32_t c, utf8proc_category_t category)
{
    switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return is_bigram_script(c) ? LOCI_WORDS_BIGRAM : LOCI_WORDS_LETTER;
    case UTF8PROC_CATEGORY_NL: return is_bigram_script(c) ? LOCI_WORDS_BIGRAM : LOCI_WORDS_DIGIT;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NO: return LOCI_WORDS_DIGIT;
    default: return kind_of_sign(c);
    }
}

static void read_ascii(char byte, size_t at, loci_words_char *ret)
{
    ret->end = at + 1;
    ret->upper = byte >= 'A' && byte <= 'Z';
    ret->lower = byte >= 'a' && byte <= 'z';
    ret->bytes[0] = ret->upper ? (char)(byte | 0x20) : byte;
    ret->len = 1;
    ret->kind = ret->upper || ret->lower     ? LOCI_WORDS_LETTER
                : byte >= '0' && byte <= '9' ? LOCI_WORDS_DIGIT
                                             : kind_of_sign((uint32_t)byte);
}

/* The end of the unit whose base ends at `at`; *ret_kept is the end of what is kept of it. */
static size_t extent(loci_str text, size_t at, size_t *ret_kept)
{
    size_t marks = 0, size;
    uint32_t c;

    *ret_kept = at;
    for (; at < text.len; at += size) {
        size = loci_utf8_decode((loci_str){ text.ptr + at, text.len - at }, &c);
        if (c == LOCI_UTF8_BAD || !extends(c)) break;
        if (marks++ < MOST_MARKS) *ret_kept = at + size;
    }
    return at;
}

/* Letters, digits and marks of the folded form; a fraction slash or blank inside it is dropped. */
static void append(loci_words_char *ret, uint32_t c)
{
    char bytes[4];
    utf8proc_category_t category = category_of(c);

    if (category > UTF8PROC_CATEGORY_NO || category == UTF8PROC_CATEGORY_CN) return;
    size_t len = loci_utf8_encode(c, bytes);
    if (len > sizeof ret->bytes - ret->len) return;
    memcpy(ret->bytes + ret->len, bytes, len);
    ret->len += len;
}

static void fold(loci_str unit, loci_words_char *ret)
{
    const utf8proc_option_t options =
        UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE | UTF8PROC_STABLE;
    utf8proc_int32_t codes[DECOMPOSED];

    ret->len = 0;
    utf8proc_ssize_t n = utf8proc_decompose((const uint8_t *)unit.ptr, (utf8proc_ssize_t)unit.len,
                                            codes, DECOMPOSED, options);
    if (n < 0 || n > DECOMPOSED) return;
    n = utf8proc_normalize_utf32(codes, n, options);
    for (utf8proc_ssize_t i = 0; i < n; i++) append(ret, (uint32_t)codes[i]);
}

void loci_words_char_read(loci_str text, size_t at, loci_words_char *ret)
{
    ret->kind =
        LOCI_WORDS_BORDER; /* field by field: clearing the bytes would cost more than reading */
    ret->upper = ret->lower = false;
    ret->end = at;
    ret->len = 0;
    if (at >= text.len) return;
    bool plain = at + 1 == text.len || (unsigned char)text.ptr[at + 1] < 0x80;
    if ((unsigned char)text.ptr[at] < 0x80 && plain) {
        read_ascii(text.ptr[at], at, ret);
        return;
    }

    uint32_t c;
    size_t kept, base = at + loci_utf8_decode((loci_str){ text.ptr + at, text.len - at }, &c);
    ret->end = base;
    if (c == LOCI_UTF8_BAD) return;
    utf8proc_category_t category = category_of(c);
    ret->end = extent(text, base, &kept);
    ret->kind = kind_of(c, category);
    ret->upper = category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LT;
    ret->lower = category == UTF8PROC_CATEGORY_LL;
    if (ret->kind == LOCI_WORDS_JOINER) {
        ret->bytes[0] = c == '.' || c == 0xFF0E ? '.' : c == '_' || c == 0xFF3F ? '_' : '-';
        ret->len = 1;
    } else if (ret->kind == LOCI_WORDS_LETTER || ret->kind == LOCI_WORDS_DIGIT ||
               ret->kind == LOCI_WORDS_BIGRAM) {
        fold((loci_str){ text.ptr + at, kept - at }, ret);
        if (ret->len == 0) ret->kind = LOCI_WORDS_BORDER;
    }
}
