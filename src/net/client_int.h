/* net/client_int.h -- what the files of the HTTP client share; private to this room.
 *
 * Here:     libcurl's codes as errors of ours.
 * Not here: what callers see (net/client.h).
 * Owns:     nothing.
 * Threads:  pure functions.
 * Errors:   the messages of net/client.h.
 */
#ifndef LOCI_NET_CLIENT_INT_H
#define LOCI_NET_CLIENT_INT_H

#include "net/client.h"

#include <curl/curl.h>

/* The error for what libcurl came to; `detail` is its own text and `system` the errno, or 0. */
loci_rc loci_client_fail(CURLcode code, const char *host, const char *detail, long system,
                         loci_err *err);

#endif
