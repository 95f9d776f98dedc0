/* The blocking is that of vec/matmul.c: 12 x 32 sums in registers for VNNI, whose instruction
 * multiplies four bytes of a row with four bytes of sixteen columns and adds them to sixteen sums.
 *
 * AVX2 and AVX-512 without VNNI have an instruction that multiplies bytes and adds pairs, but it
 * saturates at 16 bits: 255 * 127 * 2 does not fit. They widen both sides to 16 bits instead and
 * multiply those, with pairs added in 32 bits, which cannot overflow. Each of their sums is kept in
 * two halves (values 0, 1 and values 2, 3 of each four), which are added at the end. */
#include "vec/matmul_i8.h"

#include "base/compiler.h"
#include "vec/level.h"
#include "vec/matmul.h"

#include <assert.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { STEP = 4 * LOCI_PANEL }; /* bytes of a panel that belong to four values of a row */

void loci_matmul_i8_pack(const int8_t *q, size_t in, size_t out, int8_t *ret_packed,
                         int32_t *ret_sum)
{
    assert(out % LOCI_PANEL == 0 && in % 4 == 0 && in <= LOCI_I8_DEPTH);
    memset(ret_sum, 0, out * sizeof *ret_sum);
    for (size_t first = 0; first < out; first += LOCI_PANEL)
        for (size_t i = 0; i < in; i += 4)
            for (size_t j = first; j < first + LOCI_PANEL; j++)
                for (size_t four = 0; four < 4; four++) {
                    int8_t value = q[(i + four) * out + j];
                    *ret_packed++ = value;
                    ret_sum[j] += value;
                }
}

/* `rows` rows of one panel. */
typedef struct block {
    const uint8_t *a;
    const int8_t *b;
    const float *a_scale, *b_scale, *bias;
    const int32_t *zero, *b_sum;
    float *c;
    size_t lda, ldc, depth, rows;
    bool add;
} block;

/* The definition. */
static void block_scalar(const block *k)
{
    for (size_t r = 0; r < k->rows; r++) {
        const uint8_t *a = k->a + r * k->lda;
        float *c = k->c + r * k->ldc;

        for (size_t j = 0; j < LOCI_PANEL; j++) {
            int32_t sum = 0;
            for (size_t i = 0; i < k->depth; i++) sum += a[i] * k->b[i / 4 * STEP + j * 4 + i % 4];
            sum -= k->zero[r] * k->b_sum[j];
            float value = (float)sum * (k->a_scale[r] * k->b_scale[j]) + k->bias[j];
            c[j] = k->add ? value + c[j] : value;
        }
    }
}

#if defined(__x86_64__)

#define VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define AVX2 __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline))
#define ROWS12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

static inline int32_t four_bytes(const uint8_t *p)
{
    int32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Scale sixteen sums of row `r` and store them at column `j`. */
VNNI INLINE void store16(const block *k, size_t r, size_t j, __m512i sum)
{
    float *c = k->c + r * k->ldc + j;
    __m512i zero = _mm512_set1_epi32(k->zero[r]);
    __m512 scale = _mm512_mul_ps(_mm512_set1_ps(k->a_scale[r]), _mm512_loadu_ps(k->b_scale + j));

    sum = _mm512_sub_epi32(sum, _mm512_mullo_epi32(zero, _mm512_loadu_si512(k->b_sum + j)));
    __m512 value = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), scale);
    value = _mm512_add_ps(value, _mm512_loadu_ps(k->bias + j));
    if (k->add) value = _mm512_add_ps(value, _mm512_loadu_ps(c));
    _mm512_storeu_ps(c, value);
}

/* The intrinsic would say the same, but gcc 12 then copies every sum to the stack in every step,
 * which costs half the speed. */
#define MULTIPLY_ADD(sum, bytes, weights)                                                          \
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(weights))

