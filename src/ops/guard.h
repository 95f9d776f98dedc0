/* ops/guard.h -- who may call what, and on whose memory. For ops/call.c only.
 *
 * Here:     roles, agent-bound keys, fences, paths of the host, request ids.
 * Not here: who somebody is (keys and passwords are the doors').
 * Owns:     nothing.
 * Threads:  each call on its own.
 * Errors:   LOCI_EDENIED with the reason, LOCI_ECONFLICT, LOCI_ESHAPE.
 */
#ifndef LOCI_OPS_GUARD_H
#define LOCI_OPS_GUARD_H

#include "ops/call.h"

/* Whether the caller may call call->op at all; looks at no input. */
LOCI_MUST loci_rc loci_guard_op(const loci_call *call, loci_err *err);

/* Settle agent, node and write_key from the checked input and the caller's defaults, and refuse
 * what is not the caller's. */
LOCI_MUST loci_rc loci_guard_input(loci_call *call, loci_err *err);

/* Fill call->input_hash. Equal inputs give equal hashes, however they were written; request_id is
 * not part of it. */
LOCI_MUST loci_rc loci_guard_hash(loci_call *call, loci_err *err);

#endif
