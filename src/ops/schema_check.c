/* Checking a value. Problems are gathered into one message; the walk stops when it is full. */
#include "base/suggest.h"
#include "base/utf8.h"
#include "ops/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SHOWN_BYTES = 40, /* of a value or a name in a message */
    PATH_BYTES = 120,
    CHOICES_SHOWN = 12,
    PHRASE_BYTES = 160,
};

typedef struct checker {
    char path[PATH_BYTES]; /* "decisions[2].tags"; empty at the top */
    size_t path_len;
    size_t problems;
    loci_err all;
} checker;

/* A slice of someone else's text that is fit for a message. */
typedef struct shown {
    char text[SHOWN_BYTES + 16];
} shown;

static void check(checker *c, const loci_schema *schema, const loci_json *value);

static bool is_full(const checker *c)
{
    return c->problems > LOCI_SCHEMA_ERRORS;
}

/* Add one problem at the current path. */
LOCI_PRINTF(2, 3) static void report(checker *c, const char *fmt, ...)
{
    loci_err one = { 0 }, before = c->all;
    va_list args;

    if (is_full(c)) return;
    va_start(args, fmt);
    loci_err_setv(&one, LOCI_ESHAPE, fmt, args);
    va_end(args);
    if (c->path_len) loci_err_prefix(&one, "%s", c->path);
    if (c->problems == LOCI_SCHEMA_ERRORS) (void)snprintf(one.msg, sizeof one.msg, "and more");
    if (c->problems++)
        loci_err_set(&c->all, LOCI_ESHAPE, "%s; %s", before.msg, one.msg);
    else
        c->all = one;
}

/* Cut at a character; control characters would garble a terminal or a log. */
static shown show_text(loci_str text, const char *quote)
{
    shown s;
    loci_str part = loci_utf8_cut(text, SHOWN_BYTES);
    int n = snprintf(s.text, sizeof s.text, "%s%.*s%s%s", quote, LOCI_ARG(part),
                     part.len < text.len ? "..." : "", quote);

    for (int i = 0; i < n && i < (int)sizeof s.text - 1; i++)
        if ((unsigned char)s.text[i] < ' ' || s.text[i] == 127) s.text[i] = '?';
    return s;
}

static shown show_number(const loci_json *value)
{
    LOCI_AUTO(loci_buf_done) loci_buf text;
    loci_json_writer w;

    loci_buf_init(&text, SHOWN_BYTES);
    loci_json_begin(&w, &text);
    loci_json_value(&w, value);
    if (loci_json_check(&w, NULL)) return show_text(LOCI_STR("that number"), "");
    return show_text(loci_buf_str(&text), "");
}

static shown show(const loci_json *value)
{
    switch (value->type) {
    case LOCI_JSON_STRING: return show_text(value->string, "'");
    case LOCI_JSON_BOOL: return show_text(loci_str_from(value->boolean ? "true" : "false"), "");
    case LOCI_JSON_INT:
    case LOCI_JSON_REAL: return show_number(value);
    default: return show_text(loci_str_from(loci_json_type_name(value->type)), "");
    }
}

/* Go down one name or index; the result goes back to climb(). */
static size_t descend(checker *c, const char *separator, const char *step, const char *end)
{
    size_t mark = c->path_len;
    int n =
        snprintf(c->path + mark, sizeof c->path - mark, "%s%s%s", mark ? separator : "", step, end);

    if (n < 0 || (size_t)n >= sizeof c->path - mark)
        c->path[mark] = '\0'; /* stays one too short */
    else
        c->path_len += (size_t)n;
    return mark;
}

static void climb(checker *c, size_t mark)
{
    c->path_len = mark;
    c->path[mark] = '\0';
}

static void check_below_name(checker *c, loci_str name, const loci_schema *s, const loci_json *v)
{
    size_t mark = descend(c, ".", show_text(name, "").text, "");
    check(c, s, v);
    climb(c, mark);
}

