#include "embed/vectors.h"

#include "base/hash.h"
#include "db/stmt.h"
#include "embed/model.h"

#include <assert.h>
#include <endian.h>
#include <math.h>
#include <string.h>

enum { SWEEP_TEXTS = 500 };

enum {
    STMT_HAVE,
    STMT_LOAD,
    STMT_STORE,
    STMT_DROP_TEXT,
    STMT_DROP_WAITING,
    STMT_HASHES,
    STMT_FOREIGN_BELOW,
    STMT_FOREIGN_ABOVE,
    STMT_DROP_FOREIGN,
    STMT_MESSAGE_TEXT,
    STMT_MESSAGE_USES,
    STMT_MESSAGE_LIST,
    STMT_MESSAGE_MORE,
    STMT_PASSAGE_TEXT,
    STMT_PASSAGE_USES,
    STMT_PASSAGE_LIST,
    STMT_PASSAGE_MORE,
};

#define TEXT_OF(table)                                                                             \
    {                                                                                              \
        "ii", "SELECT text FROM " table " WHERE org = ?1 AND row = ?2", false                      \
    }
#define USES_OF(table)                                                                             \
    {                                                                                              \
        "ib", "SELECT 1 FROM " table " WHERE org = ?1 AND text_hash = ?2 LIMIT 1", false           \
    }
#define LIST_OF(table)                                                                             \
    {                                                                                              \
        "iii",                                                                                     \
            "SELECT row, text_hash FROM " table                                                    \
            " WHERE org = ?1 AND row > ?2 AND text_hash IS NOT NULL ORDER BY row LIMIT ?3",        \
            false                                                                                  \
    }
#define MORE_OF(table)                                                                             \
    {                                                                                              \
        "iii",                                                                                     \
            "SELECT count(*) FROM (SELECT 1 FROM " table                                           \
            " WHERE org = ?1 AND row > ?2 AND text_hash IS NOT NULL LIMIT ?3) AS few",             \
            false                                                                                  \
    }

static const loci_sql statements[] = {
    /* clang-format off */
    [STMT_HAVE] = { "itb",
        "SELECT 1 FROM vector WHERE org = ?1 AND model = ?2 AND text_hash = ?3 AND chunk = 0", false },
    [STMT_LOAD] = { "itb",
        "SELECT chunk, start, len, data FROM vector WHERE org = ?1 AND model = ?2 AND text_hash = ?3 "
        "ORDER BY chunk", false },
    [STMT_STORE] = { "itbiiiib",
        "INSERT INTO vector (org, model, text_hash, chunk, start, len, ver, data) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", false },
    [STMT_DROP_TEXT] = { "itb",
        "DELETE FROM vector WHERE org = ?1 AND model = ?2 AND text_hash = ?3", false },
    [STMT_DROP_WAITING] = { "ib", "DELETE FROM queue WHERE org = ?1 AND text_hash = ?2", false },
    [STMT_HASHES] = { "itbi",
        "SELECT text_hash FROM vector WHERE org = ?1 AND model = ?2 AND text_hash > ?3 AND chunk = 0 "
        "ORDER BY text_hash LIMIT ?4", false },
    [STMT_FOREIGN_BELOW] = { "it", "SELECT min(model) FROM vector WHERE org = ?1 AND model < ?2", false },
    [STMT_FOREIGN_ABOVE] = { "it", "SELECT min(model) FROM vector WHERE org = ?1 AND model > ?2", false },
    [STMT_DROP_FOREIGN] = { "iti",
        "DELETE FROM vector WHERE org = ?1 AND model = ?2 AND (text_hash, chunk) IN "
        "(SELECT text_hash, chunk FROM vector WHERE org = ?1 AND model = ?2 "
        " ORDER BY text_hash, chunk LIMIT ?3)", false },
    [STMT_MESSAGE_TEXT] = TEXT_OF("message"),
    [STMT_MESSAGE_USES] = USES_OF("message"),
    [STMT_MESSAGE_LIST] = LIST_OF("message"),
    [STMT_MESSAGE_MORE] = MORE_OF("message"),
    [STMT_PASSAGE_TEXT] = TEXT_OF("passage"),
    [STMT_PASSAGE_USES] = USES_OF("passage"),
    [STMT_PASSAGE_LIST] = LIST_OF("passage"),
    [STMT_PASSAGE_MORE] = MORE_OF("passage"),
    /* clang-format on */
};

/* Without these, learning whether anybody still uses a text would read whole tables. */
static const char *const migrations[] = {
    "CREATE INDEX message_text ON message (org, text_hash) WHERE text_hash IS NOT NULL;"
    "CREATE INDEX passage_text ON passage (org, text_hash);",
};

