#include "base/clock.h"
#include "base/id.h"
#include "db/db.h"
#include "db/stmt.h"
#include "store.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ADD, ALL, BY_NUMBERS, BY_NAMES, BUMP, COUNT, MANY, NAMED, SLOW };

static const loci_sql statements[] = {
    [ADD] = { "itb", "INSERT INTO thing (n, name, data) VALUES (?1, ?2, ?3)", false },
    [ALL] = { "", "SELECT n, name, data FROM thing ORDER BY n", false },
    [BY_NUMBERS] = { "I", "SELECT n FROM thing WHERE n {in ?1} ORDER BY n", false },
    [BY_NAMES] = { "T", "SELECT n FROM thing WHERE name {in ?1} ORDER BY n", false },
    [BUMP] = { "i", "UPDATE thing SET n = n + 100 WHERE n >= ?1 RETURNING n", false },
    [COUNT] = { "", "SELECT count(*) FROM thing", false },
    [MANY] = { "", "SELECT n FROM thing ORDER BY n", true },
    [NAMED] = { "t", "SELECT n FROM thing WHERE CAST(?1 AS TEXT) IS NULL OR name = ?1 ORDER BY n",
                false },
    [SLOW] = { "",
               "WITH RECURSIVE c (x) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT x + 1 FROM c "
               "WHERE x < 1000000000) SELECT count(*) FROM c",
               false },
};

static const char *const migrations[] = {
    "CREATE TABLE thing (n {int} PRIMARY KEY, name {text}, data {blob}) {strict};"
    "CREATE INDEX thing_name ON thing (name)",
};

static const loci_db_room room = { .name = "thing",
                                   .migrations = migrations,
                                   .migration_count = LOCI_COUNT(migrations),
                                   .statements = statements,
                                   .statement_count = LOCI_COUNT(statements) };

static const loci_db_room *const rooms[] = { &room, NULL };

static loci_db *open_db(const store *s)
{
    loci_db_options options = { .rooms = rooms };
    loci_db *db = NULL;
    loci_err err = { 0 };

    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    return db;
}

static loci_rc add(loci_tx *tx, int64_t n, const char *name, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &room, ADD, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, n);
    loci_stmt_bind_text_or_null(q, 2, name ? loci_str_from(name) : (loci_str){ NULL, 0 });
    return loci_stmt_run(q, err);
}

static int64_t count_in(loci_tx *tx)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };

    assert_ok(loci_stmt_begin(tx, &room, COUNT, &q, &err), err);
    assert_ok(loci_stmt_next(q, &err), err);
    return loci_stmt_i64(q, 0);
}

static int64_t count(loci_db *db)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    return count_in(tx);
}

static void add_rows(loci_db *db, int64_t from, int64_t to)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    for (int64_t n = from; n <= to; n++) assert_ok(add(tx, n, NULL, &err), err);
    assert_ok(loci_tx_commit(tx, &err), err);
}

static void keeps_every_type(void **state)
{
    static const struct {
        int64_t n;
        loci_str name, data;
    } rows[] = {
        { INT64_MIN, { "", 0 }, { "\0\1\xff", 3 } },
        { -1, { NULL, 0 }, { "", 0 } },
        { 0, { "caf\xc3\xa9 \xf0\x9f\x8c\xb3", 10 }, { NULL, 0 } },
        { INT64_MAX, { "it's \"?1\" $1 {x} \\", 18 }, { "x", 1 } },
    };
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(4096);
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    for (size_t i = 0; i < LOCI_COUNT(rows); i++) {
        assert_ok(loci_stmt_begin(tx, &room, ADD, &q, &err), err);
        loci_stmt_bind_i64(q, 1, rows[i].n);
        loci_stmt_bind_text_or_null(q, 2, rows[i].name);
        if (rows[i].data.ptr) loci_stmt_bind_blob(q, 3, rows[i].data);
        assert_int_equal(loci_stmt_next(q, &err), LOCI_DONE);
        assert_int_equal(loci_stmt_changes(q), 1);
        loci_stmt_endp(&q);
    }
    assert_ok(loci_tx_commit(tx, &err), err);
    loci_tx_endp(&tx);

    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &room, ALL, &q, &err), err);
    for (size_t i = 0; i < LOCI_COUNT(rows); i++) {
        loci_str copy = { NULL, 0 };
        assert_ok(loci_stmt_next(q, &err), err);
        assert_true(loci_stmt_i64(q, 0) == rows[i].n);
        assert_int_equal(loci_stmt_is_null(q, 1), rows[i].name.ptr == NULL);
        assert_int_equal(loci_stmt_is_null(q, 2), rows[i].data.ptr == NULL);
        assert_true(loci_str_eq(loci_stmt_text(q, 1), rows[i].name));
        assert_true(loci_str_eq(loci_stmt_blob(q, 2), rows[i].data));
        assert_ok(loci_stmt_copy(q, 1, arena, &copy, &err), err);
        assert_true(loci_str_eq(copy, rows[i].name));
        assert_int_equal(copy.ptr == NULL, rows[i].name.ptr == NULL);
    }
    assert_int_equal(loci_stmt_next(q, &err), LOCI_DONE);
    assert_int_equal(loci_stmt_next(q, &err), LOCI_DONE);
}

