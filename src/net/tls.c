#include "net/tls.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>

static void close_file(FILE **file)
{
    if (*file) (void)fclose(*file);
}

static loci_rc open_fail(const char *what, const char *path, loci_err *err)
{
    loci_rc rc = errno == ENOENT ? LOCI_ENOTFOUND : errno == EACCES ? LOCI_EDENIED : LOCI_EIO;
    return loci_fail(err, rc, "cannot read the %s file %s: %s", what, path, strerror(errno));
}

static loci_rc read_file(const char *what, const char *path, loci_buf *ret_text, loci_err *err)
{
    LOCI_AUTO(close_file) FILE *file = fopen(path, "rbe");

    if (!file) return open_fail(what, path, err);
    loci_buf_init(ret_text, LOCI_TLS_FILE_BYTES);
    for (;;) {
        char *at = loci_buf_reserve(ret_text, 4096);
        if (!at) break;
        size_t n = fread(at, 1, 4096, file);
        loci_buf_advance(ret_text, n);
        if (n == 0) break;
    }
    if (ferror(file)) return open_fail(what, path, err);
    loci_rc rc = loci_buf_check(ret_text, err);
    if (rc) loci_err_prefix(err, "the %s file %s", what, path);
    return rc;
}

/* GnuTLS tells a key that does not fit from a file that is no PEM at all. */
static loci_rc check_pair(const char *certificate_file, const char *key_file,
                          const loci_buf *certificate, const loci_buf *key, loci_err *err)
{
    gnutls_certificate_credentials_t credentials;
    const gnutls_datum_t c = { (unsigned char *)certificate->ptr, (unsigned)certificate->len };
    const gnutls_datum_t k = { (unsigned char *)key->ptr, (unsigned)key->len };

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

/* A key is not left behind in freed memory. */
static void wipe(loci_buf *key)
{
    if (key->ptr) explicit_bzero(key->ptr, key->len);
    loci_buf_done(key);
}

loci_rc loci_tls_load(const char *certificate_file, const char *key_file, loci_tls_pair *ret_pair,
                      loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf certificate = { 0 };
    LOCI_AUTO(wipe) loci_buf key = { 0 };

    loci_rc rc = read_file("certificate", certificate_file, &certificate, err);
    if (!rc) rc = read_file("key", key_file, &key, err);
    if (!rc && (certificate.len == 0 || key.len == 0))
        return loci_fail(err, LOCI_EINVAL, "%s is empty",
                         certificate.len ? key_file : certificate_file);
    if (!rc) rc = check_pair(certificate_file, key_file, &certificate, &key, err);
    if (rc) return rc;

    size_t key_len = key.len;
    *ret_pair = (loci_tls_pair){ loci_buf_take(&certificate), loci_buf_take(&key), key_len };
    return LOCI_OK;
}

void loci_tls_done(loci_tls_pair *pair)
{
    loci_free(pair->certificate);
    if (pair->key) explicit_bzero(pair->key, pair->key_len);
    loci_free(pair->key);
    *pair = (loci_tls_pair){ 0 };
}
