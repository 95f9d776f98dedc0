#include "db/doctor_checks.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "db/dialect.h"

#include <assert.h>
#include <pthread.h>

enum {
    CHECKS = 512,
    JUNCTIONS = 16,
    BOTH = -1,
    NO_FIX = LOCI_DOCTOR_NO_FIX,
    FIX_VECTORS = LOCI_DOCTOR_FIX_VECTORS
};
enum { STATEMENTS = LOCI_DOCTOR_STMT_FIRST_CHECK + CHECKS + JUNCTIONS * LOCI_TAGS_STMTS };

static loci_sql statements[STATEMENTS] = {
    /* clang-format off */
    [LOCI_DOCTOR_STMT_FREE_LEASES] = { "ii",
        "UPDATE queue SET lease = 0 WHERE org = ?1 AND lease > 0 AND lease < ?2", false },
    [LOCI_DOCTOR_STMT_FREE_OUTBOX] = { "ii",
        "UPDATE outbox SET lease = 0 WHERE org = ?1 AND lease > 0 AND lease < ?2", false },
    [LOCI_DOCTOR_STMT_DROP_QUEUE] = { "ii",
        "DELETE FROM queue WHERE org = ?1 AND ?2 > 0 "
        "AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.org = queue.org AND p.row = queue.row) "
        "AND NOT EXISTS (SELECT 1 FROM message m WHERE m.org = queue.org AND m.row = queue.row)", false },
    [LOCI_DOCTOR_STMT_FORGET] = { "ii", "DELETE FROM idempotency WHERE org = ?1 AND at < ?2 - 86400000000", false },
    [LOCI_DOCTOR_STMT_NEXT_ORG] = { "i", "SELECT org FROM org WHERE org > ?1 ORDER BY org LIMIT 1", false },
    /* clang-format on */
};
static loci_check checks[CHECKS];
static size_t check_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool made;

const loci_db_room loci_doctor_room = { .name = "doctor",
                                        .statements = statements,
                                        .statement_count = LOCI_COUNT(statements) };

#define ALIVE "t.ended = {never}"
#define WAITS(table, more)                                                                         \
    "SELECT t.id FROM " table " t JOIN org o ON o.org = t.org WHERE t.org = ?1 AND " ALIVE         \
    " AND o.model IS NOT NULL AND t.text_hash IS NOT NULL" more " AND NOT EXISTS (SELECT 1 FROM "  \
    "vector v WHERE v.org = t.org AND v.model = o.model AND v.text_hash = t.text_hash)"
#define TWINS(table, place)                                                                        \
    "SELECT t.id FROM " table " t WHERE t.org = ?1 AND " ALIVE " AND EXISTS (SELECT 1 FROM " table \
    " x WHERE x.org = t.org AND " place                                                            \
    " AND x.branch = t.branch AND x.text_hash = t.text_hash AND x.ended = {never} AND "            \
    "x.row < t.row AND x.text = t.text AND COALESCE(x.grp, '') = COALESCE(t.grp, ''))"

typedef struct known_check {
    loci_check check;
    const char *sql;
} known_check;

