#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "db/dialect.h"
#include "db/driver.h"
#include "db/sqlite_file.h"
#include "db/turnstile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

/* What every connection is told, and why.
 *
 * journal_mode=WAL       readers and the writer do not wait for each other; a commit is one append.
 *                        It is a property of the file; asking again changes nothing.
 * synchronous            FULL: the WAL is synced at each commit, so an acknowledged write survives
 *                        power loss. NORMAL syncs only before a checkpoint: it survives kill -9.
 * foreign_keys=ON        off by default in SQLite; a tag must not outlive its passage.
 * trusted_schema=OFF     a hostile file cannot run functions from its views and triggers.
 * cell_size_check=ON     damage is found when a page is read, not when it is used.
 * secure_delete=ON       purge erases: freed bytes are overwritten with zeros.
 * temp_store=MEMORY      sorting leaves no copies of memory text in a temporary folder.
 * cache_size=-8000       8 MB per connection instead of 2.
 * journal_size_limit     a WAL that a long reader let grow shrinks to 64 MB when it is reused.
 * wal_autocheckpoint=0   writers copy the WAL back themselves, after the commit was acknowledged
 *                        and without waiting for anyone (PASSIVE); see idle.
 * query_only=ON          on readers: what only reads cannot write by mistake.
 * mmap_size=0            an I/O error is an error code, not a SIGBUS.
 * busy_timeout           replaced by a handler that knows the deadline of the call. */
static const char setup[] = "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF;"
                            "PRAGMA cell_size_check=ON; PRAGMA secure_delete=ON;"
                            "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8000;"
                            "PRAGMA journal_size_limit=67108864; PRAGMA wal_autocheckpoint=0;"
                            "PRAGMA mmap_size=0;";

enum {
    STEPS_PER_LOOK = 4000, /* virtual machine steps between two looks at the clock */
    TEXT_LIMIT = 256 << 20 /* longest text or blob */
};

/* Of the store. */
typedef struct place {
    int turnstile; /* descriptor, or -1 */
} place;

/* Of a connection. */
typedef struct sqlite_link {
    sqlite3 *db;
    int wal_pages; /* in the WAL after the last commit of this connection */
    unsigned seed;
    int64_t busy_since;
} sqlite_link;

static sqlite_link *file_of(const loci_tx *tx)
{
    return tx->link;
}

/* What SQLite's result code means to a caller. */
static loci_rc code_of(int extended)
{
    switch (extended & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return LOCI_EBUSY;
    case SQLITE_NOMEM: return LOCI_ENOMEM;
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_INTERRUPT: return LOCI_EUNAVAILABLE;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return LOCI_ECORRUPT;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH: return LOCI_EDENIED;
    case SQLITE_CONSTRAINT: return LOCI_ECONFLICT;
    case SQLITE_TOOBIG: return LOCI_ELIMIT;
    default: return LOCI_EIO;
    }
}

static const char *advice(int extended)
{
    switch (extended & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "others are writing: try again";
    case SQLITE_FULL: return "the disk is full: free some space";
    case SQLITE_CANTOPEN:
        return "the file or one beside it cannot be opened: check that the folder may be written";
    case SQLITE_INTERRUPT: return "it took longer than its deadline";
    case SQLITE_READONLY:
        return "it may not be read and written: check the rights of the file and its folder";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return "it is damaged: restore it from a backup";
    default: return NULL;
    }
}

/* SQLite has one code for all reasons why a file does not open; the system knows which it was. */
static bool is_denied(sqlite3 *db, int extended)
{
    int reason = sqlite3_system_errno(db);

    return (extended & 0xFF) == SQLITE_CANTOPEN &&
           (reason == EACCES || reason == EPERM || reason == EROFS);
}

static loci_rc fail(loci_tx *tx, loci_err *err)
{
    sqlite3 *db = file_of(tx)->db;
    int extended = sqlite3_extended_errcode(db);
    if (is_denied(db, extended)) extended = SQLITE_READONLY;
    loci_rc code = code_of(extended);
    const char *hint = advice(extended);

    loci_err_set(err, code, "%s: %s", tx->db->name, hint ? hint : sqlite3_errmsg(db));
    return loci_driver_fail(tx, code == LOCI_EBUSY ? LOCI_TX_RETRY : LOCI_TX_FINAL, code);
}

static loci_rc run(loci_tx *tx, const char *text, loci_err *err)
{
    return sqlite3_exec(file_of(tx)->db, text, NULL, NULL, NULL) ? fail(tx, err) : LOCI_OK;
}

