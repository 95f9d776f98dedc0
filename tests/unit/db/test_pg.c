#include "base/clock.h"
#include "db/db.h"
#include "db/pg_class.h"
#include "db/stmt.h"
#include "pg.h"
#include "store.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { ADD, COUNT, PREPARED };

static const loci_sql statements[] = {
    [ADD] = { "i", "INSERT INTO thing (n) VALUES (?1)", false },
    [COUNT] = { "", "SELECT count(*) FROM thing", false },
    [PREPARED] = { "", "SELECT count(*) FROM pg_prepared_statements", false },
};

static const char *const migrations[] = { "CREATE TABLE thing (n {int} PRIMARY KEY) {strict}" };

static const loci_db_room room = { .name = "thing",
                                   .migrations = migrations,
                                   .migration_count = LOCI_COUNT(migrations),
                                   .statements = statements,
                                   .statement_count = LOCI_COUNT(statements) };

static const loci_db_room *const rooms[] = { &room, NULL };

static loci_rc add(loci_tx *tx, int64_t n, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &room, ADD, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, n);
    return loci_stmt_run(q, err);
}

static loci_rc ask(loci_db *db, size_t number, int64_t *ret, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &room, number, &q, err);
    if (!rc) rc = loci_stmt_next(q, err);
    if (!rc) *ret = loci_stmt_i64(q, 0);
    return rc;
}

static loci_rc count(loci_db *db, int64_t *ret, loci_err *err)
{
    return ask(db, COUNT, ret, err);
}

static void classifies(void **state)
{
    static const struct {
        const char *sqlstate;
        loci_rc code;
        loci_tx_class failure;
    } cases[] = {
        /* clang-format off */
        { "40001", LOCI_EBUSY,        LOCI_TX_RETRY },
        { "40P01", LOCI_EBUSY,        LOCI_TX_RETRY },
        { "55P03", LOCI_EBUSY,        LOCI_TX_RETRY },
        { "08006", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT },
        { "57P01", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT },
        { "57P03", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT },
        { "25006", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT },
        { NULL,    LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT },
        { "23505", LOCI_ECONFLICT,    LOCI_TX_FINAL },
        { "53100", LOCI_EUNAVAILABLE, LOCI_TX_FINAL },
        { "42601", LOCI_EIO,          LOCI_TX_FINAL },
        { "28P01", LOCI_EAUTH,        LOCI_TX_FINAL },
        /* clang-format on */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        const loci_pg_class *c = loci_pg_classify(cases[i].sqlstate);
        assert_int_equal(c->code, cases[i].code);
        assert_int_equal(c->failure, cases[i].failure);
    }
}

/* Each is an error with a reason, and none shows the password. */
static void refuses_bad_urls(void **state)
{
    static const struct {
        const char *url;
        loci_rc want;
    } cases[] = {
        { "", LOCI_EINVAL },
        { "sqlite:", LOCI_EINVAL },
        { "mysql://me:hush@x/y", LOCI_EINVAL },
        { ":memory:", LOCI_EINVAL },
        { "postgres://me:hush@host:notaport/x", LOCI_EINVAL },
        { "postgres://me:hush@host:99999/x", LOCI_EINVAL },
        { "postgres://me:hush@[::1/x", LOCI_EINVAL },
        { "postgres://me:hush@host/x?no_such_option=hush", LOCI_EINVAL },
        { "postgres://me:hush@127.0.0.1:1/x", LOCI_EUNAVAILABLE },
        { "postgres:///x?host=/nowhere/at/all&password=hush", LOCI_EUNAVAILABLE },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_db_options options = { .deadline = 2 * LOCI_SECOND };
        loci_db *db = NULL;
        loci_err err = { 0 };
        loci_rc rc = loci_db_open(cases[i].url, &options, &db, &err);
        if (rc != cases[i].want) print_error("%s: %s\n", cases[i].url, err.msg);
        assert_int_equal(rc, cases[i].want);
        assert_null(db);
        assert_true(strlen(err.msg) > 10);
        assert_null(strstr(err.msg, "hush"));
    }
}

