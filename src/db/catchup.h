/* db/catchup.h -- what happened in an organization since I last looked.
 *
 * Here:     the cursor (ver, tag), and one stream of events behind it, read in one snapshot.
 * Not here: what is made of it (index, trees, caches).
 * Owns:     nothing; a row is borrowed for the length of its callback.
 * Threads:  safe from any thread.
 * Errors:   what the callback returned stops the stream; else those of db/db.h.
 *
 * A version is taken under the organization's row lock, so what a reader has not seen always has a
 * higher one: unlike with a sequence, nothing can appear behind the cursor. The tag is random per
 * version; if the store lost versions in a failover and used their numbers again, the tag is
 * another one and the reader is told to start anew.
 */
#ifndef LOCI_DB_CATCHUP_H
#define LOCI_DB_CATCHUP_H

#include "db/db.h"
#include "db/stmt.h"

/* Up to where something was read. { 0, 0 } is the beginning. */
typedef struct loci_cursor {
    int64_t ver, tag;
} loci_cursor;

typedef enum loci_event {
    LOCI_EVENT_ADDED,  /* a new row; it may have ended already */
    LOCI_EVENT_ENDED,  /* a row got its end; it may be one of the added */
    LOCI_EVENT_VECTOR, /* a vector came */
    LOCI_EVENT_PURGED  /* a row must be forgotten */
} loci_event;

/* One table in the stream. The statement has the parameters "iii": organization, row, version; it
 * gives, in order, what lies behind row (of rows that are added) and version, and must be a stream.
 */
typedef struct loci_catchup_source {
    const char *table;
    loci_event event;
    const loci_db_room *room;
    size_t statement;
} loci_catchup_source;

/* The store's own tables. Added rows of all tables come with the columns
 *     0 row, 1 obj, 2 rev, 3 born, 4 ended, 5 ver, 6 id (NULL for links), then
 *     agent         7 created_at
 *     branch        7 agent, 8 node, 9 parent
 *     block         7 label
 *     block_link    7 agent, 8 branch, 9 label, 10 block
 *     message       7 agent, 8 branch, 9 kind, 10 role, 11 text, 12 tags, 13 metadata, 14 grp,
 *                   15 created_at, 16 text_hash
 *     archive       7 name
 *     archive_link  7 agent, 8 archive
 *     passage       7 archive, 8 agent, 9 branch, 10 kind, 11 text, 12 tags, 13 metadata, 14 grp,
 *                   15 created_at, 16 text_hash
 * ends with 0 row, 1 obj, 2 ended, 3 ended_ver; vectors with 0 model, 1 text_hash, 2 chunk, 3
 * start, 4 len, 5 data, 6 ver; purges with 0 row, 1 kind, 2 target, 3 ver. Of each table first what
 * was added, then what ended; vectors and purges last. */
extern const loci_catchup_source loci_catchup_sources[];
extern const size_t loci_catchup_source_count;

/* Statements of this file; give it to loci_db_open beside loci_schema_room. */
extern const loci_db_room loci_catchup_room;

typedef loci_rc (*loci_catchup_fn)(const loci_catchup_source *source, loci_stmt *row, void *arg,
                                   loci_err *err);

/* Where the organization is now: one statement on one row. LOCI_ENOTFOUND for no such organization,
 * LOCI_ECONFLICT when a newer program has changed the store. */
LOCI_MUST loci_rc loci_catchup_head(loci_db *db, int64_t org, loci_cursor *ret_head, loci_err *err);

typedef struct loci_catchup_request {
    int64_t org;
    loci_cursor from;
    const loci_catchup_source *sources; /* of several rooms, if need be */
    size_t source_count;
    loci_catchup_fn event;
    void *arg;
} loci_catchup_request;

/* Give every event behind `from`, up to *ret_cursor. *ret_reload: `from` is not a version of this
 * store or too old; nothing was given, forget everything and come again with { 0, 0 }. */
LOCI_MUST loci_rc loci_catchup(loci_db *db, const loci_catchup_request *request,
                               loci_cursor *ret_cursor, bool *ret_reload, loci_err *err);

#endif
