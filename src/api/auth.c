#include "api/auth.h"

#include "base/hash.h"

/* Comparing digests makes the time independent of the content and the length. */
static bool same_secret(loci_str given, loci_str secret)
{
    uint8_t a[LOCI_SHA256_LEN], b[LOCI_SHA256_LEN];

    if (loci_hash_bytes(LOCI_SHA256, given, a, NULL)) return false;
    if (loci_hash_bytes(LOCI_SHA256, secret, b, NULL)) return false;
    return loci_hash_same((loci_str){ (const char *)a, sizeof a },
                          (loci_str){ (const char *)b, sizeof b });
}

static bool carries(loci_str header, loci_str scheme, loci_str password)
{
    if (header.len <= scheme.len || header.ptr[scheme.len] != ' ') return false;
    if (!loci_str_eq_nocase(loci_str_sub(header, 0, scheme.len), scheme)) return false;
    return same_secret(loci_str_trim(loci_str_sub(header, scheme.len, header.len)), password);
}

loci_rc loci_auth_check(loci_str password, const loci_credentials *credentials, loci_err *err)
{
    if (password.len == 0) return LOCI_OK;
    if (carries(credentials->authorization, LOCI_STR("Bearer"), password)) return LOCI_OK;
    if (carries(credentials->bare_password, LOCI_STR("password"), password)) return LOCI_OK;
    return loci_fail(err, LOCI_EAUTH, "Unauthorized");
}
