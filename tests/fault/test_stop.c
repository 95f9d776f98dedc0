#include "disk.h"
#include "load.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The machine or the process stops at one call to the disk, at each in turn: from the first of a
 * new store over the writes of several threads and the copying back of the WAL to the closing. */

typedef struct stop {
    char url[128];
    disk_plan plan;
    loci_durability durability;
    int acks, count; /* pipes */
} stop;

static int live(void *arg)
{
    const stop *s = arg;
    load l = { .writers = LOAD_WRITERS, .acks = s->acks };
    memory m = { 0 };
    loci_err err = { 0 };

    disk_install(&s->plan);
    loci_rc rc = memory_try_open(s->url, load_options(s->durability), &m, &err);
    if (!rc) rc = load_run(&l, &m, &err);
    if (m.db) memory_close(&m);
    int64_t count = disk_count();
    if (rc) (void)fprintf(stderr, "# %s\n", err.msg);
    return rc || write(s->count, &count, sizeof count) != sizeof count;
}

/* Run until the stop. True if it came, else *ret_count is how many calls there were. */
static bool live_and_stop(stop *s, load *ret_load, int64_t *ret_count)
{
    int acks[2], count[2], status = -1;

    assert_int_equal(pipe(acks), 0);
    assert_int_equal(pipe(count), 0);
    s->acks = acks[1];
    s->count = count[1];
    pid_t child = store_fork(live, s);
    (void)close(acks[1]);
    (void)close(count[1]);
    load_read_acks(ret_load, acks[0]);
    bool done = read(count[0], ret_count, sizeof *ret_count) == sizeof *ret_count;
    (void)close(acks[0]);
    (void)close(count[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (done)
        assert_int_equal(status, 0);
    else if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        fail_msg("the child ended with status %x", (unsigned)status);
    return !done;
}

/* Opened again on the real disk, the store holds what it promised, and goes on. */
static void check_after(const stop *s, const load *l)
{
    bool all = s->durability == LOCI_DURABLE_FULL || s->plan.harm != DISK_POWER;
    passage p = { .id = "after", .text = "x" };
    memory m = { 0 };
    loci_err err = { 0 };

    assert_ok(memory_try_open(s->url, load_options(LOCI_DURABLE_NORMAL), &m, &err), err);
    load_check(l, m.db, all);
    assert_ok(memory_write(&m, &p, NULL, &err), err);
    memory_close(&m);
    /* And once more: what went wrong before must not have been carried on. */
    assert_ok(memory_try_open(s->url, load_options(LOCI_DURABLE_NORMAL), &m, &err), err);
    memory_close(&m);
    load_check_file(s->url);
}

static void forget_store(const char *url)
{
    static const char *const names[] = { "", "-wal", "-shm", "-journal", "-turn" };
    char path[160];

    for (size_t i = 0; i < LOCI_COUNT(names); i++) {
        (void)snprintf(path, sizeof path, "%s%s", url, names[i]);
        (void)unlink(path);
    }
}

static int tried, stopped;

static void try_once(stop *s, int64_t n, unsigned luck)
{
    load l = { 0 };
    int64_t count = 0;

    forget_store(s->url);
    s->plan.at = n;
    s->plan.seed = (unsigned)n * 7919 + luck * 104729 + load_seed();
    print_message("# at call %d\n", (int)n);
    stopped += live_and_stop(s, &l, &count);
    tried++;
    check_after(s, &l);
}

/* What arrives when power goes is a matter of luck, so each point is tried several times. */
static void try_at(int64_t n, void *arg)
{
    stop *s = arg;
    unsigned lucks = s->plan.harm == DISK_POWER && load_every() ? 4 : 1;

    for (unsigned luck = 0; luck < lucks; luck++) try_once(s, n, luck);
}

static void stop_everywhere(void **state, disk_harm harm, loci_durability durability,
                            int64_t sample)
{
    stop s = { .durability = durability, .plan = { .calls = DISK_CHANGES | DISK_OPEN } };
    load l = { 0 };
    int64_t count = 0;

    (void)snprintf(s.url, sizeof s.url, "%s", store_of(state)->url);
    assert_false(live_and_stop(&s, &l, &count));
    assert_int_equal(load_told(&l), LOAD_WRITERS * LOAD_EACH);
    check_after(&s, &l);
    s.plan.harm = harm;
    tried = stopped = 0;
    load_points(count, sample, try_at, &s);
    assert_true(stopped > tried / 2); /* the harm is real */
}

static void killed_before_a_call(void **state)
{
    stop_everywhere(state, DISK_KILL_BEFORE, LOCI_DURABLE_FULL, 12);
}

static void killed_within_a_write(void **state)
{
    stop_everywhere(state, DISK_KILL_WITHIN, LOCI_DURABLE_FULL, 12);
}

static void killed_after_a_call(void **state)
{
    stop_everywhere(state, DISK_KILL_AFTER, LOCI_DURABLE_FULL, 12);
}

static void killed_in_normal_durability(void **state)
{
    stop_everywhere(state, DISK_KILL_AFTER, LOCI_DURABLE_NORMAL, 6);
}

static void loses_power(void **state)
{
    stop_everywhere(state, DISK_POWER, LOCI_DURABLE_FULL, 40);
}

/* The newest writes may be gone, but a write that is there has all that came before it, whole. */
static void loses_power_in_normal_durability(void **state)
{
    stop_everywhere(state, DISK_POWER, LOCI_DURABLE_NORMAL, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SQLITE(killed_before_a_call), ON_SQLITE(killed_within_a_write),
        ON_SQLITE(killed_after_a_call),  ON_SQLITE(killed_in_normal_durability),
        ON_SQLITE(loses_power),          ON_SQLITE(loses_power_in_normal_durability),
    };
    load_in_memory();
    return cmocka_run_group_tests_name("fault/stop", tests, NULL, NULL);
}
