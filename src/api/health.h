/* api/health.h -- the routes that tell how the server is.
 *
 * Here:     /v1/health and /v1/ready with their spellings, which need no password; /metrics.
 * Not here: what an organization holds (the operation status).
 * Owns:     nothing.
 * Threads:  /v1/health on the network thread, the others on workers.
 * Errors:   those of the store. The context is a loci_api.
 */
#ifndef LOCI_API_HEALTH_H
#define LOCI_API_HEALTH_H

#include "net/route.h"

extern const loci_route loci_health_routes[];
extern const size_t loci_health_route_count;

#endif
