/* Numbers of JSON. The digits are gathered once, as a whole number and a power of ten. Most numbers
 * are then done: an integer is that whole number, and a decimal of up to 15 digits is one exact
 * double times or divided by another, which the processor rounds correctly by itself. The rest
 * goes to strtod, in the C locale, whatever locale the host has set. */
#include "base/json_inside.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum {
    MOST_DIGITS = 19, /* as many always fit a uint64_t */
    EXACT_POWER = 22, /* 10^22 is the largest power of ten that is a double */
    SHORT = 64,       /* numbers below this are copied to the stack */
};

/* More than any text has decimal places, so that these cannot bring it back into range. */
static const int64_t far_exponent = INT64_C(1) << 40;

/* A number taken apart: digits * 10^exponent. */
typedef struct decimal {
    uint64_t digits;
    size_t count; /* of digits, without zeros in front; past MOST_DIGITS they are not gathered */
    int64_t exponent;
    bool minus;
    bool real; /* it has a fraction or an exponent */
} decimal;

static bool is_digit(loci_str s, size_t i)
{
    return i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9';
}

/* The digits from `i` on; returns where they end. */
static size_t gather(loci_str s, size_t i, decimal *d)
{
    for (; is_digit(s, i); i++) {
        if (d->count == 0 && s.ptr[i] == '0') continue;
        if (d->count++ < MOST_DIGITS) d->digits = d->digits * 10 + (uint64_t)(s.ptr[i] - '0');
    }
    return i;
}

/* What stands behind the 'e' at `i`; the exponent stops growing where it no longer matters. */
static size_t gather_exponent(loci_str s, size_t i, decimal *d)
{
    int64_t exponent = 0;

    i++;
    bool minus = i < s.len && s.ptr[i] == '-';
    if (minus || (i < s.len && s.ptr[i] == '+')) i++;
    for (; is_digit(s, i); i++)
        if (exponent < far_exponent) exponent = exponent * 10 + (s.ptr[i] - '0');
    d->exponent = minus ? -exponent : exponent;
    return i;
}

/* Take the number apart. *ret_len is where it ends, or where a digit is missing. */
static loci_json_number_rc take_apart(loci_str s, decimal *d, size_t *ret_len)
{
    size_t i = s.len > 0 && s.ptr[0] == '-', start = i, point = 0;

    d->minus = i == 1;
    i = *ret_len = gather(s, i, d);
    if (i == start) return LOCI_JSON_NUMBER_DIGIT;
    if (s.ptr[start] == '0' && i > start + 1) return LOCI_JSON_NUMBER_ZERO;
    if (i < s.len && s.ptr[i] == '.') {
        point = i + 1;
        d->real = true;
        i = *ret_len = gather(s, point, d);
        if (i == point) return LOCI_JSON_NUMBER_DIGIT;
    }
    size_t places = point ? i - point : 0;
    if (i < s.len && (s.ptr[i] | 0x20) == 'e') {
        d->real = true;
        i = *ret_len = gather_exponent(s, i, d);
        if (!is_digit(s, i - 1)) return LOCI_JSON_NUMBER_DIGIT;
    }
    d->exponent -= (int64_t)places;
    return LOCI_JSON_NUMBER_OK;
}

static loci_json_number_rc to_integer(const decimal *d, loci_json *ret_value)
{
    uint64_t limit = (uint64_t)INT64_MAX + d->minus;

    if (d->count > MOST_DIGITS || d->digits > limit) return LOCI_JSON_NUMBER_RANGE;
    /* Negated as unsigned, because the smallest integer has no positive counterpart. */
    int64_t value = (int64_t)(d->minus ? 0 - d->digits : d->digits);
    *ret_value = (loci_json){ .type = LOCI_JSON_INT, .integer = value };
    return LOCI_JSON_NUMBER_OK;
}

/* True when both the digits and the power of ten are exact doubles, so that one operation, which
 * rounds once, gives the nearest double. Not where the processor computes more precisely. */
static bool to_real_exactly(const decimal *d, double *ret)
{
    static const double powers[EXACT_POWER + 1] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    };
    double value = (double)d->digits;

    if (d->digits != 0) {
        if (FLT_EVAL_METHOD != 0 || d->count > MOST_DIGITS || d->digits > UINT64_C(1) << 53)
            return false;
        if (d->exponent < -EXACT_POWER || d->exponent > EXACT_POWER) return false;
        value = d->exponent < 0 ? value / powers[-d->exponent] : value * powers[d->exponent];
    }
    *ret = d->minus ? -value : value;
    return true;
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* `number` is well-formed. */
static loci_json_number_rc to_real_slowly(loci_arena *arena, loci_str number, double *ret)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char room[SHORT];
    const char *copy = room;

    if (pthread_once(&once, make_c_locale) != 0 || !c_locale) return LOCI_JSON_NUMBER_NOMEM;
    if (number.len < SHORT) {
        memcpy(room, number.ptr, number.len);
        room[number.len] = '\0';
    } else {
        copy = loci_arena_str(arena, number).ptr;
        if (!copy) return LOCI_JSON_NUMBER_ARENA;
    }
    *ret = strtod_l(copy, NULL, c_locale);
    return isfinite(*ret) ? LOCI_JSON_NUMBER_OK : LOCI_JSON_NUMBER_RANGE;
}

loci_json_number_rc loci_json_read_number(loci_arena *arena, loci_str text, loci_json *ret_value,
                                          size_t *ret_len)
{
    decimal d = { 0 };
    double value;

    loci_json_number_rc rc = take_apart(text, &d, ret_len);
    if (rc != LOCI_JSON_NUMBER_OK) return rc;
    if (!d.real) return to_integer(&d, ret_value);
    if (!to_real_exactly(&d, &value)) {
        rc = to_real_slowly(arena, loci_str_sub(text, 0, *ret_len), &value);
        if (rc != LOCI_JSON_NUMBER_OK) return rc;
    }
    *ret_value = (loci_json){ .type = LOCI_JSON_REAL, .real = value };
    return LOCI_JSON_NUMBER_OK;
}
