#include "embed_store.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 300 };

/* Rows of both tables with vectors of m1, opened for m2. */
static void fill(es *s, const char *url)
{
    fake_reset();
    es_open(s, url, "m1", NULL);
    es_fill(s, "passage", ROWS / 2, "passage");
    es_fill(s, "message", ROWS / 2, "message");
    (void)es_drain(s, 0);
    assert_int_equal(es_ask(s, ES_ROWS_WITHOUT), 0);
    es_close(s);
    es_open(s, url, "m2", NULL);
    fake->texts = 0;
}

typedef struct watch {
    int calls, stop_at;
    int64_t done, total;
    bool backwards;
} watch;

static bool see(void *arg, int64_t done, int64_t total)
{
    watch *w = arg;

    w->backwards |= done < w->done;
    w->done = done;
    w->total = total;
    return ++w->calls != w->stop_at;
}

static void finish(es *s, watch *w)
{
    loci_reindex_options o = { .org = LOCI_DEFAULT_ORG, .progress = see, .arg = w };
    loci_reindex_result result = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_reindex(&s->e, &o, &result, &err), err);
    assert_int_equal(result.finished, w->stop_at == 0);
    assert_false(w->backwards);
}

static void sweep(es *s, int64_t dropped)
{
    loci_vectors_sweeper sweeper = { .writer = s->e.writer,
                                     .org = LOCI_DEFAULT_ORG,
                                     .sources = loci_text_sources,
                                     .source_count = loci_text_source_count,
                                     .texts = 50 };
    loci_vectors_sweep sw = { 0 };
    loci_err err = { 0 };

    for (int i = 0; !sw.done; i++) {
        assert_true(i < 100);
        assert_ok(loci_vectors_sweep_step(s->e.db, &sweeper, &sw, &err), err);
    }
    assert_int_equal(sw.dropped, dropped);
}

/* Interrupted: the model is the new one, what has not moved counts as waiting; called again it goes
 * on where it was, and no text is computed twice. Then the old vectors go. */
static void a_change_can_be_interrupted(void **state)
{
    watch stop = { .stop_at = 2 }, go = { 0 };
    char model[64];
    es s;

    fill(&s, store_of(state)->url);
    finish(&s, &stop);
    assert_string_equal(es_model(&s, model), "m2");
    int64_t left = es_ask(&s, ES_ROWS_WITHOUT);
    assert_in_range(left, 1, ROWS - 1);
    assert_int_equal(es_pending(&s).moving, left);
    assert_int_equal(fake->texts, ROWS - left);
    finish(&s, &go);
    assert_int_equal(go.done, go.total);
    assert_int_equal(fake->texts, ROWS);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    assert_int_equal(es_ask(&s, ES_QUEUE), 0);
    assert_int_equal(es_ask(&s, ES_MODELS), 2);
    sweep(&s, ROWS);
    assert_int_equal(es_ask(&s, ES_MODELS), 1);
    assert_int_equal(es_ask(&s, ES_VECTORS), ROWS);
    sweep(&s, 0);
    es_close(&s);
}

/* Whoever drains carries it on; there and back costs nothing while the old vectors are there. */
static void a_drain_carries_it_on(void **state)
{
    store *st = store_of(state);
    loci_err err = { 0 };
    watch go = { 0 };
    es s, old;

    fill(&s, st->url);
    assert_ok(loci_reindex_begin(&s.e, LOCI_DEFAULT_ORG, &err), err);
    assert_ok(loci_reindex_begin(&s.e, LOCI_DEFAULT_ORG, &err), err);
    assert_int_equal(es_ask(&s, ES_QUEUE), 1);
    (void)es_put(&s, "passage", "written meanwhile");
    (void)es_put(&s, "message", "said meanwhile");
    (void)es_drain(&s, 0);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    assert_int_equal(es_ask(&s, ES_QUEUE), 0);
    assert_int_equal(fake->texts, ROWS + 2);
    es_open(&old, st->url, "m1", NULL);
    finish(&old, &go);
    assert_int_equal(fake->texts, ROWS + 4);
    assert_int_equal(es_ask(&old, ES_ROWS_WITHOUT), 0);
    es_close(&old);
    es_close(&s);
}

/* The embedder goes away: an error, nothing lost; a text that it refuses is left to the queue. */
static void a_failing_embedder_stops_it(void **state)
{
    loci_reindex_options o = { .org = LOCI_DEFAULT_ORG };
    loci_reindex_result result = { 0 };
    loci_drain_options all = { .now = loci_clock_now() + 3600 * (int64_t)LOCI_SECOND };
    loci_err err = { 0 };
    es s;

    fill(&s, store_of(state)->url);
    (void)es_put(&s, "message", "some " FAKE_POISON);
    fake->fail = LOCI_EUNAVAILABLE;
    assert_int_equal(loci_reindex(&s.e, &o, &result, &err), LOCI_EUNAVAILABLE);
    assert_false(result.finished);
    fake->fail = LOCI_OK;
    assert_ok(loci_drain(&s.e, &all, NULL, &err), err);
    assert_ok(loci_reindex(&s.e, &o, &result, &err), err);
    assert_true(result.finished);
    assert_int_equal(result.failing, 1);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 1);
    es_close(&s);
}

static int reindex_in_child(void *arg)
{
    loci_reindex_options o = { .org = LOCI_DEFAULT_ORG };
    es s;

    es_open(&s, arg, "m2", NULL);
    return loci_reindex(&s.e, &o, NULL, NULL) ? 1 : 0;
}

/* Killed in the middle, several times. */
static void a_killed_change_goes_on(void **state)
{
    store *st = store_of(state);
    loci_drain_options later = { .now = loci_clock_now() + 3600 * (int64_t)LOCI_SECOND };
    loci_err err = { 0 };
    es s;

    fill(&s, st->url);
    es_close(&s);
    for (int i = 1; i <= 3; i++) {
        int status = 0, before = fake->texts;
        fake->delay = 5 * LOCI_MS;
        pid_t pid = store_fork(reindex_in_child, st->url);
        for (int n = 0; n < 2000 && fake->texts < before + 50; n++) loci_clock_sleep(LOCI_MS);
        loci_clock_sleep(i * 2 * LOCI_MS);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        fake->delay = 0;
        es_open(&s, st->url, "m2", NULL);
        loci_queue_pending p = es_pending(&s);
        assert_true(p.moving >= es_ask(&s, ES_ROWS_WITHOUT));
        /* Take the dead one's lease over, and one step. */
        later.most = 1;
        assert_ok(loci_drain(&s.e, &later, NULL, &err), err);
        later.now += 3600 * (int64_t)LOCI_SECOND;
        es_close(&s);
    }
    es_open(&s, st->url, "m2", NULL);
    later.most = 0;
    assert_ok(loci_drain(&s.e, &later, NULL, &err), err);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    assert_int_equal(es_ask(&s, ES_QUEUE), 0);
    es_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_change_can_be_interrupted),
        ON_BOTH(a_drain_carries_it_on),
        ON_BOTH(a_failing_embedder_stops_it),
        ON_BOTH(a_killed_change_goes_on),
    };
    return cmocka_run_group_tests_name("embed/reindex", tests, fake_setup, NULL);
}
