/* text/fold.h -- making letters that differ only in case or accent the same.
 *
 * Here:     case folding of whole texts for substring search; accents off for index words.
 * Not here: words and stems (text/words.h).
 * Owns:     nothing; results go to the caller's memory.
 * Threads:  pure functions.
 * Errors:   none of their own; a full loci_buf tells so itself.
 */
#ifndef LOCI_TEXT_FOLD_H
#define LOCI_TEXT_FOLD_H

#include "base/buf.h"
#include "base/str.h"

/* Append `text` under Unicode's full case folding: "Straße" and "STRASSE" become the same. Accents,
 * composition and width stay as they are, and bytes that are not UTF-8 are copied, so that any
 * bytes can be searched for. At most three times as long as `text`. */
void loci_fold_case(loci_str text, loci_buf *out);

/* Write `word`, which is in lower case, without the accents of Latin, Greek, Cyrillic, Hebrew and
 * Arabic letters into `out`, as many whole characters as fit `room`; returns the length. Letters
 * that only look accented go to their base too: ø l-stroke æ become o l ae. Marks that carry sounds
 * (vowel signs of Indic scripts, Thai tones, kana voicing) and the Cyrillic short i stay. */
size_t loci_fold_accents(loci_str word, char *out, size_t room);

#endif
