/* embed/embed.h -- text to vector: one interface for all makers of vectors.
 *
 * Here:     opening an embedder by name, vectors of texts, their tokens.
 * Not here: how each maker works (embed/builtin.h, embed/remote.h), where vectors are kept.
 * Owns:     an embedder owns its model and its scratch memory; results go where the caller says.
 * Threads:  an open embedder may be used by any number of threads.
 * Errors:   LOCI_EINVAL an unknown name, LOCI_ENOTFOUND no model file, LOCI_ECORRUPT a damaged one,
 *           LOCI_ENOSYS one of a newer loci, LOCI_ELIMIT, LOCI_ENOMEM, LOCI_EIO. Of remote makers
 *           too: LOCI_EUNAVAILABLE away or too slow, LOCI_EBUSY it wants fewer requests, LOCI_EAUTH
 *           and LOCI_EDENIED the key or the certificate, LOCI_ECORRUPT a wrong answer, LOCI_EINVAL
 *           a text that it refuses. No message has a key in it.
 */
#ifndef LOCI_EMBED_EMBED_H
#define LOCI_EMBED_EMBED_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "text/token.h"

typedef struct loci_embedder loci_embedder;

typedef struct loci_embedder_options {
    const char *name;      /* "builtin" (also NULL), "builtin:fast", "openai:URL#MODEL",
                            * "ollama:URL#MODEL" or "tei:URL" */
    const char *model_dir; /* where model files are; NULL: beside the program or the library */
    unsigned passes;       /* built-in: threads that compute at once, 1..64; 0 means 2. Others wait.
                            * Each takes up to 9 MB. */

    /* For remote makers; zero means the default that stands behind each. Times are microseconds. */
    size_t dim; /* what vectors must have, when it is known: learned from the first answer */
    unsigned concurrency; /* requests at once, 1..16: 3 */
    int64_t timeout;      /* of a call that has no deadline: 30 s */
    int64_t retry_wait;   /* before the second try, doubled for each further one: 250 ms */
    char *const *env;     /* where keys are looked up, like environ: the program's own */
} loci_embedder_options;

typedef struct loci_embedder_info {
    const char *id;    /* says all that a vector depends on: vectors of equal ids may be compared */
    const char *model; /* the model's own name */
    const char *licence; /* of its weights */
    size_t dim;          /* values of a vector; 0: not known yet, see loci_embedder_learn */
    size_t max_tokens;   /* tokens of a text that count; what is behind them is left out. Of remote
                          * makers the most that are sent; their model may have fewer. */
    float cosine_low, cosine_high; /* usual range between texts; both 0: not measured */
} loci_embedder_info;

typedef enum loci_embed_kind {
    LOCI_EMBED_DOCUMENT, /* a text to be found */
    LOCI_EMBED_QUERY,    /* a question; some models want it marked */
} loci_embed_kind;

/* How one call is made. */
typedef struct loci_embed_call {
    loci_embed_kind kind;
    int64_t deadline; /* by loci_clock_steady; 0: none, or the timeout of a remote maker */
    bool (*cancelled)(void *context); /* asked now and then, by several threads; may be NULL */
    void *context;
    size_t *refused; /* is told which text made a remote maker fail the call with LOCI_EINVAL, and
                      * is else left alone; may be NULL */
} loci_embed_call;

/* Open by name. Takes a few milliseconds at most: the model file is mapped, not read, and a remote
 * maker is not asked anything. */
LOCI_MUST loci_rc loci_embedder_open(const loci_embedder_options *options,
                                     loci_embedder **ret_embedder, loci_err *err);
void loci_embedder_close(loci_embedder *embedder); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_embedder_closep, loci_embedder, loci_embedder_close)

/* Borrowed; dies with the embedder. */
const loci_embedder_info *loci_embedder_get_info(const loci_embedder *embedder);

/* The same with its dim: a remote maker that has not answered yet is asked for a vector. Once
 * known, dim stays: vectors of another length are LOCI_ECORRUPT. */
LOCI_MUST loci_rc loci_embedder_learn(loci_embedder *embedder, const loci_embed_call *call,
                                      const loci_embedder_info **ret_info, loci_err *err);

/* Write count * dim values to `ret_vectors`: one vector of length 1 per text, in the order of the
 * texts. Any bytes are a text, also none at all; what is past max_tokens is left out. A vector does
 * not depend on the other texts of the call; many at once are quicker than one by one. On failure
 * `ret_vectors` holds nothing of use. The dim must be known: else LOCI_EINVAL. */
LOCI_MUST loci_rc loci_embedder_embed(loci_embedder *embedder, loci_embed_kind kind,
                                      const loci_str *texts, size_t count, float *ret_vectors,
                                      loci_err *err);

/* The same with a deadline and more: LOCI_EUNAVAILABLE when it passes or nobody waits any more. */
LOCI_MUST loci_rc loci_embedder_embed_call(loci_embedder *embedder, const loci_embed_call *call,
                                           const loci_str *texts, size_t count, float *ret_vectors,
                                           loci_err *err);

/* The tokens of `text` with their places, without marks at the ends: for counting and chunking.
 * Two fewer than max_tokens of them fit into one vector. They live in `arena`. Those of remote
 * makers are o200k tokens; LOCI_ENOTFOUND without that table. */
LOCI_MUST loci_rc loci_embedder_tokens(loci_embedder *embedder, loci_str text, loci_arena *arena,
                                       loci_tokens *ret_tokens, loci_err *err);

#endif
