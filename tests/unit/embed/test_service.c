#include "fake.h"

#include "embed/service.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8, EACH = 40 };

static loci_embed_service *open_service(const loci_embed_service_options *options)
{
    loci_embedder_options e = { .name = "fake" };
    loci_embedder *embedder = NULL;
    loci_embed_service *s = NULL;
    loci_err err = { 0 };

    fake_reset();
    assert_ok(fake_open(&e, &embedder, &err), err);
    assert_ok(loci_embed_service_new(embedder, options, &s, &err), err);
    return s;
}

typedef struct caller {
    loci_embed_service *service;
    int number, wrong;
} caller;

/* One, two or three texts at a time, with the vectors that these texts must have. */
static void *call(void *arg)
{
    caller *c = arg;

    for (int i = 0; i < EACH; i++) {
        char bytes[3][32];
        loci_str texts[3];
        float got[3 * FAKE_DIM], want[FAKE_DIM];
        size_t count = (size_t)(i % 3) + 1;
        for (size_t j = 0; j < count; j++) {
            (void)snprintf(bytes[j], sizeof bytes[j], "text %d %d %zu", c->number, i, j);
            texts[j] = loci_str_from(bytes[j]);
        }
        loci_embed_kind kind = i % 5 ? LOCI_EMBED_DOCUMENT : LOCI_EMBED_QUERY;
        c->wrong += loci_embed_service_embed(c->service, kind, texts, count, 0, got, NULL) != 0;
        for (size_t j = 0; j < count; j++) {
            fake_vector("fake", texts[j], want);
            c->wrong += memcmp(want, got + j * FAKE_DIM, sizeof want) != 0;
        }
    }
    return NULL;
}

static void run_callers(loci_embed_service *s, void *(*body)(void *), int count)
{
    pthread_t threads[64];
    caller callers[64];
    int wrong = 0;

    for (int i = 0; i < count; i++) {
        callers[i] = (caller){ .service = s, .number = i };
        assert_int_equal(pthread_create(&threads[i], NULL, body, &callers[i]), 0);
    }
    for (int i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
        wrong += callers[i].wrong;
    }
    assert_int_equal(wrong, 0);
}

/* Everybody gets the vectors of their own texts, with callers or threads that compute. */
static void callers_get_their_own(void **state)
{
    static const loci_embed_service_options ways[] = { { .passes = 1 },
                                                       { .passes = 3 },
                                                       { .passes = 2, .threads = 2 } };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(ways); i++) {
        loci_embed_service *s = open_service(&ways[i]);
        fake->delay = 100;
        run_callers(s, call, THREADS);
        loci_embed_service_counts n = loci_embed_service_count(s);
        assert_int_equal(n.texts, fake->texts);
        assert_int_equal(n.passes, fake->calls);
        loci_embed_service_free(s);
    }
}

static void *call_once(void *arg)
{
    caller *c = arg;
    loci_str text = LOCI_STR("one text");
    float got[FAKE_DIM];

    c->wrong = loci_embed_service_embed(c->service, LOCI_EMBED_DOCUMENT, &text, 1, 0, got, NULL) !=
               LOCI_OK;
    return NULL;
}

/* While one pass runs, sixteen come; they share few. */
static void what_waits_together_goes_together(void **state)
{
    loci_embed_service *s = open_service(&(loci_embed_service_options){ .passes = 1 });
    (void)state;

    fake->delay = 50 * LOCI_MS;
    run_callers(s, call_once, 16);
    assert_int_equal(fake->texts, 16);
    assert_true(fake->calls < 16);
    loci_embed_service_free(s);
}

static void *call_poison(void *arg)
{
    caller *c = arg;
    loci_str text = c->number % 2 ? LOCI_STR("good") : LOCI_STR("this is " FAKE_POISON);
    float got[FAKE_DIM];

    for (int i = 0; i < EACH; i++) {
        loci_rc rc =
            loci_embed_service_embed(c->service, LOCI_EMBED_DOCUMENT, &text, 1, 0, got, NULL);
        c->wrong += rc != (c->number % 2 ? LOCI_OK : LOCI_EINVAL);
    }
    return NULL;
}

