/* net/http.h -- the HTTP server.
 *
 * Here:     starting and stopping a server, what a handler sees of a request, how it answers.
 * Not here: the routes of the product and what they mean (api/), JSON, SQL, logging: what happened
 *           is told to a callback.
 * Owns:     a server owns its socket, threads and connections. A request belongs to the server; a
 *           handler may use it until it returns, a stream until it closes it.
 * Threads:  one network thread and some workers per server. A handler runs on a worker, or on the
 *           network thread when its route is cheap. One request is seen by one thread at a time.
 * Errors:   starting fails with a text for the person who started it. What is wrong with a request
 *           is answered by the server itself, as JSON {"detail": "…", "code": "…"}; only what the
 *           HTTP library refuses before it hands a request over has a short page of its own.
 *
 * Every wait has an end and every buffer a maximum: see loci_http_options. A client that closes its
 * sending side counts as gone, as soon as nothing that it sent is left to be answered at once.
 */
#ifndef LOCI_NET_HTTP_H
#define LOCI_NET_HTTP_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "net/route.h"
#include "net/uri.h"

typedef struct loci_http_server loci_http_server;
typedef struct loci_http_stream loci_http_stream;

/* What happened to one request, told once it is over. Everything is borrowed for the call. */
typedef enum loci_http_outcome {
    LOCI_HTTP_ANSWERED, /* the whole answer went out */
    LOCI_HTTP_GONE,     /* the client went away first */
    LOCI_HTTP_CUT,      /* the client was too slow, or the server stopped */
    LOCI_HTTP_REFUSED,  /* the HTTP library could not read it, and answered so itself; status 0 */
} loci_http_outcome;

typedef struct loci_http_event {
    loci_http_outcome outcome;
    uint64_t id;
    loci_str method;
    loci_str path; /* as it was sent, without the query */
    const char *peer;
    int status;       /* 0 when no answer was begun */
    size_t body_in;   /* bytes of the request's body */
    size_t body_out;  /* bytes of the answer's body; 0 for a stream */
    int64_t duration; /* microseconds from the request line to the end */
} loci_http_event;

/* Times are microseconds. Zero (or NULL) means the default that stands behind each. */
typedef struct loci_http_options {
    const char *listen;          /* "127.0.0.1:8283"; also "[::1]:0", "unix:PATH" */
    const char *tls_certificate; /* PEM files, both or none; none: plain HTTP */
    const char *tls_key;
    const char *allowed_hosts;   /* comma list, beside loopback and the listen host: none */
    const char *allowed_origins; /* comma list, beside those that ship: none */

    size_t body_limit;   /* 32 MiB */
    size_t body_total;   /* of all requests that are being received or worked on: 8 x body_limit */
    size_t header_limit; /* request line and headers: 32 KiB, at most 1 MiB */
    size_t arena_limit;  /* memory of one request beside its body: 8 x body_limit */

    int64_t receive_timeout; /* head and body must be here: 30 s */
    int64_t work_timeout;    /* then loci_http_cancelled turns true: 60 s; not for streams */
    int64_t idle_timeout;    /* between two requests: 60 s */
    int64_t grace;           /* for running requests when the server stops: 10 s */

    unsigned connections;        /* open at once: 1024; further ones wait to be accepted */
    unsigned connections_per_ip; /* no cap */
    unsigned workers;            /* one per processor, at least 2 */
    unsigned queue;              /* requests that may wait for a worker: 256 */

    /* Asked about every request before its body is read, except on routes that are open: LOCI_EAUTH
     * is answered with 401, LOCI_EDENIED with 403, another error with 503. On the network thread:
     * it must not wait. NULL: everybody may. */
    loci_rc (*gate)(void *context, const loci_http_request *request, loci_err *err);
    void (*on_event)(void *context, const loci_http_event *event); /* on the network thread */
    void (*on_message)(void *context, const char *text); /* the library's complaints; any thread */
    void *context;                                       /* for the three above */
} loci_http_options;

/* Listen and serve what `router` has; the router must outlive the server. Returns once clients can
 * connect. The options are copied.
 * Errors: as loci_listener_open and loci_tls_load; LOCI_EINVAL a bad option; LOCI_EIO. */
LOCI_MUST loci_rc loci_http_start(const loci_http_options *options, const loci_router *router,
                                  loci_http_server **ret_server, loci_err *err);

