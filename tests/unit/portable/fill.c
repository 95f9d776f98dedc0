#include "fill.h"

#include "base/alloc.h"
#include "base/id.h"
#include "db/carry.h"
#include "db/catchup.h"
#include "db/doctor.h"
#include "db/export.h"
#include "db/import.h"
#include "db/lines.h"
#include "db/purge.h"
#include "db/schema.h"

#include <libpq-fe.h>
#include <sqlite3.h>

enum { OBJECTS = 4096, PER_TABLE = 2048, TABLES = 32 };

const loci_db_room *const fill_rooms[] = { &loci_schema_room,
                                           &loci_write_room,
                                           &loci_catchup_room,
                                           &loci_tables_room,
                                           &loci_export_room,
                                           &loci_doctor_room,
                                           &loci_purge_room,
                                           &loci_import_room,

                                           NULL };

loci_db *fill_open(const char *url)
{
    loci_db_options options = { .rooms = fill_rooms, .connections = 4 };
    loci_db *db = NULL;
    loci_err err = { 0 };

    assert_ok(loci_db_open(url, &options, &db, &err), err);
    return db;
}

/* One object as the filling knows it. */
typedef struct object {
    const loci_table *table;
    int64_t obj, row, rev, number; /* number: of the object inside its table */
    char id[64];
    bool alive;
    int64_t refs[24]; /* of the newest revision, by column */
} object;

typedef struct filling {
    unsigned seed, started;
    object objects[OBJECTS];
    size_t count;
    size_t per_table[TABLES];
    int64_t objs[TABLES][PER_TABLE];
    object *chosen; /* by the step at hand */
    bool end;
} filling;

static size_t index_of(const loci_table *t)
{
    return (size_t)(t - loci_tables);
}

static int pick(unsigned *seed, int n)
{
    return rand_r(seed) % n;
}

static const char *const words[] = { "quiet", "caf\xc3\xa9", "\"quoted\"",   "back\\slash",
                                     "tab\t", "line\nend",   "\x01",         "\xf0\x9f\x8c\xb3",
                                     "'",     "{x} ?1 $2",   "\xe2\x80\xa8", "</script>" };

static void random_text(loci_buf *b, unsigned *seed)
{
    int n = pick(seed, 6);

    for (int i = 0; i < n; i++) loci_buf_printf(b, "%s ", words[pick(seed, LOCI_COUNT(words))]);
}

static int64_t random_obj(filling *f, const loci_column *c, unsigned *seed)
{
    size_t at = index_of(loci_table_find(loci_str_from(c->ref)));
    bool may_be_none = !(c->flags & LOCI_COLUMN_REQUIRED) || (c->flags & LOCI_COLUMN_ZERO);

    if (f->per_table[at] == 0 || (may_be_none && pick(seed, 3) == 0)) return 0;
    return f->objs[at][pick(seed, (int)f->per_table[at])];
}

static int64_t *agent_ref(object *o)
{
    const loci_column *c = loci_table_column(o->table, "agent");

    return c ? &o->refs[c - o->table->columns] : NULL;
}

/* A branch of the row's own agent, made before it, or the trunk. */
static int64_t random_branch(filling *f, object *o)
{
    for (int i = 0; i < 20; i++) {
        object *b = &f->objects[pick(&f->seed, (int)f->count)];
        if (b == o || !b->rev || strcmp(b->table->name, "branch") != 0) continue;
        if (*agent_ref(b) == *agent_ref(o)) return b->obj;
    }
    return 0;
}

static bool is_key(const loci_table *t, const char *name)
{
    for (size_t i = 0; i < LOCI_TABLE_KEYS; i++) {
        if (t->keys[i] && strcmp(t->keys[i], name) == 0) return true;
        if (t->unique[i] && strcmp(t->unique[i], name) == 0) return true;
    }
    return false;
}

