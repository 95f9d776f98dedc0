/* db/backup.h -- a whole store into one file, and back.
 *
 * Here:     backup while the store is in use; restore with checks before and one rename at the end.
 * Not here: exports for other purposes (db/export.h).
 * Owns:     nothing; files belong to the caller.
 * Threads:  backup is safe from any thread. Restore wants the store closed.
 * Errors:   LOCI_ECONFLICT when a file or a store is in the way, LOCI_EBUSY when the store is open
 *           somewhere, LOCI_EINVAL for a file that is no backup, LOCI_ECORRUPT for one that is
 *           damaged, LOCI_EUNAVAILABLE without space; those of db/import.h.
 *
 * A backup of an SQLite store is an SQLite file; one of a PostgreSQL store is an export of all
 * organizations with vectors and the hashes of keys, from one snapshot (db/export.h says what an
 * export leaves out). An export can be restored into either engine.
 */
#ifndef LOCI_DB_BACKUP_H
#define LOCI_DB_BACKUP_H

#include "db/db.h"
#include "db/progress.h"

typedef struct loci_backup_options {
    bool replace; /* a file that exists */
    loci_progress_fn progress;
    void *arg;
} loci_backup_options;

/* Writers go on meanwhile. The file has mode 0600 and appears when it is whole and on the disk.
 * The name of a PostgreSQL backup may end in .gz. `options` may be NULL. */
LOCI_MUST loci_rc loci_backup(loci_db *db, const char *path, const loci_backup_options *options,
                              loci_err *err);

typedef struct loci_restore_options {
    const loci_db_options *store; /* with all rooms, as for loci_db_open; needed */
    bool
        force; /* an SQLite store that is there is set aside as NAME.before-restore; a PostgreSQL
                  store that is not empty is imported into, which finishes an interrupted restore */
    loci_progress_fn progress; /* called between any two steps */
    void *arg;
} loci_restore_options;

/* Make the store at `url` from `path`. Into SQLite, a crash at any point leaves the old store or
 * the new one under the name; what was there is kept as NAME.before-restore. */
LOCI_MUST loci_rc loci_restore(const char *path, const char *url,
                               const loci_restore_options *options, loci_err *err);

#endif
