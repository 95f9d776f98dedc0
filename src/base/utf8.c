#include "base/utf8.h"

#include <assert.h>
#include <string.h>

/* How many bytes of plain ASCII `s` starts with, sixteen at a time where it can. */
static size_t ascii_run(const char *p, size_t len)
{
    size_t i = 0;

    for (; len - i >= 16; i += 16) {
        uint64_t two[2];
        memcpy(two, p + i, sizeof two);
        if ((two[0] | two[1]) & UINT64_C(0x8080808080808080)) break;
    }
    while (i < len && (unsigned char)p[i] < 0x80) i++;
    return i;
}

/* What may stand second, after a lead byte: the one place where overlong forms, surrogates and
 * numbers above U+10FFFF are told from the rest. */
static void second_byte_range(unsigned char lead, unsigned char *ret_low, unsigned char *ret_high)
{
    *ret_low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    *ret_high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
}

/* Bytes that a character with this lead byte has; 0 when no character starts so. */
static size_t length_of(unsigned char lead)
{
    if (lead < 0x80) return 1;
    if (lead < 0xC2) return 0;
    if (lead < 0xE0) return 2;
    if (lead < 0xF0) return 3;
    return lead < 0xF5 ? 4 : 0;
}

size_t loci_utf8_decode(loci_str s, uint32_t *ret_code)
{
    assert(s.len > 0);
    unsigned char lead = (unsigned char)s.ptr[0], low, high;
    size_t need = length_of(lead);

    *ret_code = lead;
    if (need == 1) return 1;
    *ret_code = LOCI_UTF8_BAD;
    if (need == 0) return 1;

    uint32_t code = lead & (0x7Fu >> need);
    second_byte_range(lead, &low, &high);
    for (size_t i = 1; i < need; i++) {
        if (i == s.len) return i;
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < low || c > high) return i;
        code = code << 6 | (c & 0x3F);
        low = 0x80, high = 0xBF;
    }
    *ret_code = code;
    return need;
}

size_t loci_utf8_check(loci_str s)
{
    uint32_t code;

    for (size_t i = 0; i < s.len;) {
        if ((unsigned char)s.ptr[i] < 0x80) {
            i += ascii_run(s.ptr + i, s.len - i);
            continue;
        }
        size_t n = loci_utf8_decode((loci_str){ s.ptr + i, s.len - i }, &code);
        if (code == LOCI_UTF8_BAD) return i;
        i += n;
    }
    return s.len;
}

bool loci_utf8_valid(loci_str s)
{
    return loci_utf8_check(s) == s.len;
}

void loci_utf8_repair(loci_buf *out, loci_str s)
{
    uint32_t code;

    while (s.len) {
        size_t good = loci_utf8_check(s);
        loci_buf_add(out, loci_str_sub(s, 0, good));
        if (good == s.len) return;
        s = loci_str_sub(s, good, s.len);
        s = loci_str_sub(s, loci_utf8_decode(s, &code), s.len);
        loci_buf_add(out, LOCI_STR("\xEF\xBF\xBD"));
    }
}

size_t loci_utf8_encode(uint32_t code, char ret_bytes[4])
{
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
    if (code < 0x80) {
        ret_bytes[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6) ret_bytes[i] = (char)(0x80 | (code & 0x3F));
    ret_bytes[0] = (char)((0xF00u >> n & 0xFF) | code);
    return n;
}

size_t loci_utf8_count(loci_str s)
{
    size_t count = 0;
    uint32_t code;

    for (size_t i = 0; i < s.len;) {
        size_t run = ascii_run(s.ptr + i, s.len - i);
        count += run;
        i += run;
        if (i == s.len) break;
        i += loci_utf8_decode((loci_str){ s.ptr + i, s.len - i }, &code);
        count++;
    }
    return count;
}

bool loci_utf8_visible(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } hidden[] = {
        { 0x0000, 0x001F },       { 0x007F, 0x00A0 }, { 0x00AD, 0x00AD }, { 0x061C, 0x061C },
        { 0x180E, 0x180E },       { 0x2000, 0x200F }, { 0x2028, 0x202F }, { 0x205F, 0x206F },
        { 0xD800, 0xDFFF },       { 0xFEFF, 0xFEFF }, { 0xFFF9, 0xFFFB }, { 0xE0000, 0xE0FFF },
        { 0x110000, UINT32_MAX },
    };
    size_t i = 0;

    while (code > hidden[i].last) i++; /* the last row is above everything */
    return code < hidden[i].first;
}

loci_str loci_utf8_cut(loci_str s, size_t max)
{
    uint32_t code;

    if (s.len <= max) return s;
    /* A unit that reaches over the cut starts at most three bytes before it; a byte that can
     * start one ends the search, because units do not overlap. */
    for (size_t back = 1; back <= 3 && back <= max; back++) {
        size_t start = max - back;
        if (length_of((unsigned char)s.ptr[start]) == 0) continue;
        if (loci_utf8_decode(loci_str_sub(s, start, s.len), &code) > back)
            return loci_str_sub(s, 0, start);
        break;
    }
    return loci_str_sub(s, 0, max);
}
