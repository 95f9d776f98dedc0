#include "base/alloc.h"
#include "base/id.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 1000000, THREADS = 4, PER_THREAD = 2000 };

static void checks_the_form(void **state)
{
    static const struct {
        const char *id;
        const char *prefix;
        bool ok;
    } cases[] = {
        { "agent-01234567-89ab-4cde-8f01-23456789abcd", "agent", true },
        { "agent-01234567-89ab-4cde-9f01-23456789abcd", "agent", true },
        { "agent-01234567-89ab-4cde-af01-23456789abcd", "agent", true },
        { "agent-01234567-89ab-4cde-bf01-23456789abcd", "agent", true },
        { "agent-01234567-89ab-4cde-cf01-23456789abcd", "agent", false }, /* variant */
        { "agent-01234567-89ab-4cde-7f01-23456789abcd", "agent", false },
        { "agent-01234567-89ab-1cde-8f01-23456789abcd", "agent", false }, /* version */
        { "agent-01234567-89AB-4cde-8f01-23456789abcd", "agent", false }, /* upper case */
        { "agent-01234567-89ab-4cde-8f01-23456789abcg", "agent", false },
        { "agent-0123456-789ab-4cde-8f01-23456789abcd", "agent", false },
        { "agent-01234567-89ab-4cde-8f01-23456789abcd\n", "agent", false },
        { "agent-01234567-89ab-4cde-8f01-23456789abc", "agent", false },
        { "Agent-01234567-89ab-4cde-8f01-23456789abcd", "agent", false },
        { "agent_01234567-89ab-4cde-8f01-23456789abcd", "agent", false },
        { "block-01234567-89ab-4cde-8f01-23456789abcd", "agent", false },
        { "agent-01234567-89ab-4cde-8f01-23456789abcd", "block", false },
        { "01234567-89ab-4cde-8f01-23456789abcd", "", false },
        { "", "agent", false },
        { "agent-", "agent", false },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        assert_int_equal(loci_id_check(loci_str_from(cases[i].id), cases[i].prefix), cases[i].ok);
    assert_false(loci_id_check((loci_str){ NULL, 0 }, "agent"));
    assert_false(
        loci_id_check((loci_str){ "agent-01234567-89ab-4cde-8f01-23456789\0bcd", 42 }, "agent"));
}

static void makes_what_it_accepts(void **state)
{
    loci_err err = { 0 };
    loci_id id;
    (void)state;

    for (size_t i = 0; i < 1000; i++) {
        assert_ok(loci_id_make("passage", &id, &err), err);
        assert_true(loci_id_check(loci_str_from(id.text), "passage"));
    }
    assert_ok(loci_id_make("fifteen-letters", &id, &err), err);
    assert_int_equal(strlen(id.text), LOCI_ID_MAX);
    assert_true(loci_id_check(loci_str_from(id.text), "fifteen-letters"));
}

static int by_text(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(loci_id));
}

/* Sorts the ids and fails when two neighbours are the same. */
static void assert_unique(loci_id *ids, size_t count)
{
    qsort(ids, count, sizeof *ids, by_text);
    for (size_t i = 1; i < count; i++)
        if (memcmp(&ids[i - 1], &ids[i], sizeof *ids) == 0) fail_msg("twice: %s", ids[i].text);
}

static void a_million_are_unique(void **state)
{
    LOCI_AUTO(loci_freep) loci_id *ids = loci_zalloc(sizeof *ids * MANY);
    (void)state;

    assert_non_null(ids);
    for (size_t i = 0; i < MANY; i++) assert_int_equal(loci_id_make("a", &ids[i], NULL), LOCI_OK);
    assert_unique(ids, MANY);
}

static void *make_some(void *arg)
{
    loci_id *ids = arg;

    for (size_t i = 0; i < PER_THREAD; i++)
        if (loci_id_make("t", &ids[i], NULL)) return NULL;
    return arg;
}

static void threads_do_not_meet(void **state)
{
    static loci_id ids[THREADS * PER_THREAD];
    pthread_t threads[THREADS];
    void *done;
    (void)state;

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_some, ids + i * PER_THREAD), 0);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &done), 0);
        assert_non_null(done);
    }
    assert_unique(ids, LOCI_COUNT(ids));
}

static void child_writes_ids(int fd)
{
    loci_id id;

    for (size_t i = 0; i < 3; i++) {
        memset(&id, 0, sizeof id);
        if (loci_id_make("f", &id, NULL)) _exit(1);
        if (write(fd, &id, sizeof id) != sizeof id) _exit(1);
    }
    _exit(0);
}

/* Two children and the parent go on from the same stock; all nine ids must differ. */
static void children_do_not_repeat(void **state)
{
    loci_id ids[9];
    int ends[2], status;
    (void)state;

    memset(ids, 0, sizeof ids);
    assert_int_equal(loci_id_make("f", &ids[0], NULL), LOCI_OK); /* the stock is filled */
    assert_int_equal(pipe(ends), 0);
    for (size_t i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) child_writes_ids(ends[1]);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_int_equal(read(ends[0], ids, 6 * sizeof ids[0]), 6 * sizeof ids[0]);
    for (size_t i = 6; i < 9; i++) assert_int_equal(loci_id_make("f", &ids[i], NULL), LOCI_OK);
    assert_unique(ids, 9);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

/* Every byte of a large and of a small draw is set sooner or later, none beyond is touched. */
static void fills_exactly(void **state)
{
    static const size_t sizes[] = { 0, 1, 7, 16, 64, 65, 300, 5000 };
    static uint8_t bytes[5001], seen[5001];
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(sizes); i++) {
        memset(seen, 0, sizeof seen);
        for (size_t turn = 0; turn < 16; turn++) {
            memset(bytes, 0, sizeof bytes);
            assert_int_equal(loci_random_bytes(bytes, sizes[i], NULL), LOCI_OK);
            for (size_t j = 0; j < sizeof bytes; j++) seen[j] |= bytes[j];
        }
        for (size_t j = 0; j < sizeof seen; j++) assert_int_equal(seen[j] != 0, j < sizes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_the_form),        cmocka_unit_test(makes_what_it_accepts),
        cmocka_unit_test(a_million_are_unique),   cmocka_unit_test(threads_do_not_meet),
        cmocka_unit_test(children_do_not_repeat), cmocka_unit_test(fills_exactly),
    };
    return cmocka_run_group_tests_name("base/id", tests, NULL, NULL);
}
