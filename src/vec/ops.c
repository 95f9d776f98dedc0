#include "vec/ops.h"

#include "vec/level.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* A vector wider than the level's registers has no fixed calling convention; all functions that
 * take one are inlined, so none is needed. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef float lanes __attribute__((vector_size(64)));
typedef float lanes_anywhere __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t lanes_int __attribute__((vector_size(64)));
typedef uint32_t lanes_bits __attribute__((vector_size(64)));
typedef uint8_t lanes_byte __attribute__((vector_size(16)));
typedef int8_t lanes_signed __attribute__((vector_size(16)));

struct ops {
    void (*layer_norm)(float *, const float *, const float *, size_t, float);
    float (*softmax_raw)(float *, size_t, float);
    void (*gelu)(float *, size_t);
    void (*scale)(float *, size_t, float);
    void (*add)(float *, const float *, size_t);
    void (*quantise_row)(const float *, size_t, uint8_t *, float *, int32_t *);
    void (*dequantise_row)(const int8_t *, size_t, const float *, float *);
};

/* `a` where `pick` is all ones, `b` where it is 0. The compiler makes one instruction of a choice
 * and its comparison only for some levels. */
#define CHOOSE(pick, a, b) ((lanes)(((lanes_int)(a) & (pick)) | ((lanes_int)(b) & ~(pick))))

#define LEVEL(name) name##_scalar
#define TARGET
#define MAX(a, b) CHOOSE((a) > (b), a, b)
#define MIN(a, b) CHOOSE((a) < (b), a, b)
#include "vec/ops_lanes.h"

#if defined(__x86_64__)
#define LEVEL(name) name##_avx2
#define TARGET __attribute__((target("avx2")))
#define MAX(a, b) CHOOSE((a) > (b), a, b)
#define MIN(a, b) CHOOSE((a) < (b), a, b)
#include "vec/ops_lanes.h"

#define LEVEL(name) name##_avx512
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define MAX(a, b) ((lanes)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define MIN(a, b) ((lanes)_mm512_min_ps((__m512)(a), (__m512)(b)))
#include "vec/ops_lanes.h"
#else
#define ops_avx2 ops_scalar
#define ops_avx512 ops_scalar
#endif

static const struct ops *get(size_t n)
{
    static const struct ops *const levels[LOCI_VEC_LEVELS] = { &ops_scalar, &ops_avx2, &ops_avx512,
                                                               &ops_avx512 };
    assert(n % LOCI_LANES == 0);
    return levels[loci_vec_level_get()];
}

void loci_layer_norm(float *x, const float *weight, const float *bias, size_t n, float eps)
{
    get(n)->layer_norm(x, weight, bias, n, eps);
}

float loci_softmax_raw(float *x, size_t n, float factor)
{
    return get(n)->softmax_raw(x, n, factor);
}

void loci_gelu(float *x, size_t n)
{
    get(n)->gelu(x, n);
}

void loci_scale(float *x, size_t n, float factor)
{
    get(n)->scale(x, n, factor);
}

void loci_add(float *sum, const float *x, size_t n)
{
    get(n)->add(sum, x, n);
}

void loci_quantise_row(const float *x, size_t n, uint8_t *ret_u, float *ret_scale,
                       int32_t *ret_zero)
{
    get(n)->quantise_row(x, n, ret_u, ret_scale, ret_zero);
}

void loci_dequantise_row(const int8_t *q, size_t n, const float *scale, float *ret)
{
    assert(n % LOCI_GROUP == 0);
    get(n)->dequantise_row(q, n, scale, ret);
}
