/* access/role.h -- what a key may do.
 *
 * Here:     the three roles and their names.
 * Not here: which operation needs which (ops/guard.c).
 * Owns:     nothing.
 * Threads:  pure.
 * Errors:   LOCI_EINVAL for a word that is no role.
 */
#ifndef LOCI_ACCESS_ROLE_H
#define LOCI_ACCESS_ROLE_H

#include "base/err.h"
#include "base/str.h"

/* Each may do what the ones before it may. */
typedef enum loci_role { LOCI_ROLE_READ, LOCI_ROLE_WRITE, LOCI_ROLE_ADMIN } loci_role;

/* "read", "write", "admin". */
const char *loci_role_name(loci_role role);

/* The role of that name; the error says which there are. */
LOCI_MUST loci_rc loci_role_parse(loci_str name, loci_role *ret_role, loci_err *err);

#endif
