#include "net/listen.h"

#include "base/clock.h"
#include "net/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOCK_TRIES = 500, LOCK_NAP = 10 * LOCI_MS }; /* others hold it for a moment only */

static const char unix_prefix[] = "unix:";

static bool is_unix(const char *address)
{
    return strncmp(address, unix_prefix, sizeof unix_prefix - 1) == 0;
}

static void close_fd(const int *fd)
{
    if (*fd >= 0) (void)close(*fd);
}

bool loci_listen_is_local(const char *address)
{
    loci_host host;

    if (is_unix(address)) return true;
    return !loci_host_parse(loci_str_from(address), &host, NULL) && loci_host_is_loopback(&host);
}

/* Somebody answers on the socket file: 1, nobody: 0, cannot tell: -1 with errno. */
static int answers(const struct sockaddr_un *name)
{
    LOCI_AUTO(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) return -1;
    if (connect(fd, (const struct sockaddr *)name, sizeof *name) == 0) return 1;
    if (errno == EAGAIN) return 1; /* its backlog is full */
    return errno == ECONNREFUSED || errno == ENOENT ? 0 : -1;
}

/* Make way for a new socket file, or say why not. */
static loci_rc clear_path(const struct sockaddr_un *name, loci_err *err)
{
    struct stat st;

    if (lstat(name->sun_path, &st) != 0) {
        if (errno == ENOENT) return LOCI_OK;
        return loci_fail(err, LOCI_EIO, "%s: %s", name->sun_path, strerror(errno));
    }
    if (!S_ISSOCK(st.st_mode))
        return loci_fail(err, LOCI_ECONFLICT,
                         "%s is there and is no socket; choose another with --listen unix:PATH",
                         name->sun_path);
    int answered = answers(name);
    if (answered > 0)
        return loci_fail(err, LOCI_ECONFLICT,
                         "%s is taken by another program; choose another with --listen unix:PATH",
                         name->sun_path);
    if (answered < 0 || unlink(name->sun_path) != 0)
        return loci_fail(err, LOCI_EDENIED, "cannot replace the socket %s: %s", name->sun_path,
                         strerror(errno));
    return LOCI_OK;
}

static loci_rc unix_fail(int number, const char *path, loci_err *err)
{
    return loci_fail(err, number == EACCES ? LOCI_EDENIED : LOCI_EIO,
                     "cannot listen on unix:%s: %s", path, strerror(number));
}

/* Between looking whether a socket is stale and listening on its successor nobody else may do the
 * same: they would take ours, which does not answer yet, for stale too. */
typedef struct path_lock {
    int fd;
    char path[sizeof((struct sockaddr_un *)0)->sun_path + sizeof ".lock"];
} path_lock;

static void unlock_path(path_lock *lock)
{
    if (lock->fd < 0) return;
    (void)unlink(lock->path); /* while it is held: see holds_path */
    (void)close(lock->fd);
    lock->fd = -1;
}

