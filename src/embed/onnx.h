/* embed/onnx.h -- the weights inside an ONNX file.
 *
 * Here:     a bounded reader of the protobuf fields that hold weights and say what they are for.
 * Not here: running the graph (embed/forward.h does what the graph of a BERT model does).
 * Owns:     nothing: tensors point into the bytes given, their table lives in the arena.
 * Threads:  pure.
 * Errors:   LOCI_ECORRUPT not an ONNX file or cut short, LOCI_ELIMIT too much of something.
 */
#ifndef LOCI_EMBED_ONNX_H
#define LOCI_EMBED_ONNX_H

#include "embed/tensor.h"

enum { LOCI_ONNX_NODES = 8192 };

/* Read the tensors of `file`, which may be any bytes at all.
 *
 * Weight matrices have made-up names in such files. A matrix product whose result gets a bias
 * added belongs to that bias, so the matrix is called after it: "….query.bias" gives
 * "….query.weight". Tensors X_quantized with X_scale and X_zero_point become X with a scale. */
LOCI_MUST loci_rc loci_onnx_read(loci_str file, loci_arena *arena, loci_tensor_set *ret_set,
                                 loci_err *err);

#endif
