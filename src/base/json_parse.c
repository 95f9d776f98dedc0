/* A strict JSON reader that needs no memory but one piece of the arena.
 *
 * A first quick scan outside strings counts values, names, depth and bytes of text, so that a
 * hostile text is refused before anything is built, and so that what a well-formed text needs is
 * known beforehand. Of a text that is not JSON the scan counts at least what its good front part
 * needs, and the reader stops where that ends.
 *
 * Items of an array must lie side by side, yet the values inside them come up in between. So the
 * room for values is used from both ends: values whose array or object is still open are stacked
 * at the low end, and when it closes they move to the high end as one block. Every value is in one
 * place or the other, so the two ends meet at the earliest when the last value is read. */
#include "base/json_inside.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>

/* What the scan found. */
typedef struct counts {
    size_t values;  /* the one at the top included */
    size_t names;   /* values that have a name */
    size_t indexed; /* names in objects that get an index */
    size_t chars;   /* of strings, with a NUL behind each */
} counts;

typedef struct parser {
    loci_arena *arena;
    const char *start, *at, *end; /* of the text; `at` is the next byte to read */
    char *low;                    /* behind the values that are stacked */
    char *high;                   /* before the blocks that are done */
    char *chars;                  /* where the next string goes */
    loci_err *err;
} parser;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The offset behind the string that opens at `start`, or the end when it never closes. */
static size_t skip_string(loci_str text, size_t start)
{
    for (size_t i = start + 1; i < text.len;) {
        const char *quote = memchr(text.ptr + i, '"', text.len - i);
        if (!quote) break;
        size_t at = (size_t)(quote - text.ptr), slashes = 0;
        while (text.ptr[at - 1 - slashes] == '\\') slashes++; /* the opening quote ends it */
        if (slashes % 2 == 0) return at + 1;
        i = at + 1;
    }
    return text.len;
}

static size_t skip_blanks(loci_str text, size_t i)
{
    while (i < text.len && is_blank(text.ptr[i])) i++;
    return i;
}

/* Every comma announces a value, and so does an opening bracket that is not closed at once. */
static loci_rc count(loci_str text, counts *ret, loci_err *err)
{
    size_t names[LOCI_JSON_DEPTH + 1] = { 0 }, depth = 0;
    counts n = { .values = 1 };

    for (size_t i = 0, next; i < text.len; i = next) {
        next = i + 1;
        switch (text.ptr[i]) {
        case '"':
            next = skip_string(text, i);
            n.chars += next - i - 1;
            break;
        case ':':
            n.names++;
            names[depth]++;
            break;
        case '[':
        case '{':
            if (depth == LOCI_JSON_DEPTH)
                return loci_fail(err, LOCI_ELIMIT, "JSON nested deeper than %d levels, at byte %zu",
                                 LOCI_JSON_DEPTH, i);
            depth++;
            next = skip_blanks(text, next);
            if (next < text.len && text.ptr[next] != ']' && text.ptr[next] != '}') n.values++;
            break;
        case ']':
        case '}':
            if (names[depth] > LOCI_JSON_FEW) n.indexed += names[depth];
            names[depth] = 0;
            if (depth > 0) depth--;
            break;
        case ',': n.values++; break;
        }
        if (n.values > LOCI_JSON_VALUES)
            return loci_fail(err, LOCI_ELIMIT, "JSON with more than %d values, at byte %zu",
                             LOCI_JSON_VALUES, i);
    }
    *ret = n;
    return LOCI_OK;
}

/* Colons without values are no JSON and get no room. One member more than was counted: room is
 * taken before it is seen that nothing follows, as in "[" or "{". */
static size_t size_of(const counts *n)
{
    size_t most = n->values - 1;
    size_t names = n->names < most ? n->names : most;
    size_t indexed = n->indexed < most ? n->indexed : most;

    return sizeof(loci_json_member) + n->values * sizeof(loci_json) +
           names * (sizeof(loci_json_member) - sizeof(loci_json)) +
           indexed * 2 * sizeof(loci_json_row);
}

