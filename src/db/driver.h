/* db/driver.h -- what a driver fills in, and the structs that db/ shares with its drivers.
 *
 * Here:     the inside of loci_db, loci_tx and loci_stmt; the table of functions of one engine.
 * Not here: anything that another room may see: include db/db.h and db/stmt.h there.
 * Owns:     a loci_db owns its connections, a connection its statements.
 * Threads:  the pool's fields are under `mutex`; a leased connection belongs to one thread.
 * Errors:   drivers set tx->failure at each error, see loci_driver_fail.
 */
#ifndef LOCI_DB_DRIVER_H
#define LOCI_DB_DRIVER_H

#include "base/buf.h"
#include "db/db.h"
#include "db/stmt.h"

#include <pthread.h>
#include <sys/types.h>

typedef struct loci_driver {
    loci_engine engine;
    /* Check the place and keep what is needed to connect in db->place. */
    loci_rc (*open)(loci_db *db, loci_err *err);
    void (*close)(loci_db *db); /* after every disconnect; also after a failed open */

    loci_rc (*connect)(loci_tx *tx, loci_err *err);
    void (*disconnect)(loci_tx *tx);
    bool (*usable)(loci_tx *tx); /* is an idle connection still good? */

    loci_rc (*begin)(loci_tx *tx, loci_err *err);
    loci_rc (*commit)(loci_tx *tx, loci_err *err);
    void (*rollback)(loci_tx *tx);
    void (*idle)(loci_tx *tx);                                        /* before it is given back */
    loci_rc (*command)(loci_tx *tx, const char *text, loci_err *err); /* may be posted */
    loci_rc (*settle)(loci_tx *tx, loci_err *err);                    /* wait for what was posted */

    loci_rc (*prepare)(loci_stmt *stmt, loci_err *err);
    void (*finalize)(loci_stmt *stmt);
    loci_rc (*bind)(loci_stmt *stmt, loci_err *err); /* hand all parameters to the engine */
    loci_rc (*step)(loci_stmt *stmt, loci_err *err);
    loci_rc (*post)(loci_stmt *stmt, loci_err *err);
    void (*reset)(loci_stmt *stmt);

    bool (*is_null)(loci_stmt *stmt, unsigned column);
    int64_t (*i64)(loci_stmt *stmt, unsigned column);
    loci_str (*bytes)(loci_stmt *stmt, unsigned column, bool text);

    loci_rc (*checkpoint)(loci_db *db, bool quiet, loci_err *err);
    /* Write the store as it is to a file that is empty; NULL when the engine cannot. */
    loci_rc (*copy)(loci_db *db, const char *path, loci_err *err);
} loci_driver;

extern const loci_driver loci_sqlite_driver, loci_pg_driver;

enum { LOCI_DB_EVERY_ROOM = LOCI_DB_ROOMS + 1 }; /* the store's own room comes first */

struct loci_db {
    const loci_driver *driver;
    loci_db_options options; /* with the defaults filled in */
    char *url;               /* the path, or the whole URL with its password */
    char *name;              /* for messages */
    void *place;             /* the driver's */
    pid_t pid;               /* who opened it: a child must not use it */

    const loci_db_room *rooms[LOCI_DB_EVERY_ROOM];
    size_t first_stmt[LOCI_DB_EVERY_ROOM]; /* place of a room's statement 0 in tx->stmts */
    size_t room_count, stmt_count;
    _Atomic int64_t epoch; /* of loci_schema when it was last looked at */

    bool threads_ready; /* mutex and freed were made */
    pthread_mutex_t mutex;
    pthread_cond_t freed; /* a connection was given back */
    loci_tx *connections[LOCI_DB_CONNECTIONS + 1];
    size_t connection_count; /* SQLite: the first is the writer */
};

/* A connection; leased out, it is the transaction that runs on it. */
struct loci_tx {
    loci_db *db;
    void *link; /* the driver's; NULL while not connected */
    bool writer;
    bool leased;
    bool open;   /* between begin and commit or rollback */
    bool broken; /* to be disconnected when it is given back */
    loci_tx_mode mode;
    loci_tx_class failure;
    loci_rc lost;     /* a call failed since the last savepoint: nothing but undo may follow */
    unsigned depth;   /* savepoints open */
    int64_t deadline; /* of the transaction, or 0 */
    int64_t call_end; /* of the call that is being made */
    loci_stmt **stmts;
    loci_stmt *running; /* statements that have begun, linked by `next` */
};

typedef struct loci_parameter {
    char type; /* a letter of loci_sql.types; 0 for NULL */
    int64_t number;
    loci_str bytes;
} loci_parameter;

struct loci_stmt {
    loci_tx *tx;
    const loci_sql *sql;
    size_t slot;    /* place in tx->stmts */
    void *prepared; /* the driver's; NULL until prepared */
    bool begun;
    bool stepped;
    bool done;
    int64_t changes;
    unsigned parameter_count;
    loci_parameter parameters[LOCI_DB_PARAMETERS];
    loci_buf lists; /* what lists were turned into; parameters point into it by offset */
    loci_err bind_error;
    loci_stmt *next;
};

/* Set the end of the call that begins now, from the store's deadline and the transaction's. */
void loci_driver_call(loci_tx *tx);

/* The same for work that may take long: an hour. */
void loci_driver_long_call(loci_tx *tx);

/* Microseconds left of the call; 0 when it is over. */
int64_t loci_driver_left(const loci_tx *tx);

/* Note what a failure means; its value is `code`. In a transaction, nothing can be done until it is
 * undone: SQLite may have rolled back by itself, and what came next would be committed alone. */
loci_rc loci_driver_fail(loci_tx *tx, loci_tx_class failure, loci_rc code);

/* The failure that was noted and not undone, for whoever did not look at it. */
LOCI_MUST loci_rc loci_driver_intact(const loci_tx *tx, loci_err *err);

/* LOCI_EINVAL in a process that is not the one that opened the store. */
LOCI_MUST loci_rc loci_driver_owned(const loci_db *db, loci_err *err);

#endif
