/* tests/unit/net/raw_server.h -- a server that answers with exactly the bytes it is told to.
 *
 * It reads one whole request, sends the next of its answers (the last one again and again) and
 * closes the connection: what no real server should do can be said with it. */
#ifndef LOCI_TEST_RAW_SERVER_H
#define LOCI_TEST_RAW_SERVER_H

#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RAW_REQUEST_BYTES = 1 << 18 };

typedef struct raw_server {
    int fd;
    pthread_t thread;
    char url[64];
    const char *const *answers; /* NULL at the end; "" closes at once */
    atomic_int requests;
    char last[RAW_REQUEST_BYTES]; /* the last request; read it after raw_stop */
} raw_server;

/* Everything up to the end of the body that Content-Length promises. */
static inline void raw_read(raw_server *s, int fd)
{
    size_t len = 0, want = SIZE_MAX;

    while (len < want && len < sizeof s->last - 1) {
        ssize_t n = recv(fd, s->last + len, sizeof s->last - 1 - len, 0);
        if (n <= 0) break;
        len += (size_t)n;
        s->last[len] = '\0';
        const char *body = strstr(s->last, "\r\n\r\n");
        const char *promise = strstr(s->last, "Content-Length: ");
        if (body)
            want = (size_t)(body + 4 - s->last) +
                   (promise ? (size_t)strtoul(promise + 16, NULL, 10) : 0);
    }
}

static inline void *raw_serve(void *context)
{
    raw_server *s = context;

    for (;;) {
        int fd = accept(s->fd, NULL, NULL);
        if (fd < 0) return NULL;
        raw_read(s, fd);
        const char *bytes = s->answers[0];
        if (s->answers[1]) s->answers++;
        for (size_t at = 0, len = strlen(bytes); at < len;) {
            ssize_t n = send(fd, bytes + at, len - at, MSG_NOSIGNAL);
            if (n <= 0) break;
            at += (size_t)n;
        }
        (void)atomic_fetch_add(&s->requests, 1);
        (void)close(fd);
    }
}

static inline void raw_start(raw_server *s, const char *const *answers)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof at;

    s->answers = answers;
    s->last[0] = '\0';
    atomic_store(&s->requests, 0);
    s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(s->fd, 16), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
    assert_int_equal(pthread_create(&s->thread, NULL, raw_serve, s), 0);
}

static inline void raw_stop(raw_server *s)
{
    (void)shutdown(s->fd, SHUT_RDWR);
    (void)pthread_join(s->thread, NULL);
    (void)close(s->fd);
}

#endif
