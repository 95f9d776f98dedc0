#include "proxy.h"

#include "test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINKS = 64, BYTES = 1 << 16 };

/* Shared with the process that proxies. */
typedef struct control {
    _Atomic int how;
    _Atomic int64_t at, count;
    _Atomic bool hit;
} control;

static struct {
    control *control;
    char folder[64], target[128];
    pid_t child;
} proxy;

/* One connection. The client's bytes are kept until a message is whole. */
typedef struct bridge {
    int client, server;
    bool started; /* the first message has no letter */
    proxy_break how;
    size_t len;
    uint8_t bytes[BYTES];
} bridge;

static bridge bridges[LINKS];

static void drop(int *fd)
{
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
}

static void send_all(int fd, const uint8_t *bytes, size_t len)
{
    while (fd >= 0 && len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0) return;
        bytes += n;
        len -= (size_t)n;
    }
}

/* The length of the message at the front, or 0 when it is not all there. */
static size_t message_length(const bridge *l)
{
    size_t head = l->started ? 1 : 0;
    const uint8_t *p = l->bytes + head;

    if (l->len < head + 4) return 0;
    size_t len = head + ((size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3]);
    return len <= l->len ? len : 0;
}

static void break_bridge(bridge *l, size_t len)
{
    l->how = (proxy_break)atomic_load(&proxy.control->how);
    atomic_store(&proxy.control->hit, true);
    if (l->how == PROXY_CUT_WITHIN) send_all(l->server, l->bytes, len / 2);
    if (l->how == PROXY_CUT_AFTER || l->how == PROXY_MUTE) send_all(l->server, l->bytes, len);
    if (l->how == PROXY_CUT_AFTER) {
        drop(&l->client);
        (void)shutdown(l->server, SHUT_WR); /* it does what it was asked, and then ends */
    } else if (l->how != PROXY_FREEZE && l->how != PROXY_MUTE) {
        drop(&l->client);
        drop(&l->server);
    }
}

static bool is_due(void)
{
    return atomic_fetch_add(&proxy.control->count, 1) + 1 == atomic_load(&proxy.control->at);
}

static void pass_messages(bridge *l)
{
    size_t len;

    while ((len = message_length(l)) > 0 && l->server >= 0) {
        if (l->how == PROXY_PASS && is_due())
            break_bridge(l, len);
        else if (l->how == PROXY_PASS || l->how == PROXY_MUTE)
            send_all(l->server, l->bytes, len);
        l->started = true;
        l->len -= len;
        memmove(l->bytes, l->bytes + len, l->len);
    }
}

static void from_client(bridge *l)
{
    ssize_t n = read(l->client, l->bytes + l->len, BYTES - l->len);

    if (n <= 0) {
        drop(&l->client);
        drop(&l->server);
        return;
    }
    l->len += (size_t)n;
    pass_messages(l);
}

static void from_server(bridge *l)
{
    uint8_t bytes[BYTES];
    ssize_t n = read(l->server, bytes, sizeof bytes);

    if (n > 0) {
        if (l->how == PROXY_PASS) send_all(l->client, bytes, (size_t)n);
        return;
    }
    drop(&l->server);
    if (l->how == PROXY_PASS) drop(&l->client);
}

static int connect_to(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(at.sun_path, sizeof at.sun_path, "%.100s", path);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0) drop(&fd);
    return fd;
}

static void welcome(int listener)
{
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    int server = connect_to(proxy.target);

    for (size_t i = 0; i < LINKS && server >= 0; i++) {
        bridge *l = &bridges[i];
        if (l->client >= 0 || l->server >= 0) continue;
        *l = (bridge){ .client = client, .server = server };
        return;
    }
    drop(&client);
    drop(&server);
}

static void serve(int listener)
{
    struct pollfd polls[1 + 2 * LINKS];

    for (size_t i = 0; i < LINKS; i++) bridges[i].client = bridges[i].server = -1;
    for (;;) {
        polls[0] = (struct pollfd){ .fd = listener, .events = POLLIN };
        for (size_t i = 0; i < LINKS; i++) {
            polls[1 + 2 * i] = (struct pollfd){ .fd = bridges[i].client, .events = POLLIN };
            polls[2 + 2 * i] = (struct pollfd){ .fd = bridges[i].server, .events = POLLIN };
        }
        if (poll(polls, LOCI_COUNT(polls), -1) < 0) _exit(1);
        for (size_t i = 0; i < LINKS; i++) {
            if (polls[1 + 2 * i].revents && bridges[i].client >= 0) from_client(&bridges[i]);
            if (polls[2 + 2 * i].revents && bridges[i].server >= 0) from_server(&bridges[i]);
        }
        if (polls[0].revents) welcome(listener);
    }
}

static int listen_at(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(at.sun_path, sizeof at.sun_path, "%.100s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(fd, LINKS), 0);
    return fd;
}

const char *proxy_start(const char *folder)
{
    char path[128];

    proxy.control =
        mmap(NULL, sizeof(control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(proxy.control != MAP_FAILED);
    (void)snprintf(proxy.folder, sizeof proxy.folder, "/tmp/loci-proxy-XXXXXX");
    assert_non_null(mkdtemp(proxy.folder));
    (void)snprintf(path, sizeof path, "%s/.s.PGSQL.5432", proxy.folder);
    (void)snprintf(proxy.target, sizeof proxy.target, "%.100s/.s.PGSQL.5432", folder);
    int listener = listen_at(path);
    (void)fflush(NULL);
    proxy.child = fork();
    if (proxy.child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve(listener);
    }
    (void)close(listener);
    return proxy.folder;
}

void proxy_plan(proxy_break how, int64_t at)
{
    atomic_store(&proxy.control->at, 0);
    atomic_store(&proxy.control->how, (int)how);
    atomic_store(&proxy.control->count, 0);
    atomic_store(&proxy.control->hit, false);
    atomic_store(&proxy.control->at, at);
}

int64_t proxy_count(void)
{
    return atomic_load(&proxy.control->count);
}

bool proxy_was_hit(void)
{
    return atomic_load(&proxy.control->hit);
}

void proxy_stop(void)
{
    char path[128];

    if (!proxy.child) return;
    (void)kill(proxy.child, SIGKILL);
    (void)waitpid(proxy.child, NULL, 0);
    proxy.child = 0;
    (void)snprintf(path, sizeof path, "%s/.s.PGSQL.5432", proxy.folder);
    (void)unlink(path);
    (void)rmdir(proxy.folder);
}
