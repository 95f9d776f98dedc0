/* embed/service.h -- one embedder for all threads of a process: what waits together goes together.
 *
 * Here:     a bounded queue in front of an embedder, deadlines, the model's cosine range.
 * Not here: which model belongs to whom (embed/model.h), where vectors are kept
 *           (embed/vectors.h).
 * Owns:     the embedder, its own threads if it has any, and copies of the texts that wait.
 * Threads:  safe from any thread. Not for a forked child: it opens its own.
 * Errors:   LOCI_EBUSY the queue is full, LOCI_EUNAVAILABLE the deadline passed, LOCI_ENOMEM, else
 *           what the embedder said.
 *
 * Without threads of its own, whoever comes first computes for all who wait, and the next in the
 * queue follows: no timer, and nobody waits for company. A caller who computes leaves when the
 * embedder does, which keeps the deadline of the most patient of those who wait. With threads of
 * its own every caller can leave at the deadline, and what was computed for it is dropped.
 * Questions go before documents.
 */
#ifndef LOCI_EMBED_SERVICE_H
#define LOCI_EMBED_SERVICE_H

#include "embed/embed.h"

enum {
    LOCI_EMBED_BATCH = 64,     /* most texts of one pass */
    LOCI_EMBED_WAITING = 4096, /* most texts in the queue; more are turned away at once */
    LOCI_EMBED_PASSES = 16,    /* most passes at once */
};

typedef struct loci_embed_service loci_embed_service;

typedef struct loci_embed_service_options {
    unsigned passes;  /* passes at once, up to LOCI_EMBED_PASSES; 0 means 2 */
    unsigned threads; /* threads of its own, at most `passes`; 0: the callers compute */
    size_t waiting;   /* most texts in the queue; 0 means LOCI_EMBED_WAITING */
} loci_embed_service_options;

/* Takes the embedder over, also when it fails; `options` may be NULL. */
LOCI_MUST loci_rc loci_embed_service_new(loci_embedder *embedder,
                                         const loci_embed_service_options *options,
                                         loci_embed_service **ret_service, loci_err *err);
/* Nobody may be inside a call. Waits for a pass of its own threads. NULL is fine. */
void loci_embed_service_free(loci_embed_service *service);
LOCI_DEFINE_CLEANUP(loci_embed_service_freep, loci_embed_service, loci_embed_service_free)

/* Borrowed; dies with the service. */
const loci_embedder_info *loci_embed_service_info(const loci_embed_service *service);

/* The same with its dim, which a remote embedder may have to be asked for. */
LOCI_MUST loci_rc loci_embed_service_learn(loci_embed_service *service, int64_t deadline,
                                           const loci_embedder_info **ret_info, loci_err *err);

/* As loci_embedder_embed, for any number of texts, done by `deadline` (loci_clock_steady; 0 for
 * none) or not at all. */
LOCI_MUST loci_rc loci_embed_service_embed(loci_embed_service *service, loci_embed_kind kind,
                                           const loci_str *texts, size_t count, int64_t deadline,
                                           float *ret_vectors, loci_err *err);

/* As loci_embedder_tokens. */
LOCI_MUST loci_rc loci_embed_service_tokens(loci_embed_service *service, loci_str text,
                                            loci_arena *arena, loci_tokens *ret_tokens,
                                            loci_err *err);

/* The usual range of cosines between a question and a text (embed/range.h): what the model file
 * says, else measured at the first call, which takes as long as sixty short texts. */
LOCI_MUST loci_rc loci_embed_service_range(loci_embed_service *service, int64_t deadline,
                                           float *ret_low, float *ret_high, loci_err *err);

/* Whether a failure is the embedder's, so that every other text would fail too; else it is the
 * text's own. */
bool loci_embed_is_down(loci_rc rc);

/* Texts and passes so far: texts / passes is what waiting together brought. */
typedef struct loci_embed_service_counts {
    uint64_t texts, passes;
} loci_embed_service_counts;
loci_embed_service_counts loci_embed_service_count(loci_embed_service *service);

#endif
