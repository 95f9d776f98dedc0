/* Remote embedders against a real server that is right, slow, busy or wrong. */
#include "embed_server.h"

#include "base/alloc.h"
#include "unit/net/raw_server.h"
#include "unit/text/toy_table.h"

#include <sys/stat.h>

enum { MANY = 200, LONG_TEXT = 40000 };

static const char *const kinds[] = { "openai", "ollama", "tei" };
static char openai_other[] = "OPENAI_API_KEY=sk-other", openai_key[] = "OPENAI_API_KEY=sk-geheim";
static char own_key[] = "LOCI_EMBEDDER_KEY=sk-geheim\n", no_key[] = "LOCI_EMBEDDER_KEY=sk geheim";
static char *no_env[] = { NULL }, *bad_env[] = { no_key, NULL };
static char *own_env[] = { openai_other, own_key, NULL }, *openai_env[] = { openai_key, NULL };

static int reset(void **state)
{
    (void)state;
    for (int i = 0; i < 20000 && atomic_load(&es.running); i++) loci_clock_sleep(LOCI_MS);
    embed_server_reset();
    return 0;
}

/* What the server would say of that text, with length 1. */
static void expected(loci_str text, float *ret)
{
    double sum = 0;

    make_vector(text, ret);
    for (size_t i = 0; i < es.dim; i++) sum += (double)ret[i] * (double)ret[i];
    for (size_t i = 0; i < es.dim; i++) ret[i] = (float)((double)ret[i] / sqrt(sum));
}

static void assert_vector(const float *got, loci_str text)
{
    float want[MOST_DIM];

    expected(text, want);
    for (size_t i = 0; i < es.dim; i++)
        if (!(fabsf(got[i] - want[i]) < 1e-6F))
            fail_msg("value %zu is %g, not %g", i, (double)got[i], (double)want[i]);
}

static void learn(loci_embedder *e, size_t dim)
{
    const loci_embedder_info *info = NULL;
    loci_err err = { 0 };

    assert_ok(loci_embedder_learn(e, &(loci_embed_call){ 0 }, &info, &err), err);
    assert_int_equal(info->dim, dim);
    assert_ptr_equal(info, loci_embedder_get_info(e));
}

static loci_str texts[MANY];

static void make_texts(void)
{
    static char store[MANY][16];

    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(store[i], sizeof store[i], "text %zu", i);
        texts[i] = loci_str_from(store[i]);
    }
}

static void every_shape_gives_the_vectors(void **state)
{
    static const fault ways[] = { NONE, BASE64, SHUFFLED };
    static float got[MANY * FAKE_DIM];
    (void)state;

    make_texts();
    for (size_t k = 0; k < LOCI_COUNT(kinds); k++)
        for (size_t w = 0; w < (k == 0 ? 3 : 1); w++) {
            loci_err err = { 0 };
            embed_server_reset();
            es.always = ways[w];
            loci_embedder *e = open_remote(kinds[k], (loci_embedder_options){ .env = no_env });
            assert_int_equal(loci_embedder_get_info(e)->dim, 0);
            assert_int_equal(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, texts, 1, got, &err),
                             LOCI_EINVAL);
            learn(e, FAKE_DIM);
            learn(e, FAKE_DIM); /* known: nobody is asked */
            assert_int_equal(atomic_load(&es.requests), 1);
            assert_ok(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, texts, MANY, got, &err), err);
            assert_int_equal(atomic_load(&es.requests), 1 + 4); /* 64 64 64 8 */
            for (size_t i = 0; i < MANY; i++) assert_vector(got + i * FAKE_DIM, texts[i]);
            assert_ok(loci_embedder_embed(e, LOCI_EMBED_QUERY, texts, 0, got, &err), err);
            assert_string_equal(es.authorization, "");
            loci_embedder_close(e);
        }
}

/* Any bytes are a text; the server sees what JSON and its limits let through. */
static void any_bytes_are_a_text(void **state)
{
    static char longer[LONG_TEXT];
    float got[5 * FAKE_DIM];
    (void)state;

    memset(longer, 'x', sizeof longer);
    for (size_t k = 0; k < LOCI_COUNT(kinds); k++) {
        loci_str in[] = { { NULL, 0 },
                          LOCI_STR("a\xff\x01z"),
                          LOCI_STR("\xf0\x9f\x8c\xb3 \"\\"),
                          { longer, sizeof longer },
                          { "a\0b", 3 } };
        loci_str seen[] = { k == 0 ? LOCI_STR(" ") : LOCI_STR(""),
                            LOCI_STR("a\xef\xbf\xbd\x01z"),
                            in[2],
                            { longer, 32768 },
                            in[4] };
        loci_err err = { 0 };
        loci_embedder *e = open_remote(kinds[k], (loci_embedder_options){ .dim = FAKE_DIM });
        assert_ok(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, in, 5, got, &err), err);
        for (size_t i = 0; i < 5; i++) assert_vector(got + i * FAKE_DIM, seen[i]);
        loci_embedder_close(e);
    }
}