static void a_bad_text_fails_alone(void **state)
{
    loci_embed_service *s = open_service(&(loci_embed_service_options){ .passes = 1 });
    (void)state;

    fake->delay = 200;
    run_callers(s, call_poison, THREADS);
    loci_embed_service_free(s);
}

static void *call_hurried(void *arg)
{
    caller *c = arg;
    loci_str text = LOCI_STR("hurry");
    float got[FAKE_DIM];
    loci_err err = { 0 };

    loci_rc rc = loci_embed_service_embed(c->service, LOCI_EMBED_QUERY, &text, 1,
                                          loci_clock_steady() + LOCI_MS, got, &err);
    c->wrong = rc != LOCI_EUNAVAILABLE;
    return NULL;
}

/* With threads of the service's own a caller leaves at its deadline, and the service goes on. */
static void callers_leave_at_their_deadline(void **state)
{
    loci_embed_service *s =
        open_service(&(loci_embed_service_options){ .passes = 1, .threads = 1 });
    loci_str text = LOCI_STR("patient");
    float got[FAKE_DIM], want[FAKE_DIM];
    loci_err err = { 0 };
    (void)state;

    fake->delay = 100 * LOCI_MS;
    run_callers(s, call_hurried, 4);
    fake->delay = 0;
    assert_ok(loci_embed_service_embed(s, LOCI_EMBED_QUERY, &text, 1, 0, got, &err), err);
    fake_vector("fake", text, want);
    assert_memory_equal(got, want, sizeof want);
    loci_embed_service_free(s);
}

static void a_full_queue_turns_away(void **state)
{
    loci_embed_service *s = open_service(&(loci_embed_service_options){ .waiting = 2 });
    loci_str texts[3] = { LOCI_STR("a"), LOCI_STR("b"), LOCI_STR("c") };
    float got[3 * FAKE_DIM];
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(loci_embed_service_embed(s, LOCI_EMBED_QUERY, texts, 3, 0, got, &err),
                     LOCI_EBUSY);
    assert_ok(loci_embed_service_embed(s, LOCI_EMBED_QUERY, texts, 2, 0, got, &err), err);
    fake->fail = LOCI_EUNAVAILABLE;
    assert_int_equal(loci_embed_service_embed(s, LOCI_EMBED_QUERY, texts, 2, 0, got, &err),
                     LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "told to fail"));
    loci_embed_service_free(s);
}

/* Measured once, the same every time, in hundredths; a failure is not remembered. */
static void the_range_is_measured_once(void **state)
{
    float low[2], high[2];
    (void)state;

    for (int i = 0; i < 2; i++) {
        loci_embed_service *s = open_service(NULL);
        loci_err err = { 0 };
        fake->fail = LOCI_EUNAVAILABLE;
        assert_int_equal(loci_embed_service_range(s, 0, &low[i], &high[i], &err),
                         LOCI_EUNAVAILABLE);
        fake->fail = LOCI_OK;
        assert_ok(loci_embed_service_range(s, 0, &low[i], &high[i], &err), err);
        assert_int_equal(fake->texts, 60);
        assert_ok(loci_embed_service_range(s, 0, &low[i], &high[i], &err), err);
        assert_int_equal(fake->texts, 60);
        loci_embed_service_free(s);
    }
    assert_true(low[0] >= -1 && low[0] < high[0] && high[0] <= 1);
    assert_true(low[0] == low[1] && high[0] == high[1]);
    assert_true(fabsf(low[0] * 100 - roundf(low[0] * 100)) < 1e-4F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_get_their_own),
        cmocka_unit_test(what_waits_together_goes_together),
        cmocka_unit_test(a_bad_text_fails_alone),
        cmocka_unit_test(callers_leave_at_their_deadline),
        cmocka_unit_test(a_full_queue_turns_away),
        cmocka_unit_test(the_range_is_measured_once),
    };
    return cmocka_run_group_tests_name("embed/service", tests, fake_setup, NULL);
}
