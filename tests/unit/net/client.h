/* tests/unit/net/client.h -- a client that sends exactly the bytes it is told to.
 *
 * Everything has a limit of a few seconds, so that a server that hangs fails a test instead of
 * stopping the run; no test depends on how long something took. */
#ifndef LOCI_TEST_CLIENT_H
#define LOCI_TEST_CLIENT_H

#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000, ANSWER_BYTES = 1 << 20 };

typedef struct answer {
    int status; /* 0: closed without one */
    size_t len;
    bool closed;             /* the server closed the connection afterwards */
    char text[ANSWER_BYTES]; /* all bytes, with a NUL behind */
} answer;

static inline int dial(const char *address)
{
    struct sockaddr_un local = { .sun_family = AF_UNIX };
    struct sockaddr_in remote = { .sin_family = AF_INET };
    char host[64] = "";
    unsigned port = 0;
    int fd, failed;

    if (strncmp(address, "unix:", 5) == 0) {
        (void)snprintf(local.sun_path, sizeof local.sun_path, "%.100s", address + 5);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        failed = connect(fd, (struct sockaddr *)&local, sizeof local);
    } else {
        assert_int_equal(sscanf(address, "%63[^:]:%u", host, &port), 2);
        remote.sin_port = htons((uint16_t)port);
        assert_int_equal(inet_pton(AF_INET, host, &remote.sin_addr), 1);
        fd = socket(AF_INET, SOCK_STREAM, 0);
        failed = connect(fd, (struct sockaddr *)&remote, sizeof remote);
    }
    assert_int_equal(failed, 0);
    return fd;
}

/* False when the server has closed its side. */
static inline bool push(int fd, const char *bytes, size_t len)
{
    while (len) {
        struct pollfd p = { .fd = fd, .events = POLLOUT };
        if (poll(&p, 1, PATIENCE_MS) <= 0) fail_msg("the server does not read");
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

static inline void say(int fd, const char *text)
{
    (void)push(fd, text, strlen(text));
}

/* Append what comes, once. False at the end. */
static inline bool pull(int fd, answer *a)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };

    if (poll(&p, 1, PATIENCE_MS) <= 0) fail_msg("no answer; so far: %.300s", a->text);
    ssize_t n = recv(fd, a->text + a->len, sizeof a->text - 1 - a->len, 0);
    if (n <= 0) {
        a->closed = true;
        return false;
    }
    a->len += (size_t)n;
    a->text[a->len] = '\0';
    return true;
}

/* The value of a header of the answer's head, or NULL. */
static inline const char *answer_header(const answer *a, const char *name)
{
    static _Thread_local char value[512];
    const char *end = strstr(a->text, "\r\n\r\n");
    size_t len = strlen(name);

    for (const char *p = strstr(a->text, "\r\n"); p && p < end; p = strstr(p + 2, "\r\n")) {
        if (strncasecmp(p + 2, name, len) != 0 || p[2 + len] != ':') continue;
        (void)sscanf(p + 2 + len + 1, " %511[^\r]", value);
        return value;
    }
    return NULL;
}

static inline const char *answer_body(const answer *a)
{
    const char *end = strstr(a->text, "\r\n\r\n");
    return end ? end + 4 : "";
}

/* One whole answer by its Content-Length (a 204, or one to HEAD, ends with its head), or all bytes
 * until the connection closes. */
static inline void hear(int fd, answer *a, bool head_only)
{
    a->len = 0;
    a->text[0] = '\0';
    a->closed = false;
    a->status = 0;
    for (;;) {
        const char *length =
            strstr(a->text, "\r\n\r\n") ? answer_header(a, "Content-Length") : NULL;
        if (strstr(a->text, "\r\n\r\n")) {
            if (head_only || strncmp(a->text, "HTTP/1.1 204", 12) == 0) break;
            size_t body = length ? strtoul(length, NULL, 10) : SIZE_MAX;
            if (length && a->len >= (size_t)(answer_body(a) - a->text) + body) break;
        }
        if (!pull(fd, a)) break;
    }
    (void)sscanf(a->text, "HTTP/1.1 %d", &a->status);
}

/* All bytes until the server closes. */
static inline void hear_all(int fd, answer *a)
{
    a->len = 0;
    a->text[0] = '\0';
    a->status = 0;
    while (pull(fd, a)) continue;
    (void)sscanf(a->text, "HTTP/1.1 %d", &a->status);
}

/* Open, send, hear one answer, close. */
static inline void ask(const char *address, const char *bytes, size_t len, answer *a)
{
    int fd = dial(address);

    (void)push(fd, bytes, len);
    hear(fd, a, strncmp(bytes, "HEAD ", 5) == 0);
    (void)close(fd);
}

#endif
