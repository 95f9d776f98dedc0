/* The workers and the queue before them. */
#include "base/alloc.h"
#include "base/clock.h"
#include "net/http_int.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

bool loci_http_peer_gone(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLRDHUP };

    return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

void loci_http_run(loci_http_request *request)
{
    const loci_route *route = request->match.route;

    route->handler(request->match.context, request);
    if (request->status == 0)
        loci_http_reply_error(request, 500, "internal", "the server has no answer to this request");
}

bool loci_http_enqueue(loci_http_request *request)
{
    loci_http_server *s = request->server;

    (void)pthread_mutex_lock(&s->lock);
    bool room = s->queue_count < s->options.queue;
    if (room) {
        s->queue[(s->queue_head + s->queue_count++) % s->options.queue] = request;
        (void)pthread_cond_signal(&s->filled);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return room;
}

/* The next request, or NULL when the workers end. */
static loci_http_request *dequeue(loci_http_server *s)
{
    loci_http_request *request = NULL;

    (void)pthread_mutex_lock(&s->lock);
    while (s->queue_count == 0 && !s->workers_end) (void)pthread_cond_wait(&s->filled, &s->lock);
    if (s->queue_count) {
        request = s->queue[s->queue_head];
        s->queue_head = (s->queue_head + 1) % s->options.queue;
        s->queue_count--;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return request;
}

/* A request that nobody waits for any more is not worth starting. */
static bool give_up(loci_http_request *request)
{
    if (!loci_http_cancelled(request)) return false;
    if (loci_http_peer_gone(request->conn->fd))
        loci_http_reply_error(request, 408, "unavailable",
                              "the client closed its side before its turn came");
    else
        loci_http_reply_error(request, 503, "unavailable",
                              "the request waited too long for its turn");
    return true;
}

static void *work(void *cls)
{
    loci_http_server *s = cls;

    for (;;) {
        loci_http_request *request = dequeue(s);
        if (!request) return NULL;
        if (!give_up(request)) loci_http_run(request);
        MHD_resume_connection(request->conn->mhd); /* from here on it is the network thread's */
        loci_http_wake(s);
    }
}

loci_rc loci_http_workers_start(loci_http_server *server, loci_err *err)
{
    loci_http_server *s = server;

    s->queue = loci_arena_array(s->arena, s->options.queue, sizeof(loci_http_request *));
    s->workers = loci_arena_array(s->arena, s->options.workers, sizeof *s->workers);
    if (!s->queue || !s->workers) return loci_arena_fail(s->arena, err);
    while (s->worker_count < s->options.workers) {
        int failed = pthread_create(&s->workers[s->worker_count], NULL, work, s);
        if (failed)
            return loci_fail(err, LOCI_EIO, "cannot start a worker thread: %s", strerror(failed));
        s->worker_count++;
    }
    return LOCI_OK;
}

void loci_http_workers_stop(loci_http_server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->workers_end = true;
    (void)pthread_cond_broadcast(&server->filled);
    (void)pthread_mutex_unlock(&server->lock);
    while (server->worker_count) (void)pthread_join(server->workers[--server->worker_count], NULL);
}
