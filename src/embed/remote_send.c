#include "embed/remote_int.h"

#include "base/clock.h"
#include "base/id.h"

enum {
    TRIES = 5,
    LONGEST_WAIT = 8 * LOCI_SECOND,
    GLANCE = 50 * LOCI_MS,  /* between two looks at `cancelled` */
    VALUE_BYTES = 40,       /* of a number in an answer, with blanks and line breaks around */
    FRAME_BYTES = 64 << 10, /* of an answer beside its numbers */
};

/* What one try came to. */
typedef struct outcome {
    bool again;   /* another one may help, */
    int64_t wait; /* after this time, if the server said so */
    bool refused; /* the server does not want these texts */
} outcome;

static size_t answer_limit(const loci_remote *r, size_t count)
{
    size_t dim = loci_embedder_get_info(&r->base)->dim;
    return count * (dim ? dim : LOCI_REMOTE_DIM) * VALUE_BYTES + FRAME_BYTES;
}

/* The answer as it grows (twice its size), parsed (12 times), and the vectors. */
loci_arena *loci_remote_arena(const loci_remote *remote, size_t count)
{
    return loci_arena_new(16 * answer_limit(remote, count) + (1 << 20));
}

static bool over(const loci_remote_limits *limits)
{
    return loci_clock_steady() >= limits->deadline ||
           (limits->cancelled && limits->cancelled(limits->context));
}

/* False when there is no time for it, or nobody waits any more. */
static bool pause_for(int64_t wait, const loci_remote_limits *limits)
{
    int64_t until = loci_clock_steady() + wait;

    if (until >= limits->deadline) return false;
    while (!over(limits)) {
        int64_t left = until - loci_clock_steady();
        if (left <= 0) return true;
        loci_clock_sleep(left < GLANCE ? left : GLANCE);
    }
    return false;
}

/* Doubled each time; anything from half of it to all of it, so that many who failed together do
 * not come back together. Never sooner than the server asks for. */
static int64_t choose_wait(const loci_remote *r, unsigned tries, int64_t asked)
{
    int64_t wait = r->retry_wait << (tries - 1);
    uint32_t random = 0;

    if (wait > LONGEST_WAIT) wait = LONGEST_WAIT;
    if (loci_random_bytes(&random, sizeof random, NULL)) random = 0; /* then all wait the same */
    wait = wait / 2 + (int64_t)((uint64_t)random * (uint64_t)(wait / 2 + 1) >> 32);
    return wait > asked ? wait : asked;
}

static bool may_help(int status)
{
    return status == 408 || status == 429 || (status >= 500 && status != 501);
}

static loci_rc blame_key(const loci_remote *r, int status, loci_err *err)
{
    return loci_fail(err, LOCI_EAUTH, "%s %s (status %d); set LOCI_EMBEDDER_KEY%s", r->place.host,
                     r->key[0] ? "does not accept the key" : "wants a key", status,
                     r->shape == LOCI_REMOTE_OPENAI ? " or OPENAI_API_KEY" : "");
}

/* A status that is no success, as an error. */
static loci_rc read_status(const loci_remote *r, const loci_client_reply *reply, loci_arena *arena,
                           outcome *ret, loci_err *err)
{
    int status = reply->status;

    if (status == 401 || status == 403) return blame_key(r, status, err);
    loci_str says = loci_remote_complaint(reply->body, r->key, arena);
    loci_rc rc = status == 429                                     ? LOCI_EBUSY
                 : may_help(status)                                ? LOCI_EUNAVAILABLE
                 : status == 404                                   ? LOCI_ENOTFOUND
                 : status == 400 || status == 413 || status == 422 ? LOCI_EINVAL
                                                                   : LOCI_EIO;
    ret->again = may_help(status);
    ret->wait = reply->retry_after;
    ret->refused = rc == LOCI_EINVAL;
    return loci_fail(err, rc, "%s answered with status %d%s%s%.*s", r->place.host, status,
                     status == 404 && r->model[0] ? "; is there such a model?" : "",
                     says.len ? ": " : "", LOCI_ARG(says));
}

static loci_rc read_answer(const loci_remote *r, const loci_client_reply *reply, size_t count,
                           loci_arena *arena, loci_remote_vectors *ret, loci_err *err)
{
    loci_rc rc = loci_remote_read(r->shape, reply->body, count, arena, ret, err);
    if (rc) loci_err_prefix(err, "a wrong answer from %s", r->place.host);
    return rc;
}

static loci_rc try_once(loci_remote *r, const loci_remote_limits *limits, loci_str body,
                        size_t count, loci_arena *arena, loci_remote_vectors *ret_vectors,
                        outcome *ret, loci_err *err)
{
    char bearer[LOCI_REMOTE_KEY_BYTES + 8];
    loci_client_header headers[] = { { "Content-Type", "application/json" },
                                     { "Authorization", bearer } };
    loci_client_request request = { .method = LOCI_POST,
                                    .url = r->url,
                                    .headers = headers,
                                    .header_count = r->key[0] ? 2 : 1,
                                    .body = body,
                                    .deadline = limits->deadline,
                                    .reply_limit = answer_limit(r, count),
                                    .cancelled = limits->cancelled,
                                    .context = limits->context };
    loci_client_reply reply;

    loci_arena_reset(arena);
    (void)snprintf(bearer, sizeof bearer, "Bearer %s", r->key);
    loci_rc rc = loci_client_send(r->client, &request, arena, &reply, err);
    explicit_bzero(bearer, sizeof bearer);
    ret->again = rc == LOCI_EUNAVAILABLE && !over(limits);
    if (rc) return rc;
    if (reply.status >= 200 && reply.status < 300)
        return read_answer(r, &reply, count, arena, ret_vectors, err);
    return read_status(r, &reply, arena, ret, err);
}

loci_rc loci_remote_send(loci_remote *remote, const loci_remote_limits *limits,
                         const loci_str *texts, size_t count, loci_arena *arena,
                         loci_remote_vectors *ret_vectors, bool *ret_refused, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf body;

    /* A byte of text may become six, as \u0001 does. */
    loci_buf_init(&body, (size_t)6 * (LOCI_REMOTE_BATCH_BYTES + LOCI_REMOTE_TEXT_BYTES) +
                             6 * LOCI_REMOTE_NAME_BYTES + 4096);
    loci_rc rc = loci_remote_ask(remote->shape, remote->model, texts, count, &body, err);
    if (rc) return rc;

    for (unsigned tries = 1;; tries++) {
        outcome o = { 0 };
        rc = try_once(remote, limits, loci_buf_str(&body), count, arena, ret_vectors, &o, err);
        *ret_refused = o.refused;
        if (!rc || !o.again) return rc;
        if (tries == TRIES || !pause_for(choose_wait(remote, tries, o.wait), limits)) {
            if (tries > 1) loci_err_prefix(err, "tried %u times", tries);
            return rc;
        }
    }
}
