/* db/pg_class.h -- what PostgreSQL's SQLSTATE codes mean to us.
 *
 * Here:     one table from SQLSTATE to an error code, a class for retrying, and words for a person.
 * Not here: running anything.
 * Owns:     nothing.
 * Threads:  pure functions.
 * Errors:   none: an unknown code is LOCI_EIO, final.
 */
#ifndef LOCI_DB_PG_CLASS_H
#define LOCI_DB_PG_CLASS_H

#include "db/db.h"

typedef struct loci_pg_class {
    const char *state; /* five characters, or the first two of a class */
    loci_rc code;
    loci_tx_class failure;
    const char *advice; /* NULL: what the server said is clear enough */
} loci_pg_class;

/* `sqlstate` may be NULL: then there was no answer from a server at all. Never NULL. */
const loci_pg_class *loci_pg_classify(const char *sqlstate);

#endif
