#include "base/alloc.h"
#include "ops/schema.h"
#include "test.h"

#include <string.h>

enum { CEILING = 1 << 20 };

static const char *const everything =
    "{\"type\":\"object\",\"properties\":{"
    "\"text\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":10},"
    "\"code\":{\"type\":\"string\",\"minLength\":3},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,\"default\":10},"
    "\"weight\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1.5},"
    "\"deep\":{\"type\":\"boolean\",\"default\":false},"
    "\"mode\":{\"enum\":[\"hybrid\",\"vector\",\"text\",\"words\"]},"
    "\"level\":{\"enum\":[1,2,null]},"
    "\"yes\":{\"const\":true},"
    "\"maybe\":{\"type\":[\"string\",\"null\"]},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":4,"
    "\"uniqueItems\":true},"
    "\"two\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":2},"
    "\"archive\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":"
    "{\"type\":\"string\",\"minLength\":1}}]},"
    "\"carry\":{\"anyOf\":[{\"const\":true},{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]},"
    "\"when\":{\"type\":\"string\",\"format\":\"moment\"},"
    "\"day\":{\"type\":\"string\",\"format\":\"date\"},"
    "\"instant\":{\"type\":\"string\",\"format\":\"date-time\"},"
    "\"id\":{\"type\":\"string\",\"format\":\"passage-id\"},"
    "\"file\":{\"type\":\"string\",\"format\":\"host-path\"},"
    "\"metadata\":{\"type\":\"object\"},"
    "\"counts\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}},"
    "\"any\":{},"
    "\"steps\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"action\":{\"type\":\"string\"},\"owner\":{\"type\":\"string\"}},"
    "\"required\":[\"action\"]}}"
    "}}";

static loci_schema *parse(loci_arena *arena, const char *text)
{
    loci_schema *schema = NULL;
    loci_err err = { 0 };

    assert_ok(loci_schema_parse(arena, loci_str_from(text), &schema, &err), err);
    return schema;
}

static const loci_json *json(loci_arena *arena, const char *text)
{
    const loci_json *value = NULL;
    loci_err err = { 0 };

    assert_ok(loci_json_parse(arena, loci_str_from(text), &value, &err), err);
    return value;
}

static void accepts(void **state)
{
    static const char *const inputs[] = {
        "{}",
        "{\"text\":\"a\"}",
        "{\"text\":\"äöüäöüäöü€\"}", /* ten characters, more bytes */
        "{\"code\":\"abc\"}",
        "{\"code\":\"äöü\"}",
        "{\"limit\":1}",
        "{\"limit\":1000}",
        "{\"limit\":5.0}", /* an integer, says the standard */
        "{\"weight\":0}",
        "{\"weight\":1.5}",
        "{\"deep\":true}",
        "{\"mode\":\"words\"}",
        "{\"level\":2}",
        "{\"level\":2.0}",
        "{\"level\":null}",
        "{\"yes\":true}",
        "{\"maybe\":null}",
        "{\"maybe\":\"\"}",
        "{\"tags\":[]}",
        "{\"tags\":[\"a\",\"b\",\"A\"]}",
        "{\"two\":[1,1]}",
        "{\"archive\":\"one\"}",
        "{\"archive\":[\"one\",\"two\"]}",
        "{\"carry\":true}",
        "{\"carry\":[\"thread\"]}",
        "{\"when\":\"2026-05-01\"}",
        "{\"when\":\"2024-02-29 23:59:59\"}",
        "{\"when\":\"2024-02-29T23:59:59.123456Z\"}",
        "{\"when\":\"2024-02-29T23:59:59+05:30\"}",
        "{\"day\":\"2000-02-29\"}",
        "{\"instant\":\"2026-05-01T00:00:00-08:00\"}",
        "{\"id\":\"passage-01234567-89ab-4def-8123-456789abcdef\"}",
        "{\"file\":\"/tmp/x y\"}",
        "{\"metadata\":{\"whatever\":[1,{\"a\":null}]}}",
        "{\"counts\":{\"a\":1,\"b\":2}}",
        "{\"any\":[{\"a\":1}]}",
        "{\"steps\":[{\"action\":\"go\"},{\"action\":\"on\",\"owner\":\"me\"}]}",
    };
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    const loci_schema *schema = parse(arena, everything);
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(inputs); i++) {
        loci_err err = { 0 };
        loci_rc rc = loci_schema_check(schema, json(arena, inputs[i]), &err);
        if (rc) fail_msg("%s: %s", inputs[i], err.msg);
    }
}

