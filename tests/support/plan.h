/* tests/support/plan.h -- does a statement read a whole table?
 *
 * Here:     both engines' plans of every statement of a room.
 * Not here: how long anything takes.
 * Owns:     nothing.
 * Threads:  from the main thread only.
 * Errors:   a statement that cannot be planned fails the test.
 */
#ifndef LOCI_TEST_PLAN_H
#define LOCI_TEST_PLAN_H

#include "db/db.h"

/* The store at `url` has been opened before, so its tables are there. Fails the test for a
 * statement that scans a table other than those in `small`, which are separated by blanks. */
void plan_check(const char *url, loci_engine engine, const loci_db_room *room, const char *small);

#endif
