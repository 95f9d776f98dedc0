/* loci doctor: what is wrong with the store. Exit 1 when something is. */
#include "db/doctor.h"

#include "base/json.h"
#include "cli/cli.h"
#include "cli/progress.h"

#include <unistd.h>

typedef struct visit {
    const loci_cli *cli;
    loci_bar bar;
    loci_buf out;
    loci_json_writer w;
} visit;

static const char *severity_name(loci_severity severity)
{
    static const char *const names[] = {
        [LOCI_SEVERITY_INFO] = "info",
        [LOCI_SEVERITY_WARNING] = "warning",
        [LOCI_SEVERITY_ERROR] = "error",
    };
    return names[severity];
}

static void write_json(visit *v, const loci_finding *f)
{
    loci_json_object(&v->w);
    loci_json_member_cstr(&v->w, "severity", severity_name(f->severity));
    loci_json_member_cstr(&v->w, "check", f->check);
    loci_json_member_cstr(&v->w, "what", f->what);
    loci_json_member_int(&v->w, "count", f->count);
    loci_json_name(&v->w, LOCI_STR("examples"));
    loci_json_array(&v->w);
    for (size_t i = 0; i < f->example_count; i++)
        loci_json_string(&v->w, loci_str_from(f->examples[i]));
    loci_json_array_end(&v->w);
    loci_json_member_bool(&v->w, "fixable", f->fixable);
    loci_json_member_bool(&v->w, "fixed", f->fixed);
    loci_json_object_end(&v->w);
}

static void write_text(visit *v, const loci_finding *f)
{
    const char *state = f->fixed ? "fixed" : severity_name(f->severity);

    loci_buf_printf(&v->out, "%-8s %s: %s", state, f->check, f->what);
    if (f->count > 0) loci_buf_printf(&v->out, " (%lld)", (long long)f->count);
    loci_buf_add_char(&v->out, '\n');
    for (size_t i = 0; i < f->example_count; i++)
        loci_buf_printf(&v->out, "           %s\n", f->examples[i]);
    if (f->fixable && !f->fixed)
        loci_buf_add_cstr(&v->out, "           loci doctor --fix mends it\n");
}

static loci_rc on_finding(const loci_finding *finding, void *arg, loci_err *err)
{
    visit *v = arg;

    if (v->cli->args.json)
        write_json(v, finding);
    else
        write_text(v, finding);
    return loci_buf_check(&v->out, err);
}

static loci_rc on_progress(const loci_progress *progress, void *arg, loci_err *err)
{
    visit *v = arg;
    return loci_bar_tell(progress, &v->bar, err);
}

static loci_rc examine(loci_cli *cli, visit *v, loci_doctor_result *ret_result, loci_err *err)
{
    loci_doctor_options options = {
        .fix = loci_args_find(&cli->args, "fix") != NULL,
        .finding = on_finding,
        .progress = on_progress,
        .arg = v,
    };

    loci_rc rc = loci_cli_open(cli, err);
    if (!rc && cli->args.org) rc = loci_cli_org(cli, &options.org, err);
    if (!rc) rc = loci_doctor(cli->app->db, cli->app->writer, &options, ret_result, err);
    loci_bar_end(&v->bar);
    return rc;
}

static void begin_report(visit *v)
{
    loci_buf_init_arena(&v->out, v->cli->arena, LOCI_CLI_ANSWER_MAX);
    if (!v->cli->args.json) return;
    loci_json_begin(&v->w, &v->out);
    loci_json_object(&v->w);
    loci_json_name(&v->w, LOCI_STR("results"));
    loci_json_array(&v->w);
}

static void end_report(visit *v, const loci_doctor_result *r)
{
    if (!v->cli->args.json) {
        loci_buf_printf(&v->out, "%lld errors, %lld warnings, %lld fixed\n", (long long)r->errors,
                        (long long)r->warnings, (long long)r->fixed);
        return;
    }
    loci_json_array_end(&v->w);
    loci_json_member_int(&v->w, "errors", r->errors);
    loci_json_member_int(&v->w, "warnings", r->warnings);
    loci_json_member_int(&v->w, "fixed", r->fixed);
    loci_json_object_end(&v->w);
    loci_buf_add_char(&v->out, '\n');
}

int loci_cli_doctor(loci_cli *cli)
{
    visit v = { .cli = cli };
    loci_doctor_result result = { 0 };
    loci_err err = { 0 };

    begin_report(&v);
    if (examine(cli, &v, &result, &err)) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    end_report(&v, &result);
    int exit_code = loci_cli_print(cli, &v.out);
    return exit_code == LOCI_EXIT_OK && result.errors + result.warnings > 0 ? LOCI_EXIT_FAILED
                                                                            : exit_code;
}