static void check_below_index(checker *c, size_t index, const loci_schema *s, const loci_json *v)
{
    char step[32];
    size_t mark;

    (void)snprintf(step, sizeof step, "[%zu]", index);
    mark = descend(c, "", step, "");
    check(c, s, v);
    climb(c, mark);
}

static void report_type(checker *c, const loci_schema *schema, const loci_json *value)
{
    LOCI_AUTO(loci_buf_done) loci_buf want;
    const char *subject = c->path_len ? "" : "the input ";

    loci_buf_init(&want, PHRASE_BYTES);
    loci_schema_describe(schema, &want);
    if (loci_buf_check(&want, NULL))
        report(c, "%shas the wrong type", subject);
    else
        report(c, "%smust be %s, not %s", subject, want.ptr, show(value).text);
}

static bool has_type(const loci_schema *schema, const loci_json *value)
{
    if (schema->types & 1U << value->type) return true;
    return value->type == LOCI_JSON_REAL && (schema->types & 1U << LOCI_JSON_INT) &&
           loci_schema_whole(value->real);
}

bool loci_schema_whole(double real)
{
    return real >= -9223372036854775808.0 && real < 9223372036854775808.0 &&
           floor(real) == real; /* false for NaN */
}

/* -1, 0, 1. A long double holds every int64 and every double on the machines that we build for,
 * or the comparison is as exact as a double's. */
static int compare_numbers(const loci_json *a, const loci_json *b)
{
    if (a->type == LOCI_JSON_INT && b->type == LOCI_JSON_INT)
        return (a->integer > b->integer) - (a->integer < b->integer);
    long double x = a->type == LOCI_JSON_INT ? (long double)a->integer : (long double)a->real;
    long double y = b->type == LOCI_JSON_INT ? (long double)b->integer : (long double)b->real;
    return (x > y) - (x < y);
}

static bool is_number(const loci_json *value)
{
    return value->type == LOCI_JSON_INT || value->type == LOCI_JSON_REAL;
}

bool loci_schema_same(const loci_json *a, const loci_json *b)
{
    if (is_number(a) && is_number(b)) return compare_numbers(a, b) == 0;
    if (a->type != b->type) return false;
    switch (a->type) {
    case LOCI_JSON_NULL: return true;
    case LOCI_JSON_BOOL: return a->boolean == b->boolean;
    case LOCI_JSON_STRING: return loci_str_eq(a->string, b->string);
    default: return false;
    }
}

static void list_choices(const loci_json *choices, char text[PHRASE_BYTES])
{
    size_t count = choices->array.count, at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && i < CHOICES_SHOWN && at < PHRASE_BYTES; i++) {
        const char *between = i == 0 ? "" : i + 1 == count ? " or " : ", ";
        int n = snprintf(text + at, PHRASE_BYTES - at, "%s%s", between,
                         show(&choices->array.items[i]).text);
        if (n > 0) at += (size_t)n;
    }
    if (count > CHOICES_SHOWN && at < PHRASE_BYTES)
        (void)snprintf(text + at, PHRASE_BYTES - at, ", ...");
}

static void check_choices(checker *c, const loci_json *choices, const loci_json *value)
{
    loci_suggest near = { .wanted =
                              value->type == LOCI_JSON_STRING ? value->string : LOCI_STR("") };
    char list[PHRASE_BYTES];

    for (size_t i = 0; i < choices->array.count; i++) {
        const loci_json *choice = &choices->array.items[i];
        if (loci_schema_same(choice, value)) return;
        if (choice->type == LOCI_JSON_STRING) loci_suggest_try(&near, choice->string);
    }
    list_choices(choices, list);
    report(c, "must be %s%s, not %s%s", choices->array.count > 1 ? "one of " : "", list,
           show(value).text, loci_suggest_text(&near).text);
}

static void check_number(checker *c, const loci_schema *s, const loci_json *value)
{
    if (s->minimum && compare_numbers(value, s->minimum) < 0)
        report(c, "must be at least %s, not %s", show(s->minimum).text, show(value).text);
    else if (s->maximum && compare_numbers(value, s->maximum) > 0)
        report(c, "must be at most %s, not %s", show(s->maximum).text, show(value).text);
}

