/* api/server.h -- the whole server: every door over HTTP, behind password and keys.
 *
 * Here:     putting the routes of all rooms together and serving them.
 * Not here: sockets (net/http.h), what the routes do (health.c and the rooms below api/).
 * Owns:     a loci_server owns its sockets and threads; configuration and application are borrowed.
 * Threads:  start and stop from one thread; handlers run on the server's own.
 * Errors:   those of loci_http_start; LOCI_EDENIED for an address that is not safe to serve.
 */
#ifndef LOCI_API_SERVER_H
#define LOCI_API_SERVER_H

#include "net/route.h"
#include "ops/app.h"

typedef struct loci_server loci_server;

/* The routes of one door; their handlers get a loci_api (api/api.h). */
typedef struct loci_server_routes {
    const loci_route *routes;
    size_t count;
} loci_server_routes;

/* What is borrowed must outlive the server, but for the password, which is copied. */
typedef struct loci_server_options {
    loci_app *app;
    loci_str password; /* empty: none */
    const loci_server_routes *doors;
    size_t door_count;
} loci_server_options;

/* Serve as the application's configuration says. Returns once clients can connect.
 *
 * An address beyond this machine is refused when nobody would be asked for a password or a key,
 * unless the setting `insecure` is true. */
LOCI_MUST loci_rc loci_server_start(const loci_server_options *options, loci_server **ret_server,
                                    loci_err *err);

/* Where it can be reached: "http://127.0.0.1:8283", "unix:PATH". Lives as the server. */
const char *loci_server_url(const loci_server *server);

/* Finish what is running, then free everything. NULL is fine. */
void loci_server_stop(loci_server *server);
LOCI_DEFINE_CLEANUP(loci_server_stopp, loci_server, loci_server_stop)

#endif
