/* db/write.h -- the one way to write.
 *
 * Here:     loci_write: version, time, rows, idempotency, attribution, outbox and group commit.
 * Not here: what is written; the closure knows.
 * Owns:     a writer owns its queue and borrows the store.
 * Threads:  a writer is safe from any thread. A closure may run in the thread of another writer,
 * while its own waits, and more than once. Errors:   what the closure returned; LOCI_ECONFLICT for
 * a key used with another input; LOCI_EBUSY when the queue is full or the store stayed busy;
 * LOCI_EUNAVAILABLE when the store is away or the outcome could not be learned.
 *
 * Writers that come while a commit is under way wait for it and then share the next one: whoever is
 * first in the queue leads, runs every waiting closure with its own version and time, and commits
 * once. Nobody waits for company. A closure that fails is undone alone (see db/write_group.h), and
 * each caller learns its own outcome after the commit. In PostgreSQL one group is of one
 * organization, whose row is locked first, so that the order of versions is the order of commits.
 */
#ifndef LOCI_DB_WRITE_H
#define LOCI_DB_WRITE_H

#include "base/arena.h"
#include "base/buf.h"
#include "db/db.h"

enum {
    LOCI_WRITE_WAITING = 1024,    /* most writers in the queue; more are turned away at once */
    LOCI_WRITE_GROUP = 256,       /* most writes in one commit */
    LOCI_WRITE_KEY = 255,         /* longest idempotency key */
    LOCI_WRITE_HASH = 64,         /* longest input hash */
    LOCI_WRITE_ANSWER = 16 << 20, /* longest answer */
    LOCI_WRITE_KEPT = 64 << 10,   /* longest answer that is kept for a repeat */
    LOCI_WRITE_VERSIONS = 100000, /* how many versions are remembered */
};

#define LOCI_WRITE_DAY INT64_C(86400000000) /* how long a key is remembered */

/* Statements of this file; give it to loci_db_open beside loci_schema_room. */
extern const loci_db_room loci_write_room;

typedef struct loci_writer loci_writer;

/* What a closure works with. Everything in it dies when the closure returns. */
typedef struct loci_change {
    loci_tx *tx;
    int64_t org;
    int64_t ver;  /* of this write: stamp it on what is added or ended */
    int64_t born; /* its time: rises strictly inside the organization, whatever the clock does */
    loci_str who; /* ptr is NULL when nobody is known */
    loci_str door;
    loci_buf *answer; /* write the answer here, if there is one */
    int64_t *row;     /* private */
} loci_change;

/* SQL only: no network, no search, nothing that cannot be done again. Must not commit, and must
 * leave no savepoint open. */
typedef loci_rc (*loci_write_fn)(loci_change *change, void *arg, loci_err *err);

typedef struct loci_write_request {
    int64_t org;
    loci_write_fn run;
    void *arg;
    loci_str who;        /* user or key id; may be empty */
    loci_str door;       /* "rest", "mcp", "cli", "library": may not be empty */
    loci_str key;        /* idempotency key; empty for none */
    loci_str input_hash; /* of what was asked for; needed with a key */
    bool secret;         /* the answer holds a secret: it is not kept for a repeat */
    int64_t now;         /* the time; 0 asks the clock */
} loci_write_request;

typedef struct loci_write_result {
    int64_t ver, born; /* of a repeat: those of the first time */
    bool repeated;     /* the closure did not run: this is the answer of the first time */
    loci_str answer;   /* in the caller's arena */
} loci_write_result;

LOCI_MUST loci_rc loci_writer_new(loci_db *db, loci_writer **ret_writer, loci_err *err);
/* No write may be under way. NULL is fine. */
void loci_writer_free(loci_writer *writer);
LOCI_DEFINE_CLEANUP(loci_writer_freep, loci_writer, loci_writer_free)

/* Run the closure and commit; on LOCI_OK it is durable. `arena` takes the answer; with NULL the
 * answer is dropped. A repeat whose answer was not kept (secret, or too long) is LOCI_ECONFLICT: it
 * was done, and is not done again. An answer that does not fit the arena is LOCI_ELIMIT, although
 * the write is done: give it room for what the closure can say. */
LOCI_MUST loci_rc loci_write(loci_writer *writer, const loci_write_request *request,
                             loci_arena *arena, loci_write_result *ret_result, loci_err *err);

/* The next row number of the organization. */
int64_t loci_change_row(loci_change *change);

/* Something for an external store to be told, in the same transaction: what happened to obj. */
LOCI_MUST loci_rc loci_change_outbox(loci_change *change, const char *kind, int64_t obj,
                                     loci_str payload, loci_err *err);

#endif
