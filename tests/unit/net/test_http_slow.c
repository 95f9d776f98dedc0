/* Clients that drip, leave, crowd or never read; streams; stopping under load. */
#include "base/alloc.h"
#include "client.h"
#include "server.h"

#include <pthread.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n"
#define POST(path) "POST " path " HTTP/1.1\r\nHost: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"

enum { SHORT = 200 * LOCI_MS, CLIENTS = 8 };

static answer a;

static void ask_text(const char *text)
{
    ask(fix.address, text, strlen(text), &a);
}

/* Send `text` byte by byte, slowly, until the server has had enough. */
static void drip(int fd, const char *text)
{
    for (size_t i = 0; i < 1000; i++) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, 20) > 0) return;
        if (!push(fd, *text ? text : "x", 1)) return;
        if (*text) text++; /* then "x" for ever */
    }
    fail_msg("the server never had enough");
}

static void cuts_drips(void **state)
{
    static const struct {
        const char *at_once, *dripped;
    } cases[] = {
        { "", "GET /v1/health HTTP/1.1\r\nHost: localhost\r\n" }, /* the first line */
        { GET("/v1/health"), "X-Header: that is longer than anybody can wait for" },
        { POST("/echo/1") JSON "Content-Length: 60000\r\n\r\n", "[1,2,3,4,5]" },
        { POST("/echo/1") JSON "Transfer-Encoding: chunked\r\n\r\n", "ffff\r\n[1,2,3,4" },
        { POST("/echo/1") "Content-Length: 60000\r\n\r\n", "refused already, but dripping" },
    };
    (void)state;

    serve((loci_http_options){ .receive_timeout = SHORT });
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        int fd = dial(fix.address);
        say(fd, cases[i].at_once);
        drip(fd, cases[i].dripped);
        hear_all(fd, &a);
        if (a.status != 408 && a.status != 0) fail_msg("%zu: %s", i, a.text);
        if (a.status == 408) assert_non_null(strstr(a.text, "\"code\":\"unavailable\""));
        (void)close(fd);
    }
}

static void cuts_silence(void **state)
{
    (void)state;
    serve((loci_http_options){ .receive_timeout = SHORT, .idle_timeout = SHORT });
    int fd = dial(fix.address);
    hear_all(fd, &a); /* nothing was ever sent */
    assert_true(a.status == 408 || a.status == 0);
    (void)close(fd);

    fd = dial(fix.address);
    say(fd, GET("/v1/health") "\r\n");
    hear_all(fd, &a); /* an answer, then the end of the kept connection */
    assert_int_equal(a.status, 200);
    (void)close(fd);
}

static void cuts_who_never_reads(void **state)
{
    (void)state;
    serve((loci_http_options){ .receive_timeout = SHORT });
    int fd = dial(fix.address);
    say(fd, GET("/flood") "\r\n");
    while (!atomic_load(&open_stream)) loci_clock_sleep(LOCI_MS);
    await(&fix.cancelled, 1); /* back pressure: the writer was told that it is full */
    loci_http_stream_close(atomic_load(&open_stream));
    await(&fix.events, 1);
    (void)close(fd);
}

static void notices_who_left(void **state)
{
    (void)state;
    serve((loci_http_options){ .workers = 1 });
    atomic_store(&fix.hold, true);
    int fd = dial(fix.address);
    say(fd, GET("/slow") "\r\n");
    await(&fix.running, 1);
    int waiting = dial(fix.address); /* in the queue behind it */
    say(waiting, GET("/slow") "\r\n");
    (void)close(waiting);
    (void)close(fd);
    await(&fix.cancelled, 1);
    await(&fix.running, 0);
    await(&fix.events, 2);
    assert_int_equal(atomic_load(&fix.cancelled), 1); /* the second one was not even begun */
}

static void gives_up_on_slow_work(void **state)
{
    (void)state;
    serve((loci_http_options){ .work_timeout = SHORT });
    atomic_store(&fix.hold, true);
    ask_text(GET("/slow") "\r\n");
    assert_int_equal(a.status, 200);
    assert_int_equal(atomic_load(&fix.cancelled), 1);
}

