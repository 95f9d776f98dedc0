/* tests/support/memory.h -- a store with the memory tables, and small passages to write into it.
 *
 * Here:     opening with the core rooms, one closure that adds a passage, one that ends it, counts.
 * Not here: what is tested.
 * Owns:     nothing.
 * Threads:  as the functions that it calls.
 * Errors:   opening fails the test; the rest returns its code.
 */
#ifndef LOCI_TEST_MEMORY_H
#define LOCI_TEST_MEMORY_H

#include "store.h"

#include "db/catchup.h"
#include "db/schema.h"
#include "db/write.h"

typedef struct memory {
    loci_db *db;
    loci_writer *writer;
} memory;

extern const loci_db_room memory_room;

memory memory_open(const char *url);
/* The same with options, whose rooms are filled in; a failure is returned. */
loci_rc memory_try_open(const char *url, loci_db_options options, memory *ret_memory,
                        loci_err *err);
void memory_close(memory *m);

/* What memory_add adds. */
typedef struct passage {
    const char *id, *text;
    loci_rc fail;   /* after the row was added, fail with this */
    bool duplicate; /* violate the key: add the same row twice */
    int runs;       /* how often the closure ran */
    int64_t row;    /* the row it got */
} passage;

loci_rc memory_add(loci_change *change, void *arg, loci_err *err); /* arg: a passage */
loci_rc memory_end(loci_change *change, void *arg, loci_err *err); /* arg: a passage, by its row */

/* Write one passage in the default organization. */
loci_rc memory_write(memory *m, passage *p, loci_write_result *ret_result, loci_err *err);

/* The first column of a statement without parameters. */
enum {
    MEMORY_INSERT,
    MEMORY_FINISH,
    MEMORY_PASSAGES,
    MEMORY_VERSIONS,
    MEMORY_VERSION_GAPS,
    MEMORY_BORN_FALLS,
    MEMORY_KEYS,
    MEMORY_OUTBOX,
    MEMORY_IDS, /* a stream of texts, not a number */
    MEMORY_WHO,
    MEMORY_JUMP,
    MEMORY_OLDEST,
    MEMORY_DEFAULTS
};
int64_t memory_ask(loci_db *db, size_t statement);
loci_rc memory_do(loci_db *db, size_t statement, loci_err *err);

#endif
