/* vec/matmul_i8.h -- matrix products of 8-bit integers, with scales.
 *
 * Here:     packing 8-bit weights, and products of quantised rows with them.
 * Not here: quantising a row (vec/ops.h), quantising weights (embed/convert.h).
 * Owns:     nothing; all memory is the caller's.
 * Threads:  pure.
 * Errors:   none; wrong sizes are bugs of ours and assert.
 *
 * A weight is w = scale[column] * q, q in -127..127. A value of a row is a = scale * (u - zero), u
 * in 0..255. The product is summed exactly in 32-bit integers, so every kernel gives the same
 * integers, and the same bits after scaling, since nothing there is fused.
 *
 * A panel is 32 neighbouring columns: for each four rows of the weight matrix, for each column, its
 * four values. That is the order in which VNNI multiplies; all kernels read it.
 */
#ifndef LOCI_VEC_MATMUL_I8_H
#define LOCI_VEC_MATMUL_I8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most rows of a weight matrix: 65536 * 255 * 127 is still below 2^31. */
enum { LOCI_I8_DEPTH = 65536 };

/* Write `q` (in x out, row by row; in a multiple of 4, out of 32) as panels to `ret_packed`, and
 * the sum of each column to `ret_sum`. */
void loci_matmul_i8_pack(const int8_t *q, size_t in, size_t out, int8_t *ret_packed,
                         int32_t *ret_sum);

typedef struct loci_matmul_i8 {
    const uint8_t *a; /* rows x depth */
    size_t lda;       /* from one row of a to the next, a multiple of 4 */
    size_t rows;
    size_t depth;         /* a multiple of 4, at most LOCI_I8_DEPTH */
    const float *a_scale; /* one per row */
    const int32_t *zero;  /* one per row, 0..255 */
    const int8_t *b;      /* packed */
    const int32_t *b_sum; /* one per column, from packing */
    const float *b_scale; /* one per column */
    const float *bias;    /* one per column */
    size_t columns;       /* a multiple of 32 */
    float *c;             /* rows x columns */
    size_t ldc;           /* from one row of c to the next */
    size_t next_c;        /* from one panel of c to the next; 32 when c is an ordinary matrix */
    bool add;             /* add to what c holds */
} loci_matmul_i8;

/* c = (sum of (u - zero) * q) * (a_scale * b_scale) + bias, + c when `add`. */
void loci_matmul_i8_run(const loci_matmul_i8 *m);

#endif
