#include "api/server.h"

#include "api/auth.h"
#include "api/health.h"
#include "api/status.h"
#include "base/alloc.h"
#include "base/log.h"
#include "net/http.h"
#include "net/listen.h"

#include <string.h>

enum { TEXTS_MAX = 64 << 10 };

static const char *const outcomes[] = {
    [LOCI_HTTP_ANSWERED] = "answered",
    [LOCI_HTTP_GONE] = "the client went away",
    [LOCI_HTTP_CUT] = "cut off",
    [LOCI_HTTP_REFUSED] = "refused by the HTTP library",
};

struct loci_server {
    loci_arena *arena; /* the texts below */
    loci_str password;
    const char *url;
    loci_router *router;
    loci_http_server *http;
};

/* Every request passes here before its handler, except on routes that are open to all. */
static loci_rc check_caller(void *context, const loci_http_request *request, loci_err *err)
{
    const loci_server *server = context;
    loci_credentials credentials = {
        .authorization = loci_http_header(request, "Authorization"),
        .bare_password = loci_http_header(request, "X-BARE-PASSWORD"),
    };
    return loci_auth_check(server->password, &credentials, err);
}

/* One line per request, when it is over. The path is logged without its query: that may hold what
 * somebody searched for. */
static void log_request(void *context, const loci_http_event *event)
{
    loci_log_level level = event->status >= 500 ? LOCI_LOG_ERROR : LOCI_LOG_INFO;

    (void)context;
    loci_log(level, "net", outcomes[event->outcome], LOCI_KV("id", event->id),
             LOCI_KV("method", event->method), LOCI_KV("path", event->path),
             LOCI_KV("status", event->status), LOCI_KV("us", event->duration),
             LOCI_KV("in", event->body_in), LOCI_KV("out", event->body_out),
             LOCI_KV("peer", event->peer));
}

static void log_complaint(void *context, const char *text)
{
    (void)context;
    loci_log(LOCI_LOG_DEBUG, "net", "libmicrohttpd", LOCI_KV("text", text));
}

static loci_rc check_exposure(const loci_config *config, loci_str password, loci_err *err)
{
    loci_str listen = loci_config_text(config, "listen");

    if (loci_listen_is_local(listen.ptr) || password.len || loci_config_bool(config, "insecure"))
        return LOCI_OK;
    return loci_fail(err, LOCI_EDENIED,
                     "%.*s can be reached from other machines, and nobody would be asked for a "
                     "password; set LOCI_PASSWORD or --password-file, or pass --insecure if "
                     "something in front checks who comes in",
                     LOCI_ARG(listen));
}

static loci_rc add_routes(loci_server *server, loci_err *err)
{
    loci_rc rc = loci_router_new(&server->router, err);
    if (rc) return rc;
    return loci_router_add(server->router, "", loci_health_routes, loci_health_route_count, server,
                           err);
}

static const char *text_or_null(const loci_config *config, const char *name)
{
    loci_str text = loci_config_text(config, name);
    return text.len ? text.ptr : NULL;
}

static loci_http_options http_options(const loci_config *config, loci_server *server)
{
    return (loci_http_options){
        .listen = loci_config_text(config, "listen").ptr,
        .tls_certificate = text_or_null(config, "tls_cert"),
        .tls_key = text_or_null(config, "tls_key"),
        .allowed_hosts = text_or_null(config, "hosts"),
        .allowed_origins = text_or_null(config, "cors_origins"),
        .body_limit = (size_t)loci_config_int(config, "body_limit"),
        .header_limit = (size_t)loci_config_int(config, "header_limit"),
        .receive_timeout = loci_config_int(config, "request_timeout"),
        .idle_timeout = loci_config_int(config, "idle_timeout"),
        .connections = (unsigned)loci_config_int(config, "connections"),
        .connections_per_ip = (unsigned)loci_config_int(config, "connections_per_ip"),
        .workers = (unsigned)loci_config_int(config, "workers"),
        .gate = check_caller,
        .on_event = log_request,
        .on_message = log_complaint,
        .context = server,
    };
}

/* "http://ADDRESS", "https://ADDRESS" or "unix:PATH" as it is. */
static loci_rc make_url(loci_server *server, const loci_config *config, loci_err *err)
{
    const char *address = loci_http_address(server->http);
    const char *scheme = loci_config_text(config, "tls_cert").len ? "https://" : "http://";
    bool is_socket = loci_str_starts(loci_str_from(address), LOCI_STR("unix:"));

    loci_str url = loci_arena_printf(server->arena, "%s%s", is_socket ? "" : scheme, address);
    if (!url.ptr) return loci_arena_fail(server->arena, err);
    server->url = url.ptr;
    return LOCI_OK;
}

loci_rc loci_server_start(const loci_config *config, loci_str password, loci_server **ret_server,
                          loci_err *err)
{
    loci_rc rc = check_exposure(config, password, err);
    if (rc) return rc;
    LOCI_AUTO(loci_server_stopp) loci_server *server = loci_zalloc(sizeof *server);
    if (!server) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    server->arena = loci_arena_new(TEXTS_MAX);
    if (!server->arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    server->password = loci_arena_str(server->arena, password);
    if (!server->password.ptr) return loci_arena_fail(server->arena, err);

    rc = add_routes(server, err);
    if (rc) return rc;
    loci_http_options options = http_options(config, server);
    rc = loci_http_start(&options, server->router, &server->http, err);
    if (!rc) rc = make_url(server, config, err);
    if (rc) return rc;
    *ret_server = LOCI_TAKE(server);
    return LOCI_OK;
}

const char *loci_server_url(const loci_server *server)
{
    return server->url;
}

void loci_server_stop(loci_server *server)
{
    if (!server) return;
    loci_http_stop(server->http);
    loci_router_free(server->router);
    loci_arena_free(server->arena);
    loci_free(server);
}
