/* api/ops/routes.h -- the operations over REST.
 *
 * Here:     GET /v1/ops, POST /v1/ops/{name}, GET /openapi.json.
 * Not here: what operations do and who may call them (ops/).
 * Owns:     nothing.
 * Threads:  all on workers.
 * Errors:   as {"detail", "code"}. The context is a loci_api.
 */
#ifndef LOCI_API_OPS_ROUTES_H
#define LOCI_API_OPS_ROUTES_H

#include "net/route.h"

extern const loci_route loci_ops_routes[];
extern const size_t loci_ops_route_count;

#endif
