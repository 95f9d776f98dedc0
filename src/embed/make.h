/* embed/make.h -- from texts to the vectors that are kept: chunks, passes, one outcome per text.
 *
 * Here:     cutting long texts, embedding many together, keeping a bad text from the others.
 * Not here: the table (embed/vectors.h), who waits for whom (embed/service.h).
 * Owns:     nothing; vectors live in the caller's arena.
 * Threads:  safe from any thread.
 * Errors:   each text has its own.
 *
 * A text of at most `tokens` tokens has one vector, which stands for all of it; a longer one has
 * one per chunk. Of a text only the first LOCI_MAKE_TEXT bytes, and of those the first
 * LOCI_VECTOR_CHUNKS chunks, get vectors; words find the rest.
 */
#ifndef LOCI_EMBED_MAKE_H
#define LOCI_EMBED_MAKE_H

#include "embed/service.h"
#include "embed/vectors.h"

enum {
    LOCI_MAKE_TOKENS = 300,    /* of a chunk, unless told otherwise */
    LOCI_MAKE_TEXT = 4 << 20,  /* bytes of a text that are looked at */
    LOCI_MAKE_ARENA = 96 << 20 /* what one text of that size needs for its tokens, at most */
};

typedef struct loci_make_item {
    loci_str text;        /* in */
    loci_rc rc;           /* out: LOCI_OK, and the vectors are there */
    loci_vectors vectors; /* out */
    loci_err err;         /* out */
} loci_make_item;

typedef struct loci_make_options {
    size_t tokens;    /* of a chunk; 0 means LOCI_MAKE_TOKENS; never more than the model reads */
    size_t overlap;   /* tokens that a chunk repeats of the one before, up to half of it */
    int64_t deadline; /* loci_clock_steady; 0 for none. What is not done then is not done. */
    loci_rc (*tick)(void *arg, loci_err *err); /* between passes; its failure ends the work */
    void *arg;
} loci_make_options;

/* Make the vectors of all items, several in one pass. When the embedder fails, all that are not
 * done fail with it; when one text fails, it fails alone. */
void loci_make_vectors(loci_embed_service *service, const loci_make_options *options,
                       loci_make_item *items, size_t count, loci_arena *arena);

#endif
