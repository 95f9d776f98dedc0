/* embed/vocab.h -- a model's words, as its makers ship them.
 *
 * Here:     one word per line, in the order of their ids, out of vocab.txt or tokenizer.json.
 * Not here: cutting text into those words (text/wordpiece.h).
 * Owns:     nothing: the lines live in the arena.
 * Threads:  pure.
 * Errors:   LOCI_ECORRUPT when words are missing or doubled, LOCI_ESHAPE not JSON, LOCI_ELIMIT.
 */
#ifndef LOCI_EMBED_VOCAB_H
#define LOCI_EMBED_VOCAB_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* `file` is a list of lines, or JSON when it starts with '{': then model.vocab gives word and id.
 * Every id below `count` must have a word. Any bytes are refused or understood, never worse. */
LOCI_MUST loci_rc loci_vocab_lines(loci_str file, size_t count, loci_arena *arena,
                                   loci_str *ret_lines, loci_err *err);

#endif
