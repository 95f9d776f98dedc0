/* access/statements.h -- every SQL statement of this room.
 *
 * Here:     their numbers; the texts are in statements.c.
 * Not here: the tables (db/schema.h).
 * Owns:     nothing; constants.
 * Threads:  constants.
 * Errors:   none.
 */
#ifndef LOCI_ACCESS_STATEMENTS_H
#define LOCI_ACCESS_STATEMENTS_H

#include "db/db.h"

/* Give it to loci_db_open behind loci_schema_room. */
extern const loci_db_room loci_access_room;

enum {
    ACCESS_ORG_LIST,
    ACCESS_ORG_FIND,
    ACCESS_ORG_NEXT,
    ACCESS_ORG_ADD,
    ACCESS_USER_ADD,
    ACCESS_USER_ORG,
    ACCESS_KEY_ADD,
    ACCESS_KEY_LIST,
    ACCESS_KEY_BY_ID,
    ACCESS_KEY_BY_HASH,
    ACCESS_KEY_REVOKE,
    ACCESS_KEY_USED,
    ACCESS_KEY_ANY,
};

#endif
