/* embed/maker.h -- what a maker of vectors gives to embed/embed.c; private to this room.
 *
 * Here:     the functions behind an open embedder.
 * Not here: what callers see (embed/embed.h).
 * Owns:     a maker's own structure starts with a loci_embedder and is freed by its close.
 * Threads:  embed and tokens are called from any number of threads at once.
 * Errors:   as in embed/embed.h.
 */
#ifndef LOCI_EMBED_MAKER_H
#define LOCI_EMBED_MAKER_H

#include "embed/embed.h"

#include <stdatomic.h>

typedef struct loci_embedder_ops {
    loci_rc (*embed)(loci_embedder *, const loci_embed_call *, const loci_str *, size_t, float *,
                     loci_err *);
    loci_rc (*learn)(loci_embedder *, const loci_embed_call *, loci_err *); /* NULL: dim is known */
    loci_rc (*tokens)(loci_embedder *, loci_str, loci_arena *, loci_tokens *, loci_err *);
    void (*close)(loci_embedder *);
} loci_embedder_ops;

struct loci_embedder {
    const loci_embedder_ops *ops;
    _Atomic(const loci_embedder_info *) info; /* a whole new one is put here when dim is learned */
};

#endif
