#include "base/hash.h"

#include "base/alloc.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

/* Looking an algorithm up costs libcrypto more than hashing a short text, so it happens once. The
 * two live as long as the process. */
static EVP_MD *algorithms[2];
static pthread_once_t algorithms_once = PTHREAD_ONCE_INIT;

struct loci_hash {
    loci_hash_kind kind;
    bool failed;
    EVP_MD_CTX *context;
};

static void fetch_algorithms(void)
{
    algorithms[LOCI_SHA256] = EVP_MD_fetch(NULL, "SHA2-256", NULL);
    algorithms[LOCI_SHA1] = EVP_MD_fetch(NULL, "SHA1", NULL);
}

static const char *name_of(loci_hash_kind kind)
{
    return kind == LOCI_SHA1 ? "SHA-1" : "SHA-256";
}

static loci_rc get_algorithm(loci_hash_kind kind, const EVP_MD **ret_md, loci_err *err)
{
    (void)pthread_once(&algorithms_once, fetch_algorithms);
    if (!algorithms[kind])
        return loci_fail(err, LOCI_ENOSYS, "this machine's libcrypto does not offer %s",
                         name_of(kind));
    *ret_md = algorithms[kind];
    return LOCI_OK;
}

size_t loci_hash_len(loci_hash_kind kind)
{
    return kind == LOCI_SHA1 ? LOCI_SHA1_LEN : LOCI_SHA256_LEN;
}

loci_rc loci_hash_bytes(loci_hash_kind kind, loci_str in, uint8_t *ret_digest, loci_err *err)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    const EVP_MD *md;

    loci_rc rc = get_algorithm(kind, &md, err);
    if (rc) return rc;
    if (!EVP_Digest(in.len ? in.ptr : "", in.len, digest, NULL, md, NULL))
        return loci_fail(err, LOCI_ENOMEM, "out of memory for %s", name_of(kind));
    memcpy(ret_digest, digest, loci_hash_len(kind));
    return LOCI_OK;
}

loci_rc loci_hash_hex(loci_hash_kind kind, loci_str in, char *ret_hex, loci_err *err)
{
    uint8_t digest[LOCI_HASH_MAX];

    loci_rc rc = loci_hash_bytes(kind, in, digest, err);
    if (rc) return rc;
    loci_hash_to_hex(digest, loci_hash_len(kind), ret_hex);
    return LOCI_OK;
}

loci_rc loci_hash_new(loci_hash_kind kind, loci_hash **ret_hash, loci_err *err)
{
    const EVP_MD *md;

    loci_rc rc = get_algorithm(kind, &md, err);
    if (rc) return rc;
    LOCI_AUTO(loci_hash_freep) loci_hash *hash = loci_zalloc(sizeof *hash);
    if (!hash) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    hash->kind = kind;
    hash->context = EVP_MD_CTX_new();
    if (!hash->context || !EVP_DigestInit_ex2(hash->context, md, NULL))
        return loci_fail(err, LOCI_ENOMEM, "out of memory for %s", name_of(kind));
    *ret_hash = LOCI_TAKE(hash);
    return LOCI_OK;
}

void loci_hash_free(loci_hash *hash)
{
    if (!hash) return;
    EVP_MD_CTX_free(hash->context);
    loci_free(hash);
}

void loci_hash_add(loci_hash *hash, loci_str piece)
{
    if (hash->failed || piece.len == 0) return;
    if (!EVP_DigestUpdate(hash->context, piece.ptr, piece.len)) hash->failed = true;
}

/* Begins anew whatever came out, so that a failure does not stick to the next text. */
loci_rc loci_hash_end(loci_hash *hash, uint8_t *ret_digest, loci_err *err)
{
    uint8_t digest[EVP_MAX_MD_SIZE];

    bool ended = !hash->failed && EVP_DigestFinal_ex(hash->context, digest, NULL);
    hash->failed = !EVP_DigestInit_ex2(hash->context, NULL, NULL);
    if (!ended) return loci_fail(err, LOCI_ENOMEM, "out of memory for %s", name_of(hash->kind));
    memcpy(ret_digest, digest, loci_hash_len(hash->kind));
    return LOCI_OK;
}

void loci_hash_to_hex(const uint8_t *bytes, size_t size, char *ret_hex)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < size; i++) {
        ret_hex[2 * i] = digits[bytes[i] >> 4];
        ret_hex[2 * i + 1] = digits[bytes[i] & 0x0F];
    }
    ret_hex[2 * size] = '\0';
}

bool loci_hash_same(loci_str a, loci_str b)
{
    if (a.len != b.len) return false;
    return a.len == 0 || CRYPTO_memcmp(a.ptr, b.ptr, a.len) == 0;
}
