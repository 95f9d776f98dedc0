#include "levels.h"
#include "vec/ops.h"

#include <math.h>

enum { N = 384 };

static float x[N], weight[N], bias[N], before[N];

static void fill(uint32_t seed, float range)
{
    for (size_t i = 0; i < N; i++) {
        before[i] = random_float(&seed) * range;
        weight[i] = random_float(&seed);
        bias[i] = random_float(&seed);
    }
}

static void reset(void)
{
    memcpy(x, before, sizeof x);
}

/* The bits of all levels are those of the first. */
static void check_bits(loci_vec_level level)
{
    static float first[N];
    if (level == LOCI_VEC_SCALAR) memcpy(first, x, sizeof x);
    assert_memory_equal(first, x, sizeof x);
}

static void layer_norm_is_the_formula(void **state)
{
    (void)state;
    fill(1, 3);
    FOR_LEVELS(level)
    {
        double mean = 0, variance = 0;
        reset();
        loci_layer_norm(x, weight, bias, N, 1e-12F);
        for (size_t i = 0; i < N; i++) mean += (double)before[i] / N;
        for (size_t i = 0; i < N; i++) variance += pow((double)before[i] - mean, 2) / N;
        for (size_t i = 0; i < N; i++) {
            double want = ((double)before[i] - mean) / sqrt(variance + 1e-12);
            want = want * (double)weight[i] + (double)bias[i];
            assert_true(fabs(want - (double)x[i]) < 2e-6);
        }
        check_bits(level);
    }
}

static void softmax_is_the_formula(void **state)
{
    static const float ranges[] = { 0.001F, 1, 30, 1000 };
    (void)state;

    for (size_t t = 0; t < LOCI_COUNT(ranges); t++) {
        fill((uint32_t)t + 1, ranges[t]);
        FOR_LEVELS(level)
        {
            double top = -1e30, want_total = 0;
            reset();
            double total = (double)loci_softmax_raw(x, N, 0.5F);
            for (size_t i = 0; i < N; i++) top = fmax(top, (double)before[i]);
            for (size_t i = 0; i < N; i++) {
                double power = ((double)before[i] - top) * 0.5, want = exp(power);
                want_total += want;
                /* The power itself is rounded to 24 bits before. */
                assert_true(fabs(want - (double)x[i]) <= (3e-7 - power * 2e-7) * want + 1e-35);
            }
            assert_true(fabs(total - want_total) < 1e-5 * want_total);
            check_bits(level);
        }
    }
    assert_true(loci_softmax_raw(x, 0, 1) == 0);
}

static void gelu_is_the_formula(void **state)
{
    (void)state;
    for (int power = -7; power < 7; power++) {
        fill(2, ldexpf(1, power));
        before[0] = 0;
        FOR_LEVELS(level)
        {
            reset();
            loci_gelu(x, N);
            for (size_t i = 0; i < N; i++) {
                double v = (double)before[i];
                assert_true(fabs(v / 2 * (1 + erf(v / sqrt(2))) - (double)x[i]) <
                            4e-7 * fmax(1, fabs(v)));
            }
            check_bits(level);
        }
    }
}

static void quantised_rows_are_within_half_a_step(void **state)
{
    static const float shifts[] = { 0, 0.8F, -0.8F, 5, -5 };
    static uint8_t u[N], first[N];
    (void)state;

    for (size_t t = 0; t < LOCI_COUNT(shifts); t++) {
        fill((uint32_t)t + 11, 1);
        for (size_t i = 0; i < N; i++) before[i] += shifts[t];
        FOR_LEVELS(level)
        {
            float scale = -1;
            int32_t zero = -1;
            loci_quantise_row(before, N, u, &scale, &zero);
            assert_in_range(zero, 0, 255);
            for (size_t i = 0; i < N; i++)
                assert_true(fabsf((float)(u[i] - zero) * scale - before[i]) <= scale * 1.001F);
            if (level == LOCI_VEC_SCALAR) memcpy(first, u, sizeof u);
            assert_memory_equal(first, u, sizeof u);
        }
    }
}

static void odd_rows_quantise_without_fault(void **state)
{
    static const float odd[] = { 0.0F, 1e-45F, 3e38F, -3e38F, INFINITY, -INFINITY, NAN };
    float row[16], scale;
    uint8_t u[16];
    int32_t zero;
    (void)state;

    for (size_t t = 0; t < LOCI_COUNT(odd); t++) {
        FOR_LEVELS(level)
        {
            for (size_t i = 0; i < 16; i++) row[i] = i % 2 ? odd[t] : 0.5F * (t % 2 != 0);
            loci_quantise_row(row, 16, u, &scale, &zero);
            assert_in_range(zero, 0, 255);
            assert_true(isfinite(scale) && scale >= 0);
        }
    }
}

static void small_helpers(void **state)
{
    static int8_t q[N];
    (void)state;
    fill(4, 2);
    for (size_t i = 0; i < N; i++) q[i] = (int8_t)((int)i % 255 - 127);
    FOR_LEVELS(level)
    {
        reset();
        loci_add(x, weight, N);
        loci_scale(x, N, 0.5F);
        for (size_t i = 0; i < N; i++) assert_true(x[i] == (before[i] + weight[i]) * 0.5F);
        loci_dequantise_row(q, N, weight, x);
        for (size_t i = 0; i < N; i++) assert_true(x[i] == (float)q[i] * weight[i / 32]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_norm_is_the_formula),
        cmocka_unit_test(softmax_is_the_formula),
        cmocka_unit_test(gelu_is_the_formula),
        cmocka_unit_test(quantised_rows_are_within_half_a_step),
        cmocka_unit_test(odd_rows_quantise_without_fault),
        cmocka_unit_test(small_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