/* The line and column of `at`, in characters, both from 1. */
static void locate(const parser *p, const char *at, size_t *ret_line, size_t *ret_column)
{
    loci_str rest = { p->start, (size_t)(at - p->start) }, in_line = { NULL, 0 };
    size_t line = 0;

    while (loci_str_cut(&rest, '\n', &in_line)) line++;
    *ret_line = line;
    *ret_column = loci_utf8_count(in_line) + 1;
}

LOCI_PRINTF(3, 4) static loci_rc refuse(const parser *p, const char *at, const char *fmt, ...)
{
    char what[128];
    size_t line, column;
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    locate(p, at, &line, &column);
    return loci_fail(p->err, LOCI_ESHAPE, "not JSON: %s at line %zu, column %zu", what, line,
                     column);
}

typedef struct described {
    char text[24];
} described;

/* What stands at p->at, for a message. */
static described describe(const parser *p)
{
    described d = { "the end of the text" };
    uint32_t code;

    if (p->at == p->end) return d;
    size_t len = loci_utf8_decode((loci_str){ p->at, (size_t)(p->end - p->at) }, &code);
    if (code == LOCI_UTF8_BAD)
        (void)snprintf(d.text, sizeof d.text, "byte 0x%02X", (unsigned char)*p->at);
    else if (code == 0)
        (void)snprintf(d.text, sizeof d.text, "a NUL byte");
    else if (code == 0xFEFF)
        (void)snprintf(d.text, sizeof d.text, "a byte order mark");
    else if (loci_utf8_visible(code))
        (void)snprintf(d.text, sizeof d.text, "'%.*s'", (int)len, p->at);
    else
        (void)snprintf(d.text, sizeof d.text, "U+%04X", (unsigned)code);
    return d;
}

static loci_rc expected(const parser *p, const char *what)
{
    return refuse(p, p->at, "expected %s, not %s", what, describe(p).text);
}

/* Skip blanks; false when nothing comes behind them. */
static bool find_next(parser *p)
{
    while (p->at < p->end && is_blank(*p->at)) p->at++;
    return p->at < p->end;
}

/* Skip blanks, then `c` if it stands there. */
static bool take(parser *p, char c)
{
    if (!find_next(p) || *p->at != c) return false;
    p->at++;
    return true;
}

static void *push(parser *p, size_t size)
{
    assert(size <= (size_t)(p->high - p->low)); /* the scan counted it */
    void *room = p->low;
    p->low += size;
    return room;
}

/* Move the first `size` bytes of what is stacked from `base` on to the high end; the rest goes. */
static void *finish(parser *p, char *base, size_t size)
{
    assert(size <= (size_t)(p->high - base));
    p->high -= size;
    p->low = base;
    return memmove(p->high, base, size);
}

/* Four hexadecimal digits, or -1. */
static int32_t hex4(const parser *p, const char *at)
{
    int32_t code = 0;

    if (p->end - at < 4) return -1;
    for (size_t i = 0; i < 4; i++) {
        char c = at[i], letter = (char)(c | 0x20);
        if (is_digit(c))
            code = code * 16 + (c - '0');
        else if (letter >= 'a' && letter <= 'f')
            code = code * 16 + (letter - 'a' + 10);
        else
            return -1;
    }
    return code;
}

/* The escape \uXXXX at p->at, with its second half where it is the first of a pair. */
static loci_rc read_code(parser *p, char **out)
{
    int32_t code = hex4(p, p->at + 2), second = -1;
    const char *pair = p->at + 6;

    if (code < 0) return refuse(p, p->at, "bad escape, \\u needs four hexadecimal digits");
    if (code >= 0xD800 && code <= 0xDBFF && p->end - pair >= 6 && pair[0] == '\\' && pair[1] == 'u')
        second = hex4(p, pair + 2);
    if (second >= 0xDC00 && second <= 0xDFFF) {
        code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
        pair += 6;
    }
    size_t len = loci_utf8_encode((uint32_t)code, *out);
    if (len == 0) return refuse(p, p->at, "lone surrogate");
    *out += len;
    p->at = pair;
    return LOCI_OK;
}

