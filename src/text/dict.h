/* text/dict.h -- an immutable table from words (any bytes) to ids 0..count-1.
 *
 * Here:     building the table into one block of bytes, and looking words up in such a block where
 *           it lies, usually in a mapped file: opening reads the header and nothing else.
 * Not here: files (text/bpe.h maps its own; a model file carries its vocabulary), tokenizing.
 * Owns:     nothing: a loci_dict borrows its block; keep it mapped.
 * Threads:  reading is safe from any thread.
 * Errors:   LOCI_ECORRUPT for a block that is not such a table or is damaged.
 *
 * A block holds, in the byte order of the machine: header; 2^n slots of a hash table with open
 * addressing (fingerprint and id + 1); count + 1 offsets; the bytes of all words. The header has
 * a checksum of itself, checked at open, and one of the rest, checked by loci_dict_verify. A
 * damaged rest that nobody verified may give wrong ids, never a read outside the block.
 */
#ifndef LOCI_TEXT_DICT_H
#define LOCI_TEXT_DICT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum {
    LOCI_DICT_VERSION = 1,
    LOCI_DICT_WORDS = 1 << 22,   /* most words in one table */
    LOCI_DICT_WORD_BYTES = 1024, /* longest word */
    LOCI_DICT_ALIGN = 8,         /* a block must start at a multiple of this */
};

#define LOCI_DICT_NONE UINT32_MAX

/* Largest block that loci_dict_build makes. */
#define LOCI_DICT_BYTES ((size_t)256 << 20)

/* What a table is for: opening one for another purpose is refused. */
typedef enum loci_dict_kind {
    LOCI_DICT_O200K = 1,
    LOCI_DICT_CL100K = 2,
    LOCI_DICT_WORDPIECE = 3,
} loci_dict_kind;

typedef struct loci_dict {
    const uint64_t *slots; /* private, as all below but count and longest */
    const uint32_t *starts;
    const uint8_t *bytes;
    uint32_t bytes_len;
    uint32_t mask;   /* slots - 1 */
    uint32_t probes; /* no word lies further than this from its first slot */
    uint32_t count;
    uint32_t longest; /* bytes of the longest word */
    uint64_t checksum;
} loci_dict;

/* Append the table of words[0..count-1] to `out`; the id of a word is its place. `out` must be
 * empty or end on a multiple of LOCI_DICT_ALIGN.
 * Errors: LOCI_EINVAL an empty or a doubled word; LOCI_ELIMIT too many or too long. */
LOCI_MUST loci_rc loci_dict_build(const loci_str *words, size_t count, loci_dict_kind kind,
                                  loci_buf *out, loci_err *err);

/* Look at a block of exactly `size` bytes; only its header is read. */
LOCI_MUST loci_rc loci_dict_init(loci_dict *dict, const void *data, size_t size,
                                 loci_dict_kind kind, loci_err *err);

/* Read everything and compare the checksum. */
LOCI_MUST loci_rc loci_dict_verify(const loci_dict *dict, loci_err *err);

/* The id of a word, or LOCI_DICT_NONE. */
uint32_t loci_dict_find(const loci_dict *dict, const void *word, size_t len);

/* The word of an id; empty when there is no such id. */
loci_str loci_dict_get(const loci_dict *dict, uint32_t id);

#endif
