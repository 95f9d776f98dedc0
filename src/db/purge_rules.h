/* db/purge_rules.h -- which rows a purge takes, and in which order.
 *
 * Here:     the statements of loci_purge_room and the rules that are made of them.
 * Not here: erasing (db/purge.c).
 * Owns:     constants.
 * Threads:  constant.
 * Errors:   none.
 *
 * Rows that others are found through go last, so that a purge that was interrupted finds the rest.
 */
#ifndef LOCI_DB_PURGE_RULES_H
#define LOCI_DB_PURGE_RULES_H

#include "db/db.h"

enum {
    LOCI_PURGE_STMT_IDEMPOTENCY,
    LOCI_PURGE_STMT_QUEUE,
    LOCI_PURGE_STMT_OUTBOX,
    LOCI_PURGE_STMT_PREVIEWS,
    LOCI_PURGE_STMT_CUT_PREVIEWS,
    LOCI_PURGE_STMT_NOTE,
    LOCI_PURGE_STMT_LEFT,
    LOCI_PURGE_STMT_CHILDREN,
    LOCI_PURGE_STMT_LAST_ROW,
    LOCI_PURGE_STMT_UNUSED,
    LOCI_PURGE_STMT_VECTOR,
    LOCI_PURGE_STMT_ENDED, /* the next four: objects that ended for good, by table */
    LOCI_PURGE_STMT_RULES = LOCI_PURGE_STMT_ENDED + 4
};

/* A select with the parameters org and ?2, giving row, obj and id of at most LOCI_PURGE_BATCH
 * revisions of `table`. */
typedef struct loci_purge_rule {
    const char *table;
    size_t statement;
    size_t delete; /* the statement that deletes rows of that table */
} loci_purge_rule;

typedef struct loci_purge_plan {
    const char *table; /* what ?2 is an object of; NULL: a time */
    const loci_purge_rule *rules;
    size_t count;
} loci_purge_plan;

/* The plan for an object of `table`; for NULL the one for a time. */
const loci_purge_plan *loci_purge_plan_of(const char *table);

/* Tables whose objects go as a whole when they have ended for good: agent, archive, branch, block,
 * as LOCI_PURGE_STMT_ENDED counts. */
extern const char *const loci_purge_whole[4];

#endif
