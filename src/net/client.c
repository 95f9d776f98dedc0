#include "net/client.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "net/client_int.h"

#include <pthread.h>
#include <string.h>

enum {
    DEFAULT_CONNECTIONS = 4,
    DEFAULT_TIMEOUT = 60 * LOCI_SECOND,
    DEFAULT_CONNECT = 10 * LOCI_SECOND,
    DEFAULT_REPLY = 32 << 20,
    LONGEST_RETRY = 86400, /* seconds */
    GLANCE = 50,           /* milliseconds between two looks at `cancelled` */
    LONG_GLANCE = 1000,    /* the same when there is nothing to look at */
};

/* One request at a time, and the connections that it leaves open for the next. */
typedef struct line {
    CURLM *multi;
    CURL *easy;
} line;

struct loci_client {
    unsigned count;
    int64_t connect_timeout;
    char *certificates;

    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t returned;
    unsigned made;
    unsigned idle_count;
    line *idle[LOCI_CLIENT_MOST];
};

/* The state of one loci_client_send. */
typedef struct exchange {
    const loci_client_request *request;
    CURL *easy;
    loci_url url;
    int64_t deadline;
    size_t limit, received;
    loci_buf body;
    struct curl_slist *headers;
    char detail[CURL_ERROR_SIZE];
    loci_rc failed; /* what a callback of ours ended the request with */
    loci_err *err;
} exchange;

static void init_curl(void)
{
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void free_line(line *l)
{
    if (!l) return;
    curl_easy_cleanup(l->easy);
    if (l->multi) (void)curl_multi_cleanup(l->multi);
    loci_free(l);
}

static line *new_line(void)
{
    line *l = loci_zalloc(sizeof *l);
    if (!l) return NULL;
    l->multi = curl_multi_init();
    l->easy = curl_easy_init();
    if (l->multi && l->easy) return l;
    free_line(l);
    return NULL;
}

loci_rc loci_client_new(const loci_client_options *options, loci_client **ret_client, loci_err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_condattr_t steady;

    if (options->connections > LOCI_CLIENT_MOST)
        return loci_fail(err, LOCI_EINVAL, "connections must be 0..%d, not %u", LOCI_CLIENT_MOST,
                         options->connections);
    (void)pthread_once(&once, init_curl);
    LOCI_AUTO(loci_freep) char *certificates = NULL;
    if (options->certificates) {
        size_t size = strlen(options->certificates) + 1;
        certificates = loci_zalloc(size);
        if (!certificates) return loci_fail(err, LOCI_ENOMEM, "out of memory");
        memcpy(certificates, options->certificates, size);
    }
    loci_client *c = loci_zalloc(sizeof *c);
    if (!c) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    c->count = options->connections ? options->connections : DEFAULT_CONNECTIONS;
    c->connect_timeout = options->connect_timeout ? options->connect_timeout : DEFAULT_CONNECT;
    c->certificates = LOCI_TAKE(certificates);
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_condattr_init(&steady);
    (void)pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&c->returned, &steady);
    (void)pthread_condattr_destroy(&steady);
    *ret_client = c;
    return LOCI_OK;
}

void loci_client_free(loci_client *client)
{
    if (!client) return;
    for (unsigned i = 0; i < client->idle_count; i++) free_line(client->idle[i]);
    (void)pthread_cond_destroy(&client->returned);
    (void)pthread_mutex_destroy(&client->lock);
    loci_free(client->certificates);
    loci_free(client);
}

/* Why the request cannot go on, if so. */
static loci_rc check_time(const exchange *x, loci_err *err)
{
    if (x->request->cancelled && x->request->cancelled(x->request->context))
        return loci_fail(err, LOCI_EUNAVAILABLE, "%s: cancelled", x->url.host);
    if (loci_clock_steady() >= x->deadline)
        return loci_fail(err, LOCI_EUNAVAILABLE, "%s: no answer in time", x->url.host);
    return LOCI_OK;
}

static void wait_for_line(loci_client *c, int64_t until)
{
    struct timespec t = { until / LOCI_SECOND, until % LOCI_SECOND * 1000 };
    (void)pthread_cond_timedwait(&c->returned, &c->lock, &t);
}

/* A line of our own, until give_back: the one used last, a new one, or the next that is returned.
 * Only time can make this fail; *ret is NULL when a line must be made first. */
