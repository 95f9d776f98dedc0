#include "base/alloc.h"
#include "base/buf.h"
#include "base/fs.h"
#include "db/backup.h"
#include "db/carry.h"
#include "db/import.h"
#include "db/place.h"
#include "db/sqlite_file.h"
#include "db/stmt.h"
#include "db/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 6 };

typedef struct work {
    const loci_restore_options *options;
    const char *source;
    loci_buf path, fresh, aside, link, side; /* of the store and what stands beside it */
    int step;
} work;

static loci_rc tell(work *w, loci_err *err)
{
    return loci_progress_tell(w->options->progress, w->options->arg, "restoring", w->step++, STEPS,
                              err);
}

static loci_rc sqlite_fail(sqlite3 *db, const char *path, loci_err *err)
{
    int code = sqlite3_errcode(db);
    loci_rc rc = code == SQLITE_BUSY || code == SQLITE_LOCKED      ? LOCI_EBUSY
                 : code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? LOCI_ECORRUPT
                 : code == SQLITE_FULL                             ? LOCI_EUNAVAILABLE
                 : code == SQLITE_NOMEM                            ? LOCI_ENOMEM
                                                                   : LOCI_EIO;

    return loci_fail(err, rc, "%s: %s", path, sqlite3_errmsg(db));
}

/* The one value of a query, as text into `out`; empty for no row. */
static loci_rc ask(sqlite3 *db, const char *path, const char *sql, loci_buf *out, loci_err *err)
{
    sqlite3_stmt *q = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &q, NULL);

    loci_buf_clear(out);
    if (rc == SQLITE_OK) rc = sqlite3_step(q);
    if (rc == SQLITE_ROW) loci_buf_add_cstr(out, (const char *)sqlite3_column_text(q, 0));
    loci_rc code = rc == SQLITE_ROW || rc == SQLITE_DONE ? LOCI_OK : sqlite_fail(db, path, err);
    (void)sqlite3_finalize(q);
    return code;
}

static loci_rc check_room(sqlite3 *db, const char *path, const loci_db_room *room, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf value = { 0 };
    char *sql = sqlite3_mprintf("SELECT ver FROM loci_schema WHERE room = %Q", room->name);
    int64_t ver = 0;

    if (!sql) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_buf_init(&value, 64);
    loci_rc rc = ask(db, path, sql, &value, err);
    sqlite3_free(sql);
    if (rc || value.len == 0) return rc;
    if (loci_str_to_i64(loci_buf_str(&value), &ver) && ver <= (int64_t)room->migration_count)
        return LOCI_OK;
    return loci_fail(err, LOCI_ECONFLICT,
                     "%s was written by a newer loci (tables of '%s': version %lld, known here: "
                     "%zu): use that loci, or a newer one",
                     path, room->name, (long long)ver, room->migration_count);
}

/* Is the backup ours, whole, and of a version that this program knows? */
static loci_rc check_source(work *w, sqlite3 *db, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf value = { 0 };
    char ours[16];

    loci_buf_init(&value, 4096);
    (void)snprintf(ours, sizeof ours, "%d", LOCI_SQLITE_APP_ID);
    loci_rc rc = ask(db, w->source, "PRAGMA application_id", &value, err);
    if (rc) return rc;
    if (!loci_str_eq(loci_buf_str(&value), loci_str_from(ours)))
        return loci_fail(err, LOCI_EINVAL, "%s is a database of another program", w->source);
    rc = ask(db, w->source, "PRAGMA integrity_check(1)", &value, err);
    if (rc) return rc;
    if (!loci_str_eq(loci_buf_str(&value), LOCI_STR("ok")))
        return loci_fail(err, LOCI_ECORRUPT, "%s is damaged: %s", w->source, value.ptr);
    for (size_t i = 0; !rc && w->options->store->rooms && w->options->store->rooms[i]; i++)
        rc = check_room(db, w->source, w->options->store->rooms[i], err);
    return rc;
}

