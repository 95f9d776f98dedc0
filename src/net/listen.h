/* net/listen.h -- the socket that a server listens on.
 *
 * Here:     "HOST:PORT", "[IPV6]:PORT" and "unix:PATH" to a listening socket, and its end.
 * Not here: accepting and serving (net/http.h).
 * Owns:     the socket, and for unix: the file, until loci_listener_close.
 * Threads:  one listener, one thread at a time.
 * Errors:   LOCI_EINVAL an address that is none, LOCI_ECONFLICT taken, LOCI_EDENIED refused by the
 *           system, LOCI_EUNAVAILABLE a name that cannot be resolved, LOCI_EIO anything else.
 */
#ifndef LOCI_NET_LISTEN_H
#define LOCI_NET_LISTEN_H

#include "base/err.h"
#include "base/str.h"

#include <sys/types.h>

enum { LOCI_LISTEN_BYTES = 280 }; /* the longest address as text, with its NUL */

typedef struct loci_listener {
    int fd; /* -1 when closed */
    bool is_unix;
    char address[LOCI_LISTEN_BYTES]; /* what clients use: with the real port, or "unix:PATH" */
    char host[LOCI_LISTEN_BYTES];    /* the host part as it was asked for; "" for unix */
    dev_t device;                    /* private: which file is ours to remove */
    ino_t inode;
} loci_listener;

/* Open `address` and listen. Port 0 takes any that is free. A unix socket gets mode 0600; one that
 * is there already is replaced only when nobody answers on it, and what is no socket is never
 * touched; of several servers that start at once one gets it (PATH.lock is there meanwhile). On
 * failure *ret_listener is untouched. */
LOCI_MUST loci_rc loci_listener_open(const char *address, int backlog, loci_listener *ret_listener,
                                     loci_err *err);

/* Close, and remove the unix socket if it is still the one that was made. Fine twice. */
void loci_listener_close(loci_listener *listener);

/* Would `address` be reachable from this machine alone? True for unix: and loopback hosts; false
 * for everything else, also for text that is no address. Resolves no names. */
bool loci_listen_is_local(const char *address);

#endif
