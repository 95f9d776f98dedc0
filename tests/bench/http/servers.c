/* Three servers that give the same answer, to see what each layer costs:
 *   epoll   a loop by hand that does the least that HTTP needs
 *   bare    libmicrohttpd, with a handler that reads the body and answers
 *   loci    our server, a cheap route (/v1/health)
 *   worker  our server, the same answer through a worker thread (/worker)
 * One thread for the network in each. Usage: servers NAME; prints HOST:PORT and serves until its
 * standard input ends. */
#include "base/alloc.h"
#include "net/http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BODY = 300, ROOM = 16384, EVENTS = 64 };

static char body[BODY + 1];

static void make_body(void)
{
    memset(body, ' ', BODY);
    memcpy(body, "{\"status\":\"ok\",\"text\":\"", 23);
    memcpy(body + BODY - 2, "\"}", 2);
}

/* ---- by hand ---- */

typedef struct client {
    int fd;
    size_t len;
    char in[ROOM];
} client;

static int listen_anywhere(unsigned *ret_port)
{
    struct sockaddr_in here = { .sin_family = AF_INET };
    socklen_t len = sizeof here;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&here, len) || listen(fd, 512) ||
        getsockname(fd, (struct sockaddr *)&here, &len))
        return -1;
    *ret_port = ntohs(here.sin_port);
    return fd;
}

/* Bytes of the first whole request in the buffer, or 0. */
static size_t whole_request(client *c)
{
    c->in[c->len] = '\0';
    const char *end = strstr(c->in, "\r\n\r\n");
    if (!end) return 0;
    size_t head = (size_t)(end - c->in) + 4;
    const char *length = strcasestr(c->in, "\r\nContent-Length:");
    size_t size = length && length < end ? strtoul(length + 17, NULL, 10) : 0;
    return c->len >= head + size ? head + size : 0;
}

static void answer(client *c)
{
    char out[512 + BODY];
    size_t used;

    while ((used = whole_request(c)) > 0) {
        int n = snprintf(out, sizeof out,
                         "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
                         "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
                         BODY, body);
        if (send(c->fd, out, (size_t)n, MSG_NOSIGNAL) != n) return;
        memmove(c->in, c->in + used, c->len - used);
        c->len -= used;
    }
}

static void serve_client(client *c)
{
    ssize_t n = recv(c->fd, c->in + c->len, ROOM - 1 - c->len, 0);

    if (n <= 0) {
        (void)close(c->fd);
        loci_free(c);
        return;
    }
    c->len += (size_t)n;
    answer(c);
}

static void accept_client(int set, int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    client *c = fd < 0 ? NULL : loci_zalloc(sizeof *c);

    if (!c) return;
    c->fd = fd;
    (void)epoll_ctl(set, EPOLL_CTL_ADD, fd,
                    &(struct epoll_event){ .events = EPOLLIN, .data.ptr = c });
}

static void *loop(void *cls)
{
    int set = epoll_create1(0), listener = *(int *)cls;
    struct epoll_event events[EVENTS];

    (void)epoll_ctl(set, EPOLL_CTL_ADD, listener, &(struct epoll_event){ .events = EPOLLIN });
    for (;;) {
        int n = epoll_wait(set, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr)
                serve_client(events[i].data.ptr);
            else
                accept_client(set, listener);
        }
    }
    return NULL;
}

static bool start_epoll(char *ret_address, size_t size)
{
    static int listener;
    unsigned port;
    pthread_t thread;

    listener = listen_anywhere(&port);
    (void)snprintf(ret_address, size, "127.0.0.1:%u", port);
    return listener >= 0 && pthread_create(&thread, NULL, loop, &listener) == 0;
}

/* ---- the library alone ---- */

static enum MHD_Result bare(void *cls, struct MHD_Connection *mhd, const char *url,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **context)
{
    static int seen;
    (void)cls, (void)url, (void)method, (void)version, (void)data;

    if (!*context) {
        *context = &seen;
        return MHD_YES;
    }
    if (*size) {
        *size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(BODY, body, MHD_RESPMEM_PERSISTENT);
    (void)MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result result = MHD_queue_response(mhd, 200, response);
    MHD_destroy_response(response);
    return result;
}

static bool start_bare(char *ret_address, size_t size)
{
    unsigned port;
    int listener = listen_anywhere(&port);

    (void)snprintf(ret_address, size, "127.0.0.1:%u", port);
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, bare, NULL,
                            MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_END) != NULL;
}

/* ---- ours ---- */

static void health(void *context, loci_http_request *request)
{
    (void)context;
    loci_http_reply(request, 200, "application/json", (loci_str){ body, BODY });
}

static const loci_route routes[] = {
    { LOCI_GET, "/v1/health", LOCI_ROUTE_CHEAP, health, NULL },
    { LOCI_POST, "/v1/health", LOCI_ROUTE_CHEAP, health, NULL },
    { LOCI_GET, "/worker", 0, health, NULL },
    { LOCI_POST, "/worker", 0, health, NULL },
};

static bool start_loci(char *ret_address, size_t size)
{
    loci_router *router;
    loci_http_server *server;
    loci_err err;

    if (loci_router_new(&router, &err) ||
        loci_router_add(router, "", routes, LOCI_COUNT(routes), NULL, &err) ||
        loci_http_start(&(loci_http_options){ .listen = "127.0.0.1:0" }, router, &server, &err)) {
        (void)fprintf(stderr, "%s\n", err.msg);
        return false;
    }
    (void)snprintf(ret_address, size, "%s", loci_http_address(server));
    return true;
}

int main(int argc, char **argv)
{
    char address[64] = "";
    const char *name = argc == 2 ? argv[1] : "";

    make_body();
    bool ok = strcmp(name, "epoll") == 0  ? start_epoll(address, sizeof address)
              : strcmp(name, "bare") == 0 ? start_bare(address, sizeof address)
                                          : start_loci(address, sizeof address);
    if (!ok) return 1;
    (void)printf("%s\n", address);
    (void)fflush(stdout);
    while (getchar() != EOF) continue;
    return 0;
}
