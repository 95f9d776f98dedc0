/* api/health.h -- the routes that tell whether the server is there.
 *
 * Here:     /v1/health and its spellings. They need no password.
 * Not here: metrics, the state of the store.
 * Owns:     nothing.
 * Threads:  handlers run on the network thread.
 * Errors:   none.
 */
#ifndef LOCI_API_HEALTH_H
#define LOCI_API_HEALTH_H

#include "net/route.h"

extern const loci_route loci_health_routes[];
extern const size_t loci_health_route_count;

#endif
