/* embed/reindex.h -- moving an organization to another model.
 *
 * Here:     beginning the change, driving it with a progress report.
 * Not here: the vectors (embed/vectors.h), dropping the old ones (loci_vectors_sweep_step).
 * Owns:     nothing.
 * Threads:  safe from any thread, and from any number of processes at once.
 * Errors:   LOCI_EUNAVAILABLE and others of the embedder, those of the store. What was moved stays.
 *
 * The organization has the new model from the first moment, so that two models never meet in one
 * ranking; rows that have no vector of it yet count as waiting. The change is one job in the queue
 * that knows how far it has come: whoever drains carries it on, also after a kill, and calling
 * again with the same embedder resumes it. Vectors of the new model that are there already, from
 * an earlier change, are not made again. A text that the embedder refuses goes through the queue on
 * its own and holds nobody up.
 */
#ifndef LOCI_EMBED_REINDEX_H
#define LOCI_EMBED_REINDEX_H

#include "embed/queue.h"

typedef struct loci_reindex_options {
    int64_t org;
    /* Called now and then; false ends the call, not the change. May be NULL. `total` is counted up
     * to LOCI_QUEUE_COUNT per table. */
    bool (*progress)(void *arg, int64_t done, int64_t total);
    void *arg;
} loci_reindex_options;

typedef struct loci_reindex_result {
    int64_t done, total; /* rows */
    int64_t failing;     /* that the embedder refuses; the queue tries them again */
    bool finished;       /* nothing else is left */
} loci_reindex_result;

/* Statements of this file; give it to loci_db_open beside loci_queue_room. */
extern const loci_db_room loci_reindex_room;

/* The organization has the model of the configured embedder from now on, and a job that moves its
 * rows. When that is so already, the job is due at once. */
LOCI_MUST loci_rc loci_reindex_begin(const loci_embedding *embedding, int64_t org, loci_err *err);

/* Begin, and work until everything has moved. */
LOCI_MUST loci_rc loci_reindex(const loci_embedding *embedding, const loci_reindex_options *options,
                               loci_reindex_result *ret_result, loci_err *err);

#endif
