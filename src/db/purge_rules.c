#include "db/purge_rules.h"

#include "db/purge.h"

/* Archives and blocks of agent ?2 that no other agent is linked to now. */
#define ONLY_ITS(thing, link)                                                                      \
    "IN (SELECT l." thing " FROM " link " l WHERE l.org = ?1 AND l.agent = ?2 AND l." thing        \
    " <> 0 AND NOT EXISTS (SELECT 1 FROM " link " o WHERE o.org = ?1 AND o." thing " = l." thing   \
    " AND o.agent <> ?2 AND o.ended = {never}))"
#define ONLY_ITS_ARCHIVES ONLY_ITS("archive", "archive_link")
#define ONLY_ITS_BLOCKS ONLY_ITS("block", "block_link")
/* Blocks that were linked on branch ?2 and are linked nowhere else now. */
#define ONLY_THERE                                                                                 \
    "IN (SELECT l.block FROM block_link l WHERE l.org = ?1 AND l.branch = ?2 AND l.block <> 0 "    \
    "AND "                                                                                         \
    "NOT EXISTS (SELECT 1 FROM block_link o WHERE o.org = ?1 AND o.block = l.block AND "           \
    "o.branch <> ?2 AND o.ended = {never}))"
#define ENDED_FOR_GOOD(table)                                                                      \
    "t.ended < ?2 AND NOT EXISTS (SELECT 1 FROM " table                                            \
    " x WHERE x.org = ?1 AND x.obj = t.obj AND x.ended >= ?2)"

/* clang-format off */
#define SELECT(table, id, condition) { "ii",                                                       \
    "SELECT t.row, t.obj, " id " FROM " table " t WHERE t.org = ?1 AND (" condition ") LIMIT 500", false }
#define ROWS(table, condition) SELECT(table, "t.id", condition)
#define LINKS(table, condition) SELECT(table, "CAST(NULL AS TEXT)", condition)
#define DELETE(table) { "iI", "DELETE FROM " table " WHERE org = ?1 AND row {in ?2}", false }
#define WHOLE(table, more) { "ii",                                                                 \
    "SELECT DISTINCT t.obj FROM " table " t WHERE t.org = ?1 AND " ENDED_FOR_GOOD(table) more " LIMIT 500", false }

enum {
    DEL_AGENT = LOCI_PURGE_STMT_RULES, DEL_BRANCH, DEL_BLOCK, DEL_BLOCK_LINK, DEL_MESSAGE,
    DEL_ARCHIVE, DEL_ARCHIVE_LINK, DEL_PASSAGE,
    A_MESSAGE, A_PASSAGE, A_ARCHIVE, A_ARCHIVE_LINK, A_BLOCK, A_BLOCK_LINK, A_BRANCH, A_AGENT,
    B_MESSAGE, B_PASSAGE, B_BLOCK, B_BLOCK_LINK, B_BRANCH,
    C_PASSAGE, C_ARCHIVE_LINK, C_ARCHIVE,
    D_BLOCK_LINK, D_BLOCK,
    E_MESSAGE, F_PASSAGE,
    T_MESSAGE, T_PASSAGE, T_ARCHIVE, T_ARCHIVE_LINK, T_BLOCK, T_BLOCK_LINK, T_AGENT,
};

