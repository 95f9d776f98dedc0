#include "base/clock.h"
#include "db/driver.h"
#include "load.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* One call to the engine fails, each in turn, in each way that it can: the statement itself, a
 * lock, the connection, a commit whose answer is lost after it happened and before. */

typedef enum break_how { FINAL, RETRY, LOST, LOST_AFTER } break_how;

static struct {
    const loci_driver *real;
    loci_driver driver;
    _Atomic int64_t count, at;
    break_how how;
    bool hit;
} broken;

static const struct {
    loci_rc code;
    loci_tx_class failure;
} ways[] = {
    [FINAL] = { LOCI_EIO, LOCI_TX_FINAL },
    [RETRY] = { LOCI_EBUSY, LOCI_TX_RETRY },
    [LOST] = { LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT },
    [LOST_AFTER] = { LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT },
};

static bool is_due(void)
{
    bool due = atomic_fetch_add(&broken.count, 1) + 1 == atomic_load(&broken.at);

    broken.hit |= due;
    return due;
}

static loci_rc break_it(loci_tx *tx, bool committing, loci_err *err)
{
    loci_tx_class failure = ways[broken.how].failure;

    loci_err_set(err, ways[broken.how].code, "%s: broken by the test", tx->db->name);
    if (broken.how >= LOST) tx->broken = true;
    if (broken.how >= LOST && committing) failure = LOCI_TX_UNKNOWN;
    return loci_driver_fail(tx, failure, ways[broken.how].code);
}

static loci_rc begin(loci_tx *tx, loci_err *err)
{
    return is_due() ? break_it(tx, false, err) : broken.real->begin(tx, err);
}

static loci_rc commit(loci_tx *tx, loci_err *err)
{
    if (!is_due()) return broken.real->commit(tx, err);
    if (broken.how == LOST_AFTER) {
        loci_rc rc = broken.real->commit(tx, err);
        if (rc) return rc;
    }
    return break_it(tx, true, err);
}

static loci_rc command(loci_tx *tx, const char *text, loci_err *err)
{
    return is_due() ? break_it(tx, false, err) : broken.real->command(tx, text, err);
}

static loci_rc prepare(loci_stmt *stmt, loci_err *err)
{
    return is_due() ? break_it(stmt->tx, false, err) : broken.real->prepare(stmt, err);
}

static loci_rc bind(loci_stmt *stmt, loci_err *err)
{
    return is_due() ? break_it(stmt->tx, false, err) : broken.real->bind(stmt, err);
}

static loci_rc step(loci_stmt *stmt, loci_err *err)
{
    return is_due() ? break_it(stmt->tx, false, err) : broken.real->step(stmt, err);
}

static loci_rc post(loci_stmt *stmt, loci_err *err)
{
    return is_due() ? break_it(stmt->tx, false, err) : broken.real->post(stmt, err);
}

static void wrap(loci_db *db)
{
    broken.real = db->driver;
    broken.driver = *db->driver;
    broken.driver.begin = begin;
    broken.driver.commit = commit;
    broken.driver.command = command;
    broken.driver.prepare = prepare;
    broken.driver.bind = bind;
    broken.driver.step = step;
    broken.driver.post = post;
    db->driver = &broken.driver;
}

/* ---- the write path ---- */

static loci_rc add_three(loci_change *change, void *arg, loci_err *err)
{
    const passage *p = arg;
    loci_rc rc = LOCI_OK;

    for (int i = 0; !rc && i < LOAD_ROWS; i++) {
        char id[64];
        passage one = { .id = id, .text = "x" };
        (void)snprintf(id, sizeof id, "%s-%d", p->id, i);
        rc = memory_add(change, &one, err);
    }
    return rc;
}

/* Like add_three, by somebody who looks at no result. */
static loci_rc add_carelessly(loci_change *change, void *arg, loci_err *err)
{
    const passage *p = arg;

    for (int i = 0; i < LOAD_ROWS; i++) {
        char id[64];
        passage one = { .id = id, .text = "x" };
        (void)snprintf(id, sizeof id, "%s-%d", p->id, i);
        (void)!memory_add(change, &one, err);
    }
    return LOCI_OK;
}