const loci_db_room loci_vectors_room = { .name = "vectors",
                                         .migrations = migrations,
                                         .migration_count = LOCI_COUNT(migrations),
                                         .statements = statements,
                                         .statement_count = LOCI_COUNT(statements) };

const loci_text_source loci_text_sources[] = {
    { "message", &loci_vectors_room, STMT_MESSAGE_TEXT, STMT_MESSAGE_USES, STMT_MESSAGE_LIST,
      STMT_MESSAGE_MORE },
    { "passage", &loci_vectors_room, STMT_PASSAGE_TEXT, STMT_PASSAGE_USES, STMT_PASSAGE_LIST,
      STMT_PASSAGE_MORE },
};
const size_t loci_text_source_count = LOCI_COUNT(loci_text_sources);

static loci_str hash_str(const uint8_t *hash)
{
    return (loci_str){ (const char *)hash, LOCI_TEXT_HASH };
}

loci_rc loci_vectors_hash(loci_str text, uint8_t ret_hash[LOCI_TEXT_HASH], loci_err *err)
{
    return loci_hash_bytes(LOCI_SHA256, text, ret_hash, err);
}

void loci_vectors_encode(const float *values, size_t dim, char *ret_bytes)
{
    for (size_t i = 0; i < dim; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = htole32(bits);
        memcpy(ret_bytes + i * sizeof bits, &bits, sizeof bits);
    }
}

loci_rc loci_vectors_decode(loci_str data, size_t dim, float *ret_values, loci_err *err)
{
    if (data.len != dim * sizeof(float))
        return loci_fail(err, LOCI_ECORRUPT, "a vector has %zu bytes; %zu values have %zu",
                         data.len, dim, dim * sizeof(float));
    for (size_t i = 0; i < dim; i++) {
        uint32_t bits;
        memcpy(&bits, data.ptr + i * sizeof bits, sizeof bits);
        bits = le32toh(bits);
        memcpy(&ret_values[i], &bits, sizeof bits);
        if (!isfinite(ret_values[i]))
            return loci_fail(err, LOCI_ECORRUPT, "value %zu of a vector is not a number", i);
    }
    return LOCI_OK;
}

/* Begin a statement whose parameters are organization, model and hash. */
static loci_rc begin_text(loci_tx *tx, size_t number, int64_t org, loci_str model,
                          const uint8_t *hash, loci_stmt **ret_stmt, loci_err *err)
{
    loci_rc rc = loci_stmt_begin(tx, &loci_vectors_room, number, ret_stmt, err);

    if (rc) return rc;
    loci_stmt_bind_i64(*ret_stmt, 1, org);
    loci_stmt_bind_text(*ret_stmt, 2, model);
    loci_stmt_bind_blob(*ret_stmt, 3, hash_str(hash));
    return LOCI_OK;
}

/* Whether a statement gives a row. */
static loci_rc has_row(loci_stmt *q, bool *ret_has, loci_err *err)
{
    loci_rc rc = loci_stmt_next(q, err);

    if (rc && rc != LOCI_DONE) return rc;
    *ret_has = rc == LOCI_OK;
    return LOCI_OK;
}

loci_rc loci_vectors_have(loci_tx *tx, int64_t org, loci_str model, const uint8_t *hash,
                          bool *ret_have, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = begin_text(tx, STMT_HAVE, org, model, hash, &q, err);

    return rc ? rc : has_row(q, ret_have, err);
}

/* Room for one more; twice as much each time, for the arena keeps what was outgrown. */
static loci_rc make_room(loci_vectors *v, size_t *capacity, loci_arena *arena, loci_err *err)
{
    if (v->count < *capacity) return LOCI_OK;
    size_t larger = *capacity ? 2 * *capacity : 1;
    loci_vector *items = loci_arena_array(arena, larger, sizeof *items);
    if (!items) return loci_arena_fail(arena, err);
    if (v->items) memcpy(items, v->items, v->count * sizeof *items);
    v->items = items;
    *capacity = larger;
    return LOCI_OK;
}

static loci_rc load_one(loci_stmt *q, loci_arena *arena, loci_vector *ret_vector, size_t dim,
                        loci_err *err)
{
    loci_vector one = { .start = (size_t)loci_stmt_i64(q, 1), .len = (size_t)loci_stmt_i64(q, 2) };

    one.values = loci_arena_array(arena, dim, sizeof *one.values);
    if (!one.values) return loci_arena_fail(arena, err);
    *ret_vector = one;
    return loci_vectors_decode(loci_stmt_blob(q, 3), dim, one.values, err);
}

