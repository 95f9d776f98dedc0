/* embed/remote_int.h -- what the files of the remote embedders share; private to this room.
 *
 * Here:     the embedder itself, one request with its retries, a call with all its requests.
 * Not here: what callers see (embed/embed.h).
 * Owns:     a loci_remote owns everything that it points to.
 * Threads:  all fields but batch and those under the lock are fixed once it is open.
 * Errors:   as embed/embed.h says.
 */
#ifndef LOCI_EMBED_REMOTE_INT_H
#define LOCI_EMBED_REMOTE_INT_H

#include "embed/maker.h"
#include "embed/remote.h"
#include "embed/remote_shape.h"
#include "net/client.h"
#include "text/bpe.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    LOCI_REMOTE_BATCH = 64,              /* most texts of one request */
    LOCI_REMOTE_BATCH_BYTES = 256 << 10, /* most bytes of its texts, if it has more than one */
    LOCI_REMOTE_NAME_BYTES = 1024,       /* longest name, with its NUL */
    LOCI_REMOTE_KEY_BYTES = 1024,        /* longest key, with its NUL */
};

typedef struct loci_remote {
    loci_embedder base;
    loci_remote_shape shape;
    char name[LOCI_REMOTE_NAME_BYTES];
    char url[LOCI_REMOTE_NAME_BYTES + 16]; /* where requests go */
    const char *model;                     /* within name; "" for TEI */
    loci_url place;
    char key[LOCI_REMOTE_KEY_BYTES]; /* "" without one */
    unsigned concurrency;
    int64_t timeout, retry_wait;
    loci_client *client;
    loci_bpe *bpe;       /* for tokens; NULL when it could not be opened, */
    loci_err bpe_error;  /* with this reason */
    atomic_size_t batch; /* most texts of one request that the server is known to take */

    pthread_mutex_t lock;             /* over what follows */
    loci_embedder_info before, after; /* dim is learned: what base.info points to */
} loci_remote;

/* The limits of one call, the same for all its requests. */
typedef struct loci_remote_limits {
    int64_t deadline;
    bool (*cancelled)(void *context); /* may be NULL */
    void *context;
} loci_remote_limits;

/* Ask for the vectors of 1..LOCI_REMOTE_BATCH texts, again and again while that may help. The arena
 * is reset for each try; the vectors live in it. *ret_refused becomes true when the server does not
 * want these texts (LOCI_EINVAL). */
LOCI_MUST loci_rc loci_remote_send(loci_remote *remote, const loci_remote_limits *limits,
                                   const loci_str *texts, size_t count, loci_arena *arena,
                                   loci_remote_vectors *ret_vectors, bool *ret_refused,
                                   loci_err *err);

/* An arena that holds every answer to `count` texts and what is made of it. */
LOCI_MUST loci_arena *loci_remote_arena(const loci_remote *remote, size_t count);

/* The embed of embed/maker.h. */
LOCI_MUST loci_rc loci_remote_embed(loci_embedder *embedder, const loci_embed_call *call,
                                    const loci_str *texts, size_t count, float *ret_vectors,
                                    loci_err *err);

/* Limits of a call, with the default in place of no deadline. */
loci_remote_limits loci_remote_limits_of(const loci_remote *remote, const loci_embed_call *call);

#endif