static void refuses_bad_text(void **state)
{
    static const struct {
        loci_str text;
        const char *want;
    } cases[] = {
        { { "a\0b", 3 }, "text must not hold a NUL character" },
        { { "\xff", 1 }, "text is not UTF-8" },
        { { "\xed\xa0\x80", 3 }, "text is not UTF-8" }, /* half a surrogate pair */
    };
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        assert_ok(loci_stmt_begin(tx, &room, ADD, &q, &err), err);
        loci_stmt_bind_i64(q, 1, 1);
        loci_stmt_bind_text(q, 2, cases[i].text);
        assert_int_equal(loci_stmt_run(q, &err), LOCI_EINVAL);
        assert_string_equal(err.msg, cases[i].want);
    }
    /* Nothing reached the engine, so the transaction goes on. */
    assert_ok(add(tx, 1, "fine", &err), err);
    assert_ok(loci_tx_commit(tx, &err), err);
}

static size_t numbers_of(loci_stmt *q, int64_t *ret, size_t max)
{
    loci_err err = { 0 };
    loci_rc rc;
    size_t n = 0;

    while ((rc = loci_stmt_next(q, &err)) == LOCI_OK) {
        assert_true(n < max);
        ret[n++] = loci_stmt_i64(q, 0);
    }
    assert_int_equal(rc, LOCI_DONE);
    return n;
}

static void finds_by_lists(void **state)
{
    static const char *const names[] = { "a\"b", "{x}", "NULL", "", "\\", "a,b", "new\nline" };
    const loci_str wanted[] = { LOCI_STR("a\"b"), LOCI_STR("NULL"), LOCI_STR("\\"), LOCI_STR("no"),
                                LOCI_STR("new\nline") };
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t got[8];
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    for (size_t i = 0; i < LOCI_COUNT(names); i++)
        assert_ok(add(tx, (int64_t)i, names[i], &err), err);
    assert_ok(add(tx, 99, NULL, &err), err);

    assert_ok(loci_stmt_begin(tx, &room, BY_NAMES, &q, &err), err);
    loci_stmt_bind_texts(q, 1, wanted, LOCI_COUNT(wanted));
    assert_int_equal(numbers_of(q, got, 8), 4);
    assert_true(got[0] == 0 && got[1] == 2 && got[2] == 4 && got[3] == 6);
    loci_stmt_endp(&q);

    assert_ok(loci_stmt_begin(tx, &room, BY_NUMBERS, &q, &err), err);
    loci_stmt_bind_i64s(q, 1, (int64_t[]){ 5, 99, 1234 }, 3);
    assert_int_equal(numbers_of(q, got, 8), 2);
    loci_stmt_endp(&q);

    assert_ok(loci_stmt_begin(tx, &room, BY_NUMBERS, &q, &err), err);
    loci_stmt_bind_i64s(q, 1, NULL, 0);
    assert_int_equal(numbers_of(q, got, 8), 0);
    loci_stmt_endp(&q);

    /* A parameter that is NULL has its type all the same. */
    assert_ok(loci_stmt_begin(tx, &room, NAMED, &q, &err), err);
    assert_int_equal(numbers_of(q, got, 8), 8);
    loci_stmt_endp(&q);

    assert_ok(loci_stmt_begin(tx, &room, BY_NUMBERS, &q, &err), err);
    loci_stmt_bind_i64s(q, 1, NULL, LOCI_DB_LIST_ITEMS + 1);
    assert_int_equal(loci_stmt_next(q, &err), LOCI_ELIMIT);
}

