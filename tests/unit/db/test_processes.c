#include "base/clock.h"
#include "db/db.h"
#include "db/stmt.h"
#include "memory.h"
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
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

/* By default what takes seconds; with LOCI_FAULT=all what takes minutes. */
static bool is_long(void)
{
    const char *value = getenv("LOCI_FAULT");

    return value && strcmp(value, "all") == 0;
}

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
                                .durability = is_long() ? LOCI_DURABLE_FULL : LOCI_DURABLE_NORMAL,
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

enum { SERVERS = 4, SECONDS = 3, SECONDS_LONG = 60 };

typedef struct server {
    const char *url;
    int number, ready, go; /* pipes: how many I have written, how many all have */
} server;

typedef struct sight {
    int64_t passages, last_row;
    bool backwards;
} sight;

static loci_rc see(const loci_catchup_source *source, loci_stmt *row, void *arg, loci_err *err)
{
    sight *s = arg;

    (void)err;
    if (source->event != LOCI_EVENT_ADDED || strcmp(source->table, "passage") != 0) return LOCI_OK;
    s->backwards |= loci_stmt_i64(row, 0) <= s->last_row;
    s->last_row = loci_stmt_i64(row, 0);
    s->passages++;
    return LOCI_OK;
}

static loci_rc look(loci_db *db, loci_cursor *cursor, sight *s, loci_err *err)
{
    loci_catchup_request request = { .org = LOCI_DEFAULT_ORG,
                                     .from = *cursor,
                                     .sources = loci_catchup_sources,
                                     .source_count = loci_catchup_source_count,
                                     .event = see,
                                     .arg = s };
    bool reload = false;
    loci_rc rc = loci_catchup(db, &request, cursor, &reload, err);

    if (!rc && reload) return loci_fail(err, LOCI_ECORRUPT, "told to reload");
    return rc;
}

/* Writes and reads in turns, never starting anew; in the end it has seen every row of everybody. */
static int serve(void *arg)
{
    server *v = arg;
    memory m = memory_open(v->url);
    loci_cursor cursor = { 0, 0 };
    sight s = { 0 };
    int64_t end = loci_clock_steady() + (is_long() ? SECONDS_LONG : SECONDS) * LOCI_SECOND;
    int64_t written = 0, all = 0;
    loci_err err = { 0 };
    loci_rc rc = LOCI_OK;

    for (; !rc && loci_clock_steady() < end; written++) {
        char id[32];
        passage p = { .id = id, .text = "x" };
        (void)snprintf(id, sizeof id, "p%d-%lld", v->number, (long long)written);
        rc = memory_write(&m, &p, NULL, &err);
        if (!rc) rc = look(m.db, &cursor, &s, &err);
        if (!rc && s.last_row < p.row) rc = loci_fail(&err, LOCI_EIO, "own write not seen");
    }
    bool told = write(v->ready, &written, sizeof written) == sizeof written &&
                read(v->go, &all, sizeof all) == sizeof all;
    if (!rc) rc = look(m.db, &cursor, &s, &err);
    memory_close(&m);
    if (!rc && told && !s.backwards && s.passages == all) return 0;
    (void)fprintf(stderr, "# saw %d rows of %d: %s\n", (int)s.passages, (int)all, err.msg);
    return 1;
}

static void servers_see_every_row(void **state)
{
    store *s = store_of(state);
    server servers[SERVERS];
    pid_t children[SERVERS];
    int ready[2], go[2];
    int64_t written, all = 0;
    bool fine = true;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    for (int i = 0; i < SERVERS; i++) {
        servers[i] = (server){ .url = s->url, .number = i, .ready = ready[1], .go = go[0] };
        children[i] = store_fork(serve, &servers[i]);
    }
    for (int i = 0; i < SERVERS; i++, all += written)
        assert_int_equal(read(ready[0], &written, sizeof written), sizeof written);
    for (int i = 0; i < SERVERS; i++) assert_int_equal(write(go[1], &all, sizeof all), sizeof all);
    print_message("# %d rows\n", (int)all);
    for (int i = 0; i < SERVERS; i++) fine = store_reap(children[i]) && fine;
    for (int i = 0; i < 2; i++) {
        (void)close(ready[i]);
        (void)close(go[i]);
    }
    assert_true(fine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(eight_processes_write),
        ON_BOTH(servers_see_every_row),
    };
    return cmocka_run_group_tests_name("db/processes", tests, NULL, NULL);
}