static void refuses_in_words(void **state)
{
    static const struct {
        const char *input, *message;
    } cases[] = {
        { "7", "the input must be an object, not 7" },
        { "[]", "the input must be an object, not an array" },
        { "null", "the input must be an object, not null" },
        { "{\"txet\":\"a\"}", "unknown field 'txet'; did you mean 'text'?" },
        { "{\"Text\":\"a\"}", "unknown field 'Text'; did you mean 'text'?" },
        { "{\"xyzzy\":1}", "unknown field 'xyzzy'" },
        { "{\"\":1}", "unknown field ''" },
        { "{\"a\\u0001\\u001bb\":1}", "unknown field 'a??b'" },
        { "{\"0123456789012345678901234567890123456789xx\":1}",
          "unknown field '0123456789012345678901234567890123456789...'" },
        { "{\"012345678901234567890123456789012345678äx\":1}", /* cut before the character */
          "unknown field '012345678901234567890123456789012345678...'" },
        { "{\"text\":\"\"}", "text: must not be empty" },
        { "{\"text\":\"12345678901\"}", "text: must have at most 10 characters, not 11" },
        { "{\"text\":7}", "text: must be a string, not 7" },
        { "{\"text\":null}", "text: must be a string, not null" },
        { "{\"text\":{}}", "text: must be a string, not an object" },
        { "{\"code\":\"äö\"}", "code: must have at least 3 characters, not 2: 'äö'" },
        { "{\"limit\":0}", "limit: must be at least 1, not 0" },
        { "{\"limit\":5000}", "limit: must be at most 1000, not 5000" },
        { "{\"limit\":9223372036854775807}",
          "limit: must be at most 1000, not 9223372036854775807" },
        { "{\"limit\":1.5}", "limit: must be an integer, not 1.5" },
        { "{\"limit\":1e300}", "limit: must be an integer, not 1e+300" },
        { "{\"limit\":\"10\"}", "limit: must be an integer, not '10'" },
        { "{\"limit\":true}", "limit: must be an integer, not true" },
        { "{\"weight\":1.6}", "weight: must be at most 1.5, not 1.6" },
        { "{\"weight\":-0.1}", "weight: must be at least 0, not -0.1" },
        { "{\"weight\":\"x\"}", "weight: must be a number, not 'x'" },
        { "{\"deep\":1}", "deep: must be a boolean, not 1" },
        { "{\"mode\":\"hybird\"}",
          "mode: must be one of 'hybrid', 'vector', 'text' or 'words', not 'hybird'; "
          "did you mean 'hybrid'?" },
        { "{\"mode\":\"\"}", "mode: must be one of 'hybrid', 'vector', 'text' or 'words', not ''" },
        { "{\"mode\":1}", "mode: must be a string, not 1" },
        { "{\"level\":3}", "level: must be one of 1, 2 or null, not 3" },
        { "{\"yes\":false}", "yes: must be true, not false" },
        { "{\"maybe\":1}", "maybe: must be a string or null, not 1" },
        { "{\"tags\":[\"a\",\"b\",\"c\",7]}", "tags[3]: must be a string, not 7" },
        { "{\"tags\":\"a\"}", "tags: must be an array of strings, not 'a'" },
        { "{\"tags\":[\"a\",\"b\",\"a\"]}", "tags: has 'a' twice" },
        { "{\"tags\":[1,2,3,4,5]}", "tags: must have at most 4 items, not 5" },
        { "{\"two\":[1]}", "two: must have at least 2 items, not 1" },
        { "{\"archive\":7}", "archive: must be a string or an array of strings, not 7" },
        { "{\"archive\":[\"a\",\"\"]}", "archive[1]: must not be empty" },
        { "{\"carry\":false}", "carry: must be true, not false" },
        { "{\"carry\":\"x\"}", "carry: must be a boolean or an array of strings, not 'x'" },
        { "{\"when\":\"yesterday\"}", "when: must be a date or time such as 2026-05-01 or "
                                      "2026-05-01T12:00:00Z, not 'yesterday'" },
        { "{\"day\":\"2025-02-29\"}", "day: must be a date such as 2026-05-01, not '2025-02-29'" },
        { "{\"day\":\"2026-05-01T00:00:00Z\"}",
          "day: must be a date such as 2026-05-01, not '2026-05-01T00:00:00Z'" },
        { "{\"instant\":\"2026-05-01T00:00:00\"}", "instant: must be a time with its zone such as "
                                                   "2026-05-01T12:00:00Z, not "
                                                   "'2026-05-01T00:00:00'" },
        { "{\"id\":\"agent-01234567-89ab-4def-8123-456789abcdef\"}",
          "id: must be an id (a prefix, '-' and a UUID), not "
          "'agent-01234567-89ab-4def-8123-456789abcd...'" },
        { "{\"file\":\"\"}", "file: must be a path, not ''" },
        { "{\"metadata\":[]}", "metadata: must be an object, not an array" },
        { "{\"counts\":{\"a\":1,\"b\":\"x\"}}", "counts.b: must be an integer, not 'x'" },
        { "{\"steps\":[{\"action\":\"a\"},{\"owner\":\"me\"}]}", "steps[1].action: is required" },
        { "{\"steps\":[{\"action\":\"a\",\"onwer\":\"me\"}]}",
          "steps[0]: unknown field 'onwer'; did you mean 'owner'?" },
        { "{\"steps\":[{\"action\":1}]}", "steps[0].action: must be a string, not 1" },
        { "{\"text\":1,\"limit\":\"x\"}",
          "text: must be a string, not 1; limit: must be an integer, not 'x'" },
        { "{\"steps\":[1,2,3,4,5,6]}",
          "steps[0]: must be an object, not 1; steps[1]: must be an object, not 2; "
          "steps[2]: must be an object, not 3; and more" },
    };
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    const loci_schema *schema = parse(arena, everything);
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_err err = { 0 };
        assert_int_equal(loci_schema_check(schema, json(arena, cases[i].input), &err), LOCI_ESHAPE);
        assert_string_equal(err.msg, cases[i].message);
        assert_int_equal(loci_schema_check(schema, json(arena, cases[i].input), NULL), LOCI_ESHAPE);
    }
}

