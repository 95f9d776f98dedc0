#include "db/place.h"

#include "base/buf.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static loci_rc sync_path(const char *path, loci_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) != 0) {
        int reason = errno;
        if (fd >= 0) (void)close(fd);
        return loci_fail(err, LOCI_EIO, "cannot bring %s to the disk: %s", path, strerror(reason));
    }
    (void)close(fd);
    return LOCI_OK;
}

static loci_rc taken(const char *path, loci_err *err)
{
    return loci_fail(err, LOCI_ECONFLICT,
                     "%s exists already: choose another name or ask for it to "
                     "be replaced",
                     path);
}

loci_rc loci_place_check(const char *path, bool replace, loci_err *err)
{
    struct stat st;

    if (replace || lstat(path, &st) != 0) return LOCI_OK;
    return taken(path, err);
}

/* Some file systems cannot rename without replacing; there a look must do. */
static int rename_new(const char *from, const char *to)
{
    struct stat st;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    if (lstat(to, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

loci_rc loci_place_file(const char *temporary, const char *path, bool replace, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf folder = { 0 };

    loci_buf_init(&folder, PATH_BYTES);
    loci_buf_add(&folder, loci_fs_folder_of(loci_str_from(path)));
    loci_rc rc = loci_buf_check(&folder, err);
    if (!rc) rc = sync_path(temporary, err);
    if (rc) return rc;
    if ((replace ? rename(temporary, path) : rename_new(temporary, path)) != 0) {
        if (errno == EEXIST) return taken(path, err);
        return loci_fail(err, LOCI_EIO, "cannot rename %s to %s: %s", temporary, path,
                         strerror(errno));
    }
    return sync_path(folder.ptr, err);
}
