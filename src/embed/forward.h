/* embed/forward.h -- from token ids to a vector: the forward pass of a BERT-shaped model.
 *
 * Here:     embedding tables, attention, feed-forward, pooling, normalisation.
 * Not here: text to ids (text/wordpiece.h), the model's file (embed/model_file.h).
 * Owns:     a pass owns its scratch memory, which is made once and used again; it borrows the
 * model. Threads:  one pass, one thread at a time; several passes may share a model. Errors:
 * LOCI_EINVAL ids that are not the model's, LOCI_ELIMIT a text over its window, LOCI_ECORRUPT a
 * damaged model file, LOCI_ENOMEM.
 */
#ifndef LOCI_EMBED_FORWARD_H
#define LOCI_EMBED_FORWARD_H

#include "base/err.h"
#include "embed/model_file.h"

#include <stddef.h>
#include <stdint.h>

/* One text: its ids with the marks at both ends. */
typedef struct loci_ids {
    const uint32_t *ids;
    size_t count;
} loci_ids;

typedef struct loci_forward loci_forward;

/* Scratch memory for passes through `model`: about 10 MB for a hidden width of 384, of which only
 * what is used is touched. */
LOCI_MUST loci_rc loci_forward_new(loci_model *model, loci_forward **ret_pass, loci_err *err);
void loci_forward_free(loci_forward *pass); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_forward_freep, loci_forward, loci_forward_free)

/* Write one vector of `hidden` values and length 1 per text to `ret_vectors`, one after the other.
 * A vector does not depend on which texts it was computed with. Texts go through together, up to
 * some 1000 tokens at once, which reads the weights once for all of them. On failure
 * `ret_vectors` holds nothing of use. */
LOCI_MUST loci_rc loci_forward_run(loci_forward *pass, const loci_ids *texts, size_t count,
                                   float *ret_vectors, loci_err *err);

#endif