static void answers_busy(void **state)
{
    int fds[3];
    (void)state;

    serve((loci_http_options){ .workers = 1, .queue = 2 });
    atomic_store(&fix.hold, true);
    for (size_t i = 0; i < LOCI_COUNT(fds); i++) { /* one runs, two wait */
        fds[i] = dial(fix.address);
        say(fds[i], GET("/slow") "\r\n");
        if (i == 0) await(&fix.running, 1);
    }
    ask_text(GET("/v1/health") "\r\n"); /* when this is answered, both have arrived */
    ask_text(GET("/echo/1") "\r\n");
    assert_int_equal(a.status, 429);
    assert_string_equal(answer_header(&a, "Retry-After"), "1");
    assert_non_null(strstr(a.text, "\"code\":\"busy\""));
    ask_text(GET("/v1/health") "\r\n"); /* a cheap route is not in that queue */
    assert_int_equal(a.status, 200);
    atomic_store(&fix.hold, false);
    for (size_t i = 0; i < LOCI_COUNT(fds); i++) {
        hear(fds[i], &a, false);
        assert_int_equal(a.status, 200);
        (void)close(fds[i]);
    }
}

static void bounds_all_bodies_together(void **state)
{
    static char body[60000];
    int fds[3];
    (void)state;

    serve((loci_http_options){ .body_limit = 65536, .body_total = 131072 });
    memset(body, ' ', sizeof body);
    for (size_t i = 0; i < LOCI_COUNT(fds); i++) {
        fds[i] = dial(fix.address);
        say(fds[i], POST("/echo/1") JSON "Content-Length: 60001\r\n\r\n");
        (void)push(fds[i], body, sizeof body);
    }
    for (size_t i = 0; i < LOCI_COUNT(fds); i++) say(fds[i], " ");
    int good = 0, full = 0;
    for (size_t i = 0; i < LOCI_COUNT(fds); i++) {
        hear(fds[i], &a, false);
        good += a.status == 200;
        full += a.status == 503 && answer_header(&a, "Retry-After") != NULL;
        (void)close(fds[i]);
    }
    assert_int_equal(good + full, 3);
    assert_true(good >= 2);       /* the third may find room when another was quick */
    for (int i = 0; i < 5; i++) { /* nothing stays counted */
        ask_text(POST("/echo/1") JSON "Content-Length: 2\r\n\r\n{}");
        assert_int_equal(a.status, 200);
    }
}

static void streams_events(void **state)
{
    static const char want[] = "event: tick\nid: 2\ndata: one\ndata: two\n\n";
    (void)state;

    serve((loci_http_options){ 0 });
    int fd = dial(fix.address);
    say(fd, GET("/events") "Origin: http://localhost:3000\r\n\r\n");
    a.len = 0;
    a.text[0] = '\0';
    while (!strstr(a.text, want) && pull(fd, &a)) continue;
    assert_string_equal(answer_header(&a, "Content-Type"), "text/event-stream");
    assert_string_equal(answer_header(&a, "Transfer-Encoding"), "chunked");
    assert_string_equal(answer_header(&a, "Access-Control-Allow-Origin"), "http://localhost:3000");

    /* The handler is long gone; what is written now arrives at once. */
    loci_http_stream *stream = atomic_load(&open_stream);
    loci_err err = { 0 };
    for (int i = 0; i < 20; i++) {
        char line[16];
        (void)snprintf(line, sizeof line, "later %d", i);
        assert_ok(loci_http_stream_event(stream, LOCI_STR(""), LOCI_STR(""), loci_str_from(line), 0,
                                         &err),
                  err);
        while (!strstr(a.text, line) && pull(fd, &a)) continue;
    }
    /* Whatever ends a line, nothing in the data becomes a field. */
    assert_ok(loci_http_stream_event(stream, LOCI_STR(""), LOCI_STR(""),
                                     LOCI_STR("a\rid: 9\r\nb\n\rc\r"), 0, &err),
              err);
    while (!strstr(a.text, "data: c\ndata: \n\n") && pull(fd, &a)) continue;
    assert_non_null(strstr(a.text, "data: a\ndata: id: 9\ndata: b\ndata: \ndata: c\ndata: \n\n"));
    assert_int_equal(
        loci_http_stream_event(stream, LOCI_STR("a\nb"), LOCI_STR(""), LOCI_STR(""), 0, &err),
        LOCI_EINVAL);
    assert_false(loci_http_stream_gone(stream));
    loci_http_stream_close(stream);
    while (!strstr(a.text, "0\r\n\r\n") && pull(fd, &a)) continue;
    say(fd, GET("/v1/health") "\r\n"); /* the connection goes on */
    hear(fd, &a, false);
    assert_int_equal(a.status, 200);
    (void)close(fd);
}

