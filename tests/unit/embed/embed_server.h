/* tests/unit/embed/embed_server.h -- a server of ours that speaks the three shapes of remote
 * embedders, and does wrong what a test tells it to do wrong. */
#ifndef LOCI_TEST_EMBED_SERVER_H
#define LOCI_TEST_EMBED_SERVER_H

#include "base/base64.h"
#include "base/clock.h"
#include "base/json.h"
#include "embed/embed.h"
#include "net/http.h"
#include "test.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { FAKE_DIM = 8, MOST_DIM = 1024, SCRIPT = 16 };

/* What happens to one request. */
typedef enum fault {
    NONE,
    HOLD,        /* no answer until the test lets go or the client leaves */
    BUSY,        /* 429 */
    BUSY_SECOND, /* 429, Retry-After: 1 */
    BUSY_MINUTE, /* 429, Retry-After: 60 */
    BROKEN,      /* 500 */
    GATEWAY,     /* 502 with a page instead of JSON */
    ELSEWHERE,   /* 302 */
    NO_MODEL,    /* 404 */
    NO_KEY,      /* 401 */
    ECHO_KEY,    /* 409 that repeats the key */
    GARBAGE,
    EMPTY,
    HUGE,
    ONE_MORE,     /* a vector too many */
    SHORTER,      /* all vectors one value shorter */
    UNEVEN,       /* one vector is */
    NOT_A_NUMBER, /* a value is null */
    TOO_LARGE,    /* a value is 1e300 */
    ZEROS,
    NO_INDEX,
    TWICE,     /* an index comes back twice */
    BAD_INDEX, /* one is out of range */
    SHUFFLED,  /* the wrong way round; right for OpenAI */
    BASE64,
    BAD_BASE64,
} fault;

static struct embed_server {
    loci_router *router;
    loci_http_server *server;
    char url[64];
    loci_embedder *model; /* NULL: fake vectors */
    size_t dim;
    fault script[SCRIPT]; /* for the first requests; then `always` */
    fault always;
    size_t most_texts; /* more in one request are refused with 413; 0: no limit */
    atomic_int requests, running, peak;
    atomic_bool hold;
    char authorization[256]; /* of the last request */
} es;

/* Eight values of a hash; any text has its own. */
static inline void fake_vector(loci_str text, float *ret)
{
    uint64_t hash = 14695981039346656037U;

    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * 1099511628211U;
    for (size_t i = 0; i < FAKE_DIM; i++) ret[i] = (float)((hash >> (8 * i)) & 0xff) - 127.5F;
}

static inline void make_vector(loci_str text, float *ret)
{
    loci_err err = { 0 };

    if (!es.model) {
        fake_vector(text, ret);
        return;
    }
    if (loci_embedder_embed(es.model, LOCI_EMBED_DOCUMENT, &text, 1, ret, &err)) ret[0] = NAN;
}

static inline void write_base64(loci_json_writer *w, const float *vector, size_t dim, bool bad)
{
    loci_buf text;

    loci_buf_init(&text, 1 << 20);
    loci_base64_encode(LOCI_BASE64,
                       (loci_str){ (const char *)vector, dim * sizeof *vector - (bad ? 1 : 0) },
                       &text);
    loci_json_string(w, loci_buf_str(&text));
    loci_buf_done(&text);
}

static inline void write_vector(loci_json_writer *w, loci_str text, size_t index, fault f)
{
    float vector[MOST_DIM];
    size_t dim = es.dim - (f == SHORTER || (f == UNEVEN && index == 1) ? 1 : 0);

    make_vector(text, vector);
    if (f == BASE64 || f == BAD_BASE64) {
        write_base64(w, vector, dim, f == BAD_BASE64);
        return;
    }
    loci_json_array(w);
    for (size_t i = 0; i < dim; i++) {
        if (f == NOT_A_NUMBER && i == 3)
            loci_json_null(w);
        else if (f == TOO_LARGE && i == 3)
            loci_json_real(w, 1e300);
        else
            loci_json_real(w, f == ZEROS ? 0 : (double)vector[i]);
    }
    loci_json_array_end(w);
}

