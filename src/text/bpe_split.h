/* text/bpe_split.h -- where the pieces of a text end, before byte pairs are merged.
 *
 * Here:     the split patterns of o200k_base and cl100k_base as hand-written matchers.
 * Not here: merging (text/bpe.h).
 * Owns:     nothing.
 * Threads:  pure functions.
 * Errors:   cannot fail; any bytes are legal. What is not UTF-8 counts as U+FFFD.
 *
 * Over a whole text the cost is linear: a piece may look ahead past its end, but what it looked at
 * and did not take is taken by at most two following pieces.
 */
#ifndef LOCI_TEXT_BPE_SPLIT_H
#define LOCI_TEXT_BPE_SPLIT_H

#include "base/str.h"

/* The end of the piece that starts at `at` (< text.len); always past `at`. */
size_t loci_bpe_split_o200k(loci_str text, size_t at);
size_t loci_bpe_split_cl100k(loci_str text, size_t at);

#endif
