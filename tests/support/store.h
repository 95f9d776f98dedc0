/* tests/support/store.h -- one store per test, on either engine.
 *
 * Here:     a fresh place for a store, tests that run on both engines, children that must succeed.
 * Not here: what is tested.
 * Owns:     the temporary folder or database; it is gone after the test.
 * Threads:  from the main thread only.
 * Errors:   a place that cannot be made fails the test; a missing PostgreSQL skips it.
 *
 *     static void keeps_rows(void **state)
 *     {
 *         store *s = store_of(state);     // skips here when there is no PostgreSQL
 *         assert_ok(loci_db_open(s->url, &options, &db, &err), err);
 *     }
 *     const struct CMUnitTest tests[] = { ON_BOTH(keeps_rows) };
 */
#ifndef LOCI_TEST_STORE_H
#define LOCI_TEST_STORE_H

#include "test.h"

#include "db/db.h"

#include <sys/types.h>

typedef struct store {
    loci_engine engine;
    char *url;
    char folder[64]; /* of the SQLite file; also made for PostgreSQL, for what a test writes */
} store;

extern loci_engine store_sqlite, store_postgres;

int store_setup(void **state);
int store_teardown(void **state);

/* The test's store, not opened yet. */
store *store_of(void **state);

#define ON_SQLITE(test)                                                                            \
    {                                                                                              \
#test " on SQLite", test, store_setup, store_teardown, &store_sqlite                       \
    }
#define ON_POSTGRES(test)                                                                          \
    {                                                                                              \
#test " on PostgreSQL", test, store_setup, store_teardown, &store_postgres                 \
    }
#define ON_BOTH(test) ON_SQLITE(test), ON_POSTGRES(test)

/* Run body(arg) in a forked child; its result is the exit status. */
pid_t store_fork(int (*body)(void *), void *arg);

/* The child ended with status 0. */
bool store_reap(pid_t child);

#endif
