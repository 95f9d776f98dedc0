#include "db/copy.h"

#include "base/buf.h"
#include "base/fs.h"
#include "db/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SPARE = 1 << 20 };

static uint64_t size_of(const char *path, const char *suffix)
{
    LOCI_AUTO(loci_buf_done) loci_buf name = { 0 };
    struct stat st;

    loci_buf_init(&name, LOCI_DB_PATH + 8);
    loci_buf_printf(&name, "%s%s", path, suffix);
    if (loci_buf_check(&name, NULL) || stat(name.ptr, &st) != 0) return 0;
    return (uint64_t)st.st_size;
}

static loci_rc check_space(const loci_db *db, const char *folder, unsigned room, loci_err *err)
{
    struct statvfs fs;
    uint64_t need = (size_of(db->url, "") + size_of(db->url, "-wal")) * room + SPARE;

    if (statvfs(folder, &fs) != 0)
        return loci_fail(err, LOCI_EIO, "cannot look at the folder %s: %s", folder,
                         strerror(errno));
    uint64_t free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    if (free_bytes >= need) return LOCI_OK;
    return loci_fail(err, LOCI_EUNAVAILABLE,
                     "a copy of the store needs %llu MB, and %s has %llu MB free: make room",
                     (unsigned long long)(need >> 20) + 1, folder,
                     (unsigned long long)(free_bytes >> 20));
}

/* fsync of a path: a file that others wrote, or a folder after a rename. */
static int sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 || fsync(fd) != 0;

    if (fd >= 0) (void)close(fd);
    return failed;
}

static loci_rc copy_to(loci_db *db, const char *temporary, const char *path, const char *folder,
                       loci_err *err)
{
    int fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0) return loci_fail(err, LOCI_EIO, "cannot make %s: %s", temporary, strerror(errno));
    (void)close(fd);
    loci_rc rc = db->driver->copy(db, temporary, err);
    if (!rc && (sync_path(temporary) || rename(temporary, path) != 0 || sync_path(folder)))
        rc = loci_fail(err, LOCI_EIO, "cannot keep the copy %s: %s", path, strerror(errno));
    if (rc) (void)unlink(temporary);
    return rc;
}

loci_rc loci_copy_store(loci_db *db, const char *path, unsigned room, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf folder = { 0 }, temporary = { 0 };

    if (!db->driver->copy)
        return loci_fail(err, LOCI_ENOSYS, "a store in PostgreSQL is not a file to be copied");
    loci_buf_init(&folder, LOCI_DB_PATH);
    loci_buf_init(&temporary, LOCI_DB_PATH + 64);
    loci_buf_add(&folder, loci_fs_folder_of(loci_str_from(path)));
    loci_buf_printf(&temporary, "%s.%ld.tmp", path, (long)getpid());
    loci_rc rc = loci_buf_check(&folder, err);
    if (!rc) rc = loci_buf_check(&temporary, err);
    if (!rc) rc = check_space(db, folder.ptr, room, err);
    return rc ? rc : copy_to(db, temporary.ptr, path, folder.ptr, err);
}
