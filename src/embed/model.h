/* embed/model.h -- which model an organization has, and the embedders that this process can open.
 *
 * Here:     reading and setting the model of an organization; finding an embedder for it.
 * Not here: changing it (embed/reindex.h), the vectors (embed/vectors.h).
 * Owns:     a loci_models owns the services that it has opened.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ENOTFOUND no such organization, or no embedder here makes that model's vectors.
 *
 * The first vector that is stored sets the model of its organization; after that only a reindex
 * changes it. A process whose configuration names another embedder uses the stored model if it can
 * open it. If it cannot, it makes no vectors for that organization: it queues, and somebody who can
 * makes them. So two models never mix, and two processes never work against each other.
 */
#ifndef LOCI_EMBED_MODEL_H
#define LOCI_EMBED_MODEL_H

#include "db/write.h"
#include "embed/service.h"

enum { LOCI_MODELS_MOST = 8 };

typedef struct loci_models loci_models;

typedef loci_rc (*loci_models_open_fn)(const loci_embedder_options *options,
                                       loci_embedder **ret_embedder, loci_err *err);

typedef struct loci_models_options {
    /* What may be opened, at most LOCI_MODELS_MOST. The first is what was configured and makes the
     * vectors of organizations that have no model yet. Borrowed for the life of the models. */
    const loci_embedder_options *embedders;
    size_t count;
    loci_models_open_fn open; /* NULL means loci_embedder_open */
    loci_embed_service_options service;
} loci_models_options;

/* Nothing is opened yet. */
LOCI_MUST loci_rc loci_models_new(const loci_models_options *options, loci_models **ret_models,
                                  loci_err *err);
void loci_models_free(loci_models *models); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_models_freep, loci_models, loci_models_free)

/* The service that makes vectors of model `id`; with an empty id the configured one. Opens what is
 * not open yet; what cannot be opened is tried again next time. Borrowed; dies with the models.
 * Errors: LOCI_ENOTFOUND with what to do; with an empty id, why the configured one did not open. */
LOCI_MUST loci_rc loci_models_find(loci_models *models, loci_str id,
                                   loci_embed_service **ret_service, loci_err *err);

/* Statements of this file; give it to loci_db_open beside loci_schema_room. */
extern const loci_db_room loci_model_room;

/* The organization's model, in `arena`; ptr is NULL while it has none. */
LOCI_MUST loci_rc loci_model_get(loci_tx *tx, int64_t org, loci_arena *arena, loci_str *ret_model,
                                 loci_err *err);

/* The service for an organization, in one call: its model's, or the configured one. */
LOCI_MUST loci_rc loci_model_service(loci_db *db, loci_models *models, int64_t org,
                                     loci_embed_service **ret_service, loci_err *err);

/* Inside a write, before vectors of model `id` are stored: *ret_mine says whether the organization
 * has that model, which it gets now if it has none. */
LOCI_MUST loci_rc loci_model_claim(loci_change *change, loci_str id, bool *ret_mine, loci_err *err);

/* Inside a write: the organization has this model from now on, whatever it had. */
LOCI_MUST loci_rc loci_model_set(loci_change *change, loci_str id, loci_err *err);

#endif
