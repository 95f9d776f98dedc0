/* net/guard.h -- which requests may come in at all: Host, Origin and content type.
 *
 * Here:     the rules that keep other people's web pages away from a server on this machine.
 * Not here: who the caller is (keys, passwords), reading headers off the wire (net/http.h).
 * Owns:     nothing: pure functions over borrowed text.
 * Threads:  safe from any thread.
 * Errors:   LOCI_EINVAL for text that is no host at all, LOCI_EDENIED for one that is not allowed.
 *
 * A page that a browser shows may send requests to 127.0.0.1, and a name server may say that
 * evil.example is 127.0.0.1. The Host rule stops the second; the Origin rule and the demand for
 * application/json (which a page cannot send to another origin without asking first) stop the
 * first.
 */
#ifndef LOCI_NET_GUARD_H
#define LOCI_NET_GUARD_H

#include "base/err.h"
#include "base/str.h"

enum { LOCI_HOST_BYTES = 261 }; /* a name of 255 bytes, a colon, a port */

/* A Host header cut in two. */
typedef struct loci_host {
    loci_str name; /* an IPv6 address without its brackets */
    loci_str port; /* digits, or empty */
    bool ipv6;
} loci_host;

/* Cut "name", "name:port", "1.2.3.4:port" or "[::1]:port"; any bytes may come in.
 * Errors: LOCI_EINVAL not such a text, a port above 65535, too long. */
LOCI_MUST loci_rc loci_host_parse(loci_str text, loci_host *ret_host, loci_err *err);

/* True for localhost, *.localhost, 127.0.0.0/8 and ::1. */
bool loci_host_is_loopback(const loci_host *host);

/* May a request with this Host header come in? Loopback may, and what stands in `allowed`, a
 * comma-separated list of "name" (with any port) or "name:port".
 * Errors: LOCI_EINVAL no host, LOCI_EDENIED another host. */
LOCI_MUST loci_rc loci_guard_host(loci_str header, loci_str allowed, loci_err *err);

/* May a page of this Origin talk to us? Yes for our own origin (`scheme` "http" or "https" and the
 * request's Host header, which must have passed loci_guard_host), for the origins that ship with
 * the product, and for what stands in `allowed`, a comma-separated list. Never for "null". */
LOCI_MUST bool loci_guard_origin(loci_str origin, loci_str scheme, loci_str host_header,
                                 loci_str allowed);

/* True for "application/json", with nothing else than an optional charset of UTF-8. */
LOCI_MUST bool loci_guard_json_type(loci_str content_type);

#endif
