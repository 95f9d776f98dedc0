/* embed/drain_int.h -- what drain and reindex share; private to this room.
 *
 * Here:     a leased job, the texts of rows, making their vectors and storing them.
 * Not here: what callers see (embed/drain.h, embed/reindex.h).
 * Owns:     nothing.
 * Threads:  one drain, one thread.
 * Errors:   those of the store.
 */
#ifndef LOCI_EMBED_DRAIN_INT_H
#define LOCI_EMBED_DRAIN_INT_H

#include "embed/drain.h"
#include "embed/make.h"

enum { LOCI_DRAIN_ARENA = 256 << 20, LOCI_DRAIN_BYTES = 8 << 20 };

typedef struct loci_job {
    int64_t job, row, tries;
    const loci_text_source *source; /* NULL: a reindex, or of a room that is not here */
    bool reindex;
    bool mine;                    /* it could be leased */
    bool over;                    /* needs no vector: its row is gone, or it is stored */
    bool later;                   /* did not fit into this batch */
    uint8_t hash[LOCI_TEXT_HASH]; /* of the text */
    loci_make_item *made;         /* NULL: nothing to make */
} loci_job;

/* One batch of one organization. */
typedef struct loci_batch {
    const loci_embedding *embedding;
    int64_t org, now, lease;
    int64_t token;   /* until when the jobs are leased; also says whose lease it is */
    int64_t renewed; /* loci_clock_steady of the last lease */
    loci_embed_service *service;
    loci_str model;
    loci_job *jobs;
    size_t count;
    loci_make_item *made; /* room for one per job */
    size_t made_count;
    bool stored; /* the write kept what was made; else the organization has another model */
    bool down;   /* the embedder failed: no use in another batch */
    loci_arena *arena;
    loci_drain_result *result;
} loci_batch;

/* Embed some texts; renews the lease of the batch meanwhile. */
void loci_batch_make(loci_batch *b, loci_make_item *made, size_t count);

/* In a write: delete the jobs that wait for this text, and say how many there were. */
LOCI_MUST loci_rc loci_batch_delete_text(loci_change *change, const uint8_t *hash,
                                         int64_t *ret_count, loci_err *err);

/* Read the text of a row, as far as it gets vectors; *ret_found is false when there is no such row.
 */
LOCI_MUST loci_rc loci_batch_read(loci_tx *tx, const loci_batch *b, const loci_text_source *source,
                                  int64_t row, loci_str *ret_text, bool *ret_found, loci_err *err);

/* The next step of a reindex job: move some rows, and the job's cursor behind them. Sets job->over
 * at the end of the rows; job->made with its error when the embedder failed. */
LOCI_MUST loci_rc loci_reindex_step(loci_batch *b, loci_job *job, loci_err *err);

#endif