static void make_text(const object *o, const loci_column *c, unsigned *seed, loci_buf *b)
{
    loci_buf_clear(b);
    if (is_key(o->table, c->name))
        loci_buf_printf(b, "%s-%lld", c->name, (long long)o->number);
    else if (c->flags & LOCI_COLUMN_TAGS)
        loci_buf_printf(b, "[\"t%d\", \"caf\xc3\xa9\\n%d\",\"t%d\"]", pick(seed, 5), pick(seed, 5),
                        pick(seed, 5));
    else if (c->flags & LOCI_COLUMN_JSON)
        loci_buf_printf(b, "{ \"k\" : %d.50, \"n\": null}", pick(seed, 99));
    else
        random_text(b, seed);
    if (!b->ptr) loci_buf_add_cstr(b, "");
}

static void bind_column(filling *f, loci_stmt *q, object *o, const loci_column *c, unsigned at,
                        loci_buf *b)
{
    unsigned *seed = &f->seed;
    uint8_t bytes[32];

    if (c->ref) {
        int64_t *obj = &o->refs[c - o->table->columns];
        if (o->rev == 1 || !is_key(o->table, c->name))
            *obj = strcmp(c->ref, "branch") == 0 ? random_branch(f, o) : random_obj(f, c, seed);
        if (*obj || (c->flags & LOCI_COLUMN_REQUIRED)) loci_stmt_bind_i64(q, at, *obj);
    } else if (!(c->flags & LOCI_COLUMN_REQUIRED) && pick(seed, 3) == 0) {
        return;
    } else if (c->kind == 'i') {
        loci_stmt_bind_i64(q, at, pick(seed, 4) ? pick(seed, 100) : INT64_MAX - pick(seed, 9));
    } else if (c->kind == 't') {
        make_text(o, c, seed, b);
        loci_stmt_bind_text(q, at, loci_buf_str(b));
    } else {
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)pick(seed, 256);
        loci_buf_clear(b);
        loci_buf_add(b, (loci_str){ (char *)bytes, sizeof bytes });
        loci_stmt_bind_blob(q, at, loci_buf_str(b));
    }
}

static void add_tags(loci_change *ch, const object *o, loci_str json)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 16);
    loci_str *tags = NULL;
    size_t count = 0;
    loci_err err = { 0 };

    assert_ok(loci_carry_tags(arena, json, &tags, &count, &err), err);
    for (size_t i = 0; i < count; i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        assert_ok(loci_table_begin(ch->tx, o->table, LOCI_TABLE_TAG, &q, &err), err);
        loci_stmt_bind_i64(q, 1, ch->org);
        loci_stmt_bind_text(q, 2, tags[i]);
        loci_stmt_bind_i64(q, 3, o->row);
        if (strcmp(o->table->name, "passage") == 0) {
            loci_stmt_bind_i64(q, 4, o->refs[0]);
            loci_stmt_bind_text(q, 5, LOCI_STR("passage_tag-x"));
        }
        assert_ok(loci_stmt_run(q, &err), err);
    }
}

static loci_rc insert_row(filling *f, loci_change *ch, object *o, loci_err *e)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_buf bufs[24] = { 0 };
    loci_err err = { 0 };
    unsigned at = 12;
    const int64_t numbers[] = { ch->org, o->row, o->obj, o->rev, ch->born, LOCI_NEVER, ch->ver, 0 };
    loci_str tags = { NULL, 0 };

    assert_ok(loci_table_begin(ch->tx, o->table, LOCI_TABLE_INSERT, &q, &err), err);
    for (unsigned i = 0; i < 8; i++) loci_stmt_bind_i64(q, i + 1, numbers[i]);
    if (pick(&f->seed, 2)) loci_stmt_bind_text(q, 9, LOCI_STR("user-x"));
    loci_stmt_bind_text(q, 10, LOCI_STR("rest"));
    if (o->table->has_id) loci_stmt_bind_text(q, ++at, loci_str_from(o->id));
    for (size_t i = 0; i < o->table->column_count; i++) {
        const loci_column *c = &o->table->columns[i];
        loci_buf_init(&bufs[i], 4096);
        bind_column(f, q, o, c, ++at, &bufs[i]);
        if ((c->flags & LOCI_COLUMN_TAGS) && bufs[i].len) tags = loci_buf_str(&bufs[i]);
    }
    loci_rc rc = loci_stmt_run(q, e);
    loci_stmt_endp(&q);
    if (!rc && tags.ptr) add_tags(ch, o, tags);
    for (size_t i = 0; i < LOCI_COUNT(bufs); i++) loci_buf_done(&bufs[i]);
    return rc;
}

