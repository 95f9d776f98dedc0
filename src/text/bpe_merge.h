/* text/bpe_merge.h -- merging the byte pairs of one piece. Private to bpe.
 *
 * Here:     bytes of one piece in, tokens out.
 * Not here: cutting a text into pieces (text/bpe_split.h).
 * Owns:     a loci_bpe_scratch owns the memory that long pieces need; it is reused between pieces.
 * Threads:  one scratch, one thread at a time.
 * Errors:   LOCI_ELIMIT for a piece over LOCI_BPE_PIECE_BYTES, LOCI_ENOMEM.
 */
#ifndef LOCI_TEXT_BPE_MERGE_H
#define LOCI_TEXT_BPE_MERGE_H

#include "base/err.h"
#include "text/dict.h"

#include <stdint.h>

/* A piece is a run of letters, of signs or of blanks. One of this size takes 28 times its bytes. */
#define LOCI_BPE_PIECE_BYTES ((size_t)16 << 20)

enum { LOCI_BPE_SMALL = 48 }; /* up to here scanning for the best pair beats a heap */

typedef struct loci_bpe_part {
    uint32_t id;
    uint32_t end; /* offset in the piece */
} loci_bpe_part;

typedef struct loci_bpe_scratch {
    loci_bpe_part small[LOCI_BPE_SMALL]; /* the parts of a small piece */
    loci_bpe_part *large;                /* of a large one */
    uint32_t *links;
    uint64_t *heap;
    size_t room; /* bytes of piece that the three have room for */
} loci_bpe_scratch;

/* The parts that merging leaves of `piece`, borrowed from `scratch` until its next use.
 * byte_ids[b] is the id of the single byte b. */
LOCI_MUST loci_rc loci_bpe_merge(const loci_dict *dict, const uint32_t byte_ids[256],
                                 loci_str piece, loci_bpe_scratch *scratch,
                                 const loci_bpe_part **ret_parts, size_t *ret_count, loci_err *err);

/* A zeroed scratch is ready for use; done frees. */
void loci_bpe_scratch_done(loci_bpe_scratch *scratch);

#endif
