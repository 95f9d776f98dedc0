/* The store as a whole: carrying it elsewhere, erasing for good, examining it. */
#include "db/doctor.h"
#include "db/export.h"
#include "db/import.h"
#include "db/purge.h"
#include "ops/app.h"
#include "ops/groups.h"
#include "tree/agent.h"

/* Long work tells the caller how far it is, and ends when nobody waits for it. */
static loci_rc on_progress(const loci_progress *progress, void *arg, loci_err *err)
{
    loci_call *call = arg;

    loci_call_progress(call, (double)progress->done, (double)progress->total,
                       loci_str_from(progress->what));
    return loci_call_check(call, err);
}

/* The id of the agent that was named, dead or alive. */
static loci_rc find_agent_id(loci_call *call, loci_str *ret_id, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_agent agent = { 0 };

    loci_rc rc = loci_app_read(call, &tx, err);
    if (!rc)
        rc = loci_agent_find_ever(tx, call->who->org, loci_in_text(call->in, "agent"), call->arena,
                                  &agent, err);
    if (!rc) *ret_id = agent.id;
    return rc;
}

static loci_rc find_file(loci_call *call, loci_str *ret_path, loci_err *err)
{
    loci_str path = loci_in_text(call->in, "path");

    if (loci_str_eq(path, LOCI_STR("-")))
        return loci_fail(err, LOCI_EINVAL, "path: name a file; standard streams are the caller's");
    return loci_call_path(call, path, ret_path, err);
}

/* Other organizations are for those who sit at the machine. */
static loci_rc choose_org(loci_call *call, int64_t *ret_org, loci_err *err)
{
    bool all = loci_in_bool(call->in, "all_organizations");

    if (all && call->who->files != LOCI_FILES_ANY)
        return loci_fail(err, LOCI_EDENIED,
                         "all_organizations: only on the machine itself, not over HTTP");
    *ret_org = all ? 0 : call->who->org;
    return LOCI_OK;
}

static loci_rc run_export(loci_call *call, loci_json_writer *out, loci_err *err)
{
    loci_export_options options = { .vectors = loci_in_bool(call->in, "vectors"),
                                    .replace = loci_in_bool(call->in, "replace"),
                                    .progress = on_progress,
                                    .arg = call };
    loci_export_result result;
    loci_str path;

    loci_rc rc = choose_org(call, &options.org, err);
    if (!rc) rc = find_file(call, &path, err);
    if (!rc && loci_in_has(call->in, "agent")) rc = find_agent_id(call, &options.agent, err);
    if (!rc) rc = loci_export(call->app->db, path.ptr, &options, &result, err);
    if (rc) return rc;
    loci_json_object(out);
    loci_json_member_str(out, "path", loci_in_text(call->in, "path"));
    loci_json_member_int(out, "rows", result.rows);
    loci_json_member_int(out, "orphans", result.orphans);
    loci_json_object_end(out);
    return LOCI_OK;
}

static void write_import(const loci_import_result *result, loci_json_writer *out)
{
    loci_json_object(out);
    loci_json_member_int(out, "rows", result->rows);
    loci_json_member_int(out, "added", result->added);
    loci_json_member_int(out, "ended", result->ended);
    loci_json_object_end(out);
}

static loci_rc do_import(loci_call *call, loci_json_writer *out, loci_err *err)
{
    loci_import_options options = {
        .who = call->who->actor, .door = loci_app_door(call), .progress = on_progress, .arg = call
    };
    loci_import_result result;
    loci_str path;

    loci_rc rc = choose_org(call, &options.org, err);
    if (!rc) rc = find_file(call, &path, err);
    if (!rc) rc = loci_import(call->app->db, call->app->writer, path.ptr, &options, &result, err);
    if (!rc) write_import(&result, out);
    return rc;
}

static loci_rc run_import(loci_call *call, loci_json_writer *out, loci_err *err)
{
    return loci_app_write_long(call, do_import, out, err);
}

static loci_rc read_ids(loci_call *call, loci_purge_options *options, loci_err *err)
{
    loci_in_list list = loci_in_items(call->in, "ids");
    loci_str *ids = loci_arena_array(call->arena, list.count, sizeof *ids);

    if (!ids) return loci_arena_fail(call->arena, err);
    for (size_t i = 0; i < list.count; i++) ids[i] = loci_in_item_text(list, i);
    options->ids = ids;
    options->id_count = list.count;
    return LOCI_OK;
}

static loci_rc read_what(loci_call *call, loci_purge_options *options, loci_err *err)
{
    bool ids = loci_in_has(call->in, "ids"), agent = loci_in_has(call->in, "agent"),
         before = loci_in_has(call->in, "before");
    loci_date date = { 0 };

    if (ids + agent + before != 1)
        return loci_fail(err, LOCI_EINVAL, "give exactly one of ids, agent and before");
    if (ids) return read_ids(call, options, err);
    if (agent) return find_agent_id(call, &options->agent, err);
    loci_rc rc = loci_in_date(call->in, "before", NULL, &date, err);
    options->before = date.at;
    return rc;
}

