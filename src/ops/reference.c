#include "ops/reference.h"

/* "Archival memory insert" from archival_memory_insert. */
static void write_title(const loci_op_info *op, loci_json_writer *w)
{
    char title[LOCI_OP_NAME_MAX + 1] = { 0 };
    size_t n = 0;

    for (const char *c = op->row->name; *c && n < LOCI_OP_NAME_MAX; c++) {
        if (n == 0 && *c == '_') continue;
        title[n] = *c == '_' ? ' ' : *c;
        if (n == 0 && *c >= 'a' && *c <= 'z') title[n] = (char)(*c - 'a' + 'A');
        n++;
    }
    loci_json_member_cstr(w, "title", title);
}

static void write_annotations(const loci_op_info *op, loci_json_writer *w)
{
    unsigned flags = op->row->flags;
    bool reads = flags & LOCI_OP_READS;

    loci_json_name(w, LOCI_STR("annotations"));
    loci_json_object(w);
    write_title(op, w);
    loci_json_member_bool(w, "readOnlyHint", reads);
    loci_json_member_bool(w, "destructiveHint", flags & LOCI_OP_DESTRUCTIVE);
    loci_json_member_bool(w, "idempotentHint", reads || flags & LOCI_OP_IDEMPOTENT);
    loci_json_member_bool(w, "openWorldHint", flags & LOCI_OP_FILES);
    loci_json_object_end(w);
}

static void write_schema(loci_json_writer *w, const char *name, const loci_schema *schema)
{
    loci_json_name(w, loci_str_from(name));
    loci_schema_write(schema, w);
}

void loci_reference_tool(const loci_op_info *op, loci_json_writer *w)
{
    loci_json_object(w);
    loci_json_member_cstr(w, "name", op->row->name);
    write_title(op, w);
    loci_json_member_str(w, "description", op->about);
    write_schema(w, "inputSchema", op->input);
    write_schema(w, "outputSchema", op->output);
    write_annotations(op, w);
    loci_json_object_end(w);
}

static void write_examples(const loci_op *row, loci_json_writer *w)
{
    loci_json_name(w, LOCI_STR("examples"));
    loci_json_array(w);
    for (size_t i = 0; i < LOCI_OP_EXAMPLES && row->examples[i].title; i++) {
        loci_json_object(w);
        loci_json_member_cstr(w, "title", row->examples[i].title);
        loci_json_name(w, LOCI_STR("input"));
        loci_json_raw(w, loci_str_from(row->examples[i].input));
        if (row->examples[i].needs) loci_json_member_cstr(w, "needs", row->examples[i].needs);
        loci_json_object_end(w);
    }
    loci_json_array_end(w);
}

void loci_reference_op(const loci_op_info *op, loci_json_writer *w)
{
    const loci_op *row = op->row;

    loci_json_object(w);
    loci_json_member_cstr(w, "name", row->name);
    loci_json_member_cstr(w, "help", row->help);
    loci_json_member_cstr(w, "description", row->description);
    loci_json_member_cstr(w, "toolset", loci_toolsets_name(row->toolsets));
    loci_json_member_bool(w, "reads", row->flags & LOCI_OP_READS);
    loci_json_member_bool(w, "writes", row->flags & LOCI_OP_WRITES);
    loci_json_member_bool(w, "destructive", row->flags & LOCI_OP_DESTRUCTIVE);
    loci_json_member_bool(w, "idempotent", row->flags & (LOCI_OP_READS | LOCI_OP_IDEMPOTENT));
    loci_json_member_bool(w, "touches_files", row->flags & LOCI_OP_FILES);
    loci_json_member_bool(w, "admin", row->flags & LOCI_OP_ADMIN);
    write_schema(w, "input", op->input);
    write_schema(w, "output", op->output);
    write_examples(row, w);
    loci_json_object_end(w);
}
