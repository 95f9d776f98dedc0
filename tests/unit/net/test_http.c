/* A real server, and clients that are right, wrong or rude. */
#include "base/alloc.h"
#include "client.h"
#include "server.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n"
#define POST(path) "POST " path " HTTP/1.1\r\nHost: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"

static answer a;

static int start(void **state)
{
    (void)state;
    serve((loci_http_options){ .body_limit = 65536, .header_limit = 8192, .workers = 2 });
    return 0;
}

static void ask_text(const char *text)
{
    ask(fix.address, text, strlen(text), &a);
}

static void assert_says(const char *words)
{
    if (!strstr(a.text, words)) fail_msg("no '%s' in: %s", words, a.text);
}

/* Every error of ours is this JSON. */
static void assert_json_error(int status)
{
    static const struct {
        int status;
        const char *code;
    } codes[] = {
        { 400, "invalid" },         { 403, "forbidden" },         { 404, "not_found" },
        { 405, "not_implemented" }, { 408, "unavailable" },       { 413, "too_large" },
        { 414, "too_large" },       { 415, "unsupported_media" }, { 429, "busy" },
        { 431, "too_large" },       { 500, "internal" },          { 503, "unavailable" },
    };
    char tail[64] = "";

    for (size_t i = 0; i < LOCI_COUNT(codes); i++)
        if (codes[i].status == status)
            (void)snprintf(tail, sizeof tail, "\",\"code\":\"%s\"}", codes[i].code);
    assert_memory_equal(answer_body(&a), "{\"detail\":\"", 11);
    assert_says(tail);
    assert_string_equal(answer_header(&a, "Content-Type"), "application/json");
}

