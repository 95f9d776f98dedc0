#include "load.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opening what is no store, or is one no more: an error that names the file and says what to do,
 * and not one byte of the file changed. */

enum { LARGEST = 4 << 20 };

typedef struct file {
    char path[128];
    uint8_t bytes[LARGEST];
    size_t len;
} file;

static file whole; /* a good store, to be damaged */

static void make_whole(const store *s)
{
    memory m = memory_open(s->url);
    load l = { .writers = 2, .acks = -1 };
    loci_err err = { 0 };

    assert_ok(load_run(&l, &m, &err), err);
    assert_ok(loci_db_checkpoint(m.db, true, &err), err);
    memory_close(&m);
    (void)snprintf(whole.path, sizeof whole.path, "%s", s->url);
    int fd = open(s->url, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, whole.bytes, sizeof whole.bytes);
    (void)close(fd);
    assert_true(n > 20 * 4096 && n < LARGEST);
    whole.len = (size_t)n;
}

static void put(const char *path, const uint8_t *bytes, size_t len)
{
    static const char *const beside[] = { "-wal", "-shm", "-journal" };
    char name[160];

    for (size_t i = 0; i < LOCI_COUNT(beside); i++) {
        (void)snprintf(name, sizeof name, "%s%s", path, beside[i]);
        (void)unlink(name);
    }
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    (void)close(fd);
}

static void assert_same(const char *path, const uint8_t *bytes, size_t len)
{
    static uint8_t now[LARGEST];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, now, sizeof now);

    (void)close(fd);
    assert_int_equal(n, len);
    if (memcmp(now, bytes, len) != 0) fail_msg("the file was changed");
}

/* Refused with a message, and left alone. */
static void assert_refused(const char *path, const uint8_t *bytes, size_t len)
{
    memory m = { 0 };
    loci_err err = { 0 };

    put(path, bytes, len);
    loci_rc rc = memory_try_open(path, (loci_db_options){ 0 }, &m, &err);
    if (!rc) fail_msg("%zu bytes were taken for a store", len);
    if ((rc != LOCI_EINVAL && rc != LOCI_ECORRUPT) || !strstr(err.msg, path) ||
        strlen(err.msg) < strlen(path) + 15)
        fail_msg("not clear: %s: %s", loci_rc_name(rc), err.msg);
    assert_same(path, bytes, len);
}

static void try_length(int64_t n, void *arg)
{
    (void)arg;
    assert_refused(whole.path, whole.bytes, (size_t)n);
}

/* At every length of the header, and then at many. */
static void cut_short(void **state)
{
    make_whole(store_of(state));
    for (int64_t n = 1; n <= 128; n += load_every() ? 1 : 9) try_length(n, NULL);
    for (int64_t n = 512; n < (int64_t)whole.len; n += load_every() ? 97 : 4001)
        try_length(n, NULL);
    for (size_t pages = 1; pages * 4096 < whole.len; pages++)
        try_length((int64_t)pages * 4096, NULL);
    try_length((int64_t)whole.len - 1, NULL);
}

static void random_bytes(void **state)
{
    static uint8_t bytes[20000];
    const char *path = store_of(state)->url;
    unsigned seed = load_seed();

    for (int round = 0; round < (load_every() ? 500 : 40); round++) {
        size_t len = 1 + (size_t)rand_r(&seed) % (sizeof bytes - 1);
        for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)rand_r(&seed);
        if (round % 2 && len > 16) memcpy(bytes, "SQLite format 3", 16);
        if (round % 4 == 3 && len > 72) memcpy(bytes + 68, "loci", 4);
        assert_refused(path, bytes, len);
    }
}

/* One page is overwritten. It may go unnoticed until somebody reads it, but then it is an error;
 * and whoever refuses to open the file leaves it alone. */
