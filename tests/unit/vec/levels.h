/* tests/unit/vec/levels.h -- what the tests of kernels share: random numbers and all levels. */
#ifndef LOCI_TEST_LEVELS_H
#define LOCI_TEST_LEVELS_H

#include "test.h"
#include "vec/level.h"

/* For each level of this processor; the best one is in use again afterwards. */
#define FOR_LEVELS(level)                                                                          \
    for (loci_vec_level level = LOCI_VEC_SCALAR; level < LOCI_VEC_LEVELS; level++)                 \
        if (loci_vec_level_force(level))

/* xorshift: small, and the same everywhere. */
static inline uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* -1 .. 1 */
static inline float random_float(uint32_t *state)
{
    return (float)(int32_t)next_random(state) / 2147483648.0F;
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
