/* db/doctor.h -- what is wrong with a store, and repairing what can be derived again.
 *
 * Here:     the engine's own checks, references, revisions, tags, duplicates, vectors, queues,
 *           leftovers, sizes.
 * Not here: the index and its segments; near-duplicates, which need a search.
 * Owns:     nothing; a finding is borrowed for the length of its callback.
 * Threads:  safe from any thread; others go on. Each check reads a snapshot of its own.
 * Errors:   what the callback returned; those of db/db.h. A check that does not finish within the
 *           store's deadline is a finding, not an error: open the store with a long one.
 *
 * Fixing touches derived data alone: junction rows of tags, vectors that nobody uses, leases that
 * ran out, queue entries without their row, expired idempotency keys. Everything else is reported
 * and left as it is.
 */
#ifndef LOCI_DB_DOCTOR_H
#define LOCI_DB_DOCTOR_H

#include "db/db.h"
#include "db/progress.h"
#include "db/write.h"

/* Statements of this file; give it to loci_db_open beside loci_tables_room and
 * loci_purge_room. */
extern const loci_db_room loci_doctor_room;

enum {
    LOCI_DOCTOR_EXAMPLES = 5,
    LOCI_DOCTOR_EXAMPLE = 132,  /* bytes of an example, with its NUL */
    LOCI_DOCTOR_MOST = 10000000 /* nothing is counted further */
};

typedef enum loci_severity {
    LOCI_SEVERITY_INFO,    /* good to know */
    LOCI_SEVERITY_WARNING, /* nothing is lost, something is not as it should be */
    LOCI_SEVERITY_ERROR    /* damage */
} loci_severity;

typedef struct loci_finding {
    loci_severity severity;
    const char *check; /* a name for programs: "orphans", "tags", ... */
    char what[160];    /* for people */
    int64_t org;       /* 0: of the whole store */
    int64_t count;
    char examples[LOCI_DOCTOR_EXAMPLES][LOCI_DOCTOR_EXAMPLE]; /* ids, or row numbers of links */
    size_t example_count;
    bool fixable, fixed;
} loci_finding;

typedef loci_rc (*loci_finding_fn)(const loci_finding *finding, void *arg, loci_err *err);

typedef struct loci_doctor_options {
    int64_t org; /* 0: all organizations */
    bool fix;
    int64_t now; /* 0 asks the clock */
    loci_finding_fn finding;
    loci_progress_fn progress; /* checks done */
    void *arg;                 /* of both */
} loci_doctor_options;

typedef struct loci_doctor_result {
    int64_t errors, warnings, infos, fixed; /* findings; what was fixed is not counted otherwise */
} loci_doctor_result;

/* `writer` is needed to fix, else may be NULL. */
LOCI_MUST loci_rc loci_doctor(loci_db *db, loci_writer *writer, const loci_doctor_options *options,
                              loci_doctor_result *ret_result, loci_err *err);

#endif
