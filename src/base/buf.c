#include "base/buf.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SMALLEST = 64 };

void loci_buf_init(loci_buf *buf, size_t max)
{
    *buf = (loci_buf){ .max = max < SIZE_MAX ? max : SIZE_MAX - 1 };
}

void loci_buf_init_arena(loci_buf *buf, loci_arena *arena, size_t max)
{
    loci_buf_init(buf, max);
    buf->arena = arena;
}

void loci_buf_done(loci_buf *buf)
{
    if (!buf->arena) loci_free(buf->ptr);
    *buf = (loci_buf){ .max = buf->max, .arena = buf->arena };
}

void loci_buf_clear(loci_buf *buf)
{
    buf->len = 0;
    buf->failed = LOCI_OK;
    buf->arena_failed = false;
    if (buf->ptr) buf->ptr[0] = '\0';
}

static void *resize(loci_buf *buf, size_t cap)
{
    if (buf->arena) return loci_arena_grow(buf->arena, buf->ptr, buf->cap, cap);
    return loci_realloc(buf->ptr, cap);
}

/* Room for n more bytes and the NUL. Doubles, but never past the maximum. */
static bool make_room(loci_buf *buf, size_t n)
{
    if (buf->failed) return false;
    if (n > buf->max - buf->len) {
        buf->failed = LOCI_ELIMIT;
        return false;
    }
    size_t need = buf->len + n + 1;
    if (need <= buf->cap) return true;

    size_t cap = buf->cap > buf->max / 2 ? buf->max + 1 : buf->cap * 2;
    if (cap < SMALLEST) cap = SMALLEST;
    if (cap < need) cap = need;
    char *larger = resize(buf, cap);
    if (!larger) {
        buf->arena_failed = buf->arena != NULL;
        buf->failed = buf->arena ? loci_arena_fail(buf->arena, NULL) : LOCI_ENOMEM;
        return false;
    }
    buf->ptr = larger;
    buf->cap = cap;
    return true;
}

char *loci_buf_reserve(loci_buf *buf, size_t n)
{
    return make_room(buf, n) ? buf->ptr + buf->len : NULL;
}

void loci_buf_advance(loci_buf *buf, size_t n)
{
    if (buf->failed || n == 0) return;
    buf->len += n;
    buf->ptr[buf->len] = '\0';
}

void loci_buf_add(loci_buf *buf, loci_str s)
{
    char *at = loci_buf_reserve(buf, s.len);
    if (!at) return;
    if (s.len) memcpy(at, s.ptr, s.len);
    buf->len += s.len;
    buf->ptr[buf->len] = '\0';
}

void loci_buf_add_cstr(loci_buf *buf, const char *text)
{
    loci_buf_add(buf, loci_str_from(text));
}

void loci_buf_add_char(loci_buf *buf, char c)
{
    loci_buf_add(buf, (loci_str){ &c, 1 });
}

/* A text of more bytes than an int counts, or a character that the locale does not have. */
static void print_failed(loci_buf *buf, int number)
{
    if (!buf->failed) buf->failed = number == EOVERFLOW ? LOCI_ELIMIT : LOCI_EINVAL;
}

void loci_buf_printf(loci_buf *buf, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0) print_failed(buf, errno);
    char *at = n < 0 ? NULL : loci_buf_reserve(buf, (size_t)n);
    if (at) {
        (void)vsnprintf(at, (size_t)n + 1, fmt, again);
        buf->len += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

void loci_buf_cut(loci_buf *buf, size_t len)
{
    if (len >= buf->len) return;
    buf->len = len;
    buf->ptr[len] = '\0';
}

loci_rc loci_buf_check(const loci_buf *buf, loci_err *err)
{
    if (buf->arena_failed) return loci_arena_fail(buf->arena, err);
    if (buf->failed == LOCI_EINVAL)
        return loci_fail(err, LOCI_EINVAL, "a value cannot be printed as text");
    if (buf->failed == LOCI_ELIMIT)
        return loci_fail(err, LOCI_ELIMIT, "text longer than %zu bytes", buf->max);
    if (buf->failed) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    return LOCI_OK;
}

loci_str loci_buf_str(const loci_buf *buf)
{
    return (loci_str){ buf->len ? buf->ptr : "", buf->len };
}

char *loci_buf_take(loci_buf *buf)
{
    char *text = buf->failed || buf->arena ? NULL : LOCI_TAKE(buf->ptr);
    loci_buf_done(buf);
    return text;
}
