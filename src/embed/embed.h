/* embed/embed.h -- text to vector: one interface for all makers of vectors.
 *
 * Here:     opening an embedder by name, vectors of texts, their tokens.
 * Not here: how each maker works (embed/builtin.h), where vectors are kept.
 * Owns:     an embedder owns its model and its scratch memory; results go where the caller says.
 * Threads:  an open embedder may be used by any number of threads.
 * Errors:   LOCI_EINVAL an unknown name, LOCI_ENOTFOUND no model file, LOCI_ECORRUPT a damaged one,
 *           LOCI_ENOSYS one of a newer loci, LOCI_ELIMIT, LOCI_ENOMEM, LOCI_EIO.
 */
#ifndef LOCI_EMBED_EMBED_H
#define LOCI_EMBED_EMBED_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "text/token.h"

typedef struct loci_embedder loci_embedder;

typedef struct loci_embedder_options {
    const char *name;      /* "builtin" (also NULL) or "builtin:fast" */
    const char *model_dir; /* where model files are; NULL: beside the program or the library */
    unsigned passes;       /* built-in: threads that compute at once, 1..64; 0 means 2. Others wait.
                            * Each takes up to 9 MB. */
} loci_embedder_options;

typedef struct loci_embedder_info {
    const char *id;    /* says all that a vector depends on: vectors of equal ids may be compared */
    const char *model; /* the model's own name */
    const char *licence; /* of its weights */
    size_t dim;          /* values of a vector */
    size_t max_tokens;   /* tokens of a text that count; what is behind them is left out */
    float cosine_low, cosine_high; /* usual range between texts; both 0: not measured */
} loci_embedder_info;

typedef enum loci_embed_kind {
    LOCI_EMBED_DOCUMENT, /* a text to be found */
    LOCI_EMBED_QUERY,    /* a question; some models want it marked */
} loci_embed_kind;

/* Open by name. Takes a few milliseconds at most: the model file is mapped, not read. */
LOCI_MUST loci_rc loci_embedder_open(const loci_embedder_options *options,
                                     loci_embedder **ret_embedder, loci_err *err);
void loci_embedder_close(loci_embedder *embedder); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_embedder_closep, loci_embedder, loci_embedder_close)

/* Borrowed; dies with the embedder. */
const loci_embedder_info *loci_embedder_get_info(const loci_embedder *embedder);

/* Write count * dim values to `ret_vectors`: one vector of length 1 per text, in the order of the
 * texts. Any bytes are a text, also none at all; what is past max_tokens is left out. A vector does
 * not depend on the other texts of the call; many at once are quicker than one by one. On failure
 * `ret_vectors` holds nothing of use. */
LOCI_MUST loci_rc loci_embedder_embed(loci_embedder *embedder, loci_embed_kind kind,
                                      const loci_str *texts, size_t count, float *ret_vectors,
                                      loci_err *err);

/* The tokens of `text` with their places, without marks at the ends: for counting and chunking.
 * Two fewer than max_tokens of them fit into one vector. They live in `arena`. */
LOCI_MUST loci_rc loci_embedder_tokens(loci_embedder *embedder, loci_str text, loci_arena *arena,
                                       loci_tokens *ret_tokens, loci_err *err);

#endif
