/* tests/unit/net/server.h -- a server with routes that let tests look inside. */
#ifndef LOCI_TEST_SERVER_H
#define LOCI_TEST_SERVER_H

#include "base/clock.h"
#include "net/http.h"
#include "test.h"

#include <stdatomic.h>
#include <stdio.h>

typedef struct fixture {
    loci_router *router;
    loci_http_server *server;
    const char *address;
    atomic_bool hold;       /* slow handlers wait while it is set */
    atomic_int running;     /* handlers inside */
    atomic_int cancelled;   /* handlers that saw it */
    atomic_int events;      /* requests that were told of */
    atomic_int last_status; /* of the last one */
    atomic_int last_outcome;
    atomic_int last_method_len;
} fixture;

static fixture fix;
static _Atomic(loci_http_stream *) open_stream; /* the test closes it */

static inline void health(void *context, loci_http_request *r)
{
    (void)context;
    loci_http_reply(r, 200, "application/json", LOCI_STR("{\"status\":\"ok\"}"));
}

/* What the handler saw, as text. */
static inline void echo(void *context, loci_http_request *r)
{
    size_t count;
    const loci_uri_param *query = loci_http_query_all(r, &count);
    loci_str id = loci_http_param(r, "id"), body = loci_http_body(r);
    loci_str agent = loci_http_header(r, "x-loci-agent");
    (void)context;

    loci_str text = loci_arena_printf(
        loci_http_arena(r), "%s path=%.*s id=%.*s agent=%.*s q=%.*s n=%zu first=%.*s body=%zu:%.*s",
        loci_method_name(loci_http_method(r)), LOCI_ARG(loci_http_path(r)), LOCI_ARG(id),
        LOCI_ARG(agent), LOCI_ARG(loci_http_query(r, "q")), count,
        count ? (int)query[0].name.len : 0, count ? query[0].name.ptr : "", body.len,
        body.len < 100 ? (int)body.len : 100, body.len ? body.ptr : "");
    loci_http_reply_header(r, "X-Seen", LOCI_STR("a\r\nb"));
    loci_http_reply(r, 200, "text/plain", text);
}

/* Waits for the test to let go, or until nobody wants the answer. */
static inline void slow(void *context, loci_http_request *r)
{
    (void)context;
    (void)atomic_fetch_add(&fix.running, 1);
    while (atomic_load(&fix.hold) && !loci_http_cancelled(r)) loci_clock_sleep(LOCI_MS);
    if (loci_http_cancelled(r)) (void)atomic_fetch_add(&fix.cancelled, 1);
    (void)atomic_fetch_sub(&fix.running, 1);
    loci_http_reply(r, 200, "text/plain", LOCI_STR("slow"));
}

static inline void forgets(void *context, loci_http_request *r)
{
    (void)context, (void)r;
}

/* Three events, then waits for the test or the client to leave. */
static inline void events(void *context, loci_http_request *r)
{
    loci_http_stream *stream;
    loci_err err = { 0 };
    (void)context;

    if (loci_http_stream_open(r, 200, "text/event-stream", &stream, &err)) {
        loci_http_reply_error(r, 500, "internal", "%s", err.msg);
        return;
    }
    for (int i = 0; i < 3; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "%d", i);
        if (loci_http_stream_event(stream, LOCI_STR("tick"), loci_str_from(id),
                                   LOCI_STR("one\ntwo"), 0, &err))
            break;
    }
    atomic_store(&open_stream, stream);
}

/* A stream with no end, as fast as the client reads. */
static inline void flood(void *context, loci_http_request *r)
{
    static const char block[4096] = "x";
    loci_http_stream *stream;
    (void)context;

    if (loci_http_stream_open(r, 200, "application/octet-stream", &stream, NULL)) return;
    loci_rc rc = LOCI_OK;
    for (int i = 0; i < 64 && !rc; i++)
        rc = loci_http_stream_write(stream, (loci_str){ block, sizeof block }, 0, NULL);
    /* It is full now, and nobody drains it before this handler returns. */
    if (loci_http_stream_write(stream, LOCI_STR("y"), 0, NULL) == LOCI_EBUSY)
        (void)atomic_fetch_add(&fix.cancelled, 1);
    atomic_store(&open_stream, stream);
}

static const loci_route test_routes[] = {
    /* clang-format off */
    { LOCI_GET,    "/v1/health/",    LOCI_ROUTE_CHEAP,  health,  NULL },
    { LOCI_GET,    "/echo/{id}",     0,                 echo,    NULL },
    { LOCI_POST,   "/echo/{id}",     0,                 echo,    NULL },
    { LOCI_POST,   "/cheap/{id}",    LOCI_ROUTE_CHEAP,  echo,    NULL },
    { LOCI_GET,    "/slow",          0,                 slow,    NULL },
    { LOCI_GET,    "/forgets",       0,                 forgets, NULL },
    { LOCI_GET,    "/events",        LOCI_ROUTE_STREAM, events,  NULL },
    { LOCI_GET,    "/flood",         LOCI_ROUTE_STREAM, flood,   NULL },
    /* clang-format on */
};

static inline void on_event(void *context, const loci_http_event *event)
{
    (void)context;
    atomic_store(&fix.last_status, event->status);
    atomic_store(&fix.last_outcome, (int)event->outcome);
    atomic_store(&fix.last_method_len, (int)event->method.len);
    (void)atomic_fetch_add(&fix.events, 1);
}

static inline void serve(loci_http_options options)
{
    loci_err err = { 0 };

    if (!options.listen) options.listen = "127.0.0.1:0";
    options.on_event = on_event;
    atomic_store(&fix.hold, false);
    atomic_store(&fix.cancelled, 0);
    atomic_store(&fix.events, 0);
    atomic_store(&open_stream, NULL);
    assert_ok(loci_router_new(&fix.router, &err), err);
    assert_ok(loci_router_add(fix.router, "", test_routes, LOCI_COUNT(test_routes), &fix, &err),
              err);
    assert_ok(loci_http_start(&options, fix.router, &fix.server, &err), err);
    fix.address = loci_http_address(fix.server);
}

static inline int stop(void **state)
{
    (void)state;
    loci_http_stop(fix.server);
    loci_router_free(fix.router);
    fix.server = NULL;
    fix.router = NULL;
    return 0;
}

/* Wait until a counter has a value: no test goes on before, none waits for ever. */
static inline void await(atomic_int *counter, int want)
{
    for (int i = 0; i < 20000 && atomic_load(counter) != want; i++) loci_clock_sleep(LOCI_MS);
    assert_int_equal(atomic_load(counter), want);
}

#endif
