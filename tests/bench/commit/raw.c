#include "raw.h"

#include "base/clock.h"
#include "base/id.h"
#include "db/dialect.h"
#include "memory.h"

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

_Noreturn static void die(const char *what, const char *why)
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

typedef void (*commit_fn)(void *target, unsigned rows);

/* The writer: take whatever has come, commit it, tell. Runs in the caller's thread. */
static void serve(queue *q, commit_fn commit, void *target)
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
        commit(target, rows);
        (void)pthread_mutex_lock(&q->mutex);
        for (unsigned i = 0; i < q->producers; i++) {
            if (!taken[i]) continue;
            q->done[i] = true;
            (void)pthread_cond_signal(&q->told[i]);
        }
    }
    (void)pthread_mutex_unlock(&q->mutex);
}

static double run_batches(unsigned rows, int64_t microseconds, commit_fn commit, void *target)
{
    int64_t start = loci_clock_steady(), now = start, n = 0;

    for (; now - start < microseconds; n += rows, now = loci_clock_steady()) commit(target, rows);
    return (double)n * LOCI_SECOND / (double)(now - start);
}

static double run(unsigned producers, int64_t microseconds, commit_fn commit, void *target)
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
    serve(&q, commit, target);
    for (unsigned i = 0; i < producers; i++) {
        (void)pthread_join(threads[i], NULL);
        rows += list[i].rows;
    }
    return (double)rows * LOCI_SECOND / (double)(loci_clock_steady() - start);
}

/* The same rows as loci_write makes of the same passage: the organization's row is locked first and
 * saved last, each write has its row in version and its passage with all its indexes. */
static const char lock_org[] = "UPDATE org SET ver = ver WHERE org = ?1 RETURNING ver, at, row";
static const char save_org[] =
    "UPDATE org SET ver = ?2, tag = ?3, at = ?4, row = ?5 WHERE org = ?1";
static const char add_version[] = "INSERT INTO version (org, ver, tag, at, row, who, door) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5, 'user-1', 'test')";

static const char *text_of_row(void)
{
    static char text[RAW_TEXT + 1];

    if (!text[0]) memset(text, 'm', RAW_TEXT);
    return text;
}

static void new_id(loci_id *id)
{
    loci_err err = { 0 };

    if (loci_id_make("passage", id, &err)) die("id", err.msg);
}

/* In the words of the engine. */
static void translate(loci_engine engine, const char *text, loci_buf *out)
{
    loci_err err = { 0 };

    loci_buf_clear(out);
    if (loci_dialect_translate(engine, loci_str_from(text), out, &err)) die(text, err.msg);
}

static const char *add_passage(void)
{
    return memory_room.statements[MEMORY_INSERT].text;
}

typedef struct sqlite_store {
    sqlite3 *db;
    sqlite3_stmt *lock, *save, *version, *passage;
    int64_t at[3]; /* version, time, row */
} sqlite_store;

static void sqlite_run(sqlite_store *s, sqlite3_stmt *q)
{
    if (sqlite3_step(q) != SQLITE_DONE) die("step", sqlite3_errmsg(s->db));
    (void)sqlite3_reset(q);
}

static void sqlite_numbers(const sqlite_store *s, sqlite3_stmt *q)
{
    const int64_t numbers[] = { 1, s->at[0], s->at[0] * 7919, s->at[1], s->at[2] };

    for (int i = 0; i < 5; i++) (void)sqlite3_bind_int64(q, i + 1, numbers[i]);
}

static void sqlite_add(sqlite_store *s)
{
    sqlite3_stmt *q = s->passage;
    loci_id id;

    new_id(&id);
    for (int i = 0; i < 3; i++) s->at[i]++;
    (void)sqlite3_bind_int64(q, 1, 1);
    (void)sqlite3_bind_int64(q, 2, s->at[2]);
    (void)sqlite3_bind_text(q, 3, id.text, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(q, 4, s->at[1]);
    (void)sqlite3_bind_int64(q, 5, s->at[0]);
    (void)sqlite3_bind_text(q, 6, "user-1", -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 7, "test", -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(q, 8, text_of_row(), RAW_TEXT, SQLITE_STATIC);
    (void)sqlite3_bind_blob(q, 9, id.text, (int)strlen(id.text), SQLITE_STATIC);
    sqlite_run(s, q);
    sqlite_numbers(s, s->version);
    sqlite_run(s, s->version);
}

static void sqlite_commit(void *arg, unsigned rows)
{
    sqlite_store *s = arg;

    if (sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL))
        die("begin", sqlite3_errmsg(s->db));
    (void)sqlite3_bind_int64(s->lock, 1, 1);
    if (sqlite3_step(s->lock) != SQLITE_ROW) die("lock", sqlite3_errmsg(s->db));
    for (int i = 0; i < 3; i++) s->at[i] = sqlite3_column_int64(s->lock, i);
    sqlite_run(s, s->lock);
    for (unsigned i = 0; i < rows; i++) sqlite_add(s);
    sqlite_numbers(s, s->save);
    sqlite_run(s, s->save);
    if (sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL)) die("commit", sqlite3_errmsg(s->db));
}