/* Batches are held to a number of bytes too. */
static void long_texts_go_in_smaller_batches(void **state)
{
    enum { COUNT = 20 };
    static char longer[LONG_TEXT];
    static float got[COUNT * FAKE_DIM];
    loci_str in[COUNT];
    loci_err err = { 0 };
    (void)state;

    memset(longer, 'x', sizeof longer);
    for (size_t i = 0; i < COUNT; i++) in[i] = (loci_str){ longer, sizeof longer };
    loci_embedder *e = open_remote("tei", (loci_embedder_options){ .dim = FAKE_DIM });
    assert_ok(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, in, COUNT, got, &err), err);
    assert_int_equal(atomic_load(&es.requests), 3); /* 8 of 32 KiB each, 8, 4 */
    loci_embedder_close(e);
}

/* What goes wrong, what the caller is told, and how often it was tried. */
static void faults(void **state)
{
    static const struct {
        const char *kind;
        fault script[5];
        loci_rc want;
        int requests;
        const char *says;
    } cases[] = {
        /* clang-format off */
        { "openai", { BUSY },                         LOCI_OK,           2, "" },
        { "ollama", { BROKEN, GATEWAY, BUSY },        LOCI_OK,           4, "" },
        { "tei",    { BUSY, BUSY, BUSY, BUSY, BUSY }, LOCI_EBUSY,        5, "tried 5 times: 127.0.0.1" },
        { "openai", { BUSY, BUSY, BUSY, BUSY, BUSY }, LOCI_EBUSY,        5, "status 429: slow down" },
        { "openai", { BUSY_MINUTE },                  LOCI_EBUSY,        1, "slow down" },
        { "tei",    { BROKEN, BROKEN, BROKEN, BROKEN, BROKEN }, LOCI_EUNAVAILABLE, 5, "status 500: it hurts" },
        { "tei",    { GATEWAY, GATEWAY, GATEWAY, GATEWAY, GATEWAY }, LOCI_EUNAVAILABLE, 5, "<html>bad gateway</html>" },
        { "ollama", { ELSEWHERE },                    LOCI_EIO,          1, "status 302" },
        { "ollama", { NO_MODEL },                     LOCI_ENOTFOUND,    1, "model \"m\" not found" },
        { "openai", { NO_KEY },                       LOCI_EAUTH,        1, "OPENAI_API_KEY" },
        { "openai", { GARBAGE },                      LOCI_ECORRUPT,     1, "not JSON" },
        { "tei",    { EMPTY },                        LOCI_ECORRUPT,     1, "not JSON" },
        { "openai", { HUGE },                         LOCI_ELIMIT,       1, "longer than" },
        { "openai", { ONE_MORE },                     LOCI_ECORRUPT,     1, "4 vectors came back for 3 texts" },
        { "tei",    { ONE_MORE },                     LOCI_ECORRUPT,     1, "4 vectors came back for 3 texts" },
        { "openai", { SHORTER },                      LOCI_ECORRUPT,     1, "vectors of 7 values instead of 8" },
        { "ollama", { UNEVEN },                       LOCI_ECORRUPT,     1, "vector 1 has 7 values, another one 8" },
        { "openai", { NOT_A_NUMBER },                 LOCI_ECORRUPT,     1, "value 3 of vector 0 is null" },
        { "tei",    { TOO_LARGE },                    LOCI_ECORRUPT,     1, "value 3 of vector 0 is 1e+300" },
        { "tei",    { ZEROS },                        LOCI_ECORRUPT,     1, "vector 0 is all zeros" },
        { "openai", { NO_INDEX },                     LOCI_ECORRUPT,     1, "entry 0 has no index" },
        { "openai", { TWICE },                        LOCI_ECORRUPT,     1, "index 0 came back twice" },
        { "openai", { BAD_INDEX },                    LOCI_ECORRUPT,     1, "index 1000, but there are 3" },
        { "openai", { BAD_BASE64 },                   LOCI_ECORRUPT,     1, "not base64 of floats" },
        /* clang-format on */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_str in[] = { LOCI_STR("one"), LOCI_STR("two"), LOCI_STR("three") };
        float got[3 * FAKE_DIM];
        loci_err err = { 0 };

        embed_server_reset();
        memcpy(es.script, cases[i].script, sizeof cases[i].script);
        loci_embedder *e =
            open_remote(cases[i].kind, (loci_embedder_options){ .dim = FAKE_DIM, .env = no_env });
        loci_rc rc = loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, in, 3, got, &err);
        loci_embedder_close(e);
        if (rc != cases[i].want || !strstr(err.msg, cases[i].says))
            fail_msg("case %zu: %s %s", i, loci_rc_name(rc), err.msg);
        assert_int_equal(atomic_load(&es.requests), cases[i].requests);
        if (rc) assert_non_null(strstr(err.msg, "127.0.0.1"));
        for (size_t t = 0; t < 3 && !rc; t++) assert_vector(got + t * FAKE_DIM, in[t]);
    }
}

