/* What changed, by whom, and back again. */
#include "ops/app.h"
#include "ops/groups.h"
#include "ops/past_show.h"
#include "ops/show.h"
#include "tree/agent.h"
#include "tree/diff.h"
#include "tree/history.h"
#include "tree/undo.h"

/* Whether the agent of the call is there, dead or alive. Reading one that never was is no error. */
static loci_rc find_agent(loci_call *call, loci_tx *tx, int64_t *ret_obj, loci_err *err)
{
    loci_agent agent;

    loci_rc rc = loci_agent_find_ever(tx, call->who->org, call->agent, call->arena, &agent, err);
    if (!rc) *ret_obj = agent.obj;
    return rc;
}

static loci_rc run_history(loci_call *call, loci_json_writer *out, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_history history;

    loci_rc rc = loci_app_read(call, &tx, err);
    if (!rc)
        rc = loci_history_read(tx, NULL, call->who->org, loci_in_text(call->in, "id"), call->arena,
                               &history, err);
    if (rc) return rc;
    loci_json_object(out);
    loci_json_member_str(out, "id", loci_in_text(call->in, "id"));
    loci_json_member_cstr(out, "kind", history.table->name);
    loci_json_name(out, LOCI_STR("results"));
    loci_json_array(out);
    for (size_t i = 0; i < history.count; i++)
        loci_past_show_row(out, &history.revisions[i], call->arena);
    loci_json_array_end(out);
    loci_json_object_end(out);
    return LOCI_OK;
}

static void write_log_entry(const loci_log_entry *e, loci_json_writer *out)
{
    loci_json_object(out);
    loci_show_time(out, "at", e->at);
    loci_json_member_cstr(out, "event", loci_log_event_name(e->event));
    loci_json_member_cstr(out, "kind", e->table);
    loci_show_text(out, "id", e->id);
    loci_show_text(out, "name", e->name);
    loci_show_text(out, "node", e->node);
    loci_json_member_int(out, "rev", e->rev);
    loci_show_text(out, "who", e->who);
    loci_show_text(out, "door", e->door);
    loci_show_text(out, "text", e->text);
    loci_json_member_int(out, "text_bytes", (int64_t)e->text_bytes);
    loci_json_object_end(out);
}

static loci_rc run_log(loci_call *call, loci_json_writer *out, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_log_request request = { .org = call->who->org,
                                 .limit = (size_t)loci_in_int(call->in, "limit"),
                                 .behind = loci_in_text(call->in, "after") };
    loci_log log = { 0 };

    loci_rc rc = loci_app_read(call, &tx, err);
    if (rc) return rc;
    rc = find_agent(call, tx, &request.agent, err);
    if (!rc) rc = loci_log_read(tx, &request, call->arena, &log, err);
    if (rc && rc != LOCI_ENOTFOUND) return rc;
    loci_json_object(out);
    loci_json_name(out, LOCI_STR("results"));
    loci_json_array(out);
    for (size_t i = 0; i < log.count; i++) write_log_entry(&log.entries[i], out);
    loci_json_array_end(out);
    loci_show_text(out, "next", log.next);
    loci_json_object_end(out);
    return LOCI_OK;
}

/* A day as the end of a time means the whole day. */
static loci_rc read_time(loci_call *call, const char *name, bool end, int64_t *ret, loci_err *err)
{
    loci_date date = { .at = LOCI_NEVER };

    loci_rc rc = loci_in_date(call->in, name, NULL, &date, err);
    if (rc) return rc;
    *ret = end && date.date_only ? loci_date_day_next(date.at, NULL) - 1 : date.at;
    return LOCI_OK;
}

static loci_rc run_diff(loci_call *call, loci_json_writer *out, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_diff_request request = { .org = call->who->org,
                                  .limit = (size_t)loci_in_int(call->in, "limit") };
    loci_diff diff = { 0 };

    loci_rc rc = read_time(call, "from", false, &request.from, err);
    if (!rc) rc = read_time(call, "to", true, &request.to, err);
    if (!rc) rc = loci_app_read(call, &tx, err);
    if (rc) return rc;
    rc = find_agent(call, tx, &request.agent, err);
    if (!rc) rc = loci_diff_read(tx, &request, call->arena, &diff, err);
    if (rc && rc != LOCI_ENOTFOUND) return rc;
    loci_json_object(out);
    loci_json_name(out, LOCI_STR("results"));
    loci_json_array(out);
    for (size_t i = 0; i < diff.count; i++) loci_past_show_diff(out, &diff.entries[i], call->arena);
    loci_json_array_end(out);
    loci_json_member_bool(out, "more", diff.more);
    loci_json_object_end(out);
    return LOCI_OK;
}

