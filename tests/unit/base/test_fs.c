#include "base/alloc.h"
#include "base/fs.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/loci-test-fs-XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX];
    static size_t turn;
    char *path = paths[turn++ % 4];

    (void)snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static int make_home(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

static int drop_home(void **state)
{
    (void)state;
    return nftw(folder, drop, 16, FTW_DEPTH | FTW_PHYS);
}

static size_t entries(void)
{
    DIR *dir = opendir(folder);
    size_t n = 0;

    while (readdir(dir)) n++;
    (void)closedir(dir);
    return n - 2;
}

static void assert_mode(const char *path, mode_t want)
{
    struct stat info;

    assert_int_equal(lstat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, want);
}

static void writes_and_reads(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    static char big[100000];
    static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, sizeof big };
    loci_err err = { 0 };
    loci_str back;
    (void)state;

    for (size_t i = 0; i < sizeof big; i++) big[i] = (char)(i * 7);
    for (size_t i = 0; i < LOCI_COUNT(sizes); i++) {
        assert_ok(loci_fs_write_private(in_folder("file"), (loci_str){ big, sizes[i] }, &err), err);
        assert_mode(in_folder("file"), 0600);
        assert_ok(loci_fs_read(arena, in_folder("file"), sizes[i], &back, &err), err);
        assert_true(loci_str_eq(back, (loci_str){ big, sizes[i] }));
        assert_int_equal(back.ptr[back.len], '\0');
        if (sizes[i] == 0) continue;
        back = LOCI_STR("kept");
        assert_int_equal(loci_fs_read(arena, in_folder("file"), sizes[i] - 1, &back, &err),
                         LOCI_ELIMIT);
        assert_str(back, "kept");
    }
    assert_int_equal(entries(), 1); /* no temporary file stays */
}

/* A file whose size is told as 0 still has its whole content, and its maximum. */
static void reads_files_that_lie(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    loci_err err = { 0 };
    loci_str text;
    (void)state;

    assert_ok(loci_fs_read(arena, "/proc/self/status", 100000, &text, &err), err);
    assert_true(text.len > 100);
    assert_int_equal(loci_fs_read(arena, "/proc/self/status", 10, &text, &err), LOCI_ELIMIT);
    assert_non_null(strstr(err.msg, "/proc/self/status"));
}

static void refuses_what_is_no_file(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    loci_err err = { 0 };
    loci_str text = LOCI_STR("kept");
    (void)state;

    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(symlink(in_folder("loop"), in_folder("loop")), 0);
    const struct {
        const char *path;
        loci_rc want;
    } cases[] = {
        { in_folder("missing"), LOCI_ENOTFOUND },
        { in_folder("pipe"), LOCI_EINVAL },
        { in_folder("loop"), LOCI_EINVAL },
        { "/dev/null", LOCI_EINVAL },
        { "/tmp", LOCI_EINVAL },
        { "/dev/null/x", LOCI_EINVAL },
        { "", LOCI_ENOTFOUND },
    };
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        assert_int_equal(loci_fs_read(arena, cases[i].path, 1000, &text, &err), cases[i].want);
        assert_non_null(strstr(err.msg, cases[i].path));
        assert_str(text, "kept");
    }
    assert_int_equal(remove(in_folder("pipe")), 0);
    assert_int_equal(remove(in_folder("loop")), 0);
}

static void replaces_links_and_fails_cleanly(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    char longest[PATH_MAX];
    loci_err err = { 0 };
    loci_str back;
    (void)state;

    assert_ok(loci_fs_write_private(in_folder("real"), LOCI_STR("real"), &err), err);
    assert_int_equal(symlink(in_folder("real"), in_folder("link")), 0);
    assert_ok(loci_fs_write_private(in_folder("link"), LOCI_STR("new"), &err), err);
    assert_ok(loci_fs_read(arena, in_folder("real"), 100, &back, &err), err);
    assert_str(back, "real");
    assert_ok(loci_fs_read(arena, in_folder("link"), 100, &back, &err), err);
    assert_str(back, "new");

    size_t before = entries();
    assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
    assert_int_not_equal(loci_fs_write_private(in_folder("sub"), LOCI_STR("x"), &err), LOCI_OK);
    assert_int_equal(loci_fs_write_private(in_folder("no/file"), LOCI_STR("x"), &err),
                     LOCI_ENOTFOUND);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(loci_fs_write_private(longest, LOCI_STR("x"), &err), LOCI_EINVAL);
    assert_int_equal(loci_fs_make_folders(longest, &err), LOCI_EINVAL);
    assert_int_equal(entries(), before + 1);
}

static void makes_private_folders(void **state)
{
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_fs_make_folders(in_folder("a/b//c/"), &err), err);
    assert_ok(loci_fs_make_folders(in_folder("a/b/c"), &err), err);
    assert_mode(in_folder("a"), 0700);
    assert_mode(in_folder("a/b/c"), 0700);
    assert_int_equal(chmod(in_folder("a"), 0755), 0);
    assert_ok(loci_fs_make_folders(in_folder("a/d"), &err), err);
    assert_mode(in_folder("a"), 0755); /* what exists stays as it is */
    assert_ok(loci_fs_make_folders("/", &err), err);

    assert_ok(loci_fs_write_private(in_folder("a/file"), LOCI_STR(""), &err), err);
    assert_int_equal(loci_fs_make_folders(in_folder("a/file"), &err), LOCI_EINVAL);
    assert_int_equal(loci_fs_make_folders(in_folder("a/file/x"), &err), LOCI_EINVAL);
    assert_int_equal(loci_fs_make_folders("", &err), LOCI_EINVAL);
}

static void joins_and_splits(void **state)
{
    static const struct {
        const char *folder, *name, *joined, *above;
    } cases[] = {
        { "/a", "b", "/a/b", "/a" },
        { "/a/", "b", "/a/b", "/a" },
        { "/", "b", "/b", "/" },
        { "", "b", "b", "." },
        { "/a", "/etc/x", "/etc/x", "/etc" },
        { "a", "b/c", "a/b/c", "a/b" },
        { "a//", "", "a//", "a" },
    };
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_str path =
            loci_fs_join(arena, loci_str_from(cases[i].folder), loci_str_from(cases[i].name));
        assert_str(path, cases[i].joined);
        assert_int_equal(path.ptr[path.len], '\0');
        assert_str(loci_fs_folder_of(path), cases[i].above);
    }
}

static void bears_a_full_arena(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(200);
    loci_err err = { 0 };
    loci_str text;
    (void)state;

    assert_ok(loci_fs_write_private(in_folder("x"), LOCI_STR("x"), &err), err);
    assert_int_equal(loci_fs_read(arena, in_folder("x"), 10, &text, &err), LOCI_ELIMIT);
    static const char long_name[300] = "x";
    assert_null(loci_fs_join(arena, LOCI_STR("/a"), (loci_str){ long_name, sizeof long_name }).ptr);
    (void)loci_alloc_fail_at(1);
    loci_rc rc = loci_fs_read(arena, in_folder("x"), 10, &text, &err);
    (void)loci_alloc_fail_at(0);
    assert_true(rc == LOCI_ELIMIT || rc == LOCI_ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_reads),
        cmocka_unit_test(reads_files_that_lie),
        cmocka_unit_test(refuses_what_is_no_file),
        cmocka_unit_test(replaces_links_and_fails_cleanly),
        cmocka_unit_test(makes_private_folders),
        cmocka_unit_test(joins_and_splits),
        cmocka_unit_test(bears_a_full_arena),
    };
    return cmocka_run_group_tests_name("base/fs", tests, make_home, drop_home);
}
