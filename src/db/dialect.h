/* db/dialect.h -- everything in which the SQL of the two engines differs.
 *
 * Here:     turning a room's text into the engine's: placeholders and the words in braces.
 * Not here: running it; error codes (db/sqlite.c, db/pg_class.h).
 * Owns:     nothing; output goes to the caller's buffer.
 * Threads:  pure functions.
 * Errors:   an unknown word or an open quote is LOCI_EINVAL; it names the place.
 *
 * Outside quotes, ?3 becomes $3 for PostgreSQL, and these words are replaced:
 *
 *     word             SQLite                             PostgreSQL
 *     {int}            INTEGER                            BIGINT             STRICT knows no BIGINT
 *     {text}           TEXT                               TEXT COLLATE "C"   order by bytes on both
 *     {blob}           BLOB                               BYTEA
 *     {never}          9223372036854775807                the same; a literal, so that partial
 *                                                         indexes are used
 *     {strict}         STRICT                             nothing            behind CREATE TABLE ()
 *     {narrow}         STRICT, WITHOUT ROWID              nothing            for rows that are all
 * key {in ?3}          IN (SELECT value FROM json_each(?3))   = ANY($3)      lists
 *
 * Besides, both keep to: integers, text and blobs only; no LIKE; no max(a, b), group_concat, now();
 * no data-modifying WITH; ON CONFLICT with the index's predicate as a literal; NULLS LAST; sum()
 * cast to BIGINT, because PostgreSQL's is a numeric.
 */
#ifndef LOCI_DB_DIALECT_H
#define LOCI_DB_DIALECT_H

#include "base/buf.h"
#include "db/db.h"

enum { LOCI_SQL_BYTES = 64 << 10 }; /* longest statement, after translation */

/* Append `text` to `out` in the words of `engine`. */
LOCI_MUST loci_rc loci_dialect_translate(loci_engine engine, loci_str text, loci_buf *out,
                                         loci_err *err);

/* Take the next statement, up to a ';' outside quotes, off the front of *rest, without blanks
 * around it. False when nothing is left. */
bool loci_dialect_cut(loci_str *rest, loci_str *ret_statement);

/* Append a list as the engine takes it for {in ?n}: a JSON array or an array literal. */
void loci_dialect_i64s(loci_engine engine, const int64_t *values, size_t count, loci_buf *out);
void loci_dialect_texts(loci_engine engine, const loci_str *values, size_t count, loci_buf *out);

#endif
