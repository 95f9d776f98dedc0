/* Large objects, doubled names and how much memory a text may take. */
#include "base/json.h"
#include "base/json_inside.h"
#include "test.h"

#include <string.h>

enum { MANY = 250000, STORM = 50000, ROOM = 64 << 20, CEILING = 256 << 20 };

typedef struct document {
    loci_buf text;
    loci_arena *arena;
    const loci_json *value;
} document;

static void document_done(document *d)
{
    loci_buf_done(&d->text);
    loci_arena_free(d->arena);
}

/* {"n<0 % names>":0,"n<1 % names>":1,...}, parsed. */
static void make_object(document *d, size_t count, size_t names)
{
    loci_err err = { 0 };

    d->arena = loci_arena_new(CEILING);
    loci_buf_init(&d->text, ROOM);
    loci_buf_add_char(&d->text, '{');
    for (size_t i = 0; i < count; i++)
        loci_buf_printf(&d->text, "%s\"n%zu\":%zu", i ? "," : "", i % names, i);
    loci_buf_add_char(&d->text, '}');
    assert_ok(loci_json_parse(d->arena, loci_buf_str(&d->text), &d->value, &err), err);
}

/* Each name once, at its first place, with its last value, and found by its name. */
static void check_object(const document *d, size_t count, size_t names)
{
    size_t want = names < count ? names : count, wrong = 0;
    char name[32];

    assert_int_equal(d->value->object.count, want);
    for (size_t i = 0; i < want; i++) {
        const loci_json_member *m = &d->value->object.members[i];
        int len = snprintf(name, sizeof name, "n%zu", i);
        loci_str expected = { name, (size_t)len };
        size_t last = (count - 1 - i) / names * names + i;
        wrong += !loci_str_eq(m->name, expected) || m->value.integer != (int64_t)last ||
                 m->name.ptr[m->name.len] != '\0';
        if (want < STORM || i % 17 == 0) /* a sample of the largest */
            wrong += loci_json_find(d->value, expected) != &m->value;
    }
    assert_int_equal(wrong, 0);
    assert_null(loci_json_find(d->value, LOCI_STR("n")));
    assert_null(loci_json_find(d->value, LOCI_STR("")));
    assert_null(loci_json_find(d->value, LOCI_STR("n00")));
}

static void keeps_each_name_once(void **state)
{
    /* clang-format off */
    static const struct { size_t count, names; } cases[] = {
        { 1, 1 }, { LOCI_JSON_FEW, LOCI_JSON_FEW }, { LOCI_JSON_FEW, 5 }, { LOCI_JSON_FEW + 1, LOCI_JSON_FEW + 1 },
        { LOCI_JSON_FEW + 1, LOCI_JSON_FEW }, { LOCI_JSON_FEW + 1, 1 }, { 33, 32 }, { 100, 64 }, { 1000, 999 },
        { 1025, 1024 }, { STORM, 1 }, { STORM, 2 }, { STORM, 1000 }, { STORM, STORM - 1 },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(document_done) document d = { 0 };
        make_object(&d, cases[i].count, cases[i].names);
        check_object(&d, cases[i].count, cases[i].names);
    }
}

/* So many names that some have the same hash as another, which must not make them the same. */
static void tells_equal_hashes_apart(void **state)
{
    LOCI_AUTO(document_done) document d = { 0 };
    const char *longer = getenv("LOCI_TEST_ROUNDS"); /* more than the quick run */
    size_t count = longer ? strtoul(longer, NULL, 10) : MANY, twins = 0;
    (void)state;

    make_object(&d, count, count);
    check_object(&d, count, count);
    const void *behind = d.value->object.members + count;
    const loci_json_row *rows = behind;
    for (size_t i = 1; i < count; i++) {
        assert_true(rows[i - 1].hash <= rows[i].hash);
        twins += rows[i - 1].hash == rows[i].hash;
    }
    assert_true(d.value->indexed && twins > 0);
}