/* Called when a lock is taken: wait a little, until the deadline of the call. */
static int on_busy(void *arg, int count)
{
    loci_tx *tx = arg;
    sqlite_link *l = file_of(tx);
    int64_t now = loci_clock_steady();

    if (count == 0) l->busy_since = now;
    if (now >= tx->call_end) return 0;
    loci_clock_sleep(loci_turnstile_pause(now - l->busy_since, &l->seed) / 4);
    return 1;
}

static int on_progress(void *arg)
{
    const loci_tx *tx = arg;

    return loci_clock_steady() >= tx->call_end;
}

static int on_wal(void *arg, sqlite3 *db, const char *name, int pages)
{
    sqlite_link *l = arg;

    (void)db;
    (void)name;
    l->wal_pages = pages;
    return SQLITE_OK;
}

static loci_rc open_place(loci_db *db, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf side = { 0 };
    place *p = loci_zalloc(sizeof *p);
    if (!p) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    p->turnstile = -1;
    db->place = p;
    loci_buf_init(&side, LOCI_DB_PATH + 8);
    loci_buf_add_cstr(&side, db->url);
    db->name = loci_buf_take(&side);
    if (!db->name) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    return loci_sqlite_check_place(db->url, err);
}

static void close_place(loci_db *db)
{
    place *p = db->place;

    if (p && p->turnstile >= 0) (void)close(p->turnstile);
    loci_free(p);
}

/* The side file is made only once the store itself was found to be ours. */
static loci_rc need_turnstile(loci_db *db, loci_err *err)
{
    place *p = db->place;
    LOCI_AUTO(loci_buf_done) loci_buf side = { 0 };

    if (p->turnstile >= 0) return LOCI_OK;
    loci_buf_init(&side, LOCI_DB_PATH + 8);
    loci_buf_printf(&side, "%s-turn", db->url);
    loci_rc rc = loci_buf_check(&side, err);
    return rc ? rc : loci_turnstile_open(side.ptr, &p->turnstile, err);
}

