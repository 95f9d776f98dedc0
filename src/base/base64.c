#include "base/base64.h"

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char for_urls[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static uint32_t byte_at(loci_str s, size_t i)
{
    return i < s.len ? (uint8_t)s.ptr[i] : 0;
}

void loci_base64_encode(loci_base64_form form, loci_str in, loci_buf *out)
{
    const char *alphabet = form == LOCI_BASE64_URL ? for_urls : standard;

    for (size_t i = 0; i < in.len; i += 3) {
        uint32_t bits = byte_at(in, i) << 16 | byte_at(in, i + 1) << 8 | byte_at(in, i + 2);
        size_t used = in.len - i < 3 ? in.len - i + 1 : 4; /* digits that carry bits */
        char group[4] = { '=', '=', '=', '=' };

        for (size_t j = 0; j < used; j++) group[j] = alphabet[bits >> (18 - 6 * j) & 63];
        loci_buf_add(out, (loci_str){ group, form == LOCI_BASE64_URL ? used : 4 });
    }
}

/* The six bits of one digit, or -1. */
static int value_of(loci_base64_form form, char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == (form == LOCI_BASE64_URL ? '-' : '+')) return 62;
    if (c == (form == LOCI_BASE64_URL ? '_' : '/')) return 63;
    return -1;
}

/* Take the padding off: the standard form must be filled up to groups of four. */
static loci_rc strip_padding(loci_base64_form form, loci_str *text, loci_err *err)
{
    if (form == LOCI_BASE64) {
        if (text->len % 4 != 0)
            return loci_fail(err, LOCI_EINVAL, "base64: %zu characters are no whole groups of four",
                             text->len);
        for (int i = 0; i < 2 && text->len && text->ptr[text->len - 1] == '='; i++) text->len--;
    }
    if (text->len % 4 == 1) return loci_fail(err, LOCI_EINVAL, "base64: the text is cut off");
    return LOCI_OK;
}

/* Everything is checked before anything is appended. */
static loci_rc check_digits(loci_base64_form form, loci_str text, loci_err *err)
{
    for (size_t i = 0; i < text.len; i++)
        if (value_of(form, text.ptr[i]) < 0)
            return loci_fail(err, LOCI_EINVAL, "base64: wrong character at offset %zu", i);
    if (text.len % 4 == 0) return LOCI_OK;

    unsigned unused = text.len % 4 == 2 ? 0x0F : 0x03;
    if ((unsigned)value_of(form, text.ptr[text.len - 1]) & unused)
        return loci_fail(err, LOCI_EINVAL, "base64: the last character has bits left over");
    return LOCI_OK;
}

loci_rc loci_base64_decode(loci_base64_form form, loci_str text, loci_buf *out, loci_err *err)
{
    loci_rc rc = strip_padding(form, &text, err);
    if (!rc) rc = check_digits(form, text, err);
    if (rc) return rc;

    for (size_t i = 0; i < text.len; i += 4) {
        size_t digits = text.len - i < 4 ? text.len - i : 4;
        uint32_t bits = 0;

        for (size_t j = 0; j < digits; j++)
            bits |= (uint32_t)value_of(form, text.ptr[i + j]) << (18 - 6 * j);
        char bytes[3] = { (char)(bits >> 16), (char)(bits >> 8 & 0xFF), (char)(bits & 0xFF) };
        loci_buf_add(out, (loci_str){ bytes, digits - 1 });
    }
    return loci_buf_check(out, err);
}
