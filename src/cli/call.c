/* loci call: any operation, as it is. */
#include "cli/cli.h"

/* A value of key=value: JSON where the schema takes such a value, else text. */
static void write_value(loci_cli *cli, const loci_schema *schema, loci_str text,
                        loci_json_writer *w)
{
    const loci_json *value = NULL;
    bool only_text = schema && schema->types == 1U << LOCI_JSON_STRING;

    if (!only_text && loci_json_parse(cli->arena, text, &value, NULL) == LOCI_OK &&
        (!schema || loci_schema_pick(schema, value->type))) {
        const loci_schema *picked = schema ? loci_schema_pick(schema, value->type) : NULL;
        if (!picked || picked->types & (1U << value->type)) {
            loci_json_value(w, value);
            return;
        }
    }
    loci_json_string(w, text);
}

/* key=value words as one object. */
static loci_rc read_pairs(loci_cli *cli, const loci_op_info *op, loci_buf *out, loci_err *err)
{
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_json_object(&w);
    for (size_t i = 1; i < cli->args.word_count; i++) {
        loci_str rest = loci_str_from(cli->args.words[i]), name;
        (void)loci_str_cut(&rest, '=', &name);
        if (!rest.ptr || name.len == 0)
            return loci_fail(err, LOCI_EINVAL, "'%s' is neither a JSON object nor key=value",
                             cli->args.words[i]);
        loci_json_name(&w, name);
        write_value(cli, loci_schema_find(op->input, name), rest, &w);
    }
    loci_json_object_end(&w);
    return loci_json_check(&w, err);
}

static loci_rc read_input(loci_cli *cli, loci_buf *pairs, loci_str *ret_input, loci_err *err)
{
    const loci_op_info *op = loci_ops_find(cli->app->ops, loci_str_from(cli->args.words[0]));
    loci_str first = loci_str_from(cli->args.word_count > 1 ? cli->args.words[1] : "");

    if (!op || first.len == 0 || loci_str_find(first, LOCI_STR("=")) == first.len ||
        loci_str_starts(loci_str_trim(first), LOCI_STR("{"))) {
        if (cli->args.word_count > 2)
            return loci_fail(err, LOCI_EINVAL, "give one JSON object, or key=value words");
        *ret_input = first; /* what is no JSON is said by the operation, as over every door */
        return LOCI_OK;
    }
    loci_rc rc = read_pairs(cli, op, pairs, err);
    if (!rc) *ret_input = loci_buf_str(pairs);
    return rc;
}

int loci_cli_run_call(loci_cli *cli)
{
    loci_err err = { 0 };
    loci_str input = { 0 };
    loci_buf pairs, out;
    bool refused = false;

    loci_buf_init_arena(&pairs, cli->arena, LOCI_CLI_ANSWER_MAX);
    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_ANSWER_MAX);
    if (loci_cli_open(cli, &err)) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (read_input(cli, &pairs, &input, &err)) return loci_cli_fail(cli, &err, LOCI_EXIT_USAGE);
    if (loci_cli_call(cli, loci_str_from(cli->args.words[0]), input, &out, &refused, &err))
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    loci_buf_add_char(&out, '\n');
    int exit_code = loci_cli_print(cli, &out);
    return exit_code == LOCI_EXIT_OK && refused ? LOCI_EXIT_FAILED : exit_code;
}
