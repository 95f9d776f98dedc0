/* tests/fault/load.h -- writes of several rows at once, and the account of what became of them.
 *
 * Here:     threads that write, tell each acknowledgement through a pipe, and keep each outcome;
 *           what must be true of a store afterwards; which of many points a run tries.
 * Not here: the faults.
 * Owns:     nothing; a load is the caller's.
 * Threads:  starts its own and joins them; the rest from one thread.
 * Errors:   checks fail the test.
 */
#ifndef LOCI_FAULT_LOAD_H
#define LOCI_FAULT_LOAD_H

#include "memory.h"

enum { LOAD_WRITERS = 4, LOAD_EACH = 6, LOAD_ROWS = 3 };

typedef struct load_outcome {
    loci_rc rc; /* LOCI_DONE: not tried */
    bool repeated;
    char msg[256];
} load_outcome;

typedef struct load {
    unsigned writers; /* 1..LOAD_WRITERS */
    unsigned round;   /* tells the loads of one store apart */
    int acks;         /* each acknowledged write is told here as two bytes; -1 for nobody */
    bool keys;        /* each write has an idempotency key */
    bool go_on;       /* after a failed write with the next one */
    bool again;       /* leave out what an earlier run of this load was acknowledged */
    load_outcome outcome[LOAD_WRITERS][LOAD_EACH];
    bool told[LOAD_WRITERS][LOAD_EACH]; /* what a parent read from the pipe */
} load;

/* LOAD_EACH writes of LOAD_ROWS rows by each writer, at the same time. The first failure. */
loci_rc load_run(load *l, memory *m, loci_err *err);

/* A small WAL, so that it is copied back several times in one load. */
loci_db_options load_options(loci_durability durability);

/* Fill in `told` from the pipe, to its end. */
void load_read_acks(load *l, int fd);
unsigned load_told(const load *l);

/* Every write is in the store whole or not at all, versions have no gap and times rise; with `all`,
 * what was told is there. */
void load_check(const load *l, loci_db *db, bool all);

/* The file is sound, by SQLite's own check. */
void load_check_file(const char *path);

/* Put the stores of this program into memory if the machine has such a place: what the tests do to
 * a disk they do themselves, and thousands of real syncs would take long. */
void load_in_memory(void);

/* Is LOCI_FAULT=all set? Then every point is tried, else a sample that LOCI_FAULT_SEED decides. */
bool load_every(void);
unsigned load_seed(void);

/* Calls try(n, arg) for every n in 1..count, or for about `sample` of them. */
void load_points(int64_t count, int64_t sample, void (*try)(int64_t n, void *arg), void *arg);

#endif
