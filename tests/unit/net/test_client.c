/* The client against a real server of ours, and against bytes that no server should send. */
#include "net/client.h"
#include "net/sse.h"
#include "raw_server.h"
#include "server.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <time.h>

enum { THREADS = 6, LIMIT = 1000 };

static loci_client *client;
static loci_arena *arena;
static char base[64]; /* http://127.0.0.1:port */

static int start(void **state)
{
    loci_err err = { 0 };
    (void)state;

    serve((loci_http_options){ .workers = 4 });
    (void)snprintf(base, sizeof base, "http://%s", fix.address);
    arena = loci_arena_new(16 << 20);
    assert_ok(loci_client_new(&(loci_client_options){ .connections = 2 }, &client, &err), err);
    return 0;
}

static int end(void **state)
{
    loci_client_free(client);
    loci_arena_free(arena);
    return stop(state);
}

static int64_t later(void)
{
    return loci_clock_steady() + 20 * LOCI_SECOND;
}

static const char *at(const char *path)
{
    loci_str url = loci_arena_printf(arena, "%s%s", base, path);
    assert_non_null(url.ptr);
    return url.ptr;
}

static void requests_and_answers(void **state)
{
    static const loci_client_header headers[] = { { "Content-Type", "application/json" },
                                                  { "X-Loci-Agent", "me" } };
    static const struct {
        loci_method method;
        const char *path, *body;
        int status;
        const char *want;
    } cases[] = {
        { LOCI_GET, "/echo/1?q=x+y", "", 200,
          "GET path=/echo/1 id=1 agent=me q=x y n=1 first=q body=0:" },
        { LOCI_POST, "/echo/2", "{}", 200,
          "POST path=/echo/2 id=2 agent=me q= n=0 first= body=2:{}" },
        { LOCI_POST, "/echo/2", "", 200, "POST path=/echo/2 id=2 agent=me q= n=0 first= body=0:" },
        { LOCI_HEAD, "/v1/health", "", 200, "" },
        { LOCI_GET, "/v1/health", "", 200, "{\"status\":\"ok\"}" },
        { LOCI_DELETE, "/v1/health", "", 405, NULL },
        { LOCI_GET, "/nothing", "", 404, NULL },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_client_request r = { .method = cases[i].method,
                                  .url = at(cases[i].path),
                                  .headers = headers,
                                  .header_count = LOCI_COUNT(headers),
                                  .body = loci_str_from(cases[i].body),
                                  .deadline = later() };
        loci_client_reply reply;
        loci_err err = { 0 };
        assert_ok(loci_client_send(client, &r, arena, &reply, &err), err);
        assert_int_equal(reply.status, cases[i].status);
        assert_int_equal(reply.retry_after, 0);
        if (cases[i].want) assert_str(reply.body, cases[i].want);
    }
}

static loci_str get(const char *url)
{
    loci_client_request r = { .method = LOCI_GET, .url = url, .deadline = later() };
    loci_client_reply reply;
    loci_err err = { 0 };

    assert_ok(loci_client_send(client, &r, arena, &reply, &err), err);
    return reply.body;
}

static void whoami(void *context, loci_http_request *r)
{
    (void)context;
    loci_http_reply(r, 200, "text/plain",
                    loci_arena_str(loci_http_arena(r), loci_str_from(loci_http_peer(r))));
}

/* The same port of ours is seen twice, also after an answer that was an error. */
static void connections_are_used_again(void **state)
{
    static const loci_route route = { LOCI_GET, "/whoami", 0, whoami, NULL };
    loci_http_server *server;
    loci_router *router;
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_router_new(&router, &err), err);
    assert_ok(loci_router_add(router, "", &route, 1, NULL, &err), err);
    assert_ok(
        loci_http_start(&(loci_http_options){ .listen = "127.0.0.1:0" }, router, &server, &err),
        err);
    loci_str url = loci_arena_printf(arena, "http://%s/whoami", loci_http_address(server));
    loci_str other = loci_arena_printf(arena, "http://%s/other", loci_http_address(server));
    loci_str first = get(url.ptr);
    assert_true(first.len > 0);
    (void)get(other.ptr);
    assert_true(loci_str_eq(get(url.ptr), first));
    loci_http_stop(server);
    loci_router_free(router);
}

