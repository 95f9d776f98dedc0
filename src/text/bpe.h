/* text/bpe.h -- exact token counts of o200k_base and cl100k_base.
 *
 * Here:     opening a converted token table, counting, encoding, cutting a text to n tokens; the
 *           converter from the published .tiktoken files; the ceil(bytes / 4) rule.
 * Not here: the tokenizer of the built-in embedding models (text/wordpiece.h).
 * Owns:     a loci_bpe owns its mapping; tokens live in the caller's arena.
 * Threads:  one open table may be used by any number of threads.
 * Errors:   LOCI_ENOTFOUND no such file, LOCI_ECORRUPT not a table or damaged, LOCI_ELIMIT text too
 *           long, LOCI_ENOMEM.
 *
 * Texts are any bytes. Special tokens ("<|endoftext|>") are ordinary text here. Memory for merging
 * is bounded by the longest piece of the text, time is O(n log n) for any input.
 */
#ifndef LOCI_TEXT_BPE_H
#define LOCI_TEXT_BPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "text/token.h"

typedef enum loci_bpe_scheme {
    LOCI_BPE_O200K,
    LOCI_BPE_CL100K,
} loci_bpe_scheme;

typedef struct loci_bpe loci_bpe;

/* "o200k_base" and "cl100k_base", also without "_base". */
LOCI_MUST loci_rc loci_bpe_scheme_parse(loci_str name, loci_bpe_scheme *ret_scheme, loci_err *err);
const char *loci_bpe_scheme_name(loci_bpe_scheme scheme);

/* Map the table at `path`; only its header and its 256 single bytes are looked at. */
LOCI_MUST loci_rc loci_bpe_open(const char *path, loci_bpe_scheme scheme, loci_bpe **ret_bpe,
                                loci_err *err);
/* The same for a table in memory, which is borrowed and must lie at a multiple of 8. */
LOCI_MUST loci_rc loci_bpe_open_memory(loci_str table, loci_bpe_scheme scheme, loci_bpe **ret_bpe,
                                       loci_err *err);
void loci_bpe_close(loci_bpe *bpe); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_bpe_closep, loci_bpe, loci_bpe_close)

/* Read the whole table and compare its checksum. */
LOCI_MUST loci_rc loci_bpe_verify(const loci_bpe *bpe, loci_err *err);

/* How many tokens `text` is. */
LOCI_MUST loci_rc loci_bpe_count(const loci_bpe *bpe, loci_str text, size_t *ret_count,
                                 loci_err *err);

/* The tokens of `text` in order; together they cover every byte of it. */
LOCI_MUST loci_rc loci_bpe_encode(const loci_bpe *bpe, loci_str text, loci_arena *arena,
                                  loci_tokens *ret_tokens, loci_err *err);

/* How many bytes of `text`, from its start and never ending inside a character, are at most
 * `limit` tokens when counted alone. All of them when it is that short; else as many as the first
 * tokens of the whole text cover, less what recounting the cut text asks for. */
LOCI_MUST loci_rc loci_bpe_cut(const loci_bpe *bpe, loci_str text, size_t limit, size_t *ret_len,
                               loci_err *err);

/* ceil(bytes / 4): the estimate that needs no table. */
size_t loci_bpe_estimate(size_t bytes);

/* Turn the text of a .tiktoken file (lines of base64, a space and the rank) into a table, appended
 * to the empty `out`. Every rank from 0 must be there once, and every single byte.
 * Errors: LOCI_ECORRUPT with the line that is wrong. */
LOCI_MUST loci_rc loci_bpe_convert(loci_str tiktoken, loci_bpe_scheme scheme, loci_buf *out,
                                   loci_err *err);

#endif
