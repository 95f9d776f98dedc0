#include "access/statements.h"

/* The oldest user of an organization is the one that was made with it. */
#define ORG_COLUMNS                                                                                \
    "SELECT o.org, o.id, o.name, o.created_at, (SELECT u.id FROM users u WHERE u.org = o.org "     \
    "ORDER BY u.created_at, u.id LIMIT 1) FROM org o "
#define KEY_COLUMNS                                                                                \
    "SELECT k.id, k.name, k.shown, k.org, k.role, k.agent, k.node, k.created_at, k.used_at, "      \
    "k.revoked_at, o.name FROM api_key k JOIN org o ON o.org = k.org "

static const loci_sql statements[] = {
    /* clang-format off */
    [ACCESS_ORG_LIST] = { "", ORG_COLUMNS "ORDER BY o.org", false },
    [ACCESS_ORG_FIND] = { "t", ORG_COLUMNS "WHERE o.id = ?1 OR o.name = ?1 ORDER BY o.org LIMIT 2",
                          false },
    [ACCESS_ORG_NEXT] = { "", "SELECT max(org) + 1 FROM org", false },
    [ACCESS_ORG_ADD] = { "itti", "INSERT INTO org (org, id, name, ver, tag, at, row, created_at) "
                                 "VALUES (?1, ?2, ?3, 0, 0, 0, 0, ?4)", false },
    [ACCESS_USER_ADD] = { "itti", "INSERT INTO users (org, id, name, created_at) "
                                  "VALUES (?1, ?2, ?3, ?4)", false },
    [ACCESS_USER_ORG] = { "t", "SELECT org FROM users WHERE id = ?1 ORDER BY org LIMIT 1", false },
    [ACCESS_KEY_ADD] = { "bittttttit",
                         "INSERT INTO api_key (hash, org, id, name, shown, role, agent, node, "
                         "created_at, created_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                         false },
    [ACCESS_KEY_LIST] = { "i", KEY_COLUMNS "WHERE k.org = ?1 ORDER BY k.created_at, k.id", false },
    [ACCESS_KEY_BY_ID] = { "it", KEY_COLUMNS "WHERE k.org = ?1 AND k.id = ?2", false },
    [ACCESS_KEY_BY_HASH] = { "b", KEY_COLUMNS "WHERE k.hash = ?1 AND k.revoked_at IS NULL", false },
    [ACCESS_KEY_REVOKE] = { "iti", "UPDATE api_key SET revoked_at = ?3 "
                                   "WHERE org = ?1 AND id = ?2 AND revoked_at IS NULL", false },
    [ACCESS_KEY_USED] = { "bi", "UPDATE api_key SET used_at = ?2 WHERE hash = ?1", false },
    [ACCESS_KEY_ANY] = { "", "SELECT count(*) FROM (SELECT 1 FROM api_key LIMIT 1) k", false },
    /* clang-format on */
};

const loci_db_room loci_access_room = { .name = "access",
                                        .statements = statements,
                                        .statement_count = LOCI_COUNT(statements) };