static const loci_sql statements[] = {
    [LOCI_PURGE_STMT_IDEMPOTENCY] = { "i",
        "UPDATE idempotency SET kept = 0, answer = NULL WHERE org = ?1 AND kept <> 0", false },
    [LOCI_PURGE_STMT_QUEUE] = { "iI", "DELETE FROM queue WHERE org = ?1 AND row {in ?2}", false },
    [LOCI_PURGE_STMT_OUTBOX] = { "iI", "DELETE FROM outbox WHERE org = ?1 AND obj {in ?2}", false },
    [LOCI_PURGE_STMT_PREVIEWS] = { "iI",
        "SELECT entry FROM access_log WHERE org = ?1 AND obj {in ?2} AND preview IS NOT NULL LIMIT 10000", false },
    [LOCI_PURGE_STMT_CUT_PREVIEWS] = { "iI",
        "UPDATE access_log SET preview = NULL WHERE org = ?1 AND entry {in ?2}", false },
    [LOCI_PURGE_STMT_NOTE] = { "iiiiti",
        "INSERT INTO purge (org, row, ver, at, kind, target, done) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)", false },
    [LOCI_PURGE_STMT_LEFT] = { "ii",
        "SELECT count(*) FROM passage WHERE org = ?1 AND obj = ?2", false },
    [LOCI_PURGE_STMT_CHILDREN] = { "ii",
        "SELECT count(*) FROM branch WHERE org = ?1 AND parent = ?2", false },
    [LOCI_PURGE_STMT_LAST_ROW] = { "i", "SELECT row FROM org WHERE org = ?1", false },
    /* One pass over all texts: there is no index by hash alone. */
    [LOCI_PURGE_STMT_UNUSED] = { "i",
        "SELECT DISTINCT v.model, v.text_hash FROM vector v JOIN "
        "(SELECT text_hash FROM vector WHERE org = ?1 EXCEPT SELECT text_hash FROM passage WHERE org = ?1 "
        "EXCEPT SELECT text_hash FROM message WHERE org = ?1) u ON u.text_hash = v.text_hash "
        "WHERE v.org = ?1 LIMIT 500", false },
    /* What was added since the pass is looked at once more. */
    [LOCI_PURGE_STMT_VECTOR] = { "itbi",
        "DELETE FROM vector WHERE org = ?1 AND model = ?2 AND text_hash = ?3 "
        "AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.org = ?1 AND p.row > ?4 AND p.text_hash = ?3) "
        "AND NOT EXISTS (SELECT 1 FROM message m WHERE m.org = ?1 AND m.row > ?4 AND m.text_hash = ?3)", false },

    [LOCI_PURGE_STMT_ENDED] = WHOLE("agent", ""),
    [LOCI_PURGE_STMT_ENDED + 1] = WHOLE("archive", ""),
    [LOCI_PURGE_STMT_ENDED + 2] = WHOLE("branch",
        " AND NOT EXISTS (SELECT 1 FROM branch c WHERE c.org = ?1 AND c.parent = t.obj)"),
    [LOCI_PURGE_STMT_ENDED + 3] = WHOLE("block", ""),

    [DEL_AGENT] = DELETE("agent"),        [DEL_BRANCH] = DELETE("branch"),
    [DEL_BLOCK] = DELETE("block"),        [DEL_BLOCK_LINK] = DELETE("block_link"),
    [DEL_MESSAGE] = DELETE("message"),    [DEL_ARCHIVE] = DELETE("archive"),
    [DEL_ARCHIVE_LINK] = DELETE("archive_link"), [DEL_PASSAGE] = DELETE("passage"),

    [A_MESSAGE] = ROWS("message", "t.agent = ?2"),
    [A_PASSAGE] = ROWS("passage", "t.agent = ?2 OR t.archive " ONLY_ITS_ARCHIVES),
    [A_ARCHIVE] = ROWS("archive", "t.obj " ONLY_ITS_ARCHIVES),
    [A_ARCHIVE_LINK] = LINKS("archive_link", "t.agent = ?2 OR t.archive " ONLY_ITS_ARCHIVES),
    [A_BLOCK] = ROWS("block", "t.obj " ONLY_ITS_BLOCKS),
    [A_BLOCK_LINK] = LINKS("block_link", "t.agent = ?2 OR t.block " ONLY_ITS_BLOCKS),
    [A_BRANCH] = ROWS("branch", "t.agent = ?2"),
    [A_AGENT] = ROWS("agent", "t.obj = ?2"),

    [B_MESSAGE] = ROWS("message", "t.branch = ?2"),
    [B_PASSAGE] = ROWS("passage", "t.branch = ?2"),
    [B_BLOCK] = ROWS("block", "t.obj " ONLY_THERE),
    [B_BLOCK_LINK] = LINKS("block_link", "t.branch = ?2 OR t.block " ONLY_THERE),
    [B_BRANCH] = ROWS("branch", "t.obj = ?2"),

    [C_PASSAGE] = ROWS("passage", "t.archive = ?2"),
    [C_ARCHIVE_LINK] = LINKS("archive_link", "t.archive = ?2"),
    [C_ARCHIVE] = ROWS("archive", "t.obj = ?2"),

    [D_BLOCK_LINK] = LINKS("block_link", "t.block = ?2"),
    [D_BLOCK] = ROWS("block", "t.obj = ?2"),

    [E_MESSAGE] = ROWS("message", "t.obj = ?2"),
    [F_PASSAGE] = ROWS("passage", "t.obj = ?2"),

    [T_MESSAGE] = ROWS("message", "t.ended < ?2"),
    [T_PASSAGE] = ROWS("passage", "t.ended < ?2"),
    [T_ARCHIVE] = ROWS("archive", "t.ended < ?2"),
    [T_ARCHIVE_LINK] = LINKS("archive_link", ENDED_FOR_GOOD("archive_link")),
    [T_BLOCK] = ROWS("block", "t.ended < ?2"),
    [T_BLOCK_LINK] = LINKS("block_link", ENDED_FOR_GOOD("block_link")),
    [T_AGENT] = ROWS("agent", "t.ended < ?2"),
};

