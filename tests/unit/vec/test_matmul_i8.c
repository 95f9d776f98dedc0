#include "levels.h"
#include "vec/matmul_i8.h"

enum { ROWS = 27, DEPTH = 64, COLUMNS = 96, WIDE = COLUMNS + 5, DEEP = 4096 };

static uint8_t a[ROWS * DEEP];
static int8_t w[DEEP * COLUMNS], packed[DEEP * COLUMNS];
static int32_t sum[COLUMNS], zero[ROWS];
static float a_scale[ROWS], b_scale[COLUMNS], bias[COLUMNS], c[ROWS * WIDE];

/* extreme: only the ends of both ranges, which is where 16-bit sums would saturate. */
static void fill(uint32_t seed, size_t depth, bool extreme)
{
    for (size_t i = 0; i < ROWS * depth; i++)
        a[i] = extreme ? 255 : (uint8_t)(next_random(&seed) >> 24);
    for (size_t i = 0; i < depth * COLUMNS; i++) {
        int32_t value = (int32_t)(next_random(&seed) >> 8) % 255 - 127;
        w[i] = (int8_t)(extreme ? (i % COLUMNS % 2 ? 127 : -127) : value);
    }
    for (size_t r = 0; r < ROWS; r++) {
        zero[r] = extreme ? 0 : (int32_t)(next_random(&seed) >> 24);
        a_scale[r] = random_float(&seed);
    }
    for (size_t j = 0; j < COLUMNS; j++) {
        b_scale[j] = random_float(&seed);
        bias[j] = random_float(&seed);
    }
    loci_matmul_i8_pack(w, depth, COLUMNS, packed, sum);
}

static int32_t exact(size_t r, size_t j, size_t depth)
{
    int64_t total = 0;
    for (size_t i = 0; i < depth; i++)
        total += (int64_t)(a[r * depth + i] - zero[r]) * w[i * COLUMNS + j];
    return (int32_t)total;
}

static void check(const loci_matmul_i8 *m, float before)
{
    for (size_t r = 0; r < ROWS; r++)
        for (size_t j = 0; j < WIDE; j++) {
            volatile float want = before;
            if (r < m->rows && j < COLUMNS) {
                volatile float product = (float)exact(r, j, m->depth);
                product = product * (a_scale[r] * b_scale[j]);
                want = product + bias[j];
                if (m->add) want = want + before;
            }
            assert_int_equal(bits_of(want), bits_of(c[r * WIDE + j]));
        }
}

static void run(size_t rows, size_t depth, bool add)
{
    loci_matmul_i8 m = { .a = a,
                         .lda = depth,
                         .rows = rows,
                         .depth = depth,
                         .a_scale = a_scale,
                         .zero = zero,
                         .b = packed,
                         .b_sum = sum,
                         .b_scale = b_scale,
                         .bias = bias,
                         .columns = COLUMNS,
                         .c = c,
                         .ldc = WIDE,
                         .next_c = 32,
                         .add = add };
    for (size_t i = 0; i < LOCI_COUNT(c); i++) c[i] = 0.25F;
    loci_matmul_i8_run(&m);
    check(&m, 0.25F);
}

static void every_level_gives_the_same_integers(void **state)
{
    (void)state;
    fill(5, DEPTH, false);
    FOR_LEVELS(level)
    for (size_t rows = 0; rows <= ROWS; rows++) run(rows, DEPTH, rows % 2);
}

static void the_ends_of_the_ranges_do_not_overflow(void **state)
{
    (void)state;
    fill(6, DEEP, true);
    FOR_LEVELS(level) run(ROWS, DEEP, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_gives_the_same_integers),
        cmocka_unit_test(the_ends_of_the_ranges_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
