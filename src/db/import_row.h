/* db/import_row.h -- one row of an import: is it there, is it the same, put it there.
 *
 * Here:     finding the row that is stored under the same identity, comparing, inserting, ending.
 * Not here: the file, batches and passes (db/import.c).
 * Owns:     nothing; a loci_import_rows borrows the ids of the batch at hand.
 * Threads:  one import, one thread (closures run while their own thread waits).
 * Errors:   those of db/stmt.h.
 */
#ifndef LOCI_DB_IMPORT_ROW_H
#define LOCI_DB_IMPORT_ROW_H

#include "db/carry.h"
#include "db/write.h"

typedef enum loci_import_state {
    LOCI_IMPORT_NEW,
    LOCI_IMPORT_SAME,     /* or gone on since */
    LOCI_IMPORT_ENDS,     /* the same, and alive where the file has an end */
    LOCI_IMPORT_CONFLICT, /* something else under the same identity */
} loci_import_state;

enum { LOCI_IMPORT_CACHE = 16 };

typedef struct loci_import_rows {
    int64_t org; /* imported into */
    /* Ids of the batch at hand that were looked up in this transaction. */
    struct {
        const loci_table *table;
        loci_str id;
        int64_t obj;
    } cache[LOCI_IMPORT_CACHE];
    size_t cached;
} loci_import_rows;

/* What is looked up is forgotten; at the start of each transaction. */
void loci_import_rows_start(loci_import_rows *rows);

/* The obj of the object with this id; 0 when there is none. */
LOCI_MUST loci_rc loci_import_obj(loci_import_rows *rows, loci_tx *tx, const loci_table *table,
                                  loci_str id, int64_t *ret_obj, loci_err *err);

/* What is stored, compared with `row`. *ret_row: the stored row; *ret_obj: the object that a new
 * row is a revision of, or 0; *ret_column: where a conflict is. */
LOCI_MUST loci_rc loci_import_look(loci_import_rows *rows, loci_tx *tx, const loci_carried *row,
                                   loci_import_state *ret_state, int64_t *ret_row, int64_t *ret_obj,
                                   const char **ret_column, loci_err *err);

/* Add or end the row, as its state says. *ret_state is what it was. */
LOCI_MUST loci_rc loci_import_put(loci_import_rows *rows, loci_change *change,
                                  const loci_carried *row, loci_arena *arena,
                                  loci_import_state *ret_state, loci_err *err);

#endif
