#include "embed/reindex.h"

#include "base/clock.h"
#include "base/map.h"
#include "db/stmt.h"
#include "embed/drain_int.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_ROWS = 64, PAUSE = 100 * LOCI_MS };

enum { STMT_JOBS, STMT_HURRY, STMT_DELETE, STMT_ADD, STMT_MOVE, STMT_ADD_ROW };

#define REINDEX "kind = '" LOCI_QUEUE_REINDEX "'"

static const loci_sql statements[] = {
    /* clang-format off */
    [STMT_JOBS]   = { "i", "SELECT 1 FROM queue WHERE org = ?1 AND " REINDEX " LIMIT 1", false },
    [STMT_HURRY]  = { "i", "UPDATE queue SET due = 0 WHERE org = ?1 AND " REINDEX " AND lease = 0", false },
    [STMT_DELETE] = { "i", "DELETE FROM queue WHERE org = ?1 AND " REINDEX, false },
    [STMT_ADD]    = { "iib",
        "INSERT INTO queue (org, job, kind, row, text_hash, tries, due, lease) "
        "VALUES (?1, ?2, '" LOCI_QUEUE_REINDEX "', 0, ?3, 0, 0, 0)", false },
    [STMT_MOVE]   = { "iii", "UPDATE queue SET row = ?3 WHERE org = ?1 AND job = ?2", false },
    [STMT_ADD_ROW] = { "iitibi",
        "INSERT INTO queue (org, job, kind, row, text_hash, tries, due, lease) "
        "SELECT o.org, ?2, ?3, ?4, ?5, 0, ?6, 0 FROM org o WHERE o.org = ?1 AND NOT EXISTS "
        "(SELECT 1 FROM queue q WHERE q.org = ?1 AND q.text_hash = ?5)", false },
    /* clang-format on */
};

const loci_db_room loci_reindex_room = { .name = "reindex",
                                         .statements = statements,
                                         .statement_count = LOCI_COUNT(statements) };

/* A row that the walk came to. */
typedef struct walked {
    int64_t row;
    const loci_text_source *source;
    uint8_t hash[LOCI_TEXT_HASH];
    loci_make_item *made; /* NULL: nothing to make; shared by rows of the same text */
} walked;

typedef struct walk {
    loci_batch *batch;
    const loci_job *job;
    walked *rows;
    size_t count;
    loci_make_item *made;
    size_t made_count;
    int64_t cursor;
    bool mine;
} walk;

