/* base/id.h -- public ids ("agent-<uuid4>") and the kernel's randomness.
 *
 * Here:     making and checking ids, random bytes.
 * Not here: which prefixes exist; the rooms that own the things know.
 * Owns:     nothing; ids are written into the caller's memory.
 * Threads:  safe from any thread; every thread draws from its own stock of random bytes.
 * Errors:   LOCI_EUNAVAILABLE when the kernel gives no randomness, which no healthy Linux does.
 *
 * A forked child never repeats what its parent draws: the stock is guarded by a page that the
 * kernel clears in the child (MADV_WIPEONFORK), so also clone(2) without libc is noticed.
 */
#ifndef LOCI_BASE_ID_H
#define LOCI_BASE_ID_H

#include "base/err.h"
#include "base/str.h"

enum {
    LOCI_UUID_LEN = 36,
    LOCI_ID_PREFIX_MAX = 15,
    LOCI_ID_MAX = LOCI_ID_PREFIX_MAX + 1 + LOCI_UUID_LEN,
};

typedef struct loci_id {
    char text[LOCI_ID_MAX + 1]; /* a C string */
} loci_id;

/* A new id, "prefix-xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx" in lower case. `prefix` is a constant of
 * ours, 1..LOCI_ID_PREFIX_MAX bytes. */
LOCI_MUST loci_rc loci_id_make(const char *prefix, loci_id *ret_id, loci_err *err);

/* Whether `id` is exactly what loci_id_make(prefix) could give. Any bytes are a fine question. */
LOCI_MUST bool loci_id_check(loci_str id, const char *prefix);

/* Fill `size` bytes at `ret_bytes` from getrandom(2). Fit for keys and tokens. */
LOCI_MUST loci_rc loci_random_bytes(void *ret_bytes, size_t size, loci_err *err);

#endif
