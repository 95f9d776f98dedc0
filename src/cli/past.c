/* loci agents, log, diff and undo: operations with a face for people. */
#include "base/json.h"
#include "base/utf8.h"
#include "cli/cli.h"

enum { COLUMNS_MAX = 8, CELL_MAX = 72 };

/* A column: its heading, and where its value is in a result: names with dots between, the first of
 * several (with | between) that is there. */
typedef struct column {
    const char *heading;
    const char *path;
} column;

static const loci_json *follow(const loci_json *value, loci_str path)
{
    loci_str name;

    while (value && loci_str_cut(&path, '.', &name)) value = loci_json_find(value, name);
    return value && value->type != LOCI_JSON_NULL ? value : NULL;
}

/* Long texts are cut: the whole is in the JSON. */
static loci_str cell_text(loci_cli *cli, const loci_json *value)
{
    loci_buf text;
    loci_json_writer w;

    if (value->type == LOCI_JSON_STRING) return loci_utf8_cut(value->string, CELL_MAX);
    loci_buf_init_arena(&text, cli->arena, LOCI_CLI_TEXT_MAX);
    loci_json_begin(&w, &text);
    loci_json_value(&w, value);
    return loci_utf8_cut(loci_buf_str(&text), CELL_MAX);
}

static loci_str find_cell(loci_cli *cli, const loci_json *row, const char *path)
{
    loci_str rest = loci_str_from(path), one;

    while (loci_str_cut(&rest, '|', &one)) {
        const loci_json *value = follow(row, one);
        if (value) return cell_text(cli, value);
    }
    return LOCI_STR("-");
}

static int print_results(loci_cli *cli, const loci_json *answer, const column *columns,
                         size_t count)
{
    const loci_json *rows = loci_json_find(answer, LOCI_STR("results"));
    size_t n = rows && rows->type == LOCI_JSON_ARRAY ? rows->array.count : 0;
    loci_str *cells = loci_arena_array(cli->arena, (n + 1) * count, sizeof *cells);
    loci_err err = { 0 };

    if (!cells) {
        (void)loci_arena_fail(cli->arena, &err);
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    }
    for (size_t c = 0; c < count; c++) cells[c] = loci_str_from(columns[c].heading);
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < count; c++)
            cells[(r + 1) * count + c] = find_cell(cli, &rows->array.items[r], columns[c].path);
    return loci_cli_rows(cli, cells, count, n + 1);
}

/* The operation's input: the agent, if there is one, and the options that were given. */
static loci_rc make_input(loci_cli *cli, const char *agent, loci_buf *out, loci_err *err)
{
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_json_object(&w);
    if (agent) loci_json_member_cstr(&w, "agent", agent);
    for (size_t i = 0; i < cli->args.given_count; i++) {
        const loci_option *option = cli->args.given[i].option;
        loci_str value = loci_str_from(cli->args.given[i].value);
        int64_t number;
        if (!option->value)
            loci_json_member_bool(&w, option->name, true);
        else if (loci_str_eq(loci_str_from(option->value), LOCI_STR("N")) &&
                 loci_str_to_i64(value, &number))
            loci_json_member_int(&w, option->name, number);
        else
            loci_json_member_str(&w, option->name, value);
    }
    loci_json_object_end(&w);
    return loci_json_check(&w, err);
}

static int show(loci_cli *cli, loci_str op, const char *agent, const column *columns, size_t count)
{
    loci_buf input, out;
    const loci_json *answer = NULL;
    bool refused = false;
    loci_err err = { 0 };

    loci_buf_init_arena(&input, cli->arena, LOCI_CLI_TEXT_MAX);
    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_ANSWER_MAX);
    loci_rc rc = make_input(cli, agent, &input, &err);
    if (!rc) rc = loci_cli_call(cli, op, loci_buf_str(&input), &out, &refused, &err);
    if (!rc && !cli->args.json) rc = loci_json_parse(cli->arena, loci_buf_str(&out), &answer, &err);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (answer) return print_results(cli, answer, columns, count);
    loci_buf_add_char(&out, '\n');
    return loci_cli_print(cli, &out);
}

int loci_cli_agents(loci_cli *cli)
{
    static const column columns[] = {
        { "NAME", "name" }, { "ID", "id" }, { "CREATED", "created_at" }, { "ABOUT", "description" }
    };
    return show(cli, LOCI_STR("list_agents"), NULL, columns, LOCI_COUNT(columns));
}

int loci_cli_log(loci_cli *cli)
{
    static const column columns[] = { { "WHEN", "at" },      { "WHAT", "event" },
                                      { "KIND", "kind" },    { "NAME", "name|id" },
                                      { "NODE", "node" },    { "WHO", "who" },
                                      { "THROUGH", "door" }, { "TEXT", "text" } };
    return show(cli, LOCI_STR("log"), cli->args.words[0], columns, LOCI_COUNT(columns));
}

int loci_cli_diff(loci_cli *cli)
{
    static const column columns[] = {
        { "WHAT", "event" },
        { "KIND", "kind" },
        { "NAME", "name|id" },
        { "NODE", "node" },
        { "FIELDS", "fields" },
        { "BEFORE", "old.text|old.value|old.name" },
        { "AFTER", "new.text|new.value|new.name" },
    };
    return show(cli, LOCI_STR("diff"), cli->args.words[0], columns, LOCI_COUNT(columns));
}

int loci_cli_undo(loci_cli *cli)
{
    static const column columns[] = {
        { "DONE", "event" }, { "KIND", "kind" }, { "NAME", "name|id" }, { "NODE", "node" }
    };
    return show(cli, LOCI_STR("undo"), cli->args.words[0], columns, LOCI_COUNT(columns));
}
