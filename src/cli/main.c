#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_MAX = 1 << 30 };

/* The settings: defaults, file, environment, options. */
static loci_rc load_config(loci_cli *cli, loci_err *err)
{
    loci_rc rc =
        loci_config_new(loci_config_keys, loci_config_key_count, environ, &cli->config, err);
    if (rc) return rc;
    rc = loci_config_read_file(cli->config, cli->args.config_file, err);
    for (size_t i = 0; i < cli->args.setting_count && !rc; i++) {
        loci_str flag = loci_arena_printf(cli->arena, "--%s", cli->args.settings[i].name);
        if (!flag.ptr) return loci_arena_fail(cli->arena, err);
        rc = loci_config_set_flag(cli->config, flag.ptr, loci_str_from(cli->args.settings[i].value),
                                  err);
    }
    return rc;
}

static int run_command(loci_cli *cli)
{
    loci_err err = { 0 };

    if (cli->args.version) return loci_cli_version(cli);
    if (cli->args.help) return loci_cli_explain(cli, cli->args.command);
    if (!cli->args.command) {
        loci_err_set(&err, LOCI_EINVAL, "no command given; loci help lists them");
        return loci_cli_fail(cli, &err, LOCI_EXIT_USAGE);
    }
    if (!cli->args.command->no_config && load_config(cli, &err))
        return loci_cli_fail(cli, &err, LOCI_EXIT_USAGE);
    return cli->args.command->run(cli);
}

/* --json may stand anywhere, and counts also when the words before it cannot be read. */
static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    loci_err err = { 0 };
    loci_cli cli = { .arena = loci_arena_new(ARENA_MAX) };
    int exit_code = LOCI_EXIT_FAILED;

    if (!cli.arena) {
        (void)fprintf(stderr, "loci: out of memory\n");
    } else if (loci_args_parse(cli.arena, argc, argv, &cli.args, &err)) {
        cli.args.json = wants_json(argc, argv);
        exit_code = loci_cli_fail(&cli, &err, LOCI_EXIT_USAGE);
    } else {
        exit_code = run_command(&cli);
    }
    loci_app_close(cli.app);
    loci_config_free(cli.config);
    loci_arena_free(cli.arena);
    return exit_code;
}