/* Connections that break are tried again; what came before they broke is not taken for an answer.
 */
static void broken_connections(void **state)
{
    static const char *const answers[] = {
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n[[3,4]]",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n[[3,4]]\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n[[3,4]]",
        NULL,
    };
    static raw_server raw;
    loci_str text = LOCI_STR("x");
    char name[80];
    float got[2] = { 0 };
    loci_err err = { 0 };
    (void)state;

    raw_start(&raw, answers);
    (void)snprintf(name, sizeof name, "tei:%s/", raw.url);
    loci_embedder_options options = { .name = name, .dim = 2, .retry_wait = LOCI_MS };
    LOCI_AUTO(loci_embedder_closep) loci_embedder *e = NULL;
    assert_ok(loci_embedder_open(&options, &e, &err), err);
    assert_ok(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, &text, 1, got, &err), err);
    raw_stop(&raw);
    assert_int_equal(atomic_load(&raw.requests), 4);
    assert_true(got[0] == 0.6F && got[1] == 0.8F);

    /* Nobody listens there any more. */
    assert_int_equal(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, &text, 1, got, &err),
                     LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "tried 5 times"));
    assert_non_null(strstr(err.msg, "Connection refused"));
}

static bool when_it_runs(void *context)
{
    (void)context;
    return atomic_load(&es.running) > 0;
}

static void slow_servers_are_left(void **state)
{
    loci_str text = LOCI_STR("x");
    float got[FAKE_DIM];
    loci_err err = { 0 };
    const loci_embedder_info *info;
    (void)state;

    es.always = HOLD;
    loci_embedder *e = open_remote("openai", (loci_embedder_options){ .dim = FAKE_DIM });
    loci_embed_call call = { .deadline = loci_clock_steady() + 100 * LOCI_MS };
    assert_int_equal(loci_embedder_embed_call(e, &call, &text, 1, got, &err), LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "no answer in time"));
    assert_int_equal(atomic_load(&es.requests), 1);
    (void)reset(NULL);

    es.always = HOLD;
    call = (loci_embed_call){ .cancelled = when_it_runs };
    assert_int_equal(loci_embedder_embed_call(e, &call, &text, 1, got, &err), LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "cancelled"));
    loci_embedder_close(e);
    (void)reset(NULL);

    es.always = HOLD; /* and the timeout of the options, when the call has no deadline */
    e = open_remote("tei", (loci_embedder_options){ .timeout = 50 * LOCI_MS });
    assert_int_equal(loci_embedder_learn(e, &(loci_embed_call){ 0 }, &info, &err),
                     LOCI_EUNAVAILABLE);
    loci_embedder_close(e);
}

