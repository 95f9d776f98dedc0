#include "text/fold.h"

#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

enum { PARTS = 8 };

static void fold_char(uint32_t c, loci_buf *out)
{
    utf8proc_int32_t parts[PARTS];
    char bytes[4];

    utf8proc_ssize_t n =
        utf8proc_decompose_char((utf8proc_int32_t)c, parts, PARTS, UTF8PROC_CASEFOLD, NULL);
    for (utf8proc_ssize_t i = 0; i < n && i < PARTS; i++) {
        size_t len = loci_utf8_encode((uint32_t)parts[i], bytes);
        loci_buf_add(out, (loci_str){ bytes, len });
    }
}

void loci_fold_case(loci_str text, loci_buf *out)
{
    uint32_t c;

    for (size_t at = 0, next; at < text.len; at = next) {
        char byte = text.ptr[at];
        next = at + 1;
        if ((unsigned char)byte < 0x80) {
            loci_buf_add_char(out, byte >= 'A' && byte <= 'Z' ? (char)(byte | 0x20) : byte);
            continue;
        }
        next = at + loci_utf8_decode((loci_str){ text.ptr + at, text.len - at }, &c);
        if (c == LOCI_UTF8_BAD)
            loci_buf_add(out, (loci_str){ text.ptr + at, next - at });
        else
            fold_char(c, out);
    }
}

/* Letters that Unicode does not decompose, although readers take them for accented ones. */
static const char *base_of(uint32_t c)
{
    switch (c) {
    case 0xE6: return "ae";
    case 0xF0:
    case 0x111: return "d";
    case 0xF8: return "o";
    case 0xFE: return "th";
    case 0x127: return "h";
    case 0x131: return "i";
    case 0x142: return "l";
    case 0x14B: return "n";
    case 0x153: return "oe";
    case 0x167: return "t";
    default: return NULL;
    }
}

/* Combining classes: 10..35 are the points of Hebrew and Arabic, 200 and above are what stands
 * below and above a letter; those between belong to scripts whose marks are sounds. */
static bool is_accent(uint32_t c)
{
    const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)c);

    if (property->category == UTF8PROC_CATEGORY_ME) return true;
    if (property->category != UTF8PROC_CATEGORY_MN) return false;
    return (property->combining_class >= 10 && property->combining_class <= 35) ||
           property->combining_class >= 200;
}

/* Does it have to be taken apart? Not: the short i, kana (whose voicing composes), Hangul. */
static bool may_have_accent(uint32_t c)
{
    enum { CYRILLIC_SHORT_I = 0x439 };
    return c != CYRILLIC_SHORT_I && (c < 0x3000 || c > 0xD7A3);
}

/* Write `c` (no ASCII) without its accents; returns how many bytes. */
static size_t strip(uint32_t c, char out[PARTS * 4])
{
    utf8proc_int32_t parts[PARTS] = { (utf8proc_int32_t)c };
    utf8proc_ssize_t n = 1;
    size_t len = 0;

    const char *base = base_of(c);
    if (base) {
        len = strlen(base);
        memcpy(out, base, len);
        return len;
    }
    if (may_have_accent(c))
        n = utf8proc_decompose_char(parts[0], parts, PARTS, UTF8PROC_DECOMPOSE, NULL);
    for (utf8proc_ssize_t i = 0; i < n && i < PARTS; i++)
        if (parts[i] < 0x80 || !is_accent((uint32_t)parts[i]))
            len += loci_utf8_encode((uint32_t)parts[i], out + len);
    return len;
}

size_t loci_fold_accents(loci_str word, char *out, size_t room)
{
    char bytes[PARTS * 4];
    size_t used = 0;
    uint32_t c;

    for (size_t at = 0; at < word.len;) {
        if ((unsigned char)word.ptr[at] < 0x80) {
            if (used == room) break;
            out[used++] = word.ptr[at++];
            continue;
        }
        at += loci_utf8_decode((loci_str){ word.ptr + at, word.len - at }, &c);
        if (c == LOCI_UTF8_BAD) continue;
        size_t len = strip(c, bytes);
        if (len > room - used) break;
        memcpy(out + used, bytes, len);
        used += len;
    }
    return used;
}
