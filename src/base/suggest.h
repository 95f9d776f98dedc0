/* base/suggest.h -- "did you mean ...?" for a name that is not there.
 *
 * Here:     the nearest of several names, when it is near enough to be a slip.
 * Not here: which names there are.
 * Owns:     nothing: names are borrowed.
 * Threads:  pure functions.
 * Errors:   none.
 */
#ifndef LOCI_BASE_SUGGEST_H
#define LOCI_BASE_SUGGEST_H

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

/* Near is: two slips of a finger, one in a short name. '-' and '_' are the same, because names are
 * written with either. Of those equally near the first one stands. */
void loci_suggest_try(loci_suggest *s, loci_str candidate);

/* "; did you mean 'text'?", or nothing when no candidate was near. */
loci_suggest_words loci_suggest_text(const loci_suggest *s);

#endif
