/* base/config_value.h -- one configuration value: text to number, and what is allowed in words.
 *
 * Here:     the grammar of every kind of value. For base/config.c and its reference page only.
 * Not here: where values come from, and which wins (base/config.h).
 * Owns:     nothing.
 * Threads:  pure functions.
 * Errors:   false for a text that is not allowed; the caller says where it came from.
 */
#ifndef LOCI_BASE_CONFIG_VALUE_H
#define LOCI_BASE_CONFIG_VALUE_H

#include "base/buf.h"
#include "base/config.h"

typedef struct loci_config_number {
    int64_t integer; /* INT, SIZE, DURATION; BOOL as 0 or 1; ENUM as the word's position */
    double real;     /* FLOAT */
} loci_config_number;

/* Read `text` as a value of `key`, bounds included. Texts are always fine and give zeros. */
LOCI_MUST bool loci_config_value_parse(const loci_config_key *key, loci_str text,
                                       loci_config_number *ret_number);

/* true, yes, on, 1 and their opposites, in any case of letters. */
LOCI_MUST bool loci_config_value_bool(loci_str text, bool *ret_value);

/* Append what `key` allows: "a size such as 64KiB or 32MiB, from 1KiB to 1GiB". */
void loci_config_value_allowed(const loci_config_key *key, loci_buf *out);

#endif
