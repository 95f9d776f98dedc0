#include "base/str.h"

#include <string.h>

enum { DISTANCE_MAX = 64 };

loci_str loci_str_from(const char *text)
{
    return (loci_str){ text, text ? strlen(text) : 0 };
}

bool loci_str_eq(loci_str a, loci_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool loci_str_eq_nocase(loci_str a, loci_str b)
{
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i])) return false;
    return true;
}

static char dash(char c)
{
    return c == '_' ? '-' : c;
}

bool loci_str_eq_name(loci_str a, loci_str b)
{
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++)
        if (dash(a.ptr[i]) != dash(b.ptr[i])) return false;
    return true;
}

int loci_str_cmp(loci_str a, loci_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;

    if (order) return order < 0 ? -1 : 1;
    return (a.len > b.len) - (a.len < b.len);
}

bool loci_str_starts(loci_str s, loci_str prefix)
{
    return s.len >= prefix.len && loci_str_eq((loci_str){ s.ptr, prefix.len }, prefix);
}

bool loci_str_ends(loci_str s, loci_str suffix)
{
    return s.len >= suffix.len &&
           loci_str_eq(loci_str_sub(s, s.len - suffix.len, suffix.len), suffix);
}

size_t loci_str_find(loci_str s, loci_str needle)
{
    if (needle.len == 0) return 0;
    if (needle.len > s.len) return s.len;
    const char *at = memmem(s.ptr, s.len, needle.ptr, needle.len);
    return at ? (size_t)(at - s.ptr) : s.len;
}

loci_str loci_str_sub(loci_str s, size_t start, size_t len)
{
    if (start >= s.len) return (loci_str){ s.ptr ? s.ptr + s.len : NULL, 0 };
    if (len > s.len - start) len = s.len - start;
    return (loci_str){ s.ptr + start, len };
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

loci_str loci_str_trim(loci_str s)
{
    while (s.len && is_blank(s.ptr[0])) s = (loci_str){ s.ptr + 1, s.len - 1 };
    while (s.len && is_blank(s.ptr[s.len - 1])) s.len--;
    return s;
}

bool loci_str_cut(loci_str *rest, char sep, loci_str *ret_part)
{
    if (!rest->ptr) return false;
    const char *at = rest->len ? memchr(rest->ptr, sep, rest->len) : NULL;
    if (!at) {
        *ret_part = *rest;
        *rest = (loci_str){ NULL, 0 };
        return true;
    }
    size_t len = (size_t)(at - rest->ptr);
    *ret_part = (loci_str){ rest->ptr, len };
    *rest = (loci_str){ at + 1, rest->len - len - 1 };
    return true;
}

bool loci_str_to_u64(loci_str s, uint64_t *ret)
{
    uint64_t n = 0;

    if (s.len == 0) return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9') return false;
        if (LOCI_MUL_OVERFLOWS(n, (uint64_t)10, &n)) return false;
        if (LOCI_ADD_OVERFLOWS(n, (uint64_t)(s.ptr[i] - '0'), &n)) return false;
    }
    *ret = n;
    return true;
}

bool loci_str_to_i64(loci_str s, int64_t *ret)
{
    bool minus = s.len && s.ptr[0] == '-';
    uint64_t n;

    if (!loci_str_to_u64(loci_str_sub(s, minus, s.len), &n)) return false;
    if (n > (uint64_t)INT64_MAX + minus) return false;
    *ret = minus ? (int64_t)(0 - n) : (int64_t)n;
    return true;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t n = a < b ? a : b;
    return n < c ? n : c;
}

size_t loci_str_distance(loci_str a, loci_str b, size_t limit)
{
    size_t rows[3][DISTANCE_MAX + 1];
    size_t *older = rows[0], *old = rows[1], *now = rows[2];

    if (a.len > DISTANCE_MAX || b.len > DISTANCE_MAX) return limit + 1;
    for (size_t j = 0; j <= b.len; j++) old[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        now[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            bool same = a.ptr[i - 1] == b.ptr[j - 1];
            now[j] = least(old[j] + 1, now[j - 1] + 1, old[j - 1] + !same);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                now[j] = least(now[j], older[j - 2] + 1, now[j]);
        }
        size_t *spare = older;
        older = old, old = now, now = spare;
    }
    return old[b.len] > limit ? limit + 1 : old[b.len];
}
