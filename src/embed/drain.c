#include "embed/drain.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/map.h"
#include "base/utf8.h"
#include "db/stmt.h"
#include "embed/drain_int.h"

#include <string.h>

enum { MOST = 1024, BACKOFF_STEPS = 12, ERROR_BYTES = 200, LEASE_ATTEMPTS = 5 };

#define BACKOFF_MOST (INT64_C(3600) * LOCI_SECOND)

enum {
    STMT_NEXT_ORG,
    STMT_DUE,
    STMT_LEASE,
    STMT_RENEW,
    STMT_DELETE_JOB,
    STMT_DELETE_TEXT,
    STMT_AGAIN,
};

static const loci_sql statements[] = {
    /* clang-format off */
    [STMT_NEXT_ORG] = { "i", "SELECT org FROM queue WHERE org > ?1 ORDER BY org LIMIT 1", false },
    [STMT_DUE] = { "iii",
        "SELECT job, kind, row, text_hash, tries FROM queue WHERE org = ?1 AND due <= ?2 "
        "ORDER BY due, job LIMIT ?3", false },
    /* In PostgreSQL the second of two who want the same row waits for the first, and then finds
     * that it is due no more. */
    [STMT_LEASE] = { "iIii",
        "UPDATE queue SET lease = ?4, due = ?4 WHERE org = ?1 AND job {in ?2} AND due <= ?3 "
        "RETURNING job", false },
    [STMT_RENEW] = { "iIii",
        "UPDATE queue SET lease = ?4, due = ?4 WHERE org = ?1 AND job {in ?2} AND lease = ?3", false },
    [STMT_DELETE_JOB] = { "ii", "DELETE FROM queue WHERE org = ?1 AND job = ?2", false },
    [STMT_DELETE_TEXT] = { "ib", "DELETE FROM queue WHERE org = ?1 AND text_hash = ?2", false },
    [STMT_AGAIN] = { "iiiiit",
        "UPDATE queue SET lease = 0, due = ?4, tries = tries + ?5, error = ?6 "
        "WHERE org = ?1 AND job = ?2 AND lease = ?3", false },
    /* clang-format on */
};

const loci_db_room loci_drain_room = { .name = "drain",
                                       .statements = statements,
                                       .statement_count = LOCI_COUNT(statements) };

/* What is due, in `b->jobs`; nothing is leased yet. */
static loci_rc list_due(loci_batch *b, size_t most, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_tx_begin(b->embedding->db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &loci_drain_room, STMT_DUE, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, b->org);
    loci_stmt_bind_i64(q, 2, b->now);
    loci_stmt_bind_i64(q, 3, (int64_t)most);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK && b->count < most) {
        loci_job *j = &b->jobs[b->count++];
        loci_str kind = loci_stmt_text(q, 1), hash = loci_stmt_blob(q, 3);
        *j = (loci_job){ .job = loci_stmt_i64(q, 0),
                         .row = loci_stmt_i64(q, 2),
                         .tries = loci_stmt_i64(q, 4) };
        j->source = loci_embedding_find_source(b->embedding, kind);
        j->reindex = loci_str_eq(kind, LOCI_STR(LOCI_QUEUE_REINDEX));
        if (hash.len == LOCI_TEXT_HASH) memcpy(j->hash, hash.ptr, LOCI_TEXT_HASH);
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static size_t list_numbers(const loci_batch *b, int64_t *numbers)
{
    for (size_t i = 0; i < b->count; i++) numbers[i] = b->jobs[i].job;
    return b->count;
}

static void set_mine(loci_batch *b, int64_t job)
{
    for (size_t i = 0; i < b->count; i++) b->jobs[i].mine |= b->jobs[i].job == job;
}

/* The end of a lease is its name too: a thousandth of a second at random tells two of them apart.
 */
static loci_rc new_token(int64_t until, int64_t *ret_token, loci_err *err)
{
    uint16_t noise = 0;
    loci_rc rc = loci_random_bytes(&noise, sizeof noise, err);

    if (!rc) *ret_token = until + noise % LOCI_MS;
    return rc;
}

static loci_rc try_lease(loci_batch *b, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t numbers[LOCI_DRAIN_BATCH];
    loci_rc rc = loci_tx_begin(b->embedding->db, LOCI_TX_WRITE, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &loci_drain_room, STMT_LEASE, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, b->org);
    loci_stmt_bind_i64s(q, 2, numbers, list_numbers(b, numbers));
    loci_stmt_bind_i64(q, 3, b->now);
    loci_stmt_bind_i64(q, 4, b->token);
    for (size_t i = 0; i < b->count; i++) b->jobs[i].mine = false;
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) set_mine(b, loci_stmt_i64(q, 0));
    if (rc != LOCI_DONE) return rc;
    loci_stmt_endp(&q);
    return loci_tx_commit(tx, err);
}