static void checks_formats(void **state)
{
    static const struct {
        const char *format, *text;
        bool fits;
    } cases[] = {
        { "date", "2026-12-31", true },
        { "date", "2026-13-01", false },
        { "date", "2026-00-01", false },
        { "date", "2026-04-31", false },
        { "date", "2026-04-00", false },
        { "date", "1900-02-29", false },
        { "date", "26-04-01", false },
        { "date", "2026-4-1", false },
        { "date", "2026-04-01 ", false },
        { "date", "", false },
        { "date-time", "2026-04-01T23:59:59Z", true },
        { "date-time", "2026-04-01t23:59:59.1z", true },
        { "date-time", "2026-04-01T24:00:00Z", false },
        { "date-time", "2026-04-01T23:60:00Z", false },
        { "date-time", "2026-04-01T23:00:60Z", false },
        { "date-time", "2026-04-01T23:00:00.Z", false },
        { "date-time", "2026-04-01T23:00:00+24:00", false },
        { "date-time", "2026-04-01T23:00:00+0100", true },
        { "date-time", "2026-04-01T23:00:00Zx", false },
        { "date-time", "2026-04-01", false },
        { "moment", "2026-04-01T", false },
        { "moment", "2026-04-01T10:00", true },
        { "moment", "2026-04-01 10:00:00x", false },
        { "host-path", "a", true },
        { "x-id", "x-01234567-89ab-4def-8123-456789abcdef", true },
        { "x-id", "x-01234567-89ab-1def-8123-456789abcdef", false },
        { "x-id", "", false },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_str name = loci_str_from(cases[i].format);
        const loci_format *format = loci_format_find(name);
        assert_non_null(format);
        if (format->check(name, loci_str_from(cases[i].text)) != cases[i].fits)
            fail_msg("%s: %s", cases[i].format, cases[i].text);
    }
    assert_null(loci_format_find(LOCI_STR("-id")));
    assert_null(loci_format_find(LOCI_STR("X-id")));
    assert_null(loci_format_find(LOCI_STR("averyveryverylongname-id")));
    assert_null(loci_format_find(LOCI_STR("email")));
    assert_false(loci_format_find(LOCI_STR("host-path"))
                     ->check(LOCI_STR("host-path"), (loci_str){ "a\0b", 3 }));
    assert_true(loci_format_is_path(loci_format_find(LOCI_STR("host-path"))));
    assert_false(loci_format_is_path(loci_format_find(LOCI_STR("date"))));
}

