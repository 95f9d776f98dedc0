/* db/stmt.h -- one running statement: bind, step, read columns.
 *
 * Here:     statements from the rooms' tables, prepared at first use and kept per connection.
 * Not here: transactions (db/db.h), the spelling of each engine (db/dialect.h).
 * Owns:     a statement belongs to its connection; columns are borrowed until the next step.
 * Threads:  those of its transaction: one.
 * Errors:   binding is sticky: what went wrong there is told by the first loci_stmt_next.
 * Constraint violations are LOCI_ECONFLICT. After any other error the transaction is lost.
 *
 *     LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
 *     rc = loci_stmt_begin(tx, &room, STMT_FIND, &q, err);
 *     if (rc) return rc;
 *     loci_stmt_bind_i64(q, 1, org);
 *     while ((rc = loci_stmt_next(q, err)) == LOCI_OK) ... loci_stmt_text(q, 0) ...
 *     return rc == LOCI_DONE ? LOCI_OK : rc;
 */
#ifndef LOCI_DB_STMT_H
#define LOCI_DB_STMT_H

#include "base/arena.h"
#include "db/db.h"

typedef struct loci_stmt loci_stmt;

/* Statement `number` of `room`. A statement that has begun must end before it begins again in the
 * same transaction. A room that the store was not opened with is LOCI_EINVAL. */
LOCI_MUST loci_rc loci_stmt_begin(loci_tx *tx, const loci_db_room *room, size_t number,
                                  loci_stmt **ret_stmt, loci_err *err);

/* Forget parameters and rows; the statement stays prepared. NULL is fine. */
void loci_stmt_end(loci_stmt *stmt);
LOCI_DEFINE_CLEANUP(loci_stmt_endp, loci_stmt, loci_stmt_end)

/* Parameters count from 1; one that was not bound is NULL. Text, blobs and lists are borrowed until
 * the statement ends. Text must be UTF-8 without NUL: both engines refuse the same. */
void loci_stmt_bind_i64(loci_stmt *stmt, unsigned parameter, int64_t value);
void loci_stmt_bind_text(loci_stmt *stmt, unsigned parameter, loci_str value);
void loci_stmt_bind_blob(loci_stmt *stmt, unsigned parameter, loci_str value);
void loci_stmt_bind_null(loci_stmt *stmt, unsigned parameter);
/* For `column {in ?n}`. An empty list matches nothing. */
void loci_stmt_bind_i64s(loci_stmt *stmt, unsigned parameter, const int64_t *values, size_t count);
void loci_stmt_bind_texts(loci_stmt *stmt, unsigned parameter, const loci_str *values,
                          size_t count);
/* Text, or NULL when value.ptr is NULL. */
void loci_stmt_bind_text_or_null(loci_stmt *stmt, unsigned parameter, loci_str value);

/* LOCI_OK: a row is there. LOCI_DONE: no more. Else an error. */
LOCI_MUST loci_rc loci_stmt_next(loci_stmt *stmt, loci_err *err);

/* Run to the end, whatever rows it gives. */
LOCI_MUST loci_rc loci_stmt_run(loci_stmt *stmt, loci_err *err);

/* Run without waiting for the answer where the engine can (PostgreSQL's pipeline): saves a round
 * trip. A failure may come out of a later call of the transaction, at the latest out of
 * loci_tx_release or loci_tx_commit. Rows and loci_stmt_changes are not to be had. */
LOCI_MUST loci_rc loci_stmt_post(loci_stmt *stmt, loci_err *err);

/* Rows that the statement changed, once it came to LOCI_DONE. */
int64_t loci_stmt_changes(const loci_stmt *stmt);

/* Columns of the current row, from 0. A NULL reads as 0 or as { NULL, 0 }; an empty text has a
 * pointer. A column that does not exist or has another type is a bug of ours and asserts. */
int64_t loci_stmt_i64(loci_stmt *stmt, unsigned column);
loci_str loci_stmt_text(loci_stmt *stmt, unsigned column);
loci_str loci_stmt_blob(loci_stmt *stmt, unsigned column);
bool loci_stmt_is_null(loci_stmt *stmt, unsigned column);

/* A copy of a text or blob that lives in `arena`; { NULL, 0 } for NULL. */
LOCI_MUST loci_rc loci_stmt_copy(loci_stmt *stmt, unsigned column, loci_arena *arena,
                                 loci_str *ret_text, loci_err *err);

#endif