/* Take what is due; others may be doing the same, and keep what they got first. */
static loci_rc lease(loci_batch *b, loci_err *err)
{
    size_t kept = 0;
    loci_rc rc = new_token(b->now + b->lease, &b->token, err);

    for (int i = 0; !rc && i < LEASE_ATTEMPTS; i++) {
        rc = try_lease(b, err);
        if (rc != LOCI_EBUSY) break;
        if (i + 1 < LEASE_ATTEMPTS) rc = LOCI_OK;
    }
    if (rc) return rc;
    b->renewed = loci_clock_steady();
    for (size_t i = 0; i < b->count; i++)
        if (b->jobs[i].mine) b->jobs[kept++] = b->jobs[i];
    b->count = kept;
    return LOCI_OK;
}

/* Called between passes: keep the lease while the work goes on. */
static loci_rc renew(void *arg, loci_err *err)
{
    loci_batch *b = arg;
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t numbers[LOCI_DRAIN_BATCH], token = 0, gone = loci_clock_steady() - b->renewed;

    if (gone < b->lease / 3) return LOCI_OK;
    loci_rc rc = new_token(b->token + gone, &token, err);
    if (!rc) rc = loci_tx_begin(b->embedding->db, LOCI_TX_WRITE, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_drain_room, STMT_RENEW, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, b->org);
    loci_stmt_bind_i64s(q, 2, numbers, list_numbers(b, numbers));
    loci_stmt_bind_i64(q, 3, b->token);
    loci_stmt_bind_i64(q, 4, token);
    rc = loci_stmt_run(q, err);
    if (rc) return rc;
    bool lost = loci_stmt_changes(q) == 0;
    loci_stmt_endp(&q);
    rc = loci_tx_commit(tx, err);
    if (!rc && lost) return loci_fail(err, LOCI_ECONFLICT, "somebody else has taken the work over");
    b->token = token;
    b->renewed += gone;
    return rc;
}

loci_rc loci_batch_read(loci_tx *tx, const loci_batch *b, const loci_text_source *source,
                        int64_t row, loci_str *ret_text, bool *ret_found, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, source->room, source->text, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, b->org);
    loci_stmt_bind_i64(q, 2, row);
    rc = loci_stmt_next(q, err);
    *ret_found = rc == LOCI_OK;
    if (rc) return rc == LOCI_DONE ? LOCI_OK : rc;
    *ret_text = loci_arena_str(b->arena, loci_utf8_cut(loci_stmt_text(q, 0), LOCI_MAKE_TEXT));
    return ret_text->ptr ? LOCI_OK : loci_arena_fail(b->arena, err);
}

/* Find out what one job needs: nothing, the vectors of a text before it, or its own. */
static loci_rc prepare_job(loci_tx *tx, loci_batch *b, loci_job *j, loci_map *seen, size_t *bytes,
                           loci_err *err)
{
    loci_str text = { NULL, 0 }, key = { (const char *)j->hash, LOCI_TEXT_HASH };
    bool have = false, found = false;
    loci_rc rc = loci_vectors_have(tx, b->org, b->model, j->hash, &have, err);

    if (rc) return rc;
    j->over = have;
    j->made = have ? NULL : loci_map_find(seen, key);
    if (have || j->made) return LOCI_OK;
    j->later = *bytes > LOCI_DRAIN_BYTES;
    if (j->later) return LOCI_OK;
    rc = loci_batch_read(tx, b, j->source, j->row, &text, &found, err);
    if (rc) return rc;
    j->over = !found || !text.len;
    if (j->over) return LOCI_OK;
    *bytes += text.len;
    j->made = &b->made[b->made_count++];
    *j->made = (loci_make_item){ .text = text };
    return loci_map_set(seen, key, j->made, err);
}

static loci_rc prepare(loci_batch *b, loci_err *err)
{
    LOCI_AUTO(loci_map_freep) loci_map *seen = NULL;
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    size_t bytes = 0;
    loci_rc rc = loci_map_new(&(loci_map_options){ .borrow_keys = true }, &seen, err);

    if (!rc) rc = loci_tx_begin(b->embedding->db, LOCI_TX_READ, &tx, err);
    for (size_t i = 0; !rc && i < b->count; i++)
        if (b->jobs[i].source) rc = prepare_job(tx, b, &b->jobs[i], seen, &bytes, err);
    return rc;
}

