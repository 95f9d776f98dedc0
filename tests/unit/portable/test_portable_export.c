/* Export and import: between engines, twice, interrupted, of one agent, of several organizations.
 */
#include "fill.h"

#include "base/alloc.h"
#include "base/fs.h"
#include "db/catchup.h"
#include "db/export.h"
#include "db/import.h"
#include "db/schema.h"
#include "pg.h"

#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 400 };

static void export_to(loci_db *db, const char *path, int64_t org, const char *agent)
{
    loci_export_options o = {
        .org = org, .agent = loci_str_from(agent), .vectors = true, .keys = true, .replace = true
    };
    loci_export_result result = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_export(db, path, &o, &result, &err), err);
    assert_true(result.rows > 0);
    assert_int_equal(result.orphans, 0);
}

static loci_rc import_with(loci_db *db, const char *path, const loci_import_options *options,
                           loci_import_result *ret, loci_err *err)
{
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;

    assert_ok(loci_writer_new(db, &writer, err), *err);
    return loci_import(db, writer, path, options, ret, err);
}

static void import_from(loci_db *db, const char *path, int64_t org, loci_import_result *ret)
{
    loci_import_options o = { .org = org, .keys = true, .door = LOCI_STR("cli") };
    loci_err err = { 0 };

    assert_ok(import_with(db, path, &o, ret, &err), err);
}

static void assert_same_file(const char *a, const char *b)
{
    LOCI_AUTO(loci_buf_done) loci_buf x = { 0 }, y = { 0 };

    fill_read(a, &x);
    fill_read(b, &y);
    assert_true(x.len > 1000);
    assert_int_equal(x.len, y.len);
    assert_memory_equal(x.ptr, y.ptr, x.len);
}

/* A second store on the given engine; freed by second_free. */
static store second(const store *s, loci_engine engine)
{
    store t = *s;

    t.engine = engine;
    if (engine == LOCI_POSTGRES) {
        t.url = pg_new_database();
    } else {
        loci_buf b;
        loci_buf_init(&b, 300);
        loci_buf_printf(&b, "%s/second.db", s->folder);
        t.url = loci_buf_take(&b);
    }
    return t;
}

static void goes_round(void **state)
{
    const store *s = store_of(state);
    loci_engine other = s->engine == LOCI_SQLITE ? LOCI_POSTGRES : LOCI_SQLITE;
    store t = second(s, other);
    loci_import_result first = { 0 }, again = { 0 };

    if (!t.url) t = second(s, LOCI_SQLITE);
    loci_db *from = fill_open(s->url), *to = fill_open(t.url);
    fill_store(from, 1, 7, STEPS);
    export_to(from, fill_path(s, "a.jsonl.gz"), 1, NULL);
    export_to(from, fill_path(s, "plain.jsonl"), 1, NULL);
    assert_same_file(fill_path(s, "a.jsonl.gz"), fill_path(s, "plain.jsonl"));
    import_from(to, fill_path(s, "a.jsonl.gz"), 1, &first);
    assert_true(first.added > STEPS / 2 && first.batches > 1);
    export_to(to, fill_path(s, "b.jsonl"), 1, NULL);
    assert_same_file(fill_path(s, "a.jsonl.gz"), fill_path(s, "b.jsonl"));
    int64_t ver = fill_number(&t, "SELECT ver FROM org WHERE org = 1");
    int64_t tags = fill_number(s, "SELECT count(*) FROM passage_tag");
    assert_true(tags > 0);
    assert_int_equal(fill_number(&t, "SELECT count(*) FROM passage_tag"), tags);
    assert_int_equal(fill_number(&t, "SELECT count(*) FROM block_tag"),
                     fill_number(s, "SELECT count(*) FROM block_tag"));

    import_from(to, fill_path(s, "a.jsonl.gz"), 1, &again);
    assert_int_equal(again.added + again.ended + again.batches, 0);
    assert_int_equal(again.rows, first.rows);
    assert_int_equal(fill_number(&t, "SELECT ver FROM org WHERE org = 1"), ver);
    /* And into the store that it came from. */
    import_from(from, fill_path(s, "b.jsonl"), 1, &again);
    assert_int_equal(again.added + again.ended + again.batches, 0);
    loci_db_close(from);
    loci_db_close(to);
    loci_free(t.url);
}

