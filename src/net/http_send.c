/* Answers on their way out: through the library, and past it where it cannot. */
#include "base/clock.h"
#include "base/json.h"
#include "net/http_int.h"

#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum {
    ERROR_BYTES = 8192,        /* longest error as JSON */
    SEND_PER_SECOND = 64 << 10 /* a client slower than this is cut */
};

loci_str loci_http_error_body(loci_arena *arena, const char *code, const char *detail)
{
    loci_json_writer w;
    loci_buf out;

    if (!arena) return LOCI_STR("{\"detail\":\"out of memory\",\"code\":\"unavailable\"}");
    loci_buf_init_arena(&out, arena, ERROR_BYTES);
    loci_json_begin(&w, &out);
    loci_json_object(&w);
    loci_json_member_cstr(&w, "detail", detail);
    loci_json_member_cstr(&w, "code", code);
    loci_json_object_end(&w);
    if (loci_json_check(&w, NULL)) return loci_http_error_body(NULL, NULL, NULL);
    return loci_buf_str(&out);
}

static const char *reason(int status)
{
    switch (status) {
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Refused";
    }
}

static bool raw_bytes(conn *c, const char *bytes, size_t len)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_GNUTLS_SESSION);

    if (!info) return send(c->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
    gnutls_session_t session = info->tls_session;
    if (gnutls_record_send(session, bytes, len) != (ssize_t)len) return false;
    (void)gnutls_bye(session, GNUTLS_SHUT_WR);
    return true;
}

bool loci_http_send_raw(conn *c, int status, const char *code, const char *detail)
{
    char text[1024];
    loci_str body = loci_http_error_body(c->arena, code, detail);

    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                     "Connection: close\r\n\r\n%.*s",
                     status, reason(status), body.len, LOCI_ARG(body));
    bool sent = n > 0 && (size_t)n < sizeof text && raw_bytes(c, text, (size_t)n);
    (void)shutdown(c->fd, SHUT_WR);
    return sent;
}

static void add(struct MHD_Response *response, const char *name, const char *value)
{
    (void)MHD_add_response_header(response, name, value);
}

/* What a page of an allowed origin needs to read the answer. Never for "*". */
static void add_cors(const loci_http_request *r, struct MHD_Response *response)
{
    loci_str origin = r->origin.len ? loci_arena_str(r->conn->arena, r->origin) : r->origin;

    if (!origin.ptr || origin.len == 0) return;
    add(response, "Access-Control-Allow-Origin", origin.ptr);
    add(response, "Access-Control-Allow-Credentials", "true");
    add(response, "Vary", "Origin");
}

static enum MHD_Result queue(loci_http_request *r, struct MHD_Response *response, conn_state state)
{
    conn *c = r->conn;

    if (!response) return MHD_NO;
    int64_t extra = (int64_t)(r->reply_body.len / SEND_PER_SECOND) * LOCI_SECOND;
    int64_t until = loci_clock_steady() + r->server->options.receive_timeout + extra;
    loci_http_set_state(c, state, state == CONN_STREAM ? INT64_MAX : until);
    add_cors(r, response);
    if (r->refused.must_close || atomic_load(&r->server->stopping))
        add(response, "Connection", "close");
    enum MHD_Result result = MHD_queue_response(c->mhd, (unsigned)r->status, response);
    MHD_destroy_response(response);
    if (c->left) loci_http_check_left(c); /* before there was a stream to tell */
    return result;
}

static struct MHD_Response *buffer_response(loci_str body)
{
    /* The library takes a pointer to what it will not change. */
    union {
        const char *in;
        void *out;
    } p = { body.ptr };

    return MHD_create_response_from_buffer(body.len, body.len ? p.out : NULL,
                                           MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result loci_http_send_reply(loci_http_request *request)
{
    loci_http_request *r = request;
    conn_state state = r->stream ? CONN_STREAM : CONN_REPLY;
    struct MHD_Response *response =
        r->stream ? loci_http_stream_response(r->stream) : buffer_response(r->reply_body);

    if (!response) return MHD_NO;
    if (r->stream) loci_http_stream_attach(r->stream, r->conn->mhd);
    if (r->content_type) add(response, "Content-Type", r->content_type);
    for (size_t i = 0; i < r->reply_header_count; i++)
        add(response, r->reply_headers[i].name.ptr, r->reply_headers[i].value.ptr);
    return queue(r, response, state);
}

enum MHD_Result loci_http_send_refusal(loci_http_request *request)
{
    loci_http_request *r = request;
    char allow[LOCI_ALLOW_BYTES];

    loci_http_reply(r, r->refused.status, "application/json",
                    loci_http_error_body(r->conn->arena, r->refused.code, r->refused.detail));
    struct MHD_Response *response = buffer_response(r->reply_body);
    if (!response) return MHD_NO;
    add(response, "Content-Type", r->content_type);
    if (r->refused.allow) {
        loci_route_allow_text(r->refused.allow, allow);
        add(response, "Allow", allow);
    }
    if (r->status == 429 || r->status == 503) add(response, "Retry-After", "1");
    return queue(r, response, CONN_REPLY);
}
