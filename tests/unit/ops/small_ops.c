#include "small_ops.h"

#include "test.h"

static loci_rc op_add(loci_call *call, loci_json_writer *out, loci_err *err)
{
    int64_t a = loci_in_int(call->in, "a"), b = loci_in_int(call->in, "b"), sum;

    if (LOCI_ADD_OVERFLOWS(a, b, &sum)) return loci_fail(err, LOCI_EINVAL, "the sum is too large");
    loci_json_object(out);
    loci_json_member_int(out, "sum", sum);
    loci_json_object_end(out);
    return LOCI_OK;
}

/* Shows what a handler sees of its call. */
static loci_rc op_echo(loci_call *call, loci_json_writer *out, loci_err *err)
{
    loci_in_list tags = loci_in_items(call->in, "tags");
    const loci_json *metadata = loci_in_value(call->in, "metadata");
    (void)err;

    loci_json_object(out);
    loci_json_member_str(out, "text", loci_in_text(call->in, "text"));
    loci_json_member_str(out, "agent", call->agent);
    loci_json_member_str(out, "node", call->node);
    loci_json_name(out, LOCI_STR("tags"));
    loci_json_array(out);
    for (size_t i = 0; i < tags.count; i++) loci_json_string(out, loci_in_item_text(tags, i));
    loci_json_array_end(out);
    if (metadata) {
        loci_json_name(out, LOCI_STR("metadata"));
        loci_json_value(out, metadata);
    }
    loci_json_object_end(out);
    return LOCI_OK;
}

static loci_rc op_fail(loci_call *call, loci_json_writer *out, loci_err *err)
{
    static const loci_rc codes[] = { LOCI_EINVAL, LOCI_ENOTFOUND, LOCI_DONE, LOCI_OK, LOCI_OK };
    int how = loci_in_choice(call->in, "how");

    loci_json_object(out);
    loci_json_member_cstr(out, "half", "written");
    if (codes[how] == LOCI_OK) {
        loci_json_object_end(out);
        call->refused = how == 3;
        return LOCI_OK;
    }
    if (codes[how] == LOCI_DONE) return LOCI_DONE;
    return loci_fail(err, codes[how], "asked to fail");
}

/* Its output does not fit its schema when it is asked to lie. */
static loci_rc op_lie(loci_call *call, loci_json_writer *out, loci_err *err)
{
    (void)err;
    loci_json_object(out);
    if (loci_in_bool(call->in, "lie"))
        loci_json_member_cstr(out, "truth", "42");
    else
        loci_json_member_int(out, "truth", 42);
    loci_json_object_end(out);
    return LOCI_OK;
}

static loci_rc op_keep(loci_call *call, loci_json_writer *out, loci_err *err)
{
    char hex[2 * LOCI_SHA256_LEN + 1];
    (void)err;

    call->app->kept++;
    loci_hash_to_hex(call->input_hash, sizeof call->input_hash, hex);
    loci_json_object(out);
    loci_json_member_cstr(out, "id", "thing \"one\"");
    loci_json_member_str(out, "key", call->write_key);
    loci_json_member_cstr(out, "hash", call->write_key.len ? hex : NULL);
    loci_json_object_end(out);
    return LOCI_OK;
}

static loci_rc op_nothing(loci_call *call, loci_json_writer *out, loci_err *err)
{
    (void)call;
    (void)out;
    (void)err;
    return LOCI_OK;
}

static loci_rc op_read_file(loci_call *call, loci_json_writer *out, loci_err *err)
{
    loci_str path;
    loci_rc rc = loci_call_path(call, loci_in_text(call->in, "path"), &path, err);
    if (rc) return rc;
    loci_json_object(out);
    loci_json_member_str(out, "path", path);
    loci_json_object_end(out);
    return LOCI_OK;
}

static loci_rc op_slow(loci_call *call, loci_json_writer *out, loci_err *err)
{
    int64_t steps = loci_in_int(call->in, "steps");
    (void)out;

    for (int64_t i = 0; i <= steps; i++) {
        loci_rc rc = loci_call_check(call, err);
        if (rc) return rc;
        int64_t done = i / 2; /* every value twice: only the first is passed on */
        loci_call_progress(call, (double)done, (double)steps, LOCI_STR("working"));
    }
    return LOCI_OK;
}

/* Nodes that are no aliases of the call's node. */
static loci_rc op_promote(loci_call *call, loci_json_writer *out, loci_err *err)
{
    loci_rc rc = loci_call_fence(call, loci_in_text(call->in, "node_id"), err);
    if (rc) return rc;
    loci_json_object(out);
    loci_json_member_str(out, "node", call->node);
    loci_json_object_end(out);
    return LOCI_OK;
}

