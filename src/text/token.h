/* text/token.h -- one token of a text: what every tokenizer here gives.
 *
 * Here:     the type that bpe, wordpiece and chunk share.
 * Not here: how texts become tokens (text/bpe.h, text/wordpiece.h).
 * Owns:     nothing; offsets point into the text that was read.
 * Threads:  plain data.
 * Errors:   none.
 */
#ifndef LOCI_TEXT_TOKEN_H
#define LOCI_TEXT_TOKEN_H

#include <stddef.h>
#include <stdint.h>

/* Texts longer than this are refused, so that offsets fit and memory stays bounded. */
#define LOCI_TOKEN_TEXT_BYTES ((size_t)64 << 20)

typedef struct loci_token {
    uint32_t id;
    uint32_t start; /* first byte of the text that the token stands for */
    uint32_t end;   /* one past the last */
} loci_token;

typedef struct loci_tokens {
    loci_token *items;
    size_t count;
} loci_tokens;

#endif
