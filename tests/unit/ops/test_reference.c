#include "base/alloc.h"
#include "ops/openapi.h"
#include "ops/reference.h"
#include "small_ops.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { CEILING = 8 << 20 };

typedef struct world {
    loci_ops *ops;
    loci_arena *arena;
    loci_buf out;
} world;

static void begin(world *w)
{
    w->ops = small_ops();
    w->arena = loci_arena_new(CEILING);
    loci_buf_init(&w->out, CEILING);
}

static void end(world *w)
{
    loci_buf_done(&w->out);
    loci_arena_free(w->arena);
    loci_ops_free(w->ops);
}

/* What is in the buffer, parsed. */
static const loci_json *parsed(world *w)
{
    const loci_json *value = NULL;
    loci_err err = { 0 };

    assert_ok(loci_json_parse(w->arena, loci_buf_str(&w->out), &value, &err), err);
    return value;
}

/* Follow names from `value`; the test fails where one is missing. */
static const loci_json *at(const loci_json *value, const char *path)
{
    loci_str rest = loci_str_from(path), name;

    while (loci_str_cut(&rest, ' ', &name)) {
        value = loci_json_find(value, name);
        if (!value) fail_msg("no '%.*s' in '%s'", LOCI_ARG(name), path);
    }
    return value;
}

static const loci_json *tool(world *w, const char *name)
{
    loci_json_writer writer;

    loci_buf_clear(&w->out);
    loci_json_begin(&writer, &w->out);
    loci_reference_tool(loci_ops_find(w->ops, loci_str_from(name)), &writer);
    assert_int_equal(loci_json_check(&writer, NULL), LOCI_OK);
    return parsed(w);
}

static void writes_tools(void **state)
{
    static const struct {
        const char *op;
        bool reads, destroys, repeats, open;
    } cases[] = {
        { "add", true, false, true, false },
        { "keep", false, false, true, false },
        { "slow", false, true, false, false },
        { "read_file", true, false, true, true },
    };
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        const loci_json *entry = tool(&w, cases[i].op), *hints = at(entry, "annotations");
        assert_str(at(entry, "name")->string, cases[i].op);
        assert_str(at(entry, "inputSchema type")->string, "object");
        assert_str(at(entry, "outputSchema type")->string, "object");
        assert_int_equal(at(hints, "readOnlyHint")->boolean, cases[i].reads);
        assert_int_equal(at(hints, "destructiveHint")->boolean, cases[i].destroys);
        assert_int_equal(at(hints, "idempotentHint")->boolean, cases[i].repeats);
        assert_int_equal(at(hints, "openWorldHint")->boolean, cases[i].open);
    }
    const loci_json *entry = tool(&w, "add");
    assert_str(at(entry, "description")->string,
               "Add two numbers. The second is 1 when it is left out.");
    entry = tool(&w, "read_file");
    assert_str(at(entry, "title")->string, "Read file");
    assert_str(at(entry, "annotations title")->string, "Read file");
    assert_str(at(entry, "description")->string, "Say which file it would read");
    (void)at(tool(&w, "keep"), "inputSchema properties request_id description");
}

/* The schemas that are shown are the ones that are checked: read again, they accept the examples.
 */
static void shows_the_schemas_it_checks(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    for (size_t i = 0; i < loci_ops_count(w.ops); i++) {
        const loci_op_info *op = loci_ops_at(w.ops, i);
        loci_json_writer writer;
        loci_schema *again = NULL;
        const loci_json *input = NULL;
        loci_err err = { 0 };
        loci_buf_clear(&w.out);
        loci_json_begin(&writer, &w.out);
        loci_schema_write(op->input, &writer);
        assert_ok(loci_schema_parse(w.arena, loci_buf_str(&w.out), &again, &err), err);
        loci_str text = loci_str_from(op->row->examples[0].input);
        assert_ok(loci_json_parse(w.arena, text, &input, &err), err);
        assert_ok(loci_schema_check(again, input, &err), err);
        assert_int_equal(again->property_count, op->input->property_count);
    }
}

static void writes_list_entries(void **state)
{
    LOCI_AUTO(end) world w;
    loci_json_writer writer;
    (void)state;

    begin(&w);
    loci_json_begin(&writer, &w.out);
    loci_reference_op(loci_ops_find(w.ops, LOCI_STR("echo")), &writer);
    const loci_json *entry = parsed(&w);
    assert_str(at(entry, "toolset")->string, "memory");
    assert_str(at(entry, "help")->string, "Give back what was said");
    assert_true(at(entry, "reads")->boolean);
    assert_false(at(entry, "writes")->boolean);
    (void)at(entry, "input properties node");
    (void)at(entry, "output properties tags");
    const loci_json *examples = at(entry, "examples");
    assert_int_equal(examples->array.count, 1);
    assert_str(at(&examples->array.items[0], "needs")->string, "keep");
    assert_str(at(&examples->array.items[0], "input text")->string, "{{id}}");
}

/* Every "$ref" below `value` leads somewhere in `root`. */
static size_t check_refs(const loci_json *root, const loci_json *value, size_t depth)
{
    size_t count = 0;

    assert_true(depth < LOCI_JSON_DEPTH);
    if (value->type == LOCI_JSON_ARRAY)
        for (size_t i = 0; i < value->array.count; i++)
            count += check_refs(root, &value->array.items[i], depth + 1);
    if (value->type != LOCI_JSON_OBJECT) return count;
    for (size_t i = 0; i < value->object.count; i++) {
        const loci_json_member *member = &value->object.members[i];
        count += check_refs(root, &member->value, depth + 1);
        if (!loci_str_eq(member->name, LOCI_STR("$ref"))) continue;
        loci_str rest = member->value.string, name;
        const loci_json *here = root;
        assert_true(loci_str_cut(&rest, '/', &name)); /* "#" */
        while (loci_str_cut(&rest, '/', &name)) here = loci_json_find(here, name);
        assert_non_null(here);
        count++;
    }
    return count;
}

