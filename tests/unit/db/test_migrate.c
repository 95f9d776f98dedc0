#include "db/copy.h"
#include "db/db.h"
#include "db/stmt.h"
#include "memory.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNT, NAMES };

static const loci_sql statements[] = {
    [COUNT] = { "", "SELECT count(*) FROM note", false },
    [NAMES] = { "", "SELECT count(name) FROM note", false },
};

static const char *const steps[] = {
    "CREATE TABLE note (n {int} PRIMARY KEY) {strict}; INSERT INTO note VALUES (1); "
    "INSERT INTO note VALUES (2)",
    "ALTER TABLE note ADD COLUMN name {text}; UPDATE note SET name = 'new' WHERE n = 2",
    "DELETE FROM note WHERE n = 1; CREATE TABLE note_two (n {int}) {strict}; SELECT nothing FROM "
    "nowhere",
};

static loci_db_room room_at(size_t version)
{
    return (loci_db_room){ .name = "note",
                           .migrations = steps,
                           .migration_count = version,
                           .statements = statements,
                           .statement_count = LOCI_COUNT(statements) };
}

static loci_rc open_at(const char *url, const loci_db_room *room, loci_db **ret_db, loci_err *err)
{
    const loci_db_room *const rooms[] = { room, NULL };
    loci_db_options options = { .rooms = rooms };

    return loci_db_open(url, &options, ret_db, err);
}

static int64_t ask(loci_db *db, const loci_db_room *room, size_t number)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, room, number, &q, &err), err);
    assert_ok(loci_stmt_next(q, &err), err);
    return loci_stmt_i64(q, 0);
}

/* How many files in the store's folder have ".bak-" in their name; the last one's path. */
static size_t find_backups(const store *s, char *ret_path, size_t size)
{
    DIR *dir = opendir(s->folder);
    struct dirent *entry;
    size_t n = 0;

    while (dir && (entry = readdir(dir))) {
        if (!strstr(entry->d_name, ".bak-")) continue;
        (void)snprintf(ret_path, size, "%s/%s", s->folder, entry->d_name);
        n++;
    }
    if (dir) (void)closedir(dir);
    return n;
}

static void upgrades_and_leaves_a_copy(void **state)
{
    store *s = store_of(state);
    loci_db_room one = room_at(1), two = room_at(2);
    char backup[400] = "";
    struct stat st;
    loci_db *db = NULL;
    loci_err err = { 0 };

    assert_ok(open_at(s->url, &one, &db, &err), err);
    loci_db_close(db);
    assert_int_equal(find_backups(s, backup, sizeof backup), 0); /* a new store needs none */

    assert_ok(open_at(s->url, &two, &db, &err), err);
    assert_int_equal(ask(db, &two, COUNT), 2);
    assert_int_equal(ask(db, &two, NAMES), 1);
    loci_db_close(db);
    if (s->engine == LOCI_POSTGRES) return;

    assert_int_equal(find_backups(s, backup, sizeof backup), 1);
    assert_non_null(strstr(backup, "loci.db.bak-v1"));
    assert_int_equal(stat(backup, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    /* It is a store of the old version. */
    assert_ok(open_at(backup, &one, &db, &err), err);
    assert_int_equal(ask(db, &one, COUNT), 2);
    loci_db_close(db);
}

static void a_failed_upgrade_changes_nothing(void **state)
{
    store *s = store_of(state);
    loci_db_room two = room_at(2), three = room_at(3);
    loci_db *db = NULL;
    loci_err err = { 0 };

    assert_ok(open_at(s->url, &two, &db, &err), err);
    loci_db_close(db);
    db = NULL;
    assert_int_not_equal(open_at(s->url, &three, &db, &err), LOCI_OK);
    assert_non_null(strstr(err.msg, "migration 3 of 'note'"));
    assert_null(db);
    assert_ok(open_at(s->url, &two, &db, &err), err);
    assert_int_equal(ask(db, &two, COUNT), 2);
    loci_db_close(db);
}

static int open_in_child(void *arg)
{
    loci_db_room two = room_at(2);
    loci_db *db = NULL;
    loci_err err = { 0 };
    loci_rc rc = open_at(arg, &two, &db, &err);

    if (rc) (void)fprintf(stderr, "# %s\n", err.msg);
    loci_db_close(db);
    return rc ? 1 : 0;
}

/* Four processes find a store of version 1 at the same moment. */
static void processes_upgrade_once(void **state)
{
    store *s = store_of(state);
    loci_db_room one = room_at(1), two = room_at(2);
    pid_t children[4];
    bool fine = true;
    loci_db *db = NULL;
    loci_err err = { 0 };

    assert_ok(open_at(s->url, &one, &db, &err), err);
    loci_db_close(db);
    for (int i = 0; i < 4; i++) children[i] = store_fork(open_in_child, s->url);
    for (int i = 0; i < 4; i++) fine = store_reap(children[i]) && fine;
    assert_true(fine);
    assert_ok(open_at(s->url, &two, &db, &err), err);
    assert_int_equal(ask(db, &two, COUNT), 2);
    loci_db_close(db);
}

static void copies_while_in_use(void **state)
{
    store *s = store_of(state);
    memory m = memory_open(s->url), copied;
    passage p = { .id = "p1", .text = "a" };
    char path[300];
    loci_err err = { 0 };

    assert_ok(memory_write(&m, &p, NULL, &err), err);
    (void)snprintf(path, sizeof path, "%s/it's a copy.db", s->folder);
    loci_rc rc = loci_copy_store(m.db, path, 1, &err);
    if (s->engine == LOCI_POSTGRES) {
        assert_int_equal(rc, LOCI_ENOSYS);
        memory_close(&m);
        return;
    }
    assert_ok(rc, err);
    copied = memory_open(path);
    assert_int_equal(memory_ask(copied.db, MEMORY_PASSAGES), 1);
    memory_close(&copied);
    /* Not enough room: a clear error, and the old copy stays. */
    assert_int_equal(loci_copy_store(m.db, path, 2000000000, &err), LOCI_EUNAVAILABLE);
    assert_int_equal(access(path, R_OK), 0);
    memory_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(upgrades_and_leaves_a_copy),
        ON_BOTH(a_failed_upgrade_changes_nothing),
        ON_BOTH(processes_upgrade_once),
        ON_BOTH(copies_while_in_use),
    };
    return cmocka_run_group_tests_name("db/migrate", tests, NULL, NULL);
}
