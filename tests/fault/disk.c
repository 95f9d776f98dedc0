#include "disk.h"

#include "base/alloc.h"
#include "base/compiler.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IMAGES = 16, PIECE = 512, PATH = 400 };

/* A write or, without bytes, a cut, that no sync has made certain yet. */
typedef struct change {
    uint8_t *bytes;
    int64_t at, len; /* of a cut: at is the new length */
    struct change *next;
} change;

/* What a file would be after power loss. */
typedef struct image {
    char path[PATH];
    uint8_t *bytes; /* certain */
    int64_t len;
    change *first, **end;
    bool listed;  /* its entry in the folder is certain */
    bool removed; /* but that is not certain yet */
} image;

typedef struct disk_file {
    sqlite3_file base;
    image *image;
    sqlite3_file *real;
} disk_file;

static struct {
    disk_plan plan;
    sqlite3_vfs *real;
    sqlite3_vfs vfs;
    pthread_mutex_t mutex;
    int64_t count;
    bool hit, mended, dying;
    image images[IMAGES];
    size_t image_count;
    unsigned seed;
} disk = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void lock(void)
{
    (void)pthread_mutex_lock(&disk.mutex);
}

static int unlock(int rc)
{
    (void)pthread_mutex_unlock(&disk.mutex);
    return rc;
}

_Noreturn static void give_up(const char *what)
{
    (void)fprintf(stderr, "# disk: %s\n", what);
    _exit(99);
}

_Noreturn static void die(void)
{
    (void)kill(getpid(), SIGKILL);
    for (;;) (void)pause();
}

static uint32_t chance(uint32_t of)
{
    return (uint32_t)rand_r(&disk.seed) % of;
}

/* ---- what is certain ---- */

static void need(image *m, int64_t len)
{
    if (len <= m->len) return;
    uint8_t *grown = loci_realloc(m->bytes, (size_t)len);
    if (!grown) give_up("out of memory");
    memset(grown + m->len, 0, (size_t)(len - m->len));
    m->bytes = grown;
    m->len = len;
}

static void apply(image *m, const change *c, int64_t from, int64_t len)
{
    need(m, c->at + from + len);
    memcpy(m->bytes + c->at + from, c->bytes + from, (size_t)len);
}

/* Any of the pieces of a write may have arrived. */
static void apply_some(image *m, const change *c)
{
    for (int64_t from = 0; from < c->len; from += PIECE)
        if (chance(2)) apply(m, c, from, c->len - from < PIECE ? c->len - from : PIECE);
}

static void apply_all(image *m, const change *c)
{
    if (c->bytes)
        apply(m, c, 0, c->len);
    else if (c->at < m->len)
        m->len = c->at;
    else
        need(m, c->at);
}

static void add_change(image *m, const void *bytes, int64_t len, int64_t at)
{
    change *c = loci_zalloc(sizeof *c);

    if (!c) give_up("out of memory");
    c->at = at;
    c->len = len;
    if (bytes) {
        c->bytes = loci_zalloc((size_t)len);
        if (!c->bytes) give_up("out of memory");
        memcpy(c->bytes, bytes, (size_t)len);
    }
    *m->end = c;
    m->end = &c->next;
}

static void forget_changes(image *m)
{
    while (m->first) {
        change *c = m->first;
        m->first = c->next;
        loci_free(c->bytes);
        loci_free(c);
    }
    m->end = &m->first;
}

static void make_certain(image *m)
{
    for (const change *c = m->first; c; c = c->next) apply_all(m, c);
    forget_changes(m);
}

/* The folder was synced: what is in it and what is not is certain. There is one folder. */
static void list_all(void)
{
    for (size_t i = 0; i < disk.image_count; i++) {
        image *m = &disk.images[i];
        m->listed = !m->removed;
        if (!m->removed) continue;
        m->len = 0;
        forget_changes(m);
        m->removed = false;
    }
}

static void load(image *m)
{
    int fd = open(m->path, O_RDONLY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0) return;
    need(m, st.st_size);
    if (pread(fd, m->bytes, (size_t)st.st_size, 0) != st.st_size) give_up("cannot read");
    m->listed = st.st_size > 0; /* an empty one was made a moment ago */
    (void)close(fd);
}

