/* text/chunk.h -- cutting a long text into chunks that a model can read.
 *
 * Here:     borders at paragraphs, else sentences, else words, else characters; sizes in tokens.
 * Not here: the tokens themselves: any tokenizer's will do (text/wordpiece.h, text/bpe.h).
 * Owns:     nothing; chunks live in the caller's arena and are offsets into the text.
 * Threads:  pure.
 * Errors:   LOCI_EINVAL sizes out of range, LOCI_ELIMIT and LOCI_ENOMEM from the arena.
 *
 * The new parts of all chunks, in order, are exactly the text. No border is inside a UTF-8
 * sequence. Same text, tokens and sizes, same chunks. Time is linear in text and tokens, and a
 * chunk repeats at most half of what was new in the one before, so all together are at most one and
 * a half times the text. A chunk read alone may have a few tokens more or fewer than it has here,
 * where its border was not between words.
 */
#ifndef LOCI_TEXT_CHUNK_H
#define LOCI_TEXT_CHUNK_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "text/token.h"

enum {
    LOCI_CHUNK_LEAST = 8, /* fewest tokens per chunk: one character can be four */
    LOCI_CHUNK_MOST = 1 << 20,
};

typedef struct loci_chunk_size {
    size_t tokens;  /* most per chunk, LOCI_CHUNK_LEAST..LOCI_CHUNK_MOST */
    size_t overlap; /* most that a chunk repeats of the one before, up to half of `tokens` */
} loci_chunk_size;

typedef struct loci_chunk {
    size_t start;  /* first byte, what is repeated included */
    size_t fresh;  /* first byte that the chunk before does not have */
    size_t end;    /* one past the last byte */
    size_t tokens; /* of the given ones between start and end */
} loci_chunk;

typedef struct loci_chunk_list {
    loci_chunk *items;
    size_t count;
} loci_chunk_list;

/* Cut `text`, whose tokens in rising order are given. An empty text has no chunks, a text without
 * tokens has one. */
LOCI_MUST loci_rc loci_chunk_split(loci_str text, const loci_tokens *tokens, loci_chunk_size size,
                                   loci_arena *arena, loci_chunk_list *ret_list, loci_err *err);

#endif