static inline void write_entry(loci_json_writer *w, loci_str text, size_t index, fault f)
{
    loci_json_object(w);
    loci_json_member_cstr(w, "object", "embedding");
    if (f != NO_INDEX)
        loci_json_member_int(w, "index",
                             f == TWICE ? 0 : (int64_t)index + (f == BAD_INDEX ? 1000 : 0));
    loci_json_name(w, LOCI_STR("embedding"));
    write_vector(w, text, index, f);
    loci_json_object_end(w);
}

/* The vectors as the shape of this route wants them. */
static inline void write_answer(loci_json_writer *w, const char *shape, const loci_json *texts,
                                fault f)
{
    size_t count = texts->array.count, more = f == ONE_MORE ? 1 : 0;

    if (shape[0] != 't') {
        loci_json_object(w);
        loci_json_name(w, shape[0] == 'o' ? LOCI_STR("data") : LOCI_STR("embeddings"));
    }
    loci_json_array(w);
    for (size_t i = 0; i < count + more; i++) {
        size_t index = f == SHUFFLED ? count - 1 - i : i;
        loci_str text = index < count ? texts->array.items[index].string : LOCI_STR("more");
        if (shape[0] == 'o')
            write_entry(w, text, index, f);
        else
            write_vector(w, text, index, f);
    }
    loci_json_array_end(w);
    if (shape[0] != 't') loci_json_object_end(w);
}

static inline bool say_status(loci_http_request *r, fault f)
{
    static const struct {
        fault f;
        int status;
        const char *body, *header, *value;
    } answers[] = {
        { BUSY, 429, "{\"error\":{\"message\":\"slow down\"}}", NULL, NULL },
        { BUSY_SECOND, 429, "{\"error\":\"slow down\"}", "Retry-After", "1" },
        { BUSY_MINUTE, 429, "{\"error\":\"slow down\"}", "Retry-After", "60" },
        { BROKEN, 500, "{\"detail\":\"it hurts\"}", NULL, NULL },
        { GATEWAY, 502, "<html>bad\ngateway</html>", NULL, NULL },
        { ELSEWHERE, 302, "", "Location", "http://127.0.0.1:1/" },
        { NO_MODEL, 404, "{\"error\":\"model \\\"m\\\" not found\"}", NULL, NULL },
        { NO_KEY, 401, "{\"error\":\"wrong key sk-geheim\"}", NULL, NULL },
        { ECHO_KEY, 409, "{\"error\":\"no quota for sk-geheim\"}", NULL, NULL },
        { GARBAGE, 200, "\x01\x02 this is no JSON", NULL, NULL },
        { EMPTY, 200, "", NULL, NULL },
    };

    for (size_t i = 0; i < LOCI_COUNT(answers); i++) {
        if (answers[i].f != f) continue;
        if (answers[i].header)
            loci_http_reply_header(r, answers[i].header, loci_str_from(answers[i].value));
        loci_http_reply(r, answers[i].status, "application/json", loci_str_from(answers[i].body));
        return true;
    }
    return false;
}

static inline void say_huge(loci_http_request *r)
{
    size_t len = 4 << 20;
    char *spaces = loci_arena_alloc(loci_http_arena(r), len);

    if (spaces) memset(spaces, ' ', len);
    loci_http_reply(r, 200, "application/json", (loci_str){ spaces, spaces ? len : 0 });
}

/* As servers do: too many texts at once, or one that is not wanted. */
static inline bool refuse(loci_http_request *r, const loci_json *texts)
{
    if (es.most_texts && texts->array.count > es.most_texts) {
        loci_http_reply_error(r, 413, "too_large", "%zu texts are too many", texts->array.count);
        return true;
    }
    for (size_t i = 0; i < texts->array.count; i++)
        if (loci_str_starts(texts->array.items[i].string, LOCI_STR("bad"))) {
            loci_http_reply_error(r, 400, "invalid", "a text is bad");
            return true;
        }
    return false;
}

