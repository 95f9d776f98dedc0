/* embed/vectors.h -- the vectors of texts, kept once: the table is the cache.
 *
 * Here:     finding vectors by the hash of the whole text, storing them in a write, dropping those
 *           that no row uses; their form in the table; the rows that have texts.
 * Not here: making them (embed/make.h), when they are made (embed/queue.h).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ECORRUPT data of the wrong length or without meaning, else those of the store.
 *
 * A text has one vector, or one per chunk when it is long; all of a text are written together or
 * not at all, so chunk 0 tells whether they are there. The values are little-endian 32-bit floats.
 * A vector belongs to a text, not to a row: two rows with the same text share it, and it is dropped
 * only when the last of them was erased.
 */
#ifndef LOCI_EMBED_VECTORS_H
#define LOCI_EMBED_VECTORS_H

#include "base/arena.h"
#include "db/write.h"

enum {
    LOCI_TEXT_HASH = 32,       /* bytes of a text's hash: SHA-256 */
    LOCI_VECTOR_DIM = 8192,    /* most values of a vector */
    LOCI_VECTOR_CHUNKS = 4096, /* most vectors of one text; what is behind them has none */
};

typedef struct loci_vector {
    size_t start, len; /* the bytes of the text that it stands for */
    float *values;     /* `dim` of them */
} loci_vector;

typedef struct loci_vectors {
    loci_vector *items; /* in order of chunks */
    size_t count, dim;
} loci_vectors;

/* A table whose rows have texts. Row numbers rise over all tables of an organization, so one number
 * says how far a walk over all of them has come. NULL hashes are rows that never get a vector. */
typedef struct loci_text_source {
    const char *kind; /* what the queue calls it; at most 32 bytes */
    const loci_db_room *room;
    size_t text; /* "ii" (org, row): 0 text */
    size_t uses; /* "ib" (org, hash): a row when some row has a text of that hash */
    size_t list; /* "iii" (org, row, limit): 0 row, 1 text_hash behind row, in order */
    size_t more; /* "iii" (org, row, limit): 0 how many are behind row, counted up to limit */
} loci_text_source;

/* Messages and passages; rooms that come later add theirs. */
extern const loci_text_source loci_text_sources[];
extern const size_t loci_text_source_count;

/* Statements, and the indexes by text hash; give it to loci_db_open behind loci_schema_room. */
extern const loci_db_room loci_vectors_room;

/* The hash of a text, as it stands in the column text_hash of rows. */
LOCI_MUST loci_rc loci_vectors_hash(loci_str text, uint8_t ret_hash[LOCI_TEXT_HASH], loci_err *err);

/* Are the vectors of this text there? */
LOCI_MUST loci_rc loci_vectors_have(loci_tx *tx, int64_t org, loci_str model, const uint8_t *hash,
                                    bool *ret_have, loci_err *err);

/* Read them; none is LOCI_OK with a count of 0. `dim` is what they must have. */
LOCI_MUST loci_rc loci_vectors_load(loci_tx *tx, int64_t org, loci_str model, const uint8_t *hash,
                                    size_t dim, loci_arena *arena, loci_vectors *ret_vectors,
                                    loci_err *err);

/* Inside a write: store them, stamped with its version, so that the catch-up stream gives them.
 * Those that are there already stay. */
LOCI_MUST loci_rc loci_vectors_store(loci_change *change, loci_str model, const uint8_t *hash,
                                     const loci_vectors *vectors, loci_err *err);

/* Does any row, ended ones included, have a text of this hash? */
LOCI_MUST loci_rc loci_vectors_used(loci_tx *tx, int64_t org, const loci_text_source *sources,
                                    size_t source_count, const uint8_t *hash, bool *ret_used,
                                    loci_err *err);

/* Inside a write that erased rows with this text: drop its vectors, of all models, and what waits
 * for them, unless another row uses them. */
LOCI_MUST loci_rc loci_vectors_forget(loci_change *change, const loci_text_source *sources,
                                      size_t source_count, const uint8_t *hash, loci_err *err);

/* Where a sweep is; zeroed at the start. */
typedef struct loci_vectors_sweep {
    uint8_t hash[LOCI_TEXT_HASH];
    bool begun, done;
    int64_t dropped; /* vectors, so far */
} loci_vectors_sweep;

typedef struct loci_vectors_sweeper {
    loci_writer *writer;
    int64_t org;
    const loci_text_source *sources;
    size_t source_count;
    size_t texts; /* most that one step looks at; 0 means 500 */
} loci_vectors_sweeper;

/* One bounded step of a clean-up: drop vectors of models that are not the organization's, and of
 * texts that no row uses. Call it until sweep->done. Writes only when there is something to drop.
 * Stopping at any time is fine. */
LOCI_MUST loci_rc loci_vectors_sweep_step(loci_db *db, const loci_vectors_sweeper *sweeper,
                                          loci_vectors_sweep *sweep, loci_err *err);

/* The form in the table: dim * 4 bytes at ret_bytes. */
void loci_vectors_encode(const float *values, size_t dim, char *ret_bytes);
/* LOCI_ECORRUPT when `data` is not exactly `dim` finite values. */
LOCI_MUST loci_rc loci_vectors_decode(loci_str data, size_t dim, float *ret_values, loci_err *err);

#endif
