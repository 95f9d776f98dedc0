#include "embed/queue.h"

#include "base/clock.h"
#include "base/map.h"
#include "db/stmt.h"
#include "embed/make.h"

#include <stdio.h>
#include <string.h>

enum { STMT_ADD, STMT_ADD_ANYWAY, STMT_COUNT, STMT_COUNT_ALL, STMT_ERROR, STMT_DUE, STMT_CURSOR };

/* Literals, so that the partial index is used. */
#define REINDEX "kind = '" LOCI_QUEUE_REINDEX "'"
#define OTHERS "kind <> '" LOCI_QUEUE_REINDEX "'"

static const loci_sql statements[] = {
    /* clang-format off */
    /* Only if the vectors are not there. */
    [STMT_ADD] = { "iitibit",
        "INSERT INTO queue (org, job, kind, row, text_hash, tries, due, lease) "
        "SELECT o.org, ?2, ?3, ?4, ?5, 0, ?6, 0 FROM org o WHERE o.org = ?1 AND NOT EXISTS "
        "(SELECT 1 FROM vector v WHERE v.org = ?1 AND v.model = ?7 AND v.text_hash = ?5 AND v.chunk = 0)",
        false },
    [STMT_ADD_ANYWAY] = { "iitibi",
        "INSERT INTO queue (org, job, kind, row, text_hash, tries, due, lease) "
        "VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, 0)", false },
    [STMT_COUNT] = { "ii",
        "SELECT count(*), CAST(coalesce(sum(CASE WHEN tries > 0 THEN 1 ELSE 0 END), 0) AS BIGINT) "
        "FROM (SELECT tries FROM queue WHERE org = ?1 AND " OTHERS " LIMIT ?2) AS few", false },
    [STMT_COUNT_ALL] = { "i",
        "SELECT count(*), CAST(coalesce(sum(CASE WHEN tries > 0 THEN 1 ELSE 0 END), 0) AS BIGINT) "
        "FROM (SELECT tries FROM queue WHERE " OTHERS " LIMIT ?1) AS few", false },
    /* What failed is due last. */
    [STMT_ERROR] = { "i", "SELECT error FROM queue WHERE org = ?1 ORDER BY due DESC LIMIT 100", false },
    [STMT_DUE] = { "i",
        "SELECT due FROM queue WHERE org = ?1 ORDER BY due LIMIT 1", false },
    [STMT_CURSOR] = { "i", "SELECT row FROM queue WHERE org = ?1 AND " REINDEX " ORDER BY job LIMIT 1", false },
    /* clang-format on */
};

static const char *const migrations[] = {
    "CREATE INDEX queue_turn ON queue (org, due, job);"
    "CREATE INDEX queue_reindex ON queue (org, job) WHERE " REINDEX ";",
};

const loci_db_room loci_queue_room = { .name = "queue",
                                       .migrations = migrations,
                                       .migration_count = LOCI_COUNT(migrations),
                                       .statements = statements,
                                       .statement_count = LOCI_COUNT(statements) };

const loci_text_source *loci_embedding_sources(const loci_embedding *embedding, size_t *ret_count)
{
    *ret_count = embedding->sources ? embedding->source_count : loci_text_source_count;
    return embedding->sources ? embedding->sources : loci_text_sources;
}

const loci_text_source *loci_embedding_find_source(const loci_embedding *embedding, loci_str kind)
{
    size_t count;
    const loci_text_source *sources = loci_embedding_sources(embedding, &count);

    for (size_t i = 0; i < count; i++)
        if (loci_str_eq(loci_str_from(sources[i].kind), kind)) return &sources[i];
    return NULL;
}

static bool has_vector(const loci_embed_item *item)
{
    return item->rule != LOCI_EMBED_NEVER && item->text.len > 0;
}

/* Put each text that must be made into `made` once, and note the item's place there. `known` has
 * one byte per item: 1 when the vectors are stored. */
