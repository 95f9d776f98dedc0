/* db/schema.h -- the tables of the memory model, version 1.
 *
 * Here:     organizations, users, keys, versions; agents, branches, blocks, messages, archives,
 *           passages with their tags; vectors; queue, outbox, access log, idempotency, purges.
 * Not here: statements on them (each room has its own), tables of rooms that come later.
 * Owns:     nothing; a constant.
 * Threads:  constant.
 * Errors:   none.
 *
 * Every versioned table begins with the columns
 *
 *     org, row        the key; rows are handed out by loci_change_row and rise with every write, so
 *                     `row > n` of an organization is what was added since, in order
 *     obj, rev        the row of the first revision, and 1, 2, 3, ...: references go by obj
 *     born, ended     the commit's time; ended = {never} while alive
 *     ver, ended_ver  the version that added the row, and the one that ended it (0 while alive)
 *     who, door       who made this revision and through which door; the same for its end
 *     id              the public id, the same for all revisions (links have none)
 *
 * and has the indexes name_id (live, by id), name_past (ended, by id), name_obj (history),
 * name_ends (for the catch-up stream). `branch` is the obj of a branch, 0 on the trunk. JSON is
 * kept as text in metadata, tags and extra; extra holds the fields that nothing is ever found by.
 */
#ifndef LOCI_DB_SCHEMA_H
#define LOCI_DB_SCHEMA_H

#include "db/db.h"

#define LOCI_DEFAULT_ORG_ID "org-00000000-0000-4000-8000-000000000000"
#define LOCI_DEFAULT_USER_ID "user-00000000-0000-4000-8000-000000000000"

enum { LOCI_DEFAULT_ORG = 1 }; /* the number of the organization that always exists */

extern const loci_db_room loci_schema_room;

#endif
