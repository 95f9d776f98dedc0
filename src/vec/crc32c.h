/* vec/crc32c.h -- the checksum of blocks in our files.
 *
 * Here:     CRC-32C (Castagnoli), by the processor's own instruction where there is one.
 * Not here: hashes against people who mean harm (SHA-256 is in libcrypto).
 * Owns:     nothing.
 * Threads:  pure.
 * Errors:   none.
 */
#ifndef LOCI_VEC_CRC32C_H
#define LOCI_VEC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC-32C of `size` bytes; "123456789" gives e3069283. To go on from earlier bytes, give their
 * result as `before`; else 0. The same on every processor. About 8 bytes per 3 cycles. */
uint32_t loci_crc32c(uint32_t before, const void *data, size_t size);

#endif