#define OK_HEAD "HTTP/1.1 200 OK\r\n"

/* What came back, and what the caller is told; never a byte of header or body of the request. */
static void strange_answers(void **state)
{
    static const loci_client_header secret = { "Authorization", "Bearer sk-secret" };
    static const struct {
        const char *answer;
        loci_rc want;
        int status;
        const char *says; /* in the message, or the body */
    } cases[] = {
        { OK_HEAD "Content-Length: 2\r\n\r\nhi", LOCI_OK, 200, "hi" },
        { OK_HEAD "\r\nuntil the end", LOCI_OK, 200, "until the end" },
        { OK_HEAD "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", LOCI_OK, 200, "hi" },
        { "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
          LOCI_OK, 302, "" },
        { "", LOCI_EUNAVAILABLE, 0, "without an answer" },
        { OK_HEAD "Content-Length: 20\r\n\r\nhi", LOCI_EUNAVAILABLE, 0, "broke off" },
        { OK_HEAD "Transfer-Encoding: chunked\r\n\r\n20\r\nhi", LOCI_EUNAVAILABLE, 0, "broke" },
        { OK_HEAD "Content-Length: 1001\r\n\r\n", LOCI_ELIMIT, 0, "longer than" },
        { "SSH-2.0-OpenSSH_9.2\r\n", LOCI_ECORRUPT, 0, "not HTTP" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        static raw_server raw;
        const char *answers[] = { cases[i].answer, NULL };
        loci_client_reply reply = { 0 };
        loci_err err = { 0 };

        raw_start(&raw, answers);
        loci_client_request r = { .method = LOCI_POST,
                                  .url = raw.url,
                                  .headers = &secret,
                                  .header_count = 1,
                                  .body = LOCI_STR("text of the user"),
                                  .deadline = later(),
                                  .reply_limit = LIMIT };
        loci_rc rc = loci_client_send(client, &r, arena, &reply, &err);
        raw_stop(&raw);
        if (rc != cases[i].want) fail_msg("case %zu: %s %s", i, loci_rc_name(rc), err.msg);
        assert_int_equal(reply.status, cases[i].status);
        assert_non_null(strstr(raw.last, "Authorization: Bearer sk-secret\r\n"));
        if (rc == LOCI_OK) {
            assert_str(reply.body, cases[i].says);
            continue;
        }
        if (!strstr(err.msg, cases[i].says)) fail_msg("case %zu: %s", i, err.msg);
        assert_non_null(strstr(err.msg, "127.0.0.1:"));
        assert_null(strstr(err.msg, "secret"));
        assert_null(strstr(err.msg, "text of"));
    }
}

/* A body without a length that is longer than the limit. */
static void endless_answers_are_cut(void **state)
{
    static char answer[3000] = OK_HEAD "\r\n";
    const char *answers[] = { answer, NULL };
    static raw_server raw;
    loci_client_reply reply;
    loci_err err = { 0 };
    (void)state;

    memset(answer + strlen(answer), 'x', 2500);
    raw_start(&raw, answers);
    loci_client_request r = {
        .method = LOCI_GET, .url = raw.url, .deadline = later(), .reply_limit = LIMIT
    };
    assert_int_equal(loci_client_send(client, &r, arena, &reply, &err), LOCI_ELIMIT);
    assert_non_null(strstr(err.msg, "longer than 1000 bytes"));
    raw_stop(&raw);
}

static void retry_after_is_read(void **state)
{
    static const struct {
        const char *answer;
        int64_t want;
    } cases[] = {
        { "HTTP/1.1 429 No\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 7 * LOCI_SECOND },
        { "HTTP/1.1 429 No\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n", 0 },
        { "HTTP/1.1 429 No\r\nRetry-After: -5\r\nContent-Length: 0\r\n\r\n", 0 },
        { "HTTP/1.1 503 No\r\nRetry-After: 99999999999999\r\nContent-Length: 0\r\n\r\n",
          INT64_C(86400) * LOCI_SECOND },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        static raw_server raw;
        const char *answers[] = { cases[i].answer, NULL };
        loci_client_reply reply;
        loci_err err = { 0 };

        raw_start(&raw, answers);
        loci_client_request r = { .method = LOCI_GET, .url = raw.url, .deadline = later() };
        assert_ok(loci_client_send(client, &r, arena, &reply, &err), err);
        raw_stop(&raw);
        assert_int_equal(reply.retry_after, cases[i].want);
    }
}

static bool when_it_runs(void *context)
{
    (void)context;
    return atomic_load(&fix.running) > 0;
}

static void waiting_has_an_end(void **state)
{
    loci_client_reply reply;
    loci_err err = { 0 };
    (void)state;

    atomic_store(&fix.hold, true);
    loci_client_request r = { .method = LOCI_GET,
                              .url = at("/slow"),
                              .deadline = loci_clock_steady() + 100 * LOCI_MS };
    assert_int_equal(loci_client_send(client, &r, arena, &reply, &err), LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "no answer in time"));
    assert_true(loci_clock_steady() >=
                r.deadline); /* else there seems to be time for another try */
    await(&fix.running, 0);

    r.deadline = later();
    r.cancelled = when_it_runs;
    assert_int_equal(loci_client_send(client, &r, arena, &reply, &err), LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "cancelled"));
    await(&fix.running, 0);
    atomic_store(&fix.hold, false);
}

