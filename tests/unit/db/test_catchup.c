#include "base/clock.h"
#include "memory.h"
#include "pg.h"
#include "plan.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { EVENTS = 64 };

/* What a stream gave, as text: "+p1" added, "-3" row 3 ended. */
typedef struct seen {
    char text[2000];
    size_t count;
    loci_rc fail;
} seen;

static loci_rc note(const loci_catchup_source *source, loci_stmt *row, void *arg, loci_err *err)
{
    seen *s = arg;
    size_t used = strlen(s->text);

    if (s->fail) return loci_fail(err, s->fail, "enough");
    s->count++;
    if (source->event == LOCI_EVENT_ADDED && strcmp(source->table, "passage") == 0) {
        loci_str id = loci_stmt_text(row, 6), text = loci_stmt_text(row, 11);
        (void)snprintf(s->text + used, sizeof s->text - used, "+%.*s:%.*s ", LOCI_ARG(id),
                       LOCI_ARG(text));
    } else {
        (void)snprintf(s->text + used, sizeof s->text - used, "-%s%lld ", source->table,
                       (long long)loci_stmt_i64(row, 0));
    }
    return LOCI_OK;
}

static loci_rc catch_up(loci_db *db, loci_cursor *cursor, seen *s, bool *ret_reload, loci_err *err)
{
    loci_catchup_request request = { .org = LOCI_DEFAULT_ORG,
                                     .from = *cursor,
                                     .sources = loci_catchup_sources,
                                     .source_count = loci_catchup_source_count,
                                     .event = note,
                                     .arg = s };

    *s = (seen){ .fail = s->fail };
    return loci_catchup(db, &request, cursor, ret_reload, err);
}

static void add(memory *m, passage *p)
{
    loci_err err = { 0 };

    assert_ok(memory_write(m, p, NULL, &err), err);
}

static void streams_what_is_new(void **state)
{
    memory m = memory_open(store_of(state)->url);
    passage p[] = { { .id = "p1", .text = "a" },
                    { .id = "p2", .text = "b" },
                    { .id = "p3", .text = "c" } };
    loci_cursor cursor = { 0, 0 }, head = { 0, 0 };
    seen s = { 0 };
    bool reload = true;
    char want[64];
    loci_err err = { 0 };

    assert_ok(catch_up(m.db, &cursor, &s, &reload, &err), err);
    assert_int_equal(s.count, 0);
    assert_false(reload);

    add(&m, &p[0]);
    add(&m, &p[1]);
    assert_ok(catch_up(m.db, &cursor, &s, &reload, &err), err);
    assert_string_equal(s.text, "+p1:a +p2:b ");
    assert_int_equal(cursor.ver, 2);
    assert_ok(loci_catchup_head(m.db, LOCI_DEFAULT_ORG, &head, &err), err);
    assert_true(head.ver == cursor.ver && head.tag == cursor.tag);

    assert_ok(catch_up(m.db, &cursor, &s, &reload, &err), err);
    assert_int_equal(s.count, 0);

    /* The end of an old row, and a new one. */
    loci_write_request end = {
        .org = LOCI_DEFAULT_ORG, .run = memory_end, .arg = &p[0], .door = LOCI_STR("test")
    };
    assert_ok(loci_write(m.writer, &end, NULL, NULL, &err), err);
    add(&m, &p[2]);
    assert_ok(catch_up(m.db, &cursor, &s, &reload, &err), err);
    (void)snprintf(want, sizeof want, "+p3:c -passage%d ", (int)p[0].row);
    assert_string_equal(s.text, want);

    /* Whoever starts from nothing gets everything. */
    cursor = (loci_cursor){ 0, 0 };
    assert_ok(catch_up(m.db, &cursor, &s, &reload, &err), err);
    assert_int_equal(s.count, 4);
    memory_close(&m);
}

static void a_strange_cursor_means_reload(void **state)
{
    memory m = memory_open(store_of(state)->url);
    passage p[] = { { .id = "p1", .text = "a" }, { .id = "p2", .text = "b" } };
    loci_cursor right = { 0, 0 };
    seen s = { 0 };
    bool reload = false;
    loci_err err = { 0 };

    add(&m, &p[0]);
    assert_ok(catch_up(m.db, &right, &s, &reload, &err), err);
    add(&m, &p[1]);
    const loci_cursor cases[] = {
        { right.ver, right.tag + 1 }, /* the same number, written by another history */
        { right.ver + 1, right.tag }, /* the present number with another tag */
        { 1000, 7 },                  /* ahead of the store */
    };
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_cursor cursor = cases[i];
        reload = false;
        assert_ok(catch_up(m.db, &cursor, &s, &reload, &err), err);
        assert_true(reload);
        assert_int_equal(s.count, 0);
        assert_true(cursor.ver == cases[i].ver && cursor.tag == cases[i].tag);
    }
    assert_ok(catch_up(m.db, &right, &s, &reload, &err), err);
    assert_false(reload);
    assert_string_equal(s.text, "+p2:b ");
    memory_close(&m);
}

static void stops_where_the_reader_fails(void **state)
{
    memory m = memory_open(store_of(state)->url);
    passage p = { .id = "p1", .text = "a" };
    loci_cursor cursor = { 0, 0 };
    seen s = { .fail = LOCI_ELIMIT };
    bool reload = false;
    loci_err err = { 0 };

    add(&m, &p);
    assert_int_equal(catch_up(m.db, &cursor, &s, &reload, &err), LOCI_ELIMIT);
    assert_int_equal(cursor.ver, 0);
    assert_int_equal(loci_catchup_head(m.db, 99, &cursor, &err), LOCI_ENOTFOUND);
    memory_close(&m);
}

