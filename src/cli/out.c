#include "base/json.h"
#include "cli/cli.h"
#include "cli/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int loci_cli_fail(const loci_cli *cli, const loci_err *err, int exit_code)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };
    loci_json_writer w;

    if (!cli->args.json) {
        (void)fprintf(stderr, "loci: %s\n", err->msg);
        return exit_code;
    }
    loci_buf_init(&text, LOCI_CLI_TEXT_MAX);
    loci_json_begin(&w, &text);
    loci_json_object(&w);
    loci_json_member_cstr(&w, "detail", err->msg);
    loci_json_member_cstr(&w, "code", loci_rc_name(err->code));
    loci_json_object_end(&w);
    if (loci_json_check(&w, NULL) == LOCI_OK) (void)fprintf(stderr, "%s\n", text.ptr);
    return exit_code;
}

int loci_cli_print(const loci_cli *cli, const loci_buf *text)
{
    loci_err err = { 0 };
    loci_str bytes = loci_buf_str(text);

    if (loci_buf_check(text, &err)) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (fwrite(bytes.ptr, 1, bytes.len, stdout) == bytes.len && fflush(stdout) == 0)
        return LOCI_EXIT_OK;
    loci_err_set(&err, LOCI_EIO, "cannot write to standard output: %s", strerror(errno));
    return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
}

int loci_cli_rows(const loci_cli *cli, const loci_str *cells, size_t columns, size_t rows)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };

    loci_buf_init(&text, LOCI_CLI_ANSWER_MAX);
    loci_table_write(&text, cells, columns, rows, isatty(STDOUT_FILENO));
    return loci_cli_print(cli, &text);
}