/* Our own schemas are checked when they are read. */
static void refuses_bad_schemas(void **state)
{
    static const struct {
        const char *schema, *message;
    } cases[] = {
        { "[]", "must be an object, not an array" },
        { "{\"pattern\":\"a\"}", "keyword 'pattern' is not ours" },
        { "{\"type\":\"text\"}", "type: no type 'text'" },
        { "{\"type\":[]}", "type: names no type" },
        { "{\"type\":[1]}", "type: must be a string, not an integer" },
        { "{\"title\":1}", "title: must be a string, not an integer" },
        { "{\"description\":1}", "description: must be a string, not an integer" },
        { "{\"type\":\"array\"}", "an array needs items" },
        { "{\"required\":[\"a\"]}", "required: 'a' is no property" },
        { "{\"required\":\"a\"}", "required: must be an array, not a string" },
        { "{\"properties\":{\"a\":{\"type\":\"x\"}}}", "properties: a: type: no type 'x'" },
        { "{\"properties\":[]}", "properties: must be an object, not an array" },
        { "{\"enum\":[]}", "enum: allows nothing" },
        { "{\"enum\":[[]]}", "enum: only plain values can be listed" },
        { "{\"const\":{}}", "const: only plain values can be listed" },
        { "{\"minimum\":\"1\"}", "minimum: must be a number" },
        { "{\"maxItems\":-1}", "maxItems: must not be negative" },
        { "{\"minItems\":1.5}", "minItems: must be an integer, not a number" },
        { "{\"uniqueItems\":1}", "uniqueItems: must be a boolean, not an integer" },
        { "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"uniqueItems\":true}",
          "uniqueItems is for strings" },
        { "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true}",
          "uniqueItems needs maxItems of at most 1000" },
        { "{\"format\":\"email\"}", "format: no format 'email'" },
        { "{\"oneOf\":[{}]}", "oneOf: needs two alternatives" },
        { "{\"oneOf\":[{\"type\":\"string\"},{\"enum\":[\"a\"]}]}",
          "oneOf: alternatives must differ in their types" },
        { "{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}",
          "anyOf: alternatives must differ in their types" },
        { "{\"anyOf\":[{\"oneOf\":[{\"type\":\"null\"},{\"type\":\"string\"}]},"
          "{\"type\":\"number\"}]}",
          "anyOf: nested alternatives" },
        { "{\"type\":\"integer\",\"maximum\":5,\"default\":6}",
          "default: must be at most 5, not 6" },
    };
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_schema *schema = NULL;
        loci_err err = { 0 };
        assert_int_equal(loci_schema_parse(arena, loci_str_from(cases[i].schema), &schema, &err),
                         LOCI_EINVAL);
        assert_string_equal(err.msg, cases[i].message);
        assert_null(schema);
    }
    loci_schema *schema = NULL;
    loci_err err = { 0 };
    assert_int_equal(loci_schema_parse(arena, LOCI_STR("{"), &schema, &err), LOCI_EINVAL);
    assert_int_equal(err.code, LOCI_EINVAL);
}

/* `piece` n times. */
static void repeat(loci_buf *out, const char *piece, size_t n)
{
    for (size_t i = 0; i < n; i++) loci_buf_add_cstr(out, piece);
}

static void bounds_its_depth(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    loci_schema *schema = NULL;
    loci_err err = { 0 };
    loci_buf text;
    (void)state;

    loci_buf_init_arena(&text, arena, 10000);
    repeat(&text, "{\"items\":", LOCI_SCHEMA_DEPTH);
    repeat(&text, "{}", 1);
    repeat(&text, "}", LOCI_SCHEMA_DEPTH);
    assert_int_equal(loci_schema_parse(arena, loci_buf_str(&text), &schema, &err), LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "nested deeper than 16"));

    /* The input's own depth costs nothing where the schema does not look. */
    loci_buf_clear(&text);
    repeat(&text, "{\"any\":", 1);
    repeat(&text, "[", 200);
    repeat(&text, "]", 200);
    repeat(&text, "}", 1);
    assert_ok(loci_schema_check(parse(arena, everything), json(arena, text.ptr), &err), err);
}

/* A path that is too long for a message is cut, never overrun. */
static void survives_long_paths(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    const loci_schema *schema = parse(arena, "{\"additionalProperties\":{\"additionalProperties\":"
                                             "{\"additionalProperties\":{\"additionalProperties\":"
                                             "{\"additionalProperties\":{\"type\":\"null\"}}}}}}");
    loci_err err = { 0 };
    loci_buf text;
    (void)state;

    loci_buf_init_arena(&text, arena, 10000);
    repeat(&text, "{\"abcdefghijabcdefghijabcdefghijabcdefghij\":", 5);
    repeat(&text, "1}}}}}", 1);
    assert_int_equal(loci_schema_check(schema, json(arena, text.ptr), &err), LOCI_ESHAPE);
    assert_true(strlen(err.msg) < sizeof err.msg);
    assert_non_null(strstr(err.msg, "must be null, not 1"));
}

