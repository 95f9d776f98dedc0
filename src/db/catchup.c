#include "db/catchup.h"

#include "db/migrate.h"

enum {
    STMT_HEAD,
    STMT_FIND,
    STMT_AGENT,
    STMT_BRANCH,
    STMT_BLOCK,
    STMT_BLOCK_LINK,
    STMT_MESSAGE,
    STMT_ARCHIVE,
    STMT_ARCHIVE_LINK,
    STMT_PASSAGE,
    STMT_AGENT_ENDS,
    STMT_BRANCH_ENDS,
    STMT_BLOCK_ENDS,
    STMT_BLOCK_LINK_ENDS,
    STMT_MESSAGE_ENDS,
    STMT_ARCHIVE_ENDS,
    STMT_ARCHIVE_LINK_ENDS,
    STMT_PASSAGE_ENDS,
    STMT_VECTORS,
    STMT_PURGES,
};

/* Rows are handed out in the order of versions, so the primary key finds what is new. */
#define ADDED(table, id, columns)                                                                  \
    {                                                                                              \
        "iii",                                                                                     \
            "SELECT row, obj, rev, born, ended, ver, " id ", " columns " FROM " table              \
            " WHERE org = ?1 AND row > ?2 AND ver > ?3 ORDER BY row",                              \
            true                                                                                   \
    }
/* ended_ver > 0 repeats the condition of the partial index; row takes no part. */
#define ENDED(table)                                                                               \
    {                                                                                              \
        "iii",                                                                                     \
            "SELECT row, obj, ended, ended_ver FROM " table                                        \
            " WHERE org = ?1 AND ?2 >= 0 AND ended_ver > 0 AND ended_ver > ?3 ORDER BY ended_ver", \
            true                                                                                   \
    }
#define NO_ID "CAST(NULL AS TEXT)"
#define BODY "kind, text, tags, metadata, grp, created_at, text_hash"
#define MESSAGE_BODY "kind, role, text, tags, metadata, grp, created_at, text_hash"

static const loci_sql statements[] = {
    /* clang-format off */
    [STMT_HEAD] = { "i",
        "SELECT o.ver, o.tag, (SELECT s.ver FROM loci_schema s WHERE s.room = '') "
        "FROM org o WHERE o.org = ?1", false },
    [STMT_FIND] = { "iii", "SELECT row FROM version WHERE org = ?1 AND ver = ?2 AND tag = ?3", false },
    [STMT_AGENT]        = ADDED("agent", "id", "created_at"),
    [STMT_BRANCH]       = ADDED("branch", "id", "agent, node, parent"),
    [STMT_BLOCK]        = ADDED("block", "id", "label"),
    [STMT_BLOCK_LINK]   = ADDED("block_link", NO_ID, "agent, branch, label, block"),
    [STMT_MESSAGE]      = ADDED("message", "id", "agent, branch, " MESSAGE_BODY),
    [STMT_ARCHIVE]      = ADDED("archive", "id", "name"),
    [STMT_ARCHIVE_LINK] = ADDED("archive_link", NO_ID, "agent, archive"),
    [STMT_PASSAGE]      = ADDED("passage", "id", "archive, agent, branch, " BODY),
    [STMT_AGENT_ENDS]        = ENDED("agent"),
    [STMT_BRANCH_ENDS]       = ENDED("branch"),
    [STMT_BLOCK_ENDS]        = ENDED("block"),
    [STMT_BLOCK_LINK_ENDS]   = ENDED("block_link"),
    [STMT_MESSAGE_ENDS]      = ENDED("message"),
    [STMT_ARCHIVE_ENDS]      = ENDED("archive"),
    [STMT_ARCHIVE_LINK_ENDS] = ENDED("archive_link"),
    [STMT_PASSAGE_ENDS]      = ENDED("passage"),
    [STMT_VECTORS] = { "iii",
        "SELECT model, text_hash, chunk, start, len, data, ver FROM vector "
        "WHERE org = ?1 AND ?2 >= 0 AND ver > ?3 ORDER BY ver, text_hash, chunk", true },
    [STMT_PURGES] = { "iii",
        "SELECT row, kind, target, ver FROM purge WHERE org = ?1 AND row > ?2 AND ver > ?3 "
        "ORDER BY row", true },
    /* clang-format on */
};

const loci_db_room loci_catchup_room = { .name = "catchup",
                                         .statements = statements,
                                         .statement_count = LOCI_COUNT(statements) };