#define DECLARE(r) __m512i l##r = _mm512_setzero_si512(), h##r = l##r;
#define MULTIPLY(r)                                                                                \
    if (rows > (r)) {                                                                              \
        __m512i four = _mm512_set1_epi32(four_bytes(a + (r)*lda));                                 \
        MULTIPLY_ADD(l##r, four, low);                                                             \
        MULTIPLY_ADD(h##r, four, high);                                                            \
    }
#define FINISH(r)                                                                                  \
    if (rows > (r)) {                                                                              \
        store16(k, (r), 0, l##r);                                                                  \
        store16(k, (r), 16, h##r);                                                                 \
    }

VNNI INLINE void rows_vnni(const block *k, const int rows)
{
    const uint8_t *a = k->a;
    const int8_t *b = k->b;
    const size_t lda = k->lda;

    ROWS12(DECLARE)
    for (const uint8_t *end = a + k->depth; a < end; a += 4, b += STEP) {
        __m512i low = _mm512_loadu_si512(b), high = _mm512_loadu_si512(b + 64);
        ROWS12(MULTIPLY)
    }
    ROWS12(FINISH)
}
#undef DECLARE
#undef MULTIPLY
#undef FINISH

VNNI static void block_vnni(const block *k)
{
    switch (k->rows) {
    /* clang-format off */
    case 1: rows_vnni(k, 1); break;
    case 2: rows_vnni(k, 2); break;
    case 3: rows_vnni(k, 3); break;
    case 4: rows_vnni(k, 4); break;
    case 5: rows_vnni(k, 5); break;
    case 6: rows_vnni(k, 6); break;
    case 7: rows_vnni(k, 7); break;
    case 8: rows_vnni(k, 8); break;
    case 9: rows_vnni(k, 9); break;
    case 10: rows_vnni(k, 10); break;
    case 11: rows_vnni(k, 11); break;
    default: rows_vnni(k, 12); break;
        /* clang-format on */
    }
}

/* Scale eight sums of row `r` and store them at column `j`. */
AVX2 INLINE void store8(const block *k, size_t r, size_t j, __m256i sum)
{
    float *c = k->c + r * k->ldc + j;
    __m256i zero = _mm256_set1_epi32(k->zero[r]);
    __m256i column = _mm256_loadu_si256((const __m256i *)(const void *)(k->b_sum + j));
    __m256 scale = _mm256_mul_ps(_mm256_set1_ps(k->a_scale[r]), _mm256_loadu_ps(k->b_scale + j));

    sum = _mm256_sub_epi32(sum, _mm256_mullo_epi32(zero, column));
    __m256 value = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale);
    value = _mm256_add_ps(value, _mm256_loadu_ps(k->bias + j));
    if (k->add) value = _mm256_add_ps(value, _mm256_loadu_ps(c));
    _mm256_storeu_ps(c, value);
}

#define ROWS5(X) X(0) X(1) X(2) X(3) X(4)
#define DECLARE(r) __m256i l##r = _mm256_setzero_si256(), h##r = l##r;
#define MULTIPLY(r)                                                                                \
    if (rows > (r)) {                                                                              \
        __m256i four = _mm256_cvtepu8_epi16(_mm_set1_epi32(four_bytes(a + (r)*lda)));              \
        l##r = _mm256_add_epi32(l##r, _mm256_madd_epi16(four, low));                               \
        h##r = _mm256_add_epi32(h##r, _mm256_madd_epi16(four, high));                              \
    }
/* The horizontal addition leaves columns 0 1 4 5 2 3 6 7; the permutation puts them in order. */
#define FINISH(r)                                                                                  \
    if (rows > (r))                                                                                \
        store8(k, (r), j, _mm256_permute4x64_epi64(_mm256_hadd_epi32(l##r, h##r), 0xd8));

/* Columns j .. j + 7. */
AVX2 INLINE void rows_avx2(const block *k, const int rows, size_t j)
{
    const uint8_t *a = k->a;
    const int8_t *b = k->b + j * 4;
    const size_t lda = k->lda;

    ROWS5(DECLARE)
    for (const uint8_t *end = a + k->depth; a < end; a += 4, b += STEP) {
        __m256i low = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)b));
        __m256i high =
            _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(b + 16)));
        ROWS5(MULTIPLY)
    }
    ROWS5(FINISH)
}
#undef DECLARE
#undef MULTIPLY
#undef FINISH

AVX2 static void block_avx2(const block *k)
{
    for (size_t j = 0; j < LOCI_PANEL; j += 8) switch (k->rows) {
        /* clang-format off */
        case 1: rows_avx2(k, 1, j); break;
        case 2: rows_avx2(k, 2, j); break;
        case 3: rows_avx2(k, 3, j); break;
        case 4: rows_avx2(k, 4, j); break;
        default: rows_avx2(k, 5, j); break;
            /* clang-format on */
        }
}
#else
#define block_avx2 block_scalar
#define block_vnni block_scalar
#endif

static const struct kernel {
    void (*run)(const block *);
    size_t rows; /* most rows of a block */
} kernels[LOCI_VEC_LEVELS] = {
    { block_scalar, 12 }, { block_avx2, 5 }, { block_avx2, 5 }, { block_vnni, 12 }
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
        k.a_scale += k.rows;
        k.zero += k.rows;
    }
}

void loci_matmul_i8_run(const loci_matmul_i8 *m)
{
    const struct kernel *kernel = &kernels[loci_vec_level_get()];

    assert(m->columns % LOCI_PANEL == 0 && m->depth % 4 == 0 && m->depth <= LOCI_I8_DEPTH);
    for (size_t first = 0; first < m->columns; first += LOCI_PANEL) {
        run_panel(kernel, m->rows,
                  (block){ .a = m->a,
                           .b = m->b + first * m->depth,
                           .a_scale = m->a_scale,
                           .b_scale = m->b_scale + first,
                           .bias = m->bias + first,
                           .zero = m->zero,
                           .b_sum = m->b_sum + first,
                           .c = m->c + first / LOCI_PANEL * m->next_c,
                           .lda = m->lda,
                           .ldc = m->ldc,
                           .depth = m->depth,
                           .add = m->add });
    }
}
