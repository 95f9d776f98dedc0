#include "levels.h"
#include "vec/matmul.h"

#include <math.h>

enum { ROWS = 30, DEPTH = 70, COLUMNS = 96, WIDE = COLUMNS + 3 };

static float a[ROWS * DEPTH], w[DEPTH * COLUMNS], packed[DEPTH * COLUMNS], bias[COLUMNS];
static float c[ROWS * WIDE];

static void fill(uint32_t seed)
{
    for (size_t i = 0; i < LOCI_COUNT(a); i++) a[i] = random_float(&seed);
    for (size_t i = 0; i < LOCI_COUNT(w); i++) w[i] = random_float(&seed);
    for (size_t i = 0; i < LOCI_COUNT(bias); i++) bias[i] = random_float(&seed);
}

static void check(const loci_matmul *m, float before)
{
    for (size_t r = 0; r < ROWS; r++)
        for (size_t j = 0; j < WIDE; j++) {
            double want = m->add || r >= m->rows || j >= COLUMNS ? before : 0;
            for (size_t i = 0; r < m->rows && j < COLUMNS && i < m->depth; i++)
                want += (double)a[r * DEPTH + i] * (double)w[i * COLUMNS + j];
            if (m->bias && r < m->rows && j < COLUMNS) want += (double)bias[j];
            assert_true(fabs(want - (double)c[r * WIDE + j]) < 2e-5);
        }
}

static void every_row_count_agrees_with_the_plain_loop(void **state)
{
    (void)state;
    fill(3);
    loci_matmul_pack(w, DEPTH, COLUMNS, packed);
    FOR_LEVELS(level)
    for (size_t rows = 0; rows <= ROWS; rows++) {
        loci_matmul m = { .a = a,
                          .lda = DEPTH,
                          .rows = rows,
                          .depth = DEPTH,
                          .b = packed,
                          .ldb = LOCI_PANEL,
                          .next_panel = DEPTH * LOCI_PANEL,
                          .columns = COLUMNS,
                          .bias = rows % 2 ? bias : NULL,
                          .c = c,
                          .ldc = WIDE,
                          .next_c = 32,
                          .add = rows % 3 == 0 };
        for (size_t i = 0; i < LOCI_COUNT(c); i++) c[i] = 0.25F;
        loci_matmul_run(&m);
        check(&m, 0.25F);
    }
}

/* Attention multiplies with columns of a wider matrix, which are a panel where they stand. */
static void a_panel_may_stand_inside_a_wider_matrix(void **state)
{
    (void)state;
    fill(9);
    FOR_LEVELS(level)
    {
        loci_matmul_run(&(loci_matmul){ .a = a,
                                        .lda = DEPTH,
                                        .rows = ROWS,
                                        .depth = DEPTH,
                                        .b = w,
                                        .ldb = COLUMNS,
                                        .next_panel = LOCI_PANEL,
                                        .columns = COLUMNS,
                                        .c = c,
                                        .ldc = COLUMNS,
                                        .next_c = 32 });
        for (size_t r = 0; r < ROWS; r++)
            for (size_t j = 0; j < COLUMNS; j++) {
                double want = 0;
                for (size_t i = 0; i < DEPTH; i++)
                    want += (double)a[r * DEPTH + i] * (double)w[i * COLUMNS + j];
                assert_true(fabs(want - (double)c[r * COLUMNS + j]) < 2e-5);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_count_agrees_with_the_plain_loop),
        cmocka_unit_test(a_panel_may_stand_inside_a_wider_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
