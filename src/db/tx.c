#include "db/db.h"

#include "base/clock.h"
#include "db/driver.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

void loci_driver_call(loci_tx *tx)
{
    int64_t end = loci_clock_steady() + tx->db->options.deadline;

    tx->call_end = tx->deadline && tx->deadline < end ? tx->deadline : end;
}

void loci_driver_long_call(loci_tx *tx)
{
    tx->call_end = loci_clock_steady() + INT64_C(3600) * LOCI_SECOND;
}

int64_t loci_driver_left(const loci_tx *tx)
{
    int64_t left = tx->call_end - loci_clock_steady();

    return left > 0 ? left : 0;
}

loci_rc loci_driver_fail(loci_tx *tx, loci_tx_class failure, loci_rc code)
{
    tx->failure = failure;
    if (tx->open) tx->lost = code;
    return code;
}

loci_rc loci_driver_intact(const loci_tx *tx, loci_err *err)
{
    if (!tx->lost) return LOCI_OK;
    return loci_fail(err, tx->lost, "%s: an earlier statement of the transaction failed",
                     tx->db->name);
}

/* A free connection of the right kind, or NULL. One that is connected already is preferred; the
 * array is searched from the front, so that few stay warm. Called with the mutex held. */
static loci_tx *find_free(loci_db *db, bool writer)
{
    loci_tx *cold = NULL;

    for (size_t i = 0; i < db->connection_count; i++) {
        loci_tx *tx = db->connections[i];
        if (tx->leased || tx->writer != writer) continue;
        if (tx->link) return tx;
        if (!cold) cold = tx;
    }
    return cold;
}

static struct timespec steady_timespec(int64_t at)
{
    return (struct timespec){ at / LOCI_SECOND, at % LOCI_SECOND * 1000 };
}

static loci_rc lease(loci_db *db, loci_tx_mode mode, loci_tx **ret_tx, loci_err *err)
{
    bool writer = mode == LOCI_TX_WRITE && db->driver->engine == LOCI_SQLITE;
    struct timespec end = steady_timespec(loci_clock_steady() + db->options.deadline);
    loci_tx *tx;
    int waited = 0;

    (void)pthread_mutex_lock(&db->mutex);
    while (!(tx = find_free(db, writer)) && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&db->freed, &db->mutex, &end);
    if (tx) tx->leased = true;
    (void)pthread_mutex_unlock(&db->mutex);

    if (!tx)
        return loci_fail(err, LOCI_EBUSY, "all connections to the store are in use: try again");
    *ret_tx = tx;
    return LOCI_OK;
}

static void give_back(loci_tx *tx)
{
    loci_db *db = tx->db;

    (void)pthread_mutex_lock(&db->mutex);
    tx->leased = false;
    /* Readers and the writer wait at one condition, so a signal could wake the wrong one. */
    (void)pthread_cond_broadcast(&db->freed);
    (void)pthread_mutex_unlock(&db->mutex);
}

/* Connect if need be, and begin. An idle connection may have died unseen: once more on a new one.
 */
static loci_rc start(loci_tx *tx, loci_err *err)
{
    const loci_driver *driver = tx->db->driver;
    bool old = tx->link != NULL;
    loci_rc rc = LOCI_OK;

    if (old && !driver->usable(tx)) driver->disconnect(tx);
    if (!tx->link) rc = driver->connect(tx, err);
    if (!rc) rc = driver->begin(tx, err);
    if (!rc || !old || !tx->broken) return rc;
    driver->disconnect(tx);
    tx->broken = false;
    rc = driver->connect(tx, err);
    return rc ? rc : driver->begin(tx, err);
}

loci_rc loci_tx_begin(loci_db *db, loci_tx_mode mode, loci_tx **ret_tx, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_driver_owned(db, err);

    if (!rc) rc = lease(db, mode, &tx, err);
    if (rc) return rc;
    tx->mode = mode;
    tx->failure = LOCI_TX_FINAL;
    tx->lost = LOCI_OK;
    tx->deadline = 0;
    tx->depth = 0;
    loci_driver_call(tx);
    rc = start(tx, err);
    if (rc) return rc;
    tx->open = true;
    *ret_tx = LOCI_TAKE(tx);
    return LOCI_OK;
}

static void end_statements(loci_tx *tx)
{
    while (tx->running) loci_stmt_end(tx->running);
}

loci_rc loci_tx_commit(loci_tx *tx, loci_err *err)
{
    loci_rc rc = loci_driver_owned(tx->db, err);

    if (!rc) rc = loci_driver_intact(tx, err);
    if (rc) return rc;
    assert(tx->open);
    end_statements(tx);
    loci_driver_call(tx);
    rc = tx->db->driver->commit(tx, err);
    if (!rc) tx->open = false;
    return rc;
}

void loci_tx_end(loci_tx *tx)
{
    if (!tx || loci_driver_owned(tx->db, NULL)) return;
    loci_driver_call(tx);
    end_statements(tx);
    if (tx->open) tx->db->driver->rollback(tx);
    tx->open = false;
    if (tx->link && tx->broken) tx->db->driver->disconnect(tx);
    tx->broken = false;
    if (tx->link) tx->db->driver->idle(tx);
    give_back(tx);
}

static loci_rc savepoint(loci_tx *tx, const char *format_of, unsigned number, loci_err *err)
{
    char text[64];

    loci_driver_call(tx);
    (void)snprintf(text, sizeof text, "%s s%u", format_of, number);
    return tx->db->driver->command(tx, text, err);
}

loci_rc loci_tx_save(loci_tx *tx, loci_err *err)
{
    if (tx->depth == LOCI_DB_SAVEPOINTS)
        return loci_fail(err, LOCI_ELIMIT, "more than %d savepoints in one transaction",
                         LOCI_DB_SAVEPOINTS);
    loci_rc rc = loci_driver_intact(tx, err);
    if (!rc) rc = savepoint(tx, "SAVEPOINT", tx->depth + 1, err);
    if (!rc) tx->depth++;
    return rc;
}

loci_rc loci_tx_release(loci_tx *tx, loci_err *err)
{
    assert(tx->depth > 0);
    loci_driver_call(tx);
    loci_rc rc = loci_driver_intact(tx, err);
    if (!rc) rc = tx->db->driver->settle(tx, err);
    if (!rc) rc = savepoint(tx, "RELEASE", tx->depth, err);
    if (!rc) tx->depth--;
    return rc;
}

loci_rc loci_tx_undo(loci_tx *tx, loci_err *err)
{
    assert(tx->depth > 0);
    end_statements(tx);
    loci_driver_call(tx);
    /* What was posted since the savepoint is undone with it, its failure too. */
    (void)tx->db->driver->settle(tx, NULL);
    loci_rc rc = savepoint(tx, "ROLLBACK TO", tx->depth, err);
    if (!rc) rc = savepoint(tx, "RELEASE", tx->depth, err);
    if (rc) return rc;
    tx->depth--;
    tx->lost = LOCI_OK;
    return LOCI_OK;
}

void loci_tx_set_deadline(loci_tx *tx, int64_t steady)
{
    tx->deadline = steady;
}

loci_tx_class loci_tx_failure(const loci_tx *tx)
{
    return tx->failure;
}

loci_db *loci_tx_db(const loci_tx *tx)
{
    return tx->db;
}
