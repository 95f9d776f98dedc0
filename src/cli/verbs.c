/* Commands that are one operation with a face for people: words and options become its input, its
 * answer becomes a table, or stays JSON with --json. */
#include "cli/cli.h"

#include <assert.h>
#include <string.h>

enum { COLUMNS_MAX = 8 };

/* Where a field of the input comes from. */
typedef struct field {
    const char *name;
    const char *option; /* its option; NULL: the first word */
    bool is_switch;
} field;

typedef struct verb {
    const char *command, *op;
    const field *fields; /* end with a NULL name */
    const char *columns; /* of the table made from `results`, separated by commas; NULL: none */
    bool whole;          /* of the whole store, not of one organization */
} verb;

static const field no_fields[] = { { NULL, NULL, false } };
static const field agent_word[] = { { "agent", NULL, false }, { NULL, NULL, false } };
static const field diff_fields[] = { { "agent", NULL, false },
                                     { "from", "from", false },
                                     { "to", "to", false },
                                     { NULL, NULL, false } };
static const field undo_fields[] = { { "agent", NULL, false },
                                     { "to", "to", false },
                                     { "shared", "shared", true },
                                     { "dry_run", "dry-run", true },
                                     { NULL, NULL, false } };
static const field export_fields[] = { { "path", NULL, false },
                                       { "agent", "agent", false },
                                       { "vectors", "vectors", true },
                                       { "replace", "replace", true },
                                       { NULL, NULL, false } };
static const field path_word[] = { { "path", NULL, false }, { NULL, NULL, false } };
static const field doctor_fields[] = { { "fix", "fix", true }, { NULL, NULL, false } };

static const verb verbs[] = {
    /* clang-format off */
    { "status", "status",      no_fields,     NULL, false },
    { "agents", "list_agents", no_fields,     "name,id,agent_type,created_at", false },
    { "log",    "log",         agent_word,    "at,event,kind,name,node,who,door,text", false },
    { "diff",   "diff",        diff_fields,   "event,kind,name,node,id,fields", false },
    { "undo",   "undo",        undo_fields,   "event,kind,name,node,id", false },
    { "export", "export",      export_fields, NULL, true },
    { "import", "import",      path_word,     NULL, true },
    { "doctor", "doctor",      doctor_fields, "severity,check,count,what,fixed", true },
    /* clang-format on */
};

static const verb *find_verb(const char *command)
{
    for (size_t i = 0; i < LOCI_COUNT(verbs); i++)
        if (strcmp(verbs[i].command, command) == 0) return &verbs[i];
    return NULL;
}

static void write_input(const loci_cli *cli, const verb *v, loci_buf *input)
{
    loci_json_writer w;

    loci_json_begin(&w, input);
    loci_json_object(&w);
    for (const field *f = v->fields; f->name; f++) {
        const char *value = f->option ? loci_args_find(&cli->args, f->option) : cli->args.words[0];
        if (!value) continue;
        if (f->is_switch)
            loci_json_member_bool(&w, f->name, true);
        else
            loci_json_member_cstr(&w, f->name, value);
    }
    /* Whoever examines or copies a store means all of it, unless --org or --agent says otherwise.
     */
    if (v->whole && !cli->args.org && !loci_args_find(&cli->args, "agent"))
        loci_json_member_bool(&w, "all_organizations", true);
    loci_json_object_end(&w);
}

/* A value as one cell: texts as they are, nothing as "-", the rest as JSON. */
static loci_str cell_of(loci_cli *cli, const loci_json *value)
{
    loci_json_writer w;
    loci_buf text;

    if (!value || value->type == LOCI_JSON_NULL) return LOCI_STR("-");
    if (value->type == LOCI_JSON_STRING) return value->string;
    loci_buf_init_arena(&text, cli->arena, LOCI_CLI_TEXT_MAX);
    loci_json_begin(&w, &text);
    loci_json_value(&w, value);
    return loci_buf_str(&text);
}

static size_t split(const char *columns, loci_str names[COLUMNS_MAX])
{
    loci_str rest = loci_str_from(columns);
    size_t count = 0;

    while (count < COLUMNS_MAX && loci_str_cut(&rest, ',', &names[count])) count++;
    return count;
}

/* `results` as rows under their names. */
static int print_results(loci_cli *cli, const loci_json *results, const char *columns)
{
    loci_str names[COLUMNS_MAX];
    size_t width = split(columns, names), count = results->array.count;
    loci_str *cells = loci_arena_array(cli->arena, (count + 1) * width, sizeof *cells);
    loci_err err = { 0 };

    if (!cells) {
        (void)loci_arena_fail(cli->arena, &err);
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    }
    for (size_t c = 0; c < width; c++) cells[c] = names[c];
    for (size_t r = 0; r < count; r++)
        for (size_t c = 0; c < width; c++)
            cells[(r + 1) * width + c] =
                cell_of(cli, loci_json_find(&results->array.items[r], names[c]));
    return loci_cli_rows(cli, cells, width, count + 1);
}

/* The other members, one per line. */
static int print_members(loci_cli *cli, const loci_json *answer)
{
    size_t count = answer->object.count, rows = 1;
    loci_str *cells = loci_arena_array(cli->arena, 2 * (count + 1), sizeof *cells);
    loci_err err = { 0 };

    if (!cells) {
        (void)loci_arena_fail(cli->arena, &err);
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    }
    cells[0] = LOCI_STR("what");
    cells[1] = LOCI_STR("value");
    for (size_t i = 0; i < count; i++) {
        const loci_json_member *m = &answer->object.members[i];
        if (m->value.type == LOCI_JSON_ARRAY || m->value.type == LOCI_JSON_NULL) continue;
        cells[2 * rows] = m->name;
        cells[2 * rows++ + 1] = cell_of(cli, &m->value);
    }
    return rows > 1 ? loci_cli_rows(cli, cells, 2, rows) : LOCI_EXIT_OK;
}

static int print_answer(loci_cli *cli, const verb *v, const loci_json *answer)
{
    const loci_json *results = loci_json_find(answer, LOCI_STR("results"));

    if (v->columns && results) {
        int exit_code = print_results(cli, results, v->columns);
        if (exit_code) return exit_code;
    }
    return print_members(cli, answer);
}

/* The doctor's exit code says whether something is wrong. */
static int verdict(const verb *v, const loci_json *answer)
{
    const loci_json *ok = loci_json_find(answer, LOCI_STR("ok"));

    if (strcmp(v->op, "doctor") != 0 || !ok) return LOCI_EXIT_OK;
    return ok->boolean ? LOCI_EXIT_OK : LOCI_EXIT_FAILED;
}

int loci_cli_verb(loci_cli *cli)
{
    const verb *v = find_verb(cli->args.command->name);
    const loci_json *answer = NULL;
    loci_err err = { 0 };
    bool refused = false;
    loci_buf input, out;

    assert(v); /* every command that runs here has its row */
    loci_buf_init_arena(&input, cli->arena, LOCI_CLI_TEXT_MAX);
    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_ANSWER_MAX);
    write_input(cli, v, &input);
    loci_rc rc =
        loci_cli_call(cli, loci_str_from(v->op), loci_buf_str(&input), &out, &refused, &err);
    if (!rc) rc = loci_json_parse(cli->arena, loci_buf_str(&out), &answer, &err);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (cli->args.json) loci_buf_add_char(&out, '\n');
    int exit_code = cli->args.json ? loci_cli_print(cli, &out) : print_answer(cli, v, answer);
    return exit_code ? exit_code : refused ? LOCI_EXIT_FAILED : verdict(v, answer);
}
