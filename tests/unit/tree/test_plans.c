#include "world.h"

#include "base/alloc.h"
#include "pg.h"

#include <stdio.h>
#include <string.h>

/* Every statement of the room is explained by the engine; none reads a whole table, or all of an
 * organization. PostgreSQL plans by what is there, so it gets some rows first. */

#define ROWS "FROM generate_series(1, 20000) i"
#define STAMPS "org, row, obj, rev, born, ended, ver, ended_ver, door"
#define STAMPED                                                                                    \
    "1, i, i, 1, i, CASE WHEN i % 3 = 0 THEN i + 1 ELSE 9223372036854775807 END, i, i % 3, 't'"

static const char *const rows[] = {
    "INSERT INTO agent (" STAMPS ", id, name, agent_type, created_at) "
    "SELECT " STAMPED ", 'a' || i, 'n' || i, 't', i " ROWS,
    "INSERT INTO branch (" STAMPS ", id, agent, node, parent, created_at) "
    "SELECT " STAMPED ", 'b' || i, i % 1000, 'n' || i, i - i % 10, i " ROWS,
    "INSERT INTO block (" STAMPS ", id, label, value, char_limit, read_only, budget, is_template, "
    "created_at) SELECT " STAMPED ", 'c' || i, 'l', 'v', 1, 0, 0, 0, i " ROWS,
    "INSERT INTO block_link (" STAMPS ", agent, branch, label, block, place) "
    "SELECT " STAMPED ", i % 1000, i, 'l', i, 0 " ROWS,
    "INSERT INTO message (" STAMPS ", id, agent, branch, kind, role, text, created_at) "
    "SELECT " STAMPED ", 'm' || i, i % 1000, i, 'message', 'user', 'x', i " ROWS,
    "INSERT INTO archive (" STAMPS ", id, name, provider, created_at) "
    "SELECT " STAMPED ", 'v' || i, 'n', 'native', i " ROWS,
    "INSERT INTO archive_link (" STAMPS ", agent, archive, is_owner) "
    "SELECT " STAMPED ", i % 1000, i, 1 " ROWS,
    "INSERT INTO passage (" STAMPS ", id, archive, branch, kind, text, text_hash, created_at) "
    "SELECT " STAMPED ", 'p' || i, i % 1000, 0, 'passage', 'x', 'h', i " ROWS,
    "INSERT INTO agent_tag (org, tag, agent) SELECT 1, 't', i " ROWS,
    "INSERT INTO block_tag (org, tag, block) SELECT 1, 't', i " ROWS,
    "INSERT INTO passage_tag (org, id, tag, passage, archive) SELECT 1, 'x', 't', i, i % "
    "1000 " ROWS,
    "ANALYZE",
};

static void fill(const store *s)
{
    world w = world_open(s->url); /* makes the tables */

    world_close(&w);
    for (size_t i = 0; s->engine == LOCI_POSTGRES && i < LOCI_COUNT(rows); i++)
        assert_true(pg_run(s->url, rows[i]));
}

static loci_sql explained[TREE_STATEMENTS];
static loci_db_room explain_room = { .name = "explain",
                                     .statements = explained,
                                     .statement_count = TREE_STATEMENTS };

static void explain_all(loci_engine engine)
{
    for (size_t i = 0; i < TREE_STATEMENTS; i++) {
        const loci_sql *sql = &loci_tree_room.statements[i];
        loci_buf text;
        if (!sql->text) continue;
        loci_buf_init(&text, 64 << 10);
        loci_buf_printf(&text, "%s %s", engine == LOCI_SQLITE ? "EXPLAIN QUERY PLAN" : "EXPLAIN",
                        sql->text);
        explained[i] = (loci_sql){ sql->types, loci_buf_take(&text), false };
    }
}

static void forget_all(void)
{
    for (size_t i = 0; i < TREE_STATEMENTS; i++) {
        loci_free((void *)(uintptr_t)explained[i].text);
        explained[i] = (loci_sql){ 0 };
    }
}

/* "SCAN x" in SQLite, unless it is json_each, a value list or the chain that the statement builds;
 * "Seq Scan on" in PostgreSQL. A search by the organization alone reads all of it. */
static bool scans(loci_engine engine, const char *line)
{
    if (engine == LOCI_POSTGRES)
        return strstr(line, "Seq Scan on") || strstr(line, "Index Cond: (org = $1)") ||
               strstr(line, "Index Cond: (org = '");
    if (strstr(line, "(org=?)")) return true;
    return strncmp(line, "SCAN", 4) == 0 && !strstr(line, "json_each") &&
           !strstr(line, "CONSTANT") && strcmp(line, "SCAN c") != 0;
}

/* A plan for NULLs would be no plan at all: nothing is equal to them. */
static void bind_something(loci_stmt *q, const char *types)
{
    static const int64_t one = 1;

    for (unsigned i = 0; types[i]; i++) {
        if (types[i] == 'i') loci_stmt_bind_i64(q, i + 1, one);
        if (types[i] == 't') loci_stmt_bind_text(q, i + 1, LOCI_STR("x"));
        if (types[i] == 'b') loci_stmt_bind_blob(q, i + 1, LOCI_STR("x"));
        if (types[i] == 'I') loci_stmt_bind_i64s(q, i + 1, &one, 1);
    }
}

static void check_plan(loci_tx *tx, loci_engine engine, size_t number)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    char line[1024];
    loci_rc rc;
    loci_err err = { 0 };

    assert_ok(loci_stmt_begin(tx, &explain_room, number, &q, &err), err);
    bind_something(q, explained[number].types);
    while ((rc = loci_stmt_next(q, &err)) == LOCI_OK) {
        loci_str text = loci_stmt_text(q, engine == LOCI_SQLITE ? 3 : 0);
        (void)snprintf(line, sizeof line, "%.*s", LOCI_ARG(text));
        if (scans(engine, line)) fail_msg("%s: %s", explained[number].text, line);
    }
    assert_ok(rc == LOCI_DONE ? LOCI_OK : rc, err);
}

static void no_statement_reads_a_whole_table(void **state)
{
    store *s = store_of(state);
    const loci_db_room *const rooms[] = { &loci_schema_room, &loci_write_room, &loci_catchup_room,
                                          &loci_tree_room,   &explain_room,    NULL };
    loci_db_options options = { .rooms = rooms, .connections = 1 };
    LOCI_AUTO(loci_db_closep) loci_db *db = NULL;
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_err err = { 0 };

    fill(s);
    explain_all(s->engine);
    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    for (size_t i = 0; i < TREE_STATEMENTS; i++)
        if (explained[i].text) check_plan(tx, s->engine, i);
    loci_tx_endp(&tx);
    loci_db_closep(&db);
    forget_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BOTH(no_statement_reads_a_whole_table) };

    return cmocka_run_group_tests_name("tree/plans", tests, NULL, NULL);
}
