#include "base/fs.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/id.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 4096 };

/* Paths in messages are cut in the middle of nowhere rather than push the reason out. */
#define SHOWN "%.150s"

static void closep(int *fd)
{
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
}

/* The error for a system call on `path` that failed with `number`. */
static loci_rc sys_fail(int number, const char *doing, const char *path, loci_err *err)
{
    loci_rc rc = LOCI_EIO;

    if (number == ENOENT) rc = LOCI_ENOTFOUND;
    if (number == EACCES || number == EPERM || number == EROFS) rc = LOCI_EDENIED;
    if (number == ENOTDIR || number == ENAMETOOLONG || number == ELOOP || number == EISDIR)
        rc = LOCI_EINVAL;
    return loci_fail(err, rc, "cannot %s '" SHOWN "': %s", doing, path, strerror(number));
}

static loci_rc read_all(int fd, const char *path, size_t max, loci_buf *out, loci_err *err)
{
    for (;;) {
        size_t room = max + 1 - out->len; /* one more than allowed tells a file that is too large */
        if (room > READ_STEP) room = READ_STEP;
        char *at = loci_buf_reserve(out, room);
        if (!at) return loci_arena_fail(out->arena, err);

        ssize_t n = read(fd, at, room);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return sys_fail(errno, "read", path, err);
        if (n == 0) return LOCI_OK;
        loci_buf_advance(out, (size_t)n);
        if (out->len > max)
            return loci_fail(err, LOCI_ELIMIT, "'" SHOWN "' is larger than %zu bytes", path, max);
    }
}

/* Open a regular file of at most `max` bytes without ever waiting. */
static loci_rc open_regular(const char *path, size_t max, int *ret_fd, size_t *ret_size,
                            loci_err *err)
{
    LOCI_AUTO(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;

    if (fd < 0) return sys_fail(errno, "open", path, err);
    if (fstat(fd, &info) != 0) return sys_fail(errno, "look at", path, err);
    if (!S_ISREG(info.st_mode))
        return loci_fail(err, LOCI_EINVAL, "'" SHOWN "' is no regular file", path);
    if ((uintmax_t)info.st_size > max)
        return loci_fail(err, LOCI_ELIMIT, "'" SHOWN "' has %jd bytes, more than the %zu allowed",
                         path, (intmax_t)info.st_size, max);
    *ret_size = (size_t)info.st_size;
    *ret_fd = fd;
    fd = -1;
    return LOCI_OK;
}

loci_rc loci_fs_read(loci_arena *arena, const char *path, size_t max, loci_str *ret_bytes,
                     loci_err *err)
{
    LOCI_AUTO(closep) int fd = -1;
    size_t size = 0;
    loci_buf bytes;

    if (max > SIZE_MAX / 2) max = SIZE_MAX / 2;
    loci_rc rc = open_regular(path, max, &fd, &size, err);
    if (rc) return rc;

    /* Taking the room at once spares the copies of growing. */
    loci_buf_init_arena(&bytes, arena, max + 1 + READ_STEP);
    if (!loci_buf_reserve(&bytes, size + READ_STEP)) return loci_arena_fail(arena, err);
    rc = read_all(fd, path, max, &bytes, err);
    if (rc) return rc;
    *ret_bytes = loci_buf_str(&bytes);
    return LOCI_OK;
}

/* Fill `bytes`; *ret_len is less than `size` only when the file ended early. */
static loci_rc read_into(int fd, const char *path, char *bytes, size_t size, size_t *ret_len,
                         loci_err *err)
{
    size_t len = 0;

    while (len < size) {
        ssize_t n = read(fd, bytes + len, size - len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return sys_fail(errno, "read", path, err);
        if (n == 0) break;
        len += (size_t)n;
    }
    *ret_len = len;
    return LOCI_OK;
}

loci_rc loci_fs_read_secret(const char *path, size_t max, char **ret_bytes, size_t *ret_len,
                            loci_err *err)
{
    LOCI_AUTO(closep) int fd = -1;
    size_t size = 0, len = 0;

    if (max > SIZE_MAX / 2) max = SIZE_MAX / 2;
    loci_rc rc = open_regular(path, max, &fd, &size, err);
    if (rc) return rc;
    char *bytes = loci_zalloc(size + 1);
    if (!bytes) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    /* Into the NUL's place too: a byte there tells a file that has grown since. */
    rc = read_into(fd, path, bytes, size + 1, &len, err);
    if (!rc && len > size)
        rc = loci_fail(err, LOCI_EIO, "'" SHOWN "' was written to while it was read", path);
    if (rc) {
        explicit_bzero(bytes, size + 1);
        loci_free(bytes);
        return rc;
    }
    *ret_bytes = bytes;
    *ret_len = len;
    return LOCI_OK;
}

static loci_rc write_all(int fd, loci_str bytes, const char *path, loci_err *err)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.ptr, bytes.len);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return sys_fail(errno, "write", path, err);
        bytes = loci_str_sub(bytes, (size_t)n, bytes.len);
    }
    if (fsync(fd) != 0) return sys_fail(errno, "write", path, err);
    return LOCI_OK;
}