loci_rc loci_vectors_load(loci_tx *tx, int64_t org, loci_str model, const uint8_t *hash, size_t dim,
                          loci_arena *arena, loci_vectors *ret_vectors, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_vectors found = { .dim = dim };
    size_t capacity = 0;
    loci_rc rc = begin_text(tx, STMT_LOAD, org, model, hash, &q, err);

    if (rc) return rc;
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        if (loci_stmt_i64(q, 0) != (int64_t)found.count || found.count == LOCI_VECTOR_CHUNKS)
            return loci_fail(err, LOCI_ECORRUPT, "the vectors of a text are not complete");
        rc = make_room(&found, &capacity, arena, err);
        assert(rc || found.items);
        if (!rc) rc = load_one(q, arena, &found.items[found.count], dim, err);
        if (rc) return rc;
        found.count++;
    }
    if (rc != LOCI_DONE) return rc;
    *ret_vectors = found;
    return LOCI_OK;
}

static loci_rc store_one(loci_change *change, loci_str model, const uint8_t *hash, size_t chunk,
                         const loci_vector *v, size_t dim, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    char bytes[LOCI_VECTOR_DIM * sizeof(float)];
    loci_rc rc = begin_text(change->tx, STMT_STORE, change->org, model, hash, &q, err);

    if (rc) return rc;
    loci_vectors_encode(v->values, dim, bytes);
    loci_stmt_bind_i64(q, 4, (int64_t)chunk);
    loci_stmt_bind_i64(q, 5, (int64_t)v->start);
    loci_stmt_bind_i64(q, 6, (int64_t)v->len);
    loci_stmt_bind_i64(q, 7, change->ver);
    loci_stmt_bind_blob(q, 8, (loci_str){ bytes, dim * sizeof(float) });
    return loci_stmt_post(q, err);
}

loci_rc loci_vectors_store(loci_change *change, loci_str model, const uint8_t *hash,
                           const loci_vectors *vectors, loci_err *err)
{
    bool have = false;

    if (!vectors->dim || vectors->dim > LOCI_VECTOR_DIM)
        return loci_fail(err, LOCI_ELIMIT, "a vector has 1 to %d values, not %zu", LOCI_VECTOR_DIM,
                         vectors->dim);
    if (!vectors->count || vectors->count > LOCI_VECTOR_CHUNKS)
        return loci_fail(err, LOCI_ELIMIT, "a text has 1 to %d vectors, not %zu",
                         LOCI_VECTOR_CHUNKS, vectors->count);
    loci_rc rc = loci_vectors_have(change->tx, change->org, model, hash, &have, err);
    for (size_t i = 0; !rc && !have && i < vectors->count; i++)
        rc = store_one(change, model, hash, i, &vectors->items[i], vectors->dim, err);
    return rc;
}

loci_rc loci_vectors_used(loci_tx *tx, int64_t org, const loci_text_source *sources,
                          size_t source_count, const uint8_t *hash, bool *ret_used, loci_err *err)
{
    bool used = false;

    for (size_t i = 0; !used && i < source_count; i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        loci_rc rc = loci_stmt_begin(tx, sources[i].room, sources[i].uses, &q, err);
        if (rc) return rc;
        loci_stmt_bind_i64(q, 1, org);
        loci_stmt_bind_blob(q, 2, hash_str(hash));
        rc = has_row(q, &used, err);
        if (rc) return rc;
    }
    *ret_used = used;
    return LOCI_OK;
}

/* Run to the end and count what was changed. */
static loci_rc run(loci_stmt *q, int64_t *ret_changes, loci_err *err)
{
    loci_rc rc = loci_stmt_run(q, err);

    if (!rc && ret_changes) *ret_changes += loci_stmt_changes(q);
    return rc;
}

static loci_rc drop_text(loci_change *change, loci_str model, const uint8_t *hash,
                         int64_t *ret_dropped, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = begin_text(change->tx, STMT_DROP_TEXT, change->org, model, hash, &q, err);

    return rc ? rc : run(q, ret_dropped, err);
}

static loci_rc drop_waiting(loci_change *change, const uint8_t *hash, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_vectors_room, STMT_DROP_WAITING, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_blob(q, 2, hash_str(hash));
    return loci_stmt_run(q, err);
}

/* The next model behind (or, below, before) `model` that has vectors; ptr is NULL for none. */
static loci_rc next_model(loci_tx *tx, int64_t org, loci_str model, bool below, loci_arena *arena,
                          loci_str *ret_model, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    size_t number = below ? STMT_FOREIGN_BELOW : STMT_FOREIGN_ABOVE;
    loci_rc rc = loci_stmt_begin(tx, &loci_vectors_room, number, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, model);
    rc = loci_stmt_next(q, err);
    return rc ? rc : loci_stmt_copy(q, 0, arena, ret_model, err);
}

