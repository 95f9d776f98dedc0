/* db/carry_check.h -- is this whole file an export that can be imported?
 *
 * Here:     the order of lines, references, revisions, doubled ids, the count and hash at the end.
 * Not here: one line alone (db/carry.h), comparing with what is stored (db/import.h).
 * Owns:     about 16 bytes for each object of the file; nothing grows with the length of texts.
 * Threads:  one check, one thread.
 * Errors:   LOCI_ESHAPE and LOCI_ELIMIT; every message begins with the number of the line.
 */
#ifndef LOCI_DB_CARRY_CHECK_H
#define LOCI_DB_CARRY_CHECK_H

#include "db/carry.h"

typedef struct loci_carry_check loci_carry_check;

/* Whether the store that is imported into has an object with this id: a reference to it is fine
 * although the file does not have it. An error stops the check. */
typedef loci_rc (*loci_carry_known_fn)(const loci_table *table, loci_str id, void *arg,
                                       bool *ret_known, loci_err *err);

/* Times behind `latest` are refused: they would push the organization's clock into the future.
 * `known` may be NULL. */
LOCI_MUST loci_rc loci_carry_check_new(int64_t latest, loci_carry_known_fn known, void *arg,
                                       loci_carry_check **ret_check, loci_err *err);
void loci_carry_check_free(loci_carry_check *check); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_carry_check_freep, loci_carry_check, loci_carry_check_free)

/* The next line, without its end. *ret_row is filled in when *ret_kind is LOCI_CARRY_ROW. */
LOCI_MUST loci_rc loci_carry_check_line(loci_carry_check *check, loci_arena *arena, loci_str line,
                                        loci_carry_line *ret_kind, loci_carried *ret_row,
                                        loci_err *err);

/* After the last line. */
LOCI_MUST loci_rc loci_carry_check_end(loci_carry_check *check, loci_err *err);

/* What the first line said; its texts are not kept. */
bool loci_carry_check_vectors(const loci_carry_check *check);
/* Organizations and rows so far. */
size_t loci_carry_check_orgs(const loci_carry_check *check);
int64_t loci_carry_check_rows(const loci_carry_check *check);

#endif
