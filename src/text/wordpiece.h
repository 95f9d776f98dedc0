/* text/wordpiece.h -- the tokenizer of BERT-shaped embedding models (lower case, accents stripped).
 *
 * Here:     building the vocabulary table, text to piece ids with their places in the text.
 * Not here: the models themselves (embed/), tokens of chat models (text/bpe.h).
 * Owns:     nothing: the vocabulary is borrowed where it lies, usually in a mapped model file;
 * tokens live in the caller's arena. Threads:  safe from any thread. Errors:   LOCI_ECORRUPT a
 * vocabulary that is damaged or lacks a special piece, LOCI_ELIMIT text or result too long,
 * LOCI_ENOMEM.
 *
 * The rules. 1: control, format, private and unassigned characters, U+0000 and U+FFFD are dropped,
 * and so is what is not UTF-8; tab, LF, CR and all separators become a blank. 2: every CJK
 * ideograph (not kana, not Hangul) is a word. 3: lower case (with the final sigma), canonical
 * decomposition, nonspacing marks deleted. 4: words end at blanks; every punctuation character is a
 * word. 5: a word is cut greedily into the longest pieces that the vocabulary has, "##" marks those
 * that continue one; a word over 100 characters or with a part that no piece fits is one [UNK]. 6:
 * model input is [CLS], the pieces, [SEP]. "[SEP]" in a text is text. Time is linear.
 */
#ifndef LOCI_TEXT_WORDPIECE_H
#define LOCI_TEXT_WORDPIECE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "text/dict.h"
#include "text/token.h"

typedef struct loci_wordpiece {
    loci_dict vocabulary;
    uint32_t unknown, cls, sep, pad; /* ids of [UNK], [CLS], [SEP], [PAD] */
} loci_wordpiece;

/* Append the table of a vocab.txt (one piece per line, the line number from 0 is its id) to `out`,
 * which must be empty or end on a multiple of LOCI_DICT_ALIGN. CR before LF and an empty last line
 * are fine.
 * Errors: LOCI_EINVAL an empty or doubled line, LOCI_ECORRUPT without the special pieces. */
LOCI_MUST loci_rc loci_wordpiece_build(loci_str vocabulary_text, loci_buf *out, loci_err *err);

/* Look at such a table where it lies; only its header and the special pieces are read. */
LOCI_MUST loci_rc loci_wordpiece_init(loci_wordpiece *wp, const void *table, size_t size,
                                      loci_err *err);

/* The pieces of `text` without [CLS] and [SEP], the first `limit` of them (0: all), each with the
 * bytes it stands for. Places rise but may leave gaps (blanks, dropped characters); pieces of one
 * character that decomposes (Hangul) share its place. */
LOCI_MUST loci_rc loci_wordpiece_encode(const loci_wordpiece *wp, loci_str text, size_t limit,
                                        loci_arena *arena, loci_tokens *ret_tokens, loci_err *err);

/* What a model reads: [CLS], the first max - 2 pieces, [SEP]. `max` is at least 2. */
LOCI_MUST loci_rc loci_wordpiece_input(const loci_wordpiece *wp, loci_str text, size_t max,
                                       loci_arena *arena, loci_tokens *ret_tokens, loci_err *err);

#endif
