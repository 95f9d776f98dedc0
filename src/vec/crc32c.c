#include "vec/crc32c.h"

#include "vec/level.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { POLYNOMIAL = (int)0x82f63b78U };

/* Four bits at a time: sixteen entries are quick to make and this is the slow road anyway. */
static uint32_t nibble(uint32_t value)
{
    for (int bit = 0; bit < 4; bit++)
        value = value & 1 ? (value >> 1) ^ (uint32_t)POLYNOMIAL : value >> 1;
    return value;
}

static uint32_t crc_scalar(uint32_t crc, const uint8_t *data, size_t size)
{
    uint32_t table[16];
    for (uint32_t i = 0; i < 16; i++) table[i] = nibble(i);

    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t crc, const uint8_t *data,
                                                            size_t size)
{
    uint64_t wide = crc;
    for (; size >= 8; data += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, data, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    for (; size > 0; data++, size--) crc = _mm_crc32_u8(crc, *data);
    return crc;
}
#endif

uint32_t loci_crc32c(uint32_t before, const void *data, size_t size)
{
    const uint8_t *bytes = data;
#if defined(__x86_64__)
    /* Every processor with AVX2 has SSE 4.2. */
    if (loci_vec_level_get() >= LOCI_VEC_AVX2) return ~crc_sse42(~before, bytes, size);
#endif
    return ~crc_scalar(~before, bytes, size);
}
