#include "api/health.h"

#include "net/http.h"

#include <loci.h>

static void get_health(void *context, loci_http_request *request)
{
    (void)context;
    loci_str body = loci_arena_printf(loci_http_arena(request),
                                      "{\"version\":\"%s\",\"status\":\"ok\"}", loci_version());
    if (body.ptr) loci_http_reply(request, 200, "application/json", body);
}

const loci_route loci_health_routes[] = {
    { LOCI_GET, "/v1/health", LOCI_ROUTE_CHEAP | LOCI_ROUTE_OPEN, get_health, NULL },
    { LOCI_GET, "/latest/health", LOCI_ROUTE_CHEAP | LOCI_ROUTE_OPEN, get_health, NULL },
};
const size_t loci_health_route_count = LOCI_COUNT(loci_health_routes);
