/* db/purge.h -- the one thing that erases.
 *
 * Here:     rows with their history, and everything derived from them that the store holds.
 * Not here: segments of the index, which follow the purge rows at their next catch-up.
 * Owns:     nothing.
 * Threads:  safe from any thread; others go on.
 * Errors:   LOCI_ENOTFOUND for an id that is not there (nothing was purged), LOCI_ECONFLICT for a
 *           branch that still has children; those of db/write.h. What was purged before a failure
 *           stays purged; the same purge again finishes it.
 *
 * An agent goes with its branches, links, messages, and with the blocks and archives that no other
 * agent is linked to now; an archive with its passages; a branch with what was written on it. By
 * time, whatever has ended before it goes: whole objects, and old revisions of those that live.
 *
 * Besides the rows: their tags; queue entries; previews in the access log; outbox rows of passages
 * that are gone, with a delete delivery in their place when an external store is in use; vectors
 * that no row uses any more. Idempotency answers are not searched: every answer of the organization
 * that is kept is dropped, and a repeat of such a request is told that it was done. For each row a
 * versioned purge row is written, numbers only, by which other processes forget it too.
 *
 * SQLite overwrites what it frees with zeros (secure_delete), and the WAL is cut at the end unless
 * a reader holds it. PostgreSQL keeps dead rows until its VACUUM. Backups, exports, copies that an
 * upgrade or a restore left, and blocks that a file system remapped are out of reach.
 */
#ifndef LOCI_DB_PURGE_H
#define LOCI_DB_PURGE_H

#include "db/db.h"
#include "db/progress.h"
#include "db/write.h"

/* Statements of this file; give it to loci_db_open beside loci_tables_room and loci_write_room. */
extern const loci_db_room loci_purge_room;

enum { LOCI_PURGE_BATCH = 500, LOCI_PURGE_IDS = 1000 }; /* rows of one write; ids of one call */

/* Exactly one of ids, agent and before says what goes. */
typedef struct loci_purge_options {
    int64_t org;
    const loci_str *ids; /* of any kind of row */
    size_t id_count;
    loci_str agent; /* an id */
    int64_t before; /* a time; what ended before it */
    bool external;  /* an external store is in use: tell it to delete passages */
    loci_str who, door;
    loci_progress_fn progress; /* rows */
    void *arg;
} loci_purge_options;

typedef struct loci_purge_result {
    int64_t rows;    /* revisions erased */
    int64_t vectors; /* texts whose vectors went */
    int64_t previews;
} loci_purge_result;

LOCI_MUST loci_rc loci_purge(loci_db *db, loci_writer *writer, const loci_purge_options *options,
                             loci_purge_result *ret_result, loci_err *err);

/* Vectors that no row uses, in batches; what purge does at its end, for the doctor too. */
LOCI_MUST loci_rc loci_purge_vectors(loci_db *db, loci_writer *writer, int64_t org, loci_str door,
                                     int64_t *ret_count, loci_err *err);

#endif
