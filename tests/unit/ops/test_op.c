#include "base/alloc.h"
#include "ops/op.h"
#include "small_ops.h"
#include "test.h"

#include <string.h>

static loci_rc run_nothing(loci_call *call, loci_json_writer *out, loci_err *err)
{
    (void)call;
    (void)out;
    (void)err;
    return LOCI_OK;
}

#define EMPTY "{\"type\":\"object\",\"properties\":{}}"

/* A row that is right; tests spoil one thing each. */
static loci_op good_row(void)
{
    return (loci_op){ "good", "Do good", "",          LOCI_TOOLSET_MEMORY,       LOCI_OP_READS,
                      EMPTY,  EMPTY,     run_nothing, { { "Once", "{}", NULL } } };
}

static void expect_refused(const loci_op *rows, size_t count, const char *message)
{
    loci_op_group group = { rows, count };
    loci_ops *ops = NULL;
    loci_err err = { 0 };

    assert_int_equal(loci_ops_new(&group, 1, &ops, &err), LOCI_EINVAL);
    assert_string_equal(err.msg, message);
    assert_null(ops);
}

static void refuses_bad_rows(void **state)
{
    static const char *const bad_names[] = {
        "",    "Good",
        "1st", "a-b",
        "a b", "a1234567890123456789012345678901234567890123456789012345678901234", /* 65 bytes */
    };
    loci_op row;
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(bad_names); i++) {
        loci_op_group group = { &row, 1 };
        loci_ops *ops = NULL;
        row = good_row();
        row.name = bad_names[i];
        assert_int_equal(loci_ops_new(&group, 1, &ops, NULL), LOCI_EINVAL);
    }
#define SPOILED(change, message)                                                                   \
    do {                                                                                           \
        row = good_row();                                                                          \
        change;                                                                                    \
        expect_refused(&row, 1, "operation good: " message);                                       \
    } while (0)
    SPOILED(row.help = "", "help must be one line of at most 160 bytes");
    SPOILED(row.help = "a\nb", "help must be one line of at most 160 bytes");
    SPOILED(row.description = NULL, "description, schemas and handler must be there");
    SPOILED(row.run = NULL, "description, schemas and handler must be there");
    SPOILED(row.toolsets = 0, "must be in a toolset");
    SPOILED(row.toolsets = 1 << 20, "must be in a toolset");
    SPOILED(row.examples[0].title = NULL, "needs an example");
    SPOILED(row.flags = 0, "must either read or write");
    SPOILED(row.flags = LOCI_OP_READS | LOCI_OP_WRITES, "must either read or write");
    SPOILED(row.flags |= LOCI_OP_DESTRUCTIVE, "only a write is destructive or idempotent");
    SPOILED(row.flags |= LOCI_OP_NODE, "a node without an agent");
    SPOILED(row.input = "{\"type\":\"array\",\"items\":{}}",
            "input schema: must be an object with properties");
    SPOILED(row.output = "{\"type\":\"object\"}",
            "output schema: must be an object with properties");
    SPOILED(row.input = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"x\"}}}",
            "input schema: properties: a: type: no type 'x'");
    SPOILED(row.input = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\","
                        "\"format\":\"host-path\"}}}",
            "takes a path, but is not marked LOCI_OP_FILES");
#undef SPOILED
}

static void wants_sorted_and_unique_names(void **state)
{
    loci_op rows[2] = { good_row(), good_row() };
    loci_op_group groups[2] = { { &rows[0], 1 }, { &rows[1], 1 } };
    loci_ops *ops = NULL;
    loci_err err = { 0 };
    (void)state;

    rows[0].name = "b";
    rows[1].name = "a";
    expect_refused(rows, 2, "operation a: not sorted by name");
    rows[1].name = "b";
    expect_refused(rows, 2, "operation b: not sorted by name");
    assert_int_equal(loci_ops_new(groups, 2, &ops, &err), LOCI_EINVAL);
    assert_string_equal(err.msg, "operation b: there are two of it");
}

static void finds_by_name(void **state)
{
    LOCI_AUTO(loci_ops_freep) loci_ops *ops = small_ops();
    const loci_op_info *op = NULL;
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(loci_ops_count(ops), 9);
    for (size_t i = 0; i < loci_ops_count(ops); i++) {
        op = loci_ops_at(ops, i);
        assert_ptr_equal(loci_ops_find(ops, loci_str_from(op->row->name)), op);
        if (i) assert_true(strcmp(loci_ops_at(ops, i - 1)->row->name, op->row->name) < 0);
    }
    assert_null(loci_ops_at(ops, 9));
    assert_null(loci_ops_find(ops, LOCI_STR("")));
    assert_null(loci_ops_find(ops, (loci_str){ "add\0", 4 }));
    op = NULL;
    assert_int_equal(loci_ops_get(ops, LOCI_STR("ehco"), &op, &err), LOCI_ENOTFOUND);
    assert_string_equal(err.msg, "there is no operation 'ehco'; did you mean 'echo'?");
    assert_int_equal(loci_ops_get(ops, LOCI_STR("_secrt"), &op, &err), LOCI_ENOTFOUND);
    assert_string_equal(err.msg, "there is no operation '_secrt'");
    assert_null(op);
}