/* The escape at p->at becomes one character at *out, never longer than it was. */
static loci_rc read_escape(parser *p, char **out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = '\0';

    if (p->end - p->at > 1) c = p->at[1];
    if (c == 'u') return read_code(p, out);
    const char *found = c ? memchr(from, c, sizeof from - 1) : NULL;
    if (!found) {
        const char *slash = p->at++;
        return refuse(p, slash, "bad escape, a backslash before %s", describe(p).text);
    }
    *(*out)++ = to[found - from];
    p->at += 2;
    return LOCI_OK;
}

/* The string that opens at p->at. */
static loci_rc read_string(parser *p, loci_str *ret)
{
    const char *quote = p->at++;
    char *out = p->chars;

    for (;;) {
        loci_str run = { p->at, (size_t)(p->end - p->at) };
        run.len = loci_json_plain_run(run);
        size_t good = loci_utf8_check(run);
        if (good < run.len)
            return refuse(p, p->at + good, "byte 0x%02X, which is not UTF-8, in a string",
                          (unsigned char)p->at[good]);
        memcpy(out, run.ptr, run.len);
        out += run.len;
        p->at += run.len;
        if (p->at == p->end) return refuse(p, quote, "unfinished string");
        if (*p->at == '"') break;
        if (*p->at != '\\')
            return refuse(p, p->at, "control character in a string, %s", describe(p).text);
        loci_rc rc = read_escape(p, &out);
        if (rc) return rc;
    }
    p->at++;
    *ret = (loci_str){ p->chars, (size_t)(out - p->chars) };
    *out++ = '\0';
    p->chars = out;
    return LOCI_OK;
}

static loci_rc out_of_range(const parser *p, loci_str number)
{
    enum { SHOWN = 40 };
    size_t line, column;

    locate(p, p->at, &line, &column);
    return loci_fail(p->err, LOCI_ESHAPE, "number out of range, %.*s%s, at line %zu, column %zu",
                     LOCI_ARG(loci_str_sub(number, 0, SHOWN)), number.len > SHOWN ? "..." : "",
                     line, column);
}