static void refused_batches_are_halved(void **state)
{
    static float got[MANY * FAKE_DIM];
    loci_err err = { 0 };
    size_t refused = 999;
    loci_embed_call call = { .refused = &refused };
    (void)state;

    make_texts();
    es.most_texts = 32;
    loci_embedder *e = open_remote("tei", (loci_embedder_options){ .dim = FAKE_DIM });
    assert_ok(loci_embedder_embed_call(e, &call, texts, 64, got, &err), err);
    assert_int_equal(atomic_load(&es.requests), 3);
    assert_ok(loci_embedder_embed_call(e, &call, texts, 64, got, &err), err);
    assert_int_equal(atomic_load(&es.requests), 5); /* it has learned what the server takes */
    for (size_t i = 0; i < 64; i++) assert_vector(got + i * FAKE_DIM, texts[i]);
    loci_embedder_close(e);

    embed_server_reset();
    e = open_remote("openai", (loci_embedder_options){ .dim = FAKE_DIM });
    texts[37] = LOCI_STR("bad");
    assert_int_equal(loci_embedder_embed_call(e, &call, texts, 64, got, &err), LOCI_EINVAL);
    assert_int_equal(refused, 37);
    assert_non_null(strstr(err.msg, "text 38 of 64: 127.0.0.1"));
    assert_non_null(strstr(err.msg, "status 400: a text is bad"));
    texts[37] = LOCI_STR("good");
    atomic_store(&es.requests, 0);
    assert_ok(loci_embedder_embed_call(e, &call, texts, 64, got, &err), err);
    assert_int_equal(atomic_load(&es.requests), 1); /* one bad text says nothing about sizes */
    loci_embedder_close(e);
}

typedef struct caller {
    loci_embedder *e;
    float got[MANY * FAKE_DIM];
    loci_rc rc;
} caller;

static void *call_many(void *context)
{
    caller *c = context;
    c->rc = loci_embedder_embed(c->e, LOCI_EMBED_DOCUMENT, texts, MANY, c->got, NULL);
    return NULL;
}

/* Two callers with four batches each: three requests at once, over both. */
static void three_requests_at_once(void **state)
{
    static caller callers[2];
    pthread_t threads[2];
    (void)state;

    make_texts();
    atomic_store(&es.hold, true);
    loci_embedder *e = open_remote("ollama", (loci_embedder_options){ .dim = FAKE_DIM });
    for (size_t i = 0; i < 2; i++) {
        callers[i].e = e;
        assert_int_equal(pthread_create(&threads[i], NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < 20000 && atomic_load(&es.running) < 3; i++) loci_clock_sleep(LOCI_MS);
    atomic_store(&es.hold, false);
    for (size_t i = 0; i < 2; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].rc, LOCI_OK);
        for (size_t t = 0; t < MANY; t++) assert_vector(callers[i].got + t * FAKE_DIM, texts[t]);
    }
    assert_int_equal(atomic_load(&es.peak), 3);
    assert_int_equal(atomic_load(&es.requests), 8);
    loci_embedder_close(e);
}

/* One batch fails for good: requests that run are given up, and no others are begun. */
static void one_failure_ends_the_call(void **state)
{
    enum { COUNT = 64 * 40 };
    static float got[COUNT * FAKE_DIM];
    static loci_str many[COUNT];
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < COUNT; i++) many[i] = LOCI_STR("same");
    es.script[1] = GARBAGE;
    es.always = HOLD;
    loci_embedder *e = open_remote("tei", (loci_embedder_options){ .dim = FAKE_DIM });
    assert_int_equal(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, many, COUNT, got, &err),
                     LOCI_ECORRUPT);
    assert_non_null(strstr(err.msg, "not JSON"));
    assert_in_range(atomic_load(&es.requests), 2, 3);
    loci_embedder_close(e);
}

static void keys_are_sent_and_never_shown(void **state)
{
    static const struct {
        const char *kind;
        char **env;
        fault f;
        loci_rc want;
        const char *sent, *says;
    } cases[] = {
        { "openai", own_env, NONE, LOCI_OK, "Bearer sk-geheim", "" },
        { "openai", openai_env, NONE, LOCI_OK, "Bearer sk-geheim", "" },
        { "ollama", own_env, NONE, LOCI_OK, "Bearer sk-geheim", "" },
        { "ollama", openai_env, NONE, LOCI_OK, "", "" },
        { "tei", openai_env, NONE, LOCI_OK, "", "" },
        { "tei", own_env, NO_KEY, LOCI_EAUTH, "Bearer sk-geheim", "does not accept the key" },
        { "tei", no_env, NO_KEY, LOCI_EAUTH, "",
          "wants a key (status 401); set LOCI_EMBEDDER_KEY" },
        { "openai", own_env, ECHO_KEY, LOCI_EIO, "Bearer sk-geheim", "status 409" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_str text = LOCI_STR("x");
        float got[FAKE_DIM];
        loci_err err = { 0 };

        embed_server_reset();
        es.always = cases[i].f;
        loci_embedder *e = open_remote(
            cases[i].kind, (loci_embedder_options){ .dim = FAKE_DIM, .env = cases[i].env });
        assert_null(strstr(loci_embedder_get_info(e)->id, "geheim"));
        loci_rc rc = loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, &text, 1, got, &err);
        loci_embedder_close(e);
        assert_int_equal(rc, cases[i].want);
        assert_string_equal(es.authorization, cases[i].sent);
        if (!strstr(err.msg, cases[i].says)) fail_msg("case %zu: %s", i, err.msg);
        assert_null(strstr(err.msg, "geheim"));
    }
}

