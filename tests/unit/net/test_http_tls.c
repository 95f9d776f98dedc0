/* TLS: certificates that are made here, and clients that speak it or do not. */
#include "client.h"
#include "net/tls.h"
#include "server.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <sys/stat.h>
#include <time.h>

static answer a;
static char folder[] = "/tmp/loci-tls-XXXXXX";
static char certificate[64], key[64], other_key[64], garbage[64];

static void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static gnutls_x509_privkey_t make_key(const char *path)
{
    gnutls_x509_privkey_t k;
    gnutls_datum_t pem;

    assert_int_equal(gnutls_x509_privkey_init(&k), 0);
    assert_int_equal(gnutls_x509_privkey_generate(
                         k, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    assert_int_equal(gnutls_x509_privkey_export2(k, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_file(path, pem.data, pem.size);
    gnutls_free(pem.data);
    return k;
}

static void make_certificate(const char *path, gnutls_x509_privkey_t k)
{
    gnutls_x509_crt_t c;
    gnutls_datum_t pem;
    time_t now = time(NULL);

    assert_int_equal(gnutls_x509_crt_init(&c), 0);
    assert_int_equal(gnutls_x509_crt_set_version(c, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(c, "\x01", 1), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(c, now - 60), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(c, now + 3600), 0);
    assert_int_equal(gnutls_x509_crt_set_dn(c, "CN=localhost", NULL), 0);
    assert_int_equal(gnutls_x509_crt_set_key(c, k), 0);
    assert_int_equal(gnutls_x509_crt_sign2(c, c, k, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(c, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_file(path, pem.data, pem.size);
    gnutls_free(pem.data);
    gnutls_x509_crt_deinit(c);
}

static int make_files(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(certificate, sizeof certificate, "%s/cert.pem", folder);
    (void)snprintf(key, sizeof key, "%s/key.pem", folder);
    (void)snprintf(other_key, sizeof other_key, "%s/other.pem", folder);
    (void)snprintf(garbage, sizeof garbage, "%s/garbage.pem", folder);
    gnutls_x509_privkey_t k = make_key(key);
    make_certificate(certificate, k);
    gnutls_x509_privkey_deinit(k);
    gnutls_x509_privkey_deinit(make_key(other_key));
    write_file(garbage, "no pem\n", 7);
    return 0;
}

static int remove_files(void **state)
{
    const char *const files[] = { certificate, key, other_key, garbage };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(files); i++) (void)unlink(files[i]);
    return rmdir(folder);
}

static int start(void **state)
{
    (void)state;
    serve((loci_http_options){ .tls_certificate = certificate,
                               .tls_key = key,
                               .body_limit = 65536,
                               .receive_timeout = 500 * LOCI_MS });
    return 0;
}

typedef struct tls_client {
    int fd;
    gnutls_session_t session;
    gnutls_certificate_credentials_t credentials;
} tls_client;

static void tls_dial(tls_client *c)
{
    c->fd = dial(fix.address);
    assert_int_equal(gnutls_certificate_allocate_credentials(&c->credentials), 0);
    assert_int_equal(gnutls_init(&c->session, GNUTLS_CLIENT), 0);
    assert_int_equal(gnutls_set_default_priority(c->session), 0);
    assert_int_equal(gnutls_credentials_set(c->session, GNUTLS_CRD_CERTIFICATE, c->credentials), 0);
    gnutls_transport_set_int(c->session, c->fd);
    gnutls_handshake_set_timeout(c->session, PATIENCE_MS);
    int rc;
    do rc = gnutls_handshake(c->session);
    while (rc < 0 && !gnutls_error_is_fatal(rc));
    if (rc < 0) fail_msg("handshake: %s", gnutls_strerror(rc));
}

static void tls_close(tls_client *c)
{
    gnutls_deinit(c->session);
    gnutls_certificate_free_credentials(c->credentials);
    (void)close(c->fd);
}

static bool tls_send(tls_client *c, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = gnutls_record_send(c->session, bytes, len);
        if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED) continue;
        if (n <= 0) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Read until `words` came, or the end. */
static void tls_hear(tls_client *c, const char *words)
{
    a.len = 0;
    a.text[0] = '\0';
    gnutls_record_set_timeout(c->session, PATIENCE_MS);
    while (!words || !strstr(a.text, words)) {
        ssize_t n = gnutls_record_recv(c->session, a.text + a.len, sizeof a.text - 1 - a.len);
        if (n == GNUTLS_E_AGAIN || n == GNUTLS_E_INTERRUPTED) continue;
        if (n <= 0) break;
        a.len += (size_t)n;
        a.text[a.len] = '\0';
    }
    a.status = 0;
    (void)sscanf(a.text, "HTTP/1.1 %d", &a.status);
}

static void speaks_tls(void **state)
{
    static const char get[] = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n"
                              "Origin: https://localhost\r\n\r\n";
    static const char post[] = "POST /echo/1 HTTP/1.1\r\nHost: localhost\r\n"
                               "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    tls_client c;
    (void)state;

    tls_dial(&c);
    for (int i = 0; i < 3; i++) {
        assert_true(tls_send(&c, get, sizeof get - 1));
        tls_hear(&c, "\"ok\"}");
        assert_int_equal(a.status, 200);
        assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "https://localhost");
        assert_true(tls_send(&c, post, sizeof post - 1));
        tls_hear(&c, "body=2:{}");
        assert_int_equal(a.status, 200);
    }
    tls_close(&c);
}

static void answers_early_over_tls(void **state)
{
    static const char chunked[] = "POST /echo/1 HTTP/1.1\r\nHost: localhost\r\n"
                                  "Content-Type: application/json\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n11170\r\n";
    static char body[70000];
    tls_client c;
    (void)state;

    tls_dial(&c);
    memset(body, ' ', sizeof body);
    assert_true(tls_send(&c, chunked, sizeof chunked - 1));
    (void)tls_send(&c, body, sizeof body);
    tls_hear(&c, NULL);
    assert_int_equal(a.status, 413);
    tls_close(&c);

    tls_dial(&c); /* a head that never ends */
    assert_true(tls_send(&c, chunked, 30));
    tls_hear(&c, NULL);
    assert_true(a.status == 408 || a.status == 0);
    tls_close(&c);
}

static void survives_what_is_not_tls(void **state)
{
    static const char *const bytes[] = { "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                         "\x16\x03\x01", "\x16\x03\x01\xff\xff\x01", "" };
    tls_client c;
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(bytes); i++) {
        int fd = dial(fix.address);
        say(fd, bytes[i]);
        hear_all(fd, &a); /* an alert or nothing, and the end: also for one who is silent */
        assert_int_equal(a.status, 0);
        (void)close(fd);
    }
    tls_dial(&c);
    tls_close(&c);
}

static void streams_over_tls(void **state)
{
    static const char get[] = "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    tls_client c;
    (void)state;

    tls_dial(&c);
    assert_true(tls_send(&c, get, sizeof get - 1));
    tls_hear(&c, "id: 2\ndata: one\ndata: two\n\n");
    loci_err err = { 0 };
    loci_http_stream *stream = atomic_load(&open_stream);
    assert_ok(loci_http_stream_write(stream, LOCI_STR("later\n"), 0, &err), err);
    tls_hear(&c, "later\n");
    tls_close(&c);
    await(&fix.events, 1);
    loci_http_stream_close(stream);
}

static void checks_the_files(void **state)
{
    static char large[LOCI_TLS_FILE_BYTES + 1];
    char missing[80], pipe_file[80], other[80];
    (void)state;

    (void)snprintf(missing, sizeof missing, "%s/missing", folder);
    (void)snprintf(pipe_file, sizeof pipe_file, "%s/pipe", folder);
    (void)snprintf(other, sizeof other, "%s/empty", folder);
    assert_int_equal(mkfifo(pipe_file, 0600), 0);
    write_file(other, "", 0);
    const struct {
        const char *certificate, *key;
        loci_rc want;
        const char *words;
    } cases[] = {
        { certificate, key, LOCI_OK, "" },
        { certificate, other_key, LOCI_EINVAL, "is not the key of the certificate" },
        { garbage, key, LOCI_EINVAL, "no usable pair" },
        { certificate, garbage, LOCI_EINVAL, "no usable pair" },
        { missing, key, LOCI_ENOTFOUND, "certificate file" },
        { certificate, missing, LOCI_ENOTFOUND, "key file" },
        { folder, key, LOCI_EINVAL, "certificate file" },
        { other, key, LOCI_EINVAL, "is empty" },
        { certificate, other, LOCI_EINVAL, "is empty" },
        { "/dev/zero", key, LOCI_EINVAL, "no regular file" },
        { pipe_file, key, LOCI_EINVAL, "certificate file" }, /* and does not wait for a writer */
        { certificate, pipe_file, LOCI_EINVAL, "key file" },
    };

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_tls_pair pair = { 0 };
        loci_err err = { 0 };
        loci_rc rc = loci_tls_load(cases[i].certificate, cases[i].key, &pair, &err);
        if (rc != cases[i].want || !strstr(err.msg, cases[i].words))
            fail_msg("%zu: %s: %s", i, loci_rc_name(rc), err.msg);
        assert_int_equal(pair.key != NULL, rc == LOCI_OK);
        loci_tls_done(&pair);
    }
    write_file(other, large, sizeof large);
    assert_int_equal(loci_tls_load(other, key, &(loci_tls_pair){ 0 }, NULL), LOCI_ELIMIT);
    (void)unlink(pipe_file);
    (void)unlink(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(speaks_tls, start, stop),
        cmocka_unit_test_setup_teardown(answers_early_over_tls, start, stop),
        cmocka_unit_test_setup_teardown(survives_what_is_not_tls, start, stop),
        cmocka_unit_test_setup_teardown(streams_over_tls, start, stop),
        cmocka_unit_test(checks_the_files),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
