#include "disk.h"
#include "load.h"
#include "scarce.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* The disk refuses one call, or all from one call on, at each in turn; or SQLite gets no memory.
 * Whoever asked gets an error that names the store and says why; what was acknowledged stays; when
 * the disk is well again, the same process goes on. Each point has its own child, which must end by
 * itself. */

enum { PATIENCE = 100 }; /* seconds until a child that hangs is ended by a signal */

/* Shared with the child. */
typedef struct life {
    char url[128];
    disk_plan plan;
    bool scarce; /* memory is refused, not the disk */
    int64_t count;
    loci_rc opened, reopened;
    loci_err open_err, reopen_err;
    load first, second;
    bool hit;
} life;

static int live(void *arg)
{
    life *f = arg;
    memory m = { 0 };
    loci_err err = { 0 };

    (void)alarm(PATIENCE);
    f->first = f->second = (load){ .writers = 2, .acks = -1, .keys = true, .go_on = true };
    if (f->scarce)
        scarce_install(f->plan.at);
    else
        disk_install(&f->plan);
    f->opened = memory_try_open(f->url, load_options(LOCI_DURABLE_FULL), &m, &f->open_err);
    if (!f->opened) (void)!load_run(&f->first, &m, &err);
    f->count = f->scarce ? scarce_count() : disk_count();
    f->hit = f->scarce ? f->count >= f->plan.at : disk_was_hit();
    disk_mend();
    scarce_mend();
    if (f->opened)
        f->reopened = memory_try_open(f->url, load_options(LOCI_DURABLE_FULL), &m, &f->reopen_err);
    if (!f->reopened) (void)!load_run(&f->second, &m, &err);
    if (m.db) memory_close(&m);
    return 0;
}

/* The error is of a kind that fits, names the store and gives a reason. */
static void assert_clear(const life *f, loci_rc rc, const char *msg)
{
    bool kind = rc == LOCI_EIO || rc == LOCI_EUNAVAILABLE || rc == LOCI_EBUSY;

    if (f->scarce && rc == LOCI_ENOMEM && strstr(msg, "out of memory")) return;
    if (!kind || !strstr(msg, f->url) || strlen(msg) < strlen(f->url) + 10)
        fail_msg("not clear: %s: %s", loci_rc_name(rc), msg);
}

static void check_writes(const life *f)
{
    for (unsigned i = 0; i < f->first.writers; i++)
        for (unsigned n = 0; n < LOAD_EACH; n++) {
            const load_outcome *one = &f->first.outcome[i][n], *two = &f->second.outcome[i][n];
            if (!f->opened && one->rc) assert_clear(f, one->rc, one->msg);
            if (two->rc) fail_msg("does not go on: %s: %s", loci_rc_name(two->rc), two->msg);
            if (!f->opened && !one->rc && !two->repeated) fail_msg("acknowledged and lost");
        }
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

static void check_store(const life *f)
{
    load all = { 0 };
    memory m = memory_open(f->url);

    for (unsigned i = 0; i < f->first.writers; i++)
        for (unsigned n = 0; n < LOAD_EACH; n++) all.told[i][n] = true;
    load_check(&all, m.db, true);
    memory_close(&m);
    load_check_file(f->url);
}

static int hits, tried;

static void try_at(int64_t n, void *arg)
{
    life *f = arg;
    int status = -1;

    forget_store(f->url);
    f->plan.at = n;
    f->opened = f->reopened = LOCI_OK;
    print_message("# at call %d\n", (int)n);
    pid_t child = store_fork(live, f);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    if (f->opened) assert_clear(f, f->opened, f->open_err.msg);
    assert_ok(f->reopened, f->reopen_err);
    check_writes(f);
    check_store(f);
    hits += f->hit;
    tried++;
}

static void refuse_everywhere(void **state, disk_plan plan, bool scarce, int64_t sample)
{
    life *f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(f != MAP_FAILED);
    (void)snprintf(f->url, sizeof f->url, "%s", store_of(state)->url);
    f->plan.calls = plan.calls = DISK_EVERY;
    f->scarce = scarce;
    try_at(0, f);
    f->plan = plan;
    hits = tried = 0;
    load_points(f->count, sample, try_at, f);
    assert_true(hits > tried / 2);
    (void)munmap(f, sizeof *f);
}

static void one_input_output_error(void **state)
{
    refuse_everywhere(state, (disk_plan){ .harm = DISK_IO_ERROR }, false, 20);
}

static void a_broken_disk(void **state)
{
    refuse_everywhere(state, (disk_plan){ .harm = DISK_IO_ERROR, .stays = true }, false, 20);
}

static void one_call_without_space(void **state)
{
    refuse_everywhere(state, (disk_plan){ .harm = DISK_FULL }, false, 20);
}

static void a_full_disk(void **state)
{
    refuse_everywhere(state, (disk_plan){ .harm = DISK_FULL, .stays = true }, false, 20);
}

static void no_memory_for_the_engine(void **state)
{
    refuse_everywhere(state, (disk_plan){ 0 }, true, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_SQLITE(one_input_output_error),   ON_SQLITE(a_broken_disk),
        ON_SQLITE(one_call_without_space),   ON_SQLITE(a_full_disk),
        ON_SQLITE(no_memory_for_the_engine),
    };
    load_in_memory();
    return cmocka_run_group_tests_name("fault/disk", tests, NULL, NULL);
}
