/* The whole server with one operation that does nothing, to see what the table costs.
 *
 * Usage: server STORE [LOG]; serves until its standard input ends. Prints HOST:PORT. */
#include "api/server.h"
#include "api/ops/routes.h"
#include "base/log.h"
#include "ops/app.h"

#include <stdio.h>
#include <string.h>

static loci_rc run_noop(loci_call *call, loci_json_writer *out, loci_err *err)
{
    (void)call;
    (void)out;
    (void)err;
    return LOCI_OK;
}

static const loci_op rows[] = {
    { .name = "noop",
      .help = "Do nothing",
      .description = "",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_READS,
      .input = "{\"type\":\"object\",\"properties\":{}}",
      .output = "{\"type\":\"object\",\"properties\":{}}",
      .run = run_noop,
      .examples = { { "Nothing", "{}", NULL } } },
};

static loci_rc open_app(const char *store, loci_config **ret_config, loci_app **ret_app,
                        loci_err *err)
{
    loci_rc rc = loci_config_new(loci_config_keys, loci_config_key_count, NULL, ret_config, err);
    if (!rc) rc = loci_config_set_flag(*ret_config, "--db", loci_str_from(store), err);
    if (!rc) rc = loci_config_set_flag(*ret_config, "--listen", LOCI_STR("127.0.0.1:0"), err);
    return rc ? rc : loci_app_open(*ret_config, NULL, ret_app, err);
}

/* The table of the program gives way to the one with the operation above. */
static loci_rc replace_table(loci_app *app, loci_err *err)
{
    const loci_op_group group = LOCI_OP_GROUP(rows);

    loci_ops_free(app->ops);
    app->ops = NULL;
    app->check_output = false;
    return loci_ops_new(&group, 1, &app->ops, err);
}

int main(int argc, char **argv)
{
    LOCI_AUTO(loci_config_freep) loci_config *config = NULL;
    LOCI_AUTO(loci_app_closep) loci_app *app = NULL;
    LOCI_AUTO(loci_server_stopp) loci_server *server = NULL;
    const loci_server_routes doors[] = { { loci_ops_routes, loci_ops_route_count } };
    loci_server_options options = { .doors = doors, .door_count = LOCI_COUNT(doors) };
    loci_err err = { 0 };

    if (argc < 2) return 2;
    if (argc < 3 || strcmp(argv[2], "log") != 0) loci_log_set_level(LOCI_LOG_ERROR);
    loci_rc rc = open_app(argv[1], &config, &app, &err);
    if (!rc) rc = replace_table(app, &err);
    options.app = app;
    if (!rc) rc = loci_server_start(&options, &server, &err);
    if (rc) {
        (void)fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    (void)printf("%s\n", loci_server_url(server) + strlen("http://"));
    (void)fflush(stdout);
    while (getchar() != EOF) {
    }
    return 0;
}
