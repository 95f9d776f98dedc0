/* embed/convert.h -- making our model file out of one that others ship.
 *
 * Here:     the models that we know, by the hash of their file; conversion and quantising.
 * Not here: reading their formats (embed/onnx.h, embed/safetensors.h), getting them (tools/).
 * Owns:     nothing that outlives a call.
 * Threads:  pure, but for the files.
 * Errors:   LOCI_ENOTFOUND a file that is not there or not known, LOCI_ECORRUPT, LOCI_EIO,
 *           LOCI_ELIMIT, LOCI_ENOMEM; messages name the file.
 */
#ifndef LOCI_EMBED_CONVERT_H
#define LOCI_EMBED_CONVERT_H

#include "base/err.h"
#include "embed/model_file.h"
#include "embed/tensor.h"

typedef struct loci_convert_job {
    const char *source; /* the file with weights: one of the known ones, found by its SHA-256 */
    const char *vocab;  /* its words: vocab.txt, or tokenizer.json */
    const char *result; /* the file to write; replaced whole or not at all */
    loci_weights weights;
} loci_convert_job;

/* Convert. Takes as much memory as the source file, and half a second. On success *ret_info, if
 * given, says what was written. */
LOCI_MUST loci_rc loci_convert_file(const loci_convert_job *job, loci_model_info *ret_info,
                                    loci_err *err);

/* The part of it that comes after reading: write `set` as the model that `info` describes. `lines`
 * are its words, one per line, as many as info->vocab.
 *
 * With LOCI_WEIGHTS_I8 a matrix is quantised per output column and the word table per 32 values of
 * a row, each to -127..127; a tensor that is of 8 bits already keeps its values and scales. */
LOCI_MUST loci_rc loci_convert_write(const loci_tensor_set *set, const loci_model_info *info,
                                     loci_str lines, const char *path, loci_err *err);

/* Fill *ret_info for the file with that SHA-256 (64 hexadecimal digits); false when not known.
 * `weights` is left 0. */
bool loci_convert_known(loci_str sha256, loci_model_info *ret_info);

#endif
