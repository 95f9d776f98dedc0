/* tests/unit/portable/fill.h -- stores full of random rows with history, and ways to look at them.
 *
 * Here:     opening a store with every room of db/, filling it through loci_write, whole files.
 * Not here: what is tested.
 * Owns:     nothing; the caller closes what it opened.
 * Threads:  one.
 * Errors:   fail the test.
 */
#ifndef LOCI_TEST_FILL_H
#define LOCI_TEST_FILL_H

#include "store.h"

#include "base/buf.h"
#include "db/tables.h"
#include "db/write.h"

extern const loci_db_room *const fill_rooms[];

loci_db *fill_open(const char *url);

/* `steps` random writes into `org`: rows of every versioned table are added, revised and ended;
 * then users, keys and vectors. The same seed gives the same texts. */
void fill_store(loci_db *db, int64_t org, unsigned seed, int steps);

/* A new organization with that number. */
void fill_org(loci_db *db, int64_t org, const char *id);

/* One number that `sql` (without parameters) gives, asked past the store's own connections. */
int64_t fill_number(const store *s, const char *sql);
/* Run it likewise. */
void fill_run(const store *s, const char *sql);

/* "folder/name" of the test's store, in one of a few static buffers. */
const char *fill_path(const store *s, const char *name);

/* The whole file at `path`, decompressed if need be, without its first line. */
void fill_read(const char *path, loci_buf *ret_text);

#endif
