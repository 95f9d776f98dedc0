#include "net/listen.h"

#include "net/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

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

static loci_rc open_unix(const char *path, int backlog, loci_listener *ret, loci_err *err)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    struct stat st;
    size_t len = strlen(path);

    if (len == 0) return loci_fail(err, LOCI_EINVAL, "unix: needs a path, as in unix:/run/x.sock");
    if (len >= sizeof name.sun_path)
        return loci_fail(
            err, LOCI_EINVAL,
            "the socket path has %zu bytes, the system allows %zu; choose a shorter one", len,
            sizeof name.sun_path - 1);
    memcpy(name.sun_path, path, len + 1);
    loci_rc rc = clear_path(&name, err);
    if (rc) return rc;

    LOCI_AUTO(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode is set before the name exists, so nobody can get in between. */
    if (fd < 0 || fchmod(fd, 0600) != 0 ||
        bind(fd, (const struct sockaddr *)&name, sizeof name) != 0 || lstat(path, &st) != 0 ||
        listen(fd, backlog) != 0)
        return loci_fail(err, errno == EACCES ? LOCI_EDENIED : LOCI_EIO,
                         "cannot listen on unix:%s: %s", path, strerror(errno));

    *ret = (loci_listener){ .fd = fd, .is_unix = true, .device = st.st_dev, .inode = st.st_ino };
    (void)snprintf(ret->address, sizeof ret->address, "unix:%s", path);
    fd = -1;
    return LOCI_OK;
}

static void print_address(const struct sockaddr_storage *sa, char *ret_text, size_t size)
{
    char host[INET6_ADDRSTRLEN] = "";

    if (sa->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)sa;
        (void)inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
        (void)snprintf(ret_text, size, "[%s]:%u", host, (unsigned)ntohs(six->sin6_port));
    } else {
        const struct sockaddr_in *four = (const struct sockaddr_in *)sa;
        (void)inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
        (void)snprintf(ret_text, size, "%s:%u", host, (unsigned)ntohs(four->sin_port));
    }
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
    struct sockaddr_storage bound;
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
    print_address(&bound, ret->address, sizeof ret->address);
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

void loci_listener_close(loci_listener *listener)
{
    struct stat st;
    const char *path = listener->address + sizeof unix_prefix - 1;

    if (listener->fd < 0) return;
    (void)close(listener->fd);
    listener->fd = -1;
    if (!listener->is_unix || lstat(path, &st) != 0) return;
    if (S_ISSOCK(st.st_mode) && st.st_dev == listener->device && st.st_ino == listener->inode)
        (void)unlink(path);
}
