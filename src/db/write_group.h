/* db/write_group.h -- several writes, one commit.
 *
 * Here:     the transaction of a group: lock, run each closure under its savepoint, commit, and
 *           learn what became of a commit that gave no answer.
 * Not here: who is in the group and who leads it (db/write.c).
 * Owns:     nothing; an item and its answer belong to the thread that waits for it.
 * Threads:  one group, one thread.
 * Errors:   each item has its own outcome in rc and err.
 *
 * A group is first run in good faith, without savepoints and without waiting for what the closures
 * post. When one of them fails, everything is rolled back and the group is run again, now each
 * write under its savepoint and with a wait at its end, so that a failure is its own and harms
 * nobody else. Writes that fail inside their transaction are rare, and savepoints are not cheap on
 * either engine.
 */
#ifndef LOCI_DB_WRITE_GROUP_H
#define LOCI_DB_WRITE_GROUP_H

#include "db/write.h"

/* One write on its way. */
typedef struct loci_write_item {
    const loci_write_request *request;
    loci_rc rc;
    loci_err err;
    int64_t ver, born, tag, row; /* row: the organization's last one after this write */
    bool repeated;
    loci_buf answer;
} loci_write_item;

/* Run all and fill in each outcome. `count` is 1..LOCI_WRITE_GROUP. What is left to do when
 * everybody was told, such as copying SQLite's WAL back, happens when the caller ends *ret_tx,
 * which may be NULL. */
void loci_write_group(loci_db *db, loci_write_item *const *items, size_t count, loci_tx **ret_tx);

#endif
