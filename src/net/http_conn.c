/* Connections: the library's callbacks, all on the network thread. */
#include "base/alloc.h"
#include "base/clock.h"
#include "net/http_int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum {
    LINGER = 2 * LOCI_SECOND, /* for a client to read an early answer */
    THROW_AWAY = 64 << 10,    /* most of a refused body that does not say how long it is */
    LOOK_AGAIN = 5 * LOCI_MS, /* at a client that left while we still read what it sent */
    PREFLIGHT_METHODS =
        LOCI_GET | LOCI_HEAD | LOCI_POST | LOCI_PUT | LOCI_PATCH | LOCI_DELETE | LOCI_OPTIONS,
};

static bool is_unfinished(const conn *c)
{
    return c->state == CONN_HEAD || c->state == CONN_BODY || c->state == CONN_LINGER ||
           (c->state == CONN_IDLE && !c->used);
}

void loci_http_set_state(conn *c, conn_state state, int64_t deadline)
{
    c->server->unfinished -= is_unfinished(c);
    c->state = state;
    c->server->unfinished += is_unfinished(c);
    c->deadline = deadline;
    if (deadline < c->server->next_cut) c->server->next_cut = deadline;
}

void loci_http_cut(conn *c, bool tell)
{
    if (tell && is_unfinished(c) && c->state != CONN_LINGER)
        (void)loci_http_send_raw(c, 408, "unavailable", "the request took too long to arrive");
    loci_http_set_state(c, CONN_CUT, INT64_MAX);
    (void)shutdown(c->fd, SHUT_RDWR);
}

/* The library hears of an end only when it comes alone, after all bytes were read: not of one that
 * came together with the last bytes, nor of any while the connection is suspended. */
void loci_http_check_left(conn *c)
{
    int unread = 0;

    if (c->state == CONN_STREAM) loci_http_stream_lose(c->request.stream);
    if (c->state != CONN_IDLE && !is_unfinished(c)) return;
    if (ioctl(c->fd, FIONREAD, &unread) != 0 || unread <= 0) {
        loci_http_cut(c, false);
        return;
    }
    int64_t again = loci_clock_steady() + LOOK_AGAIN; /* the library is still reading */
    if (again < c->server->next_cut) c->server->next_cut = again;
}

static void watch_end(conn *c)
{
    struct epoll_event event = { .events = EPOLLRDHUP | EPOLLET, .data.ptr = c };
    (void)epoll_ctl(c->server->left_set, EPOLL_CTL_ADD, c->fd, &event);
}

static void print_peer(conn *c)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char host[INET6_ADDRSTRLEN] = "";

    (void)snprintf(c->peer, sizeof c->peer, "unix");
    if (!info || !info->client_addr) return;
    if (info->client_addr->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const void *)info->client_addr;
        (void)inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
        (void)snprintf(c->peer, sizeof c->peer, "%s:%u", host, (unsigned)ntohs(four->sin_port));
    } else if (info->client_addr->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const void *)info->client_addr;
        (void)inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        (void)snprintf(c->peer, sizeof c->peer, "[%s]:%u", host, (unsigned)ntohs(six->sin6_port));
    }
}

static void open_conn(loci_http_server *s, struct MHD_Connection *mhd, void **socket_context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
    conn *c = loci_zalloc(sizeof *c);

    *socket_context = c;
    if (!c) {
        if (info) (void)shutdown(info->connect_fd, SHUT_RDWR);
        return;
    }
    c->server = s;
    c->mhd = mhd;
    c->fd = info ? (int)info->connect_fd : -1;
    print_peer(c);
    watch_end(c);
    c->next = s->conns;
    if (c->next) c->next->previous = c;
    s->conns = c;
    s->conn_count++;
    s->unfinished++; /* it begins as CONN_IDLE */
    loci_http_set_state(c, CONN_IDLE, loci_clock_steady() + s->options.receive_timeout);
}

static void close_conn(loci_http_server *s, conn *c)
{
    if (!c) return;
    /* Now, while the number is still ours: a copy of it elsewhere would keep the watch alive. */
    (void)epoll_ctl(s->left_set, EPOLL_CTL_DEL, c->fd, NULL);
    if (c->next) c->next->previous = c->previous;
    if (c->previous) c->previous->next = c->next;
    if (s->conns == c) s->conns = c->next;
    s->conn_count--;
    s->unfinished -= is_unfinished(c);
    loci_arena_free(c->arena);
    loci_free(c);
}

void loci_http_on_connection(void *server, struct MHD_Connection *mhd, void **socket_context,
                             enum MHD_ConnectionNotificationCode code)
{
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        open_conn(server, mhd, socket_context);
    else
        close_conn(server, *socket_context);
}

/* The library would cut the query into parameters for itself, and loses track of the request when
 * they do not fit its memory. We have our own copy, so it gets to see an empty one. The text is
 * its own and it is about to write to it: const only means that it does not expect us to. */
