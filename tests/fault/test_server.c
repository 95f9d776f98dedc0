#include "base/clock.h"
#include "load.h"
#include "pg.h"
#include "proxy.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The server goes away: the connection ends or falls silent at each message in turn; a backend, and
 * the whole server, is killed again and again under load. A write is told an outcome in time, is
 * done once or not at all, and what was acknowledged is there. */

enum { PATIENCE = 900 }; /* seconds until a test that hangs is ended by a signal */

typedef struct net {
    memory m;
    char url[256];
    unsigned round;
    int hits, failed;
    proxy_break how;
} net;

static int64_t messages; /* of one load */

static void open_through_proxy(net *t, const store *s, int64_t deadline)
{
    const char *folder = proxy_start(pg_folder());
    loci_str url = loci_str_from(s->url), base = { NULL, 0 };
    loci_db_options options = load_options(LOCI_DURABLE_FULL);
    loci_err err = { 0 };

    options.deadline = deadline;
    assert_true(loci_str_cut(&url, '?', &base));
    (void)snprintf(t->url, sizeof t->url, "%.*s?host=%s&user=loci", LOCI_ARG(base), folder);
    proxy_plan(PROXY_PASS, 0);
    assert_ok(memory_try_open(t->url, options, &t->m, &err), err);
}

static load new_load(net *t)
{
    return (load){ .writers = 2, .acks = -1, .go_on = true, .round = t->round++ };
}

/* What was acknowledged is told; the rest must have a clear error. */
static void take_outcomes(net *t, load *l)
{
    for (unsigned i = 0; i < l->writers; i++)
        for (unsigned n = 0; n < LOAD_EACH; n++) {
            const load_outcome *o = &l->outcome[i][n];
            l->told[i][n] = o->rc == LOCI_OK;
            if (!o->rc) continue;
            t->failed++;
            if ((o->rc != LOCI_EUNAVAILABLE && o->rc != LOCI_EBUSY) || strlen(o->msg) < 20)
                fail_msg("not clear: %s: %s", loci_rc_name(o->rc), o->msg);
        }
}

static void try_at(int64_t n, void *arg)
{
    net *t = arg;
    load l = new_load(t);
    loci_err err = { 0 };

    print_message("# at message %d\n", (int)n);
    proxy_plan(t->how, n);
    (void)!load_run(&l, &t->m, &err);
    t->hits += proxy_was_hit();
    proxy_plan(PROXY_PASS, 0);
    take_outcomes(t, &l);
    load_check(&l, t->m.db, true);
}

static void count_messages(net *t)
{
    load l = new_load(t), again = new_load(t);
    loci_err err = { 0 };

    assert_ok(load_run(&l, &t->m, &err), err); /* everything is prepared */
    proxy_plan(PROXY_PASS, 0);
    assert_ok(load_run(&again, &t->m, &err), err);
    messages = proxy_count();
    assert_true(messages > 10);
}

static void break_everywhere(void **state, proxy_break how, int64_t deadline, int64_t sample)
{
    store *s = store_of(state);
    net t = { .how = how };

    (void)alarm(PATIENCE);
    open_through_proxy(&t, s, deadline);
    count_messages(&t);
    load_points(messages, sample, try_at, &t);
    assert_true(t.hits > 0);
    memory_close(&t.m);
    proxy_stop();
    (void)alarm(0);
    /* A lost connection is no reason to fail: who retries, or looks for the tag, gets it done. */
    if (how < PROXY_FREEZE) assert_int_equal(t.failed, 0);
}

static void cut_before_a_message(void **state)
{
    break_everywhere(state, PROXY_CUT_BEFORE, 5 * LOCI_SECOND, 12);
}

static void cut_within_a_message(void **state)
{
    break_everywhere(state, PROXY_CUT_WITHIN, 5 * LOCI_SECOND, 12);
}

static void cut_after_a_message(void **state)
{
    break_everywhere(state, PROXY_CUT_AFTER, 5 * LOCI_SECOND, 20);
}

static void frozen_at_a_message(void **state)
{
    break_everywhere(state, PROXY_FREEZE, 300 * LOCI_MS, 4);
}

static void silent_after_a_message(void **state)
{
    break_everywhere(state, PROXY_MUTE, 300 * LOCI_MS, 4);
}

/* ---- killed ---- */

typedef struct worker {
    memory *m;
    load *l;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    loci_err err = { 0 };

    (void)!load_run(w->l, w->m, &err);
    return NULL;
}

static void kill_a_backend(const char *url)
{
    static const char find[] = "SELECT pid FROM pg_stat_activity WHERE application_name = 'loci' "
                               "AND xact_start IS NOT NULL AND datname = current_database() "
                               "ORDER BY backend_start DESC LIMIT 1";
    int64_t pid = -1;

    for (int i = 0; i < 100 && pid < 2; i++) pid = pg_ask(url, find);
    if (pid > 1) (void)kill((pid_t)pid, SIGKILL);
}

static void kill_the_server(const char *url)
{
    (void)url;
    pg_signal(SIGKILL);
    assert_true(pg_restart());
}

/* Writes are under way; the server dies; who failed asks again with the same key. */
static void kill_under_load(void **state, void (*kill_it)(const char *), unsigned rounds)
{
    store *s = store_of(state);
    memory m = memory_open(s->url);

    (void)alarm(PATIENCE);
    for (unsigned round = 0; round < rounds; round++) {
        load l = { .writers = LOAD_WRITERS, .acks = -1, .go_on = true, .keys = true };
        worker w = { .m = &m, .l = &l };
        pthread_t thread;
        loci_err err = { 0 };
        loci_rc rc = LOCI_EUNAVAILABLE;
        l.round = round;
        assert_int_equal(pthread_create(&thread, NULL, work, &w), 0);
        kill_it(s->url);
        (void)pthread_join(thread, NULL);
        for (int i = 0; rc && i < 100; i++) {
            l.again = true;
            rc = load_run(&l, &m, &err);
            if (rc) loci_clock_sleep(100 * LOCI_MS);
        }
        assert_ok(rc, err);
        memset(l.told, 1, sizeof l.told);
        load_check(&l, m.db, true);
    }
    memory_close(&m);
    (void)alarm(0);
}

static void a_backend_is_killed(void **state)
{
    kill_under_load(state, kill_a_backend, load_every() ? 20 : 2);
}

static void the_server_is_killed(void **state)
{
    kill_under_load(state, kill_the_server, load_every() ? 10 : 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_POSTGRES(cut_before_a_message),   ON_POSTGRES(cut_within_a_message),
        ON_POSTGRES(cut_after_a_message),    ON_POSTGRES(frozen_at_a_message),
        ON_POSTGRES(silent_after_a_message), ON_POSTGRES(a_backend_is_killed),
        ON_POSTGRES(the_server_is_killed),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("fault/server", tests, NULL, NULL);
}
