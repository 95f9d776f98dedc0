/* ops/groups.h -- what the files with operations bring: rows for the table, statements for the
 * store.
 *
 * Here:     one line per file.
 * Not here: the list of all (ops/table.c, ops/app.c).
 * Owns:     nothing; constants.
 * Threads:  constants.
 * Errors:   none.
 */
#ifndef LOCI_OPS_GROUPS_H
#define LOCI_OPS_GROUPS_H

#include "db/db.h"
#include "ops/op.h"

extern const loci_op_group loci_agent_ops; /* agent_ops.c: who remembers, and its branches */
extern const loci_op_group loci_past_ops;  /* past_ops.c: what changed, and back again */
extern const loci_op_group loci_store_ops; /* store_ops.c: export, import, purge, doctor */

/* status_ops.c: what the store holds */
extern const loci_op_group loci_status_ops;
extern const loci_db_room loci_status_room;

#endif