static loci_rc await_line(loci_client *c, const exchange *x, line **ret, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    (void)pthread_mutex_lock(&c->lock);
    while (c->idle_count == 0 && c->made == c->count && !rc) {
        int64_t soon = loci_clock_steady() + GLANCE * LOCI_MS;
        wait_for_line(c, soon < x->deadline ? soon : x->deadline);
        if (c->idle_count == 0 && c->made == c->count) rc = check_time(x, err);
    }
    *ret = NULL;
    if (!rc && c->idle_count > 0)
        *ret = c->idle[--c->idle_count];
    else if (!rc)
        c->made++;
    (void)pthread_mutex_unlock(&c->lock);
    return rc;
}

/* NULL gives back the right to make a line. */
static void give_back(loci_client *c, line *l)
{
    (void)pthread_mutex_lock(&c->lock);
    if (l)
        c->idle[c->idle_count++] = l;
    else
        c->made--;
    (void)pthread_cond_signal(&c->returned);
    (void)pthread_mutex_unlock(&c->lock);
}

static loci_rc take_line(loci_client *c, const exchange *x, line **ret, loci_err *err)
{
    loci_rc rc = await_line(c, x, ret, err);
    if (rc || *ret) return rc;
    *ret = new_line();
    if (*ret) return LOCI_OK;
    give_back(c, NULL);
    return loci_fail(err, LOCI_ENOMEM, "out of memory");
}

static loci_rc take_piece(exchange *x, loci_str piece)
{
    const loci_client_request *r = x->request;
    long status = 0;

    x->received += piece.len;
    if (x->received > x->limit)
        return loci_fail(x->err, LOCI_ELIMIT, "%s: the answer is longer than %zu bytes",
                         x->url.host, x->limit);
    (void)curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    if (r->on_body && status >= 200 && status < 300) return r->on_body(r->context, piece, x->err);
    loci_buf_add(&x->body, piece);
    return loci_buf_check(&x->body, x->err);
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *context)
{
    exchange *x = context;

    x->failed = take_piece(x, (loci_str){ bytes, size * count });
    return x->failed ? 0 : size * count;
}

static bool is_clean(const char *text)
{
    return !strpbrk(text, "\r\n");
}

/* "Expect:" without a value switches off a question that long bodies would wait a second for. */
static loci_rc make_headers(exchange *x, loci_err *err)
{
    const loci_client_request *r = x->request;
    LOCI_AUTO(loci_buf_done) loci_buf text;

    loci_buf_init(&text, 16384);
    if (r->header_count > LOCI_CLIENT_HEADERS)
        return loci_fail(err, LOCI_EINVAL, "more than %d headers", LOCI_CLIENT_HEADERS);
    for (size_t i = 0; i <= r->header_count; i++) {
        bool last = i == r->header_count;
        const char *name = last ? "Expect" : r->headers[i].name;
        const char *value = last ? "" : r->headers[i].value;
        if (!is_clean(name) || !is_clean(value))
            return loci_fail(err, LOCI_EINVAL, "the header %.40s has a line break in it", name);
        loci_buf_clear(&text);
        loci_buf_printf(&text, "%s:%s%s", name, value[0] ? " " : "", value);
        loci_rc rc = loci_buf_check(&text, err);
        if (rc) return rc;
        struct curl_slist *longer = curl_slist_append(x->headers, text.ptr);
        explicit_bzero(text.ptr, text.len); /* it may be a key */
        if (!longer) return loci_fail(err, LOCI_ENOMEM, "out of memory");
        x->headers = longer;
    }
    return LOCI_OK;
}

static void free_headers(exchange *x)
{
    for (struct curl_slist *h = x->headers; h; h = h->next)
        explicit_bzero(h->data, strlen(h->data));
    curl_slist_free_all(x->headers);
}

/* Rounded up: who is told that time is over must find it over. */
static long to_ms(int64_t microseconds)
{
    return microseconds > 0 ? (long)((microseconds + LOCI_MS - 1) / LOCI_MS) : 1;
}