static void reads_one_snapshot(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *reader = NULL;
    loci_err err = { 0 };

    add_rows(db, 1, 3);
    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &reader, &err), err);
    assert_int_equal(count_in(reader), 3);
    add_rows(db, 4, 5);
    assert_int_equal(count_in(reader), 3);
    assert_int_equal(count(db), 5);
}

static void reading_cannot_write(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    loci_err err = { 0 };

    {
        LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
        assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
        assert_int_not_equal(add(tx, 1, NULL, &err), LOCI_OK);
    }
    assert_int_equal(count(db), 0);
}

static void undoes_what_is_not_committed(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    loci_err err = { 0 };

    {
        LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
        assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
        assert_ok(add(tx, 1, NULL, &err), err);
    }
    assert_int_equal(count(db), 0);
}

static void savepoints_nest(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(add(tx, 1, NULL, &err), err);
    assert_ok(loci_tx_save(tx, &err), err);
    assert_ok(add(tx, 2, NULL, &err), err);
    assert_ok(loci_tx_save(tx, &err), err);
    assert_int_equal(add(tx, 2, NULL, &err), LOCI_ECONFLICT); /* the same key again */
    assert_int_equal(loci_tx_failure(tx), LOCI_TX_FINAL);
    assert_ok(loci_tx_undo(tx, &err), err);
    assert_ok(add(tx, 3, NULL, &err), err);
    assert_ok(loci_tx_release(tx, &err), err);
    assert_ok(loci_tx_save(tx, &err), err);
    assert_ok(add(tx, 4, NULL, &err), err);
    assert_ok(loci_tx_undo(tx, &err), err);
    assert_int_equal(count_in(tx), 3);
    assert_ok(loci_tx_commit(tx, &err), err);
    loci_tx_endp(&tx);
    assert_int_equal(count(db), 3);
}

static void posts(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_err err = { 0 };

    for (int twice = 0; twice < 2; twice++) { /* the second time everything is prepared already */
        assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
        for (int64_t n = 0; n < 50; n++) {
            LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
            assert_ok(loci_stmt_begin(tx, &room, ADD, &q, &err), err);
            loci_stmt_bind_i64(q, 1, twice * 1000 + n);
            assert_ok(loci_stmt_post(q, &err), err);
        }
        assert_ok(loci_tx_commit(tx, &err), err);
        loci_tx_endp(&tx);
        assert_int_equal(count(db), 50 * (twice + 1));
    }
}

/* A posted statement that fails is told by the release of its savepoint at the latest, is undone
 * with it, and harms nothing around. */
static void posted_failure_stays_in_its_savepoint(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(add(tx, 1, NULL, &err), err);
    assert_ok(loci_tx_save(tx, &err), err);
    {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        assert_ok(loci_stmt_begin(tx, &room, ADD, &q, &err), err);
        loci_stmt_bind_i64(q, 1, 1);
        loci_rc rc = loci_stmt_post(q, &err);
        if (!rc) rc = loci_tx_release(tx, &err);
        assert_int_equal(rc, LOCI_ECONFLICT);
    }
    assert_ok(loci_tx_undo(tx, &err), err);
    assert_ok(add(tx, 2, NULL, &err), err);
    assert_ok(loci_tx_commit(tx, &err), err);
    loci_tx_endp(&tx);
    assert_int_equal(count(db), 2);

    /* And one that is never asked about fails the commit. */
    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(add(tx, 3, NULL, &err), err);
    {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        assert_ok(loci_stmt_begin(tx, &room, ADD, &q, &err), err);
        loci_stmt_bind_i64(q, 1, 1);
        loci_rc rc = loci_stmt_post(q, &err);
        loci_stmt_endp(&q);
        if (!rc) rc = loci_tx_commit(tx, &err);
        assert_int_equal(rc, LOCI_ECONFLICT);
    }
    loci_tx_endp(&tx);
    assert_int_equal(count(db), 2);
}

