#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "db/write_group.h"
#include "memory.h"
#include "pg.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static loci_write_request request_of(passage *p)
{
    return (loci_write_request){ .org = LOCI_DEFAULT_ORG,
                                 .run = memory_add,
                                 .arg = p,
                                 .who = LOCI_STR("user-1"),
                                 .door = LOCI_STR("test") };
}

static void stamps_and_attributes(void **state)
{
    memory m = memory_open(store_of(state)->url);
    passage one = { .id = "p1", .text = "first" }, two = { .id = "p2", .text = "second" };
    loci_write_result r1, r2;
    loci_err err = { 0 };

    assert_int_equal(memory_ask(m.db, MEMORY_DEFAULTS), 1);
    assert_ok(memory_write(&m, &one, &r1, &err), err);
    assert_ok(memory_write(&m, &two, &r2, &err), err);
    assert_int_equal(r1.ver, 1);
    assert_int_equal(r2.ver, 2);
    assert_true(r2.born > r1.born);
    assert_true(two.row > one.row);
    assert_int_equal(memory_ask(m.db, MEMORY_WHO), 2);
    memory_close(&m);
}

/* The clock stands still, goes back by a year, and comes again. */
static void time_rises_whatever_the_clock_does(void **state)
{
    static const int64_t clock[] = { 5000000, 5000000, 1, 4999999, 6000000, 6000000 };
    static const int64_t want[] = { 5000000, 5000001, 5000002, 5000003, 6000000, 6000001 };
    memory m = memory_open(store_of(state)->url);
    loci_err err = { 0 };

    for (size_t i = 0; i < LOCI_COUNT(clock); i++) {
        char id[8];
        passage p = { .id = id, .text = "x" };
        loci_write_request request = request_of(&p);
        loci_write_result result;
        (void)snprintf(id, sizeof id, "p%zu", i);
        request.now = clock[i];
        assert_ok(loci_write(m.writer, &request, NULL, &result, &err), err);
        assert_int_equal(result.born, want[i]);
    }
    assert_int_equal(memory_ask(m.db, MEMORY_BORN_FALLS), 0);
    memory_close(&m);
}

static void repeats_get_the_first_answer(void **state)
{
    memory m = memory_open(store_of(state)->url);
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    passage p = { .id = "p1", .text = "once" };
    loci_write_request request = request_of(&p);
    loci_write_result first, again;
    loci_err err = { 0 };

    request.key = LOCI_STR("key-1");
    request.input_hash = LOCI_STR("hash-of-input");
    request.now = 1000;
    assert_ok(loci_write(m.writer, &request, arena, &first, &err), err);
    assert_false(first.repeated);
    assert_str(first.answer, "p1");

    request.now = 2000;
    assert_ok(loci_write(m.writer, &request, arena, &again, &err), err);
    assert_true(again.repeated);
    assert_str(again.answer, "p1");
    assert_int_equal(again.ver, first.ver);
    assert_int_equal(again.born, first.born);
    assert_int_equal(p.runs, 1);

    request.input_hash = LOCI_STR("hash-of-other");
    assert_int_equal(loci_write(m.writer, &request, arena, &again, &err), LOCI_ECONFLICT);
    assert_non_null(strstr(err.msg, "key-1"));

    /* After a day the key is free again. */
    passage later = { .id = "p2", .text = "another day" };
    request.arg = &later;
    request.now = 1000 + LOCI_WRITE_DAY;
    assert_ok(loci_write(m.writer, &request, arena, &again, &err), err);
    assert_false(again.repeated);
    assert_int_equal(memory_ask(m.db, MEMORY_PASSAGES), 2);
    memory_close(&m);
}

static loci_rc long_answer(loci_change *change, void *arg, loci_err *err)
{
    (void)err;
    for (size_t i = 0; i < *(size_t *)arg; i++) loci_buf_add_char(change->answer, 'x');
    return LOCI_OK;
}

