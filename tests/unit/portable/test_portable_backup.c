/* Backup while others write, restore with its refusals, and a crash at every step of it. */
#include "fill.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "db/backup.h"
#include "db/export.h"
#include "pg.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static loci_db_options store_options = { .rooms = fill_rooms, .connections = 2 };

static char *other_url(const store *s)
{
    loci_buf b;

    if (s->engine == LOCI_POSTGRES) return pg_new_database();
    loci_buf_init(&b, 300);
    loci_buf_printf(&b, "%s/other.db", s->folder);
    return loci_buf_take(&b);
}

static void export_all(const char *url, const char *path)
{
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(url);
    loci_export_options o = { .vectors = true, .keys = true, .replace = true };
    loci_err err = { 0 };

    assert_ok(loci_export(db, path, &o, NULL, &err), err);
}

static void assert_same_store(const store *s, const char *a, const char *b)
{
    LOCI_AUTO(loci_buf_done) loci_buf x = { 0 }, y = { 0 };

    export_all(a, fill_path(s, "x.jsonl"));
    export_all(b, fill_path(s, "y.jsonl"));
    fill_read(fill_path(s, "x.jsonl"), &x);
    fill_read(fill_path(s, "y.jsonl"), &y);
    assert_true(x.len > 500);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.ptr, y.ptr, x.len);
}