void loci_batch_make(loci_batch *b, loci_make_item *made, size_t count)
{
    loci_make_options o = { .tokens = b->embedding->chunk_tokens,
                            .overlap = b->embedding->chunk_overlap,
                            .tick = renew,
                            .arg = b };

    loci_make_vectors(b->service, &o, made, count, b->arena);
    for (size_t i = 0; i < count; i++) {
        b->result->computed += !made[i].rc;
        if (made[i].rc) b->result->err = made[i].err;
        b->down |= loci_embed_is_down(made[i].rc);
    }
}

loci_rc loci_batch_delete_text(loci_change *change, const uint8_t *hash, int64_t *ret_count,
                               loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_drain_room, STMT_DELETE_TEXT, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_blob(q, 2, (loci_str){ (const char *)hash, LOCI_TEXT_HASH });
    rc = loci_stmt_run(q, err);
    if (!rc) *ret_count = loci_stmt_changes(q);
    return rc;
}

/* The write: the jobs of each text go, its vectors come. A text without jobs is one that another
 * process has done, or whose rows were erased meanwhile: its vectors are not stored. With another
 * model than ours nothing happens. */
static loci_rc store(loci_change *change, void *arg, loci_err *err)
{
    loci_batch *b = arg;
    loci_rc rc = loci_model_claim(change, b->model, &b->stored, err);

    for (size_t i = 0; !rc && b->stored && i < b->count; i++) {
        const loci_job *j = &b->jobs[i];
        int64_t deleted = 0;
        if (!j->made || j->made->rc) continue;
        rc = loci_batch_delete_text(change, j->hash, &deleted, err);
        if (!rc && deleted)
            rc = loci_vectors_store(change, b->model, j->hash, &j->made->vectors, err);
    }
    return rc;
}

static loci_rc store_ready(loci_batch *b, loci_err *err)
{
    loci_write_request request = {
        .org = b->org, .run = store, .arg = b, .door = LOCI_STR("work")
    };
    bool some = false;

    for (size_t i = 0; i < b->made_count; i++) some |= b->made[i].rc == LOCI_OK;
    return some ? loci_write(b->embedding->writer, &request, NULL, NULL, err) : LOCI_OK;
}

/* When to try again: between half and all of a pause that doubles. */
static int64_t again_at(const loci_batch *b, const loci_job *j)
{
    int64_t step = j->tries < BACKOFF_STEPS ? j->tries : BACKOFF_STEPS;
    int64_t pause = (INT64_C(1) << step) * LOCI_SECOND, jitter = 0;
    uint32_t noise = 0;

    if (pause > BACKOFF_MOST) pause = BACKOFF_MOST;
    if (!loci_random_bytes(&noise, sizeof noise, NULL)) jitter = noise % (pause / 2);
    return b->now + pause - jitter;
}

static loci_rc delete_job(loci_tx *tx, const loci_batch *b, const loci_job *j, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_drain_room, STMT_DELETE_JOB, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, b->org);
    loci_stmt_bind_i64(q, 2, j->job);
    return loci_stmt_post(q, err);
}

/* Give the lease back, with the error if there was one. */
static loci_rc give_back(loci_tx *tx, const loci_batch *b, const loci_job *j, const char *error,
                         loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf clean = { 0 };
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_str text = loci_utf8_cut(loci_str_from(error), ERROR_BYTES);
    loci_rc rc = loci_stmt_begin(tx, &loci_drain_room, STMT_AGAIN, &q, err);

    if (rc) return rc;
    loci_buf_init(&clean, 4 * ERROR_BYTES);
    loci_utf8_repair(&clean, text);
    loci_stmt_bind_i64(q, 1, b->org);
    loci_stmt_bind_i64(q, 2, j->job);
    loci_stmt_bind_i64(q, 3, b->token);
    loci_stmt_bind_i64(q, 4, error ? again_at(b, j) : b->now);
    loci_stmt_bind_i64(q, 5, error ? 1 : 0);
    loci_stmt_bind_text_or_null(q, 6, error ? loci_buf_str(&clean) : (loci_str){ NULL, 0 });
    return loci_stmt_post(q, err);
}

