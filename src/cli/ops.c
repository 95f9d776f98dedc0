/* loci ops: the table of operations for people and programs. */
#include "cli/cli.h"
#include "ops/reference.h"

static void write_list(const loci_ops *ops, loci_buf *out)
{
    loci_ops_filter all = { .toolsets = LOCI_TOOLSET_ALL };
    const loci_op_info *op;
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_json_object(&w);
    loci_json_name(&w, LOCI_STR("ops"));
    loci_json_array(&w);
    for (size_t cursor = 0; (op = loci_ops_next(ops, all, &cursor));) loci_reference_op(op, &w);
    loci_json_array_end(&w);
    loci_json_object_end(&w);
    loci_buf_add_char(out, '\n');
}

static int print_list(loci_cli *cli, const loci_ops *ops)
{
    enum { COLUMNS = 3 };
    loci_ops_filter all = { .toolsets = LOCI_TOOLSET_ALL };
    const loci_op_info *op;
    size_t rows = 1;
    loci_str *cells =
        loci_arena_array(cli->arena, (loci_ops_count(ops) + 1) * COLUMNS, sizeof *cells);
    loci_err err = { 0 };

    if (!cells) {
        (void)loci_arena_fail(cli->arena, &err);
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    }
    cells[0] = LOCI_STR("OPERATION");
    cells[1] = LOCI_STR("TOOLSET");
    cells[2] = LOCI_STR("WHAT");
    for (size_t cursor = 0; (op = loci_ops_next(ops, all, &cursor)); rows++) {
        cells[rows * COLUMNS] = loci_str_from(op->row->name);
        cells[rows * COLUMNS + 1] = loci_str_from(loci_toolsets_name(op->row->toolsets));
        cells[rows * COLUMNS + 2] = loci_str_from(op->row->help);
    }
    return loci_cli_rows(cli, cells, COLUMNS, rows);
}

static void write_op(const loci_op_info *op, loci_buf *out)
{
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_reference_op(op, &w);
    loci_buf_add_char(out, '\n');
}

int loci_cli_ops(loci_cli *cli)
{
    LOCI_AUTO(loci_ops_freep) loci_ops *ops = NULL;
    const loci_op_info *op = NULL;
    loci_err err = { 0 };
    loci_buf out;

    loci_rc rc = loci_table_new(&ops, &err);
    if (!rc && cli->args.word_count)
        rc = loci_ops_get(ops, loci_str_from(cli->args.words[0]), &op, &err);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (!op && !cli->args.json) return print_list(cli, ops);
    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_TEXT_MAX);
    if (op)
        write_op(op, &out);
    else
        write_list(ops, &out);
    return loci_cli_print(cli, &out);
}
