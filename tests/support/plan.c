#include "plan.h"

#include "base/buf.h"
#include "db/dialect.h"
#include "test.h"

#include <libpq-fe.h>
#include <sqlite3.h>
#include <string.h>

/* The word behind `mark` in a line of a plan: the table. */
static loci_str table_in(const char *line, const char *mark)
{
    const char *at = strstr(line, mark);
    loci_str rest = loci_str_from(at ? at + strlen(mark) : ""), word = { NULL, 0 };

    (void)loci_str_cut(&rest, ' ', &word);
    return word;
}

static void check_line(const char *line, const char *mark, const char *sql, const char *small)
{
    loci_str table = table_in(line, mark), rest = loci_str_from(small), one;

    if (!table.len) return;
    while (loci_str_cut(&rest, ' ', &one))
        if (loci_str_eq(one, table)) return;
    fail_msg("scans %.*s: %s\n%s", LOCI_ARG(table), line, sql);
}

static void check_sqlite(const char *url, const char *sql, const char *small)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };

    loci_buf_init(&text, LOCI_SQL_BYTES);
    loci_buf_printf(&text, "EXPLAIN QUERY PLAN %s", sql);
    assert_int_equal(sqlite3_open(url, &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, text.ptr, -1, &q, NULL)) fail_msg("%s\n%s", sqlite3_errmsg(db), sql);
    while (sqlite3_step(q) == SQLITE_ROW)
        check_line((const char *)sqlite3_column_text(q, 3), "SCAN ", sql, small);
    (void)sqlite3_finalize(q);
    (void)sqlite3_close(db);
}

static const char *type_name(char letter)
{
    return letter == 'i'   ? "int8"
           : letter == 'b' ? "bytea"
           : letter == 'I' ? "int8[]"
           : letter == 'T' ? "text[]"
                           : "text";
}

/* Plans as they are for any value, on tables that are too small to be worth an index, which is
 * why scans are made dear. */
static void check_postgres(const char *url, const char *types, const char *sql, const char *small)
{
    PGconn *conn = PQconnectdb(url);
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };

    loci_buf_init(&text, LOCI_SQL_BYTES + 1000);
    loci_buf_add_cstr(&text, "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; "
                             "PREPARE p");
    for (const char *t = types; *t; t++)
        loci_buf_printf(&text, "%s%s%s", t == types ? "(" : ", ", type_name(*t), t[1] ? "" : ")");
    loci_buf_printf(&text, " AS %s; EXPLAIN EXECUTE p", sql);
    for (const char *t = types; *t; t++)
        loci_buf_printf(&text, "%sNULL%s", t == types ? "(" : ", ", t[1] ? "" : ")");
    PGresult *result = PQexec(conn, text.ptr);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) fail_msg("%s\n%s", PQerrorMessage(conn), sql);
    for (int i = 0; i < PQntuples(result); i++)
        check_line(PQgetvalue(result, i, 0), "Seq Scan on ", sql, small);
    PQclear(result);
    PQfinish(conn);
}

void plan_check(const char *url, loci_engine engine, const loci_db_room *room, const char *small)
{
    for (size_t i = 0; i < room->statement_count; i++) {
        const loci_sql *sql = &room->statements[i];
        LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };
        loci_err err = { 0 };
        loci_buf_init(&text, LOCI_SQL_BYTES);
        assert_ok(loci_dialect_translate(engine, loci_str_from(sql->text), &text, &err), err);
        if (engine == LOCI_SQLITE)
            check_sqlite(url, text.ptr, small);
        else
            check_postgres(url, sql->types, text.ptr, small);
    }
}
