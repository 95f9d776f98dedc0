/* db/import.h -- an export brought into a store.
 *
 * Here:     checking the whole file and comparing it with the store, then writing in batches.
 * Not here: the format and its rules (db/carry.h, db/carry_check.h).
 * Owns:     nothing.
 * Threads:  safe from any thread; others go on reading and writing.
 * Errors:   LOCI_ESHAPE, LOCI_ELIMIT and LOCI_ECORRUPT for the file, with the line, and
 *           LOCI_ECONFLICT with the ids when the store has something else under an id: nothing was
 *           imported then. Those of db/db.h while writing: what was written stays, and the same
 *           import again finishes it.
 *
 * A row is known by its id, revision and time of birth, a link by what it links and its times. What
 * is there already is left alone; a row that has ended in the file and lives in the store is ended;
 * a row that lives in the file and has ended in the store has gone on since, and stays. So a second
 * import writes nothing at all, not even a version. Numbers and versions are given anew; times and
 * attribution are carried. A vector that is there stays, whatever the file has. Rows whose vectors
 * the file does not have are not queued for embedding: the doctor counts them, a reindex makes
 * them.
 */
#ifndef LOCI_DB_IMPORT_H
#define LOCI_DB_IMPORT_H

#include "db/db.h"
#include "db/progress.h"
#include "db/write.h"

/* Statements of this file; give it to loci_db_open beside loci_tables_room and loci_write_room. */
extern const loci_db_room loci_import_room;

/* Of its statements, one for restore: how many organizations were ever written to. */
enum { LOCI_IMPORT_STMT_WRITTEN };

enum {
    LOCI_IMPORT_BATCH = 200,           /* most rows in one write */
    LOCI_IMPORT_BATCH_BYTES = 4 << 20, /* and about how many bytes */
    LOCI_IMPORT_NAMED = 8              /* conflicts that are named */
};

typedef struct loci_import_options {
    int64_t org;  /* the organization to import into; the file must have one only. 0: each of the
                     file goes into the one with its id, which is made if it is missing */
    bool keys;    /* also the hashes of API keys, if the file has them */
    loci_str who; /* as in loci_write_request, for the log of versions */
    loci_str door;
    int64_t now;               /* 0 asks the clock */
    loci_progress_fn progress; /* "checking", then "writing": bytes of the file */
    void *arg;
} loci_import_options;

typedef struct loci_import_result {
    int64_t rows;    /* in the file */
    int64_t added;   /* new in the store */
    int64_t ended;   /* were alive in the store */
    int64_t batches; /* writes that were made */
} loci_import_result;

/* `writer` must be of `db`. `ret_result` may be NULL. */
LOCI_MUST loci_rc loci_import(loci_db *db, loci_writer *writer, const char *path,
                              const loci_import_options *options, loci_import_result *ret_result,
                              loci_err *err);

#endif
