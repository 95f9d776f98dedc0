/* The store and its operations, as the command line uses them. */
#include "access/org.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "db/schema.h"

#include <unistd.h>

loci_rc loci_cli_open(loci_cli *cli, loci_err *err)
{
    return cli->app ? LOCI_OK : loci_app_open(cli->config, environ, &cli->app, err);
}

loci_rc loci_cli_org(loci_cli *cli, int64_t *ret_org, loci_err *err)
{
    loci_org org = { .number = LOCI_DEFAULT_ORG };

    loci_rc rc = loci_cli_open(cli, err);
    if (!rc && cli->args.org)
        rc = loci_org_find(cli->app->db, loci_str_from(cli->args.org), cli->arena, &org, err);
    if (!rc) *ret_org = org.number;
    return rc;
}

static void draw_progress(void *bar, double done, double total, loci_str note)
{
    loci_progress p = { .what = note.len ? note.ptr : "working",
                        .done = (int64_t)done,
                        .total = (int64_t)total };

    if (loci_bar_tell(&p, bar, NULL)) return; /* it never fails */
}

loci_rc loci_cli_call(loci_cli *cli, loci_str op, loci_str input, loci_buf *out, bool *ret_refused,
                      loci_err *err)
{
    loci_caller who = {
        .actor = LOCI_CLI_ACTOR,
        .door = LOCI_DOOR_CLI,
        .role = LOCI_ROLE_ADMIN,
        .agent = loci_config_text(cli->config, "agent"),
        .node = loci_config_text(cli->config, "node"),
        .files = LOCI_FILES_ANY,
    };
    loci_bar bar = { 0 };
    loci_call call = { .arena = cli->arena, .who = &who, .progress = draw_progress, .door = &bar };

    loci_rc rc = loci_cli_org(cli, &who.org, err);
    if (rc) return rc;
    call.app = cli->app;
    call.check_output = cli->app->check_output;
    rc = loci_ops_call(cli->app->ops, &call, op, input, out, err);
    loci_bar_end(&bar);
    if (!rc) *ret_refused = call.refused;
    return rc;
}
