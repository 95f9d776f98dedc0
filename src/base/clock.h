/* base/clock.h -- what time it is, in integer microseconds.
 *
 * Here:     the wall clock and the steady clock.
 * Not here: dates, zones, ISO-8601 text (base/date.h).
 * Owns:     nothing.
 * Threads:  safe from any thread.
 * Errors:   cannot fail on Linux.
 *
 * Rules that depend on the time take it as a parameter; only the outermost caller asks here.
 */
#ifndef LOCI_BASE_CLOCK_H
#define LOCI_BASE_CLOCK_H

#include <stdint.h>

enum { LOCI_MS = 1000, LOCI_SECOND = 1000000 }; /* in microseconds */

/* Microseconds since 1970-01-01 UTC. May jump when somebody sets the clock. */
int64_t loci_clock_now(void);

/* Microseconds since some start; never goes back. For deadlines and durations. */
int64_t loci_clock_steady(void);

/* Sleep for that long, also across signals. */
void loci_clock_sleep(int64_t microseconds);

#endif
