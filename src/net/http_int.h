/* net/http_int.h -- what the files of the HTTP server share; nobody else includes it.
 *
 * Here:     the structs of server, connection and request, and the calls between the files.
 * Not here: anything for handlers (net/http.h).
 * Owns:     see each struct.
 * Threads:  the network thread owns everything except what is marked. A request is handed to a
 *           worker through the queue and back through MHD_resume_connection, both with a lock.
 * Errors:   see each call.
 *
 * Life of a request: the library calls on_target (request line), on_request (head), on_request
 * again for each piece of the body, and once more at its end; then either the handler runs at once
 * (cheap) or the connection is suspended, a worker runs the handler and resumes it, and on_request
 * is called a last time to send the answer. on_completed ends it in every case.
 */
#ifndef LOCI_NET_HTTP_INT_H
#define LOCI_NET_HTTP_INT_H

#include "base/buf.h"
#include "net/http.h"
#include "net/listen.h"
#include "net/tls.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    HEADERS_MAX = 100,  /* in a request */
    REPLY_HEADERS = 16, /* that a handler may add */
    PEER_BYTES = 64,
    TARGET_BYTES = 16384, /* longest path and query */
};

typedef enum conn_state {
    CONN_IDLE,   /* no request line yet: since the accept, or since the last answer */
    CONN_HEAD,   /* the request line is here */
    CONN_BODY,   /* the head is here and was looked at */
    CONN_WORK,   /* suspended: a worker has the request, or it waits for one */
    CONN_REPLY,  /* the answer is on its way */
    CONN_STREAM, /* so is a stream */
    CONN_LINGER, /* answered before the body was read: throw away what still comes, then close */
    CONN_CUT,    /* shut down; the library will notice and close */
} conn_state;

typedef struct header {
    loci_str name;
    loci_str value;
} header;

/* Why a request is turned away before any handler sees it. */
typedef struct refusal {
    int status; /* 0: it is not */
    const char *code;
    const char *detail; /* in the request's arena, or for ever */
    unsigned allow;     /* methods for an Allow header, or 0 */
    bool must_close;    /* where the next request begins is unknown, or not worth waiting for */
} refusal;

typedef struct conn conn;

struct loci_http_request {
    conn *conn;
    loci_http_server *server;
    uint64_t id;
    int64_t started;
    int64_t deadline;

    loci_method method;
    loci_str method_name;
    loci_str target; /* as sent; in the arena */
    loci_str raw_path;
    loci_str path;
    loci_uri_param *query;
    size_t query_count;
    size_t header_count;
    header headers[HEADERS_MAX]; /* borrow from the library, until on_completed */
    loci_route_match match;

    bool bad_target; /* on_target saw bytes that no target may have */
    bool checked;    /* the head was looked at */
    bool has_body;
    bool chunked;       /* it does not say how long */
    size_t thrown_away; /* bytes of the body after it was refused */
    bool expects;       /* the client waits for "100 Continue" */
    bool dispatched;
    bool preflight;
    loci_str origin; /* an allowed one, for the CORS headers */
    loci_buf body;
    refusal refused;

    /* The answer. */
    int status;
    const char *content_type;
    loci_str reply_body;
    size_t reply_header_count;
    header reply_headers[REPLY_HEADERS]; /* in the arena, with NULs behind */
    loci_http_stream *stream;
};

struct conn {
    conn *next;
    conn *previous;
    loci_http_server *server;
    struct MHD_Connection *mhd;
    int fd;
    conn_state state;
    bool used;        /* it had a request before */
    bool left;        /* the client has closed its sending side */
    int64_t deadline; /* for the state, by the steady clock */
    loci_arena *arena;
    char peer[PEER_BYTES];
    loci_http_request request;
};

