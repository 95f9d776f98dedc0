/* db/copy.h -- a whole copy of an SQLite store, while it is in use.
 *
 * Here:     free space, a private temporary file, sync and rename around the driver's copy.
 * Not here: exports that any engine can read.
 * Owns:     nothing.
 * Threads:  safe from any thread; writers go on meanwhile.
 * Errors:   LOCI_ENOSYS for PostgreSQL, LOCI_EUNAVAILABLE without enough free space, LOCI_EIO.
 */
#ifndef LOCI_DB_COPY_H
#define LOCI_DB_COPY_H

#include "db/db.h"

/* Write one snapshot of the store to `path`, mode 0600, whole or not at all; a file that is there
 * is replaced. `room` times the size of the store must be free in the folder of `path`. */
LOCI_MUST loci_rc loci_copy_store(loci_db *db, const char *path, unsigned room, loci_err *err);

#endif
