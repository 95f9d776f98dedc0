#include "embed/service.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "embed/range.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

typedef enum state { WAITING, LEADS, TAKEN, DONE } state;

/* Some texts of one caller, at most LOCI_EMBED_BATCH. Owned by the caller, until it leaves while
 * they are in a pass: then by whoever runs that. */
typedef struct request {
    loci_embed_kind kind;
    size_t count, dim;
    int64_t deadline; /* 0: none */
    loci_str *texts;  /* texts, their bytes and the vectors are in the same block as this */
    float *vectors;
    state state;
    bool abandoned;
    loci_rc rc;
    loci_err err;
    pthread_cond_t told;
    struct request *next;
} request;

struct loci_embed_service {
    loci_embedder *embedder;
    size_t waiting_most;
    unsigned passes_most, thread_count;
    pthread_mutex_t mutex;
    pthread_condattr_t steady;
    pthread_cond_t work; /* for the threads: something waits, or the end */
    request *first, **end;
    size_t waiting; /* texts */
    unsigned leading;
    bool stopping;
    loci_embed_service_counts counts;
    pthread_mutex_t range_mutex;
    bool range_known;
    float low, high;
    pthread_t threads[LOCI_EMBED_PASSES];
};

bool loci_embed_is_down(loci_rc rc)
{
    return rc != LOCI_OK && rc != LOCI_EINVAL && rc != LOCI_ESHAPE && rc != LOCI_ELIMIT;
}

static void request_free(request *r)
{
    if (!r) return;
    (void)pthread_cond_destroy(&r->told);
    loci_free(r);
}
LOCI_DEFINE_CLEANUP(request_freep, request, request_free)

/* One block: the request, the slices, the vectors, the bytes. */
static request *request_new(const loci_embed_service *s, loci_embed_kind kind, size_t dim,
                            const loci_str *texts, size_t count)
{
    size_t bytes = 0, slices = count * sizeof *texts, vectors = count * dim * sizeof(float);

    for (size_t i = 0; i < count; i++)
        if (LOCI_ADD_OVERFLOWS(bytes, texts[i].len, &bytes)) return NULL;
    char *block =
        bytes > SIZE_MAX / 2 ? NULL : loci_zalloc(sizeof(request) + slices + vectors + bytes);
    if (!block) return NULL;
    request *r = (request *)(void *)block;
    if (pthread_cond_init(&r->told, &s->steady) != 0) {
        loci_free(block);
        return NULL;
    }
    r->kind = kind;
    r->count = count;
    r->dim = dim;
    r->texts = (loci_str *)(void *)(block + sizeof *r);
    r->vectors = (float *)(void *)(block + sizeof *r + slices);
    char *at = block + sizeof *r + slices + vectors;
    for (size_t i = 0; i < count; i++) {
        if (texts[i].len) memcpy(at, texts[i].ptr, texts[i].len);
        r->texts[i] = (loci_str){ at, texts[i].len };
        at += texts[i].len;
    }
    return r;
}

/* All below down to run_pass are called with the mutex held. */

static void enqueue(loci_embed_service *s, request *r)
{
    *s->end = r;
    s->end = &r->next;
    s->waiting += r->count;
}

static void unlink_at(loci_embed_service *s, request **at)
{
    request *r = *at;

    *at = r->next;
    if (s->end == &r->next) s->end = at;
    r->next = NULL;
    s->waiting -= r->count;
}

static void unlink_request(loci_embed_service *s, request *r)
{
    request **at = &s->first;

    while (*at && *at != r) at = &(*at)->next;
    if (*at) unlink_at(s, at);
}

/* The first that waits and that nobody was told to lead; questions first. */
static request *first_waiting(const loci_embed_service *s)
{
    request *first = NULL;

    for (request *r = s->first; r; r = r->next) {
        if (r->state != WAITING) continue;
        if (r->kind == LOCI_EMBED_QUERY) return r;
        if (!first) first = r;
    }
    return first;
}

/* Let somebody compute, if somebody waits and there is room for a pass. */
static void appoint(loci_embed_service *s)
{
    request *r = s->leading < s->passes_most ? first_waiting(s) : NULL;

    if (!r) return;
    if (s->thread_count) {
        (void)pthread_cond_signal(&s->work);
        return;
    }
    s->leading++;
    r->state = LEADS;
    (void)pthread_cond_signal(&r->told);
}

/* Take `leader` and who waits with the same kind of text out of the queue, as a list. */
static request *gather(loci_embed_service *s, request *leader)
{
    size_t texts = leader->count;
    request *list = leader, **end = &leader->next, **at = &s->first;

    unlink_request(s, leader);
    leader->state = TAKEN;
    while (*at) {
        request *r = *at;
        if (r->state != WAITING || r->kind != leader->kind || r->count > LOCI_EMBED_BATCH - texts) {
            at = &r->next;
            continue;
        }
        texts += r->count;
        unlink_at(s, at);
        r->state = TAKEN;
        *end = r;
        end = &r->next;
    }
    s->counts.texts += texts;
    s->counts.passes++;
    return list;
}

