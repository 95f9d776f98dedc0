/* net/uri.h -- the target of a request: its path and its parameters.
 *
 * Here:     cutting "/path?query", percent decoding, walking over parameters.
 * Not here: which paths exist (net/route.h), whole addresses with scheme and host.
 * Owns:     nothing: slices borrow from the input, decoded text lives in the caller's arena.
 * Threads:  pure functions.
 * Errors:   LOCI_EINVAL for bad encoding; LOCI_ELIMIT and LOCI_ENOMEM from the arena.
 */
#ifndef LOCI_NET_URI_H
#define LOCI_NET_URI_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { LOCI_URI_PARAMS = 256 }; /* most parameters in one query */

typedef struct loci_uri_param {
    loci_str name;
    loci_str value; /* empty for "?name" */
} loci_uri_param;

/* Cut a target of any bytes at its '?'. The path starts with '/'; both parts are still encoded.
 * Errors: LOCI_EINVAL no '/' in front (also "http://…" and "*"), a blank, a control character, a
 * '#', or a byte above ASCII that should have been encoded. */
LOCI_MUST loci_rc loci_uri_split(loci_str target, loci_str *ret_path, loci_str *ret_query,
                                 loci_err *err);

/* Undo %XX once; with `plus` also '+' for a blank, as in queries. Text without either is not
 * copied but borrowed. Errors: LOCI_EINVAL a bad %XX, a NUL, bytes that are not UTF-8. */
LOCI_MUST loci_rc loci_uri_decode(loci_arena *arena, loci_str in, bool plus, loci_str *ret_text,
                                  loci_err *err);

/* All parameters of a query, decoded, in their order; doubled names stay. Empty parts ("a&&b")
 * are skipped. Errors: as for decoding; LOCI_EINVAL for more than LOCI_URI_PARAMS. */
LOCI_MUST loci_rc loci_uri_query(loci_arena *arena, loci_str query, loci_uri_param **ret_params,
                                 size_t *ret_count, loci_err *err);

#endif