static const loci_op first_rows[] = {
    { "add",
      "Add two numbers",
      "The second is 1 when it is left out.",
      LOCI_TOOLSET_MEMORY,
      LOCI_OP_READS | LOCI_OP_OFF_TREE,
      "{\"type\":\"object\",\"properties\":{"
      "\"a\":{\"type\":\"integer\",\"description\":\"The first | number\"},"
      "\"b\":{\"type\":\"integer\",\"minimum\":-9,\"maximum\":9,\"default\":1}},"
      "\"required\":[\"a\"]}",
      "{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"integer\"}},"
      "\"required\":[\"sum\"]}",
      op_add,
      { { "Two and three", "{\"a\":2,\"b\":3}", NULL }, { "One more", "{\"a\":2}", NULL } } },
    { "echo",
      "Give back what was said",
      "",
      LOCI_TOOLSET_MEMORY | LOCI_TOOLSET_TREE,
      LOCI_OP_READS | LOCI_OP_AGENT | LOCI_OP_NODE,
      "{\"type\":\"object\",\"properties\":{"
      "\"text\":{\"type\":\"string\",\"maxLength\":1000,\"default\":\"hello\"},"
      "\"node_id\":{\"type\":\"string\"},\"agent_id\":{\"type\":\"string\"},"
      "\"tags\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":"
      "\"string\"}}]},"
      "\"metadata\":{\"type\":[\"object\",\"null\"]}}}",
      "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"agent\":{\"type\":"
      "\"string\"},\"node\":{\"type\":\"string\"},\"tags\":{\"type\":\"array\",\"items\":{\"type\":"
      "\"string\"}},\"metadata\":{\"type\":\"object\"}}}",
      op_echo,
      { { "After keeping", "{\"text\":\"{{id}}\",\"metadata\":{\"a\":{\"b\":1}}}", "keep" } } },
    { "fail",
      "Fail in one of several ways",
      "",
      LOCI_TOOLSET_ADMIN,
      LOCI_OP_READS | LOCI_OP_ADMIN,
      "{\"type\":\"object\",\"properties\":{\"how\":{\"enum\":[\"invalid\",\"missing\",\"early\","
      "\"refused\",\"not\"],\"default\":\"invalid\"},\"really\":{\"const\":true}},"
      "\"required\":[\"really\"]}",
      "{\"type\":\"object\",\"properties\":{\"half\":{\"type\":\"string\"}}}",
      op_fail,
      { { "Not at all", "{\"really\":true,\"how\":\"not\"}", NULL } } },
    { "lie",
      "Say 42",
      "",
      LOCI_TOOLSET_ADMIN,
      LOCI_OP_READS,
      "{\"type\":\"object\",\"properties\":{\"lie\":{\"type\":\"boolean\",\"default\":false}}}",
      "{\"type\":\"object\",\"properties\":{\"truth\":{\"type\":\"integer\"}},"
      "\"required\":[\"truth\"]}",
      op_lie,
      { { "The truth", "{}", NULL } } },
};

static const loci_op second_rows[] = {
    { "_secret",
      "Work, but stand in no list",
      "",
      LOCI_TOOLSET_RESEARCH,
      LOCI_OP_READS | LOCI_OP_HIDDEN,
      "{\"type\":\"object\",\"properties\":{}}",
      "{\"type\":\"object\",\"properties\":{}}",
      op_nothing,
      { { "Call it", "{}", NULL } } },
    { "keep",
      "Keep a thing",
      "",
      LOCI_TOOLSET_MEMORY,
      LOCI_OP_WRITES | LOCI_OP_AGENT | LOCI_OP_IDEMPOTENT,
      "{\"type\":\"object\",\"properties\":{\"thing\":{}}}",
      "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"key\":{\"type\":"
      "\"string\"},\"hash\":{\"type\":[\"string\",\"null\"]}}}",
      op_keep,
      { { "Keep a list", "{\"thing\":[1,2,3]}", NULL } } },
    { "promote",
      "Name two nodes",
      "",
      LOCI_TOOLSET_TREE,
      LOCI_OP_WRITES | LOCI_OP_AGENT | LOCI_OP_NODE | LOCI_OP_OWN_FENCE,
      "{\"type\":\"object\",\"properties\":{\"node_id\":{\"type\":\"string\"}}}",
      "{\"type\":\"object\",\"properties\":{\"node\":{\"type\":\"string\"}}}",
      op_promote,
      { { "Both", "{\"node\":\"a\",\"node_id\":\"b\"}", NULL } } },
    { "read_file",
      "Say which file it would read",
      "",
      LOCI_TOOLSET_FILES,
      LOCI_OP_READS | LOCI_OP_FILES,
      "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"format\":"
      "\"host-path\"}},\"required\":[\"path\"]}",
      "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"}}}",
      op_read_file,
      { { "The root", "{\"path\":\"/\"}", NULL } } },
    { "slow",
      "Take some steps",
      "",
      LOCI_TOOLSET_SESSION | LOCI_TOOLSET_JOURNAL,
      LOCI_OP_WRITES | LOCI_OP_DESTRUCTIVE,
      "{\"type\":\"object\",\"properties\":{\"steps\":{\"type\":\"integer\",\"minimum\":0,"
      "\"default\":4}}}",
      "{\"type\":\"object\",\"properties\":{}}",
      op_slow,
      { { "Four", "{}", NULL } } },
};

loci_ops *small_ops(void)
{
    const loci_op_group groups[] = { LOCI_OP_GROUP(first_rows), LOCI_OP_GROUP(second_rows) };
    loci_ops *ops = NULL;
    loci_err err = { 0 };

    assert_ok(loci_ops_new(groups, LOCI_COUNT(groups), &ops, &err), err);
    return ops;
}