static void writes_what_it_read(void **state)
{
    static const struct {
        const char *text;
    } schemas[] = {
        { "{}" },
        { "{\"type\":\"string\",\"minLength\":1,\"maxLength\":5,\"format\":\"date\"}" },
        { "{\"type\":[\"null\",\"string\"]}" },
        { "{\"type\":\"number\",\"minimum\":0,\"maximum\":1.5,\"default\":0.5}" },
        { "{\"type\":\"string\",\"description\":\"How\",\"enum\":[\"a\",\"b\"],"
          "\"default\":\"a\"}" },
        { "{\"type\":\"boolean\",\"const\":true}" },
        { "{\"oneOf\":[{\"type\":\"string\"},"
          "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}]}" },
        { "{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"integer\"}]}" },
        { "{\"type\":\"object\",\"title\":\"T\",\"properties\":{\"a\":{},\"b\":{\"type\":"
          "\"object\"}},\"required\":[\"a\"],\"additionalProperties\":false}" },
        { "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}" },
        { "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"minItems\":1,\"maxItems\":9,"
          "\"uniqueItems\":true}" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(schemas); i++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_json_writer w;
        loci_buf_init(&out, 10000);
        loci_json_begin(&w, &out);
        loci_schema_write(parse(arena, schemas[i].text), &w);
        assert_int_equal(loci_json_check(&w, NULL), LOCI_OK);
        assert_str(loci_buf_str(&out), schemas[i].text);
    }
}

static void says_aloud_that_objects_are_closed(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    LOCI_AUTO(loci_buf_done) loci_buf out;
    loci_json_writer w;
    loci_err err = { 0 };
    (void)state;

    loci_schema *schema = parse(arena, "{\"type\":\"object\",\"properties\":{}}");
    loci_schema *more = parse(arena, "{\"type\":\"string\"}");
    assert_ok(loci_schema_add(arena, schema, LOCI_STR("x"), more, &err), err);
    assert_int_equal(loci_schema_add(arena, schema, LOCI_STR("x"), more, &err), LOCI_EINVAL);
    loci_buf_init(&out, 10000);
    loci_json_begin(&w, &out);
    loci_schema_write(schema, &w);
    assert_str(loci_buf_str(&out), "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":"
                                   "\"string\"}},\"additionalProperties\":false}");
}

static void open_objects_take_more(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    const loci_schema *schema =
        parse(arena, "{\"properties\":{\"a\":{}},\"additionalProperties\":true}");
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_schema_check(schema, json(arena, "{\"b\":1}"), &err), err);
    assert_int_equal(loci_schema_check(schema, json(arena, "1"), &err), LOCI_ESHAPE);
}

/* Parsing and checking with the n-th allocation failing: an error or the right answer, no leak. */
static void survives_failing_allocations(void **state)
{
    (void)state;
    for (unsigned long n = 1; n < 200; n++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
        loci_schema *schema = NULL;
        loci_err err = { 0 };
        const loci_json *value = json(arena, "{\"limit\":1.5,\"weight\":9.5}");

        loci_alloc_fail_at(n);
        loci_rc rc = loci_schema_parse(arena, loci_str_from(everything), &schema, &err);
        loci_rc checked = rc ? LOCI_ESHAPE : loci_schema_check(schema, value, &err);
        unsigned long asked = loci_alloc_fail_at(0);
        assert_true(rc == LOCI_OK || rc == LOCI_ENOMEM);
        assert_int_equal(checked, LOCI_ESHAPE);
        if (asked < n) return;
    }
    fail_msg("more than 200 allocations");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts),
        cmocka_unit_test(refuses_in_words),
        cmocka_unit_test(checks_formats),
        cmocka_unit_test(refuses_bad_schemas),
        cmocka_unit_test(bounds_its_depth),
        cmocka_unit_test(survives_long_paths),
        cmocka_unit_test(writes_what_it_read),
        cmocka_unit_test(says_aloud_that_objects_are_closed),
        cmocka_unit_test(open_objects_take_more),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("ops/schema", tests, NULL, NULL);
}
