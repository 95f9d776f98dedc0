#include "db/migrate.h"

#include "base/clock.h"
#include "db/copy.h"
#include "db/dialect.h"
#include "db/driver.h"
#include "db/stmt.h"

enum { TRIES = 20, PAUSE = 20 * LOCI_MS };

enum { STMT_VERSIONS, STMT_LOCK, STMT_BUMP, STMT_SET };

static const loci_sql statements[] = {
    [STMT_VERSIONS] = { "", "SELECT room, ver FROM loci_schema", false },
    [STMT_LOCK] = { "", "UPDATE loci_schema SET ver = ver WHERE room = '' RETURNING ver", false },
    [STMT_BUMP] = { "", "UPDATE loci_schema SET ver = ver + 1 WHERE room = ''", false },
    [STMT_SET] = { "ti",
                   "INSERT INTO loci_schema (room, ver) VALUES (?1, ?2) "
                   "ON CONFLICT (room) DO UPDATE SET ver = excluded.ver",
                   false },
};

const loci_db_room loci_migrate_room = { .name = "schema",
                                         .statements = statements,
                                         .statement_count = LOCI_COUNT(statements) };

static const char bootstrap[] =
    "CREATE TABLE IF NOT EXISTS loci_schema (room {text} PRIMARY KEY, ver {int} NOT NULL) {strict};"
    "INSERT INTO loci_schema (room, ver) VALUES ('', 0) ON CONFLICT (room) DO NOTHING";

/* What the store has, by the place of the room in db->rooms. */
typedef struct versions {
    int64_t of[LOCI_DB_EVERY_ROOM];
    int64_t epoch;
} versions;

static loci_rc read_versions(loci_tx *tx, versions *ret, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_db *db = loci_tx_db(tx);
    versions v = { .epoch = 0 };
    loci_rc rc = loci_stmt_begin(tx, &loci_migrate_room, STMT_VERSIONS, &q, err);

    if (rc) return rc;
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        loci_str room = loci_stmt_text(q, 0);
        if (room.len == 0) v.epoch = loci_stmt_i64(q, 1);
        for (size_t i = 0; i < db->room_count; i++)
            if (loci_str_eq(room, loci_str_from(db->rooms[i]->name))) v.of[i] = loci_stmt_i64(q, 1);
    }
    if (rc != LOCI_DONE) return rc;
    *ret = v;
    return LOCI_OK;
}

/* A store that a newer program has changed may mean other things by the same names. */
static loci_rc refuse_newer(const loci_db *db, const versions *v, loci_err *err)
{
    for (size_t i = 0; i < db->room_count; i++) {
        const loci_db_room *room = db->rooms[i];
        if (v->of[i] <= (int64_t)room->migration_count) continue;
        return loci_fail(
            err, LOCI_ECONFLICT,
            "%s was written by a newer loci (tables of '%s': version %lld, known here: "
            "%zu): use that loci, or a newer one",
            db->name, room->name, (long long)v->of[i], room->migration_count);
    }
    return LOCI_OK;
}

static bool is_current(const loci_db *db, const versions *v)
{
    for (size_t i = 0; i < db->room_count; i++)
        if (v->of[i] != (int64_t)db->rooms[i]->migration_count) return false;
    return true;
}

/* Run each statement of a text that has no parameters. */
static loci_rc run_script(loci_tx *tx, const char *script, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };
    loci_str rest = loci_str_from(script), one;
    loci_rc rc = LOCI_OK;

    loci_buf_init(&text, LOCI_SQL_BYTES);
    while (!rc && loci_dialect_cut(&rest, &one)) {
        loci_buf_clear(&text);
        loci_driver_long_call(tx);
        rc = loci_dialect_translate(tx->db->driver->engine, one, &text, err);
        if (!rc) rc = tx->db->driver->command(tx, text.ptr, err);
        if (!rc) rc = tx->db->driver->settle(tx, err);
    }
    return rc;
}

static loci_rc run_simple(loci_tx *tx, size_t number, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_migrate_room, number, &q, err);

    return rc ? rc : loci_stmt_run(q, err);
}

static loci_rc set_version(loci_tx *tx, const loci_db_room *room, int64_t ver, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_migrate_room, STMT_SET, &q, err);

    if (rc) return rc;
    loci_stmt_bind_text(q, 1, loci_str_from(room->name));
    loci_stmt_bind_i64(q, 2, ver);
    return loci_stmt_run(q, err);
}

