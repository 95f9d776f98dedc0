/* ops/reference.h -- the table as lists and pages: for models, for programs, for people.
 *
 * Here:     MCP tool entries, the entries of the operations list, docs/operations.md.
 * Not here: the OpenAPI document (ops/openapi.h); who is shown which operations.
 * Owns:     nothing: output goes to the caller's writer or buffer.
 * Threads:  pure functions.
 * Errors:   none of their own: writers and buffers are sticky and tell at the end.
 */
#ifndef LOCI_OPS_REFERENCE_H
#define LOCI_OPS_REFERENCE_H

#include "ops/op.h"

/* One entry of MCP's tools/list: name, title, description, inputSchema, outputSchema, annotations.
 */
void loci_reference_tool(const loci_op_info *op, loci_json_writer *w);

/* One entry of the operations list: name, help, description, toolset, flags, input, output,
 * examples. */
void loci_reference_op(const loci_op_info *op, loci_json_writer *w);

/* The whole page docs/operations.md, grouped by toolset. */
void loci_reference_page(const loci_ops *ops, loci_buf *out);

#endif
