#include "base/alloc.h"
#include "base/buf.h"
#include "db/dialect.h"
#include "db/tables.h"

#include <assert.h>
#include <pthread.h>

enum { TABLES = 64 }; /* most tables there will be */

/* The first may be there already: looking back in the tree needs the same. */
static const char *const migrations[] = {
    "CREATE INDEX IF NOT EXISTS block_link_past ON block_link (org, agent, branch, label) "
    "  WHERE ended < {never};"
    "CREATE INDEX archive_link_past ON archive_link (org, agent, archive) WHERE ended < {never};",
};

/* Filled in by make_all; made once and kept for good. */
static loci_sql statements[TABLES * LOCI_TABLE_STMTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool made;

const loci_db_room loci_tables_room = { .name = "tables",
                                        .migrations = migrations,
                                        .migration_count = LOCI_COUNT(migrations),
                                        .statements = statements,
                                        .statement_count = LOCI_COUNT(statements) };

typedef struct maker {
    const loci_table *table;
    loci_buf text, types;
} maker;

static bool is_own(const loci_column *c)
{
    return !(c->flags & LOCI_COLUMN_STAMP) && strcmp(c->name, "org") != 0;
}

/* The carried columns that come before a versioned table's own. */
static void add_common(maker *m)
{
    const char *name = m->table->name;

    loci_buf_add_cstr(&m->text, "t.row, t.obj, t.rev, t.born, t.ended, ");
    if (m->table->has_id)
        loci_buf_add_cstr(&m->text, "t.born");
    else
        loci_buf_printf(
            &m->text, "(SELECT min(x.born) FROM %s x WHERE x.org = t.org AND x.obj = t.obj)", name);
    loci_buf_add_cstr(&m->text, ", t.who, t.door, t.ended_who, t.ended_door, ");
    loci_buf_add_cstr(&m->text, m->table->has_id ? "t.id" : "CAST(NULL AS TEXT)");
}

static void add_carried(maker *m)
{
    bool first = true;

    loci_buf_add_cstr(&m->text, "SELECT ");
    if (m->table->kind == LOCI_TABLE_VERSIONED) {
        add_common(m);
        first = false;
    }
    for (size_t i = 0; i < m->table->column_count; i++) {
        const loci_column *c = &m->table->columns[i];
        if (!is_own(c)) continue;
        if (!first) loci_buf_add_cstr(&m->text, ", ");
        first = false;
        if (c->ref)
            loci_buf_printf(&m->text,
                            "(SELECT r.id FROM %s r WHERE r.org = t.org AND r.obj = t.%s LIMIT 1)"
                            ", t.%s",
                            c->ref, c->name, c->name);
        else
            loci_buf_printf(&m->text, "t.%s", c->name);
    }
    loci_buf_printf(&m->text, " FROM %s t WHERE t.org = ?1", m->table->name);
}

static void add_order(maker *m)
{
    if (m->table->kind == LOCI_TABLE_VERSIONED) {
        loci_buf_add_cstr(&m->text,
                          m->table->by_row ? " ORDER BY t.row" : " ORDER BY t.obj, t.rev");
        return;
    }
    for (size_t i = 0; i < LOCI_TABLE_KEYS && m->table->keys[i]; i++)
        loci_buf_printf(&m->text, "%s t.%s", i ? "," : " ORDER BY", m->table->keys[i]);
}

static void make_all_rows(maker *m)
{
    loci_buf_add_cstr(&m->types, "i");
    add_carried(m);
    add_order(m);
}

static void make_agent_rows(maker *m)
{
    loci_buf_add_cstr(&m->types, "ii");
    add_carried(m);
    loci_buf_printf(&m->text, " AND %s", m->table->of_agent);
    add_order(m);
}

static void add_keys(maker *m)
{
    for (unsigned i = 0; i < LOCI_TABLE_KEYS && m->table->keys[i]; i++)
        loci_buf_printf(&m->text, " AND t.%s = ?%u", m->table->keys[i], i + 2);
}

static char kind_of(const loci_table *table, const char *name)
{
    const loci_column *c = loci_table_column(table, name);

    assert(c || strcmp(name, "id") == 0);
    return c ? c->kind : 't';
}

/* Living and past rows lie in two partial indexes. */
static void make_find(maker *m)
{
    loci_buf_add_char(&m->types, 'i');
    for (size_t i = 0; i < LOCI_TABLE_KEYS && m->table->keys[i]; i++)
        loci_buf_add_char(&m->types, kind_of(m->table, m->table->keys[i]));
    add_carried(m);
    add_keys(m);
    if (m->table->kind != LOCI_TABLE_VERSIONED) return;
    loci_buf_add_cstr(&m->text, " AND t.ended = {never} UNION ALL ");
    add_carried(m);
    add_keys(m);
    loci_buf_add_cstr(&m->text, " AND t.ended < {never}");
}

static void make_obj(maker *m)
{
    const char *name = m->table->name;

    loci_buf_add_cstr(&m->types, "it");
    loci_buf_printf(&m->text,
                    "SELECT obj FROM %s WHERE org = ?1 AND id = ?2 AND ended = {never} UNION ALL "
                    "SELECT obj FROM %s WHERE org = ?1 AND id = ?2 AND ended < {never} LIMIT 1",
                    name, name);
}

static void add_insert_column(maker *m, loci_buf *values, const loci_column *c)
{
    if (m->types.len) {
        loci_buf_add_cstr(&m->text, ", ");
        loci_buf_add_cstr(values, ", ");
    }
    loci_buf_add_cstr(&m->text, c->name);
    loci_buf_add_char(&m->types, c->kind);
    loci_buf_printf(values, "?%zu", m->types.len);
}

static void make_insert(maker *m)
{
    static const loci_column id = { "id", 't', LOCI_COLUMN_REQUIRED, NULL };
    LOCI_AUTO(loci_buf_done) loci_buf values = { 0 };

    loci_buf_init(&values, LOCI_SQL_BYTES);
    loci_buf_printf(&m->text, "INSERT INTO %s (", m->table->name);
    if (m->table->kind == LOCI_TABLE_VERSIONED) {
        for (size_t i = 0; i < loci_versioned_column_count; i++)
            add_insert_column(m, &values, &loci_versioned_columns[i]);
        if (m->table->has_id) add_insert_column(m, &values, &id);
    }
    for (size_t i = 0; i < m->table->column_count; i++)
        add_insert_column(m, &values, &m->table->columns[i]);
    loci_buf_add_cstr(&m->text, ") VALUES (");
    loci_buf_add(&m->text, loci_buf_str(&values));
    loci_buf_add_char(&m->text, ')');
    if (loci_buf_check(&values, NULL)) m->text.failed = LOCI_ENOMEM;
}

static void make_end(maker *m)
{
    loci_buf_add_cstr(&m->types, "iiiitt");
    loci_buf_printf(&m->text,
                    "UPDATE %s SET ended = ?3, ended_ver = ?4, ended_who = ?5, ended_door = ?6 "
                    "WHERE org = ?1 AND row = ?2 AND ended = {never}",
                    m->table->name);
}

/* Only passages are found by tag inside an archive. A tag that stands twice counts once. */
static void make_tag(maker *m)
{
    bool passage = strcmp(m->table->junction, "passage_tag") == 0;

    loci_buf_add_cstr(&m->types, passage ? "itiit" : "iti");
    loci_buf_printf(&m->text,
                    passage ? "INSERT INTO %s (org, tag, %s, archive, id) VALUES (?1, ?2, ?3, ?4, "
                              "?5) ON CONFLICT DO NOTHING"
                            : "INSERT INTO %s (org, tag, %s) VALUES (?1, ?2, ?3) "
                              "ON CONFLICT DO NOTHING",
                    m->table->junction, m->table->name);
}

/* In one pass: without statistics, PostgreSQL may find a row by id through any other index that
 * begins with org, and a look-up for each row would then be a pass for each row. */
static void make_twins(maker *m)
{
    loci_buf_add_cstr(&m->types, "i");
    loci_buf_printf(&m->text,
                    "SELECT t.id FROM %s t WHERE t.org = ?1 GROUP BY t.id "
                    "HAVING min(t.obj) < max(t.obj) LIMIT 1",
                    m->table->name);
}

/* SQLite would sort all ids in memory; it always takes the right index. */
static void make_twins_sqlite(maker *m)
{
    const char *name = m->table->name;

    loci_buf_add_cstr(&m->types, "i");
    loci_buf_printf(&m->text,
                    "SELECT t.id FROM %s t WHERE t.org = ?1 AND (EXISTS (SELECT 1 FROM %s x WHERE "
                    "x.org = t.org AND x.id = t.id AND x.ended = {never} AND x.obj <> t.obj) OR "
                    "EXISTS (SELECT 1 FROM %s x WHERE x.org = t.org AND x.id = t.id AND x.ended < "
                    "{never} AND x.obj <> t.obj)) LIMIT 1",
                    name, name, name);
}

typedef void (*make_fn)(maker *m);

/* The maker of a statement, or NULL when the table has no such statement. */
static make_fn maker_of(const loci_table *t, loci_table_stmt which)
{
    bool versioned = t->kind == LOCI_TABLE_VERSIONED;

    switch (which) {
    case LOCI_TABLE_ALL: return make_all_rows;
    case LOCI_TABLE_AGENT: return t->of_agent ? make_agent_rows : NULL;
    case LOCI_TABLE_FIND: return make_find;
    case LOCI_TABLE_OBJ: return t->has_id ? make_obj : NULL;
    case LOCI_TABLE_INSERT: return make_insert;
    case LOCI_TABLE_END: return versioned ? make_end : NULL;
    case LOCI_TABLE_TAG: return t->junction ? make_tag : NULL;
    case LOCI_TABLE_TWINS: return t->has_id ? make_twins : NULL;
    case LOCI_TABLE_TWINS_SQLITE: return t->has_id ? make_twins_sqlite : NULL;
    case LOCI_TABLE_STMTS: break;
    }
    return NULL;
}

static loci_rc make_one(const loci_table *table, loci_table_stmt which, loci_sql *out,
                        loci_err *err)
{
    make_fn make = maker_of(table, which);
    maker m = { .table = table };
    loci_rc rc = LOCI_OK;

    if (!make) return LOCI_OK;
    loci_buf_init(&m.text, LOCI_SQL_BYTES);
    loci_buf_init(&m.types, LOCI_DB_PARAMETERS);
    make(&m);
    rc = loci_buf_check(&m.text, err);
    if (!rc) rc = loci_buf_check(&m.types, err);
    if (!rc) {
        out->stream = which == LOCI_TABLE_ALL || which == LOCI_TABLE_AGENT;
        out->text = loci_buf_take(&m.text);
        out->types = loci_buf_take(&m.types);
    }
    loci_buf_done(&m.text);
    loci_buf_done(&m.types);
    return rc;
}

/* After a failure the next call goes on where it stopped. */
static loci_rc make_all(loci_err *err)
{
    loci_rc rc = LOCI_OK;

    assert(loci_table_count <= TABLES);
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; !rc && !made && i < loci_table_count; i++)
        for (int s = 0; !rc && loci_tables[i].carried && s < LOCI_TABLE_STMTS; s++) {
            loci_sql *out = &statements[i * LOCI_TABLE_STMTS + (size_t)s];
            if (!out->text) rc = make_one(&loci_tables[i], (loci_table_stmt)s, out, err);
        }
    if (!rc) made = true;
    (void)pthread_mutex_unlock(&lock);
    return rc;
}

loci_rc loci_table_begin(loci_tx *tx, const loci_table *table, loci_table_stmt which,
                         loci_stmt **ret_stmt, loci_err *err)
{
    size_t number = (size_t)(table - loci_tables) * LOCI_TABLE_STMTS + which;
    loci_rc rc = make_all(err);

    if (rc) return rc;
    assert(statements[number].text);
    return loci_stmt_begin(tx, &loci_tables_room, number, ret_stmt, err);
}