loci_rc loci_vectors_forget(loci_change *change, const loci_text_source *sources,
                            size_t source_count, const uint8_t *hash, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    loci_str model = { "", 0 };
    bool used = false;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc =
        loci_vectors_used(change->tx, change->org, sources, source_count, hash, &used, err);
    if (rc || used) return rc;
    rc = drop_waiting(change, hash, err);
    while (!rc) {
        rc = next_model(change->tx, change->org, model, false, arena, &model, err);
        if (rc || !model.ptr) break;
        rc = drop_text(change, model, hash, NULL, err);
    }
    return rc;
}

/* What one step of a sweep found and its write drops. */
typedef struct sweep_step {
    const loci_vectors_sweeper *sweeper;
    loci_str model, foreign; /* the organization's, and another that has vectors */
    uint8_t (*hashes)[LOCI_TEXT_HASH];
    size_t count, unused;
    int64_t dropped;
} sweep_step;

static loci_rc list_hashes(loci_tx *tx, const loci_vectors_sweep *sweep, sweep_step *step,
                           size_t most, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = begin_text(tx, STMT_HASHES, step->sweeper->org, step->model, sweep->hash, &q, err);

    if (rc) return rc;
    /* The empty hash is before all others. */
    if (!sweep->begun) loci_stmt_bind_blob(q, 3, LOCI_STR(""));
    loci_stmt_bind_i64(q, 4, (int64_t)most);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        loci_str hash = loci_stmt_blob(q, 0);
        if (hash.len != LOCI_TEXT_HASH || step->count == most)
            return loci_fail(err, LOCI_ECORRUPT, "a vector has a hash of %zu bytes", hash.len);
        memcpy(step->hashes[step->count++], hash.ptr, LOCI_TEXT_HASH);
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

/* In one snapshot: which texts are next, and whether any is unused. */
static loci_rc look(loci_db *db, loci_vectors_sweep *sweep, sweep_step *step, size_t most,
                    loci_arena *arena, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    const loci_vectors_sweeper *s = step->sweeper;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_model_get(tx, s->org, arena, &step->model, err);
    if (rc || !step->model.ptr) return rc;
    rc = next_model(tx, s->org, step->model, true, arena, &step->foreign, err);
    if (!rc && !step->foreign.ptr)
        rc = next_model(tx, s->org, step->model, false, arena, &step->foreign, err);
    if (!rc) rc = list_hashes(tx, sweep, step, most, err);
    for (size_t i = 0; !rc && i < step->count; i++) {
        bool used = false;
        rc =
            loci_vectors_used(tx, s->org, s->sources, s->source_count, step->hashes[i], &used, err);
        step->unused += !used;
    }
    return rc;
}

static loci_rc drop_foreign(loci_change *change, sweep_step *step, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_vectors_room, STMT_DROP_FOREIGN, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_text(q, 2, step->foreign);
    loci_stmt_bind_i64(q, 3, SWEEP_TEXTS);
    return run(q, &step->dropped, err);
}

/* Looks again: since the snapshot a row may have come that uses the text, or the model may have
 * changed back. */
static loci_rc drop(loci_change *change, void *arg, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 16);
    sweep_step *step = arg;
    const loci_vectors_sweeper *s = step->sweeper;
    loci_str now = { NULL, 0 };

    step->dropped = 0;
    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = loci_model_get(change->tx, change->org, arena, &now, err);
    if (rc || !loci_str_eq(now, step->model)) return rc;
    if (step->foreign.ptr) rc = drop_foreign(change, step, err);
    for (size_t i = 0; !rc && step->unused && i < step->count; i++) {
        bool used = false;
        rc = loci_vectors_used(change->tx, change->org, s->sources, s->source_count,
                               step->hashes[i], &used, err);
        if (!rc && !used) rc = drop_text(change, step->model, step->hashes[i], &step->dropped, err);
    }
    return rc;
}

loci_rc loci_vectors_sweep_step(loci_db *db, const loci_vectors_sweeper *sweeper,
                                loci_vectors_sweep *sweep, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(4 << 20);
    size_t most = sweeper->texts && sweeper->texts < 10000 ? sweeper->texts : SWEEP_TEXTS;
    sweep_step step = { .sweeper = sweeper };
    loci_write_request request = {
        .org = sweeper->org, .run = drop, .arg = &step, .door = LOCI_STR("work")
    };

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    step.hashes = loci_arena_array(arena, most, LOCI_TEXT_HASH);
    if (!step.hashes) return loci_arena_fail(arena, err);
    loci_rc rc = look(db, sweep, &step, most, arena, err);
    if (!rc && (step.foreign.ptr || step.unused))
        rc = loci_write(sweeper->writer, &request, NULL, NULL, err);
    if (rc) return rc;
    sweep->dropped += step.dropped;
    sweep->done = !step.foreign.ptr && step.count < most;
    if (step.count) {
        memcpy(sweep->hash, step.hashes[step.count - 1], LOCI_TEXT_HASH);
        sweep->begun = true;
    }
    return LOCI_OK;
}
