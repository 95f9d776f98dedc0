/* The server: options, start, the network thread's loop, stop.
 *
 * The library runs on a thread of ours (MHD_run_wait), so that deadlines are kept between its turns
 * without locks. It has only time-outs of silence, which a client that drips bytes never reaches;
 * every state of a connection has an absolute deadline here instead. */
#include "base/alloc.h"
#include "base/clock.h"
#include "net/guard.h"
#include "net/http_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    SERVER_BYTES = 8 << 20,    /* option texts, the queue */
    STREAM_LOOK = LOCI_SECOND, /* how often streams are looked at for their end */
    REPLY_HEAD = 8 << 10,      /* the library builds the answer's head beside the request's */
    SPARE_FILES = 64,          /* descriptors that are not connections */
    LARGEST_HEADER_LIMIT = 1 << 20,
    BACKLOG = 1024,
};

#define DEFAULT(field, value)                                                                      \
    do {                                                                                           \
        if (!(field)) (field) = (value);                                                           \
    } while (0)

static unsigned processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 2 ? 2 : n > 64 ? 64 : (unsigned)n;
}

/* No more connections than there are descriptors for. */
static unsigned affordable(unsigned connections)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
        return connections;
    rlim_t most = files.rlim_cur > 2 * SPARE_FILES ? files.rlim_cur - SPARE_FILES : SPARE_FILES;
    return connections < most ? connections : (unsigned)most;
}

static void fill_defaults(loci_http_options *o)
{
    DEFAULT(o->listen, "127.0.0.1:8283");
    DEFAULT(o->allowed_hosts, "");
    DEFAULT(o->allowed_origins, "");
    DEFAULT(o->body_limit, (size_t)32 << 20);
    DEFAULT(o->body_total, o->body_limit > SIZE_MAX / 8 ? SIZE_MAX : o->body_limit * 8);
    DEFAULT(o->header_limit, (size_t)32 << 10);
    DEFAULT(o->arena_limit, o->body_limit > SIZE_MAX / 8 ? SIZE_MAX : o->body_limit * 8);
    DEFAULT(o->receive_timeout, (int64_t)30 * LOCI_SECOND);
    DEFAULT(o->work_timeout, (int64_t)60 * LOCI_SECOND);
    DEFAULT(o->idle_timeout, (int64_t)60 * LOCI_SECOND);
    DEFAULT(o->grace, (int64_t)10 * LOCI_SECOND);
    DEFAULT(o->connections, 1024);
    DEFAULT(o->workers, processors());
    DEFAULT(o->queue, 256);
    o->connections = affordable(o->connections);
    if (o->body_total < o->body_limit) o->body_total = o->body_limit;
    if (o->arena_limit < 64 << 10) o->arena_limit = 64 << 10;
}

static loci_rc check_options(const loci_http_options *o, loci_err *err)
{
    if (o->header_limit < 1024 || o->header_limit > LARGEST_HEADER_LIMIT)
        return loci_fail(err, LOCI_EINVAL, "the header limit must be 1024..%d bytes, not %zu",
                         LARGEST_HEADER_LIMIT, o->header_limit);
    if (o->workers > 1024 || o->queue > 100000)
        return loci_fail(err, LOCI_EINVAL, "at most 1024 workers and a queue of 100000");
    if (o->receive_timeout < 0 || o->work_timeout < 0 || o->idle_timeout < 0 || o->grace < 0)
        return loci_fail(err, LOCI_EINVAL, "a time-out must not be negative");
    if (!o->tls_certificate != !o->tls_key)
        return loci_fail(err, LOCI_EINVAL,
                         "TLS needs both files, a certificate and its key; only one was given");
    return LOCI_OK;
}

/* The name that the server was told to listen on is one of its names. */
static loci_rc gather_names(loci_http_server *s, loci_err *err)
{
    const char *host = s->listener.host;
    bool wildcard = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "[::]") == 0;

    s->hosts = loci_arena_printf(s->arena, "%s%s%s", s->options.allowed_hosts, wildcard ? "" : ",",
                                 wildcard ? "" : host);
    s->origins = loci_arena_str(s->arena, loci_str_from(s->options.allowed_origins));
    return s->hosts.ptr && s->origins.ptr ? LOCI_OK : loci_arena_fail(s->arena, err);
}

static void on_log(void *cls, const char *fmt, va_list args) LOCI_PRINTF(2, 0);
static void on_log(void *cls, const char *fmt, va_list args)
{
    const loci_http_server *s = cls;
    char text[512];

    if (!s->options.on_message) return;
    int n = vsnprintf(text, sizeof text, fmt, args);
    if (n > 0) s->options.on_message(s->options.context, text);
}

