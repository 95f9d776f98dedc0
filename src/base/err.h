/* base/err.h -- the one error type, and the one way to make an error.
 *
 * Here:     loci_fail and its helpers. loci_rc and loci_err are public: see loci.h.
 * Not here: HTTP status and JSON-RPC numbers (api/), logging (base/log.h).
 * Owns:     nothing; messages are copied into the caller's loci_err.
 * Threads:  safe from any thread, each with its own loci_err.
 * Errors:   these functions cannot fail. A message that is too long is cut at a character.
 */
#ifndef LOCI_BASE_ERR_H
#define LOCI_BASE_ERR_H

#include "base/compiler.h"

#include <loci.h>
#include <stdarg.h>

/* return loci_fail(err, LOCI_EINVAL, "limit must be 1..%d, not %ld", MAX, n);
 *
 * Fills *err (which may be NULL) and has the value `code`. A macro, so that the static analysers
 * see the constant. `code` must be a constant or a variable: it is named twice. */
#define loci_fail(err, code, ...) (loci_err_set((err), (code), __VA_ARGS__), (code))

/* What loci_fail does, without its value. */
void loci_err_set(loci_err *err, loci_rc code, const char *fmt, ...) LOCI_PRINTF(3, 4);
void loci_err_setv(loci_err *err, loci_rc code, const char *fmt, va_list args) LOCI_PRINTF(3, 0);

/* Put "where: " before a message that came from below; the code stays. */
void loci_err_prefix(loci_err *err, const char *fmt, ...) LOCI_PRINTF(2, 3);

#endif