static loci_rc ask_number(loci_tx *tx, const char *text, int64_t *ret_number, loci_err *err)
{
    sqlite3_stmt *q = NULL;
    loci_rc rc = LOCI_OK;

    if (sqlite3_prepare_v2(file_of(tx)->db, text, -1, &q, NULL)) return fail(tx, err);
    if (sqlite3_step(q) == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(q, 0);
    else
        rc = fail(tx, err);
    (void)sqlite3_finalize(q);
    return rc;
}

/* Changing the journal mode does not call the busy handler, so the waiting is done here. */
static loci_rc run_patiently(loci_tx *tx, const char *text, loci_err *err)
{
    loci_rc rc;

    while ((rc = run(tx, text, err)) == LOCI_EBUSY && loci_driver_left(tx) > 0)
        loci_clock_sleep(loci_turnstile_pause(0, &file_of(tx)->seed));
    return rc;
}

/* Mark an empty file as ours. Two processes that do this at once do the same thing twice. The mark
 * comes before WAL mode, so that it stands in the file itself from the start. SQLite is asked for
 * it, not the bytes of the file: when the maker of the store was stopped at the end of this, they
 * hold a mark that the journal takes away again. Only a file without any table is taken over. */
static loci_rc make_ours(loci_tx *tx, loci_err *err)
{
    char text[64];
    int64_t mark = 0, tables = 0;
    loci_rc rc = ask_number(tx, "PRAGMA application_id", &mark, err);

    if (rc || mark == LOCI_SQLITE_APP_ID) return rc;
    rc = ask_number(tx, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (rc) return rc;
    if (tables > 0)
        return loci_fail(err, LOCI_EINVAL,
                         "%s is a database of another program: choose another path", tx->db->name);
    (void)snprintf(text, sizeof text, "PRAGMA application_id=%d", LOCI_SQLITE_APP_ID);
    return run_patiently(tx, text, err);
}

static loci_rc configure(loci_tx *tx, loci_err *err)
{
    sqlite_link *l = file_of(tx);
    bool full = tx->db->options.durability == LOCI_DURABLE_FULL;

    (void)sqlite3_extended_result_codes(l->db, 1);
    (void)sqlite3_busy_handler(l->db, on_busy, tx);
    sqlite3_progress_handler(l->db, STEPS_PER_LOOK, on_progress, tx);
    (void)sqlite3_wal_hook(l->db, on_wal, l);
    (void)sqlite3_limit(l->db, SQLITE_LIMIT_LENGTH, TEXT_LIMIT);
    (void)sqlite3_limit(l->db, SQLITE_LIMIT_ATTACHED, 1); /* for VACUUM INTO */
    loci_rc rc = run(tx, setup, err);
    /* After wal_autocheckpoint=0, which takes the hook away. */
    (void)sqlite3_wal_hook(l->db, on_wal, l);
    if (!rc) rc = run(tx, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", err);
    return rc;
}

/* A new file is made by us with its mode; SQLite gives its companions the same. Failure shows when
 * SQLite opens it. Only a file that nobody had open is opened and closed here. */
static void make_private(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0) (void)close(fd);
}

static loci_rc open_file(loci_tx *tx, loci_err *err)
{
    const char *path = tx->db->url;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

    make_private(path);
    int rc = sqlite3_open_v2(path, &file_of(tx)->db, flags, NULL);
    if (!file_of(tx)->db) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (rc) return fail(tx, err);
    if (sqlite3_db_readonly(file_of(tx)->db, "main") == 1)
        return loci_fail(err, LOCI_EDENIED, "%s may only be read: make it writable", path);
    return loci_sqlite_check_header(file_of(tx)->db, path, err);
}

static void disconnect(loci_tx *tx)
{
    sqlite_link *l = tx->link;

    for (size_t i = 0; i < tx->db->stmt_count; i++) {
        if (!tx->stmts[i]) continue;
        tx->db->driver->finalize(tx->stmts[i]);
        tx->stmts[i] = NULL;
    }
    (void)sqlite3_close(l->db);
    loci_free(l);
    tx->link = NULL;
}

static loci_rc connect_file(loci_tx *tx, loci_err *err)
{
    tx->link = loci_zalloc(sizeof(sqlite_link));
    if (!tx->link) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    file_of(tx)->seed = (unsigned)loci_clock_steady() ^ (unsigned)getpid();
    loci_rc rc = open_file(tx, err);
    if (!rc) rc = need_turnstile(tx->db, err);
    if (!rc) rc = configure(tx, err);
    if (!rc) rc = make_ours(tx, err);
    if (!rc) rc = run_patiently(tx, "PRAGMA journal_mode=WAL", err);
    if (!rc && !tx->writer) rc = run(tx, "PRAGMA query_only=ON", err);
    if (rc) disconnect(tx);
    return rc;
}

static bool usable(loci_tx *tx)
{
    (void)tx;
    return true;
}

/* The writer queues at the turnstile, then for SQLite's own lock, and lets the next one come up. */
static loci_rc begin(loci_tx *tx, loci_err *err)
{
    place *p = tx->db->place;

    if (tx->mode == LOCI_TX_READ) return run(tx, "BEGIN", err);
    bool entered = loci_turnstile_enter(p->turnstile, loci_driver_left(tx) / 2);
    loci_rc rc = run(tx, "BEGIN IMMEDIATE", err);
    if (entered) loci_turnstile_leave(p->turnstile);
    return rc;
}

static loci_rc commit(loci_tx *tx, loci_err *err)
{
    return run(tx, "COMMIT", err);
}

static void rollback(loci_tx *tx)
{
    if (sqlite3_get_autocommit(file_of(tx)->db)) return;
    if (run(tx, "ROLLBACK", NULL)) tx->broken = true;
}

static loci_rc checkpoint_link(loci_tx *tx, bool quiet, loci_err *err)
{
    sqlite_link *l = file_of(tx);
    int rc = sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

    if (rc == SQLITE_OK && quiet) {
        /* The deadline is over already: TRUNCATE gives up at once when a reader is there. */
        tx->call_end = 0;
        rc = sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    }
    if (rc == SQLITE_OK || rc == SQLITE_BUSY || rc == SQLITE_LOCKED) {
        l->wal_pages = 0;
        return LOCI_OK;
    }
    return fail(tx, err);
}

/* After the commit was told to whoever waited for it. */
static void idle(loci_tx *tx)
{
    const loci_db_options *o = &tx->db->options;

    if (o->external_checkpoint || file_of(tx)->wal_pages < (int)o->checkpoint) return;
    (void)checkpoint_link(tx, false, NULL);
}

static loci_rc checkpoint(loci_db *db, bool quiet, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;

    if (db->options.external_checkpoint) return LOCI_OK;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (rc) return rc;
    rollback(tx);
    return checkpoint_link(tx, quiet, err);
}

/* VACUUM INTO reads one snapshot, so writers go on meanwhile. It wants no transaction around it. */
static loci_rc copy(loci_db *db, const char *path, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (rc) return rc;

    rollback(tx);
    loci_driver_long_call(tx);
    char *text = sqlite3_mprintf("VACUUM INTO %Q", path);
    if (!text) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    rc = run(tx, "PRAGMA query_only=OFF", err);
    if (!rc) rc = run(tx, text, err);
    if (run(tx, "PRAGMA query_only=ON", NULL)) tx->broken = true;
    sqlite3_free(text);
    return rc;
}

static loci_rc command(loci_tx *tx, const char *text, loci_err *err)
{
    return run(tx, text, err);
}

static loci_rc settle(loci_tx *tx, loci_err *err)
{
    (void)tx;
    (void)err;
    return LOCI_OK;
}

static loci_rc prepare(loci_stmt *stmt, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };
    sqlite3_stmt *prepared = NULL;

    loci_buf_init(&text, LOCI_SQL_BYTES);
    loci_rc rc = loci_dialect_translate(LOCI_SQLITE, loci_str_from(stmt->sql->text), &text, err);
    if (rc) return rc;
    if (sqlite3_prepare_v3(file_of(stmt->tx)->db, text.ptr, (int)text.len,
                           SQLITE_PREPARE_PERSISTENT, &prepared, NULL))
        return fail(stmt->tx, err);
    assert(sqlite3_bind_parameter_count(prepared) == (int)stmt->parameter_count);
    stmt->prepared = prepared;
    return LOCI_OK;
}

static void finalize(loci_stmt *stmt)
{
    (void)sqlite3_finalize(stmt->prepared);
    loci_buf_done(&stmt->lists);
    loci_free(stmt);
}

static int bind_one(sqlite3_stmt *q, int at, const loci_parameter *p)
{
    switch (p->type) {
    case 'i': return sqlite3_bind_int64(q, at, p->number);
    case 'b': return sqlite3_bind_blob64(q, at, p->bytes.ptr, p->bytes.len, SQLITE_STATIC);
    case 't':
    case 'I':
    case 'T':
        return sqlite3_bind_text64(q, at, p->bytes.ptr, p->bytes.len, SQLITE_STATIC, SQLITE_UTF8);
    default: return sqlite3_bind_null(q, at);
    }
}

static loci_rc bind(loci_stmt *stmt, loci_err *err)
{
    for (unsigned i = 0; i < stmt->parameter_count; i++)
        if (bind_one(stmt->prepared, (int)i + 1, &stmt->parameters[i])) return fail(stmt->tx, err);
    return LOCI_OK;
}

static loci_rc step(loci_stmt *stmt, loci_err *err)
{
    int rc = sqlite3_step(stmt->prepared);

    if (rc == SQLITE_ROW) return LOCI_OK;
    if (rc != SQLITE_DONE) return fail(stmt->tx, err);
    stmt->changes = sqlite3_changes64(file_of(stmt->tx)->db);
    return LOCI_DONE;
}

static loci_rc post(loci_stmt *stmt, loci_err *err)
{
    loci_rc rc;

    while ((rc = step(stmt, err)) == LOCI_OK) continue;
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static void reset(loci_stmt *stmt)
{
    (void)sqlite3_reset(stmt->prepared);
    (void)sqlite3_clear_bindings(stmt->prepared);
}

static bool is_null(loci_stmt *stmt, unsigned column)
{
    assert((int)column < sqlite3_column_count(stmt->prepared));
    return sqlite3_column_type(stmt->prepared, (int)column) == SQLITE_NULL;
}

static int64_t column_i64(loci_stmt *stmt, unsigned column)
{
    assert(sqlite3_column_type(stmt->prepared, (int)column) == SQLITE_INTEGER);
    return sqlite3_column_int64(stmt->prepared, (int)column);
}

static loci_str column_bytes(loci_stmt *stmt, unsigned column, bool text)
{
    sqlite3_stmt *q = stmt->prepared;
    const void *ptr = text ? (const void *)sqlite3_column_text(q, (int)column)
                           : sqlite3_column_blob(q, (int)column);
    int len = sqlite3_column_bytes(q, (int)column);

    return (loci_str){ ptr ? ptr : "", (size_t)len };
}

const loci_driver loci_sqlite_driver = {
    .engine = LOCI_SQLITE,
    .open = open_place,
    .close = close_place,
    .connect = connect_file,
    .disconnect = disconnect,
    .usable = usable,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .idle = idle,
    .command = command,
    .settle = settle,
    .prepare = prepare,
    .finalize = finalize,
    .bind = bind,
    .step = step,
    .post = post,
    .reset = reset,
    .is_null = is_null,
    .i64 = column_i64,
    .bytes = column_bytes,
    .checkpoint = checkpoint,
    .copy = copy,
};
