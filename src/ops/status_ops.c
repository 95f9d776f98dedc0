/* What the store holds and what is still to be done. */
#include "db/stmt.h"
#include "ops/app.h"
#include "ops/groups.h"

#include <loci.h>

enum { COUNTS, PENDING };

#define LIVE(table) "(SELECT count(*) FROM " table " WHERE org = ?1 AND ended = {never})"

static const loci_sql statements[] = {
    /* clang-format off */
    [COUNTS] = { "i", "SELECT o.id, o.name, o.ver, "
                      "(SELECT count(*) FROM queue WHERE org = ?1), "
                      "(SELECT count(*) FROM outbox WHERE org = ?1), "
                      LIVE("agent") ", " LIVE("branch") ", " LIVE("block") ", " LIVE("archive") ", "
                      LIVE("passage") ", " LIVE("message") " FROM org o WHERE o.org = ?1", false },
    [PENDING] = { "", "SELECT (SELECT count(*) FROM queue), (SELECT count(*) FROM outbox)", false },
    /* clang-format on */
};

const loci_db_room loci_status_room = { .name = "status",
                                        .statements = statements,
                                        .statement_count = LOCI_COUNT(statements) };

loci_rc loci_app_pending(loci_app *app, loci_app_work *ret_work, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_tx_begin(app->db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_status_room, PENDING, &q, err);
    if (!rc) rc = loci_stmt_next(q, err);
    if (!rc) *ret_work = (loci_app_work){ loci_stmt_i64(q, 0), loci_stmt_i64(q, 1) };
    return rc;
}

/* Where the store lies is for those who run it; others learn its kind. */
static const char *store_name(const loci_call *call)
{
    if (call->who->role == LOCI_ROLE_ADMIN) return loci_db_name(call->app->db);
    return loci_db_engine(call->app->db) == LOCI_SQLITE ? "sqlite" : "postgres";
}

static void write_counts(loci_stmt *q, loci_json_writer *out)
{
    static const char *const names[] = { "embedding_pending", "outbox_pending", "agents",
                                         "branches",          "blocks",         "archives",
                                         "passages",          "messages" };

    for (unsigned i = 0; i < LOCI_COUNT(names); i++)
        loci_json_member_int(out, names[i], loci_stmt_i64(q, i + 3));
}

static loci_rc run_status(loci_call *call, loci_json_writer *out, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_app_read(call, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_status_room, COUNTS, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, call->who->org);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE) return loci_fail(err, LOCI_ENOTFOUND, "the organization is gone");
    if (rc) return rc;

    loci_json_object(out);
    loci_json_member_cstr(out, "version", loci_version());
    loci_json_member_cstr(out, "store", store_name(call));
    loci_json_member_cstr(out, "embedder", "none");
    loci_json_member_str(out, "organization_id", loci_stmt_text(q, 0));
    loci_json_member_str(out, "organization", loci_stmt_text(q, 1));
    loci_json_member_int(out, "store_version", loci_stmt_i64(q, 2));
    write_counts(q, out);
    loci_json_object_end(out);
    return LOCI_OK;
}

#define COUNT(what) "{\"type\":\"integer\",\"minimum\":0,\"description\":\"" what "\"}"

static const char status_output[] =
    "{\"type\":\"object\",\"required\":[\"version\",\"store\",\"embedder\",\"embedding_"
    "pending\","
    "\"outbox_pending\",\"agents\",\"passages\"],\"properties\":{"
    "\"version\":{\"type\":\"string\",\"description\":\"Of the program\"},"
    "\"store\":{\"type\":\"string\",\"description\":\"Path or URL of the store; only its "
    "kind for "
    "callers without the role admin\"},"
    "\"embedder\":{\"type\":\"string\",\"description\":\"What makes vectors; none: search "
    "by text "
    "alone\"},"
    "\"organization_id\":{\"type\":\"string\"},\"organization\":{\"type\":\"string\"},"
    "\"store_version\":" COUNT(
        "Rises with every write in the organization") ","
                                                      "\"embedding_pending\":" COUNT(
                                                          "Texts that wait for their "
                                                          "vectors") ","
                                                                     "\"outbox_"
                                                                     "pending\":" COUNT(
                                                                         "Deliveries that "
                                                                         "wait for an "
                                                                         "external store") ","
                                                                                           "\"agent"
                                                                                           "s\""
                                                                                           ":" COUNT("Live ones, as in all counts below") ",\"branches\":" COUNT(
                                                                                               "") ","
                                                                                                   "\"blocks\":" COUNT("") ",\"archives\":" COUNT("") ",\"passages\":" COUNT(
                                                                                                       "") ","
                                                                                                           "\"messages\":" COUNT(
                                                                                                               "") "}}";

static const loci_op rows[] = {
    { .name = "status",
      .help = "Show what this memory holds, where it is kept and what is still being indexed",
      .description = "Wait until embedding_pending is 0 to search by meaning over everything that "
                     "was written so far.",
      .toolsets = LOCI_TOOLSET_MEMORY,
      .flags = LOCI_OP_READS | LOCI_OP_OFF_TREE,
      .input = "{\"type\":\"object\",\"properties\":{}}",
      .output = status_output,
      .run = run_status,
      .examples = { { "Look at the whole", "{}", NULL } } },
};

const loci_op_group loci_status_ops = { rows, LOCI_COUNT(rows) };