static loci_rc list_source(loci_tx *tx, walk *w, const loci_text_source *source, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, source->room, source->list, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, w->batch->org);
    loci_stmt_bind_i64(q, 2, w->job->row);
    loci_stmt_bind_i64(q, 3, STEP_ROWS);
    for (size_t n = 0; (rc = loci_stmt_next(q, err)) == LOCI_OK && n < STEP_ROWS; n++) {
        walked *r = &w->rows[w->count++];
        loci_str hash = loci_stmt_blob(q, 1);
        *r = (walked){ .row = loci_stmt_i64(q, 0), .source = source };
        if (hash.len == LOCI_TEXT_HASH)
            memcpy(r->hash, hash.ptr, LOCI_TEXT_HASH);
        else
            w->count--; /* not a hash of ours: no vectors to be found by it */
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static int by_row(const void *a, const void *b)
{
    int64_t x = ((const walked *)a)->row, y = ((const walked *)b)->row;

    return (x > y) - (x < y);
}

/* The next rows of all tables, in order. */
static loci_rc list_rows(loci_tx *tx, walk *w, loci_err *err)
{
    size_t count;
    const loci_text_source *sources = loci_embedding_sources(w->batch->embedding, &count);
    loci_rc rc = LOCI_OK;

    w->rows = loci_arena_array(w->batch->arena, count * STEP_ROWS, sizeof *w->rows);
    w->made = loci_arena_array(w->batch->arena, STEP_ROWS, sizeof *w->made);
    if (!w->rows || !w->made) return loci_arena_fail(w->batch->arena, err);
    for (size_t i = 0; !rc && i < count; i++) rc = list_source(tx, w, &sources[i], err);
    if (rc) return rc;
    qsort(w->rows, w->count, sizeof *w->rows, by_row);
    if (w->count > STEP_ROWS) w->count = STEP_ROWS;
    return LOCI_OK;
}

static loci_rc prepare_row(loci_tx *tx, walk *w, walked *r, loci_map *seen, size_t *bytes,
                           loci_err *err)
{
    loci_str key = { (const char *)r->hash, LOCI_TEXT_HASH }, text = { NULL, 0 };
    bool have = false, found = false;
    loci_rc rc = loci_vectors_have(tx, w->batch->org, w->batch->model, r->hash, &have, err);

    if (rc || have) return rc;
    r->made = loci_map_find(seen, key);
    if (r->made) return LOCI_OK;
    rc = loci_batch_read(tx, w->batch, r->source, r->row, &text, &found, err);
    if (rc || !found || !text.len) return rc;
    *bytes += text.len;
    r->made = &w->made[w->made_count++];
    *r->made = (loci_make_item){ .text = text };
    return loci_map_set(seen, key, r->made, err);
}

/* Find the rows of this step, and what is to be made for them. */
static loci_rc prepare(walk *w, loci_err *err)
{
    LOCI_AUTO(loci_map_freep) loci_map *seen = NULL;
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    size_t bytes = 0, i = 0;
    loci_rc rc = loci_map_new(&(loci_map_options){ .borrow_keys = true }, &seen, err);

    if (!rc) rc = loci_tx_begin(w->batch->embedding->db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = list_rows(tx, w, err);
    for (; !rc && i < w->count && bytes <= LOCI_DRAIN_BYTES; i++)
        rc = prepare_row(tx, w, &w->rows[i], seen, &bytes, err);
    w->count = i;
    if (!rc && i) w->cursor = w->rows[i - 1].row;
    return rc;
}

/* A text that was refused waits for itself alone, if it does not already. */
static loci_rc add_row(loci_change *change, const walked *r, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_reindex_room, STMT_ADD_ROW, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, loci_change_row(change));
    loci_stmt_bind_text(q, 3, loci_str_from(r->source->kind));
    loci_stmt_bind_i64(q, 4, r->row);
    loci_stmt_bind_blob(q, 5, (loci_str){ (const char *)r->hash, LOCI_TEXT_HASH });
    loci_stmt_bind_i64(q, 6, change->born);
    return loci_stmt_post(q, err);
}

/* A row may have been erased since it was read: then its text gets no vectors. */
static loci_rc store_row(loci_change *change, const walk *w, const walked *r, loci_err *err)
{
    size_t count;
    const loci_text_source *sources = loci_embedding_sources(w->batch->embedding, &count);
    int64_t waiting = 0;
    bool used = false;
    loci_rc rc = loci_vectors_used(change->tx, change->org, sources, count, r->hash, &used, err);

    if (rc || !used) return rc;
    if (r->made->rc) return add_row(change, r, err);
    rc = loci_batch_delete_text(change, r->hash, &waiting, err);
    return rc ? rc : loci_vectors_store(change, w->batch->model, r->hash, &r->made->vectors, err);
}

static loci_rc move(loci_change *change, const walk *w, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_reindex_room, STMT_MOVE, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, w->job->job);
    loci_stmt_bind_i64(q, 3, w->cursor);
    return loci_stmt_run(q, err);
}

/* With another model than ours the job is one of the past and is gone. */
static loci_rc store(loci_change *change, void *arg, loci_err *err)
{
    walk *w = arg;
    loci_rc rc = loci_model_claim(change, w->batch->model, &w->mine, err);

    for (size_t i = 0; !rc && w->mine && i < w->count; i++)
        if (w->rows[i].made) rc = store_row(change, w, &w->rows[i], err);
    return rc || !w->mine ? rc : move(change, w, err);
}

/* The embedder's failure, as opposed to that of a text. */
static loci_make_item *find_down(const walk *w)
{
    for (size_t i = 0; i < w->made_count; i++)
        if (loci_embed_is_down(w->made[i].rc)) return &w->made[i];
    return NULL;
}

loci_rc loci_reindex_step(loci_batch *b, loci_job *job, loci_err *err)
{
    walk w = { .batch = b, .job = job };
    loci_write_request request = {
        .org = b->org, .run = store, .arg = &w, .door = LOCI_STR("work")
    };
    loci_rc rc = prepare(&w, err);

    if (rc) return rc;
    job->over = w.count == 0;
    if (job->over) return LOCI_OK;
    b->result->taken += w.count - 1; /* so that a call is bounded by rows */
    loci_batch_make(b, w.made, w.made_count);
    job->made = find_down(&w);
    return job->made ? LOCI_OK : loci_write(b->embedding->writer, &request, NULL, NULL, err);
}