/* The library would decode paths and parameters in place; we read the target ourselves. */
static size_t keep_escapes(void *cls, struct MHD_Connection *mhd, char *text)
{
    (void)cls, (void)mhd;
    return strlen(text);
}

static loci_rc start_daemon(loci_http_server *s, loci_err *err)
{
    const struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_MEM_CERT, 0, s->tls.certificate },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, s->tls.key },
        { MHD_OPTION_HTTPS_PRIORITIES, 0,
          (char[]){ "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" } },
        { MHD_OPTION_END, 0, NULL },
    };
    const struct MHD_OptionItem plain[] = { { MHD_OPTION_END, 0, NULL } };
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

    /* The library closes the socket that it is given, also when it does not start: so it gets a
     * number of its own, and nobody closes one that may be a stranger's by then. */
    int fd = fcntl(s->listener.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return loci_fail(err, LOCI_EIO, "cannot share the socket: %s", strerror(errno));
    /* clang-format off */
    s->daemon = MHD_start_daemon(
        s->tls.key ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, loci_http_on_request, s,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, s, /* first, so that it hears about the others */
        MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_ARRAY, s->tls.key ? tls : plain,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, s->options.header_limit + REPLY_HEAD,
        MHD_OPTION_CONNECTION_LIMIT, s->options.connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, s->options.connections_per_ip,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, loci_http_on_target, s,
        MHD_OPTION_NOTIFY_CONNECTION, loci_http_on_connection, s,
        MHD_OPTION_NOTIFY_COMPLETED, loci_http_on_completed, s,
        MHD_OPTION_END);
    /* clang-format on */
    if (!s->daemon) return loci_fail(err, LOCI_EIO, "the HTTP library did not start");
    return LOCI_OK;
}

/* The library waits on a set of its own, and forgets events without a pointer: so a bell in that
 * set wakes it and does nothing else. Only edges count, so nobody needs to read the bell. */
static loci_rc hang_bells(loci_http_server *s, loci_err *err)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.ptr = NULL };

    s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->left_set = epoll_create1(EPOLL_CLOEXEC);
    if (s->bell < 0 || s->left_set < 0 || !info ||
        epoll_ctl(info->epoll_fd, EPOLL_CTL_ADD, s->bell, &event) != 0 ||
        epoll_ctl(info->epoll_fd, EPOLL_CTL_ADD, s->left_set, &event) != 0)
        return loci_fail(err, LOCI_EIO, "cannot watch the network: %s", strerror(errno));
    return LOCI_OK;
}

void loci_http_wake(loci_http_server *server)
{
    const uint64_t one = 1;
    (void)!write(server->bell, &one, sizeof one); /* full means that it rings already */
}

/* What was written must be taken in time, once there will be no more. */
static void end_stream(conn *c, int64_t now, bool stopping)
{
    if (stopping) loci_http_stream_lose(c->request.stream);
    if (c->deadline == INT64_MAX && loci_http_stream_over(c->request.stream))
        c->deadline = now + c->server->options.receive_timeout;
}

/* Look at every connection: cut what is late, end what stops, note the next deadline. */
static void sweep(loci_http_server *s, int64_t now, bool stopping, bool cut_all)
{
    s->next_cut = INT64_MAX;
    for (conn *c = s->conns; c; c = c->next) {
        if (c->left) loci_http_check_left(c);
        if (c->state == CONN_STREAM) end_stream(c, now, stopping);
        if (c->state == CONN_WORK || c->state == CONN_CUT) continue;
        bool idle = stopping && c->state == CONN_IDLE;
        if (idle || cut_all || now >= c->deadline)
            loci_http_cut(c, !idle);
        else if (c->deadline < s->next_cut)
            s->next_cut = c->deadline;
    }
    if (s->stream_count && now + STREAM_LOOK < s->next_cut) s->next_cut = now + STREAM_LOOK;
}

/* Who left since the last time. It costs a system call, so it is done only when somebody is waited
 * for or has just been answered, and at most once in a millisecond. */
