#include "api/ops/routes.h"

#include "api/api.h"
#include "ops/openapi.h"
#include "ops/reference.h"

#include <inttypes.h>

enum { ANSWER_MAX = 256 << 20, LIST_MAX = 16 << 20 };

static bool is_cancelled(void *door)
{
    return loci_http_cancelled(door);
}

/* The number that the log line of this request has. */
static loci_str tell_id(loci_http_request *request)
{
    loci_str id = loci_arena_printf(loci_http_arena(request), "%" PRIu64, loci_http_id(request));
    if (id.ptr) loci_http_reply_header(request, "X-Request-Id", id);
    return id;
}

static loci_rc run_op(loci_api *api, loci_http_request *request, loci_buf *out, loci_err *err)
{
    loci_caller who;
    loci_call call = {
        .arena = loci_http_arena(request),
        .app = api->app,
        .who = &who,
        .request_id = tell_id(request),
        .idempotency_key = loci_http_header(request, "Idempotency-Key"),
        .deadline = loci_http_deadline(request),
        .door = request,
        .cancelled = is_cancelled,
        .check_output = api->app->check_output,
    };

    loci_rc rc = loci_api_caller(api, request, LOCI_DOOR_REST, &who, err);
    if (rc) return rc;
    return loci_ops_call(api->app->ops, &call, loci_http_param(request, "name"),
                         loci_http_body(request), out, err);
}

static void post_op(void *context, loci_http_request *request)
{
    loci_api *api = context;
    loci_err err = { 0 };
    loci_buf out;

    loci_buf_init_arena(&out, loci_http_arena(request), ANSWER_MAX);
    (void)atomic_fetch_add(&api->metrics.in_flight, 1);
    loci_rc rc = run_op(api, request, &out, &err);
    (void)atomic_fetch_sub(&api->metrics.in_flight, 1);
    if (rc)
        loci_api_fail(request, &err);
    else
        loci_api_reply(request, "application/json", &out);
}

/* ?toolsets= narrows the list; without it everything is there. */
static loci_rc list_ops(loci_api *api, loci_http_request *request, loci_buf *out, loci_err *err)
{
    loci_str wanted = loci_http_query(request, "toolsets");
    loci_ops_filter filter = { .toolsets = LOCI_TOOLSET_ALL };
    const loci_op_info *op;
    loci_caller who;
    loci_json_writer w;

    loci_rc rc = loci_api_caller(api, request, LOCI_DOOR_REST, &who, err);
    if (!rc && wanted.ptr) rc = loci_toolsets_parse(wanted, &filter.toolsets, err);
    if (rc) return rc;
    loci_json_begin(&w, out);
    loci_json_object(&w);
    loci_json_name(&w, LOCI_STR("ops"));
    loci_json_array(&w);
    for (size_t cursor = 0; (op = loci_ops_next(api->app->ops, filter, &cursor));)
        loci_reference_op(op, &w);
    loci_json_array_end(&w);
    loci_json_object_end(&w);
    return loci_json_check(&w, err);
}

static void get_ops(void *context, loci_http_request *request)
{
    loci_err err = { 0 };
    loci_buf out;

    (void)tell_id(request);
    loci_buf_init_arena(&out, loci_http_arena(request), LIST_MAX);
    if (list_ops(context, request, &out, &err))
        loci_api_fail(request, &err);
    else
        loci_api_reply(request, "application/json", &out);
}

static void get_openapi(void *context, loci_http_request *request)
{
    loci_api *api = context;
    loci_caller who;
    loci_err err = { 0 };
    loci_buf out;

    (void)tell_id(request);
    loci_buf_init_arena(&out, loci_http_arena(request), LIST_MAX);
    loci_rc rc = loci_api_caller(api, request, LOCI_DOOR_REST, &who, &err);
    if (!rc) rc = loci_openapi_write(api->app->ops, &out, &err);
    if (rc)
        loci_api_fail(request, &err);
    else
        loci_api_reply(request, "application/json", &out);
}

const loci_route loci_ops_routes[] = {
    { LOCI_GET, "/v1/ops", 0, get_ops, NULL },
    { LOCI_POST, "/v1/ops/{name}", 0, post_op, NULL },
    { LOCI_GET, "/openapi.json", 0, get_openapi, NULL },
};
const size_t loci_ops_route_count = LOCI_COUNT(loci_ops_routes);