static image *image_of(const char *path)
{
    for (size_t i = 0; i < disk.image_count; i++)
        if (strcmp(disk.images[i].path, path) == 0) return &disk.images[i];
    if (disk.image_count == IMAGES || strlen(path) >= PATH) give_up("too many files");
    image *m = &disk.images[disk.image_count++];
    (void)snprintf(m->path, sizeof m->path, "%s", path);
    m->end = &m->first;
    load(m);
    return m;
}

/* A file that was removed comes again as another one. */
static image *made_anew(image *m)
{
    if (!m->removed) return m;
    m->removed = m->listed = false;
    m->len = 0;
    forget_changes(m);
    return m;
}

/* ---- the end ---- */

static void arrive(image *m)
{
    unsigned luck = chance(4); /* of this file: nothing, everything, or some of it */

    for (const change *c = m->first; c; c = c->next) {
        unsigned part = luck == 0 ? 0 : luck == 1 ? 1 : chance(3);
        if (part == 1)
            apply_all(m, c);
        else if (part == 2 && c->bytes)
            apply_some(m, c);
    }
}

static void write_back(image *m)
{
    bool gone = m->removed || !m->listed;

    arrive(m);
    if (gone && chance(2)) {
        (void)unlink(m->path);
        return;
    }
    if (!m->removed && !m->listed && access(m->path, F_OK) != 0) return;
    int fd = open(m->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, m->len) != 0 ||
        (m->len && pwrite(fd, m->bytes, (size_t)m->len, 0) != m->len))
        give_up("cannot write back");
    (void)close(fd);
}

_Noreturn static void lose_power(void)
{
    char path[PATH + 8];

    for (size_t i = 0; i < disk.image_count; i++) {
        image *m = &disk.images[i];
        write_back(m);
        (void)snprintf(path, sizeof path, "%s-shm", m->path);
        (void)unlink(path);
    }
    die();
}

/* ---- the plan ---- */

/* The codes that SQLite's own VFS gives for these errors. */
static int code_of(unsigned kind, bool full)
{
    switch (kind) {
    case DISK_OPEN: return SQLITE_CANTOPEN;
    case DISK_READ: return full ? SQLITE_OK : SQLITE_IOERR_READ;
    case DISK_WRITE: return full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    case DISK_SYNC: return SQLITE_IOERR_FSYNC;
    case DISK_TRUNCATE: return SQLITE_IOERR_TRUNCATE;
    case DISK_DELETE: return full ? SQLITE_OK : SQLITE_IOERR_DELETE;
    default: return SQLITE_IOERR_SHMSIZE;
    }
}

static bool is_due(unsigned kind)
{
    const disk_plan *p = &disk.plan;

    if (!(kind & p->calls)) return false;
    disk.count++;
    if (!p->at || disk.mended) return false;
    if (disk.count != p->at && !(p->stays && disk.count > p->at)) return false;
    disk.hit = true;
    return true;
}

/* Called with the mutex held. What the call must return instead of being made, or SQLITE_OK. */
static int before(unsigned kind)
{
    if (!is_due(kind)) return SQLITE_OK;
    switch (disk.plan.harm) {
    case DISK_KILL_BEFORE: die();
    case DISK_KILL_WITHIN:
    case DISK_KILL_AFTER: disk.dying = true; break;
    case DISK_POWER: lose_power();
    case DISK_IO_ERROR: return code_of(kind, false);
    case DISK_FULL: return code_of(kind, true);
    case DISK_NONE: break;
    }
    return SQLITE_OK;
}

static void after(void)
{
    if (disk.dying) die();
}

static bool keeps_images(void)
{
    return disk.plan.harm == DISK_POWER;
}

/* ---- a file ---- */

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((disk_file *)file)->real;
}

