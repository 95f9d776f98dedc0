#include "vec/dot.h"

#include "vec/level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Halve the sixteen sums until one is left: always the same order. */
static float sum16(float s[16])
{
    for (size_t width = 8; width > 0; width /= 2)
        for (size_t i = 0; i < width; i++) s[i] += s[i + width];
    return s[0];
}

/* The definition. Every other kernel gives these bits. */
static float dot_scalar(const float *a, const float *b, size_t n)
{
    float s[16] = { 0 };

    for (size_t i = 0; i < n; i++) s[i % 16] += a[i] * b[i];
    return sum16(s);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static float dot_avx2(const float *a, const float *b, size_t n)
{
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    float s[16];
    size_t i = 0;

    for (; i + 16 <= n; i += 16) {
        __m256 p = _mm256_mul_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i));
        __m256 q = _mm256_mul_ps(_mm256_loadu_ps(a + i + 8), _mm256_loadu_ps(b + i + 8));
        low = _mm256_add_ps(low, p);
        high = _mm256_add_ps(high, q);
    }
    _mm256_storeu_ps(s, low);
    _mm256_storeu_ps(s + 8, high);
    for (; i < n; i++) s[i % 16] += a[i] * b[i];
    return sum16(s);
}

/* One chain of additions, because there are sixteen sums and no more: the width of one register.
 * A caller that wants to hide their latency asks for several products at once. */
__attribute__((target("avx512f"))) static float dot_avx512(const float *a, const float *b, size_t n)
{
    __m512 sum = _mm512_setzero_ps();
    float s[16];
    size_t i = 0;

    for (; i + 16 <= n; i += 16)
        sum = _mm512_add_ps(sum, _mm512_mul_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i)));
    _mm512_storeu_ps(s, sum);
    for (; i < n; i++) s[i % 16] += a[i] * b[i];
    return sum16(s);
}
#else
#define dot_avx2 dot_scalar
#define dot_avx512 dot_scalar
#endif

float loci_dot(const float *a, const float *b, size_t n)
{
    static float (*const kernels[LOCI_VEC_LEVELS])(
        const float *, const float *, size_t) = { dot_scalar, dot_avx2, dot_avx512, dot_avx512 };
    return kernels[loci_vec_level_get()](a, b, n);
}
