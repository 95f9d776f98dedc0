/* db/doctor_checks.h -- the list of the doctor's checks, each one statement.
 *
 * Here:     statements of loci_doctor_room, those that are made from the tables included.
 * Not here: running them (db/doctor.c), comparing tags (db/doctor_tags.c).
 * Owns:     texts that live as long as the program.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ENOMEM.
 */
#ifndef LOCI_DB_DOCTOR_CHECKS_H
#define LOCI_DB_DOCTOR_CHECKS_H

#include "db/doctor.h"
#include "db/tables.h"

enum {
    LOCI_DOCTOR_STMT_FREE_LEASES,
    LOCI_DOCTOR_STMT_FREE_OUTBOX,
    LOCI_DOCTOR_STMT_DROP_QUEUE,
    LOCI_DOCTOR_STMT_FORGET,
    LOCI_DOCTOR_STMT_NEXT_ORG,
    LOCI_DOCTOR_STMT_FIRST_CHECK
};

/* Values of loci_check.fix that are no statement. */
enum { LOCI_DOCTOR_NO_FIX = -1, LOCI_DOCTOR_FIX_VECTORS = -2 };

typedef enum loci_doctor_scope {
    LOCI_DOCTOR_STORE,
    LOCI_DOCTOR_ORG,
    LOCI_DOCTOR_ORG_TIME
} loci_doctor_scope;

/* A statement that gives one text for each thing that is wrong, or one number to tell. */
typedef struct loci_check {
    const char *name;
    const char *what; /* with %s for the table and %s for the column, or neither */
    const char *table, *column;
    loci_severity severity;
    loci_doctor_scope scope; /* parameters: none; org; org and a time (now) */
    int engine;              /* a loci_engine, or -1 for both */
    size_t statement;
    bool number; /* gives a number to tell, not texts to count */
    int fix;     /* the statement that fixes it, or one of the above */
} loci_check;

/* All checks. The list is made at the first call and kept. */
LOCI_MUST loci_rc loci_doctor_checks(const loci_check **ret_checks, size_t *ret_count,
                                     loci_err *err);

typedef enum loci_tags_stmt {
    LOCI_TAGS_PAGE, /* "ii" org, row: row, tags, name, archive of the next 500 rows */
    LOCI_TAGS_HAVE, /* "iI" org, rows: row, tag of the junction table, in that order */
    LOCI_TAGS_DROP, /* "ii" org, row */
    LOCI_TAGS_STMTS
} loci_tags_stmt;

/* The statement of loci_doctor_room for a table that has a junction table. */
size_t loci_doctor_tags_stmt(const loci_table *table, loci_tags_stmt which);

/* Compare the tags of all rows of `table` with its junction table; with `fix` mend them. */
LOCI_MUST loci_rc loci_doctor_tags(loci_db *db, bool fix, const loci_table *table, int64_t org,
                                   loci_finding *finding, loci_err *err);

/* Note one more thing that is wrong. */
void loci_finding_add(loci_finding *finding, loci_str example);

#endif
