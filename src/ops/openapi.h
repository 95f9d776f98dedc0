/* ops/openapi.h -- the OpenAPI 3.1 document of the operations.
 *
 * Here:     one path per operation, its headers, answers and errors.
 * Not here: the routes themselves (api/ops).
 * Owns:     nothing.
 * Threads:  pure.
 * Errors:   those of the buffer.
 */
#ifndef LOCI_OPS_OPENAPI_H
#define LOCI_OPS_OPENAPI_H

#include "ops/op.h"

/* Append the whole document. Hidden operations are not in it. */
LOCI_MUST loci_rc loci_openapi_write(const loci_ops *ops, loci_buf *out, loci_err *err);

#endif