typedef struct undoing {
    loci_call *call;
    loci_undo_request request;
} undoing;

static loci_rc undo(loci_change *change, void *arg, loci_err *err)
{
    undoing *u = arg;
    loci_undo_result result;
    loci_json_writer w;

    loci_rc rc = find_agent(u->call, change->tx, &u->request.agent, err);
    if (!rc) rc = loci_undo_in(change, &u->request, u->call->arena, &result, err);
    if (rc) return rc;
    loci_json_begin(&w, change->answer);
    loci_past_show_undo(&w, &result);
    return loci_json_check(&w, err);
}

/* What it would do, without doing it. */
static loci_rc plan(undoing *u, loci_json_writer *out, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_undo_result result;

    loci_rc rc = loci_app_read(u->call, &tx, err);
    if (!rc) rc = find_agent(u->call, tx, &u->request.agent, err);
    if (!rc) rc = loci_undo_plan(tx, &u->request, u->call->arena, &result, err);
    if (!rc) loci_past_show_undo(out, &result);
    return rc;
}

static loci_rc run_undo(loci_call *call, loci_json_writer *out, loci_err *err)
{
    undoing u = { call, { .org = call->who->org, .shared = loci_in_bool(call->in, "shared") } };

    loci_rc rc = read_time(call, "to", false, &u.request.to, err);
    if (rc) return rc;
    if (loci_in_bool(call->in, "dry_run")) return plan(&u, out, err);
    return loci_app_write(call, undo, &u, out, err);
}

#define RESULTS(item)                                                                              \
    "\"results\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" item "}}}"
#define EVENT(words) "\"event\":{\"type\":\"string\",\"enum\":[" words "]}"
#define THING                                                                                      \
    "\"kind\":{\"type\":\"string\"},\"id\":" LOCI_SHOW_TEXT ",\"name\":" LOCI_SHOW_TEXT            \
    ",\"node\":" LOCI_SHOW_TEXT
#define MOMENT(what) "{\"type\":\"string\",\"format\":\"moment\",\"description\":\"" what "\"}"
#define COUNT "{\"type\":\"integer\",\"minimum\":0}"

static const char history_input[] =
    "{\"type\":\"object\",\"required\":[\"id\"],\"properties\":{\"id\":{\"type\":\"string\","
    "\"minLength\":1,\"maxLength\":128,\"description\":\"Public id of an agent, branch, block, "
    "message, archive or passage\"}}}";

static const char history_output[] =
    "{\"type\":\"object\",\"required\":[\"id\",\"kind\",\"results\"],\"properties\":{"
    "\"id\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"}," RESULTS(LOCI_PAST_SHOW_ROW) "}}";

static const char log_input[] =
    "{\"type\":\"object\",\"properties\":{\"limit\":{\"type\":\"integer\",\"minimum\":1,"
    "\"maximum\":1000,\"default\":50},\"after\":{\"type\":\"string\",\"maxLength\":1024,"
    "\"description\":\"next of the page before\"}}}";

static const char log_output[] =
    "{\"type\":\"object\",\"required\":[\"results\",\"next\"],\"properties\":{" RESULTS(
        "\"at\":" LOCI_SHOW_TIME "," EVENT(
            "\"added\",\"changed\",\"revived\",\"ended\"") "," THING ",\"rev\":" COUNT
                                                           ",\"who\":" LOCI_SHOW_TEXT
                                                           ",\"door\":" LOCI_SHOW_TEXT
                                                           ",\"text\":{\"type\":[\"string\","
                                                           "\"null\"],\"description\":\"Its "
                                                           "beginning\"},"
                                                           "\"text_bytes\":" COUNT) ",\"next\":{"
                                                                                    "\"type\":["
                                                                                    "\"string\","
                                                                                    "\"null\"],"
                                                                                    "\"description"
                                                                                    "\":"
                                                                                    "\"Give it as "
                                                                                    "after; null "
                                                                                    "on the last "
                                                                                    "page\"}}}";