static void requests_and_their_status(void **state)
{
    static const struct {
        const char *request;
        int status;
        const char *words; /* in the answer */
    } cases[] = {
        { GET("/v1/health/") "\r\n", 200, "{\"status\":\"ok\"}" },
        { GET("/v1/health") "\r\n", 200, "Content-Type: application/json" },
        { "HEAD /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 200, "Content-Length: 15\r\n" },
        { "GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1:8283\r\n\r\n", 200, "" },
        { "GET /v1/health HTTP/1.1\r\nhost: [::1]:1\r\n\r\n", 200, "" },
        { "GET /v1/health HTTP/1.0\r\n\r\n", 200, "" },
        { GET("/echo/a%2Fb?q=x+y&z") "X-Loci-Agent: me \r\n\r\n", 200,
          "GET path=/echo/a/b id=a/b agent=me q=x y n=2 first=q body=0:" },
        { GET("/echo/1") "\r\n", 200, "X-Seen: a  b\r\n" },
        { POST("/echo/1") JSON "Content-Length: 2\r\n\r\n{}", 200, "body=2:{}" },
        { POST("/cheap/1") JSON "Content-Length: 2\r\n\r\n{}", 200, "body=2:{}" },
        { POST("/echo/1") JSON
          "Transfer-Encoding: Chunked\r\n\r\n1\r\n{\r\n1;x=y\r\n}\r\n0\r\n\r\n",
          200, "body=2:{}" },
        { POST("/echo/1") "Content-Type: application/json; charset=utf-8\r\n"
                          "Content-Length: 2\r\n\r\n{}",
          200, "body=2:{}" },
        { POST("/echo/1") "\r\n", 200, "body=0:" },
        { POST("/echo/1") "Content-Length: 0\r\n\r\n", 200, "body=0:" },
        { GET("/forgets") "\r\n", 500, "no answer" },

        /* What is not there, or not possible. */
        { GET("/nothing") "\r\n", 404, "nothing is at /nothing" },
        { GET("/v1//health") "\r\n", 404, "" },
        { "DELETE /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 405,
          "Allow: GET, HEAD, OPTIONS\r\n" },
        { "BREW /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "Allow: GET" },
        { "get /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "" },
        { "OPTIONS /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 204,
          "Allow: GET, HEAD, OPTIONS\r\n" },
        { "OPTIONS /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "" },

        /* The address. */
        { GET("/echo/%00") "\r\n", 400, "percent-encoded" },
        { GET("/echo/%ff") "\r\n", 400, "UTF-8" },
        { GET("/echo/%4") "\r\n", 400, "" },
        { GET("/echo/1?q=%zz") "\r\n", 400, "" },
        { GET("/echo/\xff") "\r\n", 400, "0xff" },
        { GET("/a b") "\r\n", 400, "" },
        { GET("*") "\r\n", 400, "" },
        { GET("http://localhost/v1/health") "\r\n", 400, "" },
        { "GET  /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "" },

        /* The head. */
        { "GET /v1/health HTTP/1.1\r\n\r\n", 400, "Host header is missing" },
        { GET("/v1/health") "Host: localhost\r\n\r\n", 400, "more than once" },
        { "GET /v1/health HTTP/1.1\r\nHost: \r\n\r\n", 400, "" },
        { "GET /v1/health HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "" },
        { "GET /v1/health HTTP/1.1\r\nHost : localhost\r\n\r\n", 400, "" },
        { "GET /v1/health HTTP/1.1\nHost: localhost\n\n", 400, "" },
        { GET("/v1/health") "X: a\r\n folded\r\n\r\n", 400, "" },
        { GET("/v1/health") "X: a\rb\r\n\r\n", 400, "" },
        { GET("/v1/health") "X: a\x01\r\n\r\n", 400, "" },
        { GET("/v1/health") "X(y): a\r\n\r\n", 400, "" },
        { GET("/v1/health") ": a\r\n\r\n", 400, "" },

        /* The length. */
        { POST("/echo/1") JSON "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", 400,
          "more than once" },
        { POST("/echo/1") JSON "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, "" },
        { POST("/echo/1") JSON "Content-Length: 2, 2\r\n\r\n{}", 400, "" },
        { POST("/echo/1") JSON "Content-Length: -2\r\n\r\n{}", 400, "" },
        { POST("/echo/1") JSON "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          400, "exclude" },
        { POST("/echo/1") JSON "Transfer-Encoding: gzip\r\n\r\n{}", 400, "chunked" },
        { POST("/echo/1") JSON "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400, "" },
        { POST("/echo/1") JSON "Transfer-Encoding: chunked \r\n\r\n0\r\n\r\n", 400, "" },
        { POST("/echo/1") JSON
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          400, "" },
        { "POST /echo/1 HTTP/1.0\r\n" JSON "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "" },
        { POST("/echo/1") JSON "Content-Length: 65537\r\n\r\n{}", 413, "the limit is 65536" },

        /* Who may come in. */
        { "GET /v1/health HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403, "'evil.example'" },
        { "GET /v1/health HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 403, "" },
        { GET("/v1/health") "Origin: https://evil.example\r\n\r\n", 403, "origin" },
        { GET("/v1/health") "Origin: null\r\n\r\n", 403, "" },
        { GET("/v1/health") "Origin: http://localhost:3000\r\n\r\n", 200,
          "Access-Control-Allow-Origin: http://localhost:3000\r\n" },
        { GET("/nothing") "Origin: http://localhost:3000\r\n\r\n", 404,
          "Access-Control-Allow-Origin: http://localhost:3000\r\n" },
        { GET("/v1/health") "Origin: http://localhost\r\n\r\n", 200, "" }, /* our own */
        { "OPTIONS /echo/1 HTTP/1.1\r\nHost: localhost\r\nOrigin: http://letta.localhost\r\n"
          "Access-Control-Request-Method: POST\r\n"
          "Access-Control-Request-Headers: content-type, x-loci-agent\r\n\r\n",
          204, "Access-Control-Allow-Headers: content-type, x-loci-agent\r\n" },
        { "OPTIONS /echo/1 HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n"
          "Access-Control-Request-Method: POST\r\n\r\n",
          403, "" },
        { POST("/echo/1") "Content-Length: 2\r\n\r\n{}", 415, "application/json" },
        { POST("/echo/1") "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}", 415, "" },
        { POST("/echo/1") JSON JSON "Content-Length: 2\r\n\r\n{}", 415, "" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        ask_text(cases[i].request);
        if (a.status != cases[i].status)
            fail_msg("%zu: %s\nwanted %d, got: %s", i, cases[i].request, cases[i].status, a.text);
        assert_says(cases[i].words);
    }
}

static void errors_are_json(void **state)
{
    static const char *const requests[] = {
        GET("/nothing") "\r\n",
        "DELETE /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        GET("/echo/%00\"") "\r\n",
        "GET /v1/health HTTP/1.1\r\n\r\n",
        "GET /v1/health HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        GET("/v1/health") "Origin: http://evil.example\r\n\r\n",
        POST("/echo/1") "Content-Length: 2\r\n\r\n{}",
        POST("/echo/1") JSON "Content-Length: 99999\r\n\r\n",
        POST("/echo/1") JSON "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        GET("/forgets") "\r\n",
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(requests); i++) {
        ask_text(requests[i]);
        assert_json_error(a.status);
        if (a.status == 403) assert_null(answer_header(&a, "Access-Control-Allow-Origin"));
    }
}

static void nul_bytes(void **state)
{
    static const char *const requests[] = {
        "GET /v1/health@ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET@ /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /v1/health HTTP/1.1\r\nHost: localhost@x\r\n\r\n",
        "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: a@\r\nY: b\r\n\r\n",
        "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX@: a\r\n\r\n",
        "@GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    };
    char bytes[200];
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(requests); i++) {
        size_t len = strlen(requests[i]);
        memcpy(bytes, requests[i], len);
        *(char *)memchr(bytes, '@', len) = '\0';
        ask(fix.address, bytes, len, &a);
        if (a.status != 400 && a.status != 0) fail_msg("%zu: %s", i, a.text);
    }
}

static void keeps_connections(void **state)
{
    int fd = dial(fix.address);
    (void)state;

    for (int i = 0; i < 3; i++) {
        say(fd, GET("/v1/health") "\r\n");
        hear(fd, &a, false);
        assert_int_equal(a.status, 200);
        say(fd, POST("/echo/1") JSON "Content-Length: 3\r\n\r\n[1]");
        hear(fd, &a, false);
        assert_says("body=3:[1]");
        say(fd, POST("/nothing") JSON "Content-Length: 3\r\n\r\n[1]"); /* an error keeps it too */
        hear(fd, &a, false);
        assert_int_equal(a.status, 404);
        say(fd, POST("/echo/1") "Content-Length: 3\r\n\r\n[1]");
        hear(fd, &a, false);
        assert_int_equal(a.status, 415);
    }
    say(fd, GET("/v1/health") "Connection: close\r\n\r\n");
    hear_all(fd, &a);
    assert_int_equal(a.status, 200);
    (void)close(fd);
}

static void answers_pipelines_in_order(void **state)
{
    int fd = dial(fix.address);
    (void)state;

    say(fd, GET("/echo/first") "\r\n" POST("/echo/second") JSON
        "Content-Length: 2\r\n\r\n{}" GET("/v1/health") "\r\n" GET("/nothing") "\r\n" GET(
            "/echo/last") "Connection: close\r\n\r\n");
    hear_all(fd, &a);
    (void)close(fd);
    const char *at = a.text;
    static const char *const order[] = { "id=first", "id=second", "\"ok\"", "404", "id=last" };
    for (size_t i = 0; at && i < LOCI_COUNT(order); i++) {
        at = strstr(at, order[i]);
        if (!at) fail_msg("no %s in its place: %s", order[i], a.text);
    }
}

static void expects_continue(void **state)
{
    int fd = dial(fix.address);
    (void)state;

    say(fd, POST("/echo/1") JSON "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    a.len = 0;
    a.text[0] = '\0';
    while (!strstr(a.text, "\r\n\r\n") && pull(fd, &a)) continue;
    assert_memory_equal(a.text, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    say(fd, "{}");
    hear(fd, &a, false);
    assert_int_equal(a.status, 200);
    (void)close(fd);

    /* Told no before it sends anything. */
    ask_text(POST("/echo/1") JSON "Content-Length: 70000\r\nExpect: 100-continue\r\n\r\n");
    assert_int_equal(a.status, 413);
    ask_text(POST("/echo/1") "Content-Length: 7\r\nExpect: 100-continue\r\n\r\n");
    assert_int_equal(a.status, 415);
}

static void limits_bodies(void **state)
{
    static char body[70000];
    int fd = dial(fix.address);
    (void)state;

    memset(body, ' ', sizeof body);
    say(fd, POST("/echo/1") JSON "Content-Length: 65536\r\n\r\n"); /* exactly the limit */
    (void)push(fd, body, 65536);
    hear(fd, &a, false);
    assert_says("body=65536:");

    /* In chunks nobody says how long it will be; the answer comes before its end. */
    say(fd, POST("/echo/1") JSON "Transfer-Encoding: chunked\r\n\r\n11170\r\n");
    (void)push(fd, body, sizeof body);
    hear_all(fd, &a);
    assert_int_equal(a.status, 413);
    assert_json_error(413);
    (void)close(fd);

    /* One that announces too much is told so although it goes on sending. */
    fd = dial(fix.address);
    say(fd, POST("/echo/1") JSON "Content-Length: 1000000\r\n\r\n");
    for (int i = 0; i < 14 && push(fd, body, sizeof body); i++) continue;
    hear_all(fd, &a);
    assert_int_equal(a.status, 413);
    (void)close(fd);
}

/* A body without an end is not read to it, only because it was refused already. */
static void limits_refused_bodies(void **state)
{
    static const char chunk[] = "10\r\n0123456789abcdef\r\n";
    int fd = dial(fix.address);
    (void)state;

    say(fd, POST("/nothing") JSON "Transfer-Encoding: chunked\r\n\r\n"); /* a short one is */
    for (int i = 0; i < 4000; i++) say(fd, chunk);
    say(fd, "0\r\n\r\n");
    hear(fd, &a, false);
    assert_int_equal(a.status, 404);
    say(fd, GET("/v1/health") "\r\n"); /* and the connection goes on */
    hear(fd, &a, false);
    assert_int_equal(a.status, 200);
    (void)close(fd);

    fd = dial(fix.address);
    say(fd, POST("/nothing") JSON "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 4200 && push(fd, chunk, sizeof chunk - 1); i++) continue;
    hear_all(fd, &a); /* it comes although the body did not end, and then the connection does */
    assert_int_equal(a.status, 404);
    assert_json_error(404);
    (void)close(fd);
    await(&fix.events, 3);
    assert_int_equal(atomic_load(&fix.last_outcome), LOCI_HTTP_ANSWERED);
}

static void limits_heads(void **state)
{
    static char head[300000];
    (void)state;

    /* Ours, as JSON, a little above the limit; the library's far above it. */
    for (size_t size = 7000; size <= 250000; size = size * 3 / 2) {
        int n = snprintf(head, sizeof head, GET("/v1/health") "X: %0*d\r\n\r\n", (int)size, 0);
        ask(fix.address, head, (size_t)n, &a);
        if (a.status != (size < 8000 ? 200 : 431)) fail_msg("%zu: %s", size, a.text);
    }
    for (size_t size = 20000; size <= 250000; size *= 3) {
        int n = snprintf(head, sizeof head, "GET /%0*d HTTP/1.1\r\nHost: localhost\r\n\r\n",
                         (int)size, 0);
        ask(fix.address, head, (size_t)n, &a);
        assert_true(a.status == 414 || a.status == 431);
    }
    size_t len = (size_t)snprintf(head, sizeof head, GET("/v1/health"));
    for (int i = 0; i < 200; i++) len += (size_t)snprintf(head + len, 16, "X%d: 1\r\n", i);
    len += (size_t)snprintf(head + len, 16, "\r\n");
    ask(fix.address, head, len, &a);
    assert_int_equal(a.status, 431);
}

static void many_parameters(void **state)
{
    static char head[9000] = "GET /echo/1?";
    (void)state;

    for (size_t pairs = 100; pairs <= 3500; pairs += 400) {
        size_t len = 12;
        for (size_t i = 0; i < pairs; i++) len += (size_t)snprintf(head + len, 3, "a&");
        len += (size_t)snprintf(head + len, 64, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
        ask(fix.address, head, len, &a);
        int want = pairs <= LOCI_URI_PARAMS ? 200 : 400;
        if (a.status != want && a.status != 431) fail_msg("%zu: %s", pairs, a.text);
    }
}

static void unix_socket(void **state)
{
    char folder[] = "/tmp/loci-http-XXXXXX", where[64];
    (void)state;

    assert_non_null(mkdtemp(folder));
    (void)snprintf(where, sizeof where, "unix:%s/s", folder);
    serve((loci_http_options){ .listen = where });
    ask_text("GET /echo/1 HTTP/1.1\r\nHost: whatever.example\r\n\r\n"); /* any name is fine here */
    assert_int_equal(a.status, 200);
    ask_text("GET /echo/1 HTTP/1.1\r\n\r\n");
    assert_int_equal(a.status, 400);
    ask_text("GET /echo/1 HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n\r\n");
    assert_int_equal(a.status, 403);
    (void)stop(NULL);
    assert_int_equal(rmdir(folder), 0); /* the socket is gone */
}

static void configured_names(void **state)
{
    (void)state;
    serve((loci_http_options){ .allowed_hosts = "box.example",
                               .allowed_origins = "https://app.example" });
    ask_text("GET /v1/health HTTP/1.1\r\nHost: box.example:99\r\n\r\n");
    assert_int_equal(a.status, 200);
    ask_text(GET("/v1/health") "Origin: https://app.example\r\n\r\n");
    assert_int_equal(a.status, 200);
    assert_string_equal(answer_header(&a, "Access-Control-Allow-Credentials"), "true");
    assert_string_equal(answer_header(&a, "Vary"), "Origin");
}

static void tells_what_happened(void **state)
{
    (void)state;
    ask_text(GET("/v1/health") "\r\n");
    await(&fix.events, 1);
    assert_int_equal(atomic_load(&fix.last_status), 200);
    assert_int_equal(atomic_load(&fix.last_outcome), LOCI_HTTP_ANSWERED);
    ask_text(GET("/nothing") "\r\n");
    await(&fix.events, 2);
    assert_int_equal(atomic_load(&fix.last_status), 404);

    /* What the library refuses by itself, behind a good request: nothing of that is left. */
    static const char *const bad[] = {
        "GET /x HTTP/1.1\r\nno header\r\n\r\n",
        POST("/x") "Content-Length: x\r\n\r\n",
        POST("/echo/1") JSON "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    };
    for (size_t i = 0; i < LOCI_COUNT(bad); i++) {
        int fd = dial(fix.address), before = atomic_load(&fix.events);
        say(fd, POST("/cheap/1") JSON "Content-Length: 2\r\n\r\n{}");
        hear(fd, &a, false);
        say(fd, bad[i]);
        hear_all(fd, &a);
        assert_int_equal(a.status, 400);
        await(&fix.events, before + 2); /* it is no client that left */
        assert_int_equal(atomic_load(&fix.last_outcome), LOCI_HTTP_REFUSED);
        assert_int_equal(atomic_load(&fix.last_status), 0);
        assert_int_equal(atomic_load(&fix.last_method_len), i == 2 ? 4 : 0);
        (void)close(fd);
    }
}

static void refuses_to_start(void **state)
{
    loci_http_server *server = NULL;
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(
        loci_http_start(&(loci_http_options){ .listen = fix.address }, fix.router, &server, &err),
        LOCI_ECONFLICT);
    assert_non_null(strstr(err.msg, "is taken by another program"));
    assert_int_equal(
        loci_http_start(&(loci_http_options){ .listen = "127.0.0.1:0", .tls_certificate = "x" },
                        fix.router, &server, &err),
        LOCI_EINVAL);
    assert_int_equal(loci_http_start(&(loci_http_options){ .listen = "127.0.0.1:0",
                                                           .tls_certificate = "/no/such/file",
                                                           .tls_key = "/no/such/file" },
                                     fix.router, &server, &err),
                     LOCI_ENOTFOUND);
    assert_non_null(strstr(err.msg, "/no/such/file"));
    assert_int_equal(
        loci_http_start(&(loci_http_options){ .listen = "127.0.0.1:0", .header_limit = 5 },
                        fix.router, &server, &err),
        LOCI_EINVAL);
    assert_null(server);
}

/* Every allocation of a start fails once; then those of requests, seen from outside. */
static void survives_without_memory(void **state)
{
    loci_http_server *server = NULL;
    const loci_http_options options = { .listen = "127.0.0.1:0" };
    unsigned long n = 0;
    loci_rc rc;
    (void)state;

    do {
        (void)loci_alloc_fail_at(++n);
        rc = loci_http_start(&options, fix.router, &server, NULL);
        (void)loci_alloc_fail_at(0);
        if (rc) assert_int_equal(rc, LOCI_ENOMEM);
    } while (rc && n < 100);
    assert_int_equal(rc, LOCI_OK);
    assert_true(n > 1);
    loci_http_stop(server);

    for (n = 1; n < 12; n++) {
        (void)loci_alloc_fail_at(n);
        ask_text(POST("/echo/%41?q=%42") JSON "Content-Length: 2\r\n\r\n{}");
        (void)loci_alloc_fail_at(0);
        if (a.status != 0 && a.status != 200 && a.status != 503 && a.status != 500)
            fail_msg("%lu: %s", n, a.text);
        ask_text(GET("/v1/health") "\r\n");
        assert_int_equal(a.status, 200);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_and_their_status, start, stop),
        cmocka_unit_test_setup_teardown(errors_are_json, start, stop),
        cmocka_unit_test_setup_teardown(nul_bytes, start, stop),
        cmocka_unit_test_setup_teardown(keeps_connections, start, stop),
        cmocka_unit_test_setup_teardown(answers_pipelines_in_order, start, stop),
        cmocka_unit_test_setup_teardown(expects_continue, start, stop),
        cmocka_unit_test_setup_teardown(limits_bodies, start, stop),
        cmocka_unit_test_setup_teardown(limits_refused_bodies, start, stop),
        cmocka_unit_test_setup_teardown(limits_heads, start, stop),
        cmocka_unit_test_setup_teardown(many_parameters, start, stop),
        cmocka_unit_test(unix_socket),
        cmocka_unit_test_teardown(configured_names, stop),
        cmocka_unit_test_setup_teardown(tells_what_happened, start, stop),
        cmocka_unit_test_setup_teardown(refuses_to_start, start, stop),
        cmocka_unit_test_setup_teardown(survives_without_memory, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
