#include "levels.h"
#include "vec/dot.h"

#include <math.h>

enum { LONGEST = 1100, SHIFTS = 5 };

/* The definition of vec/dot.h, written a second time. */
static float definition(const float *a, const float *b, size_t n)
{
    float s[16] = { 0 };
    for (size_t i = 0; i < n; i++) {
        volatile float product = a[i] * b[i]; /* volatile: nothing can be fused */
        s[i % 16] += product;
    }
    for (size_t width = 8; width > 0; width /= 2)
        for (size_t i = 0; i < width; i++) s[i] += s[i + width];
    return s[0];
}

static void every_length_and_alignment_gives_the_bits(void **state)
{
    static float a[LONGEST + SHIFTS], b[LONGEST + SHIFTS];
    uint32_t seed = 1;
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(a); i++) {
        a[i] = ldexpf(random_float(&seed), (int)(next_random(&seed) % 20));
        b[i] = ldexpf(random_float(&seed), -(int)(next_random(&seed) % 20));
    }
    for (size_t n = 0; n <= LONGEST; n++) {
        size_t shift = n % SHIFTS, other = (n / SHIFTS) % SHIFTS;
        uint32_t want = bits_of(definition(a + shift, b + other, n));
        FOR_LEVELS(level) assert_int_equal(bits_of(loci_dot(a + shift, b + other, n)), want);
    }
}

static void special_values_agree(void **state)
{
    static const float odd[] = { 0.0F, -0.0F, 1e-40F, -1e-40F, 3e38F, -3e38F, INFINITY, -INFINITY };
    float a[64], b[64];
    uint32_t seed = 7;
    (void)state;

    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < 64; i++) {
            a[i] = odd[next_random(&seed) % LOCI_COUNT(odd)];
            b[i] = odd[next_random(&seed) % LOCI_COUNT(odd)];
        }
        size_t n = next_random(&seed) % 65;
        float want = definition(a, b, n);
        FOR_LEVELS(level)
        {
            float got = loci_dot(a, b, n);
            /* A NaN's sign and payload are not promised. */
            assert_true(isnan(want) ? isnan(got) : bits_of(got) == bits_of(want));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_and_alignment_gives_the_bits),
        cmocka_unit_test(special_values_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