/* Another machine without TLS, reached through a proxy that is this test: the key that is meant for
 * OpenAI's own service does not go there. */
static void openai_keys_do_not_travel_in_the_clear(void **state)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n"
        "{\"data\":[{\"index\":0,\"embedding\":[3,4]}]}  ",
        NULL,
    };
    (void)state;

    for (size_t i = 0; i < 2; i++) {
        static raw_server raw;
        loci_embedder_options options = { .name = "openai:http://embedder.test/v1#m",
                                          .env = i ? own_env : openai_env };
        LOCI_AUTO(loci_embedder_closep) loci_embedder *e = NULL;
        loci_err err = { 0 };

        raw_start(&raw, answers);
        assert_int_equal(setenv("http_proxy", raw.url, 1), 0);
        assert_ok(loci_embedder_open(&options, &e, &err), err);
        learn(e, 2);
        assert_int_equal(unsetenv("http_proxy"), 0);
        raw_stop(&raw);
        assert_non_null(strstr(raw.last, "POST http://embedder.test/v1/embeddings HTTP/1.1"));
        assert_int_equal(strstr(raw.last, "sk-geheim") != NULL, i == 1);
    }
}

static void names_that_are_wrong(void **state)
{
    static const struct {
        loci_embedder_options options;
        const char *says;
    } cases[] = {
        { { .name = "openai:https://api.example.com/v1" }, "it has no model" },
        { { .name = "openai:https://api.example.com/v1#" }, "openai:URL#MODEL" },
        { { .name = "ollama:#m" }, "embedder ollama: that is no address" },
        { { .name = "ollama:http://127.0.0.1:1/api#m" }, "must end behind host and port" },
        { { .name = "tei:http://127.0.0.1:1#m" }, "without a #" },
        { { .name = "tei:ftp://127.0.0.1" }, "http://" },
        { { .name = "openai:https://u:geheim@host/v1#m" }, "no name or password" },
        { { .name = "openai:https://host/v1?key=geheim#m" }, "no '?'" },
        { { .name = "opnai:https://u:geheim@host/v1#m" }, "no embedder 'opnai:https'" },
        { { .name = "tei:http://127.0.0.1:1", .concurrency = 17 }, "17" },
        { { .name = "tei:http://127.0.0.1:1", .dim = 16385 }, "16385" },
        { { .name = "tei:http://127.0.0.1:1", .timeout = -1 }, "time" },
        { { .name = "tei:http://127.0.0.1:1", .env = bad_env }, "LOCI_EMBEDDER_KEY has" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_embedder *e = NULL;
        loci_err err = { 0 };
        assert_int_equal(loci_embedder_open(&cases[i].options, &e, &err), LOCI_EINVAL);
        assert_null(e);
        if (!strstr(err.msg, cases[i].says)) fail_msg("case %zu: %s", i, err.msg);
        assert_null(strstr(err.msg, "geheim"));
    }
}

static void slashes_do_not_make_another_id(void **state)
{
    loci_embedder *a = NULL, *b = NULL;
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_embedder_open(&(loci_embedder_options){ .name = "openai:https://host/v1#a/b" },
                                 &a, &err),
              err);
    assert_ok(loci_embedder_open(&(loci_embedder_options){ .name = "openai:https://host/v1//#a/b" },
                                 &b, &err),
              err);
    assert_string_equal(loci_embedder_get_info(a)->id, "openai:https://host/v1#a/b");
    assert_string_equal(loci_embedder_get_info(b)->id, loci_embedder_get_info(a)->id);
    assert_string_equal(loci_embedder_get_info(b)->model, "a/b");
    loci_embedder_close(a);
    loci_embedder_close(b);
}

