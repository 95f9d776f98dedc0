#include "ops/input.h"
#include "test.h"

static const char *const schema_text =
    "{\"type\":\"object\",\"properties\":{"
    "\"text\":{\"type\":\"string\"},"
    "\"named\":{\"type\":\"string\",\"default\":\"anna\"},"
    "\"count\":{\"type\":\"integer\",\"default\":10},"
    "\"free\":{\"type\":\"integer\"},"
    "\"weight\":{\"type\":\"number\",\"default\":0.5},"
    "\"deep\":{\"type\":\"boolean\",\"default\":true},"
    "\"mode\":{\"enum\":[\"hybrid\",\"vector\",\"text\"],\"default\":\"vector\"},"
    "\"level\":{\"enum\":[1,2,3]},"
    "\"since\":{\"type\":\"string\",\"format\":\"moment\"},"
    "\"note\":{\"type\":[\"string\",\"null\"]},"
    "\"archive\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":"
    "\"string\"}}]},"
    "\"steps\":{\"type\":\"array\",\"items\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":"
    "\"object\",\"properties\":{\"action\":{\"type\":\"string\"},\"owner\":{\"type\":\"string\","
    "\"default\":\"me\"}}}]}},"
    "\"changes\":{\"type\":\"object\",\"properties\":{\"status\":{\"type\":\"string\",\"default\":"
    "\"open\"}}}}}";

static loci_in input(loci_arena *arena, const char *text)
{
    loci_schema *schema = NULL;
    const loci_json *value = NULL;
    loci_err err = { 0 };

    assert_ok(loci_schema_parse(arena, loci_str_from(schema_text), &schema, &err), err);
    assert_ok(loci_json_parse(arena, loci_str_from(text), &value, &err), err);
    assert_ok(loci_schema_check(schema, value, &err), err);
    return (loci_in){ value, schema };
}

static void gives_defaults(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    loci_in in = input(arena, "{}");
    loci_date date = { .at = 7 };
    loci_err err = { 0 };
    (void)state;

    assert_str(loci_in_text(in, "text"), "");
    assert_str(loci_in_text(in, "named"), "anna");
    assert_int_equal(loci_in_int(in, "count"), 10);
    assert_int_equal(loci_in_int(in, "free"), 0);
    assert_true(loci_in_real(in, "weight") == 0.5);
    assert_true(loci_in_bool(in, "deep"));
    assert_int_equal(loci_in_choice(in, "mode"), 1);
    assert_int_equal(loci_in_choice(in, "level"), -1);
    assert_ok(loci_in_date(in, "since", NULL, &date, &err), err);
    assert_int_equal(date.at, 7);
    assert_int_equal(loci_in_items(in, "archive").count, 0);
    assert_int_equal(loci_in_items(in, "steps").count, 0);
    assert_false(loci_in_has(in, "named"));
    assert_false(loci_in_given(in, "named"));
    assert_null(loci_in_value(in, "text"));
    assert_str(loci_in_text(loci_in_object(in, "changes"), "status"), "open");
    assert_false(loci_in_has(loci_in_object(in, "changes"), "status"));
}

static void gives_what_was_given(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    loci_in in = input(arena, "{\"text\":\"t\",\"named\":\"\",\"count\":-3.0,\"weight\":2,"
                              "\"deep\":false,\"mode\":\"text\",\"level\":3.0,\"note\":null,"
                              "\"since\":\"1970-01-01T00:00:01Z\",\"archive\":\"one\","
                              "\"changes\":{\"status\":\"done\"}}");
    loci_date date = { 0 };
    loci_err err = { 0 };
    (void)state;

    assert_str(loci_in_text(in, "text"), "t");
    assert_str(loci_in_text(in, "named"), ""); /* given, though empty */
    assert_true(loci_in_has(in, "named"));
    assert_int_equal(loci_in_int(in, "count"), -3);
    assert_true(loci_in_real(in, "weight") == 2);
    assert_false(loci_in_bool(in, "deep"));
    assert_int_equal(loci_in_choice(in, "mode"), 2);
    assert_int_equal(loci_in_choice(in, "level"), 2);
    assert_true(loci_in_given(in, "note"));
    assert_false(loci_in_has(in, "note"));
    assert_ok(loci_in_date(in, "since", NULL, &date, &err), err);
    assert_int_equal(date.at, 1000000);
    assert_int_equal(loci_in_items(in, "archive").count, 1);
    assert_str(loci_in_item_text(loci_in_items(in, "archive"), 0), "one");
    assert_str(loci_in_text(loci_in_object(in, "changes"), "status"), "done");
}

static void walks_lists(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    loci_in in = input(arena, "{\"archive\":[\"a\",\"b\"],\"steps\":[\"plain\",{\"action\":\"go\"},"
                              "{\"action\":\"on\",\"owner\":\"you\"}]}");
    (void)state;

    loci_in_list archives = loci_in_items(in, "archive"), steps = loci_in_items(in, "steps");
    assert_int_equal(archives.count, 2);
    assert_str(loci_in_item_text(archives, 1), "b");
    assert_int_equal(steps.count, 3);
    assert_str(loci_in_item_text(steps, 0), "plain");
    assert_str(loci_in_item_text(steps, 1), ""); /* an object is no text */
    assert_str(loci_in_text(loci_in_item(steps, 1), "action"), "go");
    assert_str(loci_in_text(loci_in_item(steps, 1), "owner"), "me"); /* the default inside */
    assert_str(loci_in_text(loci_in_item(steps, 2), "owner"), "you");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_defaults),
        cmocka_unit_test(gives_what_was_given),
        cmocka_unit_test(walks_lists),
    };
    return cmocka_run_group_tests_name("ops/input", tests, NULL, NULL);
}
