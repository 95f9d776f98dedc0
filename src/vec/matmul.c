/* One panel of b at a time meets all rows of a, in blocks of as many rows as the registers hold
 * sums for: 12 x 32 sums in 24 of the 32 AVX-512 registers, 6 x 16 in 12 of the 16 of AVX2. In each
 * step a row of the panel is loaded once and multiplied with one value of each row of a. A block
 * reads its whole depth before it stores, so c is touched once. Rows are dealt evenly over the
 * blocks: 13 rows are 7 and 6, not 12 and 1, because a block of one row would wait for each sum. */
#include "vec/matmul.h"

#include "base/compiler.h"
#include "vec/level.h"

#include <assert.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

void loci_matmul_pack(const float *w, size_t in, size_t out, float *ret_packed)
{
    assert(out % LOCI_PANEL == 0);
    for (size_t first = 0; first < out; first += LOCI_PANEL)
        for (size_t i = 0; i < in; i++)
            for (size_t j = 0; j < LOCI_PANEL; j++) *ret_packed++ = w[i * out + first + j];
}

/* `rows` rows of one panel. */
typedef struct block {
    const float *a, *b, *bias;
    float *c;
    size_t lda, ldb, ldc, depth, rows;
    bool add;
} block;

/* The definition, and the kernel of processors that we know nothing of. */
static void block_scalar(const block *k)
{
    for (size_t r = 0; r < k->rows; r++) {
        float sum[LOCI_PANEL] = { 0 };
        float *c = k->c + r * k->ldc;

        for (size_t i = 0; i < k->depth; i++) {
            const float *b = k->b + i * k->ldb;
            float a = k->a[r * k->lda + i];
            for (size_t j = 0; j < LOCI_PANEL; j++) sum[j] += a * b[j];
        }
        for (size_t j = 0; j < LOCI_PANEL; j++) {
            float start = (k->bias ? k->bias[j] : 0) + (k->add ? c[j] : 0);
            c[j] = start + sum[j];
        }
    }
}

#if defined(__x86_64__)

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
#define AVX2 __attribute__((target("avx2,fma")))
#define INLINE static inline __attribute__((always_inline))

/* The compiler must keep each sum in a register, which it does for named variables whose use is
 * decided by a constant, and not for arrays in loops. */
#define ROWS12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define ROWS6(X) X(0) X(1) X(2) X(3) X(4) X(5)

#define DECLARE(r) __m512 l##r = _mm512_setzero_ps(), h##r = l##r;
#define MULTIPLY(r)                                                                                \
    if (rows > (r)) {                                                                              \
        __m512 value = _mm512_set1_ps(a[(r)*lda]);                                                 \
        l##r = _mm512_fmadd_ps(value, low, l##r);                                                  \
        h##r = _mm512_fmadd_ps(value, high, h##r);                                                 \
    }
