#include "db/db.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "db/driver.h"
#include "db/migrate.h"

#include <unistd.h>

enum { CONNECTIONS = 8, DEADLINE = 10 * LOCI_SECOND, CHECKPOINT = 1000 };

/* "mysql" of "mysql://x"; empty for a path. */
static loci_str scheme_of(loci_str url)
{
    size_t at = loci_str_find(url, LOCI_STR("://"));
    loci_str scheme = loci_str_sub(url, 0, at == url.len ? 0 : at);

    for (size_t i = 0; i < scheme.len; i++)
        if (scheme.ptr[i] == '/') return (loci_str){ NULL, 0 };
    return scheme;
}

static char *heap_text(loci_str s)
{
    loci_buf b;

    loci_buf_init(&b, LOCI_DB_PATH);
    loci_buf_add(&b, s);
    return loci_buf_take(&b);
}

/* Which driver, and what it is to open. */
static loci_rc choose(loci_db *db, const char *url, loci_err *err)
{
    loci_str all = loci_str_from(url);
    loci_str scheme = scheme_of(all);

    if (all.len == 0)
        return loci_fail(err, LOCI_EINVAL, "the store's path is empty: give a path or a URL");
    if (all.len > LOCI_DB_PATH)
        return loci_fail(err, LOCI_ELIMIT, "the store's path or URL is longer than %d bytes",
                         LOCI_DB_PATH);
    if (loci_str_eq(scheme, LOCI_STR("postgres")) || loci_str_eq(scheme, LOCI_STR("postgresql"))) {
        db->driver = &loci_pg_driver;
    } else if (scheme.len) {
        return loci_fail(err, LOCI_EINVAL,
                         "cannot open a store of kind '%.*s': give a path, sqlite:PATH or "
                         "postgres://...",
                         LOCI_ARG(scheme));
    } else {
        db->driver = &loci_sqlite_driver;
        if (loci_str_starts(all, LOCI_STR("sqlite:"))) all = loci_str_sub(all, 7, all.len);
        if (all.len == 0)
            return loci_fail(err, LOCI_EINVAL, "sqlite: needs a path, as in sqlite:memory.db");
    }
    db->url = heap_text(all);
    return db->url ? LOCI_OK : loci_fail(err, LOCI_ENOMEM, "out of memory");
}

static loci_rc add_room(loci_db *db, const loci_db_room *room, loci_err *err)
{
    if (db->room_count == LOCI_DB_EVERY_ROOM)
        return loci_fail(err, LOCI_ELIMIT, "more than %d rooms in one store", LOCI_DB_ROOMS);
    db->first_stmt[db->room_count] = db->stmt_count;
    db->rooms[db->room_count++] = room;
    db->stmt_count += room->statement_count;
    return LOCI_OK;
}

static loci_rc take_options(loci_db *db, const loci_db_options *options, loci_err *err)
{
    if (options) db->options = *options;
    if (!db->options.connections) db->options.connections = CONNECTIONS;
    if (!db->options.deadline) db->options.deadline = DEADLINE;
    if (!db->options.checkpoint) db->options.checkpoint = CHECKPOINT;
    if (db->options.connections > LOCI_DB_CONNECTIONS)
        return loci_fail(err, LOCI_ELIMIT, "at most %d connections to a store, not %u",
                         LOCI_DB_CONNECTIONS, db->options.connections);
    if (db->options.deadline < 0)
        return loci_fail(err, LOCI_EINVAL, "the store's deadline must not be negative");

    loci_rc rc = add_room(db, &loci_migrate_room, err);
    for (size_t i = 0; !rc && db->options.rooms && db->options.rooms[i]; i++)
        rc = add_room(db, db->options.rooms[i], err);
    return rc;
}

static loci_rc make_threads(loci_db *db, loci_err *err)
{
    pthread_condattr_t attr;
    bool failed = pthread_mutex_init(&db->mutex, NULL) != 0;

    if (failed) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    failed = pthread_cond_init(&db->freed, &attr) != 0;
    (void)pthread_condattr_destroy(&attr);
    if (failed) {
        (void)pthread_mutex_destroy(&db->mutex);
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    db->threads_ready = true;
    return LOCI_OK;
}

static loci_rc make_connections(loci_db *db, loci_err *err)
{
    bool sqlite = db->driver->engine == LOCI_SQLITE;
    size_t count = db->options.connections + (sqlite ? 1 : 0);

    for (size_t i = 0; i < count; i++) {
        loci_tx *tx = loci_zalloc(sizeof *tx);
        if (!tx) return loci_fail(err, LOCI_ENOMEM, "out of memory");
        tx->db = db;
        tx->writer = sqlite && i == 0;
        db->connections[db->connection_count++] = tx;
        tx->stmts = loci_zalloc(db->stmt_count * sizeof(loci_stmt *));
        if (!tx->stmts) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    return LOCI_OK;
}

loci_rc loci_db_open(const char *url, const loci_db_options *options, loci_db **ret_db,
                     loci_err *err)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = loci_zalloc(sizeof *db);
    if (!db) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    db->pid = getpid();
    loci_rc rc = choose(db, url, err);
    if (!rc) rc = take_options(db, options, err);
    if (!rc) rc = make_threads(db, err);
    if (!rc) rc = make_connections(db, err);
    if (!rc) rc = db->driver->open(db, err);
    if (!rc) rc = loci_migrate(db, err);
    if (rc) return rc;

    *ret_db = LOCI_TAKE(db);
    return LOCI_OK;
}

static void free_connection(loci_tx *tx)
{
    if (tx->link) tx->db->driver->disconnect(tx);
    loci_free(tx->stmts);
    loci_free(tx);
}

void loci_db_close(loci_db *db)
{
    if (!db || db->pid != getpid()) return;
    /* Readers first: the last one to close cleans up behind SQLite, and that should be the writer.
     */
    while (db->connection_count) free_connection(db->connections[--db->connection_count]);
    if (db->driver) db->driver->close(db);
    if (db->threads_ready) {
        (void)pthread_cond_destroy(&db->freed);
        (void)pthread_mutex_destroy(&db->mutex);
    }
    loci_free(db->url);
    loci_free(db->name);
    loci_free(db);
}

loci_engine loci_db_engine(const loci_db *db)
{
    return db->driver->engine;
}

const char *loci_db_name(const loci_db *db)
{
    return db->name;
}

loci_rc loci_db_checkpoint(loci_db *db, bool quiet, loci_err *err)
{
    loci_rc rc = loci_driver_owned(db, err);
    return rc ? rc : db->driver->checkpoint(db, quiet, err);
}

loci_rc loci_driver_owned(const loci_db *db, loci_err *err)
{
    if (db->pid == getpid()) return LOCI_OK;
    return loci_fail(err, LOCI_EINVAL,
                     "the store was opened by process %ld and cannot be used by its child %ld: "
                     "open it again in the child",
                     (long)db->pid, (long)getpid());
}