/* Tell everybody; what nobody waits for any more is freed. */
static void tell(request *list)
{
    for (request *r = list, *next; r; r = next) {
        next = r->next;
        r->next = NULL;
        r->state = DONE;
        if (r->abandoned)
            request_free(r);
        else
            (void)pthread_cond_signal(&r->told);
    }
}

static void embed_alone(loci_embed_service *s, request *r)
{
    loci_embed_call call = { .kind = r->kind, .deadline = r->deadline };

    r->rc = loci_embedder_embed_call(s->embedder, &call, r->texts, r->count, r->vectors, &r->err);
}

/* The texts of all requests in one call. False: they must be tried one by one, because one of
 * them, and not the embedder, may be the reason. */
static bool embed_together(loci_embed_service *s, request *list)
{
    loci_str texts[LOCI_EMBED_BATCH];
    LOCI_AUTO(loci_freep)
    float *vectors = loci_zalloc(LOCI_EMBED_BATCH * list->dim * sizeof *vectors);
    size_t count = 0, done = 0;
    loci_embed_call call = { .kind = list->kind, .deadline = list->deadline };
    loci_err err = { 0 };

    if (!vectors) return false;
    /* As long as the most patient of them waits. */
    for (request *r = list; r; r = r->next)
        if (!r->deadline || (call.deadline && r->deadline > call.deadline))
            call.deadline = r->deadline;
    for (request *r = list; r; r = r->next)
        for (size_t i = 0; i < r->count; i++) texts[count++] = r->texts[i];
    loci_rc rc = loci_embedder_embed_call(s->embedder, &call, texts, count, vectors, &err);
    if (rc && !loci_embed_is_down(rc)) return false;
    for (request *r = list; r; r = r->next) {
        r->rc = rc;
        r->err = err;
        if (!rc) memcpy(r->vectors, vectors + done * r->dim, r->count * r->dim * sizeof *vectors);
        done += r->count;
    }
    return true;
}

/* One pass for `leader` and its company: gives the mutex up meanwhile. */
static void run_pass(loci_embed_service *s, request *leader)
{
    request *list = gather(s, leader);

    appoint(s); /* what did not fit need not wait for this pass */
    (void)pthread_mutex_unlock(&s->mutex);
    if (!list->next || !embed_together(s, list))
        for (request *r = list; r; r = r->next) embed_alone(s, r);
    (void)pthread_mutex_lock(&s->mutex);
    tell(list);
    s->leading--;
    appoint(s);
}

static void *serve(void *arg)
{
    loci_embed_service *s = arg;

    (void)pthread_mutex_lock(&s->mutex);
    while (!s->stopping) {
        request *r = s->leading < s->passes_most ? first_waiting(s) : NULL;
        if (!r) {
            (void)pthread_cond_wait(&s->work, &s->mutex);
            continue;
        }
        s->leading++;
        run_pass(s, r);
    }
    (void)pthread_mutex_unlock(&s->mutex);
    return NULL;
}

/* Wait until it is done, leading when told to. False: the deadline came first, and `r` is gone
 * from the queue or belongs to the pass that it is in. */
static bool wait_done(loci_embed_service *s, request *r, int64_t deadline)
{
    struct timespec until = { deadline / LOCI_SECOND, deadline % LOCI_SECOND * 1000 };

    while (r->state != DONE) {
        int late = 0;
        if (r->state == LEADS) {
            run_pass(s, r);
            continue;
        }
        if (deadline)
            late = pthread_cond_timedwait(&r->told, &s->mutex, &until);
        else
            (void)pthread_cond_wait(&r->told, &s->mutex);
        if (late != ETIMEDOUT || r->state == DONE || r->state == LEADS) continue;
        if (r->state == TAKEN)
            r->abandoned = true;
        else
            unlink_request(s, r);
        return false;
    }
    return true;
}

static loci_rc embed_some(loci_embed_service *s, request **own, int64_t deadline, loci_err *err)
{
    request *r = *own;

    (void)pthread_mutex_lock(&s->mutex);
    bool full = r->count > s->waiting_most - s->waiting, done = false, gone = false;
    if (!full) {
        enqueue(s, r);
        appoint(s);
        done = wait_done(s, r, deadline);
        gone = r->abandoned;
    }
    (void)pthread_mutex_unlock(&s->mutex);
    if (gone) *own = NULL;
    if (full)
        return loci_fail(err, LOCI_EBUSY, "more than %zu texts wait for a vector: try again later",
                         s->waiting_most);
    if (!done) return loci_fail(err, LOCI_EUNAVAILABLE, "the embedder was not ready in time");
    return r->rc ? loci_fail(err, r->rc, "%s", r->err.msg) : LOCI_OK;
}

loci_rc loci_embed_service_learn(loci_embed_service *service, int64_t deadline,
                                 const loci_embedder_info **ret_info, loci_err *err)
{
    loci_embed_call call = { .kind = LOCI_EMBED_DOCUMENT, .deadline = deadline };

    return loci_embedder_learn(service->embedder, &call, ret_info, err);
}