static void notices_a_lost_stream(void **state)
{
    loci_err err = { 0 };
    (void)state;

    serve((loci_http_options){ 0 });
    int fd = dial(fix.address);
    say(fd, GET("/events") "\r\n");
    a.len = 0;
    while (pull(fd, &a) && !strstr(a.text, "id: 2")) continue;
    (void)close(fd);
    await(&fix.events, 1); /* nobody wrote anything meanwhile */
    loci_http_stream *stream = atomic_load(&open_stream);
    assert_true(loci_http_stream_gone(stream));
    assert_int_equal(loci_http_stream_write(stream, LOCI_STR("x"), LOCI_SECOND, &err),
                     LOCI_EUNAVAILABLE);
    loci_http_stream_close(stream);
}

/* A writer that waits for a client that reads in bursts: every byte comes, in order. */
static void *write_numbers(void *cls)
{
    loci_http_stream *stream = cls;
    char line[32];

    for (int i = 0; i < 100000; i++) {
        (void)snprintf(line, sizeof line, "%07d\n", i);
        int64_t wait = i % 2 ? INT64_MAX : 20 * LOCI_SECOND;
        if (loci_http_stream_write(stream, loci_str_from(line), wait, NULL)) break;
    }
    loci_http_stream_close(stream);
    return NULL;
}

static void waits_for_slow_readers(void **state)
{
    pthread_t writer;
    (void)state;

    serve((loci_http_options){ 0 });
    int fd = dial(fix.address);
    say(fd, "GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n"); /* without chunks */
    while (!atomic_load(&open_stream)) loci_clock_sleep(LOCI_MS);
    assert_int_equal(pthread_create(&writer, NULL, write_numbers, atomic_load(&open_stream)), 0);
    hear_all(fd, &a);
    (void)pthread_join(writer, NULL);
    (void)close(fd);
    const char *at = strstr(a.text, "0000000\n");
    assert_non_null(at);
    assert_int_equal(strlen(at), 800000);
    assert_memory_equal(at + 799992, "0099999\n", 8);
}

static void caps_connections(void **state)
{
    int fds[4];
    (void)state;

    serve((loci_http_options){ .connections = 2, .idle_timeout = 20 * LOCI_SECOND });
    for (size_t i = 0; i < LOCI_COUNT(fds); i++) {
        fds[i] = dial(fix.address);
        say(fds[i], GET("/v1/health") "\r\n");
    }
    for (size_t i = 0; i < 2; i++) {
        hear(fds[i], &a, false);
        assert_int_equal(a.status, 200);
    }
    /* The third waits until there is room again. */
    (void)close(fds[0]);
    (void)close(fds[1]);
    for (size_t i = 2; i < 4; i++) {
        hear(fds[i], &a, false);
        assert_int_equal(a.status, 200);
        (void)close(fds[i]);
    }
}

static void caps_one_address(void **state)
{
    int fds[3];
    (void)state;

    serve((loci_http_options){ .connections_per_ip = 2 });
    for (size_t i = 0; i < LOCI_COUNT(fds); i++) {
        fds[i] = dial(fix.address);
        say(fds[i], GET("/v1/health") "\r\n");
        hear(fds[i], &a, false);
        assert_int_equal(a.status, i < 2 ? 200 : 0);
    }
    for (size_t i = 0; i < LOCI_COUNT(fds); i++) (void)close(fds[i]);
}

