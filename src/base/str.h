/* base/str.h -- borrowed text: a pointer and a length.
 *
 * Here:     slices of bytes, comparing, cutting, numbers out of them.
 * Not here: building text (base/buf.h), Unicode (base/utf8.h).
 * Owns:     nothing: a slice borrows, keep what it points to alive. ptr may be NULL when len is 0.
 * Threads:  pure functions.
 * Errors:   parsers return false and leave their output untouched.
 */
#ifndef LOCI_BASE_STR_H
#define LOCI_BASE_STR_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct loci_str {
    const char *ptr;
    size_t len;
} loci_str;

/* A slice of a string literal. */
#define LOCI_STR(literal) ((loci_str){ "" literal, sizeof(literal) - 1 })

/* printf("%.*s", LOCI_ARG(s)): for text that is known to be shorter than 2 GiB. */
#define LOCI_ARG(s) (int)(s).len, (s).len ? (s).ptr : ""

/* A slice of a C string; NULL gives the empty slice. */
loci_str loci_str_from(const char *text);

bool loci_str_eq(loci_str a, loci_str b);
bool loci_str_eq_nocase(loci_str a, loci_str b); /* ASCII letters only */
bool loci_str_eq_name(loci_str a, loci_str b);   /* '-' and '_' are the same */
int loci_str_cmp(loci_str a, loci_str b);        /* by bytes, shorter first: as memcmp */
bool loci_str_starts(loci_str s, loci_str prefix);
bool loci_str_ends(loci_str s, loci_str suffix);

/* Offset of the first `needle`, or s.len when there is none. */
size_t loci_str_find(loci_str s, loci_str needle);

/* The part from `start` of `len` bytes, both cut to what there is. */
loci_str loci_str_sub(loci_str s, size_t start, size_t len);

/* Without ASCII blanks (space, tab, CR, LF) at both ends. */
loci_str loci_str_trim(loci_str s);

/* Take the part before the next `sep` off the front of *rest. False when *rest is used up:
 * *rest becomes { NULL, 0 } after the last part, so "a," has two parts and "" has one. */
bool loci_str_cut(loci_str *rest, char sep, loci_str *ret_part);

/* Decimal, the whole slice, an optional '-': no blanks, no '+', no overflow. */
LOCI_MUST bool loci_str_to_i64(loci_str s, int64_t *ret);
LOCI_MUST bool loci_str_to_u64(loci_str s, uint64_t *ret);

/* How far apart two words are: insertions, deletions, changes and swaps of neighbours, up to
 * `limit` + 1. For suggestions; words over 64 bytes count as far. */
size_t loci_str_distance(loci_str a, loci_str b, size_t limit);

#endif
