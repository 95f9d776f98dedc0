#include "world.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

/* Every statement of the room is explained by the engine; none reads a whole table. PostgreSQL is
 * told that a sequential scan is the last resort, so that empty tables do not decide. */

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

static void check_plan(loci_tx *tx, loci_engine engine, size_t number)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    char line[1024];
    loci_rc rc;
    loci_err err = { 0 };

    assert_ok(loci_stmt_begin(tx, &explain_room, number, &q, &err), err);
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
    char url[LOCI_DB_PATH];
    loci_err err = { 0 };

    (void)snprintf(url, sizeof url, "%s%s", s->url,
                   s->engine == LOCI_SQLITE      ? ""
                   : strchr(s->url, '?') != NULL ? "&options=-cenable_seqscan%3Doff"
                                                 : "?options=-cenable_seqscan%3Doff");
    explain_all(s->engine);
    assert_ok(loci_db_open(url, &options, &db, &err), err);
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
