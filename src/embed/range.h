/* embed/range.h -- between which cosines a model's answers usually lie.
 *
 * Here:     measuring it on a fixed set of questions and answers of ours.
 * Not here: keeping it (embed/service.h), scaling with it (search).
 * Owns:     nothing.
 * Threads:  safe from any thread.
 * Errors:   what the embedder said; LOCI_ENOMEM.
 *
 * Each of thirty questions has one answer. `low` is the cosine that only one in fifty of the pairs
 * that do not belong together stays under; `high` the one that only one in ten of those that do
 * goes over. Both are rounded to hundredths, so that the small differences between CPUs, and
 * between two answers of a remote server, do not show. It depends on no data of anybody.
 */
#ifndef LOCI_EMBED_RANGE_H
#define LOCI_EMBED_RANGE_H

#include "embed/service.h"

/* `low` is at least 0.01 below `high`. */
LOCI_MUST loci_rc loci_range_measure(loci_embed_service *service, int64_t deadline, float *ret_low,
                                     float *ret_high, loci_err *err);

#endif
