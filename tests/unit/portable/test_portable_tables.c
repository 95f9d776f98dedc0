/* The description of the tables against the catalogue of both engines, in both directions. */
#include "fill.h"

#include "db/schema.h"

#include <libpq-fe.h>
#include <sqlite3.h>

enum { MOST = 400 };

typedef struct found {
    char table[64], column[64], type[64];
    bool required;
} found;

static size_t read_sqlite(const store *s, found *ret)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    size_t n = 0;

    assert_int_equal(sqlite3_open(s->url, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT m.name, c.name, c.type, c.\"notnull\" FROM sqlite_schema m, "
                           "pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE "
                           "'sqlite%' ORDER BY m.name, c.cid",
                           -1, &q, NULL),
        SQLITE_OK);
    while (sqlite3_step(q) == SQLITE_ROW && n < MOST) {
        found *f = &ret[n++];
        (void)snprintf(f->table, 64, "%s", (const char *)sqlite3_column_text(q, 0));
        (void)snprintf(f->column, 64, "%s", (const char *)sqlite3_column_text(q, 1));
        (void)snprintf(f->type, 64, "%s", (const char *)sqlite3_column_text(q, 2));
        f->required = sqlite3_column_int(q, 3) != 0;
    }
    (void)sqlite3_finalize(q);
    (void)sqlite3_close(db);
    return n;
}

static size_t read_postgres(const store *s, found *ret)
{
    PGconn *c = PQconnectdb(s->url);
    PGresult *r = PQexec(c, "SELECT table_name, column_name, data_type, is_nullable FROM "
                            "information_schema.columns WHERE table_schema = current_schema() "
                            "ORDER BY table_name, ordinal_position");
    int n = PQntuples(r);

    assert_true(n < MOST);
    for (int i = 0; i < n; i++) {
        (void)snprintf(ret[i].table, 64, "%s", PQgetvalue(r, i, 0));
        (void)snprintf(ret[i].column, 64, "%s", PQgetvalue(r, i, 1));
        (void)snprintf(ret[i].type, 64, "%s", PQgetvalue(r, i, 2));
        ret[i].required = PQgetvalue(r, i, 3)[0] == 'N';
    }
    PQclear(r);
    PQfinish(c);
    return (size_t)n;
}

static char kind_of(const char *type)
{
    static const struct {
        const char *type;
        char kind;
    } kinds[] = { { "INTEGER", 'i' }, { "TEXT", 't' }, { "BLOB", 'b' },
                  { "bigint", 'i' },  { "text", 't' }, { "bytea", 'b' } };

    for (size_t i = 0; i < LOCI_COUNT(kinds); i++)
        if (strcmp(kinds[i].type, type) == 0) return kinds[i].kind;
    return '?';
}

/* Column `at` of the table, those that all versioned tables have included. */
static const loci_column *column_at(const loci_table *t, size_t at)
{
    static const loci_column id = { "id", 't', LOCI_COLUMN_REQUIRED, NULL };

    if (t->kind == LOCI_TABLE_VERSIONED) {
        if (at < loci_versioned_column_count) return &loci_versioned_columns[at];
        at -= loci_versioned_column_count;
        if (t->has_id && at == 0) return &id;
        if (t->has_id) at--;
    }
    return at < t->column_count ? &t->columns[at] : NULL;
}

static void compare(const found *all, size_t count, bool nullable_keys)
{
    size_t place = 0, tables = 0;

    for (size_t i = 0; i < count; i++) {
        const found *f = &all[i];
        bool first = i == 0 || strcmp(all[i - 1].table, f->table) != 0;
        bool last = i + 1 == count || strcmp(all[i + 1].table, f->table) != 0;
        const loci_table *t = loci_table_find(loci_str_from(f->table));
        if (!t) fail_msg("the table %s is not described", f->table);
        place = first ? 0 : place + 1;
        tables += first;
        const loci_column *c = column_at(t, place);
        if (!c || strcmp(c->name, f->column) != 0)
            fail_msg("%s.%s is not described at place %zu", f->table, f->column, place);
        if (c->kind != kind_of(f->type)) fail_msg("%s.%s is a %s", f->table, f->column, f->type);
        bool required = (c->flags & LOCI_COLUMN_REQUIRED) != 0;
        /* PostgreSQL makes the columns of a primary key NOT NULL by itself. */
        if (required != f->required && (required || !nullable_keys || c != &t->columns[0]))
            fail_msg("%s.%s: whether it may be NULL is not described", f->table, f->column);
        if (last && column_at(t, place + 1))
            fail_msg("%s has no column %s", f->table, column_at(t, place + 1)->name);
    }
    assert_int_equal(tables, loci_table_count);
}

static void describes_the_catalogue(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    static found all[MOST];
    size_t n = s->engine == LOCI_SQLITE ? read_sqlite(s, all) : read_postgres(s, all);

    assert_true(loci_table_open(db, &loci_tables[0]));
    compare(all, n, s->engine == LOCI_POSTGRES);
}

/* Every reference, key and unique column names something, and references point backwards. */
static void is_consistent(void **state)
{
    (void)state;
    for (size_t i = 0; i < loci_table_count; i++) {
        const loci_table *t = &loci_tables[i];
        for (size_t k = 0; k < LOCI_TABLE_KEYS; k++) {
            if (t->keys[k] && !(t->has_id && strcmp(t->keys[k], "id") == 0))
                assert_non_null(loci_table_column(t, t->keys[k]));
            if (t->unique[k]) assert_non_null(loci_table_column(t, t->unique[k]));
        }
        if (t->carried) assert_non_null(t->keys[0]);
        if (t->junction) assert_non_null(loci_table_find(loci_str_from(t->junction)));
        for (size_t c = 0; c < t->column_count; c++) {
            if (!t->columns[c].ref) continue;
            const loci_table *target = loci_table_find(loci_str_from(t->columns[c].ref));
            assert_non_null(target);
            assert_true(target <= t && target->has_id);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BOTH(describes_the_catalogue),
                                        cmocka_unit_test(is_consistent) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
