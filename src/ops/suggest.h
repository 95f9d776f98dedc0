/* ops/suggest.h -- "did you mean ...?" for a name that is not there.
 *
 * Here:     the nearest of several names, when it is near enough to be a slip.
 * Not here: which names there are.
 * Owns:     nothing: names are borrowed.
 * Threads:  pure functions.
 * Errors:   none.
 */
#ifndef LOCI_OPS_SUGGEST_H
#define LOCI_OPS_SUGGEST_H

#include "base/str.h"

/* Start with { .wanted = name }, try each candidate, then ask for the text. */
typedef struct loci_suggest {
    loci_str wanted;
    loci_str best;   /* private, as the next */
    size_t distance; /* of best, when there is one */
} loci_suggest;

typedef struct loci_suggest_words {
    char text[96];
} loci_suggest_words;

void loci_suggest_try(loci_suggest *s, loci_str candidate);

/* "; did you mean 'text'?", or nothing when no candidate was near. */
loci_suggest_words loci_suggest_text(const loci_suggest *s);

#endif