static loci_db *open_db(const store *s, bool noprepare)
{
    loci_db_options options = { .rooms = rooms,
                                .deadline = 1 * LOCI_SECOND,
                                .noprepare = noprepare };
    loci_db *db = NULL;
    loci_err err = { 0 };

    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    return db;
}

static void works_without_prepared_statements(void **state)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(store_of(state), true);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    int64_t n = 0;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    for (int64_t i = 0; i < 3; i++) assert_ok(add(tx, i, &err), err);
    assert_ok(loci_tx_commit(tx, &err), err);
    assert_ok(count(db, &n, &err), err);
    assert_int_equal(n, 3);
    assert_ok(ask(db, PREPARED, &n, &err), err);
    assert_int_equal(n, 0);
    LOCI_AUTO(loci_db_closep) loci_db *preparing = open_db(store_of(state), false);
    assert_ok(ask(preparing, PREPARED, &n, &err), err);
    assert_true(n > 0);
}

/* A server that is stopped in the middle answers nothing, and the kernel keeps its connections. */
static void does_not_wait_for_a_frozen_server(void **state)
{
    store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(s, false);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_db *second = NULL;
    loci_db_options options = { .rooms = rooms, .deadline = 1 * LOCI_SECOND };
    int64_t n = 0;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(add(tx, 1, &err), err);
    pg_signal(SIGSTOP);
    loci_rc in_transaction = add(tx, 2, &err);
    loci_tx_class class = loci_tx_failure(tx);
    loci_tx_endp(&tx);
    loci_rc new_connection = loci_db_open(s->url, &options, &second, &err);
    pg_signal(SIGCONT);

    assert_int_equal(in_transaction, LOCI_EUNAVAILABLE);
    assert_int_equal(class, LOCI_TX_RECONNECT);
    assert_int_equal(new_connection, LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "did not answer in time"));
    assert_ok(count(db, &n, &err), err); /* it connects again */
    assert_int_equal(n, 0);
}

/* Frozen while the commit is under way: nobody can know, and the store says so. */
static void a_commit_without_answer_is_unknown(void **state)
{
    store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(s, false);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    int64_t n = 0;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(add(tx, 1, &err), err);
    pg_signal(SIGSTOP);
    loci_rc rc = loci_tx_commit(tx, &err);
    loci_tx_class class = loci_tx_failure(tx);
    loci_tx_endp(&tx);
    pg_signal(SIGCONT);
    assert_int_equal(rc, LOCI_EUNAVAILABLE);
    assert_int_equal(class, LOCI_TX_UNKNOWN);
    assert_ok(count(db, &n, &err), err);
    assert_true(n == 0 || n == 1);
}

static void survives_a_dropped_connection(void **state)
{
    store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(s, false);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    int64_t n = 0;
    loci_err err = { 0 };
    static const char drop[] = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                               "application_name = 'loci' AND pid <> pg_backend_pid()";

    assert_ok(loci_tx_begin(db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(add(tx, 1, &err), err);
    assert_true(pg_run(s->url, drop));
    assert_int_equal(add(tx, 2, &err), LOCI_EUNAVAILABLE);
    assert_int_equal(loci_tx_failure(tx), LOCI_TX_RECONNECT);
    loci_tx_endp(&tx);
    assert_ok(count(db, &n, &err), err);
    assert_int_equal(n, 0);

    /* Dropped while nobody used it: the next one does not notice. */
    assert_true(pg_run(s->url, drop));
    loci_clock_sleep(100 * LOCI_MS);
    assert_ok(count(db, &n, &err), err);
}

static void survives_a_restart(void **state)
{
    store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = open_db(s, false);
    int64_t n = 0;
    loci_err err = { 0 };

    assert_ok(count(db, &n, &err), err);
    assert_true(pg_restart());
    assert_ok(count(db, &n, &err), err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classifies),
        cmocka_unit_test(refuses_bad_urls),
        ON_POSTGRES(works_without_prepared_statements),
        ON_POSTGRES(does_not_wait_for_a_frozen_server),
        ON_POSTGRES(a_commit_without_answer_is_unknown),
        ON_POSTGRES(survives_a_dropped_connection),
        ON_POSTGRES(survives_a_restart),
    };
    return cmocka_run_group_tests_name("db/pg", tests, NULL, NULL);
}
