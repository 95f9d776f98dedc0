/* Ten thousand requests of random bytes, and as many that are almost right. Seeded: a failure
 * comes back. */
#include "client.h"
#include "server.h"

enum { ROUNDS = 10000, LONGEST = 600 };

static answer a;
static uint64_t seed;

/* xorshift64* */
static uint64_t dice(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 2685821657736338717u;
}

static size_t below(size_t n)
{
    return (size_t)(dice() >> 33) % n;
}

static int start(void **state)
{
    (void)state;
    seed = 0x9e3779b97f4a7c15u;
    serve((loci_http_options){
        .body_limit = 4096, .header_limit = 2048, .receive_timeout = 2 * LOCI_SECOND });
    return 0;
}

/* Send it all, say that nothing follows, read to the end. */
static void throw_at_server(const char *bytes, size_t len)
{
    int fd = dial(fix.address);

    (void)push(fd, bytes, len);
    (void)shutdown(fd, SHUT_WR);
    hear_all(fd, &a);
    (void)close(fd);
}

static void assert_alive(void)
{
    static const char request[] = "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";

    ask(fix.address, request, sizeof request - 1, &a);
    assert_int_equal(a.status, 200);
}

static size_t random_bytes(char *bytes)
{
    size_t len = 1 + below(LONGEST);

    for (size_t i = 0; i < len; i++) bytes[i] = (char)dice();
    return len;
}

/* Words that parsers know, in any order. */
static size_t random_words(char *bytes)
{
    static const char *const words[] = {
        "GET ",
        "POST ",
        "/v1/health",
        "/echo/1",
        " HTTP/1.1",
        " HTTP/1.0",
        "\r\n",
        "\r\n\r\n",
        "Host:",
        "localhost",
        "Content-Length: ",
        "Transfer-Encoding: chunked",
        "\n",
        ": ",
        "0",
        "ffffffffffffffff",
        "%00",
        "%",
        "?a=b&",
        "\t",
        "Expect: 100-continue",
        "\r",
        "Origin: *",
        "Content-Type: application/json",
        "5\r\nhello\r\n",
        "-1",
        "Connection: close",
        "Cookie: =;",
    };
    size_t len = 0;

    for (size_t i = 1 + below(24); i > 0; i--) {
        const char *word = words[below(LOCI_COUNT(words))];
        size_t n = strlen(word);
        if (len + n > LONGEST) break;
        memcpy(bytes + len, word, n);
        len += n;
    }
    return len;
}

/* A good request with some bytes changed, dropped or doubled. */
static size_t damaged(char *bytes)
{
    static const char *const good[] = {
        "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n",
        "POST /echo/1?q=%41 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: 7\r\n\r\n{\"a\":1}",
        "POST /echo/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\n[1]\r\n0\r\n\r\n",
    };
    const char *from = good[below(LOCI_COUNT(good))];
    size_t len = strlen(from);

    memcpy(bytes, from, len);
    for (size_t i = 1 + below(4); i > 0; i--) {
        size_t at = below(len), kind = below(3);
        if (kind == 0) bytes[at] = (char)dice();
        if (kind == 1 && len > 2) memmove(bytes + at, bytes + at + 1, --len - at);
        if (kind == 2) memmove(bytes + at + 1, bytes + at, len++ - at);
    }
    return len;
}

static void random_requests(void **state)
{
    char bytes[LONGEST + 1];
    (void)state;

    for (int i = 0; i < ROUNDS; i++) {
        throw_at_server(bytes, random_bytes(bytes));
        if (a.status != 0 && a.status / 100 != 4) fail_msg("round %d: %s", i, a.text);
    }
    assert_alive();
}

/* Some of these are good by chance; none may hurt. The library answers 505 to another version. */
static void random_requests_that_look_right(void **state)
{
    char bytes[LONGEST + 1];
    (void)state;

    for (int i = 0; i < ROUNDS; i++) {
        throw_at_server(bytes, i % 2 ? random_words(bytes) : damaged(bytes));
        if (a.status >= 500 && a.status != 505) fail_msg("round %d: %s", i, a.text);
    }
    assert_alive();
}

/* The same without saying that nothing follows, many at once, left open. */
static void abandoned_requests(void **state)
{
    char bytes[LONGEST + 1];
    int fds[64];
    (void)state;

    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < LOCI_COUNT(fds); i++) {
            fds[i] = dial(fix.address);
            (void)push(fds[i], bytes, i % 2 ? damaged(bytes) : random_words(bytes));
        }
        assert_alive();
        for (size_t i = 0; i < LOCI_COUNT(fds); i++) {
            if (i % 3 == 0) { /* a reset instead of an end */
                struct linger now = { .l_onoff = 1, .l_linger = 0 };
                (void)setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &now, sizeof now);
            }
            (void)close(fds[i]);
        }
    }
    assert_alive();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_requests, start, stop),
        cmocka_unit_test_setup_teardown(random_requests_that_look_right, start, stop),
        cmocka_unit_test_setup_teardown(abandoned_requests, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