static void *ask_again_and_again(void *cls)
{
    answer *mine = loci_zalloc(sizeof *mine);
    atomic_int *good = cls;

    for (int i = 0; mine && i < 100000; i++) {
        struct sockaddr_in there = { .sin_family = AF_INET };
        unsigned port = 0;
        (void)sscanf(strchr(fix.address, ':'), ":%u", &port);
        there.sin_port = htons((uint16_t)port);
        there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (struct sockaddr *)&there, sizeof there) != 0) {
            (void)close(fd);
            break; /* it has stopped */
        }
        say(fd, GET("/echo/1") "\r\n" GET("/v1/health") "\r\n");
        hear(fd, mine, false);
        if (mine->status == 200) (void)atomic_fetch_add(good, 1);
        (void)close(fd);
    }
    loci_free(mine);
    return NULL;
}

static void *stop_it(void *cls)
{
    (void)stop(cls);
    return NULL;
}

static void stops_under_load(void **state)
{
    pthread_t clients[CLIENTS];
    atomic_int good = 0;
    (void)state;

    serve((loci_http_options){ .grace = 2 * LOCI_SECOND });
    char where[64];
    (void)snprintf(where, sizeof where, "%s", fix.address);
    fix.address = where; /* the clients still look when the server is gone */
    for (size_t i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_create(&clients[i], NULL, ask_again_and_again, &good), 0);
    while (atomic_load(&good) < 200) loci_clock_sleep(LOCI_MS);

    /* A request that runs is finished; an idle connection and a stream are ended. */
    atomic_store(&fix.hold, true);
    int running = dial(where), idle = dial(where), stream = dial(where);
    say(running, GET("/slow") "\r\n");
    await(&fix.running, 1);
    say(idle, GET("/v1/health") "\r\n");
    hear(idle, &a, false);
    say(stream, GET("/events") "\r\n");
    while (!atomic_load(&open_stream)) loci_clock_sleep(LOCI_MS);

    pthread_t stopper;
    assert_int_equal(pthread_create(&stopper, NULL, stop_it, NULL), 0);
    hear_all(idle, &a);
    assert_int_equal(a.len, 0);
    hear_all(stream, &a);
    assert_true(loci_http_stream_gone(atomic_load(&open_stream)));
    atomic_store(&fix.hold, false);
    hear_all(running, &a);
    assert_int_equal(a.status, 200);
    assert_string_equal(answer_header(&a, "Connection"), "close");
    (void)pthread_join(stopper, NULL);
    for (size_t i = 0; i < CLIENTS; i++) (void)pthread_join(clients[i], NULL);
    loci_http_stream_close(atomic_load(&open_stream)); /* it may outlive the server */
    (void)close(running);
    (void)close(idle);
    (void)close(stream);
}

static void stops_when_the_grace_is_over(void **state)
{
    (void)state;
    serve((loci_http_options){ .grace = SHORT });
    atomic_store(&fix.hold, true);
    int running = dial(fix.address), dripping = dial(fix.address);
    say(running, GET("/slow") "\r\n");
    await(&fix.running, 1);
    say(dripping, POST("/echo/1") JSON "Content-Length: 100\r\n\r\n");
    (void)stop(NULL); /* the handler sees that it is cancelled */
    assert_int_equal(atomic_load(&fix.cancelled), 1);
    (void)close(running);
    (void)close(dripping);
}

static void stops_at_once_when_nothing_runs(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        serve((loci_http_options){ 0 });
        if (i % 2) ask_text(GET("/v1/health") "\r\n");
        (void)stop(NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(cuts_drips, stop),
        cmocka_unit_test_teardown(cuts_silence, stop),
        cmocka_unit_test_teardown(cuts_who_never_reads, stop),
        cmocka_unit_test_teardown(notices_who_left, stop),
        cmocka_unit_test_teardown(gives_up_on_slow_work, stop),
        cmocka_unit_test_teardown(answers_busy, stop),
        cmocka_unit_test_teardown(bounds_all_bodies_together, stop),
        cmocka_unit_test_teardown(streams_events, stop),
        cmocka_unit_test_teardown(notices_a_lost_stream, stop),
        cmocka_unit_test_teardown(waits_for_slow_readers, stop),
        cmocka_unit_test_teardown(caps_connections, stop),
        cmocka_unit_test_teardown(caps_one_address, stop),
        cmocka_unit_test(stops_under_load),
        cmocka_unit_test(stops_when_the_grace_is_over),
        cmocka_unit_test(stops_at_once_when_nothing_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
