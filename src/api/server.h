/* api/server.h -- the whole server: every door over HTTP, behind one password.
 *
 * Here:     putting the routes of all rooms together and serving them.
 * Not here: sockets (net/http.h), what the routes do (health.c and the rooms below api/).
 * Owns:     a loci_server owns its sockets and threads; the configuration is borrowed.
 * Threads:  start and stop from one thread; handlers run on the server's own.
 * Errors:   those of loci_http_start; LOCI_EDENIED for an address that is not safe to serve.
 */
#ifndef LOCI_API_SERVER_H
#define LOCI_API_SERVER_H

#include "base/config.h"

typedef struct loci_server loci_server;

/* Serve as `config` says; it must outlive the server. `password` (empty for none) is copied.
 * Returns once clients can connect.
 *
 * An address beyond this machine is refused without a password, unless the setting `insecure` is
 * true. */
LOCI_MUST loci_rc loci_server_start(const loci_config *config, loci_str password,
                                    loci_server **ret_server, loci_err *err);

/* Where it can be reached: "http://127.0.0.1:8283", "unix:PATH". Lives as the server. */
const char *loci_server_url(const loci_server *server);

/* Finish what is running, then free everything. NULL is fine. */
void loci_server_stop(loci_server *server);
LOCI_DEFINE_CLEANUP(loci_server_stopp, loci_server, loci_server_stop)

#endif
