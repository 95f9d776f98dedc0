/* embed/safetensors.h -- the weights inside a safetensors file.
 *
 * Here:     a bounded reader: eight bytes of length, a JSON table, the data.
 * Not here: what the tensors mean (embed/convert.h).
 * Owns:     nothing: tensors point into the bytes given, their table lives in the arena.
 * Threads:  pure.
 * Errors:   LOCI_ECORRUPT, LOCI_ESHAPE a table that is not JSON, LOCI_ELIMIT.
 */
#ifndef LOCI_EMBED_SAFETENSORS_H
#define LOCI_EMBED_SAFETENSORS_H

#include "embed/tensor.h"

enum { LOCI_SAFETENSORS_TABLE = 8 << 20 }; /* largest table, in bytes */

/* Read the tensors of `file`, which may be any bytes at all. */
LOCI_MUST loci_rc loci_safetensors_read(loci_str file, loci_arena *arena, loci_tensor_set *ret_set,
                                        loci_err *err);

#endif
