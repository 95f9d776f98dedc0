#include "net/tls.h"

#include "base/alloc.h"
#include "base/fs.h"

#include <gnutls/gnutls.h>
#include <string.h>

static loci_rc read_file(const char *what, const char *path, char **ret_text, size_t *ret_len,
                         loci_err *err)
{
    loci_rc rc = loci_fs_read_secret(path, LOCI_TLS_FILE_BYTES, ret_text, ret_len, err);

    if (!rc && *ret_len == 0) rc = loci_fail(err, LOCI_EINVAL, "%s is empty", path);
    if (rc) loci_err_prefix(err, "%s file", what);
    return rc;
}

/* GnuTLS tells a key that does not fit from a file that is no PEM at all. */
static loci_rc check_pair(const char *certificate_file, const char *key_file,
                          const loci_tls_pair *pair, loci_err *err)
{
    gnutls_certificate_credentials_t credentials;
    const gnutls_datum_t c = { (unsigned char *)pair->certificate,
                               (unsigned)strlen(pair->certificate) };
    const gnutls_datum_t k = { (unsigned char *)pair->key, (unsigned)pair->key_len };

    if (gnutls_certificate_allocate_credentials(&credentials) < 0)
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    int n = gnutls_certificate_set_x509_key_mem(credentials, &c, &k, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    if (n >= 0) return LOCI_OK;
    if (n == GNUTLS_E_CERTIFICATE_KEY_MISMATCH)
        return loci_fail(err, LOCI_EINVAL, "the key in %s is not the key of the certificate in %s",
                         key_file, certificate_file);
    return loci_fail(err, LOCI_EINVAL,
                     "%s and %s are no usable pair of PEM certificate and unencrypted key: %s",
                     certificate_file, key_file, gnutls_strerror(n));
}

loci_rc loci_tls_load(const char *certificate_file, const char *key_file, loci_tls_pair *ret_pair,
                      loci_err *err)
{
    LOCI_AUTO(loci_tls_done) loci_tls_pair pair = { 0 };
    size_t certificate_len = 0;

    loci_rc rc =
        read_file("certificate", certificate_file, &pair.certificate, &certificate_len, err);
    if (!rc) rc = read_file("key", key_file, &pair.key, &pair.key_len, err);
    if (!rc) rc = check_pair(certificate_file, key_file, &pair, err);
    if (rc) return rc;
    *ret_pair = pair;
    pair = (loci_tls_pair){ 0 };
    return LOCI_OK;
}

/* A key is not left behind in freed memory. */
void loci_tls_done(loci_tls_pair *pair)
{
    loci_free(pair->certificate);
    if (pair->key) explicit_bzero(pair->key, pair->key_len);
    loci_free(pair->key);
    *pair = (loci_tls_pair){ 0 };
}