#define STORE(r)                                                                                   \
    if (rows > (r)) {                                                                              \
        float *c = k->c + (r)*k->ldc;                                                              \
        __m512 low = bias_low, high = bias_high;                                                   \
        if (k->add) {                                                                              \
            low = _mm512_add_ps(low, _mm512_loadu_ps(c));                                          \
            high = _mm512_add_ps(high, _mm512_loadu_ps(c + 16));                                   \
        }                                                                                          \
        _mm512_storeu_ps(c, _mm512_add_ps(low, l##r));                                             \
        _mm512_storeu_ps(c + 16, _mm512_add_ps(high, h##r));                                       \
    }

AVX512 INLINE void rows_avx512(const block *k, const int rows)
{
    const float *a = k->a, *b = k->b;
    const size_t lda = k->lda, ldb = k->ldb;
    __m512 bias_low = k->bias ? _mm512_loadu_ps(k->bias) : _mm512_setzero_ps();
    __m512 bias_high = k->bias ? _mm512_loadu_ps(k->bias + 16) : _mm512_setzero_ps();

    ROWS12(DECLARE)
    for (const float *end = a + k->depth; a < end; a++, b += ldb) {
        __m512 low = _mm512_loadu_ps(b), high = _mm512_loadu_ps(b + 16);
        ROWS12(MULTIPLY)
    }
    ROWS12(STORE)
}
#undef DECLARE
#undef MULTIPLY
#undef STORE

AVX512 static void block_avx512(const block *k)
{
    switch (k->rows) {
    /* clang-format off */
    case 1: rows_avx512(k, 1); break;
    case 2: rows_avx512(k, 2); break;
    case 3: rows_avx512(k, 3); break;
    case 4: rows_avx512(k, 4); break;
    case 5: rows_avx512(k, 5); break;
    case 6: rows_avx512(k, 6); break;
    case 7: rows_avx512(k, 7); break;
    case 8: rows_avx512(k, 8); break;
    case 9: rows_avx512(k, 9); break;
    case 10: rows_avx512(k, 10); break;
    case 11: rows_avx512(k, 11); break;
    default: rows_avx512(k, 12); break;
        /* clang-format on */
    }
}

#define DECLARE(r) __m256 l##r = _mm256_setzero_ps(), h##r = l##r;
#define MULTIPLY(r)                                                                                \
    if (rows > (r)) {                                                                              \
        __m256 value = _mm256_broadcast_ss(a + (r)*lda);                                           \
        l##r = _mm256_fmadd_ps(value, low, l##r);                                                  \
        h##r = _mm256_fmadd_ps(value, high, h##r);                                                 \
    }
#define STORE(r)                                                                                   \
    if (rows > (r)) {                                                                              \
        float *c = k->c + (r)*k->ldc + half;                                                       \
        __m256 low = bias_low, high = bias_high;                                                   \
        if (k->add) {                                                                              \
            low = _mm256_add_ps(low, _mm256_loadu_ps(c));                                          \
            high = _mm256_add_ps(high, _mm256_loadu_ps(c + 8));                                    \
        }                                                                                          \
        _mm256_storeu_ps(c, _mm256_add_ps(low, l##r));                                             \
        _mm256_storeu_ps(c + 8, _mm256_add_ps(high, h##r));                                        \
    }

/* Columns half .. half + 15 of the panel. */
AVX2 INLINE void rows_avx2(const block *k, const int rows, size_t half)
{
    const float *a = k->a, *b = k->b + half, *bias = k->bias + (k->bias ? half : 0);
    const size_t lda = k->lda, ldb = k->ldb;
    __m256 bias_low = bias ? _mm256_loadu_ps(bias) : _mm256_setzero_ps();
    __m256 bias_high = bias ? _mm256_loadu_ps(bias + 8) : _mm256_setzero_ps();

    ROWS6(DECLARE)
    for (const float *end = a + k->depth; a < end; a++, b += ldb) {
        __m256 low = _mm256_loadu_ps(b), high = _mm256_loadu_ps(b + 8);
        ROWS6(MULTIPLY)
    }
    ROWS6(STORE)
}
#undef DECLARE
#undef MULTIPLY
#undef STORE

AVX2 static void block_avx2(const block *k)
{
    for (size_t half = 0; half < LOCI_PANEL; half += 16) switch (k->rows) {
        /* clang-format off */
        case 1: rows_avx2(k, 1, half); break;
        case 2: rows_avx2(k, 2, half); break;
        case 3: rows_avx2(k, 3, half); break;
        case 4: rows_avx2(k, 4, half); break;
        case 5: rows_avx2(k, 5, half); break;
        default: rows_avx2(k, 6, half); break;
            /* clang-format on */
        }
}
#else
#define block_avx2 block_scalar
#define block_avx512 block_scalar
#endif

static const struct kernel {
    void (*run)(const block *);
    size_t rows; /* most rows of a block */
} kernels[LOCI_VEC_LEVELS] = {
    { block_scalar, 12 }, { block_avx2, 6 }, { block_avx512, 12 }, { block_avx512, 12 }
};

/* `k` is the panel's first row; its blocks follow. */
static void run_panel(const struct kernel *kernel, size_t rows, block k)
{
    for (size_t left = (rows + kernel->rows - 1) / kernel->rows; left > 0; left--) {
        k.rows = rows / left;
        kernel->run(&k);
        rows -= k.rows;
        k.a += k.rows * k.lda;
        k.c += k.rows * k.ldc;
    }
}

void loci_matmul_run(const loci_matmul *m)
{
    const struct kernel *kernel = &kernels[loci_vec_level_get()];

    assert(m->columns % LOCI_PANEL == 0);
    for (size_t first = 0; first < m->columns; first += LOCI_PANEL) {
        run_panel(kernel, m->rows,
                  (block){ .a = m->a,
                           .b = m->b + first / LOCI_PANEL * m->next_panel,
                           .bias = m->bias ? m->bias + first : NULL,
                           .c = m->c + first / LOCI_PANEL * m->next_c,
                           .lda = m->lda,
                           .ldb = m->ldb,
                           .ldc = m->ldc,
                           .depth = m->depth,
                           .add = m->add });
    }
}
