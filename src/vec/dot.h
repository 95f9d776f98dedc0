/* vec/dot.h -- the dot product that search scores are made of.
 *
 * Here:     one function with the same bits on every processor.
 * Not here: the matrix products that make vectors (vec/matmul.h), which may differ in the last bit.
 * Owns:     nothing.
 * Threads:  pure.
 * Errors:   none.
 */
#ifndef LOCI_VEC_DOT_H
#define LOCI_VEC_DOT_H

#include <stddef.h>

/* The sum of a[i] * b[i] for i < n, in single precision, for any n and any alignment.
 *
 * Product i is added to sum i % 16, and the sixteen sums are added in halves: 0..7 with 8..15, then
 * 0..3 with 4..7, and so on. Nothing is fused. That order is the definition; an answer to a search
 * therefore depends on the vectors alone and not on the machine. */
float loci_dot(const float *a, const float *b, size_t n);

#endif
