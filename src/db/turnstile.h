/* db/turnstile.h -- fair waiting for SQLite's write lock among processes.
 *
 * Here:     one lock on a side file that whoever wants to write next holds while it waits.
 * Not here: the write lock itself, which is SQLite's and alone decides.
 * Owns:     a descriptor of the side file.
 * Threads:  one turnstile, one thread at a time.
 * Errors:   entering cannot fail; without the side file's lock one waits like everybody else.
 *
 * SQLite's busy handler starves: a process that commits and begins again at once meets waiters that
 * are asleep, and wins every time. Here a writer first takes the turnstile, keeps it while it waits
 * for the write lock, and lets go when it has it. So whoever has just committed finds the turnstile
 * taken by the next one and queues behind it. Those in front of the turnstile look often, more
 * often the longer they have waited. A blocking lock of the kernel would wake them without looking,
 * but it knows no deadline. The kernel frees the lock of a process that dies; the lock is courtesy
 * only, so when it stays taken for too long one goes on without it.
 */
#ifndef LOCI_DB_TURNSTILE_H
#define LOCI_DB_TURNSTILE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* Open or make the side file with mode 0600. */
LOCI_MUST loci_rc loci_turnstile_open(const char *path, int *ret_fd, loci_err *err);

/* Wait at most `patience` microseconds. True when it was entered. */
bool loci_turnstile_enter(int fd, int64_t patience);
void loci_turnstile_leave(int fd);

/* How long somebody who has waited `waited` microseconds sleeps before looking again. */
int64_t loci_turnstile_pause(int64_t waited, unsigned *seed);

#endif