static loci_rc do_purge(loci_call *call, loci_json_writer *out, loci_err *err)
{
    loci_purge_options options = { .org = call->who->org,
                                   .who = call->who->actor,
                                   .door = loci_app_door(call),
                                   .progress = on_progress,
                                   .arg = call };
    loci_purge_result result;

    loci_rc rc = read_what(call, &options, err);
    if (!rc) rc = loci_purge(call->app->db, call->app->writer, &options, &result, err);
    if (rc) return rc;
    loci_json_object(out);
    loci_json_member_int(out, "purged", result.rows);
    loci_json_object_end(out);
    return LOCI_OK;
}

static loci_rc run_purge(loci_call *call, loci_json_writer *out, loci_err *err)
{
    return loci_app_write_long(call, do_purge, out, err);
}

typedef struct examining {
    loci_call *call;
    loci_json_writer *out;
} examining;

static loci_rc write_finding(const loci_finding *f, void *arg, loci_err *err)
{
    static const char *const severities[] = { [LOCI_SEVERITY_INFO] = "info",
                                              [LOCI_SEVERITY_WARNING] = "warning",
                                              [LOCI_SEVERITY_ERROR] = "error" };
    examining *e = arg;

    loci_json_object(e->out);
    loci_json_member_cstr(e->out, "severity", severities[f->severity]);
    loci_json_member_cstr(e->out, "check", f->check);
    loci_json_member_cstr(e->out, "what", f->what);
    loci_json_member_int(e->out, "count", f->count);
    loci_json_name(e->out, LOCI_STR("examples"));
    loci_json_array(e->out);
    for (size_t i = 0; i < f->example_count; i++)
        loci_json_string(e->out, loci_str_from(f->examples[i]));
    loci_json_array_end(e->out);
    loci_json_member_bool(e->out, "fixable", f->fixable);
    loci_json_member_bool(e->out, "fixed", f->fixed);
    loci_json_object_end(e->out);
    return loci_call_check(e->call, err);
}

static loci_rc examining_progress(const loci_progress *progress, void *arg, loci_err *err)
{
    examining *e = arg;
    return on_progress(progress, e->call, err);
}

static loci_rc do_doctor(loci_call *call, loci_json_writer *out, loci_err *err)
{
    examining e = { call, out };
    loci_doctor_options options = { .fix = loci_in_bool(call->in, "fix"),
                                    .finding = write_finding,
                                    .progress = examining_progress,
                                    .arg = &e };
    loci_doctor_result result;

    loci_rc rc = choose_org(call, &options.org, err);
    if (rc) return rc;
    loci_json_object(out);
    loci_json_name(out, LOCI_STR("results"));
    loci_json_array(out);
    rc = loci_doctor(call->app->db, call->app->writer, &options, &result, err);
    if (rc) return rc;
    loci_json_array_end(out);
    loci_json_member_bool(out, "ok", result.errors + result.warnings == 0);
    loci_json_member_int(out, "errors", result.errors);
    loci_json_member_int(out, "warnings", result.warnings);
    loci_json_member_int(out, "fixed", result.fixed);
    loci_json_object_end(out);
    return LOCI_OK;
}

static loci_rc run_doctor(loci_call *call, loci_json_writer *out, loci_err *err)
{
    return loci_app_write_long(call, do_doctor, out, err);
}

#define COUNT(what) "{\"type\":\"integer\",\"minimum\":0,\"description\":\"" what "\"}"
#define PATH(what) "{\"type\":\"string\",\"format\":\"host-path\",\"description\":\"" what "\"}"
#define SWITCH(what) "{\"type\":\"boolean\",\"default\":false,\"description\":\"" what "\"}"
#define NAMED(what)                                                                                \
    "{\"type\":\"string\",\"minLength\":1,\"maxLength\":1024,\"description\":\"" what "\"}"

