/* vec/ops.h -- what a transformer does between its matrix products.
 *
 * Here:     layer norm, softmax, GELU, quantising a row, scaling. Each works on one row.
 * Not here: matrix products (vec/matmul.h, vec/matmul_i8.h).
 * Owns:     nothing; all memory is the caller's.
 * Threads:  pure.
 * Errors:   none. Lengths are multiples of 16, else it is a bug of ours and asserts.
 *
 * One text of each function is compiled for every level; nothing is fused and sums have a fixed
 * order, so all levels give the same bits.
 */
#ifndef LOCI_VEC_OPS_H
#define LOCI_VEC_OPS_H

#include <stddef.h>
#include <stdint.h>

enum {
    LOCI_LANES = 16, /* every n below is a multiple of it */
    LOCI_GROUP = 32, /* values of a quantised table that share a scale */
};

/* x = (x - mean) / sqrt(variance + eps) * weight + bias */
void loci_layer_norm(float *x, const float *weight, const float *bias, size_t n, float eps);

/* x[i] = exp((x[i] - max) * factor), for factor > 0; returns their sum. The caller divides what
 * he makes of them, which is cheaper than dividing here. Relative error below 3e-7; values that
 * are so far below the maximum that the result is under 1e-37 become 0. */
float loci_softmax_raw(float *x, size_t n, float factor);

/* x = x / 2 * (1 + erf(x / sqrt 2)), exact to about 2e-7 * |x|. */
void loci_gelu(float *x, size_t n);

/* x = x * factor */
void loci_scale(float *x, size_t n, float factor);

/* sum = sum + x */
void loci_add(float *sum, const float *x, size_t n);

/* Write u[i] = round(x[i] / scale) + zero with the scale and zero that let the smallest and the
 * largest x (and 0) fit 0..255. Values that are not finite give some u, never a fault. */
void loci_quantise_row(const float *x, size_t n, uint8_t *ret_u, float *ret_scale,
                       int32_t *ret_zero);

/* ret[i] = q[i] * scale[i / 32]; n is a multiple of 32. */
void loci_dequantise_row(const int8_t *q, size_t n, const float *scale, float *ret);

#endif
