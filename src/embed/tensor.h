/* embed/tensor.h -- the named arrays of a model as others ship it.
 *
 * Here:     one table of tensors for all formats, and their values as floats.
 * Not here: the formats (embed/onnx.h, embed/safetensors.h), our own file (embed/model_file.h).
 * Owns:     nothing: the table lives in the reader's arena, the data in the bytes that were read.
 * Threads:  read-only after reading.
 * Errors:   LOCI_ENOTFOUND, LOCI_ECORRUPT, LOCI_ELIMIT; messages name the tensor.
 */
#ifndef LOCI_EMBED_TENSOR_H
#define LOCI_EMBED_TENSOR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
    LOCI_TENSORS = 4096,          /* most tensors of a model */
    LOCI_TENSOR_VALUES = 1 << 28, /* most values of one */
    LOCI_TENSOR_DIMS = 2,         /* dimensions that we need to know */
};

typedef enum loci_tensor_type {
    LOCI_TENSOR_OTHER, /* a type that we do not read */
    LOCI_TENSOR_F32,
    LOCI_TENSOR_F16,
    LOCI_TENSOR_I8,
    LOCI_TENSOR_U8,
} loci_tensor_type;

typedef struct loci_tensor {
    loci_str name;
    loci_tensor_type type;
    bool flipped; /* a weight matrix in x out (ONNX), not out x in (PyTorch) */
    size_t rank;  /* may be more than LOCI_TENSOR_DIMS; then dims has the first ones */
    uint64_t dims[LOCI_TENSOR_DIMS];
    size_t count;  /* values: the product of all dimensions */
    loci_str data; /* little-endian; as long as count and type say */
    /* An 8-bit tensor may stand for (value - zero) * scale: one scale, or one per column. */
    const float *scale;
    size_t scales; /* 0: no scale */
    int zero;
} loci_tensor;

typedef struct loci_tensor_set {
    loci_tensor *items;
    size_t count;
} loci_tensor_set;

/* Bytes of one value; 0 for LOCI_TENSOR_OTHER. */
size_t loci_tensor_width(loci_tensor_type type);

/* The tensor called `name`, or NULL. */
const loci_tensor *loci_tensor_find(const loci_tensor_set *set, loci_str name);

/* The tensor called `name`, which must have `rows` x `columns` values (or rows values when columns
 * is 0) of a type that we read. */
LOCI_MUST loci_rc loci_tensor_get(const loci_tensor_set *set, const char *name, size_t rows,
                                  size_t columns, const loci_tensor **ret, loci_err *err);

/* All values, with scale and zero applied, in the tensor's own order. */
void loci_tensor_floats(const loci_tensor *t, float *ret);

#endif