static void check_string(checker *c, const loci_schema *s, const loci_json *value)
{
    /* Characters are counted only when the bytes leave a doubt: four bytes are one at least. */
    size_t n = value->string.len;
    if (n > s->max_length || n / 4 < s->min_length) n = loci_utf8_count(value->string);

    if (n < s->min_length && n == 0)
        report(c, "must not be empty");
    else if (n < s->min_length)
        report(c, "must have at least %zu characters, not %zu: %s", s->min_length, n,
               show(value).text);
    else if (n > s->max_length)
        report(c, "must have at most %zu characters, not %zu", s->max_length, n);
    else if (s->format && !s->format->check(s->format_name, value->string))
        report(c, "must be %s, not %s", s->format->what, show(value).text);
}

/* maxItems bounds the square: see LOCI_SCHEMA_UNIQUE. */
static void check_unique(checker *c, const loci_json *value)
{
    for (size_t i = 1; i < value->array.count; i++)
        for (size_t j = 0; j < i; j++)
            if (loci_schema_same(&value->array.items[i], &value->array.items[j])) {
                report(c, "has %s twice", show(&value->array.items[i]).text);
                return;
            }
}

static void check_array(checker *c, const loci_schema *s, const loci_json *value)
{
    size_t count = value->array.count;

    if (count < s->min_items) {
        report(c, "must have at least %zu items, not %zu", s->min_items, count);
        return;
    }
    if (count > s->max_items) {
        report(c, "must have at most %zu items, not %zu", s->max_items, count);
        return;
    }
    for (size_t i = 0; s->items && i < count && !is_full(c); i++)
        check_below_index(c, i, s->items, &value->array.items[i]);
    if (s->unique) check_unique(c, value);
}

static void check_required(checker *c, const loci_schema *s, const loci_json *value)
{
    for (size_t i = 0; i < s->property_count && !is_full(c); i++) {
        const loci_schema_property *property = &s->properties[i];
        if (!property->required || loci_json_find(value, property->name)) continue;
        size_t mark = descend(c, ".", show_text(property->name, "").text, "");
        report(c, "is required");
        climb(c, mark);
    }
}

static void report_unknown(checker *c, const loci_schema *s, loci_str name)
{
    loci_suggest near = { .wanted = name };

    for (size_t i = 0; i < s->property_count; i++) loci_suggest_try(&near, s->properties[i].name);
    report(c, "unknown field %s%s", show_text(name, "'").text, loci_suggest_text(&near).text);
}

static void check_object(checker *c, const loci_schema *s, const loci_json *value)
{
    for (size_t i = 0; i < value->object.count && !is_full(c); i++) {
        const loci_json_member *member = &value->object.members[i];
        const loci_schema *below = loci_schema_find(s, member->name);
        if (!below) below = s->extra;
        if (below)
            check_below_name(c, member->name, below, &member->value);
        else if (s->closed)
            report_unknown(c, s, member->name);
    }
    check_required(c, s, value);
}

/* Recursion follows the schema, whose depth was bounded when it was read. */
static void check(checker *c, const loci_schema *schema, const loci_json *value)
{
    const loci_schema *s = loci_schema_pick(schema, value->type);

    if (!s || !has_type(s, value)) {
        report_type(c, schema, value);
        return;
    }
    if (s->choices) check_choices(c, s->choices, value);
    switch (value->type) {
    case LOCI_JSON_INT:
    case LOCI_JSON_REAL: check_number(c, s, value); break;
    case LOCI_JSON_STRING: check_string(c, s, value); break;
    case LOCI_JSON_ARRAY: check_array(c, s, value); break;
    case LOCI_JSON_OBJECT: check_object(c, s, value); break;
    default: break;
    }
}

loci_rc loci_schema_check(const loci_schema *schema, const loci_json *value, loci_err *err)
{
    checker c = { 0 };

    check(&c, schema, value);
    if (c.problems == 0) return LOCI_OK;
    return loci_fail(err, LOCI_ESHAPE, "%s", c.all.msg);
}
