/* loci backup and loci restore: a whole store into one file, and back. */
#include "db/backup.h"
#include "cli/cli.h"
#include "cli/progress.h"

#include <unistd.h>

static int say(loci_cli *cli, const char *what, const char *path)
{
    loci_json_writer w;
    loci_buf out;

    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_TEXT_MAX);
    if (cli->args.json) {
        loci_json_begin(&w, &out);
        loci_json_object(&w);
        loci_json_member_cstr(&w, "path", path);
        loci_json_object_end(&w);
        loci_buf_add_char(&out, '\n');
    } else {
        loci_buf_printf(&out, "%s %s\n", what, path);
    }
    return loci_cli_print(cli, &out);
}

int loci_cli_backup(loci_cli *cli)
{
    const char *path = cli->args.words[0];
    loci_bar bar = { 0 };
    loci_backup_options options = { .replace = loci_args_find(&cli->args, "replace") != NULL,
                                    .progress = loci_bar_tell,
                                    .arg = &bar };
    loci_err err = { 0 };

    loci_rc rc = loci_cli_open(cli, &err);
    if (!rc) rc = loci_backup(cli->app->db, path, &options, &err);
    loci_bar_end(&bar);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    return say(cli, "backed up to", path);
}

int loci_cli_restore(loci_cli *cli)
{
    const char *path = cli->args.words[0], *url = NULL;
    loci_db_options store;
    loci_bar bar = { 0 };
    loci_restore_options options = { .store = &store,
                                     .progress = loci_bar_tell,
                                     .arg = &bar,
                                     .force = loci_args_find(&cli->args, "force") != NULL };
    loci_err err = { 0 };

    loci_rc rc = loci_app_store(cli->config, environ, cli->arena, &url, &store, &err);
    if (!rc) rc = loci_restore(path, url, &options, &err);
    loci_bar_end(&bar);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    return say(cli, "restored from", path);
}
