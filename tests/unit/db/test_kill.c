#include "memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 4, ROUNDS = 4, PER_WRITE = 3 };

/* Each write is three passages; a store with a part of a write would show in the count. */
static loci_rc add_three(loci_change *change, void *arg, loci_err *err)
{
    const passage *p = arg;
    loci_rc rc = LOCI_OK;

    for (int i = 0; !rc && i < PER_WRITE; i++) {
        char id[64];
        passage one = { .id = id, .text = p->text };
        (void)snprintf(id, sizeof id, "%s-%d", p->id, i);
        rc = memory_add(change, &one, err);
    }
    return rc;
}

typedef struct line {
    memory *m;
    int round, writer, pipe;
} line;

/* Write for ever; say the number of each write only when it was acknowledged. */
static void *write_for_ever(void *arg)
{
    line *l = arg;

    for (int n = 0;; n++) {
        char id[48];
        passage p = { .id = id, .text = "this must not be lost" };
        loci_write_request request = {
            .org = LOCI_DEFAULT_ORG, .run = add_three, .arg = &p, .door = LOCI_STR("test")
        };
        loci_err err = { 0 };
        (void)snprintf(id, sizeof id, "r%d-w%d-%d", l->round, l->writer, n);
        if (loci_write(l->m->writer, &request, NULL, NULL, &err)) {
            (void)fprintf(stderr, "# %s\n", err.msg);
            _exit(1);
        }
        if (write(l->pipe, "+", 1) != 1) _exit(1);
    }
    return NULL;
}

typedef struct life {
    const char *url;
    int round, pipe;
} life;

static int live(void *arg)
{
    life *l = arg;
    memory m = memory_open(l->url);
    pthread_t threads[WRITERS];
    line lines[WRITERS];

    for (int i = 0; i < WRITERS; i++) {
        lines[i] = (line){ .m = &m, .round = l->round, .writer = i, .pipe = l->pipe };
        if (pthread_create(&threads[i], NULL, write_for_ever, &lines[i]) != 0) return 1;
    }
    for (int i = 0; i < WRITERS; i++) (void)pthread_join(threads[i], NULL);
    return 0;
}

/* How many writes were acknowledged before the end of the pipe. */
static int64_t drain(int fd)
{
    char bytes[4096];
    int64_t total = 0;
    ssize_t n;

    while ((n = read(fd, bytes, sizeof bytes)) > 0) total += n;
    return total;
}

/* A writer is killed in the middle, again and again. What it was told is stored is stored, nothing
 * is there by half, and the store goes on where it was. */
static void killed_writers_lose_nothing(void **state)
{
    store *s = store_of(state);
    int64_t acknowledged = 0;

    memory first = memory_open(s->url);
    memory_close(&first);
    for (int round = 0; round < ROUNDS; round++) {
        int ends[2], status = 0;
        assert_int_equal(pipe(ends), 0);
        life l = { .url = s->url, .round = round, .pipe = ends[1] };
        pid_t child = store_fork(live, &l);
        (void)close(ends[1]);
        /* Wait for some to be acknowledged, so that each round has something to lose. */
        char byte;
        for (int i = 0; i < 20 + round * 13; i++) assert_int_equal(read(ends[0], &byte, 1), 1);
        acknowledged += 20 + round * 13;
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        acknowledged += drain(ends[0]);
        (void)close(ends[0]);

        memory m = memory_open(s->url);
        int64_t passages = memory_ask(m.db, MEMORY_PASSAGES);
        int64_t versions = memory_ask(m.db, MEMORY_VERSIONS);
        assert_int_equal(passages, versions * PER_WRITE);
        assert_true(versions >= acknowledged);
        /* Only what was under way at each death may be there unasked. */
        assert_true(versions <= acknowledged + (int64_t)WRITERS * (round + 1));
        assert_int_equal(memory_ask(m.db, MEMORY_VERSION_GAPS), 0);
        assert_int_equal(memory_ask(m.db, MEMORY_BORN_FALLS), 0);
        memory_close(&m);
    }
}

/* A small file system fills up under a store. */
static void a_full_disk_is_an_error_and_no_loss(void **state)
{
    store *s = store_of(state);
    char place[128], url[160];
    loci_err err = { 0 };
    int64_t written = 0;
    loci_rc rc = LOCI_OK;
    static char text[20000];

    (void)snprintf(place, sizeof place, "%s/small", s->folder);
    (void)snprintf(url, sizeof url, "%s/loci.db", place);
    assert_int_equal(mkdir(place, 0700), 0);
    if (mount("tmpfs", place, "tmpfs", 0, "size=3m") != 0) skip();

    memset(text, 'x', sizeof text - 1);
    memory m = memory_open(url);
    for (int i = 0; !rc && i < 1000; i++) {
        char id[32];
        passage p = { .id = id, .text = text };
        (void)snprintf(id, sizeof id, "p%d", i);
        rc = memory_write(&m, &p, NULL, &err);
        if (!rc) written++;
    }
    int64_t there = memory_ask(m.db, MEMORY_PASSAGES);
    memory_close(&m);
    memory again = memory_open(url); /* opens on the full disk too */
    int64_t still = memory_ask(again.db, MEMORY_PASSAGES);
    memory_close(&again);
    (void)umount2(place, MNT_DETACH);
    assert_int_equal(rc, LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "disk is full"));
    assert_true(written > 0);
    assert_int_equal(there, written);
    assert_int_equal(still, written);
}

/* No room for a store at all. */
static void a_full_disk_holds_no_new_store(void **state)
{
    store *s = store_of(state);
    char place[128], url[160];
    loci_db *db = NULL;
    loci_err err = { 0 };

    (void)snprintf(place, sizeof place, "%s/tiny", s->folder);
    (void)snprintf(url, sizeof url, "%s/loci.db", place);
    assert_int_equal(mkdir(place, 0700), 0);
    if (mount("tmpfs", place, "tmpfs", 0, "size=8k") != 0) skip();
    loci_rc rc = loci_db_open(url, NULL, &db, &err);
    (void)umount2(place, MNT_DETACH);
    if (rc != LOCI_EUNAVAILABLE) print_error("%s: %s\n", loci_rc_name(rc), err.msg);
    assert_int_equal(rc, LOCI_EUNAVAILABLE);
    assert_true(strlen(err.msg) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(killed_writers_lose_nothing),
        ON_SQLITE(a_full_disk_is_an_error_and_no_loss),
        ON_SQLITE(a_full_disk_holds_no_new_store),
    };
    return cmocka_run_group_tests_name("db/kill", tests, NULL, NULL);
}