static void adds_fields(void **state)
{
    LOCI_AUTO(loci_ops_freep) loci_ops *ops = small_ops();
    static const struct {
        const char *op, *field;
        bool there;
    } cases[] = {
        { "add", "request_id", false }, { "add", "agent", false },
        { "keep", "request_id", true }, { "keep", "agent", true },
        { "keep", "node", false },      { "echo", "agent", true },
        { "echo", "node", true },       { "slow", "request_id", true },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        const loci_op_info *op = loci_ops_find(ops, loci_str_from(cases[i].op));
        assert_int_equal(!!loci_schema_find(op->input, loci_str_from(cases[i].field)),
                         cases[i].there);
    }
}

static void lists(const loci_ops *ops, loci_ops_filter filter, const char *want)
{
    char names[200] = "";
    const loci_op_info *op;
    size_t at = 0;

    for (size_t cursor = 0; (op = loci_ops_next(ops, filter, &cursor));)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s ", op->row->name);
    assert_string_equal(names, want);
}

static void iterates_by_toolset(void **state)
{
    LOCI_AUTO(loci_ops_freep) loci_ops *ops = small_ops();
    (void)state;

    lists(ops, (loci_ops_filter){ LOCI_TOOLSET_MEMORY, false }, "add echo keep ");
    lists(ops, (loci_ops_filter){ LOCI_TOOLSET_MEMORY, true }, "add echo ");
    lists(ops, (loci_ops_filter){ LOCI_TOOLSET_JOURNAL, false }, "slow ");
    lists(ops, (loci_ops_filter){ LOCI_TOOLSET_RESEARCH, false }, "");
    lists(ops, (loci_ops_filter){ LOCI_TOOLSET_ALL, false },
          "add echo fail keep lie promote read_file slow ");
    lists(ops, (loci_ops_filter){ 0, false }, "");
}

static void parses_toolsets(void **state)
{
    static const struct {
        const char *list;
        loci_toolsets want;
    } cases[] = {
        { "", LOCI_TOOLSET_DEFAULT },
        { "  ", LOCI_TOOLSET_DEFAULT },
        { "memory", LOCI_TOOLSET_MEMORY },
        { " tree , admin ", LOCI_TOOLSET_TREE | LOCI_TOOLSET_ADMIN },
        { "all", LOCI_TOOLSET_ALL },
        { "all,files", LOCI_TOOLSET_ALL },
    };
    loci_toolsets sets = 99;
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(loci_toolsets_parse(LOCI_STR("memory,jurnal"), &sets, &err), LOCI_EINVAL);
    assert_string_equal(err.msg,
                        "there is no toolset 'jurnal'; did you mean 'journal'? There are memory, "
                        "session, journal, letta, tree, research, files, admin and all.");
    assert_int_equal(loci_toolsets_parse(LOCI_STR("memory,,tree"), &sets, &err), LOCI_EINVAL);
    assert_string_equal(err.msg,
                        "there is no toolset ''. There are memory, session, journal, letta, tree, "
                        "research, files, admin and all.");
    assert_int_equal(sets, 99);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        assert_ok(loci_toolsets_parse(loci_str_from(cases[i].list), &sets, &err), err);
        assert_int_equal(sets, cases[i].want);
    }
    assert_string_equal(loci_toolsets_name(LOCI_TOOLSET_SESSION | LOCI_TOOLSET_JOURNAL), "session");
    assert_string_equal(loci_toolsets_name(0), "none");
}

static void survives_failing_allocations(void **state)
{
    loci_op row = good_row();
    loci_op_group group = { &row, 1 };
    (void)state;

    for (unsigned long n = 1; n < 200; n++) {
        loci_ops *ops = NULL;
        loci_alloc_fail_at(n);
        loci_rc rc = loci_ops_new(&group, 1, &ops, NULL);
        unsigned long asked = loci_alloc_fail_at(0);
        loci_ops_free(ops);
        if (asked < n) {
            assert_int_equal(rc, LOCI_OK);
            return;
        }
        assert_int_equal(rc, LOCI_ENOMEM);
    }
    fail_msg("more than 200 allocations");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_bad_rows),
        cmocka_unit_test(wants_sorted_and_unique_names),
        cmocka_unit_test(finds_by_name),
        cmocka_unit_test(adds_fields),
        cmocka_unit_test(iterates_by_toolset),
        cmocka_unit_test(parses_toolsets),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("ops/op", tests, NULL, NULL);
}
