#include "db/write.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "db/driver.h"
#include "db/write_group.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { YIELDS = 4, MOMENT = 500 }; /* yields that brought nobody; microseconds in all */

typedef enum wait_state { WAITING, TAKEN, LEADS, DONE } wait_state;

/* A write in the queue; lives on the stack of the thread that waits for it. */
typedef struct waiter {
    loci_write_item item; /* first, so that an item is its waiter */
    wait_state state;
    pthread_cond_t told;
    struct waiter *next;
} waiter;

struct loci_writer {
    loci_db *db;
    pthread_mutex_t mutex;
    pthread_condattr_t steady;
    waiter *first, **end; /* the queue, in order of arrival */
    size_t waiting;
    int64_t led[LOCI_DB_CONNECTIONS]; /* organizations whose group is under way; SQLite: 0 */
    size_t led_count, led_most;
    size_t last_count; /* how many the last group had */
};

loci_rc loci_writer_new(loci_db *db, loci_writer **ret_writer, loci_err *err)
{
    loci_writer *w = loci_zalloc(sizeof *w);

    if (!w || pthread_mutex_init(&w->mutex, NULL) != 0) {
        loci_free(w);
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    (void)pthread_condattr_init(&w->steady);
    (void)pthread_condattr_setclock(&w->steady, CLOCK_MONOTONIC);
    w->db = db;
    w->end = &w->first;
    /* Half of the connections at most: somebody wants to read. */
    w->led_most = loci_db_engine(db) == LOCI_SQLITE ? 1 : (db->options.connections + 1) / 2;
    *ret_writer = w;
    return LOCI_OK;
}

void loci_writer_free(loci_writer *writer)
{
    if (!writer || loci_driver_owned(writer->db, NULL)) return;
    (void)pthread_condattr_destroy(&writer->steady);
    (void)pthread_mutex_destroy(&writer->mutex);
    loci_free(writer);
}

/* SQLite has one write lock for all organizations, PostgreSQL one for each. */
static int64_t lane_of(const loci_writer *w, const waiter *x)
{
    return loci_db_engine(w->db) == LOCI_SQLITE ? 0 : x->item.request->org;
}

/* All below down to loci_write are called with the mutex held. */

static bool may_lead(const loci_writer *w, int64_t lane)
{
    if (w->led_count == w->led_most) return false;
    for (size_t i = 0; i < w->led_count; i++)
        if (w->led[i] == lane) return false;
    return true;
}

static void stop_leading(loci_writer *w, int64_t lane)
{
    for (size_t i = 0; i < w->led_count; i++)
        if (w->led[i] == lane) w->led[i] = w->led[--w->led_count];
}

static void enqueue(loci_writer *w, waiter *x)
{
    x->next = NULL;
    *w->end = x;
    w->end = &x->next;
    w->waiting++;
}

static void unlink_at(loci_writer *w, waiter **at)
{
    waiter *x = *at;

    *at = x->next;
    if (w->end == &x->next) w->end = at;
    w->waiting--;
}

/* Make the first waiter of every free lane its leader. */
static void appoint(loci_writer *w)
{
    for (waiter *x = w->first; x && w->led_count < w->led_most; x = x->next) {
        if (x->state != WAITING || !may_lead(w, lane_of(w, x))) continue;
        w->led[w->led_count++] = lane_of(w, x);
        x->state = LEADS;
        (void)pthread_cond_signal(&x->told);
    }
}

/* Take the leader and whoever waits in its lane out of the queue. */
static size_t gather(loci_writer *w, waiter *leader, loci_write_item **items)
{
    int64_t lane = lane_of(w, leader);
    waiter **at = &w->first;
    size_t n = 0;

    items[n++] = &leader->item;
    while (*at) {
        waiter *x = *at;
        bool mine = x == leader || (x->state == WAITING && lane_of(w, x) == lane);
        if (!mine || (x != leader && n == LOCI_WRITE_GROUP)) {
            at = &x->next;
            continue;
        }
        unlink_at(w, at);
        if (x == leader) continue;
        x->state = TAKEN;
        items[n++] = &x->item;
    }
    return n;
}

/* Those who were told by the last group are on their way back into the queue; on few cores they
 * need a moment to run. Let them, as long as they come: nothing for a writer alone, and no more
 * than a moment, because on a busy machine a yield may last as long as somebody else's turn. */
static void let_in(loci_writer *w)
{
    int64_t end = loci_clock_steady() + MOMENT;
    size_t seen = w->waiting;

    for (int idle = 0; idle < YIELDS && w->waiting < w->last_count; idle++) {
        (void)pthread_mutex_unlock(&w->mutex);
        (void)sched_yield();
        (void)pthread_mutex_lock(&w->mutex);
        if (loci_clock_steady() >= end) return;
        if (w->waiting > seen) idle = 0;
        seen = w->waiting;
    }
}

/* Run one group with the mutex released, and tell everybody in it. Only then comes what nobody
 * waits for, and the next leader, whose group is the larger for it. */
static void lead(loci_writer *w, waiter *leader)
{
    loci_write_item *items[LOCI_WRITE_GROUP];
    loci_tx *tx = NULL;
    int64_t lane = lane_of(w, leader);

    let_in(w);
    size_t count = w->last_count = gather(w, leader, items);
    (void)pthread_mutex_unlock(&w->mutex);
    loci_write_group(w->db, items, count, &tx);
    (void)pthread_mutex_lock(&w->mutex);
    for (size_t i = 0; i < count; i++) {
        waiter *x = (waiter *)items[i];
        x->state = DONE;
        if (x != leader) (void)pthread_cond_signal(&x->told);
    }
    (void)pthread_mutex_unlock(&w->mutex);
    loci_tx_end(tx);
    (void)pthread_mutex_lock(&w->mutex);
    stop_leading(w, lane);
    appoint(w);
}

/* Nobody has taken it up until now: leave the queue. */
static void give_up(loci_writer *w, waiter *x)
{
    waiter **at = &w->first;

    while (*at && *at != x) at = &(*at)->next;
    if (*at) unlink_at(w, at);
    x->state = DONE;
    x->item.rc = loci_fail(&x->item.err, LOCI_EBUSY,
                           "the store has been busy with other writes for too long: try again");
}

static void wait_turn(loci_writer *w, waiter *x)
{
    int64_t end = loci_clock_steady() + 2 * w->db->options.deadline;
    struct timespec until = { end / LOCI_SECOND, end % LOCI_SECOND * 1000 };

    while (x->state == WAITING || x->state == TAKEN) {
        /* Once taken, its outcome is somebody else's to tell, however long that takes. */
        if (x->state == TAKEN)
            (void)pthread_cond_wait(&x->told, &w->mutex);
        else if (pthread_cond_timedwait(&x->told, &w->mutex, &until) == ETIMEDOUT &&
                 x->state == WAITING)
            give_up(w, x);
    }
    if (x->state == LEADS) lead(w, x);
}

static loci_rc check_request(const loci_write_request *r, loci_err *err)
{
    if (!r->door.len) return loci_fail(err, LOCI_EINVAL, "a write must name its door");
    if (r->key.len > LOCI_WRITE_KEY)
        return loci_fail(err, LOCI_ELIMIT, "an idempotency key has at most %d bytes, not %zu",
                         LOCI_WRITE_KEY, r->key.len);
    if (r->key.len && (memchr(r->key.ptr, '\0', r->key.len) || !loci_utf8_valid(r->key)))
        return loci_fail(err, LOCI_EINVAL, "an idempotency key must be UTF-8 without NUL");
    if (r->key.len && (r->input_hash.len == 0 || r->input_hash.len > LOCI_WRITE_HASH))
        return loci_fail(err, LOCI_EINVAL, "a write with a key needs a hash of its input");
    return LOCI_OK;
}

static loci_rc queue_up(loci_writer *w, waiter *x, loci_err *err)
{
    (void)pthread_mutex_lock(&w->mutex);
    bool full = w->waiting >= LOCI_WRITE_WAITING;
    if (!full) {
        enqueue(w, x);
        appoint(w);
        wait_turn(w, x);
    }
    (void)pthread_mutex_unlock(&w->mutex);
    if (full)
        return loci_fail(err, LOCI_EBUSY, "more than %d writes are waiting: try again later",
                         LOCI_WRITE_WAITING);
    return LOCI_OK;
}

static loci_rc take_outcome(const loci_write_item *it, loci_arena *arena,
                            loci_write_result *ret_result, loci_err *err)
{
    loci_write_result result = { .ver = it->ver, .born = it->born, .repeated = it->repeated };

    if (it->rc) return loci_fail(err, it->rc, "%s", it->err.msg);
    if (arena && it->answer.len) {
        result.answer = loci_arena_str(arena, loci_buf_str(&it->answer));
        if (!result.answer.ptr) return loci_arena_fail(arena, err);
    }
    if (ret_result) *ret_result = result;
    return LOCI_OK;
}

loci_rc loci_write(loci_writer *writer, const loci_write_request *request, loci_arena *arena,
                   loci_write_result *ret_result, loci_err *err)
{
    waiter x = { .item.request = request };
    loci_rc rc = loci_driver_owned(writer->db, err);

    if (!rc) rc = check_request(request, err);
    if (rc) return rc;
    if (pthread_cond_init(&x.told, &writer->steady) != 0)
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_buf_init(&x.item.answer, LOCI_WRITE_ANSWER);
    rc = queue_up(writer, &x, err);
    if (!rc) rc = take_outcome(&x.item, arena, ret_result, err);
    loci_buf_done(&x.item.answer);
    (void)pthread_cond_destroy(&x.told);
    return rc;
}