/* The file that is locked still has the name: its last holder did not remove it meanwhile. */
static bool holds_path(const path_lock *lock)
{
    struct stat ours, named;

    return fstat(lock->fd, &ours) == 0 && lstat(lock->path, &named) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

static loci_rc lock_path(const char *path, path_lock *lock, loci_err *err)
{
    (void)snprintf(lock->path, sizeof lock->path, "%s.lock", path);
    for (int i = 0; i < LOCK_TRIES; i++) {
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (lock->fd < 0) return unix_fail(errno, path, err);
        bool locked = flock(lock->fd, LOCK_EX | LOCK_NB) == 0;
        if (locked && holds_path(lock)) return LOCI_OK;
        int number = locked ? EWOULDBLOCK : errno;
        (void)close(lock->fd);
        lock->fd = -1;
        if (number != EWOULDBLOCK && number != EINTR) return unix_fail(number, path, err);
        if (!locked) loci_clock_sleep(LOCK_NAP);
    }
    return loci_fail(err, LOCI_ECONFLICT,
                     "another program holds %s; choose another with --listen unix:PATH",
                     lock->path);
}

/* A listening socket with its file, whose identity is told. -1 with errno, and then no file. */
static int bind_unix(const struct sockaddr_un *name, int backlog, struct stat *ret_st)
{
    LOCI_AUTO(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    /* The mode is set before the name exists, so nobody can get in between. */
    if (fd < 0 || fchmod(fd, 0600) != 0 ||
        bind(fd, (const struct sockaddr *)name, sizeof *name) != 0)
        return -1;
    if (lstat(name->sun_path, ret_st) != 0 || listen(fd, backlog) != 0) {
        int number = errno;
        (void)unlink(name->sun_path);
        errno = number;
        return -1;
    }
    int good = fd;
    fd = -1;
    return good;
}

static loci_rc open_unix(const char *path, int backlog, loci_listener *ret, loci_err *err)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    LOCI_AUTO(unlock_path) path_lock lock = { .fd = -1 };
    struct stat st;
    size_t len = strlen(path);

    if (len == 0) return loci_fail(err, LOCI_EINVAL, "unix: needs a path, as in unix:/run/x.sock");
    if (len >= sizeof name.sun_path)
        return loci_fail(
            err, LOCI_EINVAL,
            "the socket path has %zu bytes, the system allows %zu; choose a shorter one", len,
            sizeof name.sun_path - 1);
    memcpy(name.sun_path, path, len + 1);
    loci_rc rc = lock_path(path, &lock, err);
    if (!rc) rc = clear_path(&name, err);
    if (rc) return rc;

    int fd = bind_unix(&name, backlog, &st);
    if (fd < 0) return unix_fail(errno, path, err);
    *ret = (loci_listener){ .fd = fd, .is_unix = true, .device = st.st_dev, .inode = st.st_ino };
    (void)snprintf(ret->address, sizeof ret->address, "unix:%s", path);
    return LOCI_OK;
}

static void print_address(const struct sockaddr_storage *sa, socklen_t len, char *ret_text,
                          size_t size)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];

    if (getnameinfo((const struct sockaddr *)sa, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return;
    (void)snprintf(ret_text, size, sa->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}

/* The error of a bind(2) in words that say what to do. */
static loci_rc bind_fail(int number, const char *address, loci_err *err)
{
    switch (number) {
    case EADDRINUSE:
        return loci_fail(err, LOCI_ECONFLICT,
                         "%s is taken by another program; choose another with --listen", address);
    case EACCES:
        return loci_fail(err, LOCI_EDENIED,
                         "%s is refused by the system (ports below 1024 need privileges); choose "
                         "another with --listen",
                         address);
    case EADDRNOTAVAIL:
        return loci_fail(err, LOCI_EINVAL, "%s is not an address of this machine", address);
    default: return loci_fail(err, LOCI_EIO, "cannot listen on %s: %s", address, strerror(number));
    }
}

/* A listening socket for one resolved address, or -1 with errno. */
static int bind_one(const struct addrinfo *ai, int backlog)
{
    static const int on = 1, off = 0;
    LOCI_AUTO(close_fd)
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (ai->ai_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, ai->ai_addr, ai->ai_addrlen) != 0 || listen(fd, backlog) != 0) return -1;
    int good = fd;
    fd = -1;
    return good;
}

/* IPv4 first, because "localhost" is 127.0.0.1 to most clients. Returns -1 with *ret_errno. */
static int bind_any(const struct addrinfo *all, int backlog, int *ret_errno)
{
    static const int families[] = { AF_INET, AF_INET6 };

    *ret_errno = EADDRNOTAVAIL;
    for (size_t i = 0; i < LOCI_COUNT(families); i++)
        for (const struct addrinfo *ai = all; ai; ai = ai->ai_next) {
            if (ai->ai_family != families[i]) continue;
            int fd = bind_one(ai, backlog);
            if (fd >= 0) return fd;
            *ret_errno = errno;
        }
    return -1;
}

static void free_addresses(struct addrinfo **all)
{
    if (*all) freeaddrinfo(*all);
}

static loci_rc open_tcp(const char *address, int backlog, loci_listener *ret, loci_err *err)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
    LOCI_AUTO(free_addresses) struct addrinfo *all = NULL;
    struct sockaddr_storage bound = { 0 };
    socklen_t bound_len = sizeof bound;
    char host[LOCI_HOST_BYTES + 1], port[8];
    loci_host parsed;
    int number;

    if (loci_host_parse(loci_str_from(address), &parsed, NULL) || parsed.port.len == 0)
        return loci_fail(err, LOCI_EINVAL,
                         "'%s' is no address to listen on; use HOST:PORT, [IPV6]:PORT or unix:PATH",
                         address);
    (void)snprintf(host, sizeof host, "%.*s", LOCI_ARG(parsed.name));
    (void)snprintf(port, sizeof port, "%.*s", LOCI_ARG(parsed.port));
    int failed = getaddrinfo(host, port, &hints, &all);
    if (failed)
        return loci_fail(err, LOCI_EUNAVAILABLE, "the host '%s' cannot be resolved: %s", host,
                         gai_strerror(failed));

    LOCI_AUTO(close_fd) int fd = bind_any(all, backlog, &number);
    if (fd < 0) return bind_fail(number, address, err);
    if (getsockname(fd, (struct sockaddr *)&bound, &bound_len) != 0)
        return bind_fail(errno, address, err);

    *ret = (loci_listener){ .fd = fd };
    print_address(&bound, bound_len, ret->address, sizeof ret->address);
    (void)snprintf(ret->host, sizeof ret->host, parsed.ipv6 ? "[%s]" : "%s", host);
    fd = -1;
    return LOCI_OK;
}

loci_rc loci_listener_open(const char *address, int backlog, loci_listener *ret_listener,
                           loci_err *err)
{
    if (is_unix(address))
        return open_unix(address + sizeof unix_prefix - 1, backlog, ret_listener, err);
    return open_tcp(address, backlog, ret_listener, err);
}

static void remove_file(const loci_listener *listener)
{
    const char *path = listener->address + sizeof unix_prefix - 1;
    struct stat st;

    if (lstat(path, &st) != 0 || !S_ISSOCK(st.st_mode)) return;
    if (st.st_dev == listener->device && st.st_ino == listener->inode) (void)unlink(path);
}

void loci_listener_close(loci_listener *listener)
{
    if (listener->fd < 0) return;
    /* The file goes while the socket still answers: else another server could have found it stale
     * and put its own in the place, which we would remove. */
    if (listener->is_unix) remove_file(listener);
    (void)close(listener->fd);
    listener->fd = -1;
}
