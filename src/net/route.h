/* net/route.h -- which handler answers which method and path.
 *
 * Here:     a table of routes with {name} segments, and finding one for a request.
 * Not here: what the handlers do; reading requests (net/http.h).
 * Owns:     a router owns its tree; the tables that were added must outlive it.
 * Threads:  add from one thread, before serving; finding is then safe from any thread.
 * Errors:   LOCI_EINVAL and LOCI_ECONFLICT for a bad table (a bug of ours, told at start);
 *           LOCI_ENOTFOUND for a path that nobody has; LOCI_EINVAL for one that is badly encoded.
 *
 * "/v1/agents/{agent_id}/blocks/{label}" matches with and without a slash at the end. A segment is
 * decoded after the path was cut, so a label "a/b" can be asked for as "a%2Fb". A last segment
 * "{name*}" takes all that is left, slashes included. A literal segment wins over {name}, and
 * {name} over {name*}.
 */
#ifndef LOCI_NET_ROUTE_H
#define LOCI_NET_ROUTE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
    LOCI_ROUTE_DEPTH = 16, /* most segments in a pattern, and in a path without {name*} */
    LOCI_ROUTE_PARAMS = 6, /* most {name} in one pattern */
};

typedef enum loci_method {
    LOCI_METHOD_NONE = 0, /* one that we do not know */
    LOCI_GET = 1 << 0,
    LOCI_HEAD = 1 << 1,
    LOCI_POST = 1 << 2,
    LOCI_PUT = 1 << 3,
    LOCI_PATCH = 1 << 4,
    LOCI_DELETE = 1 << 5,
    LOCI_OPTIONS = 1 << 6,
} loci_method;

enum loci_route_flags {
    LOCI_ROUTE_CHEAP =
        1 << 0,               /* answers in microseconds, never waits: runs on the network thread */
    LOCI_ROUTE_OPEN = 1 << 2, /* no password is asked for */
    LOCI_ROUTE_STREAM = 1 << 1, /* may open a stream: no limit on the time that it takes */
};

typedef struct loci_http_request loci_http_request; /* see net/http.h */
typedef void loci_route_handler(void *context, loci_http_request *request);

typedef struct loci_route {
    loci_method method; /* GET also answers HEAD */
    const char *pattern;
    unsigned flags;
    loci_route_handler *handler;
    const void *data; /* for the handler: loci_http_route(request)->data */
} loci_route;

typedef struct loci_route_match {
    const loci_route *route; /* NULL when no route has this method */
    void *context;
    unsigned allow; /* every loci_method that the path has; HEAD and OPTIONS are added */
    size_t count;
    struct {
        loci_str name;
        loci_str value; /* decoded; never empty */
    } params[LOCI_ROUTE_PARAMS];
} loci_route_match;

typedef struct loci_router loci_router;

LOCI_MUST loci_rc loci_router_new(loci_router **ret_router, loci_err *err);
void loci_router_free(loci_router *router); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_router_freep, loci_router, loci_router_free)

/* Add a table below `prefix` ("" or "/latest"); `context` is handed to its handlers. After an
 * error the router must be freed. */
LOCI_MUST loci_rc loci_router_add(loci_router *router, const char *prefix, const loci_route *routes,
                                  size_t count, void *context, loci_err *err);

/* Find the route of a path that is still encoded (from loci_uri_split). LOCI_OK with route NULL
 * means: the path exists, the method does not; `allow` tells which do. Values borrow from `path`
 * or live in `arena`. */
LOCI_MUST loci_rc loci_router_find(const loci_router *router, loci_method method, loci_str path,
                                   loci_arena *arena, loci_route_match *ret_match, loci_err *err);

/* The method of that name (case matters), or LOCI_METHOD_NONE. */
loci_method loci_method_parse(loci_str name);
/* "GET"; "" for anything that is not exactly one method. */
const char *loci_method_name(loci_method method);

/* "GET, HEAD, OPTIONS" for a set of methods, in the order of the enum. */
enum { LOCI_ALLOW_BYTES = 64 };
void loci_route_allow_text(unsigned methods, char ret_text[LOCI_ALLOW_BYTES]);

#endif
