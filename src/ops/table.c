/* The one list of all operations. REST routes, MCP tools, CLI verbs, openapi.json and
 * docs/operations.md are made from it; nothing else lists them. */
#include "ops/app.h"
#include "ops/groups.h"

loci_rc loci_table_new(loci_ops **ret_ops, loci_err *err)
{
    const loci_op_group groups[] = {
        loci_agent_ops,
        loci_past_ops,
        loci_status_ops,
        loci_store_ops,
    };
    return loci_ops_new(groups, LOCI_COUNT(groups), ret_ops, err);
}
