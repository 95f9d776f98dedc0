#include "embed_store.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 200, ROUNDS = 6, DRAINERS = 3 };

typedef struct child {
    const char *url, *model, *other;
    int64_t lease;
    int pipe;
} child;

/* Drain until nothing waits. Says a byte when it begins. */
static int drain_all(void *arg)
{
    const child *c = arg;
    es s;

    es_open(&s, c->url, c->model, c->other);
    if (write(c->pipe, "b", 1) != 1) return 1;
    while (es_ask(&s, ES_QUEUE) > 0) {
        loci_drain_options o = { .lease = c->lease, .most = 40 };
        loci_err err = { 0 };
        loci_rc rc = loci_drain(&s.e, &o, NULL, &err);
        if (rc) {
            (void)fprintf(stderr, "# %s\n", err.msg);
            return 1;
        }
        loci_clock_sleep(LOCI_MS);
    }
    es_close(&s);
    return 0;
}

static pid_t start(child *c, int *ret_pipe)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    c->pipe = ends[1];
    pid_t pid = store_fork(drain_all, c);
    (void)close(ends[1]);
    *ret_pipe = ends[0];
    return pid;
}

/* Killed again and again, at points that differ; whoever comes next takes the work over. */
static void killed_drainers_lose_nothing(void **state)
{
    store *st = store_of(state);
    es s;

    fake_reset();
    es_open(&s, st->url, "m1", NULL);
    es_fill(&s, "message", ROWS, "do not lose");
    es_close(&s);
    fake->delay = 2 * LOCI_MS;
    for (int round = 0; round < ROUNDS; round++) {
        child c = { .url = st->url, .model = "m1", .lease = 50 * LOCI_MS };
        int pipe_end, status = 0;
        char byte;
        pid_t pid = start(&c, &pipe_end);
        assert_int_equal(read(pipe_end, &byte, 1), 1);
        loci_clock_sleep(round * 3 * LOCI_MS + round * round * 211);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        (void)close(pipe_end);
        es_open(&s, st->url, "m1", NULL);
        /* Every row has its vector or its place in the queue. */
        assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), es_ask(&s, ES_QUEUE));
        assert_int_equal(es_ask(&s, ES_VECTORS), ROWS - es_ask(&s, ES_QUEUE));
        es_close(&s);
    }
    fake->delay = 0;
    child last = { .url = st->url, .model = "m1", .lease = 50 * LOCI_MS };
    int pipe_end;
    assert_true(store_reap(start(&last, &pipe_end)));
    (void)close(pipe_end);
    es_open(&s, st->url, "m1", NULL);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    assert_int_equal(es_ask(&s, ES_VECTORS), ROWS);
    es_close(&s);
}

/* Several at once: all is done, and each text was computed once. */
static void drainers_share_the_work(void **state)
{
    store *st = store_of(state);
    pid_t pids[DRAINERS];
    child children[DRAINERS];
    int pipes[DRAINERS];
    bool fine = true;
    es s;

    fake_reset();
    es_open(&s, st->url, "m1", NULL);
    es_fill(&s, "message", ROWS, "share this");
    es_close(&s);
    fake->texts = 0;
    fake->delay = LOCI_MS;
    for (int i = 0; i < DRAINERS; i++) {
        children[i] = (child){ .url = st->url, .model = "m1" };
        pids[i] = start(&children[i], &pipes[i]);
    }
    for (int i = 0; i < DRAINERS; i++) {
        fine = store_reap(pids[i]) && fine;
        (void)close(pipes[i]);
    }
    assert_true(fine);
    assert_int_equal(fake->texts, ROWS);
    es_open(&s, st->url, "m1", NULL);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    assert_int_equal(es_ask(&s, ES_VECTORS), ROWS);
    es_close(&s);
}

/* What somebody has in hand is due to nobody else, until the lease has run out. */
static void a_lease_runs_out(void **state)
{
    store *st = store_of(state);
    child c = { .url = st->url, .model = "m1" };
    int pipe_end, status = 0;
    int64_t now = loci_clock_now();
    es s;

    fake_reset();
    es_open(&s, st->url, "m1", NULL);
    es_fill(&s, "message", 10, "held");
    es_close(&s);
    fake->delay = 60 * LOCI_SECOND; /* the child is killed inside */
    pid_t pid = start(&c, &pipe_end);
    while (!fake->calls) loci_clock_sleep(LOCI_MS);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)close(pipe_end);
    fake->delay = 0;
    es_open(&s, st->url, "m1", NULL);
    assert_int_equal(es_drain(&s, now + LOCI_DRAIN_LEASE / 2).taken, 0);
    assert_int_equal(es_pending(&s).waiting, 10);
    assert_int_equal(es_drain(&s, now + 20 * LOCI_DRAIN_LEASE).done, 10);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    es_close(&s);
}

/* A process configured otherwise uses the stored model if it can, else it queues and leaves the
 * queue alone. Nothing is embedded twice, and there is one model. */
static void two_configurations_do_not_fight(void **state)
{
    store *st = store_of(state);
    loci_embed_service *service = NULL;
    loci_err err = { 0 };
    char model[64];
    es first, able, unable;

    fake_reset();
    es_open(&first, st->url, "m1", NULL);
    es_open(&able, st->url, "m2", "m1");
    es_open(&unable, st->url, "m2", NULL);
    es_fill(&first, "passage", 5, "first");
    es_fill(&able, "passage", 5, "able");
    assert_int_equal(fake->texts, 10);
    es_fill(&unable, "passage", 5, "unable");
    assert_int_equal(fake->texts, 10);
    assert_string_equal(es_model(&first, model), "m1");
    assert_int_equal(es_ask(&first, ES_VECTORS), 10);
    assert_int_equal(es_pending(&unable).waiting, 5);
    loci_drain_result r = es_drain(&unable, 0);
    assert_int_equal(r.degraded, 1);
    assert_int_equal(r.taken, 0);
    assert_int_equal(
        loci_model_service(unable.e.db, unable.e.models, LOCI_DEFAULT_ORG, &service, &err),
        LOCI_ENOTFOUND);
    assert_non_null(strstr(err.msg, "m1"));
    assert_int_equal(es_drain(&able, 0).done, 5);
    assert_int_equal(es_ask(&first, ES_MODELS), 1);
    assert_int_equal(es_ask(&first, ES_ROWS_WITHOUT), 0);
    es_close(&first);
    es_close(&able);
    es_close(&unable);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(killed_drainers_lose_nothing),
        ON_BOTH(drainers_share_the_work),
        ON_BOTH(a_lease_runs_out),
        ON_BOTH(two_configurations_do_not_fight),
    };
    return cmocka_run_group_tests_name("embed/drain", tests, fake_setup, NULL);
}