loci_rc loci_embed_service_embed(loci_embed_service *service, loci_embed_kind kind,
                                 const loci_str *texts, size_t count, int64_t deadline,
                                 float *ret_vectors, loci_err *err)
{
    const loci_embedder_info *info = NULL;
    loci_rc rc = loci_embed_service_learn(service, deadline, &info, err);

    if (rc) return rc;
    for (size_t at = 0; at < count;) {
        size_t n = count - at < LOCI_EMBED_BATCH ? count - at : LOCI_EMBED_BATCH;
        if (deadline && loci_clock_steady() >= deadline)
            return loci_fail(err, LOCI_EUNAVAILABLE, "the embedder was not ready in time");
        LOCI_AUTO(request_freep) request *r = request_new(service, kind, info->dim, texts + at, n);
        if (!r) return loci_fail(err, LOCI_ENOMEM, "out of memory");
        r->deadline = deadline;
        rc = embed_some(service, &r, deadline, err);
        if (rc) return rc;
        assert(r); /* it was given away only to fail */
        memcpy(ret_vectors + at * r->dim, r->vectors, n * r->dim * sizeof(float));
        at += n;
    }
    return LOCI_OK;
}

loci_rc loci_embed_service_tokens(loci_embed_service *service, loci_str text, loci_arena *arena,
                                  loci_tokens *ret_tokens, loci_err *err)
{
    return loci_embedder_tokens(service->embedder, text, arena, ret_tokens, err);
}

const loci_embedder_info *loci_embed_service_info(const loci_embed_service *service)
{
    return loci_embedder_get_info(service->embedder);
}

loci_rc loci_embed_service_range(loci_embed_service *service, int64_t deadline, float *ret_low,
                                 float *ret_high, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    (void)pthread_mutex_lock(&service->range_mutex);
    if (!service->range_known)
        rc = loci_range_measure(service, deadline, &service->low, &service->high, err);
    if (!rc) {
        service->range_known = true;
        *ret_low = service->low;
        *ret_high = service->high;
    }
    (void)pthread_mutex_unlock(&service->range_mutex);
    return rc;
}

loci_embed_service_counts loci_embed_service_count(loci_embed_service *service)
{
    (void)pthread_mutex_lock(&service->mutex);
    loci_embed_service_counts counts = service->counts;
    (void)pthread_mutex_unlock(&service->mutex);
    return counts;
}

static loci_rc start_threads(loci_embed_service *s, unsigned count, loci_err *err)
{
    while (s->thread_count < count) {
        if (pthread_create(&s->threads[s->thread_count], NULL, serve, s) != 0)
            return loci_fail(err, LOCI_EBUSY, "cannot start a thread for the embedder");
        (void)pthread_mutex_lock(&s->mutex);
        s->thread_count++;
        (void)pthread_mutex_unlock(&s->mutex);
    }
    return LOCI_OK;
}

loci_rc loci_embed_service_new(loci_embedder *embedder, const loci_embed_service_options *options,
                               loci_embed_service **ret_service, loci_err *err)
{
    static const loci_embed_service_options none = { 0 };
    const loci_embed_service_options *o = options ? options : &none;
    const loci_embedder_info *info = loci_embedder_get_info(embedder);
    unsigned passes = o->passes ? o->passes : 2;
    loci_embed_service *made = loci_zalloc(sizeof *made);

    if (passes > LOCI_EMBED_PASSES) passes = LOCI_EMBED_PASSES;
    if (!made || pthread_mutex_init(&made->mutex, NULL) != 0) {
        loci_free(made);
        loci_embedder_close(embedder);
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    LOCI_AUTO(loci_embed_service_freep) loci_embed_service *s = made;
    (void)pthread_mutex_init(&s->range_mutex, NULL);
    (void)pthread_cond_init(&s->work, NULL);
    (void)pthread_condattr_init(&s->steady);
    (void)pthread_condattr_setclock(&s->steady, CLOCK_MONOTONIC);
    s->embedder = embedder;
    s->passes_most = passes;
    s->waiting_most = o->waiting ? o->waiting : LOCI_EMBED_WAITING;
    s->end = &s->first;
    s->low = info->cosine_low;
    s->high = info->cosine_high;
    s->range_known = s->high > s->low;
    loci_rc rc = start_threads(s, o->threads < passes ? o->threads : passes, err);
    if (rc) return rc;
    *ret_service = LOCI_TAKE(s);
    return LOCI_OK;
}

void loci_embed_service_free(loci_embed_service *service)
{
    if (!service) return;
    (void)pthread_mutex_lock(&service->mutex);
    service->stopping = true;
    (void)pthread_cond_broadcast(&service->work);
    (void)pthread_mutex_unlock(&service->mutex);
    for (unsigned i = 0; i < service->thread_count; i++)
        (void)pthread_join(service->threads[i], NULL);
    (void)pthread_cond_destroy(&service->work);
    (void)pthread_condattr_destroy(&service->steady);
    (void)pthread_mutex_destroy(&service->range_mutex);
    (void)pthread_mutex_destroy(&service->mutex);
    loci_embedder_close(service->embedder);
    loci_free(service);
}