struct loci_http_server {
    loci_http_options options; /* with the defaults filled in; texts live in `arena` */
    loci_arena *arena;
    loci_str hosts;   /* allowed beside loopback, comma list */
    loci_str origins; /* allowed beside those that ship */
    const loci_router *router;
    loci_listener listener;
    loci_tls_pair tls;
    struct MHD_Daemon *daemon;
    int bell;     /* rung to wake the network thread */
    int left_set; /* an epoll set that tells of clients that left */
    pthread_t network;
    bool has_network;

    /* Of the network thread. */
    conn *conns;
    size_t conn_count;
    size_t stream_count;
    size_t unfinished; /* connections in the middle of a request */
    size_t body_bytes;
    uint64_t last_id;
    int64_t next_cut;     /* no deadline is earlier */
    int64_t last_hearing; /* when left_set was read, and when it must be again */
    int64_t next_hearing;

    atomic_bool stopping;
    atomic_bool cancelled; /* the grace time is over */

    /* The queue to the workers, under `lock`. */
    pthread_mutex_t lock;
    pthread_cond_t filled;
    loci_http_request **queue; /* a ring of options.queue */
    size_t queue_head;
    size_t queue_count;
    bool workers_end;
    pthread_t *workers;
    size_t worker_count;
};

/* http_server.c: let the network thread look around, after MHD_resume_connection. Any thread. */
void loci_http_wake(loci_http_server *server);

/* http_head.c: look at the head; fills path, query, match, has_body… or request->refused. */
void loci_http_check_head(loci_http_request *request, const char *url, const char *method,
                          const char *version);
void loci_http_refuse(loci_http_request *request, int status, const char *code, const char *fmt,
                      ...) LOCI_PRINTF(4, 5);

/* http_conn.c: the library's callbacks. */
void loci_http_on_connection(void *server, struct MHD_Connection *mhd, void **socket_context,
                             enum MHD_ConnectionNotificationCode code);
void *loci_http_on_target(void *server, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result loci_http_on_request(void *server, struct MHD_Connection *mhd, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *size, void **context);
void loci_http_on_completed(void *server, struct MHD_Connection *mhd, void **context,
                            enum MHD_RequestTerminationCode code);
void loci_http_set_state(conn *c, conn_state state, int64_t deadline);
/* Shut a connection down, with a "408" when the client was sending a request. */
void loci_http_cut(conn *c, bool tell);

/* The client will send nothing more: end what waits for it in vain. */
void loci_http_check_left(conn *c);

/* http_send.c: queue the request's answer (or its refusal) with the library. */
enum MHD_Result loci_http_send_reply(loci_http_request *request);
enum MHD_Result loci_http_send_refusal(loci_http_request *request);
/* Write an answer past the library, which cannot send one while it receives, and close our side.
 * Best effort: false when the client will not get it. */
bool loci_http_send_raw(conn *c, int status, const char *code, const char *detail);
/* {"detail", "code"} in the arena; a fixed text when that is full or NULL. */
loci_str loci_http_error_body(loci_arena *arena, const char *code, const char *detail);

/* http_work.c. */
LOCI_MUST loci_rc loci_http_workers_start(loci_http_server *server, loci_err *err);
void loci_http_workers_stop(loci_http_server *server);
/* False when the queue is full. */
LOCI_MUST bool loci_http_enqueue(loci_http_request *request);
/* Run the handler; leaves an answer in the request whatever happens. */
void loci_http_run(loci_http_request *request);
/* The client closed its side. */
bool loci_http_peer_gone(int fd);

/* http_stream.c: for the network thread. Attached before its answer is queued; detached, and given
 * up, when the request is over. */
struct MHD_Response *loci_http_stream_response(loci_http_stream *stream);
void loci_http_stream_attach(loci_http_stream *stream, struct MHD_Connection *mhd);
void loci_http_stream_detach(loci_http_stream *stream);
/* Its client has left, or the server stops: tell the writer. */
void loci_http_stream_lose(loci_http_stream *stream);
/* Nothing will be written any more. */
bool loci_http_stream_over(loci_http_stream *stream);

#endif