/* What is derived from versions sees imported rows as new ones. */
static loci_rc count_event(const loci_catchup_source *source, loci_stmt *row, void *arg,
                           loci_err *err)
{
    (void)source;
    (void)row;
    (void)err;
    ++*(int64_t *)arg;
    return LOCI_OK;
}

static void is_caught_up_with(void **state)
{
    const store *s = store_of(state);
    store t = second(s, s->engine);
    loci_db *from = fill_open(s->url), *to = fill_open(t.url);
    int64_t events = 0;
    loci_cursor cursor = { 0 };
    bool reload = false;
    loci_err err = { 0 };

    fill_store(from, 1, 3, 60);
    export_to(from, fill_path(s, "a.jsonl"), 1, NULL);
    import_from(to, fill_path(s, "a.jsonl"), 1, NULL);
    loci_catchup_request r = { .org = 1,
                               .sources = loci_catchup_sources,
                               .source_count = loci_catchup_source_count,
                               .event = count_event,
                               .arg = &events };
    assert_ok(loci_catchup(to, &r, &cursor, &reload, &err), err);
    assert_true(events > 60);
    int64_t before = events;
    r.from = cursor;
    assert_ok(loci_catchup(to, &r, &cursor, &reload, &err), err);
    assert_int_equal(events, before);
    loci_db_close(from);
    loci_db_close(to);
    loci_free(t.url);
}

static loci_rc die_later(const loci_progress *p, void *arg, loci_err *err)
{
    int *left = arg;

    (void)err;
    if (strcmp(p->what, "writing") == 0 && (*left)-- == 0) _exit(0);
    return LOCI_OK;
}

typedef struct victim {
    const char *url, *path;
    int batches;
} victim;

static int import_and_die(void *arg)
{
    victim *v = arg;
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(v->url);
    loci_import_options o = {
        .org = 1, .keys = true, .door = LOCI_STR("cli"), .progress = die_later, .arg = &v->batches
    };
    loci_err err = { 0 };

    (void)import_with(db, v->path, &o, NULL, &err);
    return 1; /* it should not have come to an end */
}

static void is_finished_by_a_second_run(void **state)
{
    const store *s = store_of(state);
    loci_import_result result = { 0 };

    for (int n = 1; n <= 3; n++) {
        store t = second(s, s->engine);
        (void)unlink(t.url);
        loci_db *from = fill_open(s->url);
        if (n == 1) fill_store(from, 1, 11, 1000);
        export_to(from, fill_path(s, "a.jsonl"), 1, NULL);
        loci_db_close(from);
        loci_db_close(fill_open(t.url));
        victim v = { t.url, fill_path(s, "a.jsonl"), n };
        assert_true(store_reap(store_fork(import_and_die, &v)));
        int64_t half = fill_number(&t, "SELECT row FROM org WHERE org = 1");
        assert_true(half > 0);
        loci_db *to = fill_open(t.url);
        import_from(to, fill_path(s, "a.jsonl"), 1, &result);
        assert_true(result.added > 0);
        export_to(to, fill_path(s, "b.jsonl"), 1, NULL);
        assert_same_file(fill_path(s, "a.jsonl"), fill_path(s, "b.jsonl"));
        loci_db_close(to);
        (void)unlink(t.url);
        loci_free(t.url);
        if (s->engine == LOCI_SQLITE) {
            (void)unlink(fill_path(s, "second.db-wal"));
            (void)unlink(fill_path(s, "second.db-shm"));
        }
    }
}