static void end_row(loci_change *ch, const object *o)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };

    assert_ok(loci_table_begin(ch->tx, o->table, LOCI_TABLE_END, &q, &err), err);
    loci_stmt_bind_i64(q, 1, ch->org);
    loci_stmt_bind_i64(q, 2, o->row);
    loci_stmt_bind_i64(q, 3, ch->born);
    loci_stmt_bind_i64(q, 4, ch->ver);
    loci_stmt_bind_text(q, 6, LOCI_STR("mcp"));
    assert_ok(loci_stmt_run(q, &err), err);
}

static loci_rc step(loci_change *ch, void *arg, loci_err *err)
{
    filling *f = arg;
    object *o = f->chosen;
    size_t at = index_of(o->table);

    if (o->rev) end_row(ch, o);
    o->alive = !f->end;
    if (f->end) return LOCI_OK;
    o->row = loci_change_row(ch);
    o->rev++;
    if (o->rev == 1) o->obj = o->row;
    loci_rc rc = insert_row(f, ch, o, err);
    if (!rc && o->rev == 1) f->objs[at][f->per_table[at]++] = o->obj;
    return rc;
}

static const loci_table *choose_table(filling *f)
{
    /* What others refer to comes first, so that there is something to refer to. */
    for (size_t i = 0; i < loci_table_count; i++)
        if (loci_tables[i].kind == LOCI_TABLE_VERSIONED && !f->per_table[i]) return &loci_tables[i];
    for (;;) {
        size_t i = (size_t)pick(&f->seed, (int)loci_table_count);
        if (loci_tables[i].kind == LOCI_TABLE_VERSIONED) return &loci_tables[i];
    }
}

static object *new_object(filling *f)
{
    object *o = &f->objects[f->count++];

    *o = (object){ 0 };
    o->table = choose_table(f);
    o->number = (int64_t)f->per_table[index_of(o->table)];
    (void)snprintf(o->id, sizeof o->id, "%s-%04x-%lld", o->table->name, f->started,
                   (long long)o->number);
    return o;
}

static void choose(filling *f)
{
    f->end = false;
    f->chosen = NULL;
    if (f->count > 8 && pick(&f->seed, 2)) {
        object *o = &f->objects[pick(&f->seed, (int)f->count)];
        if (o->alive) f->chosen = o;
        f->end = pick(&f->seed, 3) == 0;
    }
    if (f->chosen) return;
    f->end = false;
    f->chosen = new_object(f);
}

static loci_rc add_plain(loci_change *ch, void *arg, loci_err *err)
{
    filling *f = arg;

    (void)err;
    for (size_t t = 0; t < loci_table_count; t++) {
        const loci_table *table = &loci_tables[t];
        if (!table->carried || table->kind == LOCI_TABLE_VERSIONED || t == 0) continue;
        for (int n = 0; n < 5; n++) {
            LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
            loci_buf bufs[24] = { 0 };
            loci_err e = { 0 };
            object o = { .table = table, .number = ch->org * 100000 + f->started * 10 + n };
            assert_ok(loci_table_begin(ch->tx, table, LOCI_TABLE_INSERT, &q, &e), e);
            for (unsigned i = 0; i < table->column_count; i++) {
                loci_buf_init(&bufs[i], 4096);
                if (strcmp(table->columns[i].name, "org") == 0)
                    loci_stmt_bind_i64(q, i + 1, ch->org);
                else if (strcmp(table->columns[i].name, "hash") == 0)
                    loci_stmt_bind_blob(q, i + 1, (loci_str){ (char *)&o.number, 8 });
                else
                    bind_column(f, q, &o, &table->columns[i], i + 1, &bufs[i]);
            }
            assert_ok(loci_stmt_run(q, &e), e);
            loci_stmt_endp(&q);
            for (size_t i = 0; i < LOCI_COUNT(bufs); i++) loci_buf_done(&bufs[i]);
        }
    }
    return LOCI_OK;
}

