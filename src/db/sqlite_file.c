#include "db/sqlite_file.h"

#include "base/buf.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* From linux/magic.h and the file systems' own sources; they never change. */
static const uint64_t remote_magic[] = {
    0x6969,     /* nfs */
    0x517B,     /* smb */
    0xFE534D42, /* smb2 */
    0xFF534D42, /* cifs */
    0x01021997, /* 9p */
    0x00C36400, /* ceph */
    0x5346414F, /* afs */
    0x73757245, /* coda */
    0x0BD00BD0, /* lustre */
    0x47504653, /* gpfs */
    0x7461636F, /* ocfs2 */
    0x01161970, /* gfs2 */
};

static const char *const remote_fuse[] = {
    "fuse.sshfs",  "fuse.s3fs",     "fuse.rclone",    "fuse.glusterfs", "fuse.curlftpfs",
    "fuse.cephfs", "fuse.gcsfuse",  "fuse.goofys",    "fuse.davfs",     "fuse.juicefs",
    "fuse.mfs",    "fuse.blobfuse", "fuse.blobfuse2", "fuse.smbnetfs",  "fuse.httpdirfs",
};

enum { FUSE_MAGIC = 0x65735546, HEADER = 100 };

bool loci_sqlite_is_remote(uint64_t magic, loci_str mount_type)
{
    for (size_t i = 0; i < LOCI_COUNT(remote_magic); i++)
        if (magic == remote_magic[i]) return true;
    if (magic != FUSE_MAGIC) return false;
    for (size_t i = 0; i < LOCI_COUNT(remote_fuse); i++)
        if (loci_str_eq(mount_type, loci_str_from(remote_fuse[i]))) return true;
    return false;
}

/* The type of the mount that holds device `dev`, as /proc/self/mounts calls it; "" if unknown. */
static void mount_type(dev_t dev, loci_buf *ret_type)
{
    FILE *mounts = setmntent("/proc/self/mounts", "re");
    struct mntent entry;
    char strings[4096];
    struct stat st;

    if (!mounts) return;
    while (getmntent_r(mounts, &entry, strings, sizeof strings)) {
        if (!loci_str_starts(loci_str_from(entry.mnt_type), LOCI_STR("fuse"))) continue;
        if (stat(entry.mnt_dir, &st) != 0 || st.st_dev != dev) continue;
        loci_buf_clear(ret_type);
        loci_buf_add_cstr(ret_type, entry.mnt_type);
    }
    (void)endmntent(mounts);
}

static loci_rc check_local(const char *folder, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf type = { 0 };
    struct statfs fs;
    struct stat st;

    loci_buf_init(&type, 256);
    if (statfs(folder, &fs) != 0 || stat(folder, &st) != 0)
        return loci_fail(err, LOCI_EIO, "cannot look at the folder %s: %s", folder,
                         strerror(errno));
    uint64_t magic = (uint64_t)fs.f_type & 0xFFFFFFFF;
    /* Only FUSE hides many file systems behind one number; asking it may hang, so only then. */
    if (magic == FUSE_MAGIC) mount_type(st.st_dev, &type);
    if (!loci_sqlite_is_remote(magic, loci_buf_str(&type))) return LOCI_OK;
    return loci_fail(err, LOCI_EINVAL,
                     "%s is on a network file system, where SQLite's locks do not hold: choose a "
                     "local folder or a PostgreSQL server",
                     folder);
}

loci_rc loci_sqlite_check_place(const char *path, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf folder = { 0 };
    loci_str all = loci_str_from(path);
    struct stat st;

    if (loci_str_eq(all, LOCI_STR(":memory:")) || loci_str_starts(all, LOCI_STR("file:")))
        return loci_fail(err, LOCI_EINVAL, "the store must be a file: '%s' is none", path);
    if (all.ptr[all.len - 1] == '/')
        return loci_fail(err, LOCI_EINVAL, "%s is a folder: give the path of a file", path);

    loci_buf_init(&folder, 4096);
    loci_buf_add(&folder, loci_fs_folder_of(all));
    loci_rc rc = loci_buf_check(&folder, err);
    if (!rc) rc = loci_fs_make_folders(folder.ptr, err);
    if (!rc) rc = check_local(folder.ptr, err);
    if (rc) return rc;

    if (stat(path, &st) != 0) {
        if (errno == ENOENT) return LOCI_OK;
        return loci_fail(err, errno == EACCES ? LOCI_EDENIED : LOCI_EIO, "cannot look at %s: %s",
                         path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode))
        return loci_fail(err, LOCI_EINVAL, "%s is no regular file: give the path of a file", path);
    /* SQLite takes a file of one byte for an empty one. */
    if (st.st_size == 1)
        return loci_fail(err, LOCI_EINVAL, "%s is not a loci store: choose another path", path);
    return LOCI_OK;
}