static void brings_a_newer_state(void **state)
{
    const store *s = store_of(state);
    store t = second(s, s->engine);
    loci_db *from = fill_open(s->url), *to = fill_open(t.url);
    loci_import_result result = { 0 };

    fill_store(from, 1, 5, 100);
    export_to(from, fill_path(s, "old.jsonl"), 1, NULL);
    import_from(to, fill_path(s, "old.jsonl"), 1, &result);
    /* Everything that lives ends in the source; the target follows, and an old export changes
     * nothing any more. */
    fill_run(s, "UPDATE message SET ended = 9000000, ended_ver = 1 WHERE ended = "
                "9223372036854775807");
    export_to(from, fill_path(s, "new.jsonl"), 1, NULL);
    import_from(to, fill_path(s, "new.jsonl"), 1, &result);
    assert_true(result.ended > 0);
    assert_int_equal(result.added, 0);
    export_to(to, fill_path(s, "b.jsonl"), 1, NULL);
    assert_same_file(fill_path(s, "new.jsonl"), fill_path(s, "b.jsonl"));
    import_from(to, fill_path(s, "old.jsonl"), 1, &result);
    assert_int_equal(result.added + result.ended + result.batches, 0);
    loci_db_close(from);
    loci_db_close(to);
    loci_free(t.url);
}

static void names_conflicts(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    loci_import_options o = { .org = 1 };
    loci_err err = { 0 };

    fill_store(db, 1, 5, 100);
    export_to(db, fill_path(s, "a.jsonl"), 1, NULL);
    int64_t ver = fill_number(s, "SELECT ver FROM org WHERE org = 1");
    fill_run(s, "UPDATE block SET value = 'another' WHERE rev = 1");
    fill_run(s, "DELETE FROM message");
    assert_int_equal(import_with(db, fill_path(s, "a.jsonl"), &o, NULL, &err), LOCI_ECONFLICT);
    assert_non_null(strstr(err.msg, "block-"));
    assert_non_null(strstr(err.msg, "(value)"));
    assert_int_equal(fill_number(s, "SELECT count(*) FROM message"), 0);
    assert_int_equal(fill_number(s, "SELECT ver FROM org WHERE org = 1"), ver);
}

static void carries_one_agent(void **state)
{
    const store *s = store_of(state);
    store t = second(s, s->engine);
    loci_db *from = fill_open(s->url), *to = fill_open(t.url);
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };
    loci_str first = { NULL, 0 };
    char id[128];
    loci_err err = { 0 };

    fill_store(from, 1, 21, STEPS);
    export_to(from, fill_path(s, "all.jsonl"), 1, NULL);
    fill_read(fill_path(s, "all.jsonl"), &text);
    size_t at = loci_str_find(loci_buf_str(&text), LOCI_STR("{\"table\":\"agent\",\"id\":\""));
    first = loci_str_sub(loci_buf_str(&text), at + 23, 100);
    (void)snprintf(id, sizeof id, "%.*s", (int)loci_str_find(first, LOCI_STR("\"")), first.ptr);
    export_to(from, fill_path(s, "one.jsonl"), 1, id);
    import_from(to, fill_path(s, "one.jsonl"), 1, NULL);
    assert_int_equal(fill_number(&t, "SELECT count(DISTINCT obj) FROM agent"), 1);
    assert_true(fill_number(&t, "SELECT count(*) FROM message") > 0);
    export_to(to, fill_path(s, "back.jsonl"), 1, id);
    /* Authors of shared passages that are not there are not named. */
    loci_import_result result = { 0 };
    import_from(to, fill_path(s, "one.jsonl"), 1, &result);
    assert_int_equal(result.batches, 0);
    import_from(from, fill_path(s, "one.jsonl"), 1, &result);
    assert_int_equal(result.batches, 0);
    /* Nothing of another agent's branches came along. */
    assert_int_equal(fill_number(&t, "SELECT count(*) FROM passage p WHERE p.branch <> 0 AND NOT "
                                     "EXISTS (SELECT 1 FROM branch b WHERE b.obj = p.branch)"),
                     0);
    loci_export_options o = { .org = 1, .agent = LOCI_STR("agent-none"), .replace = true };
    assert_int_equal(loci_export(from, fill_path(s, "x"), &o, NULL, &err), LOCI_ENOTFOUND);
    assert_int_equal(access(fill_path(s, "x"), F_OK), -1);
    loci_db_close(from);
    loci_db_close(to);
    loci_free(t.url);
}