static void returns_what_it_changed(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t got[8];
    loci_err err = { 0 };

    add_rows(db, 1, 4);
    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &room, BUMP, &q, &err), err);
    loci_stmt_bind_i64(q, 1, 3);
    assert_int_equal(numbers_of(q, got, 8), 2);
    assert_int_equal(loci_stmt_changes(q), 2);
    loci_stmt_endp(&q);
    assert_ok(loci_stmt_begin(tx, &room, BUMP, &q, &err), err);
    loci_stmt_bind_i64(q, 1, 1000);
    assert_int_equal(numbers_of(q, got, 8), 0);
    assert_int_equal(loci_stmt_changes(q), 0);
}

static void streams(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };
    loci_rc rc;
    int64_t n = 0;

    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &room, MANY, &q, &err), err);
    assert_int_equal(loci_stmt_next(q, &err), LOCI_DONE); /* no row at all */
    loci_stmt_endp(&q);
    loci_tx_endp(&tx);

    add_rows(db, 1, 500);
    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &room, MANY, &q, &err), err);
    while ((rc = loci_stmt_next(q, &err)) == LOCI_OK) assert_int_equal(loci_stmt_i64(q, 0), ++n);
    assert_int_equal(rc, LOCI_DONE);
    assert_int_equal(n, 500);
    loci_stmt_endp(&q);

    assert_ok(loci_stmt_begin(tx, &room, MANY, &q, &err), err);
    assert_ok(loci_stmt_next(q, &err), err);
    loci_stmt_endp(&q); /* given up after one row */
    assert_int_equal(count_in(tx), 500);
}

static void gives_up_at_the_deadline(void **state)
{
    store *s = store_of(state);
    loci_db_options options = { .rooms = rooms, .deadline = 300 * LOCI_MS };
    LOCI_AUTO(loci_db_closep) loci_db *db = NULL;
    loci_err err = { 0 };

    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    {
        LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
        assert_ok(loci_stmt_begin(tx, &room, SLOW, &q, &err), err);
        assert_int_equal(loci_stmt_next(q, &err), LOCI_EUNAVAILABLE);
    }
    assert_int_equal(count(db), 0); /* the store is as good as before */
}

static void waits_for_a_connection(void **state)
{
    store *s = store_of(state);
    loci_db_options options = { .rooms = rooms, .connections = 2, .deadline = 200 * LOCI_MS };
    LOCI_AUTO(loci_db_closep) loci_db *db = NULL;
    LOCI_AUTO(loci_tx_endp) loci_tx *one = NULL;
    LOCI_AUTO(loci_tx_endp) loci_tx *two = NULL;
    loci_tx *three = NULL;
    loci_err err = { 0 };

    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &one, &err), err);
    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &two, &err), err);
    assert_int_equal(loci_tx_begin(db, LOCI_TX_READ, &three, &err), LOCI_EBUSY);
    assert_null(three);
    loci_tx_endp(&two);
    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &three, &err), err);
    loci_tx_end(three);
}

typedef struct worker {
    loci_db *db;
    int64_t from;
    bool failed;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    loci_err err = { 0 };

    for (int64_t i = 0; i < 25 && !w->failed; i++) {
        LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
        w->failed = loci_tx_begin(w->db, LOCI_TX_WRITE, &tx, &err) ||
                    add(tx, w->from + i, NULL, &err) || loci_tx_commit(tx, &err);
        if (w->failed) print_error("worker: %s\n", err.msg);
        loci_tx_endp(&tx);
        LOCI_AUTO(loci_tx_endp) loci_tx *reader = NULL;
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        w->failed |= loci_tx_begin(w->db, LOCI_TX_READ, &reader, &err) ||
                     loci_stmt_begin(reader, &room, COUNT, &q, &err) || loci_stmt_next(q, &err) ||
                     loci_stmt_i64(q, 0) < i;
    }
    return NULL;
}

static void serves_threads(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));
    pthread_t threads[8];
    worker workers[8];

    for (int i = 0; i < 8; i++) {
        workers[i] = (worker){ .db = db, .from = i * 1000 };
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < 8; i++) (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < 8; i++) assert_false(workers[i].failed);
    assert_int_equal(count(db), 200);
}

static int use_in_child(void *arg)
{
    loci_db *db = arg;
    loci_tx *tx = NULL;
    loci_err err = { 0 };

    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, &err);
    loci_db_close(db);
    return rc == LOCI_EINVAL && strstr(err.msg, "open it again in the child") ? 0 : 1;
}

