#include "examples.h"

#include "test.h"

#include <string.h>

enum { ARENA_BYTES = 64 << 20, OUTPUT_BYTES = 16 << 20, LONGEST_CHAIN = 8 };

/* A JSON string's text as it stands between quotes. */
static void add_escaped(loci_buf *out, loci_arena *arena, loci_str text)
{
    loci_buf quoted;
    loci_json_writer w;

    loci_buf_init_arena(&quoted, arena, OUTPUT_BYTES);
    loci_json_begin(&w, &quoted);
    loci_json_string(&w, text);
    loci_buf_add(out, loci_str_sub(loci_buf_str(&quoted), 1, quoted.len - 2));
}

/* The text that {{name}} stands for. */
static loci_str text_of(const loci_json *before, loci_str name)
{
    const loci_json *value = loci_json_find(before, name);

    if (value && value->type == LOCI_JSON_STRING) return value->string;
    fail_msg("{{%.*s}}: no such text in the output of the example before", LOCI_ARG(name));
    return LOCI_STR("");
}

/* The example's input with each {{name}} replaced from the output of the one before. JSON itself
 * never has two opening braces in a row. */
static loci_str fill_in(loci_arena *arena, loci_str text, const loci_json *before)
{
    loci_buf out;

    loci_buf_init_arena(&out, arena, OUTPUT_BYTES);
    for (;;) {
        size_t at = loci_str_find(text, LOCI_STR("{{"));
        loci_str rest = loci_str_sub(text, at + 2, text.len);
        size_t end = loci_str_find(rest, LOCI_STR("}}"));
        loci_buf_add(&out, loci_str_sub(text, 0, at));
        if (end == rest.len) break;
        add_escaped(&out, arena, text_of(before, loci_str_sub(rest, 0, end)));
        text = loci_str_sub(rest, end + 2, rest.len);
    }
    return loci_buf_str(&out);
}

static const loci_json *run_one(const loci_ops *ops, loci_call *call, const loci_op_info *op,
                                const loci_op_example *example, size_t depth)
{
    const loci_json *before = NULL, *output = NULL;
    loci_err err = { 0 };
    loci_buf out;

    if (depth == LONGEST_CHAIN) fail_msg("%s: its examples need each other", op->row->name);
    if (example->needs) {
        const loci_op_info *earlier = loci_ops_find(ops, loci_str_from(example->needs));
        if (!earlier)
            fail_msg("%s: needs the unknown %s", op->row->name, example->needs);
        else
            before = run_one(ops, call, earlier, &earlier->row->examples[0], depth + 1);
    }
    loci_str input = loci_str_from(example->input);
    if (example->needs) input = fill_in(call->arena, input, before);
    loci_buf_init_arena(&out, call->arena, OUTPUT_BYTES);
    loci_rc rc = loci_ops_call(ops, call, loci_str_from(op->row->name), input, &out, &err);
    if (!rc) rc = loci_json_parse(call->arena, loci_buf_str(&out), &output, &err);
    if (rc || call->refused)
        fail_msg("%s, \"%s\": %s", op->row->name, example->title, rc ? err.msg : "refused");
    return output;
}

size_t run_every_example(const loci_ops *ops, prepare_call prepare, void *state)
{
    size_t count = 0;

    for (size_t i = 0; i < loci_ops_count(ops); i++) {
        const loci_op_info *op = loci_ops_at(ops, i);
        for (size_t k = 0; k < LOCI_OP_EXAMPLES && op->row->examples[k].title; k++, count++) {
            LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(ARENA_BYTES);
            loci_call call = { .arena = arena, .check_output = true };
            prepare(&call, state);
            (void)run_one(ops, &call, op, &op->row->examples[k], 0);
        }
    }
    return count;
}