static const char diff_input[] =
    "{\"type\":\"object\",\"required\":[\"from\"],\"properties\":{"
    "\"from\":" MOMENT("How it was then") ",\"to\":" MOMENT(
        "How it was then; without it: now. A "
        "date alone is the end of that day") ",\"limit\":{\"type\":\"integer\",\"minimum\":1,"
                                             "\"maximum\":10000,\"default\":1000}}}";

static const char diff_output[] =
    "{\"type\":\"object\",\"required\":[\"results\",\"more\"],\"properties\":{" RESULTS(EVENT(
        "\"added\",\"changed\",\"ended\"") "," THING ",\"old\":{\"type\":[\"object\",\"null\"]},"
                                           "\"new\":{\"type\":[\"object\",\"null\"]},"
                                           "\"fields\":{\"type\":\"array\",\"items\":{\"type\":"
                                           "\"string\"},\"description\":\"What "
                                           "changed\"}") ",\"more\":{\"type\":\"boolean\","
                                                         "\"description\":\"There was no room for "
                                                         "all\"}}}";

static const char undo_input[] =
    "{\"type\":\"object\",\"required\":[\"to\"],\"properties\":{"
    "\"to\":" MOMENT(
        "Bring the agent back to how it was then") ","
                                                   "\"shared\":{\"type\":\"boolean\",\"default\":"
                                                   "false,\"description\":\"Also touch blocks and "
                                                   "archives that other agents have too\"},"
                                                   "\"dry_run\":{\"type\":\"boolean\",\"default\":"
                                                   "false,\"description\":\"Only tell what would "
                                                   "be "
                                                   "done\"}}}";

static const char undo_output[] =
    "{\"type\":\"object\",\"required\":[\"restored\",\"removed\",\"reverted\",\"results\","
    "\"shared\"],\"properties\":{\"restored\":" COUNT ",\"removed\":" COUNT ",\"reverted\":" COUNT
    "," RESULTS(EVENT(
        "\"restored\",\"removed\",\"reverted\"") "," THING) ","
                                                            "\"shared\":{\"type\":\"array\","
                                                            "\"description\":\"What other agents "
                                                            "have too: left alone, unless "
                                                            "shared was asked "
                                                            "for\",\"items\":{\"type\":\"object\","
                                                            "\"properties\":{\"kind\":{\"type\":"
                                                            "\"string\"},\"id\":" LOCI_SHOW_TEXT
                                                            ",\"name\":" LOCI_SHOW_TEXT
                                                            ",\"agents\":" COUNT ",\"rows\":" COUNT
                                                            "}}}}}";

static const loci_op rows[] = {
    { .name = "diff",
      .help = "Compare an agent's memory at two times",
      .description = "What came and went in between is not shown; log shows every step.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_READS | LOCI_OP_AGENT,
      .input = diff_input,
      .output = diff_output,
      .run = run_diff,
      .examples = { { "Since a day", "{\"agent\": \"alice\", \"from\": \"2026-05-01\"}", NULL } } },
    { .name = "history",
      .help = "Show every revision of one thing by its id, oldest first",
      .description = "Also of things that have ended.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_READS,
      .input = history_input,
      .output = history_output,
      .run = run_history,
      .examples = { { "Of an agent", "{\"id\": \"agent-3f1c9a52-6f0b-4c1e-9a56-0b7c2d4e8f10\"}",
                      NULL } } },
    { .name = "log",
      .help = "Show what happened to an agent's memory, newest first: what, when, by whom",
      .description = "",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_READS | LOCI_OP_AGENT,
      .input = log_input,
      .output = log_output,
      .run = run_log,
      .examples = { { "The last ten", "{\"agent\": \"alice\", \"limit\": 10}", NULL } } },
    { .name = "undo",
      .help = "Bring an agent's memory back to how it was at a time",
      .description = "Nothing is lost: everything comes as new revisions, so that an undo can be "
                     "undone. Blocks and archives that other agents have too are only listed, "
                     "unless shared is true.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_WRITES | LOCI_OP_DESTRUCTIVE | LOCI_OP_IDEMPOTENT | LOCI_OP_AGENT,
      .input = undo_input,
      .output = undo_output,
      .run = run_undo,
      .examples = { { "See what it would do",
                      "{\"agent\": \"alice\", \"to\": \"2026-05-01T12:00:00Z\", \"dry_run\": true}",
                      NULL } } },
};

const loci_op_group loci_past_ops = { rows, LOCI_COUNT(rows) };