enum { GROUP = 3 };

typedef struct ask {
    memory *m;
    loci_write_fn run;
    char id[48];
    loci_rc rc;
    loci_err err;
} ask;

static void *write_one(void *arg)
{
    ask *a = arg;
    passage p = { .id = a->id };
    loci_write_request request = {
        .org = LOCI_DEFAULT_ORG, .run = a->run, .arg = &p, .door = LOCI_STR("test")
    };

    a->rc = loci_write(a->m->writer, &request, NULL, NULL, &a->err);
    return NULL;
}

static bool is_there(loci_db *db, const char *id)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };
    int rows = 0;

    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &memory_room, MEMORY_IDS, &q, &err), err);
    while (loci_stmt_next(q, &err) == LOCI_OK)
        rows += loci_str_starts(loci_stmt_text(q, 0), loci_str_from(id));
    if (rows != 0 && rows != LOAD_ROWS) fail_msg("%s is there by half: %d rows", id, rows);
    return rows == LOAD_ROWS;
}

/* Two groups: one of a single write, one of several, with call `n` broken. */
static void write_broken(memory *m, int64_t n, loci_write_fn run, bool must_succeed)
{
    pthread_t threads[GROUP];
    ask asks[GROUP + 1];
    static int round_number;

    round_number++;
    atomic_store(&broken.count, 0);
    atomic_store(&broken.at, n);
    for (int i = 0; i <= GROUP; i++) {
        asks[i] = (ask){ .m = m, .run = run };
        (void)snprintf(asks[i].id, sizeof asks[i].id, "r%d-w%d-", round_number, i);
    }
    (void)write_one(&asks[GROUP]);
    for (int i = 0; i < GROUP; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_one, &asks[i]), 0);
    for (int i = 0; i < GROUP; i++) (void)pthread_join(threads[i], NULL);
    atomic_store(&broken.at, 0);
    for (int i = 0; i <= GROUP; i++) {
        if (must_succeed && asks[i].rc) fail_msg("%s", asks[i].err.msg);
        if (asks[i].rc && run == add_three) assert_non_null(strstr(asks[i].err.msg, "by the test"));
        assert_int_equal(is_there(m->db, asks[i].id), asks[i].rc == LOCI_OK);
    }
    assert_int_equal(memory_ask(m->db, MEMORY_VERSION_GAPS), 0);
}

static void break_everywhere(void **state, break_how how, loci_write_fn run)
{
    memory m = memory_open(store_of(state)->url);

    wrap(m.db);
    broken.how = how;
    broken.hit = true;
    for (int64_t n = 1; broken.hit; n++) {
        broken.hit = false;
        write_broken(&m, n, run, how != FINAL);
        assert_true(n < 1000);
        if (n == 1) assert_true(broken.hit);
    }
    int64_t passages = memory_ask(m.db, MEMORY_PASSAGES);
    assert_int_equal(passages, memory_ask(m.db, MEMORY_VERSIONS) * LOAD_ROWS);
    memory_close(&m);
}

static void a_call_fails_for_good(void **state)
{
    break_everywhere(state, FINAL, add_three);
}

static void a_call_meets_a_lock(void **state)
{
    break_everywhere(state, RETRY, add_three);
}

static void a_call_loses_the_connection(void **state)
{
    break_everywhere(state, LOST, add_three);
}

static void an_answer_is_lost(void **state)
{
    break_everywhere(state, LOST_AFTER, add_three);
}

/* A closure that does not look cannot make half a write of it. */
static void a_failure_is_not_looked_at(void **state)
{
    break_everywhere(state, FINAL, add_carelessly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_call_fails_for_good),       ON_BOTH(a_call_meets_a_lock),
        ON_BOTH(a_call_loses_the_connection), ON_BOTH(an_answer_is_lost),
        ON_BOTH(a_failure_is_not_looked_at),
    };
    load_in_memory();
    return cmocka_run_group_tests_name("fault/steps", tests, NULL, NULL);
}
