#include "base/arena.h"
#include "base/fs.h"
#include "db/db.h"
#include "db/sqlite_file.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[128];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/loci-file-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(path, sizeof path, "%s/deep/er/loci.db", folder);
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;

    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void make_store(void)
{
    loci_db *db = NULL;
    loci_err err = { 0 };

    assert_ok(loci_db_open(path, NULL, &db, &err), err);
    loci_db_close(db);
}

static loci_str read_file(loci_arena *arena)
{
    loci_str bytes = { NULL, 0 };
    loci_err err = { 0 };

    assert_ok(loci_fs_read(arena, path, 10 << 20, &bytes, &err), err);
    return bytes;
}

/* Opening gives `want` and a message with `word` in it, and not a byte changes. */
static void assert_refused(loci_rc want, const char *word)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 20);
    loci_str before = read_file(arena);
    loci_db *db = NULL;
    loci_err err = { 0 };

    loci_rc rc = loci_db_open(path, NULL, &db, &err);
    if (rc != want || !strstr(err.msg, word)) print_error("%s\n", err.msg);
    assert_int_equal(rc, want);
    assert_non_null(strstr(err.msg, word));
    assert_true(loci_str_eq(before, read_file(arena)));
}

static void write_file(loci_str bytes)
{
    loci_err err = { 0 };

    assert_ok(loci_fs_write_private(path, bytes, &err), err);
}

static void is_private(void **state)
{
    struct stat st;
    char deep[128];
    (void)state;

    make_store();
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    (void)snprintf(deep, sizeof deep, "%s/deep", folder);
    assert_int_equal(stat(deep, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void leaves_other_files_alone(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "%s/other", folder);
    write_file(LOCI_STR("These are the notes of somebody else; they are longer than one hundred "
                        "bytes, so that they could hold a header."));
    assert_refused(LOCI_EINVAL, "not a loci store");
    write_file(LOCI_STR("short"));
    assert_refused(LOCI_EINVAL, "not a loci store");
}

static void run_sql(const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

static void leaves_other_databases_alone(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "%s/other.db", folder);
    run_sql("PRAGMA application_id=7; CREATE TABLE t (x)");
    assert_refused(LOCI_EINVAL, "another program");
    run_sql("PRAGMA application_id=0");
    assert_refused(LOCI_EINVAL, "another program");
    /* One without tables is nobody's. */
    run_sql("DROP TABLE t; VACUUM");
    make_store();
}

static void sees_a_file_cut_short(void **state)
{
    (void)state;
    make_store();
    assert_int_equal(truncate(path, 4096), 0);
    assert_refused(LOCI_ECORRUPT, "cut short");
    assert_int_equal(truncate(path, 50), 0);
    assert_refused(LOCI_EINVAL, "not a loci store");
}

static void refuses_a_folder(void **state)
{
    loci_db *db = NULL;
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(loci_db_open(folder, NULL, &db, &err), LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "no regular file"));
}

/* Root may write everything, so somebody else tries. */
static int open_as_nobody(void)
{
    loci_db *db = NULL;
    loci_err err = { 0 };

    if (geteuid() == 0 && setuid(65534) != 0) return 2;
    loci_rc rc = loci_db_open(path, NULL, &db, &err);
    if (rc != LOCI_EDENIED) (void)fprintf(stderr, "# %s: %s\n", loci_rc_name(rc), err.msg);
    return rc == LOCI_EDENIED && strlen(err.msg) > 10 ? 0 : 1;
}

static void tells_when_it_may_only_read(void **state)
{
    int status = -1;
    (void)state;

    (void)snprintf(path, sizeof path, "%s/loci.db", folder);
    make_store();
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(path, 0444), 0);
    pid_t child = fork();
    if (child == 0) _exit(open_as_nobody());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void knows_network_file_systems(void **state)
{
    static const struct {
        uint64_t magic;
        const char *type;
        bool remote;
    } cases[] = {
        { 0xEF53, "", false },
        { 0x01021994, "", false }, /* ext4, tmpfs */
        { 0x58465342, "", false },
        { 0x9123683E, "", false }, /* xfs, btrfs */
        { 0x6969, "", true },
        { 0xFF534D42, "", true }, /* nfs, cifs */
        { 0xFE534D42, "", true },
        { 0x01021997, "", true }, /* smb2, 9p */
        { 0x65735546, "fuse.sshfs", true },
        { 0x65735546, "fuse.rclone", true },
        { 0x65735546, "fuseblk", false },
        { 0x65735546, "fuse.gocryptfs", false },
        { 0xEF53, "fuse.sshfs", false },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        assert_int_equal(loci_sqlite_is_remote(cases[i].magic, loci_str_from(cases[i].type)),
                         cases[i].remote);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(is_private),
        IN_FOLDER(leaves_other_files_alone),
        IN_FOLDER(leaves_other_databases_alone),
        IN_FOLDER(sees_a_file_cut_short),
        IN_FOLDER(refuses_a_folder),
        IN_FOLDER(tells_when_it_may_only_read),
        cmocka_unit_test(knows_network_file_systems),
    };
    return cmocka_run_group_tests_name("db/sqlite_file", tests, NULL, NULL);
}
