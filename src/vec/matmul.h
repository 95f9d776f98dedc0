/* vec/matmul.h -- single-precision matrix products on packed weights.
 *
 * Here:     packing a weight matrix into panels, and products with it.
 * Not here: products of 8-bit integers (vec/matmul_i8.h), the search score (vec/dot.h).
 * Owns:     nothing; all memory is the caller's.
 * Threads:  pure.
 * Errors:   none; wrong sizes are bugs of ours and assert.
 *
 * A panel is 32 neighbouring columns: for each row of the weight matrix its 32 values, one row
 * after the other. All kernels read the same panels, so a file can hold them ready for use.
 *
 * These kernels fuse multiplication and addition where the processor can: twice the speed. The
 * rule that every processor gives equal bits holds for scores of given vectors; the making of a
 * vector may differ in the last bits from processor to processor.
 */
#ifndef LOCI_VEC_MATMUL_H
#define LOCI_VEC_MATMUL_H

#include <stdbool.h>
#include <stddef.h>

enum { LOCI_PANEL = 32 }; /* columns of a panel; the number of columns must be a multiple of it */

/* Write `w` (in x out, row by row) as out / 32 panels of in x 32 to `ret_packed`, which has room
 * for in * out values. */
void loci_matmul_pack(const float *w, size_t in, size_t out, float *ret_packed);

/* c = a b + bias, or c = c + a b + bias. */
typedef struct loci_matmul {
    const float *a; /* rows x depth */
    size_t lda;     /* from one row of a to the next */
    size_t rows;
    size_t depth;      /* columns of a, rows of b */
    const float *b;    /* the first panel */
    size_t ldb;        /* from one row of a panel to the next; 32 for packed weights */
    size_t next_panel; /* from one panel to the next; unused when there is one */
    size_t columns;    /* of b and c: a multiple of 32 */
    const float *bias; /* one per column, or NULL for none */
    float *c;          /* rows x columns; must not overlap a or b */
    size_t ldc;        /* from one row of c to the next */
    size_t next_c;     /* from one panel of c to the next; 32 when c is an ordinary matrix */
    bool add;          /* add to what c holds */
} loci_matmul;

void loci_matmul_run(const loci_matmul *m);

#endif
