#include "base/clock.h"
#include "db/db.h"
#include "db/stmt.h"
#include "store.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES = 8, WRITES = 500 };
enum { ADD, COUNT, BUMP, TOTAL };

static const loci_sql statements[] = {
    [ADD] = { "ii", "INSERT INTO line (process, n) VALUES (?1, ?2)", false },
    [COUNT] = { "", "SELECT count(*) FROM line", false },
    [BUMP] = { "", "UPDATE total SET n = n + 1", false },
    [TOTAL] = { "", "SELECT n FROM total", false },
};

static const char *const migrations[] = {
    "CREATE TABLE line (process {int} NOT NULL, n {int} NOT NULL, PRIMARY KEY (process, n)) "
    "{strict};"
    "CREATE TABLE total (n {int} NOT NULL) {strict};"
    "INSERT INTO total VALUES (0)",
};

static const loci_db_room room = { .name = "line",
                                   .migrations = migrations,
                                   .migration_count = LOCI_COUNT(migrations),
                                   .statements = statements,
                                   .statement_count = LOCI_COUNT(statements) };

static const loci_db_room *const rooms[] = { &room, NULL };

typedef struct job {
    const char *url;
    int64_t process;
    int go; /* the children start together: a pipe that is closed */
} job;

static loci_rc run(loci_tx *tx, size_t number, int64_t a, int64_t b, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &room, number, &q, err);

    if (rc) return rc;
    if (number == ADD) {
        loci_stmt_bind_i64(q, 1, a);
        loci_stmt_bind_i64(q, 2, b);
    }
    return loci_stmt_run(q, err);
}

static int64_t ask(loci_db *db, size_t number)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &room, number, &q, &err), err);
    assert_ok(loci_stmt_next(q, &err), err);
    return loci_stmt_i64(q, 0);
}

static loci_rc write_once(loci_db *db, const job *j, int64_t n, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_WRITE, &tx, err);

    if (!rc) rc = run(tx, BUMP, 0, 0, err);
    if (!rc) rc = run(tx, ADD, j->process, n, err);
    return rc ? rc : loci_tx_commit(tx, err);
}

/* Opens the store itself, so that the making of a new one is raced too. */
static int write_many(void *arg)
{
    job *j = arg;
    char byte;
    loci_db_options options = { .rooms = rooms,
                                .connections = 2,
                                .durability = LOCI_DURABLE_NORMAL,
                                .deadline = 60 * LOCI_SECOND };
    loci_db *db = NULL;
    loci_err err = { 0 };

    (void)!read(j->go, &byte, 1);
    loci_rc rc = loci_db_open(j->url, &options, &db, &err);
    for (int64_t n = 0; !rc && n < WRITES; n++) rc = write_once(db, j, n, &err);
    if (rc) (void)fprintf(stderr, "# process %d: %s\n", (int)j->process, err.msg);
    loci_db_close(db);
    return rc ? 1 : 0;
}

/* Several processes make and fill one store: every row is there, no update is lost, and nobody is
 * told that the store is busy. */
static void eight_processes_write(void **state)
{
    store *s = store_of(state);
    pid_t children[PROCESSES];
    job jobs[PROCESSES];
    int ends[2];
    bool fine = true;

    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < PROCESSES; i++) {
        jobs[i] = (job){ .url = s->url, .process = i, .go = ends[0] };
        children[i] = store_fork(write_many, &jobs[i]);
    }
    assert_int_equal(write(ends[1], "12345678", PROCESSES), PROCESSES);
    for (int i = 0; i < PROCESSES; i++) fine = store_reap(children[i]) && fine;
    (void)close(ends[0]);
    (void)close(ends[1]);
    assert_true(fine);

    loci_db_options options = { .rooms = rooms };
    LOCI_AUTO(loci_db_closep) loci_db *db = NULL;
    loci_err err = { 0 };
    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    assert_int_equal(ask(db, COUNT), PROCESSES * WRITES);
    assert_int_equal(ask(db, TOTAL), PROCESSES * WRITES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(eight_processes_write),
    };
    return cmocka_run_group_tests_name("db/processes", tests, NULL, NULL);
}
