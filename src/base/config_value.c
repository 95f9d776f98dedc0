#include "base/config_value.h"

#include "base/clock.h"

#include <stdio.h>

typedef struct unit {
    const char *name;
    int64_t factor;
} unit;

/* From the largest down; the last one is what a bare number means. */
static const unit sizes[] = {
    { "GiB", 1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 }, { "", 1 }
};
static const unit durations[] = { { "h", INT64_C(3600) * LOCI_SECOND },
                                  { "m", INT64_C(60) * LOCI_SECOND },
                                  { "s", LOCI_SECOND },
                                  { "ms", LOCI_MS },
                                  { "", LOCI_SECOND } };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A whole number, blanks or none, and a unit. */
static bool parse_with_unit(loci_str text, const unit *units, size_t count, int64_t *ret)
{
    size_t digits = 0;
    int64_t number;

    while (digits < text.len && is_digit(text.ptr[digits])) digits++;
    if (!loci_str_to_i64(loci_str_sub(text, 0, digits), &number)) return false;
    loci_str name = loci_str_trim(loci_str_sub(text, digits, text.len));
    for (size_t i = 0; i < count; i++)
        if (loci_str_eq_nocase(name, loci_str_from(units[i].name)))
            return !LOCI_MUL_OVERFLOWS(number, units[i].factor, ret);
    return false;
}

/* Digits with at most one point and 15 digits: both parts of the quotient are then exact, so the
 * result is the nearest double, whatever the locale is. */
static bool parse_float(loci_str text, double *ret)
{
    bool minus = text.len && text.ptr[0] == '-', point = false;
    loci_str rest = loci_str_sub(text, minus, text.len);
    double mantissa = 0, scale = 1;
    size_t digits = 0;

    for (size_t i = 0; i < rest.len; i++) {
        char c = rest.ptr[i];
        if (c == '.' && !point && digits > 0 && i + 1 < rest.len) {
            point = true;
            continue;
        }
        if (!is_digit(c) || ++digits > 15) return false;
        mantissa = mantissa * 10 + (double)(c - '0');
        if (point) scale *= 10;
    }
    if (digits == 0) return false;
    *ret = (minus ? -mantissa : mantissa) / scale;
    return true;
}

bool loci_config_value_bool(loci_str text, bool *ret_value)
{
    static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

    for (size_t i = 0; i < LOCI_COUNT(words); i++) {
        if (!loci_str_eq_nocase(text, loci_str_from(words[i]))) continue;
        *ret_value = i % 2 == 1;
        return true;
    }
    return false;
}

static bool parse_word(const char *words, loci_str text, int64_t *ret)
{
    loci_str rest = loci_str_from(words), word;

    for (int64_t i = 0; loci_str_cut(&rest, '|', &word); i++) {
        if (!loci_str_eq(word, text)) continue;
        *ret = i;
        return true;
    }
    return false;
}

static bool in_bounds(const loci_config_key *key, double number)
{
    return (key->least == 0 && key->most == 0) || (number >= key->least && number <= key->most);
}

static bool parse_integer(const loci_config_key *key, loci_str text, int64_t *ret)
{
    int64_t n = 0;
    bool ok;

    if (key->kind == LOCI_CONFIG_SIZE)
        ok = parse_with_unit(text, sizes, LOCI_COUNT(sizes), &n);
    else if (key->kind == LOCI_CONFIG_DURATION)
        ok = parse_with_unit(text, durations, LOCI_COUNT(durations), &n);
    else
        ok = loci_str_to_i64(text, &n);
    if (!ok || !in_bounds(key, (double)n)) return false;
    *ret = n;
    return true;
}

bool loci_config_value_parse(const loci_config_key *key, loci_str text,
                             loci_config_number *ret_number)
{
    loci_config_number number = { 0 };
    bool ok = true, flag = false;

    switch (key->kind) {
    case LOCI_CONFIG_STRING:
    case LOCI_CONFIG_PATH:
    case LOCI_CONFIG_LIST:
        break;
    case LOCI_CONFIG_INT:
    case LOCI_CONFIG_SIZE:
    case LOCI_CONFIG_DURATION:
        ok = parse_integer(key, text, &number.integer);
        break;
    case LOCI_CONFIG_BOOL:
        ok = loci_config_value_bool(text, &flag);
        number.integer = flag;
        break;
    case LOCI_CONFIG_ENUM:
        ok = parse_word(key->words, text, &number.integer);
        break;
    case LOCI_CONFIG_FLOAT:
        ok = parse_float(text, &number.real) && in_bounds(key, number.real);
        break;
    }
    if (ok) *ret_number = number;
    return ok;
}

/* A bound in the largest unit that holds it as a whole number. */
static void add_bound(const loci_config_key *key, double bound, loci_buf *out)
{
    const unit *units = key->kind == LOCI_CONFIG_SIZE ? sizes : durations;
    int64_t n = (int64_t)bound;

    if (key->kind == LOCI_CONFIG_FLOAT || key->kind == LOCI_CONFIG_INT || n == 0) {
        loci_buf_printf(out, "%.15g", bound);
        return;
    }
    while (units->name[0] && n % units->factor != 0) units++;
    loci_buf_printf(out, "%lld%s", (long long)(n / units->factor), units->name);
}

static void add_words(const char *words, loci_buf *out)
{
    loci_str rest = loci_str_from(words), word;
    const char *between = "one of ";

    while (loci_str_cut(&rest, '|', &word)) {
        loci_buf_printf(out, "%s%.*s", between, LOCI_ARG(word));
        between = ", ";
    }
}

void loci_config_value_allowed(const loci_config_key *key, loci_buf *out)
{
    static const char *const forms[] = {
        [LOCI_CONFIG_STRING] = "a text",
        [LOCI_CONFIG_PATH] = "a path",
        [LOCI_CONFIG_LIST] = "a list separated by commas",
        [LOCI_CONFIG_INT] = "a whole number",
        [LOCI_CONFIG_SIZE] = "a size such as 64KiB or 32MiB",
        [LOCI_CONFIG_DURATION] = "a duration such as 500ms, 30s, 5m or 1h",
        [LOCI_CONFIG_BOOL] = "true or false",
        [LOCI_CONFIG_FLOAT] = "a number such as 0.5",
    };

    if (key->kind == LOCI_CONFIG_ENUM) {
        add_words(key->words, out);
        return;
    }
    loci_buf_add_cstr(out, forms[key->kind]);
    if (key->least == 0 && key->most == 0) return;
    loci_buf_add_cstr(out, ", from ");
    add_bound(key, key->least, out);
    loci_buf_add_cstr(out, " to ");
    add_bound(key, key->most, out);
}
