/* tests/fault/scarce.h -- SQLite asks for memory and does not get it, once.
 *
 * Here:     an allocator under SQLite that counts what it is asked for and refuses one.
 * Not here: the project's own allocations; loci_alloc_fail_after does those.
 * Owns:     the process's SQLite for good: install it in a forked child.
 * Threads:  requests may come from any thread.
 * Errors:   none of its own.
 */
#ifndef LOCI_FAULT_SCARCE_H
#define LOCI_FAULT_SCARCE_H

#include <stdbool.h>
#include <stdint.h>

/* Refuse request number `at`, from 1; 0 for none. No connection may be open. */
void scarce_install(int64_t at);
void scarce_mend(void);
int64_t scarce_count(void);

#endif
