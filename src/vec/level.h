/* vec/level.h -- which instructions the kernels of this room may use.
 *
 * Here:     finding out once what the processor can do; a switch for tests.
 * Not here: the kernels (vec/dot.h, vec/matmul.h, vec/matmul_i8.h, vec/ops.h).
 * Owns:     one number for the whole process.
 * Threads:  safe from any thread; the switch is for tests with one thread.
 * Errors:   none.
 */
#ifndef LOCI_VEC_LEVEL_H
#define LOCI_VEC_LEVEL_H

#include <stdbool.h>

/* Each level has what the one before it has. */
typedef enum loci_vec_level {
    LOCI_VEC_SCALAR, /* plain C, on every processor */
    LOCI_VEC_AVX2,   /* AVX2 and FMA */
    LOCI_VEC_AVX512, /* AVX-512 F, BW, DQ and VL */
    LOCI_VEC_VNNI,   /* AVX-512 VNNI */
    LOCI_VEC_LEVELS
} loci_vec_level;

/* The level in use: the best one of this processor, found at the first call. */
loci_vec_level loci_vec_level_get(void);

/* For tests: use `level` from now on. False, and nothing changes, when the processor lacks it. */
bool loci_vec_level_force(loci_vec_level level);

/* "scalar", "avx2", "avx512", "vnni". */
const char *loci_vec_level_name(loci_vec_level level);

#endif