static void *get_slow(void *context)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *own = loci_arena_new(1 << 20);
    loci_client_request r = { .method = LOCI_GET, .url = context, .deadline = later() };
    loci_client_reply reply = { 0 };

    loci_rc rc = loci_client_send(client, &r, own, &reply, NULL);
    return !rc && reply.status == 200 ? context : NULL;
}

/* Six threads, two connections: never more than two inside the server; who waits has an end too. */
static void threads_wait_for_their_turn(void **state)
{
    char url[80];
    pthread_t threads[THREADS];
    loci_client_reply reply;
    loci_err err = { 0 };
    void *good;
    (void)state;

    (void)snprintf(url, sizeof url, "%s/slow", base);
    atomic_store(&fix.hold, true);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, get_slow, url), 0);
    await(&fix.running, 2);
    loci_client_request r = { .method = LOCI_GET,
                              .url = at("/v1/health"),
                              .deadline = loci_clock_steady() + 50 * LOCI_MS };
    assert_int_equal(loci_client_send(client, &r, arena, &reply, &err), LOCI_EUNAVAILABLE);
    assert_int_equal(atomic_load(&fix.running), 2);
    atomic_store(&fix.hold, false);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &good), 0);
        assert_non_null(good);
    }
}

static loci_rc count_event(void *context, const loci_sse_event *event, loci_err *err)
{
    int *count = context;

    assert_str(event->name, "tick");
    assert_str(event->data, "one\ntwo");
    if (++*count == 3) return loci_fail(err, LOCI_EDENIED, "three are enough");
    return LOCI_OK;
}

static loci_rc feed(void *context, loci_str piece, loci_err *err)
{
    return loci_sse_feed(context, piece, err);
}

/* The stream has no end; the handler ends it. */
static void streams_come_as_events(void **state)
{
    LOCI_AUTO(loci_sse_done) loci_sse sse;
    loci_client_reply reply;
    loci_err err = { 0 };
    int count = 0;
    (void)state;

    loci_sse_init(&sse, 1024, count_event, &count);
    loci_client_request r = { .method = LOCI_GET,
                              .url = at("/events"),
                              .deadline = later(),
                              .on_body = feed,
                              .context = &sse };
    assert_int_equal(loci_client_send(client, &r, arena, &reply, &err), LOCI_EDENIED);
    assert_string_equal(err.msg, "three are enough");
    assert_int_equal(count, 3);
    loci_http_stream *stream;
    while (!(stream = atomic_load(&open_stream))) loci_clock_sleep(LOCI_MS);
    loci_http_stream_close(stream);

    r.url = at("/nothing"); /* the body of an error is gathered */
    assert_ok(loci_client_send(client, &r, arena, &reply, &err), err);
    assert_int_equal(reply.status, 404);
    assert_non_null(strstr(reply.body.ptr, "nothing is at"));
}