static loci_rc upgrade_room(loci_tx *tx, const loci_db_room *room, int64_t from, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    if (from == (int64_t)room->migration_count) return LOCI_OK;
    for (size_t i = (size_t)from; !rc && i < room->migration_count; i++) {
        rc = run_script(tx, room->migrations[i], err);
        if (rc) loci_err_prefix(err, "migration %zu of '%s'", i + 1, room->name);
    }
    return rc ? rc : set_version(tx, room, (int64_t)room->migration_count, err);
}

/* Before tables that hold something are changed, a copy of an SQLite store is left beside it, as
 * NAME.bak-vN, where N counts the changes so far. It is made under the write lock that the upgrade
 * holds, so nothing is missing in it. Twice the size of the store must be free, for the copy and
 * for what the upgrade writes. A PostgreSQL server has its own backups. */
static loci_rc keep_backup(loci_db *db, const versions *v, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf path = { 0 };
    bool holds_something = false;

    for (size_t i = 0; i < db->room_count; i++)
        holds_something |= v->of[i] > 0 && v->of[i] < (int64_t)db->rooms[i]->migration_count;
    if (!holds_something || !db->driver->copy) return LOCI_OK;
    loci_buf_init(&path, LOCI_DB_PATH + 32);
    loci_buf_printf(&path, "%s.bak-v%lld", db->url, (long long)v->epoch);
    loci_rc rc = loci_buf_check(&path, err);
    return rc ? rc : loci_copy_store(db, path.ptr, 2, err);
}

/* Everything under the lock of row '', so that two processes upgrade one after the other and the
 * second finds nothing to do. */
static loci_rc upgrade(loci_tx *tx, loci_err *err)
{
    loci_db *db = loci_tx_db(tx);
    versions v = { 0 };
    loci_rc rc = run_simple(tx, STMT_LOCK, err);

    if (!rc) rc = read_versions(tx, &v, err);
    if (!rc) rc = refuse_newer(db, &v, err);
    if (rc || is_current(db, &v)) return rc;
    rc = keep_backup(db, &v, err);
    for (size_t i = 0; !rc && i < db->room_count; i++)
        rc = upgrade_room(tx, db->rooms[i], v.of[i], err);
    return rc ? rc : run_simple(tx, STMT_BUMP, err);
}

/* Once: true when it need not be tried again. */
static loci_rc try_upgrade(loci_db *db, bool *ret_again, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_WRITE, &tx, err);

    if (rc) return rc;
    rc = run_script(tx, bootstrap, err);
    /* Two that make the table at once: PostgreSQL lets one fail on its own catalogue. */
    if (rc == LOCI_ECONFLICT) *ret_again = true;
    if (rc) return rc;
    rc = upgrade(tx, err);
    if (!rc) rc = loci_tx_commit(tx, err);
    if (rc) *ret_again = loci_tx_failure(tx) != LOCI_TX_FINAL;
    return rc;
}

/* Is there nothing to do? Any failure to read means that the table is not there yet, or shows again
 * when it is made. */
static bool looks_current(loci_db *db, versions *ret)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;

    return loci_tx_begin(db, LOCI_TX_READ, &tx, NULL) == LOCI_OK &&
           read_versions(tx, ret, NULL) == LOCI_OK && is_current(db, ret);
}

loci_rc loci_migrate(loci_db *db, loci_err *err)
{
    loci_rc rc = LOCI_OK;
    bool again = true;
    versions v = { 0 };

    for (int i = 0; i < TRIES && again; i++) {
        if (i) loci_clock_sleep(PAUSE);
        if (looks_current(db, &v)) {
            db->epoch = v.epoch;
            return LOCI_OK;
        }
        again = false;
        rc = try_upgrade(db, &again, err);
        if (!rc) again = true; /* read back what is there now */
    }
    return rc;
}

loci_rc loci_migrate_check(loci_tx *tx, int64_t epoch, loci_err *err)
{
    loci_db *db = loci_tx_db(tx);
    versions v = { 0 };

    if (epoch == db->epoch) return LOCI_OK;
    loci_rc rc = read_versions(tx, &v, err);
    if (!rc) rc = refuse_newer(db, &v, err);
    if (!rc) db->epoch = v.epoch;
    return rc;
}
