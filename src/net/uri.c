#include "net/uri.h"

#include "base/utf8.h"

#include <string.h>

static bool is_target_byte(char c)
{
    return c > ' ' && c < 0x7f && c != '#';
}

loci_rc loci_uri_split(loci_str target, loci_str *ret_path, loci_str *ret_query, loci_err *err)
{
    if (target.len == 0 || target.ptr[0] != '/')
        return loci_fail(err, LOCI_EINVAL, "the path must start with '/'");
    for (size_t i = 0; i < target.len; i++)
        if (!is_target_byte(target.ptr[i]))
            return loci_fail(err, LOCI_EINVAL, "the path has a byte 0x%02x that must be encoded",
                             (unsigned)(unsigned char)target.ptr[i]);

    size_t mark = loci_str_find(target, LOCI_STR("?"));
    *ret_path = loci_str_sub(target, 0, mark);
    *ret_query = loci_str_sub(target, mark + 1, target.len);
    return LOCI_OK;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Fills `out`, which has room for in.len bytes. False for a bad %XX or a NUL. */
static bool decode_into(loci_str in, bool plus, char *out, size_t *ret_len)
{
    size_t n = 0;

    for (size_t i = 0; i < in.len; i++) {
        char c = in.ptr[i];
        if (c == '%') {
            int high = i + 2 < in.len ? hex_digit(in.ptr[i + 1]) : -1;
            int low = i + 2 < in.len ? hex_digit(in.ptr[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus) {
            c = ' ';
        }
        if (c == '\0') return false;
        out[n++] = c;
    }
    *ret_len = n;
    return true;
}

static bool is_encoded(loci_str in, bool plus)
{
    return in.len && (memchr(in.ptr, '%', in.len) || (plus && memchr(in.ptr, '+', in.len)) ||
                      memchr(in.ptr, '\0', in.len));
}

loci_rc loci_uri_decode(loci_arena *arena, loci_str in, bool plus, loci_str *ret_text,
                        loci_err *err)
{
    loci_str text = in;

    if (is_encoded(in, plus)) {
        char *out = loci_arena_alloc(arena, in.len);
        if (!out) return loci_arena_fail(arena, err);
        text.ptr = out;
        if (!decode_into(in, plus, out, &text.len))
            return loci_fail(err, LOCI_EINVAL, "'%.*s' is not a percent-encoded text",
                             in.len < 80 ? (int)in.len : 80, in.ptr);
    }
    if (!loci_utf8_valid(text))
        return loci_fail(err, LOCI_EINVAL, "a part of the address is not UTF-8");
    *ret_text = text;
    return LOCI_OK;
}

static size_t count_params(loci_str query)
{
    size_t n = 0;
    loci_str part;

    while (loci_str_cut(&query, '&', &part)) n += part.len > 0;
    return n;
}

static loci_rc decode_param(loci_arena *arena, loci_str part, loci_uri_param *ret_param,
                            loci_err *err)
{
    size_t equals = loci_str_find(part, LOCI_STR("="));
    loci_str value = loci_str_sub(part, equals + 1, part.len);

    loci_rc rc = loci_uri_decode(arena, loci_str_sub(part, 0, equals), true, &ret_param->name, err);
    return rc ? rc : loci_uri_decode(arena, value, true, &ret_param->value, err);
}

loci_rc loci_uri_query(loci_arena *arena, loci_str query, loci_uri_param **ret_params,
                       size_t *ret_count, loci_err *err)
{
    size_t count = count_params(query), n = 0;
    loci_str part;

    if (count > LOCI_URI_PARAMS)
        return loci_fail(err, LOCI_EINVAL, "more than %d parameters in the address",
                         LOCI_URI_PARAMS);
    loci_uri_param *params = loci_arena_array(arena, count, sizeof *params);
    if (!params) return loci_arena_fail(arena, err);
    while (loci_str_cut(&query, '&', &part)) {
        if (part.len == 0) continue;
        loci_rc rc = decode_param(arena, part, &params[n++], err);
        if (rc) return rc;
    }
    *ret_params = params;
    *ret_count = count;
    return LOCI_OK;
}