/* A clean copy of the backup beside the store, made by SQLite so that a WAL of its own is in it. */
static loci_rc copy_source(work *w, sqlite3 *db, loci_err *err)
{
    int fd = open(w->fresh.ptr, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return loci_fail(err, LOCI_EIO, "cannot make %s: %s", w->fresh.ptr, strerror(errno));
    (void)close(fd);
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", w->fresh.ptr);
    if (!sql) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc =
        sqlite3_exec(db, sql, NULL, NULL, NULL) ? sqlite_fail(db, w->source, err) : LOCI_OK;
    sqlite3_free(sql);
    return rc;
}

static loci_rc take_source(work *w, loci_err *err)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(w->source, &db, SQLITE_OPEN_READWRITE, NULL);
    loci_rc code = LOCI_OK;

    (void)unlink(w->fresh.ptr);
    if (rc) code = sqlite_fail(db, w->source, err);
    if (!code &&
        sqlite3_exec(db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON", NULL, NULL, NULL))
        code = sqlite_fail(db, w->source, err);
    if (!code) code = check_source(w, db, err);
    if (!code) code = tell(w, err);
    if (!code) code = copy_source(w, db, err);
    (void)sqlite3_close(db);
    return code;
}

/* Hold the store alone, with its WAL copied back and gone, so that the file is all there is of it.
 * Leaving WAL mode works only when no other connection exists anywhere. */
static loci_rc seize(work *w, sqlite3 **ret_db, loci_err *err)
{
    sqlite3 *db = NULL;
    struct stat st;
    bool taken = sqlite3_open_v2(w->path.ptr, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                 sqlite3_exec(db,
                              "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE; BEGIN "
                              "EXCLUSIVE",
                              NULL, NULL, NULL) == SQLITE_OK;
    loci_rc rc = LOCI_OK;

    if (!taken) {
        rc = sqlite_fail(db, w->path.ptr, err);
        if (rc == LOCI_EBUSY)
            rc = loci_fail(err, LOCI_EBUSY,
                           "%s is in use: stop the server and whatever else has it open",
                           w->path.ptr);
    } else if (stat(w->side.ptr, &st) == 0 && st.st_size > 0) {
        rc = loci_fail(err, LOCI_EBUSY, "%s could not be copied back into the store", w->side.ptr);
    }
    if (rc) {
        (void)sqlite3_close(db);
        return rc;
    }
    *ret_db = db;
    return LOCI_OK;
}

/* The old store gets a second name; its first stays until the new one takes it. */
static loci_rc set_aside(work *w, loci_err *err)
{
    (void)unlink(w->link.ptr);
    if (link(w->path.ptr, w->link.ptr) != 0)
        return loci_fail(err, LOCI_EIO, "cannot keep %s as %s: %s", w->path.ptr, w->aside.ptr,
                         strerror(errno));
    if (rename(w->link.ptr, w->aside.ptr) != 0)
        return loci_fail(err, LOCI_EIO, "cannot rename %s: %s", w->link.ptr, strerror(errno));
    (void)unlink(w->link.ptr); /* left when both names were of one file already */
    return LOCI_OK;
}

static loci_rc replace_store(work *w, loci_err *err)
{
    sqlite3 *old = NULL;
    loci_rc rc = seize(w, &old, err);

    if (!rc) rc = tell(w, err);
    if (!rc) rc = set_aside(w, err);
    if (!rc) rc = tell(w, err);
    if (!rc) rc = loci_place_file(w->fresh.ptr, w->path.ptr, true, err);
    (void)sqlite3_close(old);
    return rc;
}

static loci_rc put_in_place(work *w, loci_err *err)
{
    struct stat st;
    bool there = stat(w->path.ptr, &st) == 0 && st.st_size > 0;

    if (there && !w->options->force)
        return loci_fail(err, LOCI_ECONFLICT,
                         "%s holds a store already: choose another path, or ask for it to be "
                         "replaced (it is kept as %s)",
                         w->path.ptr, w->aside.ptr);
    if (there) return replace_store(w, err);
    /* A WAL without its store would be taken for one of the new store. */
    if (stat(w->side.ptr, &st) == 0 && st.st_size > 0)
        return loci_fail(err, LOCI_ECONFLICT, "%s belongs to a store that is gone: move it away",
                         w->side.ptr);
    return loci_place_file(w->fresh.ptr, w->path.ptr, true, err);
}

static loci_rc make_names(work *w, loci_str path, loci_err *err)
{
    const struct {
        loci_buf *name;
        const char *suffix;
    } names[] = { { &w->path, "" },
                  { &w->fresh, ".restore" },
                  { &w->aside, ".before-restore" },
                  { &w->link, ".before-restore.tmp" },
                  { &w->side, "-wal" } };
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < LOCI_COUNT(names); i++) {
        loci_buf_init(names[i].name, LOCI_DB_PATH + 64);
        loci_buf_add(names[i].name, path);
        loci_buf_add_cstr(names[i].name, names[i].suffix);
        rc = loci_buf_check(names[i].name, err);
    }
    return rc;
}

static void work_done(work *w)
{
    loci_buf_done(&w->path);
    loci_buf_done(&w->fresh);
    loci_buf_done(&w->aside);
    loci_buf_done(&w->link);
    loci_buf_done(&w->side);
}

static bool is_postgres(const char *url)
{
    loci_str s = loci_str_from(url);

    return loci_str_starts(s, LOCI_STR("postgres://")) ||
           loci_str_starts(s, LOCI_STR("postgresql://"));
}

static loci_rc restore_file(const char *path, const char *url, const loci_restore_options *options,
                            loci_err *err)
{
    LOCI_AUTO(work_done) work w = { .options = options, .source = path };
    loci_str place = loci_str_from(url);

    if (is_postgres(url))
        return loci_fail(err, LOCI_EINVAL,
                         "%s is a backup of an SQLite store: restore it to a file, export that and "
                         "import it into the server",
                         path);
    if (loci_str_starts(place, LOCI_STR("sqlite:"))) place = loci_str_sub(place, 7, place.len);
    loci_rc rc = make_names(&w, place, err);
    if (!rc) rc = loci_sqlite_check_place(w.path.ptr, err);
    if (!rc) rc = tell(&w, err);
    if (!rc) rc = take_source(&w, err);
    if (!rc) rc = tell(&w, err);
    if (!rc) rc = put_in_place(&w, err);
    if (rc && w.fresh.ptr) (void)unlink(w.fresh.ptr);
    return rc ? rc : tell(&w, err);
}

/* Was nothing ever written to any organization? */
static loci_rc check_empty(loci_db *db, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &loci_import_room, LOCI_IMPORT_STMT_WRITTEN, &q, err);
    if (!rc) rc = loci_stmt_next(q, err);
    if (rc) return rc;
    if (loci_stmt_i64(q, 0) == 0) return LOCI_OK;
    return loci_fail(err, LOCI_ECONFLICT,
                     "%s is not empty: choose an empty store, or ask for the backup to be added to "
                     "what is there",
                     loci_db_name(db));
}

static loci_rc restore_export(const char *path, const char *url,
                              const loci_restore_options *options, loci_err *err)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = NULL;
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;
    loci_import_options import = { .keys = true,
                                   .door = LOCI_STR("restore"),
                                   .progress = options->progress,
                                   .arg = options->arg };
    loci_rc rc = loci_db_open(url, options->store, &db, err);

    if (!rc && !options->force) rc = check_empty(db, err);
    if (!rc) rc = loci_writer_new(db, &writer, err);
    return rc ? rc : loci_import(db, writer, path, &import, NULL, err);
}

loci_rc loci_restore(const char *path, const char *url, const loci_restore_options *options,
                     loci_err *err)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return loci_fail(err, errno == ENOENT ? LOCI_ENOTFOUND : LOCI_EIO, "cannot open %s: %s",
                         path, strerror(errno));
    ssize_t n = read(fd, head, sizeof head);
    (void)close(fd);
    if (n == (ssize_t)sizeof head && memcmp(head, magic, sizeof magic) == 0)
        return restore_file(path, url, options, err);
    return restore_export(path, url, options, err);
}
