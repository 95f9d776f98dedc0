/* api/keyring.h -- API keys as a server knows them: looked up once, believed for a moment.
 *
 * Here:     a cache before access/key.h, and when a key was last used.
 * Not here: headers (api/caller.h).
 * Owns:     its copies of keys; borrows the store.
 * Threads:  safe from any thread. No lock is held while the store is asked.
 * Errors:   LOCI_EAUTH with exactly "Unauthorized" for a key that nobody has; those of the store.
 */
#ifndef LOCI_API_KEYRING_H
#define LOCI_API_KEYRING_H

#include "access/key.h"

enum { LOCI_KEYRING_KEYS = 4096 }; /* most keys that are remembered */

#define LOCI_KEYRING_LIFE INT64_C(5000000)  /* how long one is believed, in microseconds */
#define LOCI_KEYRING_USED INT64_C(60000000) /* how often used_at is written for one key */

typedef struct loci_keyring loci_keyring;

LOCI_MUST loci_rc loci_keyring_new(loci_db *db, loci_keyring **ret_ring, loci_err *err);
void loci_keyring_free(loci_keyring *ring); /* NULL is fine */

/* The key with that secret, in `arena`. Asks the store when it was not asked lately. */
LOCI_MUST loci_rc loci_keyring_find(loci_keyring *ring, loci_str secret, loci_arena *arena,
                                    loci_key *ret_key, loci_err *err);

/* Whether the store ever had a key. Once true it stays so. */
LOCI_MUST loci_rc loci_keyring_any(loci_keyring *ring, bool *ret_any, loci_err *err);

/* The last answer to that, without asking anybody. */
bool loci_keyring_seen(const loci_keyring *ring);

#endif