/* A rename is on the disk only when its folder is. */
static loci_rc sync_folder(const char *path, loci_err *err)
{
    char folder[PATH_MAX];
    loci_str above = loci_fs_folder_of(loci_str_from(path));

    (void)snprintf(folder, sizeof folder, "%.*s", LOCI_ARG(above));
    LOCI_AUTO(closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return sys_fail(errno, "open", folder, err);
    /* Some file systems cannot sync a folder and say so with EINVAL. */
    if (fsync(fd) != 0 && errno != EINVAL) return sys_fail(errno, "sync", folder, err);
    return LOCI_OK;
}

static loci_rc write_temporary(const char *temporary, loci_str bytes, const char *path,
                               loci_err *err)
{
    LOCI_AUTO(closep)
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0) return sys_fail(errno, "create", path, err);
    loci_rc rc = write_all(fd, bytes, path, err);
    if (!rc && rename(temporary, path) != 0) rc = sys_fail(errno, "replace", path, err);
    if (rc) (void)unlink(temporary);
    return rc;
}

loci_rc loci_fs_write_private(const char *path, loci_str bytes, loci_err *err)
{
    char temporary[PATH_MAX];
    uint64_t random;

    loci_rc rc = loci_random_bytes(&random, sizeof random, err);
    if (rc) return rc;
    int n = snprintf(temporary, sizeof temporary, "%s.tmp-%016" PRIx64, path, random);
    if (n < 0 || n >= (int)sizeof temporary)
        return loci_fail(err, LOCI_EINVAL, "path '" SHOWN "...' is too long", path);

    rc = write_temporary(temporary, bytes, path, err);
    return rc ? rc : sync_folder(path, err);
}

static loci_rc make_folder(const char *path, loci_err *err)
{
    struct stat info;

    if (mkdir(path, 0700) == 0) return LOCI_OK;
    int number = errno;
    /* Some file systems say EROFS or EACCES for a folder that exists. */
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode)) return LOCI_OK;
        return loci_fail(err, LOCI_EINVAL, "'" SHOWN "' is no folder", path);
    }
    return sys_fail(number, "make the folder", path, err);
}

loci_rc loci_fs_make_folders(const char *path, loci_err *err)
{
    char part[PATH_MAX];
    size_t len = strlen(path);

    if (len == 0) return loci_fail(err, LOCI_EINVAL, "the path of a folder is empty");
    if (len >= sizeof part)
        return loci_fail(err, LOCI_EINVAL, "path '" SHOWN "...' is too long", path);
    memcpy(part, path, len + 1);

    for (size_t i = 1; i < len; i++) {
        if (part[i] != '/') continue;
        part[i] = '\0';
        loci_rc rc = make_folder(part, err);
        if (rc) return rc;
        part[i] = '/';
    }
    return make_folder(part, err);
}

loci_str loci_fs_join(loci_arena *arena, loci_str folder, loci_str name)
{
    if (folder.len == 0 || (name.len && name.ptr[0] == '/')) return loci_arena_str(arena, name);

    bool slash = folder.ptr[folder.len - 1] != '/';
    size_t len = folder.len + slash + name.len;
    char *path = loci_arena_alloc(arena, len + 1);
    if (!path) return (loci_str){ NULL, 0 };
    memcpy(path, folder.ptr, folder.len);
    if (slash) path[folder.len] = '/';
    if (name.len) memcpy(path + folder.len + slash, name.ptr, name.len);
    return (loci_str){ path, len };
}

loci_str loci_fs_folder_of(loci_str path)
{
    size_t len = path.len;

    while (len > 0 && path.ptr[len - 1] != '/') len--;
    if (len == 0) return LOCI_STR(".");
    while (len > 1 && path.ptr[len - 1] == '/') len--;
    return (loci_str){ path.ptr, len };
}
