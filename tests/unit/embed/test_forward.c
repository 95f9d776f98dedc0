#include "naive.h"

#include "base/alloc.h"
#include "vec/level.h"

enum { TEXTS = 13, HIDDEN = 64 };

static uint32_t ids[TEXTS][130];
static loci_ids texts[TEXTS];

/* Lengths around the widths of blocks, panels and slabs, then whatever. */
static void make_texts(void)
{
    static const size_t lengths[] = { 1, 2, 11, 12, 13, 31, 32, 33, 64, 95, 96, 97, 130 };
    uint32_t seed = 5;

    for (size_t t = 0; t < TEXTS; t++) {
        texts[t] = (loci_ids){ ids[t], t < LOCI_COUNT(lengths) ? lengths[t] : 1 + t * 7 % 50 };
        for (size_t i = 0; i < texts[t].count; i++)
            ids[t][i] = (uint32_t)((synthetic_random(&seed) + 1) * 24.9F);
    }
}

static void open_pass(const synthetic *s, loci_model **model, loci_forward **pass)
{
    loci_err err = { 0 };
    assert_ok(loci_model_open(s->path, model, &err), err);
    assert_ok(loci_forward_new(*model, pass, &err), err);
}

static double cosine(const float *a, const double *b)
{
    double dot = 0;
    for (size_t i = 0; i < HIDDEN; i++) dot += (double)a[i] * b[i];
    return dot;
}

static void check_model(uint32_t heads, loci_pooling pooling, loci_weights weights, double least)
{
    synthetic s;
    loci_model *model = NULL;
    loci_forward *pass = NULL;
    loci_err err = { 0 };
    static float together[TEXTS * HIDDEN], alone[HIDDEN];
    static double want[TEXTS][HIDDEN];

    make_texts();
    synthetic_init(&s, heads, pooling);
    synthetic_write(&s, weights);
    open_pass(&s, &model, &pass);
    for (size_t t = 0; t < TEXTS; t++) naive_forward(&s, texts[t], want[t]);

    for (loci_vec_level level = LOCI_VEC_SCALAR; level < LOCI_VEC_LEVELS; level++) {
        if (!loci_vec_level_force(level)) continue;
        assert_ok(loci_forward_run(pass, texts, TEXTS, together, &err), err);
        for (size_t t = 0; t < TEXTS; t++) {
            double got = cosine(together + t * HIDDEN, want[t]);
            if (got < least) fail_msg("%s: cosine %f", loci_vec_level_name(level), got);
            if (t % 3 != 0) continue;
            assert_ok(loci_forward_run(pass, &texts[t], 1, alone, &err), err);
            assert_memory_equal(alone, together + t * HIDDEN, sizeof alone);
        }
    }
    loci_forward_free(pass);
    loci_model_close(model);
    synthetic_done(&s);
}

static void single_precision_is_the_naive_pass(void **state)
{
    (void)state;
    check_model(2, LOCI_POOL_MEAN, LOCI_WEIGHTS_F32, 0.9999995);
    check_model(1, LOCI_POOL_CLS, LOCI_WEIGHTS_F32, 0.9999995); /* a head of two panels */
}

static void eight_bits_are_close_to_it(void **state)
{
    (void)state;
    check_model(2, LOCI_POOL_MEAN, LOCI_WEIGHTS_I8, 0.999);
    check_model(1, LOCI_POOL_CLS, LOCI_WEIGHTS_I8, 0.998);
}

static void bad_ids_are_refused(void **state)
{
    static const uint32_t foreign[] = { 1, 50 }, many[131] = { 0 };
    const struct {
        loci_ids text;
        loci_rc want;
    } cases[] = {
        { { foreign, 0 }, LOCI_EINVAL }, /* no token at all */
        { { foreign, 2 }, LOCI_EINVAL }, /* 50 words are 0..49 */
        { { many, 131 }, LOCI_ELIMIT },  /* the window is 130 */
        { { many, 130 }, LOCI_OK },
    };
    synthetic s;
    loci_model *model = NULL;
    loci_forward *pass = NULL;
    float vector[HIDDEN];
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_I8);
    open_pass(&s, &model, &pass);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_err err = { 0 };
        assert_int_equal(loci_forward_run(pass, &cases[i].text, 1, vector, &err), cases[i].want);
        assert_int_equal(err.code, cases[i].want);
    }
    loci_forward_free(pass);
    loci_model_close(model);
    synthetic_done(&s);
}

static void missing_memory_is_an_error(void **state)
{
    synthetic s;
    loci_model *model = NULL;
    loci_forward *pass = NULL;
    loci_err err = { 0 };
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_F32);
    for (unsigned long n = 1; n <= 3; n++) {
        (void)loci_alloc_fail_at(n);
        loci_rc rc = loci_model_open(s.path, &model, &err);
        if (!rc) rc = loci_forward_new(model, &pass, &err);
        (void)loci_alloc_fail_at(0);
        assert_int_equal(rc, LOCI_ENOMEM);
        assert_null(pass);
        loci_model_close(model);
        model = NULL;
    }
    synthetic_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_precision_is_the_naive_pass),
        cmocka_unit_test(eight_bits_are_close_to_it),
        cmocka_unit_test(bad_ids_are_refused),
        cmocka_unit_test(missing_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