/* "127.0.0.1:40123", "unix:PATH": with the port that was really taken. Lives as the server. */
const char *loci_http_address(const loci_http_server *server);

/* Stop accepting, end streams, let running requests finish within the grace time, then cut what is
 * left, wait for the handlers that still run (they see loci_http_cancelled) and free everything.
 * NULL is fine. Not from a handler. */
void loci_http_stop(loci_http_server *server);

/* ---- what a handler sees ---- */

loci_method loci_http_method(const loci_http_request *request); /* HEAD also on a GET route */
loci_str loci_http_path(const loci_http_request *request);      /* decoded once; UTF-8, no NUL */
loci_str loci_http_body(const loci_http_request *request);      /* empty when there is none */
const char *loci_http_peer(const loci_http_request *request);   /* "127.0.0.1:5000" or "unix" */
uint64_t loci_http_id(const loci_http_request *request);        /* 1, 2, 3… within the server */
const loci_route *loci_http_route(const loci_http_request *request);

/* The value of {name} in the route's pattern; ptr is NULL when the pattern has no such name. */
loci_str loci_http_param(const loci_http_request *request, const char *name);
/* The first parameter of that name in the query; ptr is NULL when there is none. */
loci_str loci_http_query(const loci_http_request *request, const char *name);
/* All of them, in their order. */
const loci_uri_param *loci_http_query_all(const loci_http_request *request, size_t *ret_count);
/* The first header of that name (any case), without blanks around; ptr is NULL without one. */
loci_str loci_http_header(const loci_http_request *request, const char *name);

/* Memory that lives until the answer is out, with a ceiling. */
loci_arena *loci_http_arena(loci_http_request *request);

/* When the work should be over, by loci_clock_steady; INT64_MAX for a stream's route. */
int64_t loci_http_deadline(const loci_http_request *request);

/* Nobody waits for the answer any more: the client closed its side, the time is over, or the server
 * is about to end. Costs a system call: ask between pieces of work, not in inner loops. */
bool loci_http_cancelled(const loci_http_request *request);

/* ---- how it answers; a handler that does not gets a 500 sent in its name ---- */

/* `body` must live in the request's arena or for ever; `content_type` for ever. */
void loci_http_reply(loci_http_request *request, int status, const char *content_type,
                     loci_str body);
/* One more header, copied. Control characters become blanks; past 16 headers it is dropped. */
void loci_http_reply_header(loci_http_request *request, const char *name, loci_str value);
/* {"detail": the text, "code": code}. */
void loci_http_reply_error(loci_http_request *request, int status, const char *code,
                           const char *fmt, ...) LOCI_PRINTF(4, 5);

/* ---- streams: an answer that is written over time, for server-sent events ---- */

enum { LOCI_HTTP_STREAM_BYTES = 256 << 10 }; /* written but not yet taken by the client */

/* Answer with a stream; only on a route with LOCI_ROUTE_STREAM. The head goes out when the handler
 * returns. The stream may be used after that, by one thread at a time, and must be closed, also
 * after its client has gone; it may outlive the server. `content_type` must live for ever. */
LOCI_MUST loci_rc loci_http_stream_open(loci_http_request *request, int status,
                                        const char *content_type, loci_http_stream **ret_stream,
                                        loci_err *err);

/* Send some bytes at once; waits up to `wait` microseconds while the client is behind by more than
 * LOCI_HTTP_STREAM_BYTES. On the network thread, and before the handler returned, wait must be 0.
 * Errors: LOCI_EBUSY still behind (nothing was taken), LOCI_EUNAVAILABLE the client has gone or the
 * server stops, LOCI_ELIMIT more bytes than the stream ever holds, LOCI_ENOMEM. */
LOCI_MUST loci_rc loci_http_stream_write(loci_http_stream *stream, loci_str bytes, int64_t wait,
                                         loci_err *err);

/* The same for one event: `data` may have several lines; `name` and `id` may be empty and must not
 * have line breaks (LOCI_EINVAL). */
LOCI_MUST loci_rc loci_http_stream_event(loci_http_stream *stream, loci_str name, loci_str id,
                                         loci_str data, int64_t wait, loci_err *err);

/* The client has gone, or the server stops: time to close it. */
bool loci_http_stream_gone(loci_http_stream *stream);

/* End the answer after what was written and give the stream up. NULL is fine. */
void loci_http_stream_close(loci_http_stream *stream);

#endif
