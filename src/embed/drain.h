/* embed/drain.h -- making the vectors that wait in the queue.
 *
 * Here:     taking jobs, embedding them together, storing, trying again later.
 * Not here: what puts jobs there (embed/queue.h), the background thread that calls this.
 * Owns:     nothing.
 * Threads:  safe from any thread, and from any number of processes at once.
 * Errors:   those of the store. An embedder that fails is told in the result and kept with the
 *           job.
 *
 * A job is taken by a lease: for that long it is due to nobody else. It is renewed while its holder
 * works; when the holder dies it runs out, and whoever drains next takes the job over. Vectors are
 * stored and jobs deleted in one write, so a death at any moment loses nothing, and a job that two
 * made after all is stored once. A job that fails is due again after a pause that doubles each
 * time, from a second to an hour, with jitter; it is never given up.
 */
#ifndef LOCI_EMBED_DRAIN_H
#define LOCI_EMBED_DRAIN_H

#include "embed/queue.h"

enum { LOCI_DRAIN_BATCH = 64 };

#define LOCI_DRAIN_LEASE INT64_C(60000000) /* microseconds */

typedef struct loci_drain_options {
    int64_t org;             /* 0: all that have something waiting */
    size_t most;             /* jobs to take, at most; 0 means 1024 */
    int64_t lease;           /* microseconds; 0 means LOCI_DRAIN_LEASE */
    int64_t now;             /* the time; 0 asks the clock */
    bool (*stop)(void *arg); /* asked between batches: true ends it. May be NULL. */
    void *arg;
} loci_drain_options;

typedef struct loci_drain_result {
    size_t taken;    /* jobs, and rows of a change of model */
    size_t done;     /* of those: need nothing more */
    size_t failed;   /* of those: will be tried again */
    size_t computed; /* texts that were embedded, of a change of model too */
    size_t degraded; /* organizations that were left alone: their model is not available here */
    loci_err err;    /* of the last failure of an embedder */
} loci_drain_result;

/* Work until nothing is due, `most` jobs were taken, or the embedder fails. */
LOCI_MUST loci_rc loci_drain(const loci_embedding *embedding, const loci_drain_options *options,
                             loci_drain_result *ret_result, loci_err *err);

/* Statements of this file; give it to loci_db_open beside loci_queue_room. */
extern const loci_db_room loci_drain_room;

#endif
