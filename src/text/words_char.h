/* text/words_char.h -- the characters of a text as the word analyser sees them. Private to words.
 *
 * Here:     a letter with its marks as one unit, folded in case and width, and what kind it is.
 * Not here: which characters make a word (text/words.c).
 * Owns:     nothing.
 * Threads:  pure functions.
 * Errors:   cannot fail; what is not UTF-8 is a border.
 */
#ifndef LOCI_TEXT_WORDS_CHAR_H
#define LOCI_TEXT_WORDS_CHAR_H

#include "base/str.h"

typedef enum loci_words_kind {
    LOCI_WORDS_BORDER,
    LOCI_WORDS_LETTER,
    LOCI_WORDS_DIGIT,
    LOCI_WORDS_BIGRAM, /* of a script that is written without blanks */
    LOCI_WORDS_JOINER, /* _ - . */
    LOCI_WORDS_APOSTROPHE,
} loci_words_kind;

enum { LOCI_WORDS_CHAR_BYTES = 64 };

typedef struct loci_words_char {
    loci_words_kind kind;
    bool upper, lower;                 /* as it stood in the text */
    size_t end;                        /* offset in the text of what follows */
    size_t len;                        /* of bytes */
    char bytes[LOCI_WORDS_CHAR_BYTES]; /* case-folded, composed, compatibility forms resolved */
} loci_words_char;

/* Read the unit at `at` (<= text.len). At the end of the text it is a border with end == at. */
void loci_words_char_read(loci_str text, size_t at, loci_words_char *ret);

#endif