static void a_page_is_damaged(void **state)
{
    static uint8_t bytes[LARGEST];
    unsigned seed = load_seed();
    int noticed = 0;

    make_whole(store_of(state));
    for (size_t page = 0; page * 4096 < whole.len; page += load_every() ? 1 : 5) {
        memory m = { 0 };
        loci_err err = { 0 };
        memcpy(bytes, whole.bytes, whole.len);
        for (size_t i = page ? 0 : 100; i < 4096; i++)
            bytes[page * 4096 + i] = (uint8_t)rand_r(&seed);
        put(whole.path, bytes, whole.len);
        loci_rc rc = memory_try_open(whole.path, (loci_db_options){ 0 }, &m, &err);
        if (rc) {
            noticed++;
            if (rc != LOCI_ECORRUPT || !strstr(err.msg, whole.path))
                fail_msg("not clear: %s: %s", loci_rc_name(rc), err.msg);
            assert_same(whole.path, bytes, whole.len);
            continue;
        }
        passage p = { .id = "after", .text = "x" };
        rc = memory_write(&m, &p, NULL, &err);
        if (rc && rc != LOCI_ECORRUPT) fail_msg("%s: %s", loci_rc_name(rc), err.msg);
        noticed += rc == LOCI_ECORRUPT;
        memory_close(&m);
    }
    assert_true(noticed > 0);
}

/* ---- rights: root may write everything, so somebody else tries ---- */

static int open_as_nobody(void *arg)
{
    const char *path = arg;
    memory m = { 0 };
    loci_err err = { 0 };

    if (geteuid() == 0 && setuid(65534) != 0) return 2;
    loci_rc rc = memory_try_open(path, (loci_db_options){ 0 }, &m, &err);
    bool fine = rc == LOCI_EDENIED && strstr(err.msg, path);
    if (!fine) (void)fprintf(stderr, "# %s: %s\n", loci_rc_name(rc), err.msg);
    return fine ? 0 : 1;
}

static void only_to_be_read(void **state)
{
    static const struct {
        mode_t folder, file;
        const char *what;
    } cases[] = {
        { 0755, 0444, "a file that may be read" },
        { 0755, 0000, "a file that may not be read" },
        { 0755, 0666, "a folder that may not be written" },
        { 0000, 0666, "a folder that may not be entered" },
    };
    store *s = store_of(state);

    make_whole(s);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        put(whole.path, whole.bytes, whole.len);
        assert_int_equal(chmod(whole.path, cases[i].file), 0);
        assert_int_equal(chmod(s->folder, cases[i].folder), 0);
        bool fine = store_reap(store_fork(open_as_nobody, whole.path));
        assert_int_equal(chmod(s->folder, 0700), 0);
        assert_int_equal(chmod(whole.path, 0600), 0);
        if (!fine) fail_msg("%s", cases[i].what);
        assert_same(whole.path, whole.bytes, whole.len);
    }
}

static void newer_than_we_are(void **state)
{
    static uint8_t before[LARGEST];
    store *s = store_of(state);
    sqlite3 *db = NULL;
    memory m = { 0 };
    loci_err err = { 0 };

    make_whole(s);
    assert_int_equal(sqlite3_open(s->url, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "UPDATE loci_schema SET ver = ver + 1 WHERE room = 'core';"
                                  "PRAGMA wal_checkpoint(TRUNCATE)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    (void)sqlite3_close(db);
    int fd = open(s->url, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, before, LARGEST);
    (void)close(fd);
    assert_int_equal(memory_try_open(s->url, (loci_db_options){ 0 }, &m, &err), LOCI_ECONFLICT);
    assert_non_null(strstr(err.msg, s->url));
    assert_same(s->url, before, (size_t)n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SQLITE(cut_short),       ON_SQLITE(random_bytes),      ON_SQLITE(a_page_is_damaged),
        ON_SQLITE(only_to_be_read), ON_SQLITE(newer_than_we_are),
    };
    load_in_memory();
    return cmocka_run_group_tests_name("fault/open", tests, NULL, NULL);
}