static void addresses(void **state)
{
    static const struct {
        const char *url, *host;
        bool tls, loopback, has_path, has_query;
    } good[] = {
        { "http://127.0.0.1:8080", "127.0.0.1:8080", false, true, false, false },
        { "https://api.example.com/v1", "api.example.com", true, false, true, false },
        { "http://[::1]:1/", "[::1]:1", false, true, false, false },
        { "http://localhost?a=b", "localhost", false, true, false, true },
        { "http://127.example.com", "127.example.com", false, false, false, false },
    };
    static const struct {
        const char *url, *says;
    } bad[] = {
        { "", "no address" },
        { "127.0.0.1:8080", "address" },
        { "ftp://host/", "must start with http" },
        { "file:///etc/passwd", "" },
        { "http://me:geheim@host/", "no name or password" },
        { "http://geheim@host/", "no name or password" },
        { "http://ho st/", "no address" },
        { "http://host/\r\nX: geheim", "no address" },
        { "http://", "no address" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(good); i++) {
        loci_url url;
        loci_err err = { 0 };
        assert_ok(loci_url_parse(good[i].url, &url, &err), err);
        assert_string_equal(url.host, good[i].host);
        assert_int_equal(url.tls, good[i].tls);
        assert_int_equal(url.loopback, good[i].loopback);
        assert_int_equal(url.has_path, good[i].has_path);
        assert_int_equal(url.has_query, good[i].has_query);
    }
    for (size_t i = 0; i < LOCI_COUNT(bad); i++) {
        loci_url url;
        loci_err err = { 0 };
        assert_int_equal(loci_url_parse(bad[i].url, &url, &err), LOCI_EINVAL);
        if (!strstr(err.msg, bad[i].says)) fail_msg("%s: %s", bad[i].url, err.msg);
        assert_null(strstr(err.msg, "geheim"));
    }
}

static void requests_that_cannot_be_sent(void **state)
{
    static const loci_client_header split = { "X-A", "a\r\nX-B: b" };
    static const loci_client_header many[LOCI_CLIENT_HEADERS + 1];
    static const struct {
        const char *url;
        const loci_client_header *headers;
        size_t header_count;
        loci_rc want;
        const char *says;
    } cases[] = {
        { "gopher://127.0.0.1/", NULL, 0, LOCI_EINVAL, "http://" },
        { "http://127.0.0.1:1/", &split, 1, LOCI_EINVAL, "X-A" },
        { "http://127.0.0.1:1/", many, LOCI_COUNT(many), LOCI_EINVAL, "16 headers" },
        { "http://127.0.0.1:1/", NULL, 0, LOCI_EUNAVAILABLE, "Connection refused" },
    };
    loci_client *other = NULL;
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_client_request r = { .method = LOCI_GET,
                                  .url = cases[i].url,
                                  .headers = cases[i].headers,
                                  .header_count = cases[i].header_count,
                                  .deadline = later() };
        loci_client_reply reply;
        loci_err err = { 0 };
        assert_int_equal(loci_client_send(client, &r, arena, &reply, &err), cases[i].want);
        if (!strstr(err.msg, cases[i].says)) fail_msg("case %zu: %s", i, err.msg);
    }
    assert_int_equal(loci_client_new(&(loci_client_options){ .connections = 65 }, &other, NULL),
                     LOCI_EINVAL);
}

/* A proxy that the environment names is not asked about this machine. */
static void this_machine_needs_no_proxy(void **state)
{
    (void)state;
    assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
    assert_str(get(at("/v1/health")), "{\"status\":\"ok\"}");
    assert_int_equal(unsetenv("http_proxy"), 0);
}

