/* net/tls.h -- a server's certificate and key.
 *
 * Here:     reading the two files and checking that they belong together.
 * Not here: the protocol itself, which the HTTP library speaks.
 * Owns:     a loci_tls_pair owns its texts; the key is wiped when it is freed.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ENOTFOUND, LOCI_EDENIED, LOCI_EINVAL (also for what is no regular file),
 *           LOCI_ELIMIT, LOCI_EIO, each naming the file. Reading never blocks.
 */
#ifndef LOCI_NET_TLS_H
#define LOCI_NET_TLS_H

#include "base/err.h"

#include <stddef.h>

enum { LOCI_TLS_FILE_BYTES = 1 << 20 }; /* largest certificate chain or key file */

typedef struct loci_tls_pair {
    char *certificate; /* PEM, with a NUL behind */
    char *key;
    size_t key_len;
} loci_tls_pair;

/* Read both PEM files. The key must be the certificate's, and not encrypted. */
LOCI_MUST loci_rc loci_tls_load(const char *certificate_file, const char *key_file,
                                loci_tls_pair *ret_pair, loci_err *err);
void loci_tls_done(loci_tls_pair *pair); /* fine on a zeroed one */

#endif