/* What becomes of a job that the write did not settle. */
static loci_rc settle_job(loci_tx *tx, loci_batch *b, const loci_job *j, loci_err *err)
{
    if (j->over) {
        b->result->done++;
        return delete_job(tx, b, j, err);
    }
    if (j->made && j->made->rc) {
        b->result->failed++;
        return give_back(tx, b, j, j->made->err.msg, err);
    }
    if (!j->source && !j->reindex) {
        b->result->failed++;
        return give_back(tx, b, j, "this program does not know where its text is", err);
    }
    if (j->made && b->stored) {
        b->result->done++; /* and deleted by the write */
        return LOCI_OK;
    }
    return give_back(tx, b, j, NULL, err);
}

static loci_rc settle(loci_batch *b, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    bool some = !b->stored;

    for (size_t i = 0; i < b->count; i++)
        some |= !b->jobs[i].made || b->jobs[i].made->rc != LOCI_OK;
    if (!some) {
        b->result->done += b->count;
        return LOCI_OK;
    }
    loci_rc rc = loci_tx_begin(b->embedding->db, LOCI_TX_WRITE, &tx, err);
    for (size_t i = 0; !rc && i < b->count; i++) rc = settle_job(tx, b, &b->jobs[i], err);
    return rc ? rc : loci_tx_commit(tx, err);
}

/* Take a batch and work it off. *ret_more: another one is worth a try. */
static loci_rc run_batch(loci_batch *b, size_t most, bool *ret_more, loci_err *err)
{
    loci_rc rc = list_due(b, most, err);

    *ret_more = false;
    if (rc || !b->count) return rc;
    rc = lease(b, err);
    if (rc) return rc;
    *ret_more = true;
    if (!b->count) return LOCI_OK;
    b->result->taken += b->count;
    rc = prepare(b, err);
    if (rc) return rc;
    loci_batch_make(b, b->made, b->made_count);
    rc = store_ready(b, err);
    for (size_t i = 0; !rc && i < b->count; i++)
        if (b->jobs[i].reindex) rc = loci_reindex_step(b, &b->jobs[i], err);
    if (rc) return rc;
    *ret_more = !b->down;
    return settle(b, err);
}

static loci_rc init_batch(loci_batch *b, loci_err *err)
{
    loci_arena_reset(b->arena);
    b->count = b->made_count = 0;
    b->stored = b->down = false;
    b->jobs = loci_arena_array(b->arena, LOCI_DRAIN_BATCH, sizeof *b->jobs);
    b->made = loci_arena_array(b->arena, LOCI_DRAIN_BATCH, sizeof *b->made);
    return b->jobs && b->made ? LOCI_OK : loci_arena_fail(b->arena, err);
}

/* Whose turn it is and what time, per batch: the model may change between two. */
static loci_rc drain_org(const loci_embedding *e, const loci_drain_options *o, int64_t org,
                         loci_drain_result *result, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(LOCI_DRAIN_ARENA);
    loci_batch b = { .embedding = e, .org = org, .arena = arena, .result = result };
    size_t most = o->most ? o->most : MOST;
    bool more = true;
    loci_rc rc = LOCI_OK;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    b.lease = o->lease ? o->lease : LOCI_DRAIN_LEASE;
    while (!rc && more && result->taken < most && !(o->stop && o->stop(o->arg))) {
        size_t left = most - result->taken;
        b.now = o->now ? o->now : loci_clock_now();
        if (!e->models || loci_model_service(e->db, e->models, org, &b.service, &result->err)) {
            result->degraded++;
            return LOCI_OK;
        }
        b.model = loci_str_from(loci_embed_service_info(b.service)->id);
        rc = init_batch(&b, err);
        if (!rc) rc = run_batch(&b, left < LOCI_DRAIN_BATCH ? left : LOCI_DRAIN_BATCH, &more, err);
    }
    return rc;
}

static loci_rc next_org(loci_db *db, int64_t after, int64_t *ret_org, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &loci_drain_room, STMT_NEXT_ORG, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, after);
    rc = loci_stmt_next(q, err);
    if (!rc) *ret_org = loci_stmt_i64(q, 0);
    return rc;
}

loci_rc loci_drain(const loci_embedding *embedding, const loci_drain_options *options,
                   loci_drain_result *ret_result, loci_err *err)
{
    static const loci_drain_options none = { 0 };
    const loci_drain_options *o = options ? options : &none;
    loci_drain_result result = { 0 };
    int64_t org = 0;
    loci_rc rc = LOCI_OK;

    if (o->org)
        rc = drain_org(embedding, o, o->org, &result, err);
    else
        while (!rc && (rc = next_org(embedding->db, org, &org, err)) == LOCI_OK)
            rc = drain_org(embedding, o, org, &result, err);
    if (rc == LOCI_DONE) rc = LOCI_OK;
    if (ret_result) *ret_result = result;
    return rc;
}
