#include "base/alloc.h"
#include "base/json.h"
#include "base/utf8.h"
#include "test.h"

#include <math.h>
#include <string.h>

enum { ROOM = 1 << 20 };

static void builds_a_document(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf b;
    loci_json_writer w;
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&b, ROOM);
    loci_buf_add_cstr(&b, "data: ");
    loci_json_begin(&w, &b);
    loci_json_object(&w);
    loci_json_member_str(&w, "s", LOCI_STR("x"));
    loci_json_member_cstr(&w, "c", "y");
    loci_json_member_cstr(&w, "none", NULL);
    loci_json_member_int(&w, "i", -7);
    loci_json_member_bool(&w, "b", true);
    loci_json_name(&w, LOCI_STR("list"));
    loci_json_array(&w);
    loci_json_null(&w);
    loci_json_bool(&w, false);
    loci_json_uint(&w, UINT64_MAX);
    loci_json_raw(&w, LOCI_STR("{\"raw\":1}"));
    loci_json_array(&w);
    loci_json_array_end(&w);
    loci_json_object(&w);
    loci_json_object_end(&w);
    loci_json_real(&w, 0.5);
    loci_json_array_end(&w);
    loci_json_name(&w, LOCI_STR(""));
    loci_json_object(&w);
    loci_json_member_str(&w, "in\"ner", (loci_str){ NULL, 0 });
    loci_json_object_end(&w);
    loci_json_object_end(&w);
    assert_ok(loci_json_check(&w, &err), err);
    assert_str(loci_buf_str(&b),
               "data: {\"s\":\"x\",\"c\":\"y\",\"none\":null,\"i\":-7,\"b\":true,\"list\":[null,"
               "false,18446744073709551615,{\"raw\":1},[],{},0.5],\"\":{\"in\\\"ner\":\"\"}}");
}

/* Writes one value with `put`, which must come out as `want`. */
#define assert_written(want, put)                                                                  \
    do {                                                                                           \
        LOCI_AUTO(loci_buf_done) loci_buf b_;                                                      \
        loci_json_writer w;                                                                        \
        loci_buf_init(&b_, ROOM);                                                                  \
        loci_json_begin(&w, &b_);                                                                  \
        put;                                                                                       \
        assert_int_equal(loci_json_check(&w, NULL), LOCI_OK);                                      \
        assert_str(loci_buf_str(&b_), want);                                                       \
    } while (0)