static void notices_a_fork(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state));

    add_rows(db, 1, 1);
    assert_true(store_reap(store_fork(use_in_child, db)));
    add_rows(db, 2, 2);
    assert_int_equal(count(db), 2);
}

static int64_t wal_size(const store *s)
{
    char path[200];
    struct stat st;

    (void)snprintf(path, sizeof path, "%s-wal", s->url);
    return stat(path, &st) == 0 ? (int64_t)st.st_size : -1;
}

/* With a reader in the way the WAL stays, and nobody waits; without one it is cut to nothing. */
static void checkpoints_around_readers(void **state)
{
    store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(s);
    LOCI_AUTO(loci_tx_endp) loci_tx *reader = NULL;
    loci_err err = { 0 };

    add_rows(db, 1, 3);
    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &reader, &err), err);
    assert_int_equal(count_in(reader), 3);
    add_rows(db, 4, 6);
    assert_ok(loci_db_checkpoint(db, true, &err), err);
    if (s->engine == LOCI_SQLITE) assert_true(wal_size(s) > 0);
    assert_int_equal(count_in(reader), 3);
    loci_tx_endp(&reader);
    assert_ok(loci_db_checkpoint(db, true, &err), err);
    if (s->engine == LOCI_SQLITE) assert_int_equal(wal_size(s), 0);
    assert_int_equal(count(db), 6);
}

static void opens_again(void **state)
{
    store *s = store_of(state);
    loci_db *db = open_db(s);

    add_rows(db, 1, 3);
    loci_db_close(db);
    db = open_db(s);
    assert_int_equal(count(db), 3);
    loci_db_close(db);
}

static void refuses_a_newer_store(void **state)
{
    store *s = store_of(state);
    static const char *const later[] = { "CREATE TABLE thing (n BIGINT)",
                                         "CREATE TABLE other (n BIGINT)" };
    loci_db_room newer = room;
    const loci_db_room *const newer_rooms[] = { &newer, NULL };
    loci_db_options options = { .rooms = newer_rooms };
    loci_db *db = NULL;
    loci_err err = { 0 };

    newer.migrations = later;
    newer.migration_count = 2;
    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    loci_db_close(db);
    db = NULL;
    options.rooms = rooms;
    assert_int_equal(loci_db_open(s->url, &options, &db, &err), LOCI_ECONFLICT);
    assert_non_null(strstr(err.msg, "newer loci"));
    assert_null(db);
}

/* A migration that fails leaves nothing of itself, nor of those before it. */
static void migrates_whole_or_not(void **state)
{
    store *s = store_of(state);
    static const char *const bad[] = { "CREATE TABLE thing (n BIGINT)",
                                       "CREATE TABLE thing (n BIGINT)" };
    loci_db_room broken = room;
    const loci_db_room *const broken_rooms[] = { &broken, NULL };
    loci_db_options options = { .rooms = broken_rooms };
    loci_db *db = NULL;
    loci_err err = { 0 };

    broken.migrations = bad;
    broken.migration_count = 2;
    assert_int_not_equal(loci_db_open(s->url, &options, &db, &err), LOCI_OK);
    assert_non_null(strstr(err.msg, "migration 2 of 'thing'"));
    db = open_db(s);
    assert_int_equal(count(db), 0);
    loci_db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(keeps_every_type),
        ON_BOTH(refuses_bad_text),
        ON_BOTH(finds_by_lists),
        ON_BOTH(reads_one_snapshot),
        ON_BOTH(reading_cannot_write),
        ON_BOTH(undoes_what_is_not_committed),
        ON_BOTH(savepoints_nest),
        ON_BOTH(posts),
        ON_BOTH(posted_failure_stays_in_its_savepoint),
        ON_BOTH(returns_what_it_changed),
        ON_BOTH(streams),
        ON_BOTH(gives_up_at_the_deadline),
        ON_BOTH(waits_for_a_connection),
        ON_BOTH(serves_threads),
        ON_BOTH(notices_a_fork),
        ON_BOTH(checkpoints_around_readers),
        ON_BOTH(opens_again),
        ON_BOTH(refuses_a_newer_store),
        ON_BOTH(migrates_whole_or_not),
    };
    return cmocka_run_group_tests_name("db/db", tests, NULL, NULL);
}