static loci_rc has_job(loci_change *change, bool *ret_has, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_reindex_room, STMT_JOBS, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    rc = loci_stmt_next(q, err);
    *ret_has = rc == LOCI_OK;
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc change_jobs(loci_change *change, size_t statement, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_reindex_room, statement, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    if (statement == STMT_ADD) {
        loci_stmt_bind_i64(q, 2, loci_change_row(change));
        loci_stmt_bind_blob(q, 3, LOCI_STR("")); /* the job is about no text in particular */
    }
    return loci_stmt_run(q, err);
}

static loci_rc begin(loci_change *change, void *arg, loci_err *err)
{
    const loci_str *model = arg;
    bool same = false, has = false;
    loci_rc rc = loci_model_claim(change, *model, &same, err);

    if (!rc && same) rc = has_job(change, &has, err);
    if (rc) return rc;
    /* It may be waiting for an embedder that was away; somebody wants it now. */
    if (has) return change_jobs(change, STMT_HURRY, err);
    if (!same) rc = loci_model_set(change, *model, err);
    if (!rc) rc = change_jobs(change, STMT_DELETE, err);
    return rc ? rc : change_jobs(change, STMT_ADD, err);
}

loci_rc loci_reindex_begin(const loci_embedding *embedding, int64_t org, loci_err *err)
{
    loci_embed_service *service = NULL;
    loci_str model = { NULL, 0 };
    loci_write_request request = {
        .org = org, .run = begin, .arg = &model, .door = LOCI_STR("work")
    };

    if (!embedding->models) return loci_fail(err, LOCI_EINVAL, "no embedder is configured");
    loci_rc rc = loci_models_find(embedding->models, (loci_str){ NULL, 0 }, &service, err);
    if (rc) return rc;
    model = loci_str_from(loci_embed_service_info(service)->id);
    return loci_write(embedding->writer, &request, NULL, NULL, err);
}

/* How much there is to move, and how much of it fails and is left to the queue. */
static loci_rc count_left(const loci_embedding *e, int64_t org, loci_reindex_result *result,
                          int64_t *ret_left, loci_err *err)
{
    loci_queue_pending p = { 0 };
    loci_rc rc = loci_queue_count(e, org, &p, err);

    if (rc) return rc;
    int64_t all = p.moving + p.waiting;
    if (all > result->total) result->total = all;
    result->done = result->total - all;
    result->failing = p.failing;
    *ret_left = all - p.failing;
    return LOCI_OK;
}

/* Why there is no point in going on. */
static loci_rc check_drained(const loci_drain_result *drained, loci_err *err)
{
    loci_rc code = drained->err.code;

    if (drained->degraded)
        return loci_fail(err, LOCI_ECONFLICT, "somebody else has changed the model meanwhile");
    return loci_embed_is_down(code) ? loci_fail(err, code, "%s", drained->err.msg) : LOCI_OK;
}

loci_rc loci_reindex(const loci_embedding *embedding, const loci_reindex_options *options,
                     loci_reindex_result *ret_result, loci_err *err)
{
    loci_drain_options o = { .org = options->org, .most = STEP_ROWS };
    loci_reindex_result result = { 0 };
    int64_t left = 0;
    bool on = true;
    loci_rc rc = loci_reindex_begin(embedding, options->org, err);

    if (!rc) rc = count_left(embedding, options->org, &result, &left, err);
    while (!rc && on && !result.finished) {
        loci_drain_result drained = { 0 };
        result.finished = left == 0; /* then this is for the job, which finds nothing more */
        rc = loci_drain(embedding, &o, &drained, err);
        if (!rc) rc = check_drained(&drained, err);
        if (!rc) rc = count_left(embedding, options->org, &result, &left, err);
        if (!rc && left && !drained.taken) loci_clock_sleep(PAUSE); /* others have it in hand */
        if (!rc && options->progress)
            on = options->progress(options->arg, result.done, result.total);
    }
    result.finished = result.finished && !rc;
    if (ret_result) *ret_result = result;
    return rc;
}
