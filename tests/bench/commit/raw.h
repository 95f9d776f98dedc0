/* tests/bench/commit/raw.h -- the limits that loci_write is measured against, in the same run.
 *
 * Here:     the disk's own sync rate; producers that hand rows to one writer, who commits whatever
 *           has come, straight on SQLite and on libpq: group commit with nothing around it.
 * Not here: loci.
 * Owns:     what each call opens, it closes.
 * Threads:  starts its own and joins them.
 * Errors:   a failed call ends the program with a message.
 */
#ifndef LOCI_BENCH_RAW_H
#define LOCI_BENCH_RAW_H

#include <stdbool.h>
#include <stdint.h>

enum { RAW_TEXT = 570 };

/* 4 kB overwritten and synced, per second. */
double raw_sync_rate(const char *folder, int64_t microseconds);

/* Writes per second into a store whose tables are there: the rows and indexes that loci_write makes
 * of one passage, by `producers` threads and one writer; with `batch`, by the writer alone, who
 * always has that many to commit. No group commit of as many waiting writers can be faster than
 * that. */
double raw_sqlite_rate(const char *path, unsigned producers, bool batch, int64_t microseconds);
double raw_postgres_rate(const char *url, unsigned producers, bool batch, int64_t microseconds);

#endif