static void comes_back(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_freep) char *url = other_url(s);
    loci_db *db = fill_open(s->url);
    loci_restore_options r = { .store = &store_options };
    loci_err err = { 0 };
    struct stat st;

    fill_org(db, 5, "org-five");
    fill_store(db, 1, 9, 120);
    fill_store(db, 5, 10, 60);
    assert_ok(loci_backup(db, fill_path(s, "copy"), NULL, &err), err);
    assert_int_equal(stat(fill_path(s, "copy"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(loci_backup(db, fill_path(s, "copy"), NULL, &err), LOCI_ECONFLICT);
    loci_backup_options again = { .replace = true };
    assert_ok(loci_backup(db, fill_path(s, "copy"), &again, &err), err);
    loci_db_close(db);
    assert_ok(loci_restore(fill_path(s, "copy"), url, &r, &err), err);
    assert_same_store(s, s->url, url);
    /* What is there is not overwritten by mistake. */
    assert_int_equal(loci_restore(fill_path(s, "copy"), url, &r, &err), LOCI_ECONFLICT);
    assert_same_store(s, s->url, url);
    r.force = true;
    assert_ok(loci_restore(fill_path(s, "copy"), url, &r, &err), err);
    assert_same_store(s, s->url, url);
}

static loci_rc add_pair(loci_change *ch, void *arg, loci_err *err)
{
    static const char *const names[] = { "left", "right" };

    (void)arg;
    for (int i = 0; i < 2; i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        char id[64];
        int64_t row = loci_change_row(ch);
        const loci_table *t = loci_table_find(LOCI_STR("archive"));
        loci_rc rc = loci_table_begin(ch->tx, t, LOCI_TABLE_INSERT, &q, err);
        if (rc) return rc;
        const int64_t numbers[] = { ch->org, row, row, 1, ch->born, LOCI_NEVER, ch->ver, 0 };
        for (unsigned k = 0; k < 8; k++) loci_stmt_bind_i64(q, k + 1, numbers[k]);
        (void)snprintf(id, sizeof id, "archive-%lld", (long long)row);
        loci_stmt_bind_text(q, 10, LOCI_STR("test"));
        loci_stmt_bind_text(q, 13, loci_str_from(id));
        loci_stmt_bind_text(q, 14, loci_str_from(names[i]));
        loci_stmt_bind_text(q, 16, LOCI_STR("native"));
        loci_stmt_bind_i64(q, 19, ch->born);
        rc = loci_stmt_run(q, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

typedef struct writing {
    loci_writer *writer;
    atomic_bool stop;
    atomic_int done;
} writing;

static void *write_pairs(void *arg)
{
    writing *w = arg;
    loci_write_request r = { .org = 1, .run = add_pair, .door = LOCI_STR("test") };

    while (!w->stop) {
        if (loci_write(w->writer, &r, NULL, NULL, NULL) == LOCI_OK) w->done++;
        loci_clock_sleep(LOCI_MS); /* or the store grows faster than it is restored */
    }
    return NULL;
}

static void is_one_snapshot(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;
    loci_restore_options r = { .store = &store_options };
    loci_backup_options o = { .replace = true };
    loci_err err = { 0 };
    writing w = { 0 };
    pthread_t thread;

    assert_ok(loci_writer_new(db, &writer, &err), err);
    w.writer = writer;
    assert_int_equal(pthread_create(&thread, NULL, write_pairs, &w), 0);
    for (int i = 0; i < 3; i++) {
        int before = w.done;
        while (w.done < before + 5) loci_clock_sleep(LOCI_MS);
        loci_rc rc = loci_backup(db, fill_path(s, "copy"), &o, &err);
        if (rc) w.stop = true;
        assert_ok(rc, err);
        store t = *s;
        t.url = other_url(s);
        r.force = true;
        rc = loci_restore(fill_path(s, "copy"), t.url, &r, &err);
        if (rc) w.stop = true;
        assert_ok(rc, err);
        int64_t left = fill_number(&t, "SELECT count(*) FROM archive WHERE name = 'left'");
        int64_t right = fill_number(&t, "SELECT count(*) FROM archive WHERE name = 'right'");
        w.stop = i == 2;
        assert_int_equal(left, right);
        assert_true(left >= before + 5);
        loci_free(t.url);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void refuses_a_store_in_use(void **state)
{
    const store *s = store_of(state);
    loci_db *db = fill_open(s->url);
    loci_restore_options r = { .store = &store_options, .force = true };
    loci_err err = { 0 };

    fill_store(db, 1, 1, 40);
    int64_t rows = fill_number(s, "SELECT row FROM org WHERE org = 1");
    assert_ok(loci_backup(db, fill_path(s, "copy"), NULL, &err), err);
    assert_int_equal(loci_restore(fill_path(s, "copy"), s->url, &r, &err), LOCI_EBUSY);
    assert_non_null(strstr(err.msg, "in use"));
    fill_store(db, 1, 2, 40);
    loci_db_close(db);
    assert_true(fill_number(s, "SELECT row FROM org WHERE org = 1") > rows);
    assert_ok(loci_restore(fill_path(s, "copy"), s->url, &r, &err), err);
    assert_int_equal(fill_number(s, "SELECT row FROM org WHERE org = 1"), rows);
    store old = *s;
    LOCI_AUTO(loci_buf_done) loci_buf name = { 0 };
    loci_buf_init(&name, 300);
    loci_buf_printf(&name, "%s.before-restore", s->url);
    old.url = name.ptr;
    assert_true(fill_number(&old, "SELECT row FROM org WHERE org = 1") > rows);
}

static void write_file(const char *path, const char *text, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), (ssize_t)size);
    (void)close(fd);
}

static void refuses_what_is_no_backup(void **state)
{
    const store *s = store_of(state);
    loci_db *db = fill_open(s->url);
    loci_restore_options r = { .store = &store_options };
    loci_err err = { 0 };
    const char *target = fill_path(s, "target.db");
    sqlite3 *other = NULL;

    fill_store(db, 1, 1, 200);
    assert_ok(loci_backup(db, fill_path(s, "copy"), NULL, &err), err);
    loci_db_close(db);
    assert_int_equal(loci_restore(fill_path(s, "none"), target, &r, &err), LOCI_ENOTFOUND);
    assert_int_equal(sqlite3_open(fill_path(s, "foreign"), &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "CREATE TABLE t (x)", NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(other);
    assert_int_equal(loci_restore(fill_path(s, "foreign"), target, &r, &err), LOCI_EINVAL);
    /* Cut in the middle, and with a page of rubbish. */
    struct stat st;
    assert_int_equal(stat(fill_path(s, "copy"), &st), 0);
    assert_int_equal(truncate(fill_path(s, "copy"), st.st_size / 2 / 4096 * 4096), 0);
    assert_int_equal(loci_restore(fill_path(s, "copy"), target, &r, &err), LOCI_ECORRUPT);
    /* From a newer program. */
    fill_run(s, "UPDATE loci_schema SET ver = 99 WHERE room = 'core'");
    assert_int_equal(loci_restore(s->url, target, &r, &err), LOCI_ECONFLICT);
    assert_non_null(strstr(err.msg, "newer"));
    assert_int_equal(access(target, F_OK), -1);
    assert_int_equal(access(fill_path(s, "target.db.restore"), F_OK), -1);
    write_file(fill_path(s, "rubbish"), "hello\n", 6);
    assert_int_equal(loci_restore(fill_path(s, "rubbish"), target, &r, &err), LOCI_ESHAPE);
}

typedef struct victim {
    const char *backup, *url;
    int steps;
} victim;

static loci_rc die(const loci_progress *p, void *arg, loci_err *err)
{
    victim *v = arg;

    (void)p;
    (void)err;
    if (v->steps-- == 0) _exit(0);
    return LOCI_OK;
}

static int restore_and_die(void *arg)
{
    victim *v = arg;
    loci_restore_options r = { .store = &store_options, .force = true, .progress = die, .arg = v };

    return loci_restore(v->backup, v->url, &r, NULL) == LOCI_OK ? 77 : 1;
}

/* Killed at any step, the name holds the old store or the new one, and the next restore works. */
static void survives_a_crash(void **state)
{
    const store *s = store_of(state);
    loci_db *db = fill_open(s->url);
    loci_err err = { 0 };
    int64_t rows[2] = { 0 };
    int died = 0;

    fill_store(db, 1, 1, 30);
    assert_ok(loci_backup(db, fill_path(s, "copy"), NULL, &err), err);
    rows[0] = fill_number(s, "SELECT row FROM org WHERE org = 1");
    fill_store(db, 1, 2, 30);
    rows[1] = fill_number(s, "SELECT row FROM org WHERE org = 1");
    loci_db_close(db);
    for (int n = 0; n < 8; n++) {
        victim v = { fill_path(s, "copy"), s->url, n };
        if (!store_reap(store_fork(restore_and_die, &v))) break;
        died++;
        int64_t now = fill_number(s, "SELECT row FROM org WHERE org = 1");
        assert_true(now == rows[0] || now == rows[1]);
        loci_db_close(fill_open(s->url));
    }
    assert_true(died >= 5);
    assert_int_equal(fill_number(s, "SELECT row FROM org WHERE org = 1"), rows[0]);
    assert_int_equal(access(fill_path(s, "loci.db.restore"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BOTH(comes_back), ON_BOTH(is_one_snapshot),
                                        ON_SQLITE(refuses_a_store_in_use),
                                        ON_SQLITE(refuses_what_is_no_backup),
                                        ON_SQLITE(survives_a_crash) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