static int close_file(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int read_file(sqlite3_file *file, void *bytes, int len, sqlite3_int64 at)
{
    lock();
    int rc = unlock(before(DISK_READ));
    return rc ? rc : real_of(file)->pMethods->xRead(real_of(file), bytes, len, at);
}

static int write_file(sqlite3_file *file, const void *bytes, int len, sqlite3_int64 at)
{
    image *m = ((disk_file *)file)->image;
    sqlite3_file *real = real_of(file);

    lock();
    int rc = before(DISK_WRITE);
    if (rc) return unlock(rc);
    if (disk.dying && disk.plan.harm == DISK_KILL_WITHIN) {
        (void)real->pMethods->xWrite(real, bytes, len / 2, at);
        die();
    }
    rc = real->pMethods->xWrite(real, bytes, len, at);
    if (m) add_change(m, bytes, len, at);
    after();
    return unlock(rc);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    image *m = ((disk_file *)file)->image;

    lock();
    int rc = before(DISK_TRUNCATE);
    if (!rc) rc = real_of(file)->pMethods->xTruncate(real_of(file), size);
    if (!rc && m) add_change(m, NULL, 0, size);
    after();
    return unlock(rc);
}

/* SQLite syncs the folder with the first sync of a journal or WAL that it has made. Nothing is
 * really synced: the machine that runs the test does not lose its power. */
static int sync_file(sqlite3_file *file, int flags)
{
    image *m = ((disk_file *)file)->image;

    (void)flags;
    lock();
    int rc = before(DISK_SYNC);
    if (!rc && m) {
        size_t len = strlen(m->path);
        make_certain(m);
        if (!m->listed &&
            (strcmp(m->path + len - 4, "-wal") == 0 || strcmp(m->path + len - 8, "-journal") == 0))
            list_all();
    }
    after();
    return unlock(rc);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), ret);
}

static int lock_file(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int unlock_file(sqlite3_file *file, int level)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int is_reserved(sqlite3_file *file, int *ret)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int traits(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int map_shared(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
    lock();
    int rc = unlock(extend ? before(DISK_SHARED) : SQLITE_OK);
    return rc ? rc : real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}

static int lock_shared(sqlite3_file *file, int offset, int n, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}

static void barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int unmap_shared(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = file_size,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = is_reserved,
    .xFileControl = control,
    .xSectorSize = sector,
    .xDeviceCharacteristics = traits,
    .xShmMap = map_shared,
    .xShmLock = lock_shared,
    .xShmBarrier = barrier,
    .xShmUnmap = unmap_shared,
};

/* ---- the VFS ---- */

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *ret_flags)
{
    disk_file *f = (disk_file *)file;

    (void)vfs;
    f->base.pMethods = NULL;
    f->real = (sqlite3_file *)(f + 1);
    f->image = NULL;
    lock();
    int rc = before(DISK_OPEN);
    if (rc) return unlock(rc);
    if (name && keeps_images()) f->image = made_anew(image_of(name));
    rc = disk.real->xOpen(disk.real, name, f->real, flags, ret_flags);
    if (!rc) f->base.pMethods = &methods;
    after();
    return unlock(rc);
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    (void)vfs;
    lock();
    int rc = before(DISK_DELETE);
    if (rc) return unlock(rc);
    rc = disk.real->xDelete(disk.real, name, 0);
    if (!rc && keeps_images()) image_of(name)->removed = true;
    if (!rc && keeps_images() && sync_folder) list_all();
    after();
    return unlock(rc);
}

void disk_install(const disk_plan *plan)
{
    disk.plan = *plan;
    disk.seed = plan->seed;
    disk.real = sqlite3_vfs_find(NULL);
    disk.vfs = *disk.real;
    disk.vfs.zName = "disk";
    disk.vfs.szOsFile = (int)sizeof(disk_file) + disk.real->szOsFile;
    disk.vfs.pNext = NULL;
    disk.vfs.xOpen = open_file;
    disk.vfs.xDelete = delete_file;
    if (sqlite3_vfs_register(&disk.vfs, 1)) give_up("cannot register");
}

void disk_mend(void)
{
    lock();
    disk.mended = true;
    (void)unlock(0);
}

int64_t disk_count(void)
{
    lock();
    int64_t n = disk.count;
    (void)unlock(0);
    return n;
}

bool disk_was_hit(void)
{
    lock();
    bool hit = disk.hit;
    (void)unlock(0);
    return hit;
}
