#include "tree/statements.h"

/* What an agent's rows were, dead ones too, by time: log, diff and undo. Ends have an index of
 * their own, which costs a new row nothing. block_link_past may be there already: imports need the
 * same. */
static const char *const migrations[] = {
    "CREATE INDEX branch_children ON branch (org, agent, parent, obj) WHERE ended = {never};"
    "CREATE INDEX branch_agent_born ON branch (org, agent, born, row);"
    "CREATE INDEX branch_agent_ended ON branch (org, agent, ended, row) WHERE ended < {never};"
    "CREATE INDEX branch_node_past ON branch (org, agent, node) WHERE ended < {never};"
    "CREATE INDEX agent_name_past ON agent (org, name) WHERE ended < {never};"
    "CREATE INDEX block_link_agent_born ON block_link (org, agent, born, row);"
    "CREATE INDEX block_link_agent_ended ON block_link (org, agent, ended, row) "
    "  WHERE ended < {never};"
    "CREATE INDEX block_link_ever ON block_link (org, block, agent);"
    "CREATE INDEX IF NOT EXISTS block_link_past ON block_link (org, agent, branch, label) "
    "  WHERE ended < {never};"
    "CREATE INDEX archive_link_agent_born ON archive_link (org, agent, born, row);"
    "CREATE INDEX archive_link_agent_ended ON archive_link (org, agent, ended, row) "
    "  WHERE ended < {never};"
    "CREATE INDEX message_agent_born ON message (org, agent, born, row);"
    "CREATE INDEX message_agent_ended ON message (org, agent, ended, row) WHERE ended < {never};"
    "CREATE INDEX passage_archive_born ON passage (org, archive, born, row);"
    "CREATE INDEX passage_archive_ended ON passage (org, archive, ended, row) "
    "  WHERE ended < {never};",
};

#define AGENT_READ "SELECT row, obj, rev, born, ended, id, " TREE_AGENT_COLUMNS " FROM agent "
#define BRANCH_READ "SELECT row, obj, rev, born, ended, id, " TREE_BRANCH_COLUMNS " FROM branch "
#define LINK_READ "SELECT row, obj, rev, label, branch, block, place, born FROM block_link "

#define NONE "CAST(NULL AS TEXT)"
#define NODE "(SELECT x.node FROM branch x WHERE x.org = r.org AND x.obj = r.branch AND x.rev = 1)"

/* A block is the agent's while a link says so: at the time of what happened to it, or at the time
 * that one looks back to. */
#define LINKED(time)                                                                               \
    "r.obj IN (SELECT l.block FROM block_link l WHERE l.org = ?1 AND l.agent = ?2 AND "            \
    "l.block > 0) AND EXISTS (SELECT 1 FROM block_link l WHERE l.org = ?1 AND l.block = r.obj "    \
    "AND l.agent = ?2 AND ((l.born <= " time " AND l.ended >= " time                               \
    ") OR (l.born <= ?4 AND l.ended > ?4)))"

#define OWN_ARCHIVE "r.archive = ?2 AND (r.branch = 0 OR r.agent = ?3)"

#define ARCHIVE_LINK_TEXT                                                                          \
    "(SELECT x.id FROM archive x WHERE x.org = r.org AND x.obj = r.archive AND x.rev = 1)"
#define ARCHIVE_LINK_NAME                                                                          \
    "(SELECT x.name FROM archive x WHERE x.org = r.org AND x.obj = r.archive AND x.rev = 1)"
#define BLOCK_LINK_TEXT                                                                            \
    "(SELECT x.id FROM block x WHERE x.org = r.org AND x.obj = r.block AND x.rev = 1)"

