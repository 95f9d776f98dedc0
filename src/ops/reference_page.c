/* docs/operations.md, made from the table. */
#include "ops/reference.h"

/* Inside a table a bar ends the cell, and a line break the row. */
static void add_cell(loci_buf *out, loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '|') loci_buf_add_char(out, '\\');
        loci_buf_add_char(out, text.ptr[i] == '\n' ? ' ' : text.ptr[i]);
    }
}

static void add_value(loci_buf *out, const loci_json *value)
{
    loci_json_writer w;

    loci_buf_add_char(out, '`');
    loci_json_begin(&w, out);
    loci_json_value(&w, value);
    loci_buf_add_char(out, '`');
}

static void add_range(const loci_schema *s, loci_buf *out)
{
    if (s->minimum && s->maximum) {
        loci_buf_add(out, LOCI_STR(", "));
        add_value(out, s->minimum);
        loci_buf_add(out, LOCI_STR(" to "));
        add_value(out, s->maximum);
    } else if (s->minimum || s->maximum) {
        loci_buf_add_cstr(out, s->minimum ? ", at least " : ", at most ");
        add_value(out, s->minimum ? s->minimum : s->maximum);
    }
    if (s->max_length != SIZE_MAX) loci_buf_printf(out, ", at most %zu characters", s->max_length);
    if (s->max_items != SIZE_MAX) loci_buf_printf(out, ", at most %zu items", s->max_items);
    if (s->format) loci_buf_printf(out, ", %.*s", LOCI_ARG(s->format_name));
}

static void add_type(const loci_schema *s, loci_buf *out)
{
    if (!s->choices) {
        loci_schema_describe(s, out);
        add_range(s, out);
        return;
    }
    for (size_t i = 0; i < s->choices->array.count; i++) {
        if (i) loci_buf_add(out, LOCI_STR(", "));
        add_value(out, &s->choices->array.items[i]);
    }
}

static void add_field(const loci_schema_property *property, loci_buf *out)
{
    loci_buf_printf(out, "| `%.*s`%s | ", LOCI_ARG(property->name),
                    property->required ? " (required)" : "");
    add_type(property->schema, out);
    loci_buf_add(out, LOCI_STR(" | "));
    if (property->schema->fallback) add_value(out, property->schema->fallback);
    loci_buf_add(out, LOCI_STR(" | "));
    add_cell(out, property->schema->description);
    loci_buf_add(out, LOCI_STR(" |\n"));
}

static void add_fields(const char *heading, const loci_schema *schema, loci_buf *out)
{
    if (schema->property_count == 0) {
        loci_buf_printf(out, "%s: `{}`\n\n", heading);
        return;
    }
    loci_buf_printf(out, "| %s | type | default | what |\n|---|---|---|---|\n", heading);
    for (size_t i = 0; i < schema->property_count; i++) add_field(&schema->properties[i], out);
    loci_buf_add_char(out, '\n');
}

static void add_flags(const loci_op *row, loci_buf *out)
{
    bool reads = row->flags & LOCI_OP_READS;

    loci_buf_printf(out, "%s", reads ? "Reads" : "Writes");
    if (row->flags & LOCI_OP_DESTRUCTIVE) loci_buf_add_cstr(out, ", takes something away");
    if (row->flags & LOCI_OP_IDEMPOTENT) loci_buf_add_cstr(out, ", may be repeated");
    if (row->flags & LOCI_OP_FILES) loci_buf_add_cstr(out, ", uses files of the host");
    loci_buf_printf(out, ". Role: %s.\n\n",
                    row->flags & LOCI_OP_ADMIN ? "admin"
                    : reads                    ? "read"
                                               : "write");
}

static void add_examples(const loci_op *row, loci_buf *out)
{
    for (size_t i = 0; i < LOCI_OP_EXAMPLES && row->examples[i].title; i++) {
        const loci_op_example *example = &row->examples[i];
        loci_buf_printf(out, "%s", example->title);
        if (example->needs) loci_buf_printf(out, " (after the example of `%s`)", example->needs);
        loci_buf_printf(out, ":\n\n```json\n%s\n```\n\n", example->input);
    }
}

static void add_op(const loci_op_info *op, loci_buf *out)
{
    loci_buf_printf(out, "### %s\n\n%s.", op->row->name, op->row->help);
    if (op->row->description[0]) loci_buf_printf(out, " %s", op->row->description);
    loci_buf_add(out, LOCI_STR("\n\n"));
    add_flags(op->row, out);
    add_fields("input", op->input, out);
    add_fields("output", op->output, out);
    add_examples(op->row, out);
}

/* Each operation stands once, in the first of its sets. */
static void add_toolset(const loci_ops *ops, loci_toolsets set, loci_buf *out)
{
    loci_ops_filter filter = { .toolsets = set };
    const loci_op_info *op;
    bool any = false;

    for (size_t cursor = 0; (op = loci_ops_next(ops, filter, &cursor));) {
        if (op->row->toolsets & (set - 1)) continue;
        if (!any) loci_buf_printf(out, "## Toolset %s\n\n", loci_toolsets_name(set));
        any = true;
        add_op(op, out);
    }
}

void loci_reference_page(const loci_ops *ops, loci_buf *out)
{
    loci_buf_add_cstr(out,
                      "# Operations\n\n"
                      "This page is generated from the operations table. Every operation can be "
                      "called as `POST /v1/ops/NAME`, as\nan MCP tool and as `loci call NAME`, "
                      "with the same input and the same output.\n\n");
    for (loci_toolsets set = 1; set & LOCI_TOOLSET_ALL; set <<= 1) add_toolset(ops, set, out);
}