/* The deepest nesting, with an index on every level: the room counted beforehand is all used. */
static void nests_large_objects(void **state)
{
    enum { NAMES = 20 };
    LOCI_AUTO(document_done) document d = { .arena = loci_arena_new(CEILING) };
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&d.text, ROOM);
    for (size_t level = 0; level < LOCI_JSON_DEPTH; level++) {
        loci_buf_add_char(&d.text, '{');
        for (size_t i = 0; i < NAMES; i++) loci_buf_printf(&d.text, "\"%zu\":[],", i);
        loci_buf_add_cstr(&d.text, level + 1 < LOCI_JSON_DEPTH ? "\"in\":" : "\"in\":7");
    }
    for (size_t level = 0; level < LOCI_JSON_DEPTH; level++)
        loci_buf_add_cstr(&d.text, level % 2 ? ",\"3\":true}" : ",\"z\":\"\"}");
    /* The innermost level may not nest once more: its arrays become numbers. */
    char *last = d.text.ptr + d.text.len;
    while (strncmp(last, "\"in\":7", 6) != 0) last--;
    for (char *p = last; *p != '{'; p--)
        if (p[0] == '[') memcpy(p, "10", 2);

    assert_ok(loci_json_parse(d.arena, loci_buf_str(&d.text), &d.value, &err), err);
    const loci_json *v = d.value;
    for (size_t level = 0; level < LOCI_JSON_DEPTH; level++) {
        bool odd = (LOCI_JSON_DEPTH - 1 - level) % 2;
        assert_int_equal(v->object.count, odd ? NAMES + 1 : NAMES + 2);
        assert_int_equal(loci_json_find(v, LOCI_STR("3"))->type, odd ? LOCI_JSON_BOOL
                                                                 : level + 1 < LOCI_JSON_DEPTH
                                                                     ? LOCI_JSON_ARRAY
                                                                     : LOCI_JSON_INT);
        v = loci_json_find(v, LOCI_STR("in"));
    }
    assert_int_equal(v->integer, 7);
}

/* What a text takes from the arena, at most, for each byte of it. */
static void bounds_memory(void **state)
{
    /* clang-format off */
    static const struct { const char *before, *unit, *after; size_t factor; loci_rc want; } cases[] = {
        { "[", "{},", "{}]", 8, LOCI_OK }, /* this one with as many values as are allowed */
        { "[", "0,", "0]", 12, LOCI_OK },
        { "[", "\"\",", "0]", 9, LOCI_OK },
        { "{", "\"\":0,", "\"\":0}", 12, LOCI_OK },
        { "[", "{\"\":0},", "0]", 10, LOCI_OK },
        { "[\"", "texttext", "\"]", 1, LOCI_OK },
        { "[\"", "\\u0041", "\"]", 1, LOCI_OK },
        { "", "::::", "", 0, LOCI_ESHAPE },
        { "", ":,:}", "", 14, LOCI_ESHAPE },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(document_done) document d = { .arena = loci_arena_new(CEILING) };
        loci_err err = { 0 };
        size_t len = strlen(cases[i].unit), n = i == 0 ? LOCI_JSON_VALUES - 2 : 100000;
        loci_buf_init(&d.text, ROOM);
        loci_buf_add_cstr(&d.text, cases[i].before);
        for (size_t k = 0; k < n; k++) loci_buf_add(&d.text, (loci_str){ cases[i].unit, len });
        loci_buf_add_cstr(&d.text, cases[i].after);
        assert_int_equal(loci_json_parse(d.arena, loci_buf_str(&d.text), &d.value, &err),
                         cases[i].want);
        size_t most = cases[i].factor * d.text.len + 8192;
        if (loci_arena_used(d.arena) > most)
            fail_msg("%s: %zu bytes of text took %zu", cases[i].unit, d.text.len,
                     loci_arena_used(d.arena));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_each_name_once),
        cmocka_unit_test(tells_equal_hashes_apart),
        cmocka_unit_test(nests_large_objects),
        cmocka_unit_test(bounds_memory),
    };
    return cmocka_run_group_tests_name("base/json_large", tests, NULL, NULL);
}