static void hide_query(const char *uri)
{
    union {
        const char *in;
        char *out;
    } mark = { strchr(uri, '?') };

    if (MHD_VERSION < 0x00097600 && mark.in) mark.out[1] = '\0';
}

/* The request line as it came; the version behind it was checked by the library. A NUL in the
 * target would end `uri` early, and then the version would not stand behind it. */
void *loci_http_on_target(void *server, const char *uri, struct MHD_Connection *mhd)
{
    loci_http_server *s = server;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    conn *c = info ? info->socket_context : NULL;

    if (!c) return NULL;
    if (!c->arena) c->arena = loci_arena_new(s->options.arena_limit);
    if (!c->arena) return NULL;

    loci_http_request *r = &c->request;
    int64_t now = loci_clock_steady();
    r->conn = c;
    r->server = s;
    r->id = ++s->last_id;
    r->started = now;
    r->bad_target = memcmp(uri + strlen(uri) + 1, "HTTP/", 5) != 0;
    r->target = loci_arena_str(c->arena, loci_str_from(uri));
    hide_query(uri);
    loci_buf_init(&r->body, s->options.body_limit);
    /* The first request's time runs since the accept. */
    loci_http_set_state(c, CONN_HEAD, c->used ? now + s->options.receive_timeout : c->deadline);
    return r->target.ptr ? r : NULL;
}

static void drop_body(loci_http_request *r)
{
    r->server->body_bytes -= r->body.len;
    loci_buf_done(&r->body);
}

/* Turned away while the client still sends. Where the rest is worth reading the answer waits for
 * its end, so that the connection can go on; else it goes out now and the rest is thrown away. */
static enum MHD_Result turn_away(loci_http_request *r)
{
    conn *c = r->conn;

    if (r->expects && c->state == CONN_HEAD) return loci_http_send_refusal(r);
    drop_body(r);
    if (!r->refused.must_close || !r->has_body) return MHD_YES;
    r->status = r->refused.status;
    if (!loci_http_send_raw(c, r->status, r->refused.code, r->refused.detail)) return MHD_NO;
    loci_http_set_state(c, CONN_LINGER, loci_clock_steady() + LINGER);
    return MHD_YES;
}

static enum MHD_Result begin(loci_http_request *r, const char *url, const char *method,
                             const char *version)
{
    conn *c = r->conn;

    loci_http_check_head(r, url, method, version);
    if (r->refused.status) {
        enum MHD_Result result = turn_away(r);
        if (result == MHD_NO || c->state != CONN_HEAD) return result;
    }
    loci_http_set_state(c, CONN_BODY, c->deadline);
    return MHD_YES;
}

/* A body that was refused is read so that the connection can go on; one that has no end is not. */
static enum MHD_Result throw_away(loci_http_request *r, size_t len)
{
    r->thrown_away += len;
    if (!r->chunked || r->thrown_away <= THROW_AWAY || r->refused.must_close) return MHD_YES;
    r->refused.must_close = true;
    return turn_away(r);
}

static enum MHD_Result receive(loci_http_request *r, const char *data, size_t *size)
{
    loci_http_server *s = r->server;
    loci_str bytes = { data, *size };

    *size = 0; /* taken, kept or not */
    if (r->refused.status) return throw_away(r, bytes.len);
    if (bytes.len > s->options.body_limit - r->body.len) {
        loci_http_refuse(r, 413, "too_large", "the body is longer than the limit of %zu bytes",
                         s->options.body_limit);
        r->refused.must_close = true;
        return turn_away(r);
    }
    if (bytes.len > s->options.body_total - s->body_bytes) {
        loci_http_refuse(r, 503, "unavailable", "too many large requests at once; try again");
        return turn_away(r);
    }
    loci_buf_add(&r->body, bytes);
    if (loci_buf_check(&r->body, NULL)) {
        loci_http_refuse(r, 503, "unavailable", "out of memory");
        return turn_away(r);
    }
    s->body_bytes += bytes.len;
    return MHD_YES;
}

/* An OPTIONS that no route answers: what is possible here, and for pages what they may send. */
static void answer_options(loci_http_request *r)
{
    char allow[LOCI_ALLOW_BYTES];
    loci_str asked = loci_http_header(r, "Access-Control-Request-Headers");

    loci_http_reply(r, 204, NULL, (loci_str){ NULL, 0 });
    loci_route_allow_text(r->preflight ? PREFLIGHT_METHODS : r->match.allow, allow);
    if (!r->preflight) {
        loci_http_reply_header(r, "Allow", loci_str_from(allow));
        return;
    }
    loci_http_reply_header(r, "Access-Control-Allow-Methods", loci_str_from(allow));
    if (asked.len) loci_http_reply_header(r, "Access-Control-Allow-Headers", asked);
    loci_http_reply_header(r, "Access-Control-Max-Age", LOCI_STR("600"));
}