/* A secret and a long answer are not kept; the repeat does nothing and says so. */
static void some_answers_are_not_kept(void **state)
{
    static const struct {
        const char *key;
        size_t len;
        bool secret;
        loci_rc want;
    } cases[] = {
        { "short", 10, false, LOCI_OK },
        { "longest", LOCI_WRITE_KEPT, false, LOCI_OK },
        { "longer", LOCI_WRITE_KEPT + 1, false, LOCI_ECONFLICT },
        { "secret", 10, true, LOCI_ECONFLICT },
    };
    memory m = memory_open(store_of(state)->url);

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
        size_t len = cases[i].len;
        loci_write_request request = request_of(NULL);
        loci_write_result result;
        loci_err err = { 0 };
        request.run = long_answer;
        request.arg = &len;
        request.key = loci_str_from(cases[i].key);
        request.input_hash = LOCI_STR("h");
        request.secret = cases[i].secret;
        assert_ok(loci_write(m.writer, &request, arena, &result, &err), err);
        assert_int_equal(result.answer.len, len);
        assert_int_equal(loci_write(m.writer, &request, arena, &result, &err), cases[i].want);
    }
    assert_int_equal(memory_ask(m.db, MEMORY_VERSIONS), LOCI_COUNT(cases));
    memory_close(&m);
}

static void refuses_bad_requests(void **state)
{
    memory m = memory_open(store_of(state)->url);
    passage p = { .id = "p1", .text = "x" };
    char long_key[LOCI_WRITE_KEY + 2];
    loci_write_request good = request_of(&p), bad;
    loci_err err = { 0 };

    memset(long_key, 'k', sizeof long_key);
    bad = good;
    bad.door = (loci_str){ NULL, 0 };
    assert_int_equal(loci_write(m.writer, &bad, NULL, NULL, &err), LOCI_EINVAL);
    bad = good;
    bad.key = (loci_str){ long_key, LOCI_WRITE_KEY + 1 };
    assert_int_equal(loci_write(m.writer, &bad, NULL, NULL, &err), LOCI_ELIMIT);
    bad = good;
    bad.key = LOCI_STR("no hash");
    assert_int_equal(loci_write(m.writer, &bad, NULL, NULL, &err), LOCI_EINVAL);
    bad.key = LOCI_STR("\xff");
    bad.input_hash = LOCI_STR("h");
    assert_int_equal(loci_write(m.writer, &bad, NULL, NULL, &err), LOCI_EINVAL);
    bad = good;
    bad.org = 99;
    assert_int_equal(loci_write(m.writer, &bad, NULL, NULL, &err), LOCI_ENOTFOUND);
    assert_int_equal(p.runs, 0);
    assert_ok(loci_write(m.writer, &good, NULL, NULL, &err), err);
    memory_close(&m);
}

/* Five writes in one commit, two of which fail in different ways, and a repeat of a neighbour. */
static void a_group_is_one_commit_and_many_outcomes(void **state)
{
    memory m = memory_open(store_of(state)->url);
    passage p[] = {
        { .id = "p0", .text = "fine" }, { .id = "p1", .text = "refused", .fail = LOCI_EINVAL },
        { .id = "p2", .text = "fine" }, { .id = "p3", .text = "breaks a key", .duplicate = true },
        { .id = "p4", .text = "fine" }, { .id = "p5", .text = "a repeat" }
    };
    loci_write_request requests[LOCI_COUNT(p)];
    loci_write_item items[LOCI_COUNT(p)] = { 0 }, *list[LOCI_COUNT(p)];
    static const loci_rc want[] = {
        LOCI_OK, LOCI_EINVAL, LOCI_OK, LOCI_ECONFLICT, LOCI_OK, LOCI_OK
    };

    for (size_t i = 0; i < LOCI_COUNT(p); i++) {
        requests[i] = request_of(&p[i]);
        items[i].request = &requests[i];
        loci_buf_init(&items[i].answer, 1000);
        list[i] = &items[i];
    }
    requests[2].key = requests[5].key = LOCI_STR("same");
    requests[2].input_hash = requests[5].input_hash = LOCI_STR("same");
    loci_tx *tx = NULL;
    loci_write_group(m.db, list, LOCI_COUNT(p), &tx);
    loci_tx_end(tx);

    for (size_t i = 0; i < LOCI_COUNT(p); i++) assert_int_equal(items[i].rc, want[i]);
    assert_string_equal(items[1].err.msg, "p1 was refused");
    assert_int_equal(items[0].ver, 1);
    assert_int_equal(items[2].ver, 2);
    assert_int_equal(items[4].ver, 3);
    assert_true(items[4].born > items[2].born && items[2].born > items[0].born);
    assert_true(items[5].repeated && items[5].ver == 2 && p[5].runs == 0);
    assert_str(loci_buf_str(&items[5].answer), "p2");
    for (size_t i = 0; i < LOCI_COUNT(p); i++) loci_buf_done(&items[i].answer);

    assert_int_equal(memory_ask(m.db, MEMORY_PASSAGES), 3);
    assert_int_equal(memory_ask(m.db, MEMORY_VERSIONS), 3);
    assert_int_equal(memory_ask(m.db, MEMORY_BORN_FALLS), 0);
    memory_close(&m);
}