const loci_catchup_source loci_catchup_sources[] = {
    /* clang-format off */
    { "agent",        LOCI_EVENT_ADDED,  &loci_catchup_room, STMT_AGENT },
    { "agent",        LOCI_EVENT_ENDED,  &loci_catchup_room, STMT_AGENT_ENDS },
    { "branch",       LOCI_EVENT_ADDED,  &loci_catchup_room, STMT_BRANCH },
    { "branch",       LOCI_EVENT_ENDED,  &loci_catchup_room, STMT_BRANCH_ENDS },
    { "block",        LOCI_EVENT_ADDED,  &loci_catchup_room, STMT_BLOCK },
    { "block",        LOCI_EVENT_ENDED,  &loci_catchup_room, STMT_BLOCK_ENDS },
    { "block_link",   LOCI_EVENT_ADDED,  &loci_catchup_room, STMT_BLOCK_LINK },
    { "block_link",   LOCI_EVENT_ENDED,  &loci_catchup_room, STMT_BLOCK_LINK_ENDS },
    { "message",      LOCI_EVENT_ADDED,  &loci_catchup_room, STMT_MESSAGE },
    { "message",      LOCI_EVENT_ENDED,  &loci_catchup_room, STMT_MESSAGE_ENDS },
    { "archive",      LOCI_EVENT_ADDED,  &loci_catchup_room, STMT_ARCHIVE },
    { "archive",      LOCI_EVENT_ENDED,  &loci_catchup_room, STMT_ARCHIVE_ENDS },
    { "archive_link", LOCI_EVENT_ADDED,  &loci_catchup_room, STMT_ARCHIVE_LINK },
    { "archive_link", LOCI_EVENT_ENDED,  &loci_catchup_room, STMT_ARCHIVE_LINK_ENDS },
    { "passage",      LOCI_EVENT_ADDED,  &loci_catchup_room, STMT_PASSAGE },
    { "passage",      LOCI_EVENT_ENDED,  &loci_catchup_room, STMT_PASSAGE_ENDS },
    { "vector",       LOCI_EVENT_VECTOR, &loci_catchup_room, STMT_VECTORS },
    { "purge",        LOCI_EVENT_PURGED, &loci_catchup_room, STMT_PURGES },
    /* clang-format on */
};
const size_t loci_catchup_source_count = LOCI_COUNT(loci_catchup_sources);

static loci_rc read_head(loci_tx *tx, int64_t org, loci_cursor *ret_head, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_cursor head;
    loci_rc rc = loci_stmt_begin(tx, &loci_catchup_room, STMT_HEAD, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND, "no organization with the number %lld",
                         (long long)org);
    if (rc) return rc;
    head = (loci_cursor){ loci_stmt_i64(q, 0), loci_stmt_i64(q, 1) };
    int64_t epoch = loci_stmt_i64(q, 2);
    loci_stmt_endp(&q);
    rc = loci_migrate_check(tx, epoch, err);
    if (!rc) *ret_head = head;
    return rc;
}

loci_rc loci_catchup_head(loci_db *db, int64_t org, loci_cursor *ret_head, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);

    return rc ? rc : read_head(tx, org, ret_head, err);
}

/* The organization's last row at the cursor. LOCI_DONE: the store has no such version. */
static loci_rc find_cursor(loci_tx *tx, int64_t org, loci_cursor from, int64_t *ret_row,
                           loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    *ret_row = 0;
    if (from.ver == 0) return LOCI_OK;
    loci_rc rc = loci_stmt_begin(tx, &loci_catchup_room, STMT_FIND, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, from.ver);
    loci_stmt_bind_i64(q, 3, from.tag);
    rc = loci_stmt_next(q, err);
    if (!rc) *ret_row = loci_stmt_i64(q, 0);
    return rc;
}

static loci_rc stream(loci_tx *tx, const loci_catchup_request *r, const loci_catchup_source *source,
                      int64_t row, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, source->room, source->statement, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, r->org);
    loci_stmt_bind_i64(q, 2, row);
    loci_stmt_bind_i64(q, 3, r->from.ver);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        rc = r->event(source, q, r->arg, err);
        if (rc) return rc;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

loci_rc loci_catchup(loci_db *db, const loci_catchup_request *request, loci_cursor *ret_cursor,
                     bool *ret_reload, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_cursor head = { 0, 0 };
    int64_t row = 0;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = read_head(tx, request->org, &head, err);
    if (rc) return rc;
    bool current = head.ver == request->from.ver && head.tag == request->from.tag;
    if (!current) rc = find_cursor(tx, request->org, request->from, &row, err);
    if (rc && rc != LOCI_DONE) return rc;
    bool reload = rc == LOCI_DONE || head.ver < request->from.ver;
    rc = LOCI_OK;
    for (size_t i = 0; !rc && !reload && !current && i < request->source_count; i++)
        rc = stream(tx, request, &request->sources[i], row, err);
    if (rc) return rc;
    *ret_reload = reload;
    if (!reload) *ret_cursor = head;
    return LOCI_OK;
}
