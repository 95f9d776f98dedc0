/* The head of a request, looked at once, before a byte of its body is kept.
 *
 * The library is lenient: it takes two lengths, a length beside chunks, folded lines, a missing
 * Host, bytes that no header may have. What it hands over is checked here in a fixed order: bytes,
 * lengths, Host, Origin, path, route, content type, size. The first that fails is the answer. */
#include "net/guard.h"
#include "net/http_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Headers that mean something to the server itself. */
typedef struct head {
    loci_http_request *request;
    const char *cursor; /* where the next header must begin */
    bool bad;           /* bytes that no head may have */
    bool too_many;
    size_t hosts, lengths, codings, origins, types;
    loci_str host, length, coding, origin, type;
} head;

void loci_http_refuse(loci_http_request *request, int status, const char *code, const char *fmt,
                      ...)
{
    char text[512];
    va_list args;

    if (request->refused.status) return; /* the first reason stands */
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    loci_str copy = loci_arena_str(request->conn->arena, loci_str_from(n < 0 ? "" : text));
    request->refused.status = status;
    request->refused.code = code;
    request->refused.detail = copy.ptr ? copy.ptr : "out of memory";
}

/* The same, when what follows on the connection cannot be trusted or is not worth reading. */
static void refuse_and_close(loci_http_request *request, int status, const char *code,
                             const char *text)
{
    loci_http_refuse(request, status, code, "%s", text);
    request->refused.must_close = true;
}

static bool is_token_byte(char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return c && strchr("!#$%&'*+-.^_`|~", c);
}

static bool is_token(loci_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_token_byte(s.ptr[i])) return false;
    return s.len > 0;
}

static bool is_header_value(loci_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if ((c < ' ' && c != '\t') || c == 0x7f) return false;
    }
    return true;
}

static void note(loci_str name, const char *wanted, loci_str value, size_t *count, loci_str *ret)
{
    if (name.len != strlen(wanted) || !loci_str_eq_nocase(name, loci_str_from(wanted))) return;
    if ((*count)++ == 0) *ret = value;
}

/* The coding is compared as the library does it: with the blanks that stand behind it. */
static void note_known(head *h, loci_str name, loci_str value, loci_str raw)
{
    note(name, "Host", value, &h->hosts, &h->host);
    note(name, "Content-Length", value, &h->lengths, &h->length);
    note(name, "Transfer-Encoding", raw, &h->codings, &h->coding);
    note(name, "Origin", value, &h->origins, &h->origin);
    note(name, "Content-Type", value, &h->types, &h->type);
    if (name.len == 6 && loci_str_eq_nocase(name, LOCI_STR("Expect"))) h->request->expects = true;
}

/* The library leaves each header where it was received, with the line end behind it zeroed. So
 * headers must lie back to back with two bytes between: a NUL inside, a bare LF or a folded line
 * (all of which it takes) breaks that. Newer ones refuse these themselves, and may copy. */
static void check_layout(head *h, loci_str name, loci_str value)
{
    if (MHD_VERSION >= 0x00097600) return;
    if (name.ptr != h->cursor) h->bad = true;
    h->cursor = value.ptr ? value.ptr + value.len + 2 : NULL;
}

static enum MHD_Result on_header(void *cls, enum MHD_ValueKind kind, const char *name,
                                 size_t name_len, const char *value, size_t value_len)
{
    head *h = cls;
    loci_str n = { name, name_len }, raw = { value, value_len }, v = loci_str_trim(raw);
    (void)kind;

    check_layout(h, n, raw);
    if (!is_token(n) || !is_header_value(raw)) h->bad = true;
    if (h->request->header_count == HEADERS_MAX) {
        h->too_many = true;
        return MHD_NO;
    }
    h->request->headers[h->request->header_count++] = (header){ n, v };
    note_known(h, n, v, raw);
    return MHD_YES;
}

