#include "base/json.h"

#include "base/utf8.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void loci_json_begin(loci_json_writer *w, loci_buf *out)
{
    *w = (loci_json_writer){ .out = out };
}

static bool in_object(const loci_json_writer *w)
{
    return w->depth > 0 && (w->in_object[(w->depth - 1) / 8] >> ((w->depth - 1) % 8) & 1);
}

/* What stands before a value: a comma inside an array, nothing behind a name. False when nothing
 * is written any more. */
static bool before_value(loci_json_writer *w)
{
    if (w->too_deep) return false;
    assert(w->after_name == in_object(w));   /* a value without a name inside an object */
    assert(w->depth > 0 || !w->after_value); /* a second value at the top */
    if (w->after_value) loci_buf_add_char(w->out, ',');
    w->after_value = true;
    w->after_name = false;
    return true;
}

static void add_scalar(loci_json_writer *w, loci_str text)
{
    if (before_value(w)) loci_buf_add(w->out, text);
}

static void open_level(loci_json_writer *w, char bracket)
{
    if (!before_value(w)) return;
    if (w->depth == LOCI_JSON_WRITE_DEPTH) {
        w->too_deep = true;
        return;
    }
    uint8_t bit = (uint8_t)(1u << (w->depth % 8));
    if (bracket == '{')
        w->in_object[w->depth / 8] |= bit;
    else
        w->in_object[w->depth / 8] &= (uint8_t)~bit;
    w->depth++;
    w->after_value = false;
    loci_buf_add_char(w->out, bracket);
}

static void close_level(loci_json_writer *w, char bracket)
{
    if (w->too_deep) return;
    assert(w->depth > 0 && in_object(w) == (bracket == '}')); /* no such level is open */
    assert(!w->after_name);                                   /* a name without its value */
    w->depth--;
    w->after_value = true;
    loci_buf_add_char(w->out, bracket);
}

void loci_json_object(loci_json_writer *w)
{
    open_level(w, '{');
}

void loci_json_object_end(loci_json_writer *w)
{
    close_level(w, '}');
}

void loci_json_array(loci_json_writer *w)
{
    open_level(w, '[');
}

void loci_json_array_end(loci_json_writer *w)
{
    close_level(w, ']');
}

static bool needs_escape(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* How many bytes of `s` can be copied as they are. Eight at a time: the high bit of a byte of
 * `hit` is set when that byte is below 0x20, a quote or a backslash (bytes above a first hit may
 * be marked wrongly; the loop behind looks again). */
static size_t plain_run(loci_str s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones * 0x80;
    size_t i = 0;

    for (; s.len - i >= 8; i += 8) {
        uint64_t x;
        memcpy(&x, s.ptr + i, sizeof x);
        uint64_t quote = x ^ ones * '"', slash = x ^ ones * '\\';
        uint64_t hit =
            ((x - ones * 0x20) & ~x) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash);
        if (hit & tops) break;
    }
    while (i < s.len && !needs_escape(s.ptr[i])) i++;
    return i;
}

static void add_escape(loci_buf *out, char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    const char *at = c ? strchr(from, c) : NULL;

    if (at) {
        loci_buf_add_char(out, '\\');
        loci_buf_add_char(out, to[at - from]);
    } else {
        loci_buf_printf(out, "\\u%04x", (unsigned)(unsigned char)c);
    }
}

/* `s` is UTF-8. */
static void add_escaped(loci_buf *out, loci_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        loci_str rest = loci_str_sub(s, i, s.len);
        size_t run = plain_run(rest);
        loci_buf_add(out, loci_str_sub(rest, 0, run));
        i += run;
        if (i < s.len) add_escape(out, s.ptr[i]);
    }
}

static void add_quoted(loci_buf *out, loci_str s)
{
    uint32_t code;

    loci_buf_add_char(out, '"');
    for (;;) {
        size_t good = loci_utf8_check(s);
        add_escaped(out, loci_str_sub(s, 0, good));
        if (good == s.len) break;
        loci_buf_add(out, LOCI_STR("\xEF\xBF\xBD"));
        s = loci_str_sub(s, good, s.len);
        s = loci_str_sub(s, loci_utf8_decode(s, &code), s.len);
    }
    loci_buf_add_char(out, '"');
}

void loci_json_name(loci_json_writer *w, loci_str name)
{
    if (w->too_deep) return;
    assert(in_object(w) && !w->after_name);
    if (w->after_value) loci_buf_add_char(w->out, ',');
    add_quoted(w->out, name);
    loci_buf_add_char(w->out, ':');
    w->after_value = false;
    w->after_name = true;
}