/* clang-format off */
static const known_check known[] = {
    { { "integrity", "the file is damaged", NULL, NULL, LOCI_SEVERITY_ERROR, LOCI_DOCTOR_STORE, LOCI_SQLITE, 0, false, NO_FIX },
      "SELECT substr(integrity_check, 1, 120) FROM pragma_integrity_check WHERE integrity_check <> 'ok'" },
    { { "foreign_keys", "rows point to rows that are gone", NULL, NULL, LOCI_SEVERITY_ERROR, LOCI_DOCTOR_STORE, LOCI_SQLITE, 0, false, NO_FIX },
      "SELECT \"table\" FROM pragma_foreign_key_check" },
    { { "integrity", "indexes are not valid: REINDEX them", NULL, NULL, LOCI_SEVERITY_ERROR, LOCI_DOCTOR_STORE, LOCI_POSTGRES, 0, false, NO_FIX },
      "SELECT CAST(c.relname AS TEXT) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE NOT i.indisvalid" },
    { { "duplicates", "passages have the text of another one in the same archive, branch and group", "passage", NULL, LOCI_SEVERITY_WARNING, LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
      TWINS("passage", "x.archive = t.archive") },
    { { "waiting", "passages wait for a vector", "passage", NULL, LOCI_SEVERITY_INFO, LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
      WAITS("passage", "") },
    { { "waiting", "messages wait for a vector", "message", NULL, LOCI_SEVERITY_INFO, LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
      WAITS("message", " AND t.role <> 'system'") },
    { { "unused_vectors", "texts have vectors and no row", "vector", NULL, LOCI_SEVERITY_WARNING, LOCI_DOCTOR_ORG, BOTH, 0, false, FIX_VECTORS },
      "SELECT v.model FROM vector v JOIN (SELECT text_hash FROM vector WHERE org = ?1 EXCEPT SELECT text_hash FROM passage WHERE org = ?1 "
      "EXCEPT SELECT text_hash FROM message WHERE org = ?1) u ON u.text_hash = v.text_hash WHERE v.org = ?1 AND v.chunk = (SELECT min(c.chunk) FROM vector c WHERE c.org = ?1 AND c.model = v.model AND c.text_hash = v.text_hash)" },
    { { "queue_lease", "embedding jobs are held by somebody who is gone", "queue", NULL, LOCI_SEVERITY_WARNING, LOCI_DOCTOR_ORG_TIME, BOTH, 0, false, LOCI_DOCTOR_STMT_FREE_LEASES },
      "SELECT CAST(job AS TEXT) FROM queue WHERE org = ?1 AND lease > 0 AND lease < ?2" },
    { { "queue_row", "embedding jobs are for rows that are gone", "queue", NULL, LOCI_SEVERITY_WARNING, LOCI_DOCTOR_ORG, BOTH, 0, false, LOCI_DOCTOR_STMT_DROP_QUEUE },
      "SELECT CAST(q.job AS TEXT) FROM queue q WHERE q.org = ?1 AND NOT EXISTS (SELECT 1 FROM passage p WHERE p.org = q.org AND p.row = q.row) "
      "AND NOT EXISTS (SELECT 1 FROM message m WHERE m.org = q.org AND m.row = q.row)" },
    { { "queue_fails", "embedding jobs failed ten times or more", "queue", NULL, LOCI_SEVERITY_WARNING, LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
      "SELECT CAST(job AS TEXT) FROM queue WHERE org = ?1 AND tries >= 10" },
    { { "outbox_lease", "deliveries are held by somebody who is gone", "outbox", NULL, LOCI_SEVERITY_WARNING, LOCI_DOCTOR_ORG_TIME, BOTH, 0, false, LOCI_DOCTOR_STMT_FREE_OUTBOX },
      "SELECT CAST(job AS TEXT) FROM outbox WHERE org = ?1 AND lease > 0 AND lease < ?2" },
    { { "outbox_fails", "deliveries failed ten times or more", "outbox", NULL, LOCI_SEVERITY_WARNING, LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
      "SELECT CAST(job AS TEXT) FROM outbox WHERE org = ?1 AND tries >= 10" },
    { { "idempotency", "idempotency keys are older than a day", "idempotency", NULL, LOCI_SEVERITY_INFO, LOCI_DOCTOR_ORG_TIME, BOTH, 0, false, LOCI_DOCTOR_STMT_FORGET },
      "SELECT key FROM idempotency WHERE org = ?1 AND at < ?2 - 86400000000" },
};
/* clang-format on */

/* Make room for a check whose statement is `sql`; the text is taken over. */
static loci_rc add(loci_check check, loci_buf *sql, loci_err *err)
{
    loci_rc rc = loci_buf_check(sql, err);

    if (rc) return rc;
    assert(check_count < CHECKS);
    check.statement = LOCI_DOCTOR_STMT_FIRST_CHECK + check_count;
    const char *types = check.scope == LOCI_DOCTOR_STORE ? ""
                        : check.scope == LOCI_DOCTOR_ORG ? "i"
                                                         : "ii";
    /* Still there when an earlier call ran out of memory half-way. */
    if (!statements[check.statement].text)
        statements[check.statement] = (loci_sql){ types, loci_buf_take(sql), true };
    checks[check_count++] = check;
    return LOCI_OK;
}

static loci_rc add_text(loci_check check, const char *format, const loci_table *t, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf sql = { 0 };
    loci_str rest = loci_str_from(format);
    size_t at;

    loci_buf_init(&sql, LOCI_SQL_BYTES);
    /* T stands for the table, N for what names a row, C for the column. */
    while ((at = loci_str_find(rest, LOCI_STR("$"))) < rest.len) {
        loci_buf_add(&sql, loci_str_sub(rest, 0, at));
        char what = at + 1 < rest.len ? rest.ptr[at + 1] : 'T';
        if (what == 'T')
            loci_buf_add_cstr(&sql, t->name);
        else if (what == 'N')
            loci_buf_add_cstr(&sql, t->has_id ? "t.id" : "CAST(t.row AS TEXT)");
        else if (what == 'C')
            loci_buf_add_cstr(&sql, check.column);
        else
            loci_buf_add_cstr(&sql, loci_table_column(t, check.column)->ref);
        rest = loci_str_sub(rest, at + 2, rest.len);
    }
    loci_buf_add(&sql, rest);
    return add(check, &sql, err);
}

/* What every versioned table must keep to. */
static const known_check versioned[] = {
    /* clang-format off */
    { { "alive_twice", "objects of %s have more than one living revision", NULL, NULL, LOCI_SEVERITY_ERROR, LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
      "SELECT $N FROM $T t WHERE t.org = ?1 AND t.ended = {never} AND EXISTS (SELECT 1 FROM $T x WHERE x.org = t.org AND x.obj = t.obj AND x.ended = {never} AND x.row < t.row)" },
    { { "times", "revisions of %s end before they begin, or overlap", NULL, NULL, LOCI_SEVERITY_ERROR, LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
      "SELECT $N FROM $T t WHERE t.org = ?1 AND (t.ended < t.born OR EXISTS (SELECT 1 FROM $T x WHERE x.org = t.org AND x.obj = t.obj AND x.rev = t.rev + 1 AND x.born < t.ended))" },
    { { "gaps", "objects of %s miss a revision: purged, or lost", NULL, NULL, LOCI_SEVERITY_WARNING, LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
      "SELECT $N FROM $T t WHERE t.org = ?1 AND t.rev > 1 AND NOT EXISTS (SELECT 1 FROM $T x WHERE x.org = t.org AND x.obj = t.obj AND x.rev = t.rev - 1) "
      "AND EXISTS (SELECT 1 FROM $T x WHERE x.org = t.org AND x.obj = t.obj AND x.rev < t.rev)" },
    /* clang-format on */
};
static const known_check same_id = {
    { "twins", "ids of %s are those of two objects", NULL, NULL, LOCI_SEVERITY_ERROR,
      LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
    "SELECT t.id FROM $T t WHERE t.org = ?1 AND (EXISTS (SELECT 1 FROM $T x WHERE x.org = t.org "
    "AND x.id = t.id AND x.ended = {never} AND x.obj < t.obj) OR EXISTS (SELECT 1 FROM $T x WHERE "
    "x.org = t.org AND x.id = t.id AND x.ended < {never} AND x.obj < t.obj))"
};
static const known_check orphans = {
    { "orphans", "rows of %s have a %s that is gone", NULL, NULL, LOCI_SEVERITY_ERROR,
      LOCI_DOCTOR_ORG, BOTH, 0, false, NO_FIX },
    "SELECT $N FROM $T t WHERE t.org = ?1 AND t.$C IS NOT NULL AND t.$C <> 0 AND NOT EXISTS "
    "(SELECT 1 FROM $R r WHERE r.org = t.org AND r.obj = t.$C)"
};
static const known_check rows_of = { { "rows", "rows in %s", NULL, NULL, LOCI_SEVERITY_INFO,
                                       LOCI_DOCTOR_STORE, BOTH, 0, true, NO_FIX },
                                     "SELECT count(*) FROM $T" };

static loci_rc add_for(const known_check *k, const loci_table *t, const char *column, loci_err *err)
{
    loci_check c = k->check;

    c.table = t->name;
    c.column = column;
    return add_text(c, k->sql, t, err);
}

static loci_rc add_table(const loci_table *t, loci_err *err)
{
    loci_rc rc = add_for(&rows_of, t, NULL, err);

    if (rc || t->kind != LOCI_TABLE_VERSIONED) return rc;
    for (size_t i = 0; !rc && i < LOCI_COUNT(versioned); i++)
        rc = add_for(&versioned[i], t, NULL, err);
    if (!rc && t->has_id) rc = add_for(&same_id, t, NULL, err);
    for (size_t i = 0; !rc && i < t->column_count; i++)
        if (t->columns[i].ref) rc = add_for(&orphans, t, t->columns[i].name, err);
    return rc;
}

size_t loci_doctor_tags_stmt(const loci_table *table, loci_tags_stmt which)
{
    size_t place = 0;

    for (const loci_table *t = loci_tables; t < table; t++) place += t->junction != NULL;
    assert(table->junction && place < JUNCTIONS);
    return LOCI_DOCTOR_STMT_FIRST_CHECK + CHECKS + place * LOCI_TAGS_STMTS + which;
}

static loci_rc add_tags(const loci_table *t, loci_err *err)
{
    const char *archive = loci_table_column(t, "archive") ? "t.archive" : "0";
    loci_buf text[LOCI_TAGS_STMTS] = { 0 };
    static const char *const types[LOCI_TAGS_STMTS] = { "ii", "iI", "ii" };
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; i < LOCI_TAGS_STMTS; i++) loci_buf_init(&text[i], LOCI_SQL_BYTES);
    loci_buf_printf(&text[LOCI_TAGS_PAGE],
                    "SELECT t.row, t.tags, t.id, %s FROM %s t WHERE t.org = ?1 AND t.row > ?2 "
                    "ORDER BY t.row LIMIT 500",
                    archive, t->name);
    loci_buf_printf(&text[LOCI_TAGS_HAVE],
                    "SELECT j.%s, j.tag FROM %s j WHERE j.org = ?1 AND j.%s {in ?2} ORDER BY j.%s, "
                    "j.tag",
                    t->name, t->junction, t->name, t->name);
    loci_buf_printf(&text[LOCI_TAGS_DROP], "DELETE FROM %s WHERE org = ?1 AND %s = ?2", t->junction,
                    t->name);
    for (size_t i = 0; i < LOCI_TAGS_STMTS; i++) {
        if (!rc) rc = loci_buf_check(&text[i], err);
        loci_sql *sql = &statements[loci_doctor_tags_stmt(t, (loci_tags_stmt)i)];
        if (!rc && !sql->text) *sql = (loci_sql){ types[i], loci_buf_take(&text[i]), false };
        loci_buf_done(&text[i]);
    }
    return rc;
}

static loci_rc make_all(loci_err *err)
{
    loci_rc rc = LOCI_OK;

    check_count = 0;
    for (size_t i = 0; !rc && i < LOCI_COUNT(known); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf sql = { 0 };
        loci_buf_init(&sql, LOCI_SQL_BYTES);
        loci_buf_add_cstr(&sql, known[i].sql);
        rc = add(known[i].check, &sql, err);
    }
    for (size_t i = 0; !rc && i < loci_table_count; i++) {
        rc = add_table(&loci_tables[i], err);
        if (!rc && loci_tables[i].junction) rc = add_tags(&loci_tables[i], err);
    }
    return rc;
}

loci_rc loci_doctor_checks(const loci_check **ret_checks, size_t *ret_count, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    (void)pthread_mutex_lock(&lock);
    if (!made) rc = make_all(err);
    made = made || !rc;
    (void)pthread_mutex_unlock(&lock);
    if (rc) return rc;
    *ret_checks = checks;
    *ret_count = check_count;
    return LOCI_OK;
}
