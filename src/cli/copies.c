/* loci backup, restore, export and import: the store as a file, and back. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "db/backup.h"
#include "db/export.h"
#include "db/import.h"
#include "tree/agent.h"

#include <string.h>
#include <unistd.h>

typedef struct counted {
    const char *name;
    int64_t value;
} counted;

/* What was done, for people or as JSON. With "-" the export itself is on stdout, so this is not. */
static int report(const loci_cli *cli, const char *text, const counted *numbers, size_t count)
{
    LOCI_AUTO(loci_buf_done) loci_buf out = { 0 };
    loci_json_writer w;

    loci_buf_init(&out, LOCI_CLI_TEXT_MAX);
    if (!cli->args.json) {
        loci_buf_printf(&out, "%s", text);
        for (size_t i = 0; i < count; i++)
            loci_buf_printf(&out, "%s%lld %s", i ? ", " : ": ", (long long)numbers[i].value,
                            numbers[i].name);
        loci_buf_add_char(&out, '\n');
        return loci_cli_print(cli, &out);
    }
    loci_json_begin(&w, &out);
    loci_json_object(&w);
    for (size_t i = 0; i < count; i++) loci_json_member_int(&w, numbers[i].name, numbers[i].value);
    loci_json_object_end(&w);
    loci_buf_add_char(&out, '\n');
    return loci_cli_print(cli, &out);
}

static bool given(const loci_cli *cli, const char *option)
{
    return loci_args_find(&cli->args, option) != NULL;
}

int loci_cli_backup(loci_cli *cli)
{
    loci_bar bar = { 0 };
    loci_err err = { 0 };
    loci_backup_options options = { .replace = given(cli, "replace"),
                                    .progress = loci_bar_tell,
                                    .arg = &bar };

    loci_rc rc = loci_cli_open(cli, &err);
    if (!rc) rc = loci_backup(cli->app->db, cli->args.words[0], &options, &err);
    loci_bar_end(&bar);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    return report(cli, "backed up", NULL, 0);
}

int loci_cli_restore(loci_cli *cli)
{
    loci_bar bar = { 0 };
    loci_err err = { 0 };
    loci_db_options store;
    const char *url = NULL;
    loci_restore_options options = {
        .store = &store, .force = given(cli, "force"), .progress = loci_bar_tell, .arg = &bar
    };

    loci_rc rc = loci_app_place(cli->config, environ, cli->arena, &url, &store, &err);
    if (!rc) rc = loci_restore(cli->args.words[0], url, &options, &err);
    loci_bar_end(&bar);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    return report(cli, "restored", NULL, 0);
}

/* The id of the agent that --agent names, or nothing. */
static loci_rc find_agent(loci_cli *cli, int64_t org, loci_str *ret_id, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    const char *name = loci_args_find(&cli->args, "agent");
    loci_agent agent;

    if (!name) return LOCI_OK;
    loci_rc rc = loci_tx_begin(cli->app->db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_agent_find_ever(tx, org, loci_str_from(name), cli->arena, &agent, err);
    if (!rc) *ret_id = agent.id;
    return rc;
}

int loci_cli_export(loci_cli *cli)
{
    loci_bar bar = { 0 };
    loci_err err = { 0 };
    loci_export_result result = { 0 };
    loci_export_options options = { .vectors = given(cli, "vectors"),
                                    .replace = given(cli, "replace"),
                                    .progress = loci_bar_tell,
                                    .arg = &bar };
    int64_t org = 0;

    loci_rc rc = loci_cli_org(cli, &org, &err);
    if (!rc) rc = find_agent(cli, org, &options.agent, &err);
    if (cli->args.org || options.agent.len) options.org = org; /* else the whole store */
    if (!rc) rc = loci_export(cli->app->db, cli->args.words[0], &options, &result, &err);
    loci_bar_end(&bar);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (strcmp(cli->args.words[0], "-") == 0) return LOCI_EXIT_OK;
    const counted numbers[] = { { "rows", result.rows }, { "orphans", result.orphans } };
    return report(cli, "exported", numbers, LOCI_COUNT(numbers));
}

int loci_cli_import(loci_cli *cli)
{
    loci_bar bar = { 0 };
    loci_err err = { 0 };
    loci_import_result result = { 0 };
    loci_import_options options = {
        .who = LOCI_CLI_ACTOR, .door = LOCI_STR("cli"), .progress = loci_bar_tell, .arg = &bar
    };
    int64_t org = 0;

    loci_rc rc = loci_cli_org(cli, &org, &err);
    if (cli->args.org) options.org = org; /* else each organization into the one with its id */
    if (!rc)
        rc = loci_import(cli->app->db, cli->app->writer, cli->args.words[0], &options, &result,
                         &err);
    loci_bar_end(&bar);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    const counted numbers[] = { { "rows", result.rows },
                                { "added", result.added },
                                { "ended", result.ended } };
    return report(cli, "imported", numbers, LOCI_COUNT(numbers));
}