/* Tokens come from the o200k table, when there is one. */
static void tokens_are_o200k(void **state)
{
    char folder[] = "/tmp/loci-remote-XXXXXX", path[64];
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    LOCI_AUTO(loci_buf_done) loci_buf table;
    loci_tokens tokens;
    loci_err err = { 0 };
    (void)state;

    loci_embedder *e = open_remote("tei", (loci_embedder_options){ 0 });
    assert_int_equal(loci_embedder_tokens(e, LOCI_STR("abc"), arena, &tokens, &err),
                     LOCI_ENOTFOUND);
    assert_non_null(strstr(err.msg, "make setup"));
    loci_embedder_close(e);

    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/o200k_base.tokens", folder);
    loci_buf_init(&table, 1 << 20);
    assert_ok(toy_table(LOCI_DICT_O200K, &table, &err), err);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(table.ptr, 1, table.len, file), table.len);
    assert_int_equal(fclose(file), 0);
    e = open_remote("tei", (loci_embedder_options){ .model_dir = folder });
    assert_ok(loci_embedder_tokens(e, LOCI_STR("abc abc"), arena, &tokens, &err), err);
    assert_int_equal(tokens.count, 2);
    loci_embedder_close(e);
    (void)unlink(path);
    (void)rmdir(folder);
}

static const char *model_folder(void)
{
    static char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 32);

    if (len < 0) return NULL;
    path[len] = 0;
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = 0;
    }
    memcpy(path + strlen(path), "/models", sizeof "/models");
    return path;
}

/* The built-in model behind the three shapes gives the vectors that it gives here. */
static void the_builtin_model_from_afar(void **state)
{
    LOCI_AUTO(loci_embedder_closep) loci_embedder *model = NULL;
    loci_str in[] = { LOCI_STR("The cat sat on the mat."), LOCI_STR("Memory for agents"),
                      LOCI_STR("\xc3\xa4pfel und birnen") };
    static float got[3 * MOST_DIM];
    (void)state;

    if (loci_embedder_open(&(loci_embedder_options){ .model_dir = model_folder() }, &model, NULL))
        skip();
    es.dim = loci_embedder_get_info(model)->dim;
    assert_true(es.dim <= MOST_DIM);
    for (size_t k = 0; k < LOCI_COUNT(kinds); k++) {
        loci_err err = { 0 };
        es.model = model;
        loci_embedder *e = open_remote(kinds[k], (loci_embedder_options){ .env = no_env });
        learn(e, es.dim);
        assert_ok(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, in, 3, got, &err), err);
        for (size_t i = 0; i < 3; i++) assert_vector(got + i * es.dim, in[i]);
        loci_embedder_close(e);
    }
    es.model = NULL;
}

static void missing_memory_is_an_error(void **state)
{
    (void)state;
    for (unsigned long n = 1;; n++) {
        loci_embedder *e = NULL;
        loci_embedder_options options = { .name = "tei:http://127.0.0.1:1",
                                          .model_dir = "/tmp/loci-no-such-folder" };
        loci_err err = { 0 };

        (void)loci_alloc_fail_at(n);
        loci_rc rc = loci_embedder_open(&options, &e, &err);
        (void)loci_alloc_fail_at(0);
        loci_embedder_close(e);
        if (!rc) {
            assert_true(n > 2);
            break;
        }
        assert_int_equal(rc, LOCI_ENOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_shape_gives_the_vectors, reset),
        cmocka_unit_test_setup(any_bytes_are_a_text, reset),
        cmocka_unit_test_setup(long_texts_go_in_smaller_batches, reset),
        cmocka_unit_test_setup(faults, reset),
        cmocka_unit_test_setup(broken_connections, reset),
        cmocka_unit_test_setup(slow_servers_are_left, reset),
        cmocka_unit_test_setup(refused_batches_are_halved, reset),
        cmocka_unit_test_setup(three_requests_at_once, reset),
        cmocka_unit_test_setup(one_failure_ends_the_call, reset),
        cmocka_unit_test_setup(keys_are_sent_and_never_shown, reset),
        cmocka_unit_test_setup(openai_keys_do_not_travel_in_the_clear, reset),
        cmocka_unit_test_setup(names_that_are_wrong, reset),
        cmocka_unit_test_setup(slashes_do_not_make_another_id, reset),
        cmocka_unit_test_setup(tokens_are_o200k, reset),
        cmocka_unit_test_setup(the_builtin_model_from_afar, reset),
        cmocka_unit_test_setup(missing_memory_is_an_error, reset),
    };
    return cmocka_run_group_tests(tests, embed_server_start, embed_server_stop);
}
