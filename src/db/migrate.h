/* db/migrate.h -- bringing the tables of all rooms up to date.
 *
 * Here:     numbered, forward-only migrations, all of one opening in one transaction.
 * Not here: the migrations themselves; each room has its own.
 * Owns:     the table loci_schema(room, ver). Its row '' counts changes and is the lock.
 * Threads:  safe; processes that start at once wait for each other.
 * Errors:   LOCI_ECONFLICT when the store is newer than this program.
 */
#ifndef LOCI_DB_MIGRATE_H
#define LOCI_DB_MIGRATE_H

#include "db/db.h"

/* The store's own room: comes first and has no tables besides loci_schema. */
extern const loci_db_room loci_migrate_room;

/* Run what is missing. */
LOCI_MUST loci_rc loci_migrate(loci_db *db, loci_err *err);

/* The store changed under us: is it still one that this program knows? `epoch` is the row '' of
 * loci_schema as read in the running transaction. */
LOCI_MUST loci_rc loci_migrate_check(loci_tx *tx, int64_t epoch, loci_err *err);

#endif