static loci_rc read_number(parser *p, loci_json *ret)
{
    loci_str rest = { p->at, (size_t)(p->end - p->at) };
    size_t len = 0;

    switch (loci_json_read_number(p->arena, rest, ret, &len)) {
    case LOCI_JSON_NUMBER_OK: p->at += len; return LOCI_OK;
    case LOCI_JSON_NUMBER_DIGIT: p->at += len; return expected(p, "a digit");
    case LOCI_JSON_NUMBER_ZERO: return refuse(p, p->at, "number with a zero in front");
    case LOCI_JSON_NUMBER_RANGE: return out_of_range(p, loci_str_sub(rest, 0, len));
    case LOCI_JSON_NUMBER_ARENA: return loci_arena_fail(p->arena, p->err);
    case LOCI_JSON_NUMBER_NOMEM: break;
    }
    return loci_fail(p->err, LOCI_ENOMEM, "out of memory");
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* true, false, null, or something that no value starts with. */
static loci_rc read_word(parser *p, loci_json *ret)
{
    enum { LONGEST = 24 };
    loci_str word = { p->at, 0 };

    while (word.len < LONGEST && p->at + word.len < p->end && is_letter(p->at[word.len]))
        word.len++;
    if (loci_str_eq(word, LOCI_STR("true")))
        *ret = (loci_json){ .type = LOCI_JSON_BOOL, .boolean = true };
    else if (loci_str_eq(word, LOCI_STR("false")))
        *ret = (loci_json){ .type = LOCI_JSON_BOOL, .boolean = false };
    else if (loci_str_eq(word, LOCI_STR("null")))
        *ret = (loci_json){ .type = LOCI_JSON_NULL };
    else if (word.len > 0)
        return refuse(p, p->at, "unknown word '%.*s'", LOCI_ARG(word));
    else
        return expected(p, "a value");
    p->at += word.len;
    return LOCI_OK;
}

static loci_rc read_value(parser *p, loci_json *ret);

static loci_rc read_array(parser *p, loci_json *ret)
{
    char *base = p->low;
    size_t n = 0;

    p->at++;
    if (!take(p, ']')) {
        do {
            loci_rc rc = read_value(p, push(p, sizeof(loci_json)));
            if (rc) return rc;
            n++;
        } while (take(p, ','));
        if (!take(p, ']')) return expected(p, "',' or ']'");
    }
    *ret = (loci_json){ .type = LOCI_JSON_ARRAY };
    ret->array.count = n;
    ret->array.items = finish(p, base, n * sizeof(loci_json));
    return LOCI_OK;
}

static loci_rc read_member(parser *p, bool first)
{
    loci_json_member *m = push(p, sizeof *m);

    if (!find_next(p) || *p->at != '"') return expected(p, first ? "a name or '}'" : "a name");
    loci_rc rc = read_string(p, &m->name);
    if (rc) return rc;
    if (!take(p, ':')) return expected(p, "':'");
    return read_value(p, &m->value);
}

static loci_rc read_object(parser *p, loci_json *ret)
{
    char *base = p->low;
    size_t n = 0;

    p->at++;
    if (!take(p, '}')) {
        do {
            loci_rc rc = read_member(p, n == 0);
            if (rc) return rc;
            n++;
        } while (take(p, ','));
        if (!take(p, '}')) return expected(p, "',' or '}'");
    }
    bool indexed = n > LOCI_JSON_FEW;
    loci_json_member *members = (loci_json_member *)(void *)base;
    assert(!indexed || 2 * n * sizeof(loci_json_row) <= (size_t)(p->high - p->low));
    n = indexed ? loci_json_settle_many(members, n) : loci_json_settle_few(members, n);

    *ret = (loci_json){ .type = LOCI_JSON_OBJECT, .indexed = indexed };
    ret->object.count = n;
    ret->object.members =
        finish(p, base, n * (sizeof *members + (indexed ? sizeof(loci_json_row) : 0)));
    return LOCI_OK;
}

/* Recurses as deep as the text, which the scan has bounded. */
static loci_rc read_value(parser *p, loci_json *ret)
{
    if (!find_next(p)) return expected(p, "a value");
    switch (*p->at) {
    case '"': *ret = (loci_json){ .type = LOCI_JSON_STRING }; return read_string(p, &ret->string);
    case '{': return read_object(p, ret);
    case '[': return read_array(p, ret);
    case '-': return read_number(p, ret);
    default: return is_digit(*p->at) ? read_number(p, ret) : read_word(p, ret);
    }
}

loci_rc loci_json_parse(loci_arena *arena, loci_str text, const loci_json **ret_value,
                        loci_err *err)
{
    counts n;

    if (text.len > LOCI_JSON_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "JSON longer than %d bytes", LOCI_JSON_BYTES);
    loci_rc rc = count(text, &n, err);
    if (rc) return rc;

    size_t size = size_of(&n);
    char *room = loci_arena_alloc(arena, size + n.chars);
    if (!room) return loci_arena_fail(arena, err);

    const char *start = text.len ? text.ptr : "";
    parser p = { arena, start, start, start + text.len, room, room + size, room + size, err };
    loci_json *root = push(&p, sizeof *root);
    rc = read_value(&p, root);
    if (rc) return rc;
    if (find_next(&p)) return refuse(&p, p.at, "trailing text, %s", describe(&p).text);
    *ret_value = root;
    return LOCI_OK;
}
