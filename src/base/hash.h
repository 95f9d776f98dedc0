/* base/hash.h -- SHA-256 and SHA-1, hex, and comparing secrets.
 *
 * Here:     digests in one call or piece by piece, their hex, constant-time comparison.
 * Not here: hash tables (base/map.h), base64 (base/base64.h).
 * Owns:     a loci_hash belongs to its caller; digests are written into the caller's memory.
 * Threads:  safe from any thread; one loci_hash, one thread at a time.
 * Errors:   LOCI_ENOMEM; LOCI_ENOSYS when libcrypto refuses the algorithm.
 *
 * SHA-1 is here because formats of others want it (git blobs, WebSocket); it protects nothing.
 */
#ifndef LOCI_BASE_HASH_H
#define LOCI_BASE_HASH_H

#include "base/err.h"
#include "base/str.h"

typedef enum loci_hash_kind { LOCI_SHA256, LOCI_SHA1 } loci_hash_kind;

enum {
    LOCI_SHA256_LEN = 32,
    LOCI_SHA1_LEN = 20,
    LOCI_HASH_MAX = 32,                        /* the longest digest of all kinds */
    LOCI_HASH_HEX_MAX = 2 * LOCI_HASH_MAX + 1, /* in hex, with its NUL */
};

/* How many bytes a digest of `kind` has. */
size_t loci_hash_len(loci_hash_kind kind);

/* The digest of `in`: loci_hash_len(kind) bytes at ret_digest. */
LOCI_MUST loci_rc loci_hash_bytes(loci_hash_kind kind, loci_str in, uint8_t *ret_digest,
                                  loci_err *err);

/* The digest of `in` in lower-case hex, a C string of twice that length at ret_hex. */
LOCI_MUST loci_rc loci_hash_hex(loci_hash_kind kind, loci_str in, char *ret_hex, loci_err *err);

/* Piece by piece: new, add as often as needed, end. */
typedef struct loci_hash loci_hash;

LOCI_MUST loci_rc loci_hash_new(loci_hash_kind kind, loci_hash **ret_hash, loci_err *err);
void loci_hash_free(loci_hash *hash); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_hash_freep, loci_hash, loci_hash_free)

/* Sticky: after a failure further pieces do nothing and loci_hash_end tells. */
void loci_hash_add(loci_hash *hash, loci_str piece);

/* The digest of all pieces. The hash is then empty, ready for the next text. */
LOCI_MUST loci_rc loci_hash_end(loci_hash *hash, uint8_t *ret_digest, loci_err *err);

/* `size` bytes as 2 * size lower-case digits and a NUL. */
void loci_hash_to_hex(const uint8_t *bytes, size_t size, char *ret_hex);

/* Whether two secrets are equal, in a time that depends on their lengths alone. To hide the length
 * of a secret too, compare digests. */
LOCI_MUST bool loci_hash_same(loci_str a, loci_str b);

#endif
