/* What a handler sees of its request, and how it leaves an answer. */
#include "base/clock.h"
#include "net/http_int.h"

#include <stdarg.h>
#include <stdio.h>

loci_method loci_http_method(const loci_http_request *request)
{
    return request->method;
}

loci_str loci_http_path(const loci_http_request *request)
{
    return request->path;
}

loci_str loci_http_body(const loci_http_request *request)
{
    return loci_buf_str(&request->body);
}

const char *loci_http_peer(const loci_http_request *request)
{
    return request->conn->peer;
}

uint64_t loci_http_id(const loci_http_request *request)
{
    return request->id;
}

const loci_route *loci_http_route(const loci_http_request *request)
{
    return request->match.route;
}

loci_str loci_http_param(const loci_http_request *request, const char *name)
{
    loci_str wanted = loci_str_from(name);

    for (size_t i = 0; i < request->match.count; i++)
        if (loci_str_eq(request->match.params[i].name, wanted))
            return request->match.params[i].value;
    return (loci_str){ NULL, 0 };
}

loci_str loci_http_query(const loci_http_request *request, const char *name)
{
    loci_str wanted = loci_str_from(name);

    for (size_t i = 0; i < request->query_count; i++)
        if (loci_str_eq(request->query[i].name, wanted)) return request->query[i].value;
    return (loci_str){ NULL, 0 };
}

const loci_uri_param *loci_http_query_all(const loci_http_request *request, size_t *ret_count)
{
    *ret_count = request->query_count;
    return request->query;
}

loci_str loci_http_header(const loci_http_request *request, const char *name)
{
    loci_str wanted = loci_str_from(name);

    for (size_t i = 0; i < request->header_count; i++)
        if (loci_str_eq_nocase(request->headers[i].name, wanted)) return request->headers[i].value;
    return (loci_str){ NULL, 0 };
}

loci_arena *loci_http_arena(loci_http_request *request)
{
    return request->conn->arena;
}

int64_t loci_http_deadline(const loci_http_request *request)
{
    return request->deadline;
}

bool loci_http_cancelled(const loci_http_request *request)
{
    return atomic_load(&request->server->cancelled) || loci_clock_steady() > request->deadline ||
           loci_http_peer_gone(request->conn->fd);
}

void loci_http_reply(loci_http_request *request, int status, const char *content_type,
                     loci_str body)
{
    request->status = status;
    request->content_type = content_type;
    request->reply_body = body;
}

void loci_http_reply_header(loci_http_request *request, const char *name, loci_str value)
{
    loci_arena *arena = request->conn->arena;

    if (request->reply_header_count == REPLY_HEADERS) return;
    loci_str n = loci_arena_str(arena, loci_str_from(name));
    char *v = loci_arena_alloc(arena, value.len + 1);
    if (!n.ptr || !v) return;
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        v[i] = c < ' ' || c == 0x7f ? ' ' : value.ptr[i];
    }
    request->reply_headers[request->reply_header_count++] =
        (header){ n, (loci_str){ v, value.len } };
}

void loci_http_reply_error(loci_http_request *request, int status, const char *code,
                           const char *fmt, ...)
{
    char detail[1024];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    if (n < 0) detail[0] = '\0';
    loci_http_reply(request, status, "application/json",
                    loci_http_error_body(request->conn->arena, code, detail));
}
