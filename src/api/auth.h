/* api/auth.h -- who may come in.
 *
 * Here:     the password check of every request.
 * Not here: which operation a caller may use (ops/), Host and Origin (net/guard.h).
 * Owns:     nothing; the password is borrowed.
 * Threads:  pure functions.
 * Errors:   LOCI_EAUTH with exactly "Unauthorized".
 */
#ifndef LOCI_API_AUTH_H
#define LOCI_API_AUTH_H

#include "base/err.h"
#include "base/str.h"

/* What a request says about its sender; ptr is NULL for a header that is not there. */
typedef struct loci_credentials {
    loci_str authorization; /* "Bearer <password>" */
    loci_str bare_password; /* X-BARE-PASSWORD: "password <password>" */
} loci_credentials;

/* LOCI_OK when one of the two carries `password`, or when `password` is empty: then everybody may.
 * Takes the same time wherever a wrong password differs. */
LOCI_MUST loci_rc loci_auth_check(loci_str password, const loci_credentials *credentials,
                                  loci_err *err);

#endif
