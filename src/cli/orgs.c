/* loci org: organizations and the user id that stands for each. */
#include "access/org.h"
#include "cli/access.h"
#include "cli/cli.h"

enum { COLUMNS = 4 };

static void write_org(const loci_org *org, loci_json_writer *w)
{
    loci_json_object(w);
    loci_json_member_str(w, "id", org->id);
    loci_json_member_str(w, "name", org->name);
    loci_json_name(w, LOCI_STR("user_id"));
    loci_cli_text_or_null(w, org->user);
    loci_json_name(w, LOCI_STR("created_at"));
    loci_cli_time_or_null(w, org->created_at);
    loci_json_object_end(w);
}

static void write_list(const loci_orgs *orgs, loci_json_writer *w)
{
    loci_json_object(w);
    loci_json_name(w, LOCI_STR("results"));
    loci_json_array(w);
    for (size_t i = 0; i < orgs->count; i++) write_org(&orgs->items[i], w);
    loci_json_array_end(w);
    loci_json_object_end(w);
}

static int print_json(loci_cli *cli, const loci_orgs *orgs, bool list)
{
    loci_json_writer w;
    loci_buf out;

    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_ANSWER_MAX);
    loci_json_begin(&w, &out);
    if (list || !orgs->items)
        write_list(orgs, &w);
    else
        write_org(&orgs->items[0], &w);
    loci_buf_add_char(&out, '\n');
    return loci_cli_print(cli, &out);
}

static int print_orgs(loci_cli *cli, const loci_orgs *orgs)
{
    loci_err err = { 0 };
    loci_str *cells = loci_arena_array(cli->arena, (orgs->count + 1) * COLUMNS, sizeof *cells);

    if (!cells) {
        (void)loci_arena_fail(cli->arena, &err);
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    }
    cells[0] = LOCI_STR("NAME");
    cells[1] = LOCI_STR("ID");
    cells[2] = LOCI_STR("USER ID");
    cells[3] = LOCI_STR("CREATED");
    for (size_t i = 0; i < orgs->count; i++) {
        loci_str *row = cells + (i + 1) * COLUMNS;
        row[0] = orgs->items[i].name;
        row[1] = orgs->items[i].id;
        row[2] = orgs->items[i].user;
        row[3] = loci_cli_time(cli, orgs->items[i].created_at);
    }
    return loci_cli_rows(cli, cells, COLUMNS, orgs->count + 1);
}

static loci_rc create(loci_cli *cli, loci_orgs *ret_orgs, loci_err *err)
{
    if (cli->args.word_count != 2)
        return loci_fail(err, LOCI_EINVAL, "org create needs a name; usage: loci org create NAME");
    loci_org *org = loci_arena_alloc(cli->arena, sizeof *org);
    if (!org) return loci_arena_fail(cli->arena, err);
    loci_rc rc = loci_org_create(cli->app->writer, loci_str_from(cli->args.words[1]),
                                 LOCI_CLI_ACTOR, LOCI_STR("cli"), cli->arena, org, err);
    if (!rc) *ret_orgs = (loci_orgs){ org, 1 };
    return rc;
}

int loci_cli_run_org(loci_cli *cli)
{
    loci_str verb = loci_str_from(cli->args.words[0]);
    loci_orgs orgs = { 0 };
    loci_err err = { 0 };

    bool list = loci_str_eq(verb, LOCI_STR("list")) && cli->args.word_count == 1;

    loci_rc rc = loci_cli_open(cli, &err);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (loci_str_eq(verb, LOCI_STR("create")))
        rc = create(cli, &orgs, &err);
    else if (list)
        rc = loci_org_list(cli->app->db, cli->arena, &orgs, &err);
    else
        return loci_cli_usage(cli, "create NAME or list");
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    return cli->args.json ? print_json(cli, &orgs, list) : print_orgs(cli, &orgs);
}