static void writes_openapi(void **state)
{
    static const char *const statuses[] = { "200", "400", "401", "403", "404", "409", "413",
                                            "415", "422", "429", "500", "501", "503" };
    static const char *const codes[] = {
        "invalid",     "unauthorized",      "forbidden",   "not_found",
        "conflict",    "too_large",         "busy",        "not_implemented",
        "wrong_shape", "unsupported_media", "unavailable", "internal",
    };
    LOCI_AUTO(end) world w;
    loci_err err = { 0 };
    (void)state;

    begin(&w);
    assert_ok(loci_openapi_write(w.ops, &w.out, &err), err);
    const loci_json *doc = parsed(&w), *paths = at(doc, "paths");
    assert_str(at(doc, "openapi")->string, "3.1.0");
    assert_str(at(doc, "info version")->string, loci_version());
    assert_int_equal(paths->object.count, loci_ops_count(w.ops) - 1); /* one is hidden */
    for (size_t i = 0; i < paths->object.count; i++) {
        const loci_json *post = at(&paths->object.members[i].value, "post");
        loci_str id = at(post, "operationId")->string;
        assert_true(loci_str_ends(paths->object.members[i].name, id));
        assert_non_null(loci_ops_find(w.ops, id));
        (void)at(post, "requestBody content application/json schema properties");
        (void)at(post, "responses 200 content application/json schema properties");
        for (size_t k = 0; k < LOCI_COUNT(statuses); k++)
            (void)at(at(post, "responses"), statuses[k]);
    }
    const loci_json *list = at(doc, "components schemas error properties code enum");
    assert_int_equal(list->array.count, LOCI_COUNT(codes));
    for (size_t i = 0; i < LOCI_COUNT(codes); i++)
        (void)at(at(doc, "components responses"), codes[i]);
    assert_true(at(at(paths, "/v1/ops/add"), "post requestBody required")->boolean);
    assert_false(at(at(paths, "/v1/ops/echo"), "post requestBody required")->boolean);
    assert_int_equal(at(at(paths, "/v1/ops/add"), "post parameters")->array.count, 0);
    assert_int_equal(at(at(paths, "/v1/ops/promote"), "post parameters")->array.count, 3);
    assert_true(check_refs(doc, doc, 0) > 100);
}

/* Every code that a call can return is described. */
static void openapi_knows_every_code(void **state)
{
    LOCI_AUTO(end) world w;
    loci_err err = { 0 };
    (void)state;

    begin(&w);
    assert_ok(loci_openapi_write(w.ops, &w.out, &err), err);
    const loci_json *responses = at(parsed(&w), "components responses");
    for (loci_rc rc = LOCI_EINVAL; rc <= LOCI_ECORRUPT; rc++) (void)at(responses, loci_rc_name(rc));
}

static void contains(const world *w, const char *part)
{
    if (loci_str_find(loci_buf_str(&w->out), loci_str_from(part)) == w->out.len)
        fail_msg("not on the page: %s", part);
}

static void writes_the_page(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    loci_reference_page(w.ops, &w.out);
    assert_int_equal(loci_buf_check(&w.out, NULL), LOCI_OK);
    contains(&w, "# Operations\n");
    contains(&w, "## Toolset memory\n\n### add\n\nAdd two numbers. The second is 1 when it is left "
                 "out.\n\nReads. Role: read.\n\n| input | type | default | what |\n");
    contains(&w, "| `a` (required) | an integer |  | The first \\| number |\n"
                 "| `b` | an integer, `-9` to `9` | `1` |  |\n");
    contains(&w, "| `tags` | a string or an array of strings |  |  |\n");
    contains(&w, "| `how` | `\"invalid\"`, `\"missing\"`, `\"early\"`, `\"refused\"`, `\"not\"` | "
                 "`\"invalid\"` |  |\n");
    contains(&w, "Writes, takes something away. Role: write.\n");
    contains(&w, "Reads, uses files of the host. Role: read.\n");
    contains(&w, "| `path` (required) | a string, host-path |  |  |\n");
    contains(&w, "output: `{}`\n");
    contains(&w, "After keeping (after the example of `keep`):\n\n```json\n{\"text\":\"{{id}}\"");
    assert_null(strstr(w.out.ptr, "_secret"));
    const char *once = strstr(w.out.ptr, "### slow");
    assert_non_null(once);
    assert_null(strstr(once + 1, "### slow")); /* in two sets, on the page once */
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    for (unsigned long n = 1; n < 100; n++) {
        LOCI_AUTO(end) world w;
        begin(&w);
        loci_alloc_fail_at(n);
        loci_rc rc = loci_openapi_write(w.ops, &w.out, NULL);
        if (loci_alloc_fail_at(0) < n) return;
        assert_int_equal(rc, LOCI_ENOMEM);
    }
    fail_msg("more than 100 allocations");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_tools),
        cmocka_unit_test(shows_the_schemas_it_checks),
        cmocka_unit_test(writes_list_entries),
        cmocka_unit_test(writes_openapi),
        cmocka_unit_test(openapi_knows_every_code),
        cmocka_unit_test(writes_the_page),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("ops/reference", tests, NULL, NULL);
}