/* No statement of the store reads a whole table, however large it grows. */
static void reads_by_index(void **state)
{
    store *s = store_of(state);
    memory m = memory_open(s->url);

    memory_close(&m);
    plan_check(s->url, s->engine, &loci_catchup_room, "loci_schema");
    plan_check(s->url, s->engine, &loci_write_room, "loci_schema");
}

static int64_t ask_int(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    int64_t n = -1;

    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
        assert_true(loci_str_to_i64(loci_str_from(PQgetvalue(result, 0, 0)), &n));
    PQclear(result);
    return n;
}

static void run_sql(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);

    assert_int_equal(PQresultStatus(result), PGRES_COMMAND_OK);
    PQclear(result);
}

/* Why versions are taken under a lock: numbers from a sequence become visible in another order than
 * they were given out in, and a reader who has passed the higher one never sees the lower one. */
static void a_sequence_would_lose_a_row(void **state)
{
    store *s = store_of(state);
    PGconn *a = PQconnectdb(s->url), *b = PQconnectdb(s->url);

    run_sql(a, "CREATE SEQUENCE n");
    run_sql(a, "CREATE TABLE line (n BIGINT)");
    run_sql(a, "BEGIN");
    run_sql(a, "INSERT INTO line VALUES (nextval('n'))");
    run_sql(b, "INSERT INTO line VALUES (nextval('n'))");
    int64_t cursor = ask_int(b, "SELECT max(n) FROM line");
    run_sql(a, "COMMIT");
    assert_int_equal(cursor, 2);
    assert_int_equal(ask_int(b, "SELECT count(*) FROM line"), 2);
    assert_int_equal(ask_int(b, "SELECT count(*) FROM line WHERE n > 2"), 0); /* 1 is lost */
    PQfinish(a);
    PQfinish(b);
}

typedef struct slow_write {
    memory *m;
    passage p;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool inside, go, done;
    loci_rc rc;
} slow_write;

/* Adds its passage, tells that it has its version, and waits to be let on. */
static loci_rc add_slowly(loci_change *change, void *arg, loci_err *err)
{
    slow_write *w = arg;
    loci_rc rc = memory_add(change, &w->p, err);

    (void)pthread_mutex_lock(&w->mutex);
    w->inside = true;
    (void)pthread_cond_broadcast(&w->changed);
    while (!w->go) (void)pthread_cond_wait(&w->changed, &w->mutex);
    (void)pthread_mutex_unlock(&w->mutex);
    return rc;
}

static void *write_slowly(void *arg)
{
    slow_write *w = arg;
    loci_write_request request = {
        .org = LOCI_DEFAULT_ORG, .run = add_slowly, .arg = w, .door = LOCI_STR("test")
    };

    w->rc = loci_write(w->m->writer, &request, NULL, NULL, NULL);
    return NULL;
}

static void *write_quickly(void *arg)
{
    slow_write *w = arg;

    w->rc = memory_write(w->m, &w->p, NULL, NULL);
    return NULL;
}

/* The same interleaving through two servers (two stores opened on one place): A has its version and
 * is not committed, B wants to write, a reader looks; nobody is ever behind the cursor. */
static void a_version_loses_nothing(void **state)
{
    store *s = store_of(state);
    memory one = memory_open(s->url), two = memory_open(s->url);
    slow_write a = { .m = &one,
                     .p = { .id = "a", .text = "slow" },
                     .mutex = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER };
    slow_write b = { .m = &two, .p = { .id = "b", .text = "quick" } };
    pthread_t thread_a, thread_b;
    loci_cursor cursor = { 0, 0 };
    seen seen_so_far = { 0 };
    bool reload = false;
    size_t total = 0;
    loci_err err = { 0 };

    assert_int_equal(pthread_create(&thread_a, NULL, write_slowly, &a), 0);
    (void)pthread_mutex_lock(&a.mutex);
    while (!a.inside) (void)pthread_cond_wait(&a.changed, &a.mutex);
    (void)pthread_mutex_unlock(&a.mutex);

    assert_int_equal(pthread_create(&thread_b, NULL, write_quickly, &b), 0);
    for (int i = 0; i < 10; i++) { /* B has had its chance to overtake */
        assert_ok(catch_up(two.db, &cursor, &seen_so_far, &reload, &err), err);
        total += seen_so_far.count;
        loci_clock_sleep(10 * LOCI_MS);
    }
    assert_int_equal(total, 0);

    (void)pthread_mutex_lock(&a.mutex);
    a.go = true;
    (void)pthread_cond_broadcast(&a.changed);
    (void)pthread_mutex_unlock(&a.mutex);
    (void)pthread_join(thread_a, NULL);
    (void)pthread_join(thread_b, NULL);
    assert_int_equal(a.rc, LOCI_OK);
    assert_int_equal(b.rc, LOCI_OK);
    assert_ok(catch_up(two.db, &cursor, &seen_so_far, &reload, &err), err);
    assert_string_equal(seen_so_far.text, "+a:slow +b:quick ");
    memory_close(&one);
    memory_close(&two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(streams_what_is_new),
        ON_BOTH(a_strange_cursor_means_reload),
        ON_BOTH(stops_where_the_reader_fails),
        ON_BOTH(reads_by_index),
        ON_POSTGRES(a_sequence_would_lose_a_row),
        ON_BOTH(a_version_loses_nothing),
    };
    return cmocka_run_group_tests_name("db/catchup", tests, NULL, NULL);
}
