/* embed/queue.h -- when texts get their vectors: before the write, or later through the queue.
 *
 * Here:     the rule, what a write does about its texts, how much waits.
 * Not here: making what waits (embed/drain.h), the model of an organization (embed/model.h).
 * Owns:     nothing; a plan lives in the caller's arena.
 * Threads:  safe from any thread.
 * Errors:   an embedder that is slow, broken or away is none: its texts are queued.
 *
 * One rule for all embedders. Texts of the rule NOW (passages, lessons, files) are embedded before
 * the transaction, for at most two seconds in all. What is not ready then, and texts of the rule
 * LATER (messages, events, entries), go through the queue, whose rows are written in the
 * same transaction as theirs. Texts of the rule NEVER (system messages), and empty ones, have no
 * vector.
 *
 *     rc = loci_embed_before(&embedding, org, items, n, arena, &plan, err);
 *     ... and in the closure: items[i].row = the new row; bind items[i].hash as its text_hash ...
 *     rc = loci_embed_within(change, &plan, err);
 */
#ifndef LOCI_EMBED_QUEUE_H
#define LOCI_EMBED_QUEUE_H

#include "embed/model.h"
#include "embed/vectors.h"

#define LOCI_EMBED_PATIENCE INT64_C(2000000) /* microseconds before the transaction */

enum { LOCI_QUEUE_COUNT = 100000 }; /* what waits is counted up to this */

/* What embedding works with; the same for all that write to one store. */
typedef struct loci_embedding {
    loci_db *db;
    loci_writer *writer;
    loci_models *models;             /* NULL: there is no embedder at all, everything is queued */
    const loci_text_source *sources; /* NULL: loci_text_sources */
    size_t source_count;
    size_t chunk_tokens, chunk_overlap; /* see embed/make.h */
} loci_embedding;

typedef enum loci_embed_rule {
    LOCI_EMBED_NEVER,
    LOCI_EMBED_LATER,
    LOCI_EMBED_NOW,
} loci_embed_rule;

typedef struct loci_embed_item {
    loci_str text;                /* in: alive until the write is done */
    loci_embed_rule rule;         /* in */
    const char *kind;             /* in: of its source; a constant */
    int64_t row;                  /* in: set by the closure, each time that it runs */
    uint8_t hash[LOCI_TEXT_HASH]; /* out of loci_embed_before */
    const loci_vectors *vectors;  /* private: NULL: not ready */
} loci_embed_item;

typedef struct loci_embed_plan {
    loci_embed_item *items;
    size_t count;
    loci_str model; /* private: of the vectors that are ready */
} loci_embed_plan;

/* Statements, and an index; give it to loci_db_open behind loci_schema_room. */
extern const loci_db_room loci_queue_room;

/* Hash all texts and embed those of the rule NOW, as far as two seconds reach. Texts whose vectors
 * are stored already, and texts that come twice, are not computed again.
 * Errors: LOCI_ENOMEM, LOCI_ELIMIT from the arena; nothing else fails. */
LOCI_MUST loci_rc loci_embed_before(const loci_embedding *embedding, int64_t org,
                                    loci_embed_item *items, size_t count, loci_arena *arena,
                                    loci_embed_plan *ret_plan, loci_err *err);

/* In the closure, once the rows are there: store the vectors that are ready, queue the others.
 * Vectors of another model than the organization's are not stored. */
LOCI_MUST loci_rc loci_embed_within(loci_change *change, const loci_embed_plan *plan,
                                    loci_err *err);

typedef struct loci_queue_pending {
    int64_t waiting; /* rows in the queue */
    int64_t failing; /* of those: tried before, and to be tried again */
    int64_t moving;  /* rows that a change of the model has not come to yet */
    int64_t next;    /* when the next is due; 0 when nothing waits */
    char error[200]; /* of one that fails; empty for none */
} loci_queue_pending;

/* What waits in an organization, for status and doctor. Each number is counted up to
 * LOCI_QUEUE_COUNT. With org 0, of all organizations together: waiting and failing only. */
LOCI_MUST loci_rc loci_queue_count(const loci_embedding *embedding, int64_t org,
                                   loci_queue_pending *ret_pending, loci_err *err);

/* The sources of an embedding, its own or those of this room. */
const loci_text_source *loci_embedding_sources(const loci_embedding *embedding, size_t *ret_count);

/* The source that the queue calls `kind`, or NULL. */
const loci_text_source *loci_embedding_find_source(const loci_embedding *embedding, loci_str kind);

/* The kind of the one job that moves an organization to another model; see embed/reindex.h. */
#define LOCI_QUEUE_REINDEX "reindex"

#endif