static void set_limits(const loci_client *c, exchange *x)
{
    int64_t left = x->deadline - loci_clock_steady();
    int64_t connect = left < c->connect_timeout ? left : c->connect_timeout;

    (void)curl_easy_setopt(x->easy, CURLOPT_TIMEOUT_MS, to_ms(left));
    (void)curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT_MS, to_ms(connect));
    (void)curl_easy_setopt(x->easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)x->limit);
    (void)curl_easy_setopt(x->easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(x->easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(x->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(x->easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    if (x->url.loopback) (void)curl_easy_setopt(x->easy, CURLOPT_PROXY, "");
    if (c->certificates) (void)curl_easy_setopt(x->easy, CURLOPT_CAINFO, c->certificates);
}

static loci_rc set_request(const loci_client *c, exchange *x, loci_err *err)
{
    const loci_client_request *r = x->request;

    curl_easy_reset(x->easy); /* its connections stay */
    set_limits(c, x);
    (void)curl_easy_setopt(x->easy, CURLOPT_ERRORBUFFER, x->detail);
    (void)curl_easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, on_bytes);
    (void)curl_easy_setopt(x->easy, CURLOPT_WRITEDATA, x);
    if (r->body.len || r->method == LOCI_POST) {
        (void)curl_easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        (void)curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, r->body.len ? r->body.ptr : "");
    }
    if (r->method == LOCI_HEAD) (void)curl_easy_setopt(x->easy, CURLOPT_NOBODY, 1L);
    if (curl_easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, loci_method_name(r->method)) ||
        curl_easy_setopt(x->easy, CURLOPT_URL, r->url) ||
        curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers))
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    return LOCI_OK;
}

/* Drive the request until it is over or nobody wants it any more. */
static loci_rc drive(CURLM *multi, const exchange *x, loci_err *err)
{
    int running = 1;

    for (;;) {
        CURLMcode code = curl_multi_perform(multi, &running);
        if (!code && running)
            code =
                curl_multi_poll(multi, NULL, 0, x->request->cancelled ? GLANCE : LONG_GLANCE, NULL);
        if (code) return loci_fail(err, LOCI_EIO, "%s: %s", x->url.host, curl_multi_strerror(code));
        if (!running) return LOCI_OK;
        loci_rc rc = check_time(x, err);
        if (rc) return rc;
    }
}

static CURLcode result_of(CURLM *multi)
{
    int left;

    for (CURLMsg *m = curl_multi_info_read(multi, &left); m; m = curl_multi_info_read(multi, &left))
        if (m->msg == CURLMSG_DONE) return m->data.result;
    return CURLE_OK;
}

static loci_rc perform(line *l, exchange *x, loci_err *err)
{
    CURLcode code = CURLE_OK;
    long system = 0;

    if (curl_multi_add_handle(l->multi, l->easy))
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = drive(l->multi, x, err);
    if (!rc) code = result_of(l->multi);
    (void)curl_easy_getinfo(l->easy, CURLINFO_OS_ERRNO, &system);
    (void)curl_multi_remove_handle(l->multi, l->easy); /* closes a connection in mid-answer */
    if (rc) return rc;
    if (x->failed) return x->failed;
    return code ? loci_client_fail(code, x->url.host, x->detail, system, err) : LOCI_OK;
}

static void read_reply(const exchange *x, loci_client_reply *ret_reply)
{
    long status = 0;
    curl_off_t wait = 0;

    (void)curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(x->easy, CURLINFO_RETRY_AFTER, &wait);
    if (wait < 0) wait = 0;
    if (wait > LONGEST_RETRY) wait = LONGEST_RETRY;
    *ret_reply = (loci_client_reply){ .status = (int)status,
                                      .body = loci_buf_str(&x->body),
                                      .retry_after = (int64_t)wait * LOCI_SECOND };
}

loci_rc loci_client_send(loci_client *client, const loci_client_request *request, loci_arena *arena,
                         loci_client_reply *ret_reply, loci_err *err)
{
    LOCI_AUTO(free_headers)
    exchange x = { .request = request,
                   .limit = request->reply_limit ? request->reply_limit : DEFAULT_REPLY,
                   .err = err };
    line *l = NULL;

    x.deadline = request->deadline ? request->deadline : loci_clock_steady() + DEFAULT_TIMEOUT;
    loci_buf_init_arena(&x.body, arena, x.limit);
    loci_rc rc = loci_url_parse(request->url, &x.url, err);
    if (!rc) rc = make_headers(&x, err);
    if (!rc) rc = check_time(&x, err);
    if (!rc) rc = take_line(client, &x, &l, err);
    if (rc) return rc;

    x.easy = l->easy;
    rc = set_request(client, &x, err);
    if (!rc) rc = perform(l, &x, err);
    if (!rc) read_reply(&x, ret_reply);
    curl_easy_reset(l->easy); /* nothing of this call is kept */
    give_back(client, l);
    return rc;
}
