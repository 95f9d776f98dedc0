/* Any bytes as the input of an operation with every kind of field: the whole path, from text to
 * output. A refusal is the caller's fault, never ours, and leaves no output. */
#include "ops/call.h"

#include <assert.h>
#include <stdlib.h>

enum { CEILING = 16 << 20 };

static loci_rc op_keep(loci_call *call, loci_json_writer *out, loci_err *err)
{
    loci_in_list steps = loci_in_items(call->in, "steps"), tags = loci_in_items(call->in, "tags");
    const loci_json *metadata = loci_in_value(call->in, "metadata");
    (void)err;

    loci_json_object(out);
    loci_json_member_str(out, "text", loci_in_text(call->in, "text"));
    loci_json_member_int(out, "limit", loci_in_int(call->in, "limit"));
    loci_json_member_int(out, "mode", loci_in_choice(call->in, "mode"));
    loci_json_name(out, LOCI_STR("list"));
    loci_json_array(out);
    for (size_t i = 0; i < tags.count; i++) loci_json_string(out, loci_in_item_text(tags, i));
    for (size_t i = 0; i < steps.count; i++)
        loci_json_string(out, loci_in_text(loci_in_item(steps, i), "action"));
    loci_json_array_end(out);
    if (metadata) {
        loci_json_name(out, LOCI_STR("metadata"));
        loci_json_value(out, metadata);
    }
    loci_json_object_end(out);
    return LOCI_OK;
}

static const loci_op rows[] = {
    { "keep",
      "Keep a thing",
      "",
      LOCI_TOOLSET_MEMORY,
      LOCI_OP_WRITES | LOCI_OP_AGENT | LOCI_OP_NODE,
      "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"maxLength\":100},"
      "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,\"default\":10},"
      "\"mode\":{\"enum\":[\"hybrid\",\"text\"],\"default\":\"text\"},"
      "\"tags\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"items\":{\"type\":"
      "\"string\"}}]},\"metadata\":{\"type\":\"object\"},"
      "\"steps\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"action\":"
      "{\"type\":\"string\",\"default\":\"go\"}}}}}}",
      "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"},\"limit\":{\"type\":"
      "\"integer\",\"minimum\":1,\"maximum\":1000},\"mode\":{\"type\":\"integer\",\"minimum\":0},"
      "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"metadata\":{\"type\":"
      "\"object\"}}}",
      op_keep,
      { { "A text", "{\"text\":\"hello\"}", NULL } } },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static loci_ops *ops; /* made once, lives as long as the program */
    const loci_op_group group = LOCI_OP_GROUP(rows);
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    LOCI_AUTO(loci_buf_done) loci_buf out;
    loci_caller who = { .role = LOCI_ROLE_WRITE, .agent = LOCI_STR("a"), .agent_bound = true };
    loci_call call = {
        .arena = arena, .who = &who, .check_output = true, .idempotency_key = LOCI_STR("k")
    };
    loci_err err = { 0 };

    loci_buf_init(&out, CEILING);
    if (!ops && loci_ops_new(&group, 1, &ops, &err)) abort();
    loci_str text = { (const char *)data, size };
    loci_rc rc = loci_ops_call(ops, &call, LOCI_STR("keep"), text, &out, &err);
    assert((rc == LOCI_OK) == (out.len > 0));
    assert(rc == LOCI_OK || rc == LOCI_ESHAPE || rc == LOCI_EDENIED || rc == LOCI_ECONFLICT ||
           rc == LOCI_ELIMIT);
    return 0;
}
