/* db/db.h -- the store: one interface over SQLite and PostgreSQL.
 *
 * Here:     opening a store, leasing connections, transactions, what a room brings along.
 * Not here: statements (db/stmt.h), the one way to write (db/write.h), what the tables mean.
 * Owns:     its connections and their prepared statements; rooms and their texts are borrowed.
 * Threads:  a loci_db is safe from any thread. A loci_tx belongs to the thread that began it.
 * Errors:   LOCI_EUNAVAILABLE when the file or server is away or time ran out, LOCI_EBUSY when
 * every connection or the write lock stayed taken, LOCI_EINVAL in a forked child, LOCI_ECORRUPT for
 * damage. loci_tx_class says what a failed transaction means for a retry.
 */
#ifndef LOCI_DB_DB_H
#define LOCI_DB_DB_H

#include "base/err.h"
#include "base/str.h"

typedef struct loci_db loci_db;
typedef struct loci_tx loci_tx;

enum {
    LOCI_DB_PATH = 3072,       /* longest path or URL */
    LOCI_DB_CONNECTIONS = 64,  /* most connections of one store */
    LOCI_DB_ROOMS = 32,        /* most rooms of one store */
    LOCI_DB_PARAMETERS = 32,   /* most parameters of one statement */
    LOCI_DB_SAVEPOINTS = 16,   /* deepest nesting of savepoints */
    LOCI_DB_LIST_ITEMS = 10000 /* most values in one bound list */
};

/* `ended` of a row that is alive. SQL texts write it as {never}. */
#define LOCI_NEVER INT64_MAX

typedef enum loci_engine { LOCI_SQLITE, LOCI_POSTGRES } loci_engine;

typedef enum loci_durability {
    LOCI_DURABLE_FULL,  /* a commit survives kill -9 and power loss */
    LOCI_DURABLE_NORMAL /* it survives kill -9; power loss may undo the newest commits, never half
                         */
} loci_durability;

/* One statement of a room, in the plain subset that both engines speak. `types` has one letter per
 * parameter ?1, ?2, ...: i integer, t text, b blob, I list of integers, T list of texts. */
typedef struct loci_sql {
    const char *types;
    const char *text;
    bool stream; /* rows arrive one by one; nothing else runs on the connection meanwhile */
} loci_sql;

/* What a room brings to the store: its tables, and its statements by enum. Migration n (from 1)
 * turns version n - 1 into n; it may hold several statements separated by ';'. Once released, a
 * migration never changes. The struct must outlive the store. */
typedef struct loci_db_room {
    const char *name;
    const char *const *migrations;
    size_t migration_count;
    const loci_sql *statements;
    size_t statement_count;
} loci_db_room;

/* Zero means the default everywhere. */
typedef struct loci_db_options {
    const loci_db_room *const *rooms; /* ends with NULL; NULL for none */
    loci_durability durability;
    unsigned connections; /* readers beside the one writer (SQLite), or in all (PostgreSQL): 8 */
    int64_t deadline;     /* microseconds that one call may take: 10 s */
    unsigned checkpoint;  /* SQLite: pages in the WAL before a writer copies them back: 1,000 */
    bool external_checkpoint; /* SQLite: never copy back; another program does */
    bool noprepare;           /* PostgreSQL: no named prepared statements, for poolers */
} loci_db_options;

/* Open, or make, the store at `url`: a path, sqlite:PATH, postgres://... or postgresql://...;
 * bring the tables of all rooms up to date. Nothing needs closing after a failure, and a file that
 * is refused is left as it was.
 * Errors: LOCI_EINVAL      no such kind of store, a network file system, not a loci store
 *         LOCI_EDENIED     no right to read or write it
 *         LOCI_ECONFLICT   it was written by a newer version of this program
 *         LOCI_ECORRUPT    damaged or cut short
 *         LOCI_EUNAVAILABLE the disk is full, the server is away, or time ran out */
LOCI_MUST loci_rc loci_db_open(const char *url, const loci_db_options *options, loci_db **ret_db,
                               loci_err *err);

/* Every transaction must have ended. NULL is fine. In a forked child it only forgets the handle:
 * the connections are the parent's. */
void loci_db_close(loci_db *db);
LOCI_DEFINE_CLEANUP(loci_db_closep, loci_db, loci_db_close)

loci_engine loci_db_engine(const loci_db *db);

/* The file's path, or the URL without its password. Borrowed. */
const char *loci_db_name(const loci_db *db);

/* SQLite: copy the WAL back into the file without stopping anybody; with `quiet` also cut the WAL
 * to nothing if nobody is using it. PostgreSQL does this itself: LOCI_OK. */
LOCI_MUST loci_rc loci_db_checkpoint(loci_db *db, bool quiet, loci_err *err);

typedef enum loci_tx_mode {
    LOCI_TX_READ, /* one snapshot, taken at the first statement; writing fails */
    LOCI_TX_WRITE /* SQLite: holds the file's write lock from the start. PostgreSQL: READ COMMITTED
                   */
} loci_tx_mode;

/* What the last failure in a transaction means. */
typedef enum loci_tx_class {
    LOCI_TX_FINAL,     /* doing it again would fail again */
    LOCI_TX_RETRY,     /* nothing was written; run the whole transaction again after a pause */
    LOCI_TX_RECONNECT, /* the same, and the connection was lost */
    LOCI_TX_UNKNOWN    /* the commit was sent and its answer did not come: look before repeating */
} loci_tx_class;

/* Lease a connection and begin. Waits for a free one, and in SQLite for the write lock, fairly
 * among processes, up to the store's deadline.
 * Errors: LOCI_EBUSY, LOCI_EUNAVAILABLE, LOCI_EINVAL (a forked child), LOCI_ENOMEM */
LOCI_MUST loci_rc loci_tx_begin(loci_db *db, loci_tx_mode mode, loci_tx **ret_tx, loci_err *err);

/* Make it durable. Whatever the result is, only loci_tx_end and loci_tx_class may follow. */
LOCI_MUST loci_rc loci_tx_commit(loci_tx *tx, loci_err *err);

/* Roll back what was not committed, end statements that still run, give the connection back.
 * NULL is fine. */
void loci_tx_end(loci_tx *tx);
LOCI_DEFINE_CLEANUP(loci_tx_endp, loci_tx, loci_tx_end)

/* Savepoints nest; release and undo act on the innermost. After an error in a statement the
 * transaction can go on only behind loci_tx_undo, and only when the class is LOCI_TX_FINAL. Release
 * also waits for what was posted since the savepoint and reports its failure. */
LOCI_MUST loci_rc loci_tx_save(loci_tx *tx, loci_err *err);
LOCI_MUST loci_rc loci_tx_release(loci_tx *tx, loci_err *err);
LOCI_MUST loci_rc loci_tx_undo(loci_tx *tx, loci_err *err);

/* The calls that follow must be done by `steady` (loci_clock_steady), besides the store's deadline
 * for each one; 0 lifts it. */
void loci_tx_set_deadline(loci_tx *tx, int64_t steady);

loci_tx_class loci_tx_failure(const loci_tx *tx);
loci_db *loci_tx_db(const loci_tx *tx);

#endif
