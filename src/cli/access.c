#include "cli/access.h"

#include "base/date.h"

loci_str loci_cli_time(const loci_cli *cli, int64_t time)
{
    loci_date_text text;

    if (time == 0) return LOCI_STR("-");
    return loci_arena_str(cli->arena, loci_date_print(LOCI_DATE_SECONDS, time, NULL, &text));
}

void loci_cli_time_or_null(loci_json_writer *w, int64_t time)
{
    loci_date_text text;

    if (time == 0)
        loci_json_null(w);
    else
        loci_json_string(w, loci_date_print(LOCI_DATE_MICROS, time, NULL, &text));
}

void loci_cli_text_or_null(loci_json_writer *w, loci_str text)
{
    if (text.ptr)
        loci_json_string(w, text);
    else
        loci_json_null(w);
}

int loci_cli_usage(const loci_cli *cli, const char *verbs)
{
    loci_err err = { 0 };

    loci_err_set(&err, LOCI_EINVAL, "%s: use %s; see loci %s --help", cli->args.command->name,
                 verbs, cli->args.command->name);
    return loci_cli_fail(cli, &err, LOCI_EXIT_USAGE);
}