static loci_rc pick(loci_embed_item *items, size_t count, const char *known, loci_make_item *made,
                    size_t *places, size_t *ret_count, loci_err *err)
{
    LOCI_AUTO(loci_map_freep) loci_map *seen = NULL;
    size_t n = 0;
    loci_rc rc = loci_map_new(&(loci_map_options){ .borrow_keys = true }, &seen, err);

    for (size_t i = 0; !rc && i < count; i++) {
        loci_str key = { (const char *)items[i].hash, LOCI_TEXT_HASH };
        places[i] = SIZE_MAX;
        if (items[i].rule != LOCI_EMBED_NOW || !has_vector(&items[i]) || known[i]) continue;
        const loci_make_item *same = loci_map_find(seen, key);
        if (!same) {
            same = &made[n];
            made[n++].text = items[i].text;
            rc = loci_map_set(seen, key, &made[n - 1], err);
        }
        places[i] = (size_t)(same - made);
    }
    *ret_count = n;
    return rc;
}

/* The model, and which texts have their vectors already. A store that cannot be asked here will say
 * so to the write itself. */
static loci_rc look_up(const loci_embedding *e, int64_t org, const loci_embed_item *items,
                       size_t count, loci_arena *arena, loci_str *ret_model, char *ret_known)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_tx_begin(e->db, LOCI_TX_READ, &tx, NULL);

    if (!rc) rc = loci_model_get(tx, org, arena, ret_model, NULL);
    for (size_t i = 0; !rc && ret_model->ptr && i < count; i++) {
        bool have = false;
        if (items[i].rule == LOCI_EMBED_NOW && has_vector(&items[i]))
            rc = loci_vectors_have(tx, org, *ret_model, items[i].hash, &have, NULL);
        ret_known[i] = have;
    }
    return rc;
}

/* Make what can be made in time. */
static loci_rc embed_now(const loci_embedding *e, int64_t org, loci_embed_plan *plan,
                         loci_arena *arena, loci_err *err)
{
    size_t count = plan->count, n = 0;
    loci_make_item *made = loci_arena_array(arena, count, sizeof *made);
    size_t *places = loci_arena_array(arena, count, sizeof *places);
    char *known = loci_arena_alloc(arena, count);
    loci_embed_service *service = NULL;
    loci_make_options o = { .tokens = e->chunk_tokens,
                            .overlap = e->chunk_overlap,
                            .deadline = loci_clock_steady() + LOCI_EMBED_PATIENCE };
    loci_str model = { NULL, 0 };

    if (!made || !places || !known) return loci_arena_fail(arena, err);
    if (look_up(e, org, plan->items, count, arena, &model, known)) return LOCI_OK;
    if (loci_models_find(e->models, model, &service, NULL)) return LOCI_OK;
    loci_rc rc = pick(plan->items, count, known, made, places, &n, err);
    if (rc) return rc;
    plan->model = loci_str_from(loci_embed_service_info(service)->id);
    loci_make_vectors(service, &o, made, n, arena);
    for (size_t i = 0; i < count; i++)
        if (places[i] < n && !made[places[i]].rc) plan->items[i].vectors = &made[places[i]].vectors;
    return LOCI_OK;
}

loci_rc loci_embed_before(const loci_embedding *embedding, int64_t org, loci_embed_item *items,
                          size_t count, loci_arena *arena, loci_embed_plan *ret_plan, loci_err *err)
{
    loci_embed_plan plan = { .items = items, .count = count };
    bool some = false;
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < count; i++) {
        items[i].vectors = NULL;
        some |= items[i].rule == LOCI_EMBED_NOW && has_vector(&items[i]);
        rc = loci_vectors_hash(items[i].text, items[i].hash, err);
    }
    if (!rc && some && embedding->models) rc = embed_now(embedding, org, &plan, arena, err);
    if (!rc) *ret_plan = plan;
    return rc;
}