const loci_db_room loci_purge_room = { .name = "purge",
                                       .statements = statements,
                                       .statement_count = LOCI_COUNT(statements) };

static const loci_purge_rule of_agent[] = {
    { "message", A_MESSAGE, DEL_MESSAGE },    { "passage", A_PASSAGE, DEL_PASSAGE },
    { "archive", A_ARCHIVE, DEL_ARCHIVE },    { "archive_link", A_ARCHIVE_LINK, DEL_ARCHIVE_LINK },
    { "block", A_BLOCK, DEL_BLOCK },          { "block_link", A_BLOCK_LINK, DEL_BLOCK_LINK },
    { "branch", A_BRANCH, DEL_BRANCH },       { "agent", A_AGENT, DEL_AGENT },
};
static const loci_purge_rule of_branch[] = {
    { "message", B_MESSAGE, DEL_MESSAGE },    { "passage", B_PASSAGE, DEL_PASSAGE },
    { "block", B_BLOCK, DEL_BLOCK },          { "block_link", B_BLOCK_LINK, DEL_BLOCK_LINK },
    { "branch", B_BRANCH, DEL_BRANCH },
};
static const loci_purge_rule of_archive[] = {
    { "passage", C_PASSAGE, DEL_PASSAGE },    { "archive_link", C_ARCHIVE_LINK, DEL_ARCHIVE_LINK },
    { "archive", C_ARCHIVE, DEL_ARCHIVE },
};
static const loci_purge_rule of_block[] = {
    { "block_link", D_BLOCK_LINK, DEL_BLOCK_LINK }, { "block", D_BLOCK, DEL_BLOCK },
};
static const loci_purge_rule of_message[] = { { "message", E_MESSAGE, DEL_MESSAGE } };
static const loci_purge_rule of_passage[] = { { "passage", F_PASSAGE, DEL_PASSAGE } };
static const loci_purge_rule of_time[] = {
    { "message", T_MESSAGE, DEL_MESSAGE },    { "passage", T_PASSAGE, DEL_PASSAGE },
    { "archive_link", T_ARCHIVE_LINK, DEL_ARCHIVE_LINK }, { "archive", T_ARCHIVE, DEL_ARCHIVE },
    { "block_link", T_BLOCK_LINK, DEL_BLOCK_LINK }, { "block", T_BLOCK, DEL_BLOCK },
    { "agent", T_AGENT, DEL_AGENT },
};

static const loci_purge_plan plans[] = {
    { "agent", of_agent, LOCI_COUNT(of_agent) },       { "branch", of_branch, LOCI_COUNT(of_branch) },
    { "archive", of_archive, LOCI_COUNT(of_archive) }, { "block", of_block, LOCI_COUNT(of_block) },
    { "message", of_message, LOCI_COUNT(of_message) }, { "passage", of_passage, LOCI_COUNT(of_passage) },
    { NULL, of_time, LOCI_COUNT(of_time) },
};
/* clang-format on */

const char *const loci_purge_whole[4] = { "agent", "archive", "branch", "block" };

const loci_purge_plan *loci_purge_plan_of(const char *table)
{
    for (size_t i = 0; i < LOCI_COUNT(plans); i++) {
        if (!table && !plans[i].table) return &plans[i];
        if (table && plans[i].table && strcmp(table, plans[i].table) == 0) return &plans[i];
    }
    return NULL;
}