static void hear_who_left(loci_http_server *s, int64_t now)
{
    struct epoll_event events[64];

    if (!s->unfinished && !s->stream_count && s->next_hearing == INT64_MAX) return;
    if (now < s->last_hearing + LOCI_MS) {
        s->next_hearing = s->last_hearing + LOCI_MS;
        return;
    }
    s->last_hearing = now;
    s->next_hearing = INT64_MAX;
    int n = epoll_wait(s->left_set, events, (int)LOCI_COUNT(events), 0);
    for (int i = 0; i < n; i++) {
        conn *c = events[i].data.ptr;
        c->left = true;
        loci_http_check_left(c);
    }
    if (n == (int)LOCI_COUNT(events)) s->next_hearing = now; /* there may be more */
}

/* One turn of the library, which waits for something to happen until the next deadline at most. */
static void turn(loci_http_server *s)
{
    int64_t next = s->next_hearing < s->next_cut ? s->next_hearing : s->next_cut;
    int64_t wait = next - loci_clock_steady();
    int32_t ms = wait <= 0 ? 0 : wait / LOCI_MS >= INT32_MAX ? -1 : (int32_t)(wait / LOCI_MS) + 1;
    (void)MHD_run_wait(s->daemon, ms);
    int64_t now = loci_clock_steady();
    hear_who_left(s, now);
    if (now >= s->next_cut) sweep(s, now, false, false);
}

/* Nobody new comes in. Let the others finish; cut them when the grace time is over. What is with a
 * worker is waited for in any case, because it uses our memory. */
static void wind_down(loci_http_server *s)
{
    int64_t end = loci_clock_steady() + s->options.grace;

    int fd = MHD_quiesce_daemon(s->daemon);
    if (fd >= 0) (void)close(fd);
    loci_listener_close(&s->listener);
    while (s->conn_count) {
        int64_t now = loci_clock_steady();
        if (now >= end) atomic_store(&s->cancelled, true);
        sweep(s, now, true, now >= end);
        (void)MHD_run_wait(s->daemon, 20);
    }
}

static void *network(void *cls)
{
    loci_http_server *s = cls;

    while (!atomic_load(&s->stopping)) turn(s);
    wind_down(s);
    return NULL;
}

/* Signals belong to the program's own threads; ours would only be interrupted by them. */
static loci_rc start_threads(loci_http_server *s, loci_err *err)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    loci_rc rc = loci_http_workers_start(s, err);
    int failed = rc ? 0 : pthread_create(&s->network, NULL, network, s);
    s->has_network = !rc && !failed;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return loci_fail(err, LOCI_EIO, "cannot start the network thread: %s", strerror(failed));
    return rc;
}

/* Accepts what a failed start has built so far. */
static void free_server(loci_http_server *s)
{
    if (!s) return;
    if (s->has_network) (void)pthread_join(s->network, NULL);
    loci_http_workers_stop(s);
    if (s->daemon) MHD_stop_daemon(s->daemon);
    if (s->bell >= 0) (void)close(s->bell);
    if (s->left_set >= 0) (void)close(s->left_set);
    loci_listener_close(&s->listener);
    loci_tls_done(&s->tls);
    (void)pthread_mutex_destroy(&s->lock);
    (void)pthread_cond_destroy(&s->filled);
    loci_arena_free(s->arena);
    loci_free(s);
}
LOCI_DEFINE_CLEANUP(free_serverp, loci_http_server, free_server)

loci_rc loci_http_start(const loci_http_options *options, const loci_router *router,
                        loci_http_server **ret_server, loci_err *err)
{
    LOCI_AUTO(free_serverp) loci_http_server *s = loci_zalloc(sizeof *s);

    if (!s) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    s->listener.fd = -1;
    s->bell = s->left_set = -1;
    s->next_cut = s->next_hearing = INT64_MAX;
    s->router = router;
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->filled, NULL);
    s->arena = loci_arena_new(SERVER_BYTES);
    if (!s->arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    s->options = *options;
    fill_defaults(&s->options);

    loci_rc rc = check_options(&s->options, err);
    if (!rc && s->options.tls_key)
        rc = loci_tls_load(s->options.tls_certificate, s->options.tls_key, &s->tls, err);
    if (!rc) rc = loci_listener_open(s->options.listen, BACKLOG, &s->listener, err);
    if (!rc) rc = gather_names(s, err);
    if (!rc) rc = start_daemon(s, err);
    if (!rc) rc = hang_bells(s, err);
    if (!rc) rc = start_threads(s, err);
    if (rc) return rc;
    *ret_server = LOCI_TAKE(s);
    return LOCI_OK;
}

const char *loci_http_address(const loci_http_server *server)
{
    return server->listener.address;
}

void loci_http_stop(loci_http_server *server)
{
    if (!server) return;
    atomic_store(&server->stopping, true);
    loci_http_wake(server);
    free_server(server);
}
