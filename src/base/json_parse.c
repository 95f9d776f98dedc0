/* The parser is jansson; this file bounds what it may be asked to do, and moves its result into
 * the arena.
 *
 * First one quick scan outside strings counts values, members and depth, so that a hostile text is
 * refused before jansson recurses or fills the heap. The counts of a well-formed text are exact:
 * one allocation in the arena then holds all values, and it too is made before jansson runs, so
 * that the arena's ceiling bounds the heap that jansson may use, within a factor.
 *
 * Jansson 2.14 does not look whether its token buffer could grow. Short of memory at that point it
 * drops bytes, stops at an assertion or reads past the buffer, instead of failing. We may not
 * replace its allocator, for the process is not ours; so what it could need is asked for and given
 * back beforehand (see probe), and only a process that runs dry in between is in danger. */
#include "base/json.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <assert.h>
#include <jansson.h>
#include <string.h>

/* What the scan found. */
typedef struct counts {
    size_t values;  /* the one at the top included */
    size_t members; /* values that have a name */
} counts;

/* What is left of the block that holds all values. */
typedef struct slab {
    loci_arena *arena;
    char *next;
    size_t left;
} slab;

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

static bool is_open(char c)
{
    return c == '[' || c == '{';
}

static bool is_close(char c)
{
    return c == ']' || c == '}';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Every comma announces a value, and so does an opening bracket that is not closed at once. The
 * text need not be JSON: a part of it that is, is counted right. */
static loci_rc count(loci_str text, counts *ret, loci_err *err)
{
    counts n = { .values = 1 };
    size_t depth = 0;
    bool opened = false;

    for (size_t i = 0; i < text.len;) {
        char c = text.ptr[i];
        if (is_blank(c)) {
            i++;
            continue;
        }
        if (c == ',' || (opened && !is_close(c))) n.values++;
        if (c == ':') n.members++;
        opened = is_open(c);
        depth += opened;
        if (is_close(c) && depth > 0) depth--;
        if (depth > LOCI_JSON_DEPTH)
            return loci_fail(err, LOCI_ELIMIT, "JSON nested deeper than %d levels, at byte %zu",
                             LOCI_JSON_DEPTH, i);
        if (n.values > LOCI_JSON_VALUES)
            return loci_fail(err, LOCI_ELIMIT, "JSON with more than %d values, at byte %zu",
                             LOCI_JSON_VALUES, i);
        i = c == '"' ? skip_string(text, i) : i + 1;
    }
    if (n.members > n.values - 1) n.members = n.values - 1; /* not JSON, and jansson will say so */
    *ret = n;
    return LOCI_OK;
}

/* Is there memory for a token of the whole text, doubled as it grew, and its copy? */
static loci_rc probe(loci_str text, loci_err *err)
{
    void *room = loci_realloc(NULL, 4 * text.len + 1024);

    if (!room) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_free(room);
    return LOCI_OK;
}

/* Jansson reports a string that it had no memory for as a token of the wrong kind. Every other
 * trouble with a string has its own message, so one that was read to its closing quote and is yet
 * "invalid", or no name, tells of this. */
static bool is_lost_string(loci_str text, const json_error_t *e)
{
    size_t end = (size_t)e->position;

    if (strncmp(e->text, "invalid token", 13) != 0 && strncmp(e->text, "string or", 9) != 0)
        return false;
    return end > 0 && end <= text.len && text.ptr[end - 1] == '"';
}

/* The message ends in an excerpt of the input: leave that off when it is not fit to be shown. */
static loci_str presentable(const char *message)
{
    loci_str s = loci_str_from(message);
    bool fit = loci_utf8_valid(s);

    for (size_t i = 0; i < s.len; i++)
        fit = fit && (unsigned char)s.ptr[i] >= ' ' && s.ptr[i] != 127;
    return fit ? s : loci_str_sub(s, 0, loci_str_find(s, LOCI_STR(" near ")));
}

static loci_rc refuse(loci_str text, const json_error_t *e, loci_err *err)
{
    loci_str what = presentable(e->text);
    loci_str near = loci_str_sub(what, loci_str_find(what, LOCI_STR(" near ")), what.len);

    if (what.len == 0 || is_lost_string(text, e))
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (json_error_code(e) == json_error_numeric_overflow)
        return loci_fail(err, LOCI_ESHAPE, "number out of range%.*s at line %d, column %d",
                         LOCI_ARG(near), e->line, e->column);
    if (json_error_code(e) == json_error_null_byte_in_key)
        return loci_fail(err, LOCI_ESHAPE, "name with U+0000 in it at line %d, column %d", e->line,
                         e->column);
    return loci_fail(err, LOCI_ESHAPE, "not JSON: %.*s at line %d, column %d", LOCI_ARG(what),
                     e->line, e->column);
}

static void *carve(slab *s, size_t size)
{
    assert(size <= s->left); /* the scan counted what jansson accepted */
    void *p = s->next;
    s->next += size;
    s->left -= size;
    return p;
}

static bool convert(slab *s, json_t *from, loci_json *to);

static bool convert_string(slab *s, json_t *from, loci_json *to)
{
    loci_str borrowed = { json_string_value(from), json_string_length(from) };

    to->type = LOCI_JSON_STRING;
    to->string = loci_arena_str(s->arena, borrowed);
    return to->string.ptr;
}

static bool convert_array(slab *s, json_t *from, loci_json *to)
{
    to->type = LOCI_JSON_ARRAY;
    to->array.count = json_array_size(from);
    to->array.items = carve(s, to->array.count * sizeof(loci_json));
    for (size_t i = 0; i < to->array.count; i++)
        if (!convert(s, json_array_get(from, i), &to->array.items[i])) return false;
    return true;
}

static bool convert_object(slab *s, json_t *from, loci_json *to)
{
    to->type = LOCI_JSON_OBJECT;
    to->object.count = json_object_size(from);
    to->object.members = carve(s, to->object.count * sizeof(loci_json_member));

    loci_json_member *m = to->object.members;
    for (void *it = json_object_iter(from); it; it = json_object_iter_next(from, it), m++) {
        loci_str borrowed = { json_object_iter_key(it), json_object_iter_key_len(it) };
        m->name = loci_arena_str(s->arena, borrowed);
        if (!m->name.ptr || !convert(s, json_object_iter_value(it), &m->value)) return false;
    }
    return true;
}

/* Recurses as deep as the text, which the scan has bounded. False: the arena gave nothing. */
static bool convert(slab *s, json_t *from, loci_json *to)
{
    switch (json_typeof(from)) {
    case JSON_NULL:
        to->type = LOCI_JSON_NULL;
        return true;
    case JSON_TRUE:
    case JSON_FALSE:
        to->type = LOCI_JSON_BOOL;
        to->boolean = json_is_true(from);
        return true;
    case JSON_INTEGER:
        to->type = LOCI_JSON_INT;
        to->integer = json_integer_value(from);
        return true;
    case JSON_REAL:
        to->type = LOCI_JSON_REAL;
        to->real = json_real_value(from);
        return true;
    case JSON_STRING:
        return convert_string(s, from, to);
    case JSON_ARRAY:
        return convert_array(s, from, to);
    case JSON_OBJECT:
        return convert_object(s, from, to);
    }
    return false;
}

/* A NUL byte is nowhere allowed, yet jansson overlooks one that follows a number or a word. */
static loci_rc refuse_nul(loci_str text, loci_err *err)
{
    const char *nul = text.len ? memchr(text.ptr, '\0', text.len) : NULL;
    loci_str before = { text.ptr, nul ? (size_t)(nul - text.ptr) : 0 }, in_line = before;
    size_t line = 0;

    if (!nul) return LOCI_OK;
    for (loci_str rest = before; loci_str_cut(&rest, '\n', &in_line);) line++;
    return loci_fail(err, LOCI_ESHAPE, "not JSON: NUL byte at line %zu, column %zu", line,
                     loci_utf8_count(in_line) + 1);
}

static loci_rc make_slab(loci_arena *arena, const counts *n, slab *ret, loci_err *err)
{
    size_t size =
        n->values * sizeof(loci_json) + n->members * (sizeof(loci_json_member) - sizeof(loci_json));
    char *block = loci_arena_alloc(arena, size);

    if (!block) return loci_arena_fail(arena, err);
    *ret = (slab){ arena, block, size };
    return LOCI_OK;
}

loci_rc loci_json_parse(loci_arena *arena, loci_str text, const loci_json **ret_value,
                        loci_err *err)
{
    counts n;
    slab s;
    json_error_t e;

    if (text.len > LOCI_JSON_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "JSON longer than %d bytes", LOCI_JSON_BYTES);
    loci_rc rc = refuse_nul(text, err);
    if (!rc) rc = count(text, &n, err);
    if (!rc) rc = make_slab(arena, &n, &s, err);
    if (!rc) rc = probe(text, err);
    if (rc) return rc;

    LOCI_AUTO(json_decrefp)
    json_t *root =
        json_loadb(text.len ? text.ptr : "", text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    if (!root) return refuse(text, &e, err);

    loci_json *value = carve(&s, sizeof *value);
    if (!convert(&s, root, value)) return loci_arena_fail(arena, err);
    *ret_value = value;
    return LOCI_OK;
}

const loci_json *loci_json_find(const loci_json *object, loci_str name)
{
    if (!object || object->type != LOCI_JSON_OBJECT) return NULL;
    for (size_t i = 0; i < object->object.count; i++)
        if (loci_str_eq(object->object.members[i].name, name))
            return &object->object.members[i].value;
    return NULL;
}

const char *loci_json_type_name(loci_json_type type)
{
    static const char *const names[] = {
        [LOCI_JSON_NULL] = "null",        [LOCI_JSON_BOOL] = "a boolean",
        [LOCI_JSON_INT] = "an integer",   [LOCI_JSON_REAL] = "a number",
        [LOCI_JSON_STRING] = "a string",  [LOCI_JSON_ARRAY] = "an array",
        [LOCI_JSON_OBJECT] = "an object",
    };

    return (size_t)type < LOCI_COUNT(names) ? names[type] : "nothing";
}