static uint32_t big_endian(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Is there a WAL that may still hold pages? Then the file itself may be behind. */
static bool has_wal(const char *path)
{
    LOCI_AUTO(loci_buf_done) loci_buf wal = { 0 };
    struct stat st;

    loci_buf_init(&wal, 4096);
    loci_buf_printf(&wal, "%s-wal", path);
    return loci_buf_check(&wal, NULL) == LOCI_OK && stat(wal.ptr, &st) == 0 && st.st_size > 0;
}

static loci_rc check_size(const uint8_t *header, int64_t size, const char *path, loci_err *err)
{
    int64_t page = (int64_t)header[16] << 8 | header[17];
    int64_t pages = big_endian(header + 28);
    bool counted = big_endian(header + 24) == big_endian(header + 92);

    if (page == 1) page = 65536;
    if (!counted || has_wal(path) || pages * page <= size) return LOCI_OK;
    return loci_fail(err, LOCI_ECORRUPT,
                     "%s is cut short (%lld of %lld bytes): restore it from a backup", path,
                     (long long)size, (long long)(pages * page));
}

static loci_rc read_header(sqlite3 *db, uint8_t header[HEADER], int64_t *ret_size)
{
    sqlite3_file *file = NULL;
    sqlite3_int64 size = 0;

    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        !file->pMethods || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return LOCI_EIO;
    if (size >= HEADER && file->pMethods->xRead(file, header, HEADER, 0) != SQLITE_OK)
        return LOCI_EIO;
    *ret_size = size;
    return LOCI_OK;
}

/* Is there a journal of the very first write, which will make the file empty again? Its maker was
 * stopped, or is still at it; either way the bytes in the file say nothing. */
static bool is_being_made(const char *path)
{
    static const uint8_t magic[8] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
    LOCI_AUTO(loci_buf_done) loci_buf journal = { 0 };
    uint8_t head[28];

    loci_buf_init(&journal, 4096);
    loci_buf_printf(&journal, "%s-journal", path);
    if (loci_buf_check(&journal, NULL)) return false;
    int fd = open(journal.ptr, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool whole = read(fd, head, sizeof head) == (ssize_t)sizeof head;
    (void)close(fd);
    /* Byte 16: how many pages the file had before. */
    return whole && memcmp(head, magic, sizeof magic) == 0 && big_endian(head + 16) == 0;
}

loci_rc loci_sqlite_check_header(sqlite3 *db, const char *path, loci_err *err)
{
    static const char magic[16] = "SQLite format 3";
    uint8_t header[HEADER] = { 0 };
    int64_t size = 0;

    if (read_header(db, header, &size)) return loci_fail(err, LOCI_EIO, "cannot read %s", path);
    if (size == 0 && has_wal(path))
        return loci_fail(err, LOCI_ECORRUPT, "%s is empty but its WAL is not: restore a backup",
                         path);
    if (size == 0 || is_being_made(path)) return LOCI_OK;
    if (size < HEADER || memcmp(header, magic, sizeof magic) != 0)
        return loci_fail(err, LOCI_EINVAL, "%s is not a loci store: choose another path", path);

    uint32_t app = big_endian(header + 68);
    /* 0: a store whose maker was killed at the start. The tables are looked at when they are read.
     */
    if (app != LOCI_SQLITE_APP_ID && app != 0)
        return loci_fail(err, LOCI_EINVAL,
                         "%s belongs to another program (application id %08x): choose another path",
                         path, app);
    return check_size(header, size, path, err);
}
