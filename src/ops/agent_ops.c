/* Who remembers, and which branches there are. */
#include "ops/app.h"
#include "ops/groups.h"
#include "ops/show.h"
#include "tree/agent.h"
#include "tree/branch.h"

static void write_agent(const loci_agent *agent, loci_arena *arena, loci_json_writer *out)
{
    loci_json_object(out);
    loci_json_member_str(out, "id", agent->id);
    loci_json_member_str(out, "name", agent->name);
    loci_json_member_str(out, "agent_type", agent->type);
    loci_show_text(out, "description", agent->description);
    loci_show_json(out, "tags", agent->tags, arena);
    loci_show_json(out, "metadata", agent->metadata, arena);
    loci_show_time(out, "created_at", agent->created_at);
    loci_show_time(out, "updated_at", agent->born);
    loci_json_object_end(out);
}

/* The agent that a page begins behind. */
static loci_rc find_behind(loci_call *call, loci_tx *tx, loci_agent_page *page, loci_err *err)
{
    loci_str after = loci_in_text(call->in, "after");
    loci_agent *behind = loci_arena_alloc(call->arena, sizeof *behind);

    if (after.len == 0) return LOCI_OK;
    if (!behind) return loci_arena_fail(call->arena, err);
    loci_rc rc = loci_agent_find(tx, call->who->org, after, call->arena, behind, err);
    if (rc) loci_err_prefix(err, "after");
    if (!rc) page->behind = behind;
    return rc;
}

static loci_rc run_list_agents(loci_call *call, loci_json_writer *out, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_agent_page page = { .limit = (size_t)loci_in_int(call->in, "limit"),
                             .oldest_first = loci_in_bool(call->in, "oldest_first") };
    loci_agents agents;

    if (loci_in_has(call->in, "name")) page.name = loci_in_text(call->in, "name");
    loci_rc rc = loci_app_read(call, &tx, err);
    if (!rc) rc = find_behind(call, tx, &page, err);
    if (!rc) rc = loci_agent_list(tx, call->who->org, &page, call->arena, &agents, err);
    if (rc) return rc;
    loci_json_object(out);
    loci_json_name(out, LOCI_STR("results"));
    loci_json_array(out);
    for (size_t i = 0; i < agents.count; i++) write_agent(&agents.items[i], call->arena, out);
    loci_json_array_end(out);
    loci_json_object_end(out);
    return LOCI_OK;
}

/* The branch to list from; LOCI_ENOTFOUND when the agent or the node is not there. */
static loci_rc find_parent(loci_call *call, loci_tx *tx, int64_t *ret_agent, int64_t *ret_branch,
                           loci_err *err)
{
    int64_t org = call->who->org;
    loci_branch branch = { .obj = LOCI_TRUNK };
    loci_agent agent;

    loci_rc rc = loci_agent_find(tx, org, call->agent, call->arena, &agent, err);
    if (!rc && call->node.len)
        rc =
            loci_branch_find(tx, org, agent.obj, call->node, LOCI_NEVER, call->arena, &branch, err);
    if (rc) return rc;
    *ret_agent = agent.obj;
    *ret_branch = branch.obj;
    return LOCI_OK;
}

/* The branch that a page begins behind; it must hang where the list does. */
static loci_rc find_after(loci_call *call, loci_tx *tx, int64_t agent, int64_t parent,
                          int64_t *ret_obj, loci_err *err)
{
    loci_str after = loci_in_text(call->in, "after");
    loci_branch branch;

    if (after.len == 0) return LOCI_OK;
    loci_rc rc =
        loci_branch_find(tx, call->who->org, agent, after, LOCI_NEVER, call->arena, &branch, err);
    if (!rc && branch.parent != parent)
        rc = loci_fail(err, LOCI_EINVAL, "node '%.*s' is not in this list", LOCI_ARG(after));
    if (rc) loci_err_prefix(err, "after");
    if (!rc) *ret_obj = branch.obj;
    return rc;
}

static void write_branch(const loci_branch *branch, const loci_call *call, loci_json_writer *out)
{
    loci_json_object(out);
    loci_json_member_str(out, "id", branch->id);
    loci_json_member_str(out, "node", branch->node);
    loci_show_text(out, "parent", call->node.len ? call->node : (loci_str){ NULL, 0 });
    loci_show_text(out, "title", branch->title);
    loci_show_json(out, "metadata", branch->metadata, call->arena);
    loci_show_time(out, "created_at", branch->created_at);
    loci_json_object_end(out);
}

