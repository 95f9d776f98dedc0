#include "api/ops/routes.h"
#include "api/server.h"
#include "base/base64.h"
#include "base/fs.h"
#include "base/id.h"
#include "base/log.h"
#include "cli/cli.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { PASSWORD_FILE_MAX = 4096, RANDOM_PASSWORD_BYTES = 16 };

/* The first line of a file, without blanks around it. */
static loci_rc read_password_file(loci_cli *cli, const char *path, loci_str *ret_password,
                                  loci_err *err)
{
    loci_str text, line;
    loci_rc rc = loci_fs_read(cli->arena, path, PASSWORD_FILE_MAX, &text, err);
    if (rc) return rc;
    (void)loci_str_cut(&text, '\n', &line);
    line = loci_str_trim(line);
    if (line.len == 0)
        return loci_fail(err, LOCI_EINVAL, "%s: the first line must be the password", path);
    *ret_password = line;
    return LOCI_OK;
}

/* LETTA_SERVER_SECURE without a password: one is made up and shown. */
static loci_rc make_password(loci_cli *cli, loci_str *ret_password, loci_err *err)
{
    uint8_t bytes[RANDOM_PASSWORD_BYTES];
    loci_buf text;

    loci_rc rc = loci_random_bytes(bytes, sizeof bytes, err);
    if (rc) return rc;
    loci_buf_init_arena(&text, cli->arena, 64);
    loci_base64_encode(LOCI_BASE64_URL, (loci_str){ (const char *)bytes, sizeof bytes }, &text);
    rc = loci_buf_check(&text, err);
    if (rc) return rc;
    *ret_password = loci_buf_str(&text);
    (void)fprintf(stderr, "loci: the password of this run is %s\n", text.ptr);
    return LOCI_OK;
}

static loci_rc find_password(loci_cli *cli, loci_str *ret_password, loci_err *err)
{
    const char *path = loci_args_find(&cli->args, "password-file");

    if (path) return read_password_file(cli, path, ret_password, err);
    *ret_password = loci_config_text(cli->config, "password");
    if (ret_password->len == 0 && loci_config_foreign_counts(cli->config, "password"))
        return make_password(cli, ret_password, err);
    return LOCI_OK;
}

/* Signals that end the server wait for sigwait. The server's own threads take none. */
static void block_signals(sigset_t *ends)
{
    (void)sigemptyset(ends);
    (void)sigaddset(ends, SIGTERM);
    (void)sigaddset(ends, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, ends, NULL);
}

static void *end_at_once(void *ends)
{
    int which;

    (void)sigwait(ends, &which);
    _Exit(128 + which);
}

/* Wait for the first signal. A second one, while requests are still being finished, ends the
 * program at once. */
static void wait_for_end(sigset_t *ends)
{
    pthread_t impatient;
    int which;

    (void)sigwait(ends, &which);
    if (pthread_create(&impatient, NULL, end_at_once, ends) == 0) (void)pthread_detach(impatient);
}

static loci_rc start_server(loci_cli *cli, loci_server **ret_server, loci_err *err)
{
    const loci_server_routes doors[] = {
        { loci_ops_routes, loci_ops_route_count },
    };
    loci_server_options options = { .doors = doors, .door_count = LOCI_COUNT(doors) };

    loci_rc rc = find_password(cli, &options.password, err);
    if (!rc) rc = loci_cli_open(cli, err);
    if (rc) return rc;
    options.app = cli->app;
    return loci_server_start(&options, ret_server, err);
}

int loci_cli_serve(loci_cli *cli)
{
    LOCI_AUTO(loci_server_stopp) loci_server *server = NULL;
    static sigset_t ends; /* the impatient thread reads it to the end */
    loci_err err = { 0 };

    (void)signal(SIGPIPE, SIG_IGN);
    loci_log_set_level((loci_log_level)loci_config_enum(cli->config, "log"));
    loci_rc rc = start_server(cli, &server, &err);
    if (rc) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    block_signals(&ends); /* until here a signal ends the program at once, however slow the start */

    LOCI_AUTO(loci_buf_done) loci_buf line = { 0 };
    loci_buf_init(&line, LOCI_CLI_TEXT_MAX);
    loci_buf_printf(&line, "loci %s ready on %s\n", loci_version(), loci_server_url(server));
    int exit_code = loci_cli_print(cli, &line);
    if (exit_code == LOCI_EXIT_OK) wait_for_end(&ends);
    return exit_code;
}
