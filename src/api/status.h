/* api/status.h -- what an error is called on the wire.
 *
 * Here:     the one table from loci_rc to HTTP status.
 * Not here: writing the reply (api/api.h).
 * Owns:     nothing.
 * Threads:  pure.
 * Errors:   none.
 */
#ifndef LOCI_API_STATUS_H
#define LOCI_API_STATUS_H

#include "base/err.h"

/* 200 for LOCI_OK, 500 for a number that is no code. */
int loci_status_http(loci_rc code);

#endif
