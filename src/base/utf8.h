/* base/utf8.h -- UTF-8: is it, make it so, walk over it.
 *
 * Here:     strict checking, repair, one character in and out, counting, cutting.
 * Not here: what characters mean: folding, normalising, words (text/).
 * Owns:     nothing: slices borrow; repaired text goes to the caller's buffer.
 * Threads:  pure functions.
 * Errors:   none: every byte string has an answer. A buffer that is full tells so itself.
 *
 * Strict means: no overlong forms, no surrogates, nothing above U+10FFFF. Where bytes are wrong,
 * the unit is the maximal subpart: the longest run that could still have opened a character, else
 * one byte. It counts as one character and is repaired to one U+FFFD.
 */
#ifndef LOCI_BASE_UTF8_H
#define LOCI_BASE_UTF8_H

#include "base/buf.h"
#include "base/str.h"

#define LOCI_UTF8_BAD UINT32_MAX /* no character: the bytes are wrong */

/* Offset of the first byte that belongs to no character; s.len when there is none. A character
 * that the end cuts short is wrong from its first byte on. */
size_t loci_utf8_check(loci_str s);
bool loci_utf8_valid(loci_str s);

/* Append `s` with U+FFFD for each maximal subpart that is wrong. */
void loci_utf8_repair(loci_buf *out, loci_str s);

/* The first character of `s`, which must not be empty. Returns how many bytes it has (1..4). Where
 * they are wrong, *ret_code is LOCI_UTF8_BAD and the result is the length of the subpart (1..3). */
size_t loci_utf8_decode(loci_str s, uint32_t *ret_code);

/* Write one character; returns how many bytes (1..4), or 0 for a surrogate or a number above
 * U+10FFFF, when nothing is written. No NUL is added. */
size_t loci_utf8_encode(uint32_t code, char ret_bytes[4]);

/* Can it be shown as it is? Not so: controls, separators of lines, blanks that look like nothing or
 * like another blank, marks that turn the line around or join its letters, LOCI_UTF8_BAD. */
bool loci_utf8_visible(uint32_t code);

/* How many characters. */
size_t loci_utf8_count(loci_str s);

/* The longest front part of at most `max` bytes that ends between characters. */
loci_str loci_utf8_cut(loci_str s, size_t max);

#endif
