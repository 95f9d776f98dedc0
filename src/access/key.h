/* access/key.h -- API keys: who may come in, to which organization, and how far.
 *
 * Here:     making, listing, revoking and looking up keys.
 * Not here: headers and caches (api/), what a role may do (ops/guard.c).
 * Owns:     nothing; results live in the caller's arena. Secrets are stored only as their SHA-256:
 *           32 random bytes need no slow hash.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ENOTFOUND for no such key, LOCI_EINVAL for bad values; those of the store.
 */
#ifndef LOCI_ACCESS_KEY_H
#define LOCI_ACCESS_KEY_H

#include "access/role.h"
#include "access/statements.h"
#include "base/arena.h"
#include "base/hash.h"
#include "db/write.h"

#define LOCI_KEY_PREFIX "loci_"

enum {
    LOCI_KEY_RANDOM = 32, /* bytes of a secret */
    LOCI_KEY_LEN = 48,    /* characters: the prefix and the bytes in base64url */
    LOCI_KEY_NAME_BYTES = 255,
    LOCI_KEYS_LISTED = 10000,
};

typedef struct loci_key {
    loci_str id, name;
    loci_str shown; /* the beginning of the secret, to recognise it by */
    int64_t org;
    loci_str org_name;
    loci_role role;
    loci_str agent, node; /* ptr is NULL: any */
    int64_t created_at;
    int64_t used_at, revoked_at; /* 0: never */
} loci_key;

typedef struct loci_keys {
    loci_key *items;
    size_t count;
} loci_keys;

typedef struct loci_key_values {
    int64_t org;
    loci_str name; /* for people; may not be empty */
    loci_role role;
    loci_str agent, node; /* empty: any. A node needs an agent */
    loci_str who, door;   /* as in loci_write_request */
} loci_key_values;

/* The digest that a secret is stored and found by. */
typedef struct loci_key_hash {
    uint8_t bytes[LOCI_SHA256_LEN];
} loci_key_hash;

/* Make a key. *ret_secret is what its owner sends; it can never be shown again. */
LOCI_MUST loci_rc loci_key_create(loci_writer *writer, const loci_key_values *values,
                                  loci_arena *arena, loci_key *ret_key, loci_str *ret_secret,
                                  loci_err *err);

/* All keys of an organization, revoked ones too, oldest first. */
LOCI_MUST loci_rc loci_key_list(loci_db *db, int64_t org, loci_arena *arena, loci_keys *ret_keys,
                                loci_err *err);

/* From now on nobody comes in with it; a server may believe in it for LOCI_KEYRING_LIFE more. Doing
 * it twice changes nothing. */
LOCI_MUST loci_rc loci_key_revoke(loci_db *db, loci_writer *writer, int64_t org, loci_str id,
                                  loci_str who, loci_str door, loci_arena *arena, loci_key *ret_key,
                                  loci_err *err);

/* Whether `text` looks like a key: prefix, length, alphabet. */
bool loci_key_shaped(loci_str text);

LOCI_MUST loci_rc loci_key_hash_of(loci_str secret, loci_key_hash *ret_hash, loci_err *err);

/* The key that is not revoked. */
LOCI_MUST loci_rc loci_key_find(loci_db *db, const loci_key_hash *hash, loci_arena *arena,
                                loci_key *ret_key, loci_err *err);

/* Note that it was used at `now`. */
LOCI_MUST loci_rc loci_key_touch(loci_db *db, const loci_key_hash *hash, int64_t now,
                                 loci_err *err);

/* Whether a key was ever made in this store, revoked or not. */
LOCI_MUST loci_rc loci_key_any(loci_db *db, bool *ret_any, loci_err *err);

#endif
