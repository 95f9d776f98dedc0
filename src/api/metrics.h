/* api/metrics.h -- counters of the server, in Prometheus' text format.
 *
 * Here:     requests by class of route and status, how long they took, what is in flight.
 * Not here: what is counted where (api/server.c), figures of the store (the caller hands them in).
 * Owns:     a loci_metrics is plain memory of its owner; all zeros is fresh.
 * Threads:  counting and writing are safe from any thread, and nobody waits.
 * Errors:   none; the buffer is sticky.
 */
#ifndef LOCI_API_METRICS_H
#define LOCI_API_METRICS_H

#include "base/buf.h"

#include <stdatomic.h>

enum {
    LOCI_METRICS_CLASSES = 6,
    LOCI_METRICS_STATUSES = 600, /* statuses count by their number */
    LOCI_METRICS_BUCKETS = 12,
};

typedef struct loci_metrics {
    _Atomic uint64_t requests[LOCI_METRICS_CLASSES][LOCI_METRICS_STATUSES];
    _Atomic uint64_t took[LOCI_METRICS_CLASSES][LOCI_METRICS_BUCKETS + 1];
    _Atomic uint64_t took_us[LOCI_METRICS_CLASSES]; /* the sum */
    _Atomic uint64_t cut;                           /* ended without a whole answer */
    _Atomic int64_t in_flight;                      /* operations that run now */
} loci_metrics;

/* A request is over. `status` 0: it never got an answer. */
void loci_metrics_request(loci_metrics *m, loci_str path, int status, int64_t us, bool whole);

/* Append everything. */
void loci_metrics_write(loci_metrics *m, loci_buf *out);

#endif