enum { THREADS = 16, EACH = 20 };

typedef struct job {
    memory *m;
    int number, wrong;
} job;

static void *write_some(void *arg)
{
    job *j = arg;

    for (int i = 0; i < EACH; i++) {
        char id[32];
        bool refuse = i % 5 == 3;
        passage p = { .id = id, .text = "text", .fail = refuse ? LOCI_EINVAL : LOCI_OK };
        loci_err err = { 0 };
        (void)snprintf(id, sizeof id, "p%d-%d", j->number, i);
        loci_rc rc = memory_write(j->m, &p, NULL, &err);
        if (rc != (refuse ? LOCI_EINVAL : LOCI_OK)) j->wrong++;
        if (refuse && !strstr(err.msg, id)) j->wrong++; /* somebody else's outcome */
    }
    return NULL;
}

static void threads_share_commits(void **state)
{
    memory m = memory_open(store_of(state)->url);
    pthread_t threads[THREADS];
    job jobs[THREADS];

    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){ .m = &m, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, write_some, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) assert_int_equal(jobs[i].wrong, 0);
    assert_int_equal(memory_ask(m.db, MEMORY_PASSAGES), THREADS * EACH * 4 / 5);
    assert_int_equal(memory_ask(m.db, MEMORY_VERSIONS), THREADS * EACH * 4 / 5);
    assert_int_equal(memory_ask(m.db, MEMORY_VERSION_GAPS), 0);
    assert_int_equal(memory_ask(m.db, MEMORY_BORN_FALLS), 0);
    memory_close(&m);
}

static loci_rc tell_outbox(loci_change *change, void *arg, loci_err *err)
{
    loci_rc rc = loci_change_outbox(change, "upsert", 7, LOCI_STR("{}"), err);

    return rc ? rc : *(loci_rc *)arg;
}

static void the_outbox_shares_the_fate(void **state)
{
    memory m = memory_open(store_of(state)->url);
    loci_rc outcome = LOCI_OK;
    loci_write_request request = request_of(NULL);
    loci_err err = { 0 };

    request.run = tell_outbox;
    request.arg = &outcome;
    assert_ok(loci_write(m.writer, &request, NULL, NULL, &err), err);
    outcome = LOCI_EINVAL;
    assert_int_equal(loci_write(m.writer, &request, NULL, NULL, &err), LOCI_EINVAL);
    assert_int_equal(memory_ask(m.db, MEMORY_OUTBOX), 1);
    memory_close(&m);
}

static void old_versions_and_keys_go(void **state)
{
    memory m = memory_open(store_of(state)->url);
    passage one = { .id = "p1", .text = "x" }, two = { .id = "p2", .text = "y" };
    loci_write_request request = request_of(&one);
    loci_err err = { 0 };

    request.key = request.input_hash = LOCI_STR("k");
    request.now = 1000;
    assert_ok(loci_write(m.writer, &request, NULL, NULL, &err), err);
    assert_ok(memory_do(m.db, MEMORY_JUMP, &err), err);
    request = request_of(&two);
    request.now = 1000 + LOCI_WRITE_DAY;
    assert_ok(loci_write(m.writer, &request, NULL, NULL, &err), err);
    assert_int_equal(memory_ask(m.db, MEMORY_OLDEST), 100352);
    assert_int_equal(memory_ask(m.db, MEMORY_KEYS), 0);
    memory_close(&m);
}

/* Another process upgrades the store while this one runs. */
static void notices_an_upgrade_by_another(void **state)
{
    static const char *const later[] = { "", "CREATE TABLE later (n {int})" };
    store *s = store_of(state);
    memory m = memory_open(s->url);
    loci_db_room core = loci_schema_room;
    const loci_db_room *const newer[] = { &core, NULL };
    loci_db_options options = { .rooms = newer };
    passage p = { .id = "p1", .text = "x" };
    loci_cursor head;
    loci_db *db = NULL;
    loci_err err = { 0 };

    core.migrations = later;
    core.migration_count = 2;
    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    loci_db_close(db);
    assert_int_equal(memory_write(&m, &p, NULL, &err), LOCI_ECONFLICT);
    assert_non_null(strstr(err.msg, "newer loci"));
    assert_int_equal(loci_catchup_head(m.db, LOCI_DEFAULT_ORG, &head, &err), LOCI_ECONFLICT);
    assert_int_equal(memory_ask(m.db, MEMORY_PASSAGES), 0);
    memory_close(&m);
}

