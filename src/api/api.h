/* api/api.h -- what every door over HTTP shares: the application, who asks, how errors look.
 *
 * Here:     the context that route handlers get, the caller of a request, failing replies.
 * Not here: routes (the rooms below api/, api/health.c), the server itself (api/server.h).
 * Owns:     nothing; the server owns what a loci_api points to.
 * Threads:  shared by all workers.
 * Errors:   LOCI_EAUTH exactly "Unauthorized"; LOCI_EDENIED for a header that disagrees with the
 * key; LOCI_EINVAL for a user_id that is none; those of the store.
 */
#ifndef LOCI_API_API_H
#define LOCI_API_API_H

#include "api/keyring.h"
#include "api/metrics.h"
#include "net/http.h"
#include "ops/app.h"

typedef struct loci_api {
    loci_app *app;
    loci_str password; /* empty: none */
    loci_keyring *keys;
    loci_metrics metrics;
} loci_api;

/* The first look, before a body is read; on the network thread, so it asks nobody. Whoever sends
 * something that may be a key is let through to the worker, where loci_api_caller decides. */
LOCI_MUST loci_rc loci_api_gate(const loci_api *api, const loci_http_request *request,
                                loci_err *err);

/* Who asks, from password or key and the headers user_id, X-Loci-Agent and X-Loci-Node. Every
 * handler that touches the store begins here; it may ask the store. Texts live in the request. */
LOCI_MUST loci_rc loci_api_caller(loci_api *api, loci_http_request *request, loci_door door,
                                  loci_caller *ret_caller, loci_err *err);

/* {"detail", "code"} with the status of err->code. */
void loci_api_fail(loci_http_request *request, const loci_err *err);

/* 200 with what was built, or the buffer's failure. */
void loci_api_reply(loci_http_request *request, const char *content_type, const loci_buf *body);

#endif
