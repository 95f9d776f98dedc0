/* embed/remote_shape.h -- what the services of others want to be sent, and what they answer.
 *
 * Here:     the three shapes: OpenAI's /embeddings, Ollama's /api/embed, TEI's /embed.
 * Not here: sending (embed/remote_send.h), which texts go together (embed/remote.h).
 * Owns:     nothing: requests go to the caller's buffer, vectors to the caller's arena.
 * Threads:  pure functions.
 * Errors:   LOCI_ECORRUPT an answer that is not what was asked for, with what it is instead;
 *           LOCI_ELIMIT, LOCI_ENOMEM.
 */
#ifndef LOCI_EMBED_REMOTE_SHAPE_H
#define LOCI_EMBED_REMOTE_SHAPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    LOCI_REMOTE_DIM = 16384,           /* most values of a vector */
    LOCI_REMOTE_TEXT_BYTES = 32 << 10, /* of a text; what is behind them is left out */
};

typedef enum loci_remote_shape {
    LOCI_REMOTE_OPENAI,
    LOCI_REMOTE_OLLAMA,
    LOCI_REMOTE_TEI,
} loci_remote_shape;

/* Append the body of a request for `count` texts, of any bytes. `model` is not used by TEI. */
LOCI_MUST loci_rc loci_remote_ask(loci_remote_shape shape, const char *model, const loci_str *texts,
                                  size_t count, loci_buf *out, loci_err *err);

/* Vectors of length 1, one behind the other. */
typedef struct loci_remote_vectors {
    float *values;
    size_t dim;
} loci_remote_vectors;

/* Read the answer, which may be any bytes, to a request for `count` texts (at least 1). All vectors
 * have the same length, 1..LOCI_REMOTE_DIM values, which are numbers and not all 0. */
LOCI_MUST loci_rc loci_remote_read(loci_remote_shape shape, loci_str answer, size_t count,
                                   loci_arena *arena, loci_remote_vectors *ret_vectors,
                                   loci_err *err);

/* What an answer with an error says, in a form that is fit for a message: printable, at most 120
 * bytes, in `arena`. Empty when it says nothing of use, or when `key` (may be NULL) is in it. */
loci_str loci_remote_complaint(loci_str answer, const char *key, loci_arena *arena);

#endif
