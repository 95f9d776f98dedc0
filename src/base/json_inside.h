/* base/json_inside.h -- what the files of the JSON reader and writer share among themselves.
 *
 * Here:     plain stretches of text, numbers, and names that must be unique.
 * Not here: anything for other files: they use base/json.h.
 * Owns:     nothing.
 * Threads:  pure functions, but for the C locale, which is made once by whoever comes first.
 * Errors:   told by the result; whoever calls knows the place and makes the message.
 */
#ifndef LOCI_BASE_JSON_INSIDE_H
#define LOCI_BASE_JSON_INSIDE_H

#include "base/json.h"

#include <string.h>

/* How many bytes at the front of `s` stand for themselves inside quotes: all but those below 0x20,
 * the quote and the backslash. Eight at a time: the high bit of a byte of `hit` is set when that
 * byte is one of those (bytes above a first hit may be marked wrongly; the loop behind looks
 * again). Bytes above 0x7F are not looked into. */
static inline size_t loci_json_plain_run(loci_str s)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones * 0x80;
    size_t i = 0;

    for (; s.len - i >= 8; i += 8) {
        uint64_t x;
        memcpy(&x, s.ptr + i, sizeof x);
        uint64_t quote = x ^ ones * '"', slash = x ^ ones * '\\';
        uint64_t hit =
            ((x - ones * 0x20) & ~x) | ((quote - ones) & ~quote) | ((slash - ones) & ~slash);
        if (hit & tops) break;
    }
    while (i < s.len && (unsigned char)s.ptr[i] >= 0x20 && s.ptr[i] != '"' && s.ptr[i] != '\\') i++;
    return i;
}

typedef enum loci_json_number_rc {
    LOCI_JSON_NUMBER_OK,
    LOCI_JSON_NUMBER_DIGIT, /* a digit must stand at *ret_len */
    LOCI_JSON_NUMBER_ZERO,  /* a zero in front */
    LOCI_JSON_NUMBER_RANGE, /* neither an int64 nor a double can hold it */
    LOCI_JSON_NUMBER_ARENA, /* the arena had no room for a copy of it */
    LOCI_JSON_NUMBER_NOMEM, /* out of memory elsewhere */
} loci_json_number_rc;

/* Read the number that `text` starts with, which is a digit or a minus, and whatever may follow.
 * *ret_len is its length, also when it is out of range. A number of 64 bytes and more that is not
 * an integer takes a copy of itself from the arena. */
LOCI_MUST loci_json_number_rc loci_json_read_number(loci_arena *arena, loci_str text,
                                                    loci_json *ret_value, size_t *ret_len);

/* Objects with more names than this have an index. */
enum { LOCI_JSON_FEW = 16 };

/* One row of the index, which stands behind the members, sorted by hash and then by name. */
typedef struct loci_json_row {
    uint32_t hash;
    uint32_t at; /* which member */
} loci_json_row;

/* Leave one member of each name: at the first place, with the last value. Returns how many are
 * left, at the front. For at most LOCI_JSON_FEW members: it compares each with each. */
size_t loci_json_settle_few(loci_json_member *members, size_t count);

/* The same for any number of members in O(n log n), and the index of those left is written behind
 * the last of them. Behind the members there must be room for 2 * count rows. */
size_t loci_json_settle_many(loci_json_member *members, size_t count);

#endif