/* Hand the request to a worker; the library forgets the connection until it is resumed. */
static enum MHD_Result dispatch(loci_http_request *r)
{
    conn *c = r->conn;

    r->dispatched = true;
    loci_http_set_state(c, CONN_WORK, INT64_MAX);
    MHD_suspend_connection(c->mhd);
    if (loci_http_enqueue(r)) return MHD_YES;
    loci_http_refuse(r, 429, "busy", "the server has too much to do at once; try again");
    MHD_resume_connection(c->mhd);
    return MHD_YES;
}

/* The request is whole; called again when a worker has answered it. */
static enum MHD_Result complete(loci_http_request *r)
{
    loci_http_server *s = r->server;

    if (r->conn->state == CONN_LINGER || r->conn->state == CONN_CUT) return MHD_NO;
    if (r->refused.status) return loci_http_send_refusal(r);
    if (r->dispatched) return loci_http_send_reply(r);

    const loci_route *route = r->match.route;
    if (!route) {
        answer_options(r);
        return loci_http_send_reply(r);
    }
    bool unlimited = route->flags & LOCI_ROUTE_STREAM;
    r->deadline = unlimited ? INT64_MAX : loci_clock_steady() + s->options.work_timeout;
    if (!(route->flags & LOCI_ROUTE_CHEAP)) return dispatch(r);
    loci_http_run(r);
    return loci_http_send_reply(r);
}

enum MHD_Result loci_http_on_request(void *server, struct MHD_Connection *mhd, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *size, void **context)
{
    loci_http_request *r = *context;
    (void)server, (void)mhd;

    if (!r) return MHD_NO; /* no memory for it */
    if (!r->checked) return begin(r, url, method, version);
    return *size ? receive(r, data, size) : complete(r);
}

static void tell(const loci_http_request *r, loci_http_outcome outcome)
{
    const loci_http_options *o = &r->server->options;

    if (!o->on_event) return;
    loci_http_event event = {
        .outcome = outcome,
        .id = r->id,
        .method = r->method_name,
        .path = r->raw_path.ptr ? r->raw_path : r->target,
        .peer = r->conn->peer,
        .status = r->status,
        .body_in = r->body.len,
        .body_out = r->reply_body.len,
        .duration = loci_clock_steady() - r->started,
    };
    o->on_event(o->context, &event);
}

/* Ready for the next request. The two arrays keep what they have: their counts say what is used. */
static void forget(loci_http_request *r)
{
    r->method = (loci_method)0;
    r->deadline = 0;
    r->header_count = 0;
    r->query = NULL;
    r->query_count = 0;
    r->method_name = r->raw_path = r->path = r->target = (loci_str){ NULL, 0 };
    r->origin = r->reply_body = (loci_str){ NULL, 0 };
    r->match = (loci_route_match){ 0 };
    r->bad_target = r->checked = r->has_body = r->chunked = r->expects = false;
    r->dispatched = r->preflight = false;
    r->thrown_away = 0;
    r->refused = (refusal){ 0 };
    r->status = 0;
    r->content_type = NULL;
    r->reply_header_count = 0;
    r->stream = NULL;
}

/* What the library refuses by itself, in the head or between chunks, comes here without a word. It
 * gives the same code when a connection breaks, but then the client is not there any more. */
static loci_http_outcome outcome_of(const loci_http_request *r,
                                    enum MHD_RequestTerminationCode code)
{
    const conn *c = r->conn;
    bool receiving = c->state == CONN_HEAD || c->state == CONN_BODY;

    if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK || c->state == CONN_LINGER)
        return LOCI_HTTP_ANSWERED;
    if (c->state == CONN_CUT) return LOCI_HTTP_CUT;
    if (code == MHD_REQUEST_TERMINATED_WITH_ERROR && receiving && !r->refused.status &&
        !loci_http_peer_gone(c->fd))
        return LOCI_HTTP_REFUSED;
    return LOCI_HTTP_GONE;
}

void loci_http_on_completed(void *server, struct MHD_Connection *mhd, void **context,
                            enum MHD_RequestTerminationCode code)
{
    loci_http_request *r = *context;
    (void)server, (void)mhd;

    *context = NULL;
    if (!r) return;
    conn *c = r->conn;
    tell(r, outcome_of(r, code));
    if (r->stream) loci_http_stream_detach(r->stream);
    drop_body(r);
    c->server->unfinished -= is_unfinished(c);
    c->used = true;
    c->server->unfinished += is_unfinished(c);
    forget(r);
    loci_arena_reset(c->arena);
    int64_t now = loci_clock_steady();
    if (c->state != CONN_CUT)
        loci_http_set_state(c, CONN_IDLE, now + c->server->options.idle_timeout);
    if (c->left) c->server->next_cut = 0; /* look at it, once the library had its chance */
    if (now < c->server->next_hearing) c->server->next_hearing = now;
}