static void writes_strings(void **state)
{
    /* clang-format off */
    static const struct { loci_str in; const char *want; } cases[] = {
        { LOCI_STR(""), "\"\"" },
        { LOCI_STR("plain text that is longer than eight"), "\"plain text that is longer than eight\"" },
        { LOCI_STR("\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"" },
        { LOCI_STR("\0\1\x0B\x1F\x20\x7F"), "\"\\u0000\\u0001\\u000b\\u001f \x7F\"" },
        { LOCI_STR("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xE2\x80\xA8"), "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xE2\x80\xA8\"" },
        { LOCI_STR("a\xFF" "b\n\xE2\x82"), "\"a\xEF\xBF\xBD" "b\\n\xEF\xBF\xBD\"" },
        { LOCI_STR("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"" },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        assert_written(cases[i].want, loci_json_string(&w, cases[i].in));
}

/* Each byte at each place of the eight-byte steps, against the plain rule. */
static void escapes_at_every_offset(void **state)
{
    (void)state;

    for (int c = 0; c < 0x80; c++) {
        for (size_t at = 0; at < 20; at++) {
            char in[21], want[40];
            memset(in, 'x', 20);
            in[at] = (char)c;
            const char *named = c ? strchr("\"\"\\\\\bb\ff\nn\rr\tt", c) : NULL;
            bool escape = c < 0x20 || c == '"' || c == '\\';
            (void)snprintf(want, sizeof want, "\"%.*s", (int)at, in);
            size_t n = strlen(want);
            if (escape && named)
                (void)snprintf(want + n, sizeof want - n, "\\%c", named[1]);
            else
                (void)snprintf(want + n, sizeof want - n, escape ? "\\u%04x" : "%c", c);
            n = strlen(want);
            (void)snprintf(want + n, sizeof want - n, "%.*s\"", (int)(19 - at), in + at + 1);
            assert_written(want, loci_json_string(&w, (loci_str){ in, 20 }));
        }
    }
}

static void writes_numbers(void **state)
{
    /* clang-format off */
    static const struct { double in; const char *want; } reals[] = {
        { 0.0, "0.0" }, { -0.0, "-0.0" }, { 1.0, "1.0" }, { -1.0, "-1.0" }, { 0.1, "0.1" }, { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" }, { 100.0, "100.0" }, { 1e15, "1e+15" }, { 123456789012345.0, "123456789012345.0" },
        { 1e22, "1e+22" }, { 1e-7, "1e-07" }, { 5e-324, "4.94065645841247e-324" }, { 1.7976931348623157e308, "1.7976931348623157e+308" },
        { 2.2250738585072014e-308, "2.2250738585072014e-308" }, { 9007199254740993.0, "9007199254740992.0" },
        { (double)NAN, "null" }, { (double)INFINITY, "null" }, { -(double)INFINITY, "null" },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(reals); i++)
        assert_written(reals[i].want, loci_json_real(&w, reals[i].in));
    assert_written("0", loci_json_int(&w, 0));
    assert_written("9223372036854775807", loci_json_int(&w, INT64_MAX));
    assert_written("-9223372036854775808", loci_json_int(&w, INT64_MIN));
    assert_written("18446744073709551615", loci_json_uint(&w, UINT64_MAX));
}

static void stops_at_its_depth(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf b;
    loci_json_writer w;
    loci_err err = { 0 };
    (void)state;

    for (size_t depth = LOCI_JSON_WRITE_DEPTH; depth <= LOCI_JSON_WRITE_DEPTH + 1; depth++) {
        loci_buf_init(&b, ROOM);
        loci_json_begin(&w, &b);
        for (size_t i = 0; i < depth; i++) {
            if (i) loci_json_name(&w, LOCI_STR("a"));
            loci_json_object(&w);
        }
        loci_json_member_int(&w, "x", 1);
        for (size_t i = 0; i < depth; i++) loci_json_object_end(&w);
        loci_rc want = depth > LOCI_JSON_WRITE_DEPTH ? LOCI_ELIMIT : LOCI_OK;
        assert_int_equal(loci_json_check(&w, &err), want);
        loci_buf_done(&b);
    }
}

/* A value as deep as the parser allows fits inside an answer, and far too deep a one does no harm.
 */
static void nests_the_deepest_value(void **state)
{
    static loci_json levels[LOCI_JSON_WRITE_DEPTH * 2];
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(levels); i++)
        levels[i] = (loci_json){ .type = LOCI_JSON_ARRAY, .array = { &levels[i + 1], 1 } };
    levels[LOCI_COUNT(levels) - 1] = (loci_json){ .type = LOCI_JSON_NULL };
    for (size_t fits = 0; fits < 2; fits++) {
        LOCI_AUTO(loci_buf_done) loci_buf b;
        loci_json_writer w;
        loci_buf_init(&b, ROOM);
        loci_json_begin(&w, &b);
        loci_json_object(&w);
        loci_json_name(&w, LOCI_STR("metadata"));
        loci_json_value(&w, &levels[fits ? LOCI_COUNT(levels) - 1 - LOCI_JSON_DEPTH : 0]);
        loci_json_object_end(&w);
        assert_int_equal(loci_json_check(&w, NULL), fits ? LOCI_OK : LOCI_ELIMIT);
    }
}

static void tells_a_failed_buffer(void **state)
{
    (void)state;

    for (size_t room = 0; room < 12; room++) {
        LOCI_AUTO(loci_buf_done) loci_buf b;
        loci_json_writer w;
        loci_buf_init(&b, room);
        loci_json_begin(&w, &b);
        loci_json_object(&w);
        loci_json_member_int(&w, "abcd", 123); /* {"abcd":123} has 12 bytes */
        loci_json_object_end(&w);
        assert_int_equal(loci_json_check(&w, NULL), LOCI_ELIMIT);
    }
    LOCI_AUTO(loci_buf_done) loci_buf b;
    loci_json_writer w;
    loci_buf_init(&b, ROOM);
    loci_json_begin(&w, &b);
    loci_alloc_fail_at(1);
    loci_json_null(&w);
    loci_alloc_fail_at(0);
    assert_int_equal(loci_json_check(&w, NULL), LOCI_ENOMEM);
}

/* What follows makes random values and sends them round. */

static uint64_t seed = 0x9E3779B97F4A7C15;

static uint64_t roll(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static int64_t random_int(void)
{
    static const int64_t edges[] = {
        0,          1, -1, INT64_MAX, INT64_MIN, INT32_MAX,     INT32_MIN,
        UINT32_MAX, 9, 10, 99,        100,       INT64_MAX - 1, INT64_MIN + 1
    };
    uint64_t r = roll();
    if (r % 4 == 0) return edges[r / 4 % LOCI_COUNT(edges)];
    return (int64_t)roll() >> (r / 4 % 64);
}

static double random_real(void)
{
    double value;
    do {
        uint64_t bits = roll();
        memcpy(&value, &bits, sizeof value);
        if (bits % 4 == 0) value = (double)(roll() % 1000000) / 1000; /* an everyday one */
    } while (!isfinite(value));
    return value;
}

static loci_str random_text(loci_arena *arena, size_t least_code)
{
    size_t count = roll() % 24, len = 0;
    char *text = loci_arena_alloc(arena, count * 4 + 1);
    static const uint32_t below[] = { 0x80, 0x30, 0x800, 0x10000, 0x110000 };

    for (size_t i = 0; i < count; i++) {
        uint32_t code = (uint32_t)(roll() % below[roll() % LOCI_COUNT(below)]);
        if (code >= least_code) len += loci_utf8_encode(code, text + len);
    }
    return (loci_str){ text, len };
}

static void random_value(loci_arena *arena, loci_json *ret, size_t depth);

static void random_container(loci_arena *arena, loci_json *ret, size_t depth)
{
    size_t count = roll() % 6;

    if (ret->type == LOCI_JSON_ARRAY) {
        ret->array.items = loci_arena_array(arena, count, sizeof(loci_json));
        ret->array.count = count;
        for (size_t i = 0; i < count; i++) random_value(arena, &ret->array.items[i], depth + 1);
        return;
    }
    ret->object.members = loci_arena_array(arena, count, sizeof(loci_json_member));
    ret->object.count = count;
    for (size_t i = 0; i < count; i++) {
        loci_str text = random_text(arena, 1); /* a number before it keeps names apart */
        ret->object.members[i].name = loci_arena_printf(arena, "%zu%.*s", i, LOCI_ARG(text));
        random_value(arena, &ret->object.members[i].value, depth + 1);
    }
}

static void random_value(loci_arena *arena, loci_json *ret, size_t depth)
{
    ret->type = (loci_json_type)(roll() % (depth < 5 ? 7 : 5));
    if (depth == 0) ret->type = (loci_json_type)(LOCI_JSON_ARRAY + roll() % 2);
    if (ret->type == LOCI_JSON_BOOL) ret->boolean = roll() % 2;
    if (ret->type == LOCI_JSON_INT) ret->integer = random_int();
    if (ret->type == LOCI_JSON_REAL) ret->real = random_real();
    if (ret->type == LOCI_JSON_STRING) ret->string = random_text(arena, 0);
    if (ret->type >= LOCI_JSON_ARRAY) random_container(arena, ret, depth);
}

static bool same(const loci_json *a, const loci_json *b)
{
    if (a->type != b->type) return false;
    if (a->type == LOCI_JSON_BOOL) return a->boolean == b->boolean;
    if (a->type == LOCI_JSON_INT) return a->integer == b->integer;
    if (a->type == LOCI_JSON_REAL) return memcmp(&a->real, &b->real, sizeof a->real) == 0;
    if (a->type == LOCI_JSON_STRING) return loci_str_eq(a->string, b->string);
    if (a->type == LOCI_JSON_ARRAY) {
        if (a->array.count != b->array.count) return false;
        for (size_t i = 0; i < a->array.count; i++)
            if (!same(&a->array.items[i], &b->array.items[i])) return false;
    }
    if (a->type == LOCI_JSON_OBJECT) {
        if (a->object.count != b->object.count) return false;
        for (size_t i = 0; i < a->object.count; i++) {
            const loci_json_member *m = &a->object.members[i], *n = &b->object.members[i];
            if (!loci_str_eq(m->name, n->name) || !same(&m->value, &n->value)) return false;
        }
    }
    return true;
}

static void write_whole(loci_buf *out, const loci_json *value)
{
    loci_json_writer w;
    loci_err err = { 0 };

    loci_buf_clear(out);
    loci_json_begin(&w, out);
    loci_json_value(&w, value);
    assert_ok(loci_json_check(&w, &err), err);
}

static void round_trips_random_values(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 20);
    LOCI_AUTO(loci_buf_done) loci_buf first, second;
    (void)state;

    loci_buf_init(&first, 64 << 20);
    loci_buf_init(&second, 64 << 20);
    for (size_t i = 0; i < 3000; i++) {
        loci_json value = { 0 };
        const loci_json *back;
        loci_err err = { 0 };

        loci_arena_reset(arena);
        random_value(arena, &value, 0);
        write_whole(&first, &value);
        assert_true(loci_utf8_valid(loci_buf_str(&first)));
        assert_ok(loci_json_parse(arena, loci_buf_str(&first), &back, &err), err);
        write_whole(&second, back);
        if (!same(&value, back) || !loci_str_eq(loci_buf_str(&first), loci_buf_str(&second)))
            fail_msg("round %zu: %s became %s", i, first.ptr, second.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_a_document),       cmocka_unit_test(writes_strings),
        cmocka_unit_test(escapes_at_every_offset), cmocka_unit_test(writes_numbers),
        cmocka_unit_test(stops_at_its_depth),      cmocka_unit_test(nests_the_deepest_value),
        cmocka_unit_test(tells_a_failed_buffer),   cmocka_unit_test(round_trips_random_values),
    };
    return cmocka_run_group_tests_name("base/json_write", tests, NULL, NULL);
}