/* clang-format off */
static const char doctor_input[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"fix\":" SWITCH("Repair what can be derived again") ","
    "\"all_organizations\":" SWITCH("Not of this organization alone; only on the machine itself")
    "}}";

static const char doctor_output[] =
    "{\"type\":\"object\",\"required\":[\"results\",\"ok\",\"errors\",\"warnings\",\"fixed\"],"
    "\"properties\":{\"results\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"severity\":{\"type\":\"string\",\"enum\":[\"info\",\"warning\",\"error\"]},"
    "\"check\":{\"type\":\"string\"},\"what\":{\"type\":\"string\"},"
    "\"count\":" COUNT("How many") ","
    "\"examples\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"fixable\":{\"type\":\"boolean\"},\"fixed\":{\"type\":\"boolean\"}}}},"
    "\"ok\":{\"type\":\"boolean\",\"description\":\"Neither errors nor warnings\"},"
    "\"errors\":" COUNT("Findings") ",\"warnings\":" COUNT("Findings") ","
    "\"fixed\":" COUNT("Findings") "}}";

static const char export_input[] =
    "{\"type\":\"object\",\"required\":[\"path\"],\"properties\":{"
    "\"path\":" PATH("The file to make; compressed when it ends in .gz") ","
    "\"agent\":" NAMED("Only this agent, by name or id, with all that belongs to it") ","
    "\"vectors\":" SWITCH("With the vectors, which can be made again") ","
    "\"all_organizations\":" SWITCH("Not of this organization alone; only on the machine itself") ","
    "\"replace\":" SWITCH("Replace a file that exists") "}}";

static const char export_output[] =
    "{\"type\":\"object\",\"required\":[\"path\",\"rows\",\"orphans\"],\"properties\":{"
    "\"path\":{\"type\":\"string\"},\"rows\":" COUNT("Lines of content") ","
    "\"orphans\":" COUNT("Rows left out because they refer to nothing; doctor names them") "}}";

static const char import_input[] =
    "{\"type\":\"object\",\"required\":[\"path\"],\"properties\":{"
    "\"all_organizations\":" SWITCH("Not of this organization alone; only on the machine itself") ","
    "\"path\":" PATH("A file that export made") "}}";

static const char import_output[] =
    "{\"type\":\"object\",\"required\":[\"rows\",\"added\",\"ended\"],\"properties\":{"
    "\"rows\":" COUNT("In the file") ",\"added\":" COUNT("New here") ","
    "\"ended\":" COUNT("Ended here, because they have in the file") "}}";

static const char purge_input[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"ids\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,\"items\":{\"type\":\"string\","
    "\"minLength\":1,\"maxLength\":128},\"description\":\"Public ids of any kind\"},"
    "\"agent\":" NAMED("An agent, by name or id, with all that belongs to it alone") ","
    "\"before\":{\"type\":\"string\",\"format\":\"moment\",\"description\":\"Whatever has ended "
    "before this time\"}}}";

static const char purge_output[] =
    "{\"type\":\"object\",\"required\":[\"purged\"],\"properties\":{"
    "\"purged\":" COUNT("Revisions that are gone for good") "}}";
/* clang-format on */

static const loci_op rows[] = {
    { .name = "doctor",
      .help = "Examine the store, and repair what can be derived again",
      .description = "Looks for damage, references to nothing, duplicates, stale vectors and "
                     "leftovers. Without fix nothing is changed.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_WRITES | LOCI_OP_IDEMPOTENT | LOCI_OP_ADMIN,
      .input = doctor_input,
      .output = doctor_output,
      .run = run_doctor,
      .examples = { { "Only look", "{}", NULL }, { "Repair", "{\"fix\": true}", NULL } } },
    { .name = "export",
      .help = "Write everything that is stored, history included, to a file of JSON lines",
      .description =
          "Ids are kept, so that import brings it back anywhere. Secrets of keys are not "
          "in it.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_READS | LOCI_OP_FILES | LOCI_OP_ADMIN,
      .input = export_input,
      .output = export_output,
      .run = run_export,
      .examples = { { "Everything, compressed",
                      "{\"path\": \"memory.jsonl.gz\", \"replace\": true}", NULL },
                    { "One agent",
                      "{\"path\": \"alice.jsonl\", \"agent\": \"alice\", \"replace\": true}",
                      NULL } } },
    { .name = "import",
      .help = "Bring an exported file into this organization; doing it twice changes nothing",
      .description = "The whole file is checked before anything is written.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_WRITES | LOCI_OP_IDEMPOTENT | LOCI_OP_FILES | LOCI_OP_ADMIN,
      .input = import_input,
      .output = import_output,
      .run = run_import,
      .examples = { { "A file that export made", "{\"path\": \"{{path}}\"}", "export" } } },
    { .name = "purge",
      .help = "Erase things for good, with their history; this cannot be undone",
      .description =
          "Give exactly one of ids, agent and before. Backups and exports that were made "
          "before are out of reach.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_WRITES | LOCI_OP_DESTRUCTIVE | LOCI_OP_ADMIN,
      .input = purge_input,
      .output = purge_output,
      .run = run_purge,
      .examples = { { "What ended long ago", "{\"before\": \"2025-01-01\"}", NULL },
                    { "One agent", "{\"agent\": \"alice\"}", NULL } } },
};

const loci_op_group loci_store_ops = { rows, LOCI_COUNT(rows) };
