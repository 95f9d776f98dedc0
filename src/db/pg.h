/* db/pg.h -- the PostgreSQL driver's halves: the connection, and statements on it.
 *
 * Here:     what db/pg.c (connecting, waiting, transactions) gives db/pg_stmt.c.
 * Not here: anything for other rooms.
 * Owns:     a link owns its PGconn.
 * Threads:  one link, one thread at a time.
 * Errors:   a lost connection or a deadline breaks the link; it is never cancelled, because a
 * cancel can turn a commit that waits for its standby into a success that is none.
 *
 * The link is always in pipeline mode. Commands (BEGIN, SAVEPOINT, COMMIT of a read) and posted
 * statements are sent without waiting; `posted` counts the answers still to come. Whoever needs an
 * answer sends its own query and a sync, takes the posted answers first, then its own, then the
 * sync; so after each wait the pipeline is empty.
 */
#ifndef LOCI_DB_PG_H
#define LOCI_DB_PG_H

#include "db/driver.h"

#include <libpq-fe.h>

typedef struct loci_pg_link {
    PGconn *conn;
    unsigned posted; /* answers of commands nobody has waited for */
    bool unsure;     /* the server warned that the commit may not be replicated */
} loci_pg_link;

static inline loci_pg_link *loci_pg_link_of(const loci_tx *tx)
{
    return (loci_pg_link *)tx->link;
}

/* Fail with the server's or libpq's reason. `result` may be NULL. A link without a working
 * connection is broken. */
loci_rc loci_pg_fail(loci_tx *tx, const PGresult *result, loci_err *err);

/* The next thing to come, within the deadline of the call. *ret_result may become NULL: the answers
 * of one query are over. */
LOCI_MUST loci_rc loci_pg_result(loci_tx *tx, PGresult **ret_result, loci_err *err);

/* Send a sync and take the answers of all that was posted before; `posted` is then 0. With `own`,
 * the last query sent is not among them: its answers come next, and then the sync. After a failure
 * everything including the sync was taken. */
LOCI_MUST loci_rc loci_pg_sync(loci_tx *tx, bool own, loci_err *err);

/* Take everything up to and including the sync. A failure breaks the link, so it may be ignored. */
loci_rc loci_pg_drain(loci_tx *tx, loci_err *err);

/* The functions of the table that live in db/pg_stmt.c. */
loci_rc loci_pg_prepare(loci_stmt *stmt, loci_err *err);
void loci_pg_finalize(loci_stmt *stmt);
loci_rc loci_pg_bind(loci_stmt *stmt, loci_err *err);
loci_rc loci_pg_step(loci_stmt *stmt, loci_err *err);
loci_rc loci_pg_post(loci_stmt *stmt, loci_err *err);
void loci_pg_reset(loci_stmt *stmt);
bool loci_pg_is_null(loci_stmt *stmt, unsigned column);
int64_t loci_pg_i64(loci_stmt *stmt, unsigned column);
loci_str loci_pg_bytes(loci_stmt *stmt, unsigned column, bool text);

#endif