static const loci_sql statements[] = {
    /* clang-format off */
    [TREE_AGENT_ADD] = { "iiiiiitttttttttiit",
        "INSERT INTO agent (org, row, obj, rev, born, ended, ver, ended_ver, who, door, id, "
        TREE_AGENT_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, {never}, ?6, 0, ?7, ?8, ?9, "
        "?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)", false },
    [TREE_AGENT_BY_ID] = { "it", AGENT_READ "WHERE org = ?1 AND id = ?2 AND ended = {never}", false },
    /* + 0: else the index that is sorted by created_at is walked, which finds no name. */
    [TREE_AGENT_BY_NAME] = { "it",
        AGENT_READ "WHERE org = ?1 AND name = ?2 AND ended = {never} "
        "ORDER BY created_at + 0, obj LIMIT 1", false },
    [TREE_AGENT_BY_OBJ] = { "iii",
        AGENT_READ "WHERE org = ?1 AND obj = ?2 AND born <= ?3 AND ended > ?3", false },
    [TREE_AGENT_ENDED_ID] = { "it",
        AGENT_READ "WHERE org = ?1 AND id = ?2 AND ended < {never} ORDER BY rev DESC LIMIT 1", false },
    [TREE_AGENT_ENDED_NAME] = { "it",
        AGENT_READ "a WHERE org = ?1 AND name = ?2 AND ended < {never} AND NOT EXISTS "
        "(SELECT 1 FROM agent n WHERE n.org = a.org AND n.obj = a.obj AND n.rev > a.rev) "
        "ORDER BY ended DESC, obj LIMIT 1", false },
    [TREE_AGENT_LAST] = { "ii", AGENT_READ "WHERE org = ?1 AND obj = ?2 ORDER BY rev DESC LIMIT 1", false },
    [TREE_AGENT_UP] = { "iitiii",
        AGENT_READ "WHERE org = ?1 AND ended = {never} AND (created_at, obj) > (?2, ?4) "
        "AND (?3 IS NULL OR name = ?3) AND (?5 = 1 OR hidden IS NULL OR hidden = 0) "
        "ORDER BY created_at, obj LIMIT ?6", false },
    [TREE_AGENT_DOWN] = { "iitiii",
        AGENT_READ "WHERE org = ?1 AND ended = {never} AND (created_at, obj) < (?2, ?4) "
        "AND (?3 IS NULL OR name = ?3) AND (?5 = 1 OR hidden IS NULL OR hidden = 0) "
        "ORDER BY created_at DESC, obj DESC LIMIT ?6", false },
    [TREE_AGENT_TAG] = { "iti", "INSERT INTO agent_tag (org, tag, agent) VALUES (?1, ?2, ?3)", false },
    [TREE_AGENT_ALIVE] = { "ii",
        "SELECT row FROM agent WHERE org = ?1 AND obj = ?2 AND ended = {never}", false },
    [TREE_AGENT_END_BLOCKS] = { "iiiitt",
        "UPDATE block_link SET ended = ?3, ended_ver = ?4, ended_who = ?5, ended_door = ?6 "
        "WHERE org = ?1 AND agent = ?2 AND ended = {never}", false },
    [TREE_AGENT_END_ARCHIVES] = { "iiiitt",
        "UPDATE archive_link SET ended = ?3, ended_ver = ?4, ended_who = ?5, ended_door = ?6 "
        "WHERE org = ?1 AND agent = ?2 AND ended = {never}", false },
    /* Links that ended together with their agent, as far as what they link to is still alive. */
    [TREE_AGENT_LOST_BLOCKS] = { "iii",
        "SELECT l.row FROM block_link l WHERE l.org = ?1 AND l.agent = ?2 AND l.ended = ?3 AND "
        "l.ended < {never} AND (l.block = 0 OR EXISTS (SELECT 1 FROM block b WHERE b.org = ?1 AND "
        "b.obj = l.block AND b.ended = {never})) ORDER BY l.row", false },
    [TREE_AGENT_LOST_ARCHIVES] = { "iii",
        "SELECT l.row FROM archive_link l WHERE l.org = ?1 AND l.agent = ?2 AND l.ended = ?3 AND "
        "l.ended < {never} AND EXISTS (SELECT 1 FROM archive b WHERE b.org = ?1 AND "
        "b.obj = l.archive AND b.ended = {never}) ORDER BY l.row", false },

    [TREE_BRANCH_ADD] = { "iiiitttititti",
        "INSERT INTO branch (org, row, obj, rev, born, ended, ver, ended_ver, who, door, id, "
        "agent, node, parent, title, metadata, created_at) VALUES (?1, ?2, ?2, 1, ?3, {never}, ?4, "
        "0, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)", false },
    [TREE_BRANCH_BY_NODE] = { "iit",
        BRANCH_READ "WHERE org = ?1 AND agent = ?2 AND node = ?3 AND ended = {never}", false },
    [TREE_BRANCH_BY_NODE_AT] = { "iiti",
        BRANCH_READ "WHERE org = ?1 AND agent = ?2 AND node = ?3 AND ended = {never} AND born <= ?4 "
        "UNION ALL " BRANCH_READ "WHERE org = ?1 AND agent = ?2 AND node = ?3 AND ended < {never} "
        "AND born <= ?4 AND ended > ?4", false },
    [TREE_BRANCH_BY_ID] = { "it", BRANCH_READ "WHERE org = ?1 AND id = ?2 AND ended = {never}", false },
    [TREE_BRANCH_AT] = { "iii",
        BRANCH_READ "WHERE org = ?1 AND obj = ?2 AND born <= ?3 AND ended > ?3", false },
    [TREE_BRANCH_CHILDREN] = { "iiiii",
        BRANCH_READ "WHERE org = ?1 AND agent = ?2 AND parent = ?3 AND ended = {never} AND obj > ?4 "
        "ORDER BY obj LIMIT ?5", false },
    [TREE_BRANCH_CHAIN_AT] = { "iiii",
        "WITH RECURSIVE c (obj, parent, agent, depth) AS ("
        "SELECT b.obj, b.parent, b.agent, CAST(1 AS BIGINT) FROM branch b "
        "WHERE b.org = ?1 AND b.obj = ?2 AND b.born <= ?3 AND b.ended > ?3 UNION ALL "
        "SELECT b.obj, b.parent, b.agent, c.depth + 1 FROM c JOIN branch b ON b.org = ?1 AND "
        "b.obj = c.parent AND b.born <= ?3 AND b.ended > ?3 WHERE c.depth < ?4) "
        "SELECT obj, parent, agent FROM c ORDER BY depth", false },

    [TREE_LABEL_CHAIN] = { "iiIt",
        LINK_READ "WHERE org = ?1 AND agent = ?2 AND branch {in ?3} AND ended = {never} "
        "AND (?4 IS NULL OR label = ?4)", false },
    [TREE_LABEL_CHAIN_AT] = { "iiIti",
        LINK_READ "WHERE org = ?1 AND agent = ?2 AND branch {in ?3} AND ended = {never} "
        "AND born <= ?5 AND (?4 IS NULL OR label = ?4) UNION ALL "
        LINK_READ "WHERE org = ?1 AND agent = ?2 AND branch {in ?3} AND ended < {never} "
        "AND born <= ?5 AND ended > ?5 AND (?4 IS NULL OR label = ?4)", false },
    [TREE_LABEL_OWN] = { "iiit",
        LINK_READ "WHERE org = ?1 AND agent = ?2 AND branch = ?3 AND label = ?4 AND ended = {never}", false },
    [TREE_LABEL_LAST] = { "iiit",
        LINK_READ "WHERE org = ?1 AND agent = ?2 AND branch = ?3 AND label = ?4 AND ended < {never} "
        "ORDER BY ended DESC, row DESC LIMIT 1", false },
    [TREE_LABEL_ADD] = { "iiiiiittiitii",
        "INSERT INTO block_link (org, row, obj, rev, born, ended, ver, ended_ver, who, door, "
        TREE_BLOCK_LINK_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, {never}, ?6, 0, ?7, ?8, "
        "?9, ?10, ?11, ?12, ?13)", false },

    [TREE_ARCHIVE_SPANS] = { "iii",
        "SELECT archive, born, ended FROM archive_link WHERE org = ?1 AND agent = ?2 "
        "ORDER BY archive, born LIMIT ?3", false },
    [TREE_BLOCK_OTHERS] = { "iii",
        "SELECT count(DISTINCT agent) FROM block_link WHERE org = ?1 AND block = ?2 AND "
        "agent <> ?3 AND ended = {never}", false },
    [TREE_ARCHIVE_OTHERS] = { "iii",
        "SELECT count(DISTINCT agent) FROM archive_link WHERE org = ?1 AND archive = ?2 AND "
        "agent <> ?3 AND ended = {never}", false },

    LOCI_PAST_FINDS(TREE_PAST_AGENT, "agent"),
    LOCI_PAST_READS(TREE_PAST_AGENT, "agent",
        LOCI_PAST_SELECT("agent", "r.id", "r.name", NONE, "r.system", TREE_AGENT_COLUMNS),
        "r.obj = ?2", "r.obj = ?2"),
    LOCI_PAST_WRITES(TREE_PAST_AGENT, "agent", "id, " TREE_AGENT_COLUMNS),
    [TREE_PAST_AGENT + LOCI_PAST_TAGS] = { "iii",
        "INSERT INTO agent_tag (org, tag, agent) "
        "SELECT org, tag, ?3 FROM agent_tag WHERE org = ?1 AND agent = ?2", false },

    LOCI_PAST_FINDS(TREE_PAST_BRANCH, "branch"),
    LOCI_PAST_READS(TREE_PAST_BRANCH, "branch",
        LOCI_PAST_SELECT("branch", "r.id", "r.node", "r.node", "r.title", TREE_BRANCH_COLUMNS),
        "r.agent = ?2", "r.agent = ?2"),
    LOCI_PAST_WRITES(TREE_PAST_BRANCH, "branch", "id, " TREE_BRANCH_COLUMNS),

    LOCI_PAST_FINDS(TREE_PAST_ARCHIVE, "archive"),
    LOCI_PAST_READS(TREE_PAST_ARCHIVE, "archive",
        LOCI_PAST_SELECT("archive", "r.id", "r.name", NONE, "r.description", TREE_ARCHIVE_COLUMNS),
        "r.obj = ?2", "r.obj = ?2"),
    LOCI_PAST_WRITES(TREE_PAST_ARCHIVE, "archive", "id, " TREE_ARCHIVE_COLUMNS),

    LOCI_PAST_READS(TREE_PAST_ARCHIVE_LINK, "archive_link",
        LOCI_PAST_SELECT("archive_link", NONE, ARCHIVE_LINK_NAME, NONE, ARCHIVE_LINK_TEXT,
                         TREE_ARCHIVE_LINK_COLUMNS),
        "r.agent = ?2", "r.agent = ?2"),
    LOCI_PAST_WRITES(TREE_PAST_ARCHIVE_LINK, "archive_link", TREE_ARCHIVE_LINK_COLUMNS),

    LOCI_PAST_FINDS(TREE_PAST_BLOCK, "block"),
    LOCI_PAST_READS(TREE_PAST_BLOCK, "block",
        LOCI_PAST_SELECT("block", "r.id", "r.label", NONE, "r.value", TREE_BLOCK_COLUMNS),
        LINKED("r.born"), LINKED("r.ended")),
    LOCI_PAST_WRITES(TREE_PAST_BLOCK, "block", "id, " TREE_BLOCK_COLUMNS),
    [TREE_PAST_BLOCK + LOCI_PAST_TAGS] = { "iii",
        "INSERT INTO block_tag (org, tag, block) "
        "SELECT org, tag, ?3 FROM block_tag WHERE org = ?1 AND block = ?2", false },

    LOCI_PAST_READS(TREE_PAST_BLOCK_LINK, "block_link",
        LOCI_PAST_SELECT("block_link", NONE, "r.label", NODE, BLOCK_LINK_TEXT,
                         TREE_BLOCK_LINK_COLUMNS),
        "r.agent = ?2", "r.agent = ?2"),
    LOCI_PAST_WRITES(TREE_PAST_BLOCK_LINK, "block_link", TREE_BLOCK_LINK_COLUMNS),

    LOCI_PAST_FINDS(TREE_PAST_MESSAGE, "message"),
    LOCI_PAST_READS(TREE_PAST_MESSAGE, "message",
        LOCI_PAST_SELECT("message", "r.id", "r.role", NODE, "r.text", TREE_MESSAGE_COLUMNS),
        "r.agent = ?2", "r.agent = ?2"),
    LOCI_PAST_WRITES(TREE_PAST_MESSAGE, "message", "id, " TREE_MESSAGE_COLUMNS),

    LOCI_PAST_FINDS(TREE_PAST_PASSAGE, "passage"),
    LOCI_PAST_READS(TREE_PAST_PASSAGE, "passage",
        LOCI_PAST_SELECT("passage", "r.id", "r.kind", NODE, "r.text", TREE_PASSAGE_COLUMNS),
        OWN_ARCHIVE, OWN_ARCHIVE),
    LOCI_PAST_WRITES(TREE_PAST_PASSAGE, "passage", "id, " TREE_PASSAGE_COLUMNS),
    [TREE_PAST_PASSAGE + LOCI_PAST_TAGS] = { "iii",
        "INSERT INTO passage_tag (org, id, tag, passage, archive) "
        "SELECT org, id, tag, ?3, archive FROM passage_tag WHERE org = ?1 AND passage = ?2", false },
    /* clang-format on */
};

const loci_db_room loci_tree_room = { .name = "tree",
                                      .migrations = migrations,
                                      .migration_count = LOCI_COUNT(migrations),
                                      .statements = statements,
                                      .statement_count = LOCI_COUNT(statements) };
