#include "api/health.h"

#include "api/api.h"

#include <loci.h>

enum { METRICS_MAX = 1 << 20, READY_MAX = 1024 };

static void get_health(void *context, loci_http_request *request)
{
    (void)context;
    loci_str body = loci_arena_printf(loci_http_arena(request),
                                      "{\"version\":\"%s\",\"status\":\"ok\"}", loci_version());
    if (body.ptr) loci_http_reply(request, 200, "application/json", body);
}

/* Ready means: the store answers. */
static void get_ready(void *context, loci_http_request *request)
{
    loci_api *api = context;
    loci_app_work work;
    loci_err err = { 0 };
    loci_json_writer w;
    loci_buf body;

    if (loci_app_pending(api->app, &work, &err)) {
        loci_api_fail(request, &err);
        return;
    }
    loci_buf_init_arena(&body, loci_http_arena(request), READY_MAX);
    loci_json_begin(&w, &body);
    loci_json_object(&w);
    loci_json_member_cstr(&w, "version", loci_version());
    loci_json_member_cstr(&w, "status", "ok");
    loci_json_member_int(&w, "embedding_pending", work.embedding_pending);
    loci_json_object_end(&w);
    loci_api_reply(request, "application/json", &body);
}

static void write_store(const loci_app_work *work, loci_buf *out)
{
    loci_buf_printf(out,
                    "# HELP loci_embedding_pending Texts that wait for their vectors.\n"
                    "# TYPE loci_embedding_pending gauge\nloci_embedding_pending %lld\n"
                    "# HELP loci_outbox_pending Deliveries that wait for an external store.\n"
                    "# TYPE loci_outbox_pending gauge\nloci_outbox_pending %lld\n",
                    (long long)work->embedding_pending, (long long)work->outbox_pending);
}

/* A store that does not answer shows as loci_store_up 0; the rest is worth having all the more. */
static void get_metrics(void *context, loci_http_request *request)
{
    loci_api *api = context;
    loci_app_work work;
    loci_caller who;
    loci_err err = { 0 };
    loci_buf body;

    if (loci_api_caller(api, request, LOCI_DOOR_REST, &who, &err)) {
        loci_api_fail(request, &err);
        return;
    }
    bool up = loci_app_pending(api->app, &work, &err) == LOCI_OK;
    loci_buf_init_arena(&body, loci_http_arena(request), METRICS_MAX);
    loci_metrics_write(&api->metrics, &body);
    loci_buf_printf(&body,
                    "# HELP loci_store_up Whether the store answers.\n"
                    "# TYPE loci_store_up gauge\nloci_store_up %d\n",
                    up);
    if (up) write_store(&work, &body);
    loci_api_reply(request, "text/plain; version=0.0.4; charset=utf-8", &body);
}

const loci_route loci_health_routes[] = {
    { LOCI_GET, "/v1/health", LOCI_ROUTE_CHEAP | LOCI_ROUTE_OPEN, get_health, NULL },
    { LOCI_GET, "/latest/health", LOCI_ROUTE_CHEAP | LOCI_ROUTE_OPEN, get_health, NULL },
    { LOCI_GET, "/v1/ready", LOCI_ROUTE_OPEN, get_ready, NULL },
    { LOCI_GET, "/latest/ready", LOCI_ROUTE_OPEN, get_ready, NULL },
    { LOCI_GET, "/metrics", 0, get_metrics, NULL },
};
const size_t loci_health_route_count = LOCI_COUNT(loci_health_routes);