static sqlite3_stmt *sqlite_prepare(sqlite_store *s, const char *text)
{
    LOCI_AUTO(loci_buf_done) loci_buf sql = { 0 };
    sqlite3_stmt *q = NULL;

    loci_buf_init(&sql, LOCI_SQL_BYTES);
    translate(LOCI_SQLITE, text, &sql);
    if (sqlite3_prepare_v2(s->db, sql.ptr, -1, &q, NULL)) die(text, sqlite3_errmsg(s->db));
    return q;
}

double raw_sqlite_rate(const char *path, unsigned producers, bool batch, int64_t microseconds)
{
    sqlite_store s = { 0 };

    if (sqlite3_open(path, &s.db) ||
        sqlite3_exec(s.db, "PRAGMA synchronous=FULL; PRAGMA cache_size=-8000", NULL, NULL, NULL))
        die(path, sqlite3_errmsg(s.db));
    s.lock = sqlite_prepare(&s, lock_org);
    s.save = sqlite_prepare(&s, save_org);
    s.version = sqlite_prepare(&s, add_version);
    s.passage = sqlite_prepare(&s, add_passage());
    double rate = (batch ? run_batches : run)(producers, microseconds, sqlite_commit, &s);
    (void)sqlite3_finalize(s.lock);
    (void)sqlite3_finalize(s.save);
    (void)sqlite3_finalize(s.version);
    (void)sqlite3_finalize(s.passage);
    (void)sqlite3_close(s.db);
    return rate;
}

typedef struct pg_store {
    PGconn *conn;
    int64_t at[3];
} pg_store;

static void pg_send(pg_store *s, const char *sql)
{
    if (!PQsendQueryParams(s->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
        die(sql, PQerrorMessage(s->conn));
}

/* One of the statements whose parameters are five numbers. */
static void pg_numbers(pg_store *s, const char *name)
{
    const int64_t numbers[] = { 1, s->at[0], s->at[0] * 7919, s->at[1], s->at[2] };
    char text[5][24];
    const char *values[5];

    for (int i = 0; i < 5; i++) {
        (void)snprintf(text[i], sizeof text[i], "%lld", (long long)numbers[i]);
        values[i] = text[i];
    }
    if (!PQsendQueryPrepared(s->conn, name, 5, values, NULL, NULL, 0))
        die(name, PQerrorMessage(s->conn));
}

static void pg_add(pg_store *s)
{
    loci_id id;
    char row[24], born[24], ver[24];
    const char *values[] = {
        "1", row, id.text, born, ver, "user-1", "test", text_of_row(), id.text
    };
    int lengths[9] = { 0 }, formats[9] = { [8] = 1 };

    new_id(&id);
    for (int i = 0; i < 3; i++) s->at[i]++;
    (void)snprintf(row, sizeof row, "%lld", (long long)s->at[2]);
    (void)snprintf(born, sizeof born, "%lld", (long long)s->at[1]);
    (void)snprintf(ver, sizeof ver, "%lld", (long long)s->at[0]);
    lengths[8] = (int)strlen(id.text);
    if (!PQsendQueryPrepared(s->conn, "passage", 9, values, lengths, formats, 0))
        die("insert", PQerrorMessage(s->conn));
    pg_numbers(s, "version");
}

/* Send what is in the pipeline and take all answers; the numbers of a row go into s->at. */
static void pg_finish(pg_store *s)
{
    bool synced = false;

    if (!PQpipelineSync(s->conn)) die("sync", PQerrorMessage(s->conn));
    while (!synced) {
        PGresult *result = PQgetResult(s->conn);
        ExecStatusType status = PQresultStatus(result);
        synced = status == PGRES_PIPELINE_SYNC;
        for (int i = 0; status == PGRES_TUPLES_OK && i < 3; i++)
            s->at[i] = strtoll(PQgetvalue(result, 0, i), NULL, 10);
        if (result && !synced && status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            die("commit", PQerrorMessage(s->conn));
        PQclear(result);
    }
}

/* Two waits: the lock tells where the numbers go on, the rest is one pipeline. */
static void pg_commit(void *arg, unsigned rows)
{
    static const char *const org[] = { "1" };
    pg_store *s = arg;

    pg_send(s, "BEGIN");
    if (!PQsendQueryPrepared(s->conn, "lock", 1, org, NULL, NULL, 0))
        die("lock", PQerrorMessage(s->conn));
    pg_finish(s);
    for (unsigned i = 0; i < rows; i++) pg_add(s);
    pg_numbers(s, "save");
    pg_send(s, "COMMIT");
    pg_finish(s);
}

static void pg_prepare(pg_store *s, const char *name, const char *text)
{
    LOCI_AUTO(loci_buf_done) loci_buf sql = { 0 };

    loci_buf_init(&sql, LOCI_SQL_BYTES);
    translate(LOCI_POSTGRES, text, &sql);
    PGresult *result = PQprepare(s->conn, name, sql.ptr, 0, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) die(name, PQerrorMessage(s->conn));
    PQclear(result);
}

double raw_postgres_rate(const char *url, unsigned producers, bool batch, int64_t microseconds)
{
    pg_store s = { .conn = PQconnectdb(url) };

    pg_prepare(&s, "lock", lock_org);
    pg_prepare(&s, "save", save_org);
    pg_prepare(&s, "version", add_version);
    pg_prepare(&s, "passage", add_passage());
    if (!PQenterPipelineMode(s.conn)) die(url, "pipeline mode");
    double rate = (batch ? run_batches : run)(producers, microseconds, pg_commit, &s);
    PQfinish(s.conn);
    return rate;
}
