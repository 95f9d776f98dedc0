#include "embed/model.h"

#include "base/alloc.h"
#include "db/stmt.h"

#include <pthread.h>
#include <string.h>

enum { STMT_GET, STMT_CLAIM, STMT_SET };

static const loci_sql statements[] = {
    /* clang-format off */
    [STMT_GET]   = { "i", "SELECT model FROM org WHERE org = ?1", false },
    [STMT_CLAIM] = { "it", "UPDATE org SET model = ?2 WHERE org = ?1 AND model IS NULL", false },
    [STMT_SET]   = { "it", "UPDATE org SET model = ?2 WHERE org = ?1", false },
    /* clang-format on */
};

const loci_db_room loci_model_room = { .name = "model",
                                       .statements = statements,
                                       .statement_count = LOCI_COUNT(statements) };

struct loci_models {
    loci_models_options options;
    pthread_mutex_t mutex;
    loci_embed_service *services[LOCI_MODELS_MOST]; /* NULL: not open */
};

loci_rc loci_models_new(const loci_models_options *options, loci_models **ret_models, loci_err *err)
{
    if (!options->count || options->count > LOCI_MODELS_MOST)
        return loci_fail(err, LOCI_EINVAL, "name 1 to %d embedders, not %zu", LOCI_MODELS_MOST,
                         options->count);
    loci_models *m = loci_zalloc(sizeof *m);
    if (!m || pthread_mutex_init(&m->mutex, NULL) != 0) {
        loci_free(m);
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    m->options = *options;
    if (!m->options.open) m->options.open = loci_embedder_open;
    *ret_models = m;
    return LOCI_OK;
}

void loci_models_free(loci_models *models)
{
    if (!models) return;
    for (size_t i = 0; i < models->options.count; i++) loci_embed_service_free(models->services[i]);
    (void)pthread_mutex_destroy(&models->mutex);
    loci_free(models);
}

/* With the mutex held: the i-th, opened if need be. */
static loci_rc open_at(loci_models *m, size_t i, loci_err *err)
{
    loci_embedder *embedder = NULL;

    if (m->services[i]) return LOCI_OK;
    loci_rc rc = m->options.open(&m->options.embedders[i], &embedder, err);
    return rc ? rc : loci_embed_service_new(embedder, &m->options.service, &m->services[i], err);
}

static bool is_model(const loci_embed_service *service, loci_str id)
{
    return loci_str_eq(loci_str_from(loci_embed_service_info(service)->id), id);
}

loci_rc loci_models_find(loci_models *models, loci_str id, loci_embed_service **ret_service,
                         loci_err *err)
{
    loci_embed_service *found = NULL;
    loci_err own = { 0 };
    loci_rc rc = LOCI_OK;

    (void)pthread_mutex_lock(&models->mutex);
    for (size_t i = 0; !found && i < (id.len ? models->options.count : 1); i++) {
        rc = open_at(models, i, &own);
        if (!rc && (!id.len || is_model(models->services[i], id))) found = models->services[i];
    }
    (void)pthread_mutex_unlock(&models->mutex);
    if (!found && !id.len) return loci_fail(err, rc, "%s", own.msg);
    if (!found)
        return loci_fail(err, LOCI_ENOTFOUND,
                         "the stored vectors are of the model '%.*s', which is not available here; "
                         "configure it, or change the model with loci reindex",
                         LOCI_ARG(loci_str_sub(id, 0, 80)));
    *ret_service = found;
    return LOCI_OK;
}

loci_rc loci_model_get(loci_tx *tx, int64_t org, loci_arena *arena, loci_str *ret_model,
                       loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_model_room, STMT_GET, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND, "no organization with the number %lld",
                         (long long)org);
    return rc ? rc : loci_stmt_copy(q, 0, arena, ret_model, err);
}

loci_rc loci_model_service(loci_db *db, loci_models *models, int64_t org,
                           loci_embed_service **ret_service, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 10);
    loci_str model = { NULL, 0 };
    loci_tx *tx = NULL;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_model_get(tx, org, arena, &model, err);
    loci_tx_end(tx);
    return rc ? rc : loci_models_find(models, model, ret_service, err);
}

static loci_rc update(loci_change *change, size_t statement, loci_str id, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_model_room, statement, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_text(q, 2, id);
    return loci_stmt_run(q, err);
}

loci_rc loci_model_claim(loci_change *change, loci_str id, bool *ret_mine, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 10);
    loci_str model = { NULL, 0 };

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = loci_model_get(change->tx, change->org, arena, &model, err);
    if (!rc && !model.ptr) {
        rc = update(change, STMT_CLAIM, id, err);
        model = id;
    }
    if (!rc) *ret_mine = loci_str_eq(model, id);
    return rc;
}

loci_rc loci_model_set(loci_change *change, loci_str id, loci_err *err)
{
    return update(change, STMT_SET, id, err);
}