static void carries_organizations(void **state)
{
    const store *s = store_of(state);
    store t = second(s, s->engine);
    loci_db *from = fill_open(s->url), *to = fill_open(t.url);
    loci_import_options one = { .org = 1 };
    loci_import_result result = { 0 };
    loci_err err = { 0 };

    fill_org(from, 5, "org-five");
    fill_store(from, 1, 1, 60);
    fill_store(from, 5, 2, 60);
    export_to(from, fill_path(s, "all.jsonl"), 0, NULL);
    assert_int_equal(import_with(to, fill_path(s, "all.jsonl"), &one, NULL, &err), LOCI_EINVAL);
    assert_int_equal(fill_number(&t, "SELECT count(*) FROM agent"), 0);
    import_from(to, fill_path(s, "all.jsonl"), 0, &result);
    export_to(to, fill_path(s, "b.jsonl"), 0, NULL);
    assert_same_file(fill_path(s, "all.jsonl"), fill_path(s, "b.jsonl"));
    import_from(to, fill_path(s, "all.jsonl"), 0, &result);
    assert_int_equal(result.batches, 0);
    /* One organization goes into another one of the same store. */
    export_to(from, fill_path(s, "five.jsonl"), 5, NULL);
    fill_run(s, "DELETE FROM api_key");
    import_from(from, fill_path(s, "five.jsonl"), 1, &result);
    assert_true(result.added > 30);
    loci_db_close(from);
    loci_db_close(to);
    loci_free(t.url);
}

static void keeps_files_private_and_whole(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    loci_export_options o = { .org = 1 };
    loci_err err = { 0 };
    struct stat st;

    fill_store(db, 1, 1, 30);
    assert_ok(loci_export(db, fill_path(s, "a.gz"), &o, NULL, &err), err);
    assert_int_equal(stat(fill_path(s, "a.gz"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(loci_export(db, fill_path(s, "a.gz"), &o, NULL, &err), LOCI_ECONFLICT);
    o.org = 99;
    assert_int_equal(loci_export(db, fill_path(s, "b.gz"), &o, NULL, &err), LOCI_ENOTFOUND);
    assert_int_equal(access(fill_path(s, "b.gz"), F_OK), -1);
    o.org = 1;
    assert_int_equal(loci_export(db, "/nowhere/at/all", &o, NULL, &err), LOCI_EIO);
}

static void leaves_orphans_out(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };
    loci_export_options o = { .org = 1, .replace = true };
    loci_export_result result = { 0 };
    loci_err err = { 0 };

    fill_store(db, 1, 1, 100);
    int64_t messages = fill_number(s, "SELECT count(*) FROM message");
    fill_run(s, "UPDATE message SET branch = 4242");
    assert_ok(loci_export(db, fill_path(s, "a"), &o, &result, &err), err);
    assert_true(messages > 0);
    assert_int_equal(result.orphans, messages);
    fill_read(fill_path(s, "a"), &text);
    assert_int_equal(loci_str_find(loci_buf_str(&text), LOCI_STR("\"table\":\"message\"")),
                     text.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(goes_round),
        ON_BOTH(is_caught_up_with),
        ON_BOTH(is_finished_by_a_second_run),
        ON_BOTH(brings_a_newer_state),
        ON_BOTH(names_conflicts),
        ON_BOTH(carries_one_agent),
        ON_BOTH(carries_organizations),
        ON_BOTH(keeps_files_private_and_whole),
        ON_BOTH(leaves_orphans_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
