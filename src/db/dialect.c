#include "db/dialect.h"

typedef struct word {
    const char *name;
    const char *by_engine[2]; /* LOCI_SQLITE, LOCI_POSTGRES */
} word;

static const word words[] = {
    /* clang-format off */
    { "int",    { "INTEGER",               "BIGINT" } },
    { "text",   { "TEXT",                  "TEXT COLLATE \"C\"" } },
    { "blob",   { "BLOB",                  "BYTEA" } },
    { "never",  { "9223372036854775807",   "9223372036854775807" } },
    { "strict", { "STRICT",                "" } },
    { "narrow", { "STRICT, WITHOUT ROWID", "" } },
    /* clang-format on */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The length of the quoted piece at the front of `s`, both quotes included; doubled quotes inside
 * come out as two pieces, which is the same. 0 when it never ends. */
static size_t quoted_len(loci_str s)
{
    for (size_t i = 1; i < s.len; i++)
        if (s.ptr[i] == s.ptr[0]) return i + 1;
    return 0;
}

static void add_parameter(loci_engine engine, loci_str digits, loci_buf *out)
{
    loci_buf_add_char(out, engine == LOCI_POSTGRES ? '$' : '?');
    loci_buf_add(out, digits);
}

/* The inside of {in ?3}: the list is parameter 3. */
static bool add_list(loci_engine engine, loci_str inside, loci_buf *out)
{
    if (!loci_str_starts(inside, LOCI_STR("in ?")) || inside.len < 5) return false;
    loci_str digits = loci_str_sub(inside, 4, inside.len);
    for (size_t i = 0; i < digits.len; i++)
        if (!is_digit(digits.ptr[i])) return false;
    loci_buf_add_cstr(out, engine == LOCI_POSTGRES ? "= ANY(" : "IN (SELECT value FROM json_each(");
    add_parameter(engine, digits, out);
    loci_buf_add_cstr(out, engine == LOCI_POSTGRES ? ")" : "))");
    return true;
}

static bool add_word(loci_engine engine, loci_str inside, loci_buf *out)
{
    for (size_t i = 0; i < LOCI_COUNT(words); i++) {
        if (!loci_str_eq(inside, loci_str_from(words[i].name))) continue;
        loci_buf_add_cstr(out, words[i].by_engine[engine]);
        return true;
    }
    return add_list(engine, inside, out);
}

loci_rc loci_dialect_translate(loci_engine engine, loci_str text, loci_buf *out, loci_err *err)
{
    size_t i = 0;

    while (i < text.len) {
        loci_str rest = loci_str_sub(text, i, text.len);
        char c = rest.ptr[0];
        size_t used = 1;
        if (c == '\'' || c == '"') {
            used = quoted_len(rest);
            if (!used) return loci_fail(err, LOCI_EINVAL, "SQL: open quote at offset %zu", i);
            loci_buf_add(out, loci_str_sub(rest, 0, used));
        } else if (c == '?' && rest.len > 1 && is_digit(rest.ptr[1])) {
            while (used < rest.len && is_digit(rest.ptr[used])) used++;
            add_parameter(engine, loci_str_sub(rest, 1, used - 1), out);
        } else if (c == '{') {
            size_t end = loci_str_find(rest, LOCI_STR("}"));
            if (end == rest.len || !add_word(engine, loci_str_sub(rest, 1, end - 1), out))
                return loci_fail(err, LOCI_EINVAL, "SQL: unknown word in braces at offset %zu", i);
            used = end + 1;
        } else {
            loci_buf_add_char(out, c);
        }
        i += used;
    }
    return loci_buf_check(out, err);
}

/* Offset of the first ';' outside quotes, or the end. */
static size_t statement_end(loci_str s)
{
    size_t i = 0;

    while (i < s.len && s.ptr[i] != ';') {
        bool quote = s.ptr[i] == '\'' || s.ptr[i] == '"';
        size_t quoted = quote ? quoted_len(loci_str_sub(s, i, s.len)) : 0;
        i += quoted ? quoted : 1;
    }
    return i;
}

bool loci_dialect_cut(loci_str *rest, loci_str *ret_statement)
{
    while (rest->len) {
        size_t end = statement_end(*rest);
        loci_str statement = loci_str_trim(loci_str_sub(*rest, 0, end));
        *rest = loci_str_sub(*rest, end + 1, rest->len);
        if (statement.len == 0) continue;
        *ret_statement = statement;
        return true;
    }
    return false;
}

void loci_dialect_i64s(loci_engine engine, const int64_t *values, size_t count, loci_buf *out)
{
    loci_buf_add_char(out, engine == LOCI_POSTGRES ? '{' : '[');
    for (size_t i = 0; i < count; i++)
        loci_buf_printf(out, "%s%lld", i ? "," : "", (long long)values[i]);
    loci_buf_add_char(out, engine == LOCI_POSTGRES ? '}' : ']');
}

/* Both notations quote with "..." and escape '"' and '\' by a backslash. JSON also wants control
 * characters escaped; PostgreSQL takes them as they are. */
static void add_quoted(loci_engine engine, loci_str s, loci_buf *out)
{
    loci_buf_add_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (engine == LOCI_SQLITE && (unsigned char)c < 0x20) {
            loci_buf_printf(out, "\\u%04x", (unsigned)c);
            continue;
        }
        if (c == '"' || c == '\\') loci_buf_add_char(out, '\\');
        loci_buf_add_char(out, c);
    }
    loci_buf_add_char(out, '"');
}

void loci_dialect_texts(loci_engine engine, const loci_str *values, size_t count, loci_buf *out)
{
    loci_buf_add_char(out, engine == LOCI_POSTGRES ? '{' : '[');
    for (size_t i = 0; i < count; i++) {
        if (i) loci_buf_add_char(out, ',');
        add_quoted(engine, values[i], out);
    }
    loci_buf_add_char(out, engine == LOCI_POSTGRES ? '}' : ']');
}
