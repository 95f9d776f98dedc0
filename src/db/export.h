/* db/export.h -- everything that is stored, as lines of JSON that any store can import.
 *
 * Here:     one snapshot of an organization, of all, or of one agent, written to a file.
 * Not here: the format (db/carry.h), copies of a whole SQLite file (db/backup.h).
 * Owns:     nothing; the file belongs to the caller.
 * Threads:  safe from any thread; writers go on meanwhile. Needs memory for one row.
 * Errors:   LOCI_ENOTFOUND for an organization or agent that is not there, LOCI_ECONFLICT when the
 *           file exists, LOCI_ELIMIT for a row that is longer than a line may be; those of db/db.h.
 *
 * Ended rows and all revisions are there. Not there is what another store makes itself: versions,
 * junction rows of tags, the queue, the outbox, idempotency answers; and the access log, whose
 * entries have no identity by which a second import could know them. The bytes behind the first
 * line depend only on what is stored.
 *
 * The store's deadline must allow for the first row of the largest table.
 */
#ifndef LOCI_DB_EXPORT_H
#define LOCI_DB_EXPORT_H

#include "db/db.h"
#include "db/progress.h"

/* Statements of this file; give it to loci_db_open beside loci_tables_room. */
extern const loci_db_room loci_export_room;

typedef struct loci_export_options {
    int64_t org;    /* 0: all organizations */
    loci_str agent; /* the id of an agent: only it, its branches, links, blocks, messages, and the
                       archives it has with the passages it may see. Needs `org`. Empty: all */
    bool vectors;   /* with the vectors, which are most of the bytes and can be made again */
    bool keys;      /* with the hashes of API keys */
    bool replace;   /* a file that exists */
    int64_t now;    /* for the first line; 0 asks the clock */
    loci_progress_fn progress; /* rows written */
    void *arg;
} loci_export_options;

typedef struct loci_export_result {
    int64_t rows;    /* lines between the first and the last */
    int64_t orphans; /* rows left out because they refer to nothing; the doctor names them */
} loci_export_result;

/* To `path`, compressed when it ends in .gz, or to standard output for "-". The file appears when
 * it is whole. `ret_result` may be NULL. */
LOCI_MUST loci_rc loci_export(loci_db *db, const char *path, const loci_export_options *options,
                              loci_export_result *ret_result, loci_err *err);

#endif