static inline void answer_texts(loci_http_request *r, const char *shape, fault f)
{
    const loci_json *root, *texts;
    loci_json_writer w;
    loci_buf out;
    loci_err err = { 0 };

    if (loci_json_parse(loci_http_arena(r), loci_http_body(r), &root, &err) ||
        !(texts = loci_json_find(root, shape[0] == 't' ? LOCI_STR("inputs") : LOCI_STR("input"))) ||
        (shape[0] != 't' && !loci_json_find(root, LOCI_STR("model")))) {
        loci_http_reply_error(r, 418, "invalid", "not a request: %s", err.msg);
        return;
    }
    if (refuse(r, texts)) return;
    loci_buf_init_arena(&out, loci_http_arena(r), 64 << 20);
    loci_json_begin(&w, &out);
    write_answer(&w, shape, texts, f);
    if (loci_json_check(&w, &err)) return;
    loci_http_reply(r, 200, "application/json", loci_buf_str(&out));
}

static inline void embed_handler(void *context, loci_http_request *r)
{
    int number = atomic_fetch_add(&es.requests, 1);
    int running = atomic_fetch_add(&es.running, 1) + 1, peak = atomic_load(&es.peak);
    fault f = number < SCRIPT && es.script[number] ? es.script[number] : es.always;
    (void)context;

    while (running > peak && !atomic_compare_exchange_weak(&es.peak, &peak, running)) continue;
    if (number == 0)
        (void)snprintf(es.authorization, sizeof es.authorization, "%.*s",
                       LOCI_ARG(loci_http_header(r, "authorization")));
    while ((f == HOLD || atomic_load(&es.hold)) && !loci_http_cancelled(r))
        loci_clock_sleep(LOCI_MS);
    if (f == HUGE)
        say_huge(r);
    else if (!say_status(r, f))
        answer_texts(r, loci_http_route(r)->data, f);
    (void)atomic_fetch_sub(&es.running, 1);
}

static const loci_route embed_routes[] = {
    { LOCI_POST, "/v1/embeddings", 0, embed_handler, "openai" },
    { LOCI_POST, "/api/embed", 0, embed_handler, "llama" },
    { LOCI_POST, "/embed", 0, embed_handler, "tei" },
};

/* Forget what was; the server stays. */
static inline void embed_server_reset(void)
{
    memset(es.script, 0, sizeof es.script);
    es.always = NONE;
    es.most_texts = 0;
    es.model = NULL;
    es.dim = FAKE_DIM;
    es.authorization[0] = '\0';
    atomic_store(&es.requests, 0);
    atomic_store(&es.peak, 0);
    atomic_store(&es.hold, false);
}

static inline int embed_server_start(void **state)
{
    loci_http_options options = { .listen = "127.0.0.1:0", .workers = 6, .grace = LOCI_MS };
    loci_err err = { 0 };
    (void)state;

    embed_server_reset();
    assert_ok(loci_router_new(&es.router, &err), err);
    assert_ok(loci_router_add(es.router, "", embed_routes, LOCI_COUNT(embed_routes), NULL, &err),
              err);
    assert_ok(loci_http_start(&options, es.router, &es.server, &err), err);
    (void)snprintf(es.url, sizeof es.url, "http://%s", loci_http_address(es.server));
    return 0;
}

static inline int embed_server_stop(void **state)
{
    (void)state;
    loci_http_stop(es.server);
    loci_router_free(es.router);
    return 0;
}

/* Open one of "openai", "ollama" and "tei" on that server. */
static inline loci_embedder *open_remote(const char *kind, loci_embedder_options options)
{
    char name[128];
    loci_embedder *e = NULL;
    loci_err err = { 0 };

    (void)snprintf(name, sizeof name, "%s:%s%s", kind, es.url,
                   kind[0] == 't'   ? ""
                   : kind[1] == 'p' ? "/v1#m"
                                    : "#m");
    options.name = name;
    if (!options.retry_wait) options.retry_wait = LOCI_MS;
    if (!options.timeout) options.timeout = 20 * LOCI_SECOND;
    if (!options.model_dir) options.model_dir = "/tmp/loci-no-such-folder";
    assert_ok(loci_embedder_open(&options, &e, &err), err);
    return e;
}

#endif
