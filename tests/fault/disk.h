/* tests/fault/disk.h -- a disk that fails, stops or loses power at a chosen call.
 *
 * Here:     an SQLite VFS over the default one; it counts the calls and does its harm at one of
 * them. Not here: what runs on the disk, and what must be true afterwards. Owns:     one disk per
 * process, for good: install it in a forked child. Threads:  the calls may come from any thread;
 * installing and mending from one. Errors:   none of its own; it makes them.
 *
 * Power loss: the files themselves are written at once, so that everybody in the process sees them;
 * beside each is kept what a sync has made certain, and the writes since. When power goes, every
 * file is set back to what is certain, and of each later write a part may have arrived: all of it,
 * nothing, or any of its 512-byte pieces, whatever their order was. A new file whose folder was not
 * synced may be missing, and one that was removed may be back. The shared memory is gone.
 */
#ifndef LOCI_FAULT_DISK_H
#define LOCI_FAULT_DISK_H

#include <stdbool.h>
#include <stdint.h>

/* Kinds of calls; a plan counts those that it names. */
enum {
    DISK_OPEN = 1,
    DISK_READ = 2,
    DISK_WRITE = 4,
    DISK_SYNC = 8,
    DISK_TRUNCATE = 16,
    DISK_DELETE = 32,
    DISK_SHARED = 64, /* the WAL's index in shared memory grows */
    DISK_CHANGES = DISK_WRITE | DISK_SYNC | DISK_TRUNCATE | DISK_DELETE,
    DISK_EVERY = 127
};

typedef enum disk_harm {
    DISK_NONE,        /* count only */
    DISK_KILL_BEFORE, /* kill -9 before the call */
    DISK_KILL_WITHIN, /* ... when half of a write is done */
    DISK_KILL_AFTER,  /* ... when it is done */
    DISK_POWER,       /* what was not synced is lost in part, then kill -9 */
    DISK_IO_ERROR,    /* the call fails with EIO */
    DISK_FULL         /* the call fails with ENOSPC if it can; reading goes on */
} disk_harm;

typedef struct disk_plan {
    disk_harm harm;
    unsigned calls; /* which kinds count */
    int64_t at;     /* the call that is hit, from 1; 0 for none */
    bool stays;     /* so are all that follow, until disk_mend */
    unsigned seed;  /* of what arrives when power goes */
} disk_plan;

/* Become the default VFS of this process. */
void disk_install(const disk_plan *plan);

/* The harm is over. */
void disk_mend(void);

/* How many calls were counted, and whether one was hit. */
int64_t disk_count(void);
bool disk_was_hit(void);

#endif
