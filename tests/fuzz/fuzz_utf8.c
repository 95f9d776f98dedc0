/* Any bytes: the fast code agrees with a slow decoder, and repaired text is always valid. */
#include "base/utf8.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth) abort();
}

/* Could these bytes be the start of a character, or a whole one? Asks every character there is of
 * that length, by arithmetic: the smallest and largest number that begins so. */
static bool opens_character(const uint8_t *p, size_t n, size_t *ret_need)
{
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t need = p[0] < 0x80             ? 1
                  : (p[0] & 0xE0) == 0xC0 ? 2
                  : (p[0] & 0xF0) == 0xE0 ? 3
                  : (p[0] & 0xF8) == 0xF0 ? 4
                                          : 0;
    if (need == 0 || n > need) return false;
    *ret_need = need;
    if (need == 1) return true;

    uint32_t low = p[0] & (0x7Fu >> need);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) return false;
        low = low << 6 | (p[i] & 0x3Fu);
    }
    uint32_t open_bits = (uint32_t)(6 * (need - n));
    uint32_t high = (low << open_bits) + ((1u << open_bits) - 1);
    low <<= open_bits;
    if (high < smallest[need] || low > 0x10FFFF) return false;
    return !(low >= 0xD800 && high <= 0xDFFF);
}

/* The unit at the front: its length, and whether it is a character. */
static size_t slow_unit(const uint8_t *p, size_t left, bool *ret_whole)
{
    size_t n = 0, need = 0;

    *ret_whole = false;
    while (n < left && n < 4 && opens_character(p, n + 1, &need)) n++;
    if (n > 0 && n == need) *ret_whole = true;
    return n ? n : 1;
}

static void check_repair(loci_str s, size_t units, bool valid)
{
    LOCI_AUTO(loci_buf_done) loci_buf out;

    loci_buf_init(&out, s.len * 3 + 1);
    loci_utf8_repair(&out, s);
    demand(loci_buf_check(&out, NULL) == LOCI_OK);
    demand(loci_utf8_valid(loci_buf_str(&out)));
    demand(loci_utf8_count(loci_buf_str(&out)) == units);
    if (valid) demand(loci_str_eq(loci_buf_str(&out), s));
}

/* The cut at `max`, given the last unit border at or before it. */
static void check_cut(loci_str s, size_t max, size_t border)
{
    loci_str cut = loci_utf8_cut(s, max);
    demand(cut.ptr == s.ptr && cut.len == border);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    loci_str s = { (const char *)data, size };
    size_t units = 0, bad = size;

    for (size_t i = 0; i < size; units++) {
        bool whole;
        uint32_t code;
        char bytes[4];
        size_t n = slow_unit(data + i, size - i, &whole);

        demand(loci_utf8_decode(loci_str_sub(s, i, size), &code) == n);
        demand((code != LOCI_UTF8_BAD) == whole);
        if (whole)
            demand(loci_str_eq((loci_str){ bytes, loci_utf8_encode(code, bytes) },
                               loci_str_sub(s, i, n)));
        else if (bad == size)
            bad = i;
        for (size_t at = i; at < i + n; at++) check_cut(s, at, i);
        i += n;
    }
    check_cut(s, size, size);
    demand(loci_utf8_check(s) == bad);
    demand(loci_utf8_count(s) == units);
    check_repair(s, units, bad == size);
    return 0;
}