static loci_rc enqueue(loci_change *change, const loci_embed_item *item, loci_str model,
                       loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    size_t number = model.len ? STMT_ADD : STMT_ADD_ANYWAY;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_queue_room, number, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, loci_change_row(change));
    loci_stmt_bind_text(q, 3, loci_str_from(item->kind));
    loci_stmt_bind_i64(q, 4, item->row);
    loci_stmt_bind_blob(q, 5, (loci_str){ (const char *)item->hash, LOCI_TEXT_HASH });
    loci_stmt_bind_i64(q, 6, change->born);
    if (model.len) loci_stmt_bind_text(q, 7, model);
    return loci_stmt_post(q, err);
}

loci_rc loci_embed_within(loci_change *change, const loci_embed_plan *plan, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 10);
    loci_str model = { NULL, 0 };
    bool ready = false, mine = false;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    for (size_t i = 0; i < plan->count; i++) ready |= plan->items[i].vectors != NULL;
    loci_rc rc = ready ? loci_model_claim(change, plan->model, &mine, err) : LOCI_OK;
    if (!rc && mine) model = plan->model;
    if (!rc && !mine) rc = loci_model_get(change->tx, change->org, arena, &model, err);
    for (size_t i = 0; !rc && i < plan->count; i++) {
        const loci_embed_item *item = &plan->items[i];
        if (!has_vector(item)) continue;
        if (mine && item->vectors)
            rc = loci_vectors_store(change, model, item->hash, item->vectors, err);
        else
            rc = enqueue(change, item, model, err);
    }
    return rc;
}

static loci_rc count_queue(loci_tx *tx, int64_t org, loci_queue_pending *p, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_queue_room, org ? STMT_COUNT : STMT_COUNT_ALL, &q, err);

    if (rc) return rc;
    if (org) loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, org ? 2 : 1, LOCI_QUEUE_COUNT);
    rc = loci_stmt_next(q, err);
    if (rc) return rc;
    p->waiting = loci_stmt_i64(q, 0);
    p->failing = loci_stmt_i64(q, 1);
    return LOCI_OK;
}

static loci_rc find_error(loci_tx *tx, int64_t org, loci_queue_pending *p, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_queue_room, STMT_ERROR, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK && !p->error[0])
        (void)snprintf(p->error, sizeof p->error, "%.*s", LOCI_ARG(loci_stmt_text(q, 0)));
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

/* The first column of one row of a statement about an organization. */
static loci_rc find_number(loci_tx *tx, size_t number, int64_t org, bool *ret_found,
                           int64_t *ret_number, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_queue_room, number, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    rc = loci_stmt_next(q, err);
    *ret_found = rc == LOCI_OK;
    if (!rc) *ret_number = loci_stmt_i64(q, 0);
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc count_moving(loci_tx *tx, const loci_embedding *e, int64_t org, int64_t cursor,
                            int64_t *ret_moving, loci_err *err)
{
    size_t count;
    const loci_text_source *sources = loci_embedding_sources(e, &count);
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < count; i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        rc = loci_stmt_begin(tx, sources[i].room, sources[i].more, &q, err);
        if (rc) return rc;
        loci_stmt_bind_i64(q, 1, org);
        loci_stmt_bind_i64(q, 2, cursor);
        loci_stmt_bind_i64(q, 3, LOCI_QUEUE_COUNT);
        rc = loci_stmt_next(q, err);
        if (!rc) *ret_moving += loci_stmt_i64(q, 0);
    }
    return rc;
}

loci_rc loci_queue_count(const loci_embedding *embedding, int64_t org,
                         loci_queue_pending *ret_pending, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_queue_pending p = { 0 };
    int64_t cursor = 0;
    bool found = false;
    loci_rc rc = loci_tx_begin(embedding->db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = count_queue(tx, org, &p, err);
    if (!rc && org) rc = find_number(tx, STMT_DUE, org, &found, &p.next, err);
    if (!rc && org && p.failing) rc = find_error(tx, org, &p, err);
    if (!rc && org) rc = find_number(tx, STMT_CURSOR, org, &found, &cursor, err);
    if (!rc && org && found) rc = count_moving(tx, embedding, org, cursor, &p.moving, err);
    if (!rc) *ret_pending = p;
    return rc;
}
