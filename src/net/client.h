/* net/client.h -- the HTTP client: one request, one answer, and a limit on everything.
 *
 * Here:     sending a request over a connection that is kept for the next one, reading the answer
 *           at once or piece by piece, what an address is made of.
 * Not here: retrying, JSON, what the services of others want; events in an answer (net/sse.h).
 * Owns:     a client owns its connections; answers live in the caller's arena.
 * Threads:  a client may be used by any number of threads; as many requests as it has connections
 *           run at once, the others wait for their turn.
 * Errors:   they name host and reason, never a header, a body or a query.
 *           LOCI_EINVAL an address or header that is none, LOCI_EUNAVAILABLE no connection, an
 *           answer that broke off, time over or cancelled; LOCI_EDENIED a certificate that is not
 *           trusted, LOCI_ECORRUPT no HTTP, LOCI_ELIMIT the answer is too long, LOCI_ENOMEM,
 * LOCI_EIO.
 *
 * A status of 400 and above is an answer like any other. Redirections are not followed, so that
 * keys and texts go to the host that was named and to no other. Certificates are checked against
 * those of the system. The proxies that http_proxy, https_proxy, all_proxy and no_proxy name are
 * used, but never to reach this machine itself.
 */
#ifndef LOCI_NET_CLIENT_H
#define LOCI_NET_CLIENT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "net/guard.h"
#include "net/route.h"

enum {
    LOCI_URL_BYTES = 2048,    /* longest address, with its NUL */
    LOCI_CLIENT_HEADERS = 16, /* most headers of a request */
    LOCI_CLIENT_MOST = 64,    /* most connections of a client */
};

/* What an address is made of. */
typedef struct loci_url {
    char host[LOCI_HOST_BYTES]; /* "name" or "name:port", for messages */
    bool tls;
    bool loopback; /* this machine, by its name; see loci_host_is_loopback */
    bool has_path; /* more than "/" */
    bool has_query;
} loci_url;

/* Take "http://…" or "https://…" apart. A name or password in it is refused: keys do not belong
 * into settings, which are shown. Messages do not repeat the address.
 * Errors: LOCI_EINVAL no such address, LOCI_ENOMEM. */
LOCI_MUST loci_rc loci_url_parse(const char *url, loci_url *ret_url, loci_err *err);

typedef struct loci_client loci_client;

/* Zero means the default that stands behind each. */
typedef struct loci_client_options {
    unsigned connections;     /* requests at once: 4, at most LOCI_CLIENT_MOST */
    int64_t connect_timeout;  /* microseconds: 10 s, or what is left until the deadline */
    const char *certificates; /* PEM file to trust instead of the system's certificates */
} loci_client_options;

LOCI_MUST loci_rc loci_client_new(const loci_client_options *options, loci_client **ret_client,
                                  loci_err *err);
/* Nobody may be inside loci_client_send any more. NULL is fine. */
void loci_client_free(loci_client *client);
LOCI_DEFINE_CLEANUP(loci_client_freep, loci_client, loci_client_free)

typedef struct loci_client_header {
    const char *name;
    const char *value;
} loci_client_header;

/* Everything is borrowed for the call. */
typedef struct loci_client_request {
    loci_method method;
    const char *url;
    const loci_client_header *headers;
    size_t header_count;
    loci_str body;
    int64_t deadline;   /* by loci_clock_steady, for all of it; 0: in 60 s */
    size_t reply_limit; /* bytes of the answer's body; 0: 32 MiB */

    /* Asked now and then, at least ten times a second; true ends the request. May be NULL. */
    bool (*cancelled)(void *context);
    /* Takes the body of an answer of 200..299 as it comes; its failure ends the request and is
     * handed on. NULL: the body is gathered, as that of every other answer always is. */
    loci_rc (*on_body)(void *context, loci_str piece, loci_err *err);
    void *context; /* for both */
} loci_client_request;

typedef struct loci_client_reply {
    int status;
    loci_str body;       /* gathered; a NUL stands behind it */
    int64_t retry_after; /* microseconds that the server asks to wait, at most a day; 0: none */
} loci_client_reply;

/* Send one request and wait for its answer. */
LOCI_MUST loci_rc loci_client_send(loci_client *client, const loci_client_request *request,
                                   loci_arena *arena, loci_client_reply *ret_reply, loci_err *err);

#endif