static size_t head_size(struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/* Request line and headers, byte by byte. False when the request was refused. */
static bool check_bytes(head *h, const char *url, const char *method, const char *version)
{
    loci_http_request *r = h->request;
    struct MHD_Connection *mhd = r->conn->mhd;
    size_t size = head_size(mhd);

    r->method_name = loci_str_from(method);
    r->method = loci_method_parse(r->method_name);
    h->cursor = version + strlen("HTTP/1.1") + 2;
    (void)MHD_get_connection_values_n(mhd, MHD_HEADER_KIND, on_header, h);

    /* The method ends where the target begins, and the head where the empty line ends. */
    bool exact = url == method + r->method_name.len + 1;
    if (MHD_VERSION < 0x00097600) exact = exact && h->cursor + 2 == method + size;
    if (h->too_many || size > r->server->options.header_limit)
        refuse_and_close(r, 431, "too_large", "the request has too many or too long headers");
    else if (r->target.len > TARGET_BYTES)
        refuse_and_close(r, 414, "too_large", "the address of the request is too long");
    else if (h->bad || !exact || r->bad_target || !is_token(r->method_name))
        refuse_and_close(r, 400, "invalid", "the head of the request is not HTTP/1.1");
    return !r->refused.status;
}

/* How long the body is must be said once, in one way. */
static bool check_lengths(head *h, const char *version)
{
    loci_http_request *r = h->request;
    uint64_t length = 0;

    if (h->codings && strcmp(version, "HTTP/1.0") == 0)
        refuse_and_close(r, 400, "invalid", "HTTP/1.0 has no Transfer-Encoding");
    else if (h->codings > 1 || (h->codings && !loci_str_eq_nocase(h->coding, LOCI_STR("chunked"))))
        refuse_and_close(r, 400, "invalid", "the only Transfer-Encoding here is 'chunked'");
    else if (h->codings && h->lengths)
        refuse_and_close(r, 400, "invalid",
                         "Content-Length and Transfer-Encoding exclude each other");
    else if (h->lengths > 1)
        refuse_and_close(r, 400, "invalid", "Content-Length is there more than once");
    else if (h->lengths && !loci_str_to_u64(h->length, &length))
        refuse_and_close(r, 400, "invalid", "Content-Length is not a number");
    if (r->refused.status) {
        r->has_body = true; /* nobody knows: treat what follows as such */
        return false;
    }
    r->chunked = h->codings > 0;
    r->has_body = r->chunked || length > 0;
    if (length <= r->server->options.body_limit) return true;
    loci_http_refuse(r, 413, "too_large", "the body has %llu bytes, the limit is %zu",
                     (unsigned long long)length, r->server->options.body_limit);
    r->refused.must_close = true;
    return false;
}

static bool check_host(head *h, const char *version)
{
    loci_http_request *r = h->request;
    const loci_http_server *s = r->server;
    loci_err err;

    if (h->hosts > 1)
        refuse_and_close(r, 400, "invalid", "the Host header is there more than once");
    else if (h->hosts == 0 && strcmp(version, "HTTP/1.0") != 0)
        loci_http_refuse(r, 400, "invalid", "the Host header is missing");
    else if (h->hosts && !s->listener.is_unix) {
        loci_rc rc = loci_guard_host(h->host, s->hosts, &err);
        if (rc == LOCI_EDENIED) loci_http_refuse(r, 403, "forbidden", "%s", err.msg);
        if (rc == LOCI_EINVAL) loci_http_refuse(r, 400, "invalid", "%s", err.msg);
    }
    return !r->refused.status;
}

static bool check_origin(head *h)
{
    loci_http_request *r = h->request;
    loci_str scheme = r->server->tls.key ? LOCI_STR("https") : LOCI_STR("http");

    if (h->origins == 0) return true;
    if (h->origins > 1 || !loci_guard_origin(h->origin, scheme, h->host, r->server->origins)) {
        loci_http_refuse(r, 403, "forbidden",
                         "pages of this origin may not use the server; its configuration can "
                         "allow them");
        return false;
    }
    r->origin = h->origin;
    r->preflight = r->method == LOCI_OPTIONS &&
                   loci_http_header(r, "Access-Control-Request-Method").ptr != NULL;
    return true;
}

/* Path and query; what is wrong with them is told with the library's error as the text. */
static bool check_target(loci_http_request *r)
{
    loci_arena *arena = r->conn->arena;
    loci_str query;
    loci_err err;

    loci_rc rc = loci_uri_split(r->target, &r->raw_path, &query, &err);
    if (!rc) rc = loci_uri_decode(arena, r->raw_path, false, &r->path, &err);
    if (!rc && query.len) rc = loci_uri_query(arena, query, &r->query, &r->query_count, &err);
    if (rc == LOCI_EINVAL) loci_http_refuse(r, 400, "invalid", "%s", err.msg);
    if (rc && rc != LOCI_EINVAL) loci_http_refuse(r, 503, "unavailable", "%s", err.msg);
    return !r->refused.status;
}

/* Who is not let in learns nothing about which paths there are. */
static bool check_caller(loci_http_request *r)
{
    const loci_http_options *options = &r->server->options;
    bool open = r->match.route && (r->match.route->flags & LOCI_ROUTE_OPEN);
    loci_err err = { 0 };

    if (open || !options->gate) return true;
    loci_rc rc = options->gate(options->context, r, &err);
    if (rc == LOCI_EAUTH) loci_http_refuse(r, 401, "unauthorized", "%s", err.msg);
    if (rc == LOCI_EDENIED) loci_http_refuse(r, 403, "forbidden", "%s", err.msg);
    if (rc && !r->refused.status) loci_http_refuse(r, 503, "unavailable", "%s", err.msg);
    return rc == LOCI_OK;
}

static bool check_route(loci_http_request *r)
{
    loci_err err;

    loci_rc rc = loci_router_find(r->server->router, r->method, r->raw_path, r->conn->arena,
                                  &r->match, &err);
    if (!check_caller(r)) return false;
    if (rc == LOCI_ENOTFOUND) loci_http_refuse(r, 404, "not_found", "%s", err.msg);
    if (rc == LOCI_EINVAL) loci_http_refuse(r, 400, "invalid", "%s", err.msg);
    if (rc && !r->refused.status) loci_http_refuse(r, 503, "unavailable", "%s", err.msg);
    if (rc) return false;
    if (r->match.route || r->method == LOCI_OPTIONS) return true;
    loci_http_refuse(r, 405, "not_implemented", "%.*s is not possible here",
                     r->method_name.len < 32 ? (int)r->method_name.len : 32, r->method_name.ptr);
    r->refused.allow = r->match.allow;
    return false;
}

static void check_type(head *h)
{
    loci_http_request *r = h->request;

    if (!r->has_body || (h->types == 1 && loci_guard_json_type(h->type))) return;
    loci_http_refuse(r, 415, "unsupported_media",
                     "a body must come with 'Content-Type: application/json'");
}

void loci_http_check_head(loci_http_request *request, const char *url, const char *method,
                          const char *version)
{
    head h = { .request = request };

    request->checked = true;
    /* A head that cannot be read may be followed by anything, so the rest counts as its body. */
    if (!check_bytes(&h, url, method, version)) {
        request->has_body = h.lengths || h.codings;
        return;
    }
    if (!check_lengths(&h, version)) return;
    if (!check_host(&h, version) || !check_origin(&h) || !check_target(request)) return;
    if (request->preflight || !check_route(request)) return;
    check_type(&h);
}