void fill_store(loci_db *db, int64_t org, unsigned seed, int steps)
{
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;
    filling *f = loci_zalloc(sizeof *f);
    loci_err err = { 0 };

    assert_non_null(f);
    f->seed = f->started = seed;
    assert_ok(loci_writer_new(db, &writer, &err), err);
    for (int i = 0; i < steps; i++) {
        choose(f);
        loci_write_request r = {
            .org = org, .run = step, .arg = f, .door = LOCI_STR("test"), .now = 1000000 + i
        };
        loci_rc rc = loci_write(writer, &r, NULL, NULL, &err);
        /* This agent has that archive already. */
        if (rc == LOCI_ECONFLICT && strcmp(f->chosen->table->name, "archive_link") == 0) {
            f->count--;
            continue;
        }
        assert_ok(rc, err);
    }
    loci_write_request r = { .org = org, .run = add_plain, .arg = f, .door = LOCI_STR("test") };
    assert_ok(loci_write(writer, &r, NULL, NULL, &err), err);
    loci_free(f);
}

void fill_org(loci_db *db, int64_t org, const char *id)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(loci_table_begin(tx, &loci_tables[0], LOCI_TABLE_INSERT, &q, &err), err);
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, loci_str_from(id));
    loci_stmt_bind_text(q, 3, LOCI_STR("another"));
    for (unsigned i = 4; i <= 7; i++) loci_stmt_bind_i64(q, i, 0);
    loci_stmt_bind_i64(q, 9, 7);
    assert_ok(loci_stmt_run(q, &err), err);
    loci_stmt_endp(&q);
    assert_ok(loci_tx_commit(tx, &err), err);
}

static int64_t ask_sqlite(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *q = NULL;
    int64_t n = 0;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 10000);
    int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);
    if (rc) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) n = sqlite3_column_int64(q, 0);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE) fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    (void)sqlite3_finalize(q);
    (void)sqlite3_close(db);
    return n;
}

static int64_t ask_postgres(const char *url, const char *sql)
{
    PGconn *c = PQconnectdb(url);
    PGresult *r = PQexec(c, sql);
    ExecStatusType status = PQresultStatus(r);
    int64_t n = 0;

    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(c));
    if (status == PGRES_TUPLES_OK && PQntuples(r) &&
        !loci_str_to_i64(loci_str_from(PQgetvalue(r, 0, 0)), &n))
        n = 0;
    PQclear(r);
    PQfinish(c);
    return n;
}

int64_t fill_number(const store *s, const char *sql)
{
    return s->engine == LOCI_SQLITE ? ask_sqlite(s->url, sql) : ask_postgres(s->url, sql);
}

void fill_run(const store *s, const char *sql)
{
    (void)fill_number(s, sql);
}

const char *fill_path(const store *s, const char *name)
{
    static char paths[8][256];
    static unsigned next;
    char *path = paths[next++ % LOCI_COUNT(paths)];

    (void)snprintf(path, sizeof paths[0], "%s/%s", s->folder, name);
    return path;
}

void fill_read(const char *path, loci_buf *ret_text)
{
    LOCI_AUTO(loci_lines_in_freep) loci_lines_in *in = NULL;
    loci_err err = { 0 };
    loci_str line = { NULL, 0 };
    loci_rc rc;

    loci_buf_init(ret_text, 64 << 20);
    assert_ok(loci_lines_open(path, &in, &err), err);
    while ((rc = loci_lines_next(in, &line, &err)) == LOCI_OK) {
        if (loci_lines_number(in) == 1) continue;
        loci_buf_add(ret_text, line);
        loci_buf_add_char(ret_text, '\n');
    }
    if (rc != LOCI_DONE) fail_msg("%s: %s", path, err.msg);
    assert_ok(loci_buf_check(ret_text, &err), err);
}