static loci_rc run_list_branches(loci_call *call, loci_json_writer *out, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_branches branches = { 0 };
    int64_t agent, parent, behind = 0;

    loci_rc rc = loci_app_read(call, &tx, err);
    if (rc) return rc;
    rc = find_parent(call, tx, &agent, &parent, err);
    if (!rc) rc = find_after(call, tx, agent, parent, &behind, err);
    if (!rc)
        rc = loci_branch_children(tx, call->who->org, agent, parent, behind,
                                  (size_t)loci_in_int(call->in, "limit"), call->arena, &branches,
                                  err);
    /* Who is not there yet reads as empty. */
    if (rc && !(rc == LOCI_ENOTFOUND && !loci_in_has(call->in, "after"))) return rc;
    loci_json_object(out);
    loci_json_name(out, LOCI_STR("results"));
    loci_json_array(out);
    for (size_t i = 0; i < branches.count; i++) write_branch(&branches.items[i], call, out);
    loci_json_array_end(out);
    loci_json_object_end(out);
    return LOCI_OK;
}

#define LIMIT                                                                                      \
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,\"default\":50,"               \
    "\"description\":\"Most results\"}"
#define ANYTHING "{}"

static const char agents_input[] =
    "{\"type\":\"object\",\"properties\":{" LIMIT ","
    "\"name\":{\"type\":\"string\",\"maxLength\":1024,\"description\":\"Only those called so\"},"
    "\"oldest_first\":{\"type\":\"boolean\",\"default\":false},"
    "\"after\":{\"type\":\"string\",\"maxLength\":1024,\"description\":\"Id of the last agent of "
    "the "
    "page before\"}}}";

static const char agents_output[] =
    "{\"type\":\"object\",\"required\":[\"results\"],\"properties\":{\"results\":{\"type\":"
    "\"array\","
    "\"items\":{\"type\":\"object\",\"required\":[\"id\",\"name\",\"created_at\"],\"properties\":{"
    "\"id\":{\"type\":\"string\"},\"name\":{\"type\":\"string\"},\"agent_type\":{\"type\":"
    "\"string\"},\"description\":" LOCI_SHOW_TEXT ",\"tags\":" ANYTHING ",\"metadata\":" ANYTHING
    ","
    "\"created_at\":" LOCI_SHOW_TIME ",\"updated_at\":" LOCI_SHOW_TIME "}}}}}";

static const char branches_input[] =
    "{\"type\":\"object\",\"properties\":{" LIMIT ","
    "\"after\":{\"type\":\"string\",\"maxLength\":512,\"description\":\"Node of the last branch of "
    "the page before\"}}}";

static const char branches_output[] =
    "{\"type\":\"object\",\"required\":[\"results\"],\"properties\":{\"results\":{\"type\":"
    "\"array\","
    "\"items\":{\"type\":\"object\",\"required\":[\"id\",\"node\",\"parent\",\"created_at\"],"
    "\"properties\":{\"id\":{\"type\":\"string\"},\"node\":{\"type\":\"string\"},"
    "\"parent\":{\"type\":[\"string\",\"null\"],\"description\":\"null: the trunk\"},"
    "\"title\":" LOCI_SHOW_TEXT ",\"metadata\":" ANYTHING ",\"created_at\":" LOCI_SHOW_TIME "}}}}}";

static const loci_op rows[] = {
    { .name = "list_agents",
      .help = "List the agents of this organization, newest first",
      .description = "Ended agents are not in it.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_READS,
      .input = agents_input,
      .output = agents_output,
      .run = run_list_agents,
      .examples = { { "The newest agents", "{\"limit\": 10}", NULL },
                    { "All that are called so", "{\"name\": \"alice\"}", NULL } } },
    { .name = "list_branches",
      .help = "List the branches that hang directly below a node of an agent, oldest first",
      .description = "Without a node: those below the trunk. Ask again for each to walk the tree. "
                     "An agent or node that does not exist has none.",
      .toolsets = LOCI_TOOLSET_ADMIN,
      .flags = LOCI_OP_READS | LOCI_OP_AGENT | LOCI_OP_NODE,
      .input = branches_input,
      .output = branches_output,
      .run = run_list_branches,
      .examples = { { "Branches below the trunk", "{\"agent\": \"alice\"}", NULL } } },
};

const loci_op_group loci_agent_ops = { rows, LOCI_COUNT(rows) };
