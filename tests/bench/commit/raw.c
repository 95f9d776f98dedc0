#include "raw.h"

#include "base/clock.h"
#include "base/compiler.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64, PAGE = 4096 };

static void die(const char *what, const char *why)
{
    (void)fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

double raw_sync_rate(const char *folder, int64_t microseconds)
{
    static char page[PAGE];
    char path[256];
    int64_t n = 0, start = loci_clock_steady(), now = start;

    (void)snprintf(path, sizeof path, "%s/sync", folder);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 256; i++)
        if (pwrite(fd, page, PAGE, i * PAGE) != PAGE) die("write", path);
    (void)fsync(fd);
    for (; now - start < microseconds; n++, now = loci_clock_steady()) {
        memset(page, (int)n, PAGE);
        if (pwrite(fd, page, PAGE, n % 256 * PAGE) != PAGE || fdatasync(fd)) die("sync", path);
    }
    (void)close(fd);
    return (double)n * LOCI_SECOND / (double)(now - start);
}

/* Rows waiting for the writer. A producer has at most one. */
typedef struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t some;
    pthread_cond_t told[MOST];
    bool waiting[MOST], done[MOST];
    unsigned producers, ready, alive;
    int64_t end;
} queue;

typedef struct producer {
    queue *q;
    unsigned number;
    int64_t rows;
} producer;

static void *produce(void *arg)
{
    producer *p = arg;
    queue *q = p->q;

    (void)pthread_mutex_lock(&q->mutex);
    while (loci_clock_steady() < q->end) {
        q->waiting[p->number] = true;
        q->done[p->number] = false;
        if (q->ready++ == 0) (void)pthread_cond_signal(&q->some);
        while (!q->done[p->number]) (void)pthread_cond_wait(&q->told[p->number], &q->mutex);
        p->rows++;
    }
    q->alive--;
    (void)pthread_cond_signal(&q->some);
    (void)pthread_mutex_unlock(&q->mutex);
    return NULL;
}

typedef void (*commit_fn)(void *store, unsigned rows);

/* The writer: take whatever has come, commit it, tell. Runs in the caller's thread. */
static void serve(queue *q, commit_fn commit, void *store)
{
    bool taken[MOST];

    (void)pthread_mutex_lock(&q->mutex);
    while (q->alive) {
        if (!q->ready) {
            (void)pthread_cond_wait(&q->some, &q->mutex);
            continue;
        }
        unsigned rows = q->ready;
        q->ready = 0;
        memcpy(taken, q->waiting, sizeof taken);
        memset(q->waiting, 0, sizeof q->waiting);
        (void)pthread_mutex_unlock(&q->mutex);
        commit(store, rows);
        (void)pthread_mutex_lock(&q->mutex);
        for (unsigned i = 0; i < q->producers; i++) {
            if (!taken[i]) continue;
            q->done[i] = true;
            (void)pthread_cond_signal(&q->told[i]);
        }
    }
    (void)pthread_mutex_unlock(&q->mutex);
}

static double run_batches(unsigned rows, int64_t microseconds, commit_fn commit, void *store)
{
    int64_t start = loci_clock_steady(), now = start, n = 0;

    for (; now - start < microseconds; n += rows, now = loci_clock_steady()) commit(store, rows);
    return (double)n * LOCI_SECOND / (double)(now - start);
}

static double run(unsigned producers, int64_t microseconds, commit_fn commit, void *store)
{
    queue q = { .mutex = PTHREAD_MUTEX_INITIALIZER,
                .some = PTHREAD_COND_INITIALIZER,
                .producers = producers,
                .alive = producers };
    producer list[MOST];
    pthread_t threads[MOST];
    int64_t start = loci_clock_steady(), rows = 0;

    q.end = start + microseconds;
    for (unsigned i = 0; i < producers; i++) {
        (void)pthread_cond_init(&q.told[i], NULL);
        list[i] = (producer){ .q = &q, .number = i };
    }
    for (unsigned i = 0; i < producers; i++)
        if (pthread_create(&threads[i], NULL, produce, &list[i]) != 0) die("thread", "start");
    serve(&q, commit, store);
    for (unsigned i = 0; i < producers; i++) {
        (void)pthread_join(threads[i], NULL);
        rows += list[i].rows;
    }
    return (double)rows * LOCI_SECOND / (double)(loci_clock_steady() - start);
}

static const char *text_of_row(void)
{
    static char text[RAW_TEXT + 1];

    if (!text[0]) memset(text, 'm', RAW_TEXT);
    return text;
}

typedef struct sqlite_store {
    sqlite3 *db;
    sqlite3_stmt *insert;
    int64_t next;
} sqlite_store;