static char certificate[] = "/tmp/loci-client-cert-XXXXXX", key[] = "/tmp/loci-client-key-XXXXXX";

static void write_pem(int fd, gnutls_datum_t pem)
{
    assert_int_equal(write(fd, pem.data, pem.size), pem.size);
    assert_int_equal(close(fd), 0);
    gnutls_free(pem.data);
}

static void make_certificate(void)
{
    gnutls_x509_privkey_t k;
    gnutls_x509_crt_t c;
    gnutls_datum_t pem;
    time_t now = time(NULL);

    assert_int_equal(gnutls_x509_privkey_init(&k), 0);
    assert_int_equal(gnutls_x509_privkey_generate(
                         k, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                     0);
    assert_int_equal(gnutls_x509_privkey_export2(k, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_pem(mkstemp(key), pem);
    assert_int_equal(gnutls_x509_crt_init(&c), 0);
    assert_int_equal(gnutls_x509_crt_set_version(c, 3), 0);
    assert_int_equal(gnutls_x509_crt_set_serial(c, "\x01", 1), 0);
    assert_int_equal(gnutls_x509_crt_set_activation_time(c, now - 60), 0);
    assert_int_equal(gnutls_x509_crt_set_expiration_time(c, now + 3600), 0);
    assert_int_equal(gnutls_x509_crt_set_dn(c, "CN=localhost", NULL), 0);
    assert_int_equal(gnutls_x509_crt_set_subject_alt_name(c, GNUTLS_SAN_IPADDRESS, "\x7f\0\0\x01",
                                                          4, GNUTLS_FSAN_SET),
                     0);
    assert_int_equal(gnutls_x509_crt_set_key(c, k), 0);
    assert_int_equal(gnutls_x509_crt_sign2(c, c, k, GNUTLS_DIG_SHA256, 0), 0);
    assert_int_equal(gnutls_x509_crt_export2(c, GNUTLS_X509_FMT_PEM, &pem), 0);
    write_pem(mkstemp(certificate), pem);
    gnutls_x509_crt_deinit(c);
    gnutls_x509_privkey_deinit(k);
}

/* A certificate that nobody vouches for is refused, and one that we are told to trust is not. */
static void certificates_are_checked(void **state)
{
    loci_http_options options = { .listen = "127.0.0.1:0",
                                  .tls_certificate = certificate,
                                  .tls_key = key };
    LOCI_AUTO(loci_client_freep) loci_client *trusting = NULL;
    loci_http_server *server;
    loci_client_reply reply;
    loci_err err = { 0 };
    (void)state;

    make_certificate();
    assert_ok(loci_http_start(&options, fix.router, &server, &err), err);
    loci_str url = loci_arena_printf(arena, "https://%s/v1/health", loci_http_address(server));
    loci_client_request r = { .method = LOCI_GET, .url = url.ptr, .deadline = later() };
    assert_int_equal(loci_client_send(client, &r, arena, &reply, &err), LOCI_EDENIED);
    assert_non_null(strstr(err.msg, "certificate is not trusted"));

    assert_ok(
        loci_client_new(&(loci_client_options){ .certificates = certificate }, &trusting, &err),
        err);
    assert_ok(loci_client_send(trusting, &r, arena, &reply, &err), err);
    assert_str(reply.body, "{\"status\":\"ok\"}");
    loci_http_stop(server);
    (void)unlink(certificate);
    (void)unlink(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_and_answers),
        cmocka_unit_test(connections_are_used_again),
        cmocka_unit_test(strange_answers),
        cmocka_unit_test(endless_answers_are_cut),
        cmocka_unit_test(retry_after_is_read),
        cmocka_unit_test(waiting_has_an_end),
        cmocka_unit_test(threads_wait_for_their_turn),
        cmocka_unit_test(streams_come_as_events),
        cmocka_unit_test(addresses),
        cmocka_unit_test(requests_that_cannot_be_sent),
        cmocka_unit_test(this_machine_needs_no_proxy),
        cmocka_unit_test(certificates_are_checked),
    };
    return cmocka_run_group_tests(tests, start, end);
}