void loci_json_string(loci_json_writer *w, loci_str value)
{
    if (before_value(w)) add_quoted(w->out, value);
}

void loci_json_null(loci_json_writer *w)
{
    add_scalar(w, LOCI_STR("null"));
}

void loci_json_bool(loci_json_writer *w, bool value)
{
    add_scalar(w, value ? LOCI_STR("true") : LOCI_STR("false"));
}

static void add_digits(loci_json_writer *w, bool minus, uint64_t n)
{
    char digits[24];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + n % 10);
    } while (n /= 10);
    if (minus) digits[--at] = '-';
    add_scalar(w, (loci_str){ digits + at, sizeof digits - at });
}

void loci_json_int(loci_json_writer *w, int64_t value)
{
    add_digits(w, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void loci_json_uint(loci_json_writer *w, uint64_t value)
{
    add_digits(w, false, value);
}

/* The host may have set any locale, and another thread may change it meanwhile: whatever %g puts
 * that is no digit, sign or exponent is the decimal point, of one byte or several. */
static loci_str with_point(char *text)
{
    size_t len = 0;
    bool is_real = false, in_point = false;

    for (const char *p = text; *p; p++) {
        bool digit = (*p >= '0' && *p <= '9') || *p == '-' || *p == '+' || *p == 'e';
        is_real = is_real || !digit || *p == 'e';
        if (digit)
            text[len++] = *p;
        else if (!in_point)
            text[len++] = '.';
        in_point = !digit;
    }
    if (!is_real) memcpy(text + len, ".0", 2), len += 2;
    return (loci_str){ text, len };
}

void loci_json_real(loci_json_writer *w, double value)
{
    char text[48]; /* "-1.7976931348623157e+308" with a decimal point of several bytes, and ".0" */

    if (!isfinite(value)) {
        loci_json_null(w);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text - 2, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    add_scalar(w, with_point(text));
}

static void add_array(loci_json_writer *w, const loci_json *value)
{
    loci_json_array(w);
    for (size_t i = 0; i < value->array.count && !w->too_deep; i++)
        loci_json_value(w, &value->array.items[i]);
    loci_json_array_end(w);
}

static void add_object(loci_json_writer *w, const loci_json *value)
{
    loci_json_object(w);
    for (size_t i = 0; i < value->object.count && !w->too_deep; i++) {
        loci_json_name(w, value->object.members[i].name);
        loci_json_value(w, &value->object.members[i].value);
    }
    loci_json_object_end(w);
}

/* Recurses as deep as the value, and stops where the writer's depth does. */
void loci_json_value(loci_json_writer *w, const loci_json *value)
{
    switch (value->type) {
    case LOCI_JSON_NULL:
        loci_json_null(w);
        break;
    case LOCI_JSON_BOOL:
        loci_json_bool(w, value->boolean);
        break;
    case LOCI_JSON_INT:
        loci_json_int(w, value->integer);
        break;
    case LOCI_JSON_REAL:
        loci_json_real(w, value->real);
        break;
    case LOCI_JSON_STRING:
        loci_json_string(w, value->string);
        break;
    case LOCI_JSON_ARRAY:
        add_array(w, value);
        break;
    case LOCI_JSON_OBJECT:
        add_object(w, value);
        break;
    }
}

void loci_json_raw(loci_json_writer *w, loci_str json)
{
    assert(json.len > 0);
    add_scalar(w, json);
}

void loci_json_member_str(loci_json_writer *w, const char *name, loci_str value)
{
    loci_json_name(w, loci_str_from(name));
    loci_json_string(w, value);
}

void loci_json_member_cstr(loci_json_writer *w, const char *name, const char *value)
{
    loci_json_name(w, loci_str_from(name));
    if (value)
        loci_json_string(w, loci_str_from(value));
    else
        loci_json_null(w);
}

void loci_json_member_int(loci_json_writer *w, const char *name, int64_t value)
{
    loci_json_name(w, loci_str_from(name));
    loci_json_int(w, value);
}

void loci_json_member_bool(loci_json_writer *w, const char *name, bool value)
{
    loci_json_name(w, loci_str_from(name));
    loci_json_bool(w, value);
}

loci_rc loci_json_check(const loci_json_writer *w, loci_err *err)
{
    if (w->too_deep)
        return loci_fail(err, LOCI_ELIMIT, "JSON to write is nested deeper than %d levels",
                         LOCI_JSON_WRITE_DEPTH);
    assert(w->depth == 0 && w->after_value); /* a missing end, or nothing was written */
    return loci_buf_check(w->out, err);
}