static void sqlite_commit(void *arg, unsigned rows)
{
    sqlite_store *s = arg;

    if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
        die("begin", sqlite3_errmsg(s->db));
    for (unsigned i = 0; i < rows; i++) {
        char id[48];
        (void)snprintf(id, sizeof id, "passage-%lld", (long long)++s->next);
        (void)sqlite3_bind_int64(s->insert, 1, s->next);
        (void)sqlite3_bind_text(s->insert, 2, id, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(s->insert, 3, s->next % 100);
        (void)sqlite3_bind_text(s->insert, 4, text_of_row(), RAW_TEXT, SQLITE_STATIC);
        if (sqlite3_step(s->insert) != SQLITE_DONE) die("insert", sqlite3_errmsg(s->db));
        (void)sqlite3_reset(s->insert);
    }
    if (sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL)) die("commit", sqlite3_errmsg(s->db));
}

double raw_sqlite_rate(const char *path, unsigned producers, bool batch, int64_t microseconds)
{
    sqlite_store s = { 0 };
    sqlite3_stmt *last = NULL;
    static const char make[] =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        "CREATE TABLE IF NOT EXISTS line (n INTEGER PRIMARY KEY, id TEXT, grp INTEGER, text TEXT);"
        "CREATE UNIQUE INDEX IF NOT EXISTS line_id ON line (id);"
        "CREATE INDEX IF NOT EXISTS line_grp ON line (grp, n)";

    if (sqlite3_open(path, &s.db) || sqlite3_exec(s.db, make, NULL, NULL, NULL) ||
        sqlite3_prepare_v2(s.db, "INSERT INTO line VALUES (?1, ?2, ?3, ?4)", -1, &s.insert, NULL) ||
        sqlite3_prepare_v2(s.db, "SELECT coalesce(max(n), 0) FROM line", -1, &last, NULL))
        die(path, sqlite3_errmsg(s.db));
    if (sqlite3_step(last) == SQLITE_ROW) s.next = sqlite3_column_int64(last, 0);
    (void)sqlite3_finalize(last);
    double rate = (batch ? run_batches : run)(producers, microseconds, sqlite_commit, &s);
    (void)sqlite3_finalize(s.insert);
    (void)sqlite3_close(s.db);
    return rate;
}

typedef struct pg_store {
    PGconn *conn;
    int64_t next;
} pg_store;

static void pg_send(pg_store *s, const char *sql)
{
    if (!PQsendQueryParams(s->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
        die(sql, PQerrorMessage(s->conn));
}

/* One pipeline: BEGIN, the rows, COMMIT; one wait. */
static void pg_commit(void *arg, unsigned rows)
{
    pg_store *s = arg;
    PGresult *result;
    bool synced = false;

    pg_send(s, "BEGIN");
    for (unsigned i = 0; i < rows; i++) {
        char n[24], id[48], group[24];
        const char *values[] = { n, id, group, text_of_row() };
        (void)snprintf(n, sizeof n, "%lld", (long long)++s->next);
        (void)snprintf(id, sizeof id, "passage-%lld", (long long)s->next);
        (void)snprintf(group, sizeof group, "%lld", (long long)(s->next % 100));
        if (!PQsendQueryPrepared(s->conn, "add", 4, values, NULL, NULL, 0))
            die("insert", PQerrorMessage(s->conn));
    }
    pg_send(s, "COMMIT");
    if (!PQpipelineSync(s->conn)) die("sync", PQerrorMessage(s->conn));
    while (!synced) {
        result = PQgetResult(s->conn);
        ExecStatusType status = PQresultStatus(result);
        synced = status == PGRES_PIPELINE_SYNC;
        if (result && !synced && status != PGRES_COMMAND_OK) die("commit", PQerrorMessage(s->conn));
        PQclear(result);
    }
}

double raw_postgres_rate(const char *url, unsigned producers, bool batch, int64_t microseconds)
{
    pg_store s = { .conn = PQconnectdb(url) };
    static const char make[] =
        "SET client_min_messages = error;"
        "CREATE TABLE IF NOT EXISTS line (n BIGINT PRIMARY KEY, id TEXT, grp BIGINT, text TEXT);"
        "CREATE UNIQUE INDEX IF NOT EXISTS line_id ON line (id);"
        "CREATE INDEX IF NOT EXISTS line_grp ON line (grp, n);"
        "SELECT coalesce(max(n), 0) FROM line";

    PGresult *result = PQexec(s.conn, make);
    if (PQresultStatus(result) != PGRES_TUPLES_OK) die(url, PQerrorMessage(s.conn));
    s.next = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    PQclear(result);
    PQclear(PQprepare(s.conn, "add", "INSERT INTO line VALUES ($1, $2, $3, $4)", 0, NULL));
    if (!PQenterPipelineMode(s.conn)) die(url, "pipeline mode");
    double rate = (batch ? run_batches : run)(producers, microseconds, pg_commit, &s);
    PQfinish(s.conn);
    return rate;
}
