#include "embed/remote_int.h"

#include "base/clock.h"

#include <signal.h>
#include <string.h>

enum { MOST_HELPERS = 15 };

/* One call: its texts are handed out in batches to the threads that work on it. */
typedef struct job {
    loci_remote *remote;
    loci_remote_limits outer; /* of the caller */
    const loci_str *texts;
    size_t count, dim;
    float *vectors;
    atomic_bool stop; /* somebody failed: the others need not go on */

    pthread_mutex_t lock; /* over what follows */
    size_t next;          /* the first text that nobody has */
    loci_rc rc;           /* of whoever failed first */
    loci_err err;
    size_t refused; /* the text that the server does not want; count: none */
} job;

loci_remote_limits loci_remote_limits_of(const loci_remote *remote, const loci_embed_call *call)
{
    int64_t deadline = call->deadline ? call->deadline : loci_clock_steady() + remote->timeout;
    return (loci_remote_limits){ deadline, call->cancelled, call->context };
}

static bool job_cancelled(void *context)
{
    job *j = context;
    return atomic_load(&j->stop) || (j->outer.cancelled && j->outer.cancelled(j->outer.context));
}

static loci_rc keep_vectors(const job *j, size_t first, size_t count, loci_remote_vectors got,
                            loci_err *err)
{
    if (got.dim != j->dim)
        return loci_fail(err, LOCI_ECORRUPT,
                         "%s now gives vectors of %zu values instead of %zu: another model has "
                         "taken the place of the old one",
                         j->remote->place.host, got.dim, j->dim);
    memcpy(j->vectors + first * j->dim, got.values, count * j->dim * sizeof *got.values);
    return LOCI_OK;
}

static loci_rc refuse_text(job *j, size_t which, loci_err *err)
{
    (void)pthread_mutex_lock(&j->lock);
    if (j->refused == j->count) j->refused = which;
    (void)pthread_mutex_unlock(&j->lock);
    loci_err_prefix(err, "text %zu of %zu", which + 1, j->count);
    return LOCI_EINVAL;
}

/* Both halves of a refused batch were taken, so it was its size: ask for no more from now on. A
 * text that is bad by itself never lets both halves of its batch through. */
static void learn_batch(loci_remote *r, size_t taken)
{
    size_t now = atomic_load(&r->batch);
    while (taken < now && !atomic_compare_exchange_weak(&r->batch, &now, taken)) continue;
}

/* Halved at most six times: a batch has at most 64 texts. */
static loci_rc embed_batch(job *j, size_t first, size_t count, loci_arena *arena, loci_err *err)
{
    loci_remote_limits limits = { j->outer.deadline, job_cancelled, j };
    loci_remote_vectors got;
    bool refused = false;

    loci_rc rc =
        loci_remote_send(j->remote, &limits, j->texts + first, count, arena, &got, &refused, err);
    if (!rc) return keep_vectors(j, first, count, got, err);
    if (!refused) return rc;
    if (count == 1) return refuse_text(j, first, err);

    size_t half = (count + 1) / 2;
    rc = embed_batch(j, first, half, arena, err);
    if (!rc) rc = embed_batch(j, first + half, count - half, arena, err);
    if (!rc) learn_batch(j->remote, half);
    return rc;
}

static size_t sent_bytes(loci_str text)
{
    return text.len < LOCI_REMOTE_TEXT_BYTES ? text.len : LOCI_REMOTE_TEXT_BYTES;
}

/* The next texts that go together; 0 when none are left or nobody needs them. */
static size_t take_batch(job *j, size_t *ret_first)
{
    size_t most = atomic_load(&j->remote->batch), bytes = 0, count = 0;

    (void)pthread_mutex_lock(&j->lock);
    if (!atomic_load(&j->stop)) {
        *ret_first = j->next;
        while (j->next < j->count && count < most) {
            bytes += sent_bytes(j->texts[j->next]);
            if (count > 0 && bytes > LOCI_REMOTE_BATCH_BYTES) break;
            j->next++;
            count++;
        }
    }
    (void)pthread_mutex_unlock(&j->lock);
    return count;
}

static void fail_job(job *j, loci_rc rc, const loci_err *err)
{
    (void)pthread_mutex_lock(&j->lock);
    if (!j->rc) {
        j->rc = rc;
        j->err = *err;
    }
    atomic_store(&j->stop, true);
    (void)pthread_mutex_unlock(&j->lock);
}

static void *work(void *context)
{
    job *j = context;
    loci_err err = { 0 };
    size_t first, count;

    size_t most = j->count < LOCI_REMOTE_BATCH ? j->count : LOCI_REMOTE_BATCH;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_remote_arena(j->remote, most);
    while ((count = take_batch(j, &first)) > 0) {
        loci_rc rc = LOCI_ENOMEM;
        if (arena)
            rc = embed_batch(j, first, count, arena, &err);
        else
            loci_err_set(&err, rc, "out of memory");
        if (rc) fail_job(j, rc, &err);
    }
    return NULL;
}

/* Signals are for the threads of the program. */
static size_t start_helpers(job *j, pthread_t *ret_threads)
{
    size_t batches = (j->count + LOCI_REMOTE_BATCH - 1) / LOCI_REMOTE_BATCH, started = 0;
    sigset_t all, old;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    while (started + 1 < j->remote->concurrency && started + 1 < batches &&
           started < MOST_HELPERS && pthread_create(&ret_threads[started], NULL, work, j) == 0)
        started++;
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

loci_rc loci_remote_embed(loci_embedder *embedder, const loci_embed_call *call,
                          const loci_str *texts, size_t count, float *ret_vectors, loci_err *err)
{
    loci_remote *r = (loci_remote *)embedder;
    pthread_t helpers[MOST_HELPERS];
    job j = { .remote = r,
              .outer = loci_remote_limits_of(r, call),
              .texts = texts,
              .count = count,
              .dim = loci_embedder_get_info(embedder)->dim,
              .vectors = ret_vectors,
              .refused = count };

    (void)pthread_mutex_init(&j.lock, NULL);
    size_t started = start_helpers(&j, helpers);
    (void)work(&j);
    for (size_t i = 0; i < started; i++) (void)pthread_join(helpers[i], NULL);
    (void)pthread_mutex_destroy(&j.lock);
    if (j.rc && err) *err = j.err;
    if (j.rc == LOCI_EINVAL && j.refused < count && call->refused) *call->refused = j.refused;
    return j.rc;
}