/* The server stands still while commits are under way, for less than the writer's patience: every
 * write is told its outcome in the end, and each is there exactly once. */
static void *thaw(void *arg)
{
    (void)arg;
    loci_clock_sleep(1500 * LOCI_MS);
    pg_signal(SIGCONT);
    return NULL;
}

static loci_rc freeze_after(loci_change *change, void *arg, loci_err *err)
{
    passage *p = arg;
    bool first = p->runs == 0;
    loci_rc rc = memory_add(change, arg, err);

    if (first) pg_signal(SIGSTOP);
    return rc;
}

static void settles_an_unknown_commit(void **state)
{
    static const loci_db_room *const rooms[] = { &loci_schema_room, &loci_write_room,
                                                 &loci_catchup_room, &memory_room, NULL };
    store *s = store_of(state);
    loci_db_options options = { .rooms = rooms, .deadline = 1 * LOCI_SECOND };
    LOCI_AUTO(loci_db_closep) loci_db *db = NULL;
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;
    passage p = { .id = "p1", .text = "frozen" };
    loci_write_request request = request_of(&p);
    loci_write_result result;
    pthread_t thread;
    loci_err err = { 0 };

    assert_ok(loci_db_open(s->url, &options, &db, &err), err);
    assert_ok(loci_writer_new(db, &writer, &err), err);
    request.run = freeze_after;
    assert_int_equal(pthread_create(&thread, NULL, thaw, NULL), 0);
    loci_rc rc = loci_write(writer, &request, NULL, &result, &err);
    (void)pthread_join(thread, NULL);
    assert_ok(rc, err);
    assert_int_equal(memory_ask(db, MEMORY_PASSAGES), 1);
    assert_int_equal(memory_ask(db, MEMORY_VERSIONS), 1);
}

static loci_rc open_and_write(const char *url, passage *p, loci_err *err)
{
    static const loci_db_room *const rooms[] = { &loci_schema_room, &loci_write_room,
                                                 &loci_catchup_room, &memory_room, NULL };
    loci_db_options options = { .rooms = rooms, .connections = 2 };
    LOCI_AUTO(loci_db_closep) loci_db *db = NULL;
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;
    loci_write_request request = request_of(p);
    loci_rc rc = loci_db_open(url, &options, &db, err);

    if (!rc) rc = loci_writer_new(db, &writer, err);
    return rc ? rc : loci_write(writer, &request, NULL, NULL, err);
}

/* Allocation n fails, and all after it: an error, no leak, no crash, and a write that failed is not
 * there. */
static void survives_without_memory(void **state)
{
    store *s = store_of(state);
    loci_rc rc = LOCI_ENOMEM;
    int64_t stored = 0;
    loci_err err = { 0 };

    memory first = memory_open(s->url);
    memory_close(&first);
    for (unsigned long n = 1; rc && n < 400; n += s->engine == LOCI_SQLITE ? 1 : 5) {
        char id[32];
        passage p = { .id = id, .text = "x" };
        (void)snprintf(id, sizeof id, "p%lu", n);
        (void)loci_alloc_fail_at(n);
        rc = open_and_write(s->url, &p, &err);
        (void)loci_alloc_fail_at(0);
        if (rc)
            assert_true(strlen(err.msg) > 0);
        else
            stored++;
    }
    assert_ok(rc, err);
    memory m = memory_open(s->url);
    assert_int_equal(memory_ask(m.db, MEMORY_PASSAGES), stored);
    memory_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(stamps_and_attributes),        ON_BOTH(time_rises_whatever_the_clock_does),
        ON_BOTH(repeats_get_the_first_answer), ON_BOTH(some_answers_are_not_kept),
        ON_BOTH(refuses_bad_requests),         ON_BOTH(a_group_is_one_commit_and_many_outcomes),
        ON_BOTH(threads_share_commits),        ON_BOTH(the_outbox_shares_the_fate),
        ON_BOTH(old_versions_and_keys_go),     ON_BOTH(notices_an_upgrade_by_another),
        ON_BOTH(survives_without_memory),      ON_POSTGRES(settles_an_unknown_commit),
    };
    return cmocka_run_group_tests_name("db/write", tests, NULL, NULL);
}
