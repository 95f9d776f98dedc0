#include "tree/guard.h"

#include "base/utf8.h"

enum { NAMES_BYTES = 8192, SHOWN = 60 };

/* How a branch is called in a message: its node id, or what else is known. */
typedef struct shown {
    char text[SHOWN + 40];
} shown;

static shown show(loci_view *view, int64_t agent, int64_t branch)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(NAMES_BYTES);
    shown s;
    loci_str node = { NULL, 0 };

    if (branch == LOCI_TRUNK)
        (void)snprintf(s.text, sizeof s.text, "the trunk");
    else if (arena && loci_view_node(view, agent, branch, arena, &node, NULL) == LOCI_OK)
        (void)snprintf(s.text, sizeof s.text, "node '%.*s'", LOCI_ARG(loci_utf8_cut(node, SHOWN)));
    else
        (void)snprintf(s.text, sizeof s.text, "branch %lld", (long long)branch);
    return s;
}

loci_rc loci_scope_of(loci_view *view, int64_t org, int64_t agent, int64_t branch,
                      loci_arena *arena, loci_scope *ret_scope, loci_err *err)
{
    loci_scope s = { .org = org, .agent = agent, .branch = branch, .as_of = LOCI_NEVER };
    loci_rc rc = loci_view_chain(view, agent, branch, arena, &s.chain, err);

    if (!rc) rc = loci_view_node(view, agent, branch, arena, &s.node, err);
    if (!rc) *ret_scope = s;
    return rc;
}

static loci_rc open_now(loci_forest *forest, int64_t org, int64_t agent, loci_str node,
                        loci_arena *arena, loci_scope *ret_scope, loci_err *err)
{
    LOCI_AUTO(loci_view_endp) loci_view *view = NULL;
    int64_t branch = LOCI_TRUNK;
    loci_rc rc = loci_forest_view(forest, org, LOCI_FRESH, &view, err);

    if (!rc) rc = loci_view_find(view, agent, node, &branch, err);
    return rc ? rc : loci_scope_of(view, org, agent, branch, arena, ret_scope, err);
}

loci_rc loci_scope_open(loci_forest *forest, loci_tx *tx, int64_t org, int64_t agent, loci_str node,
                        int64_t as_of, loci_arena *arena, loci_scope *ret_scope, loci_err *err)
{
    loci_scope s = { .org = org, .agent = agent, .as_of = as_of };
    loci_branch b = { .obj = LOCI_TRUNK };
    loci_rc rc = LOCI_OK;

    if (as_of == LOCI_NEVER) return open_now(forest, org, agent, node, arena, ret_scope, err);
    if (node.len) rc = loci_branch_find(tx, org, agent, node, as_of, arena, &b, err);
    if (!rc) rc = loci_branch_chain_at(tx, org, agent, b.obj, as_of, arena, &s.chain, err);
    if (rc) return rc;
    s.branch = b.obj;
    s.node = b.node;
    *ret_scope = s;
    return LOCI_OK;
}

bool loci_scope_sees(const loci_scope *scope, int64_t branch)
{
    for (size_t i = 0; i < scope->chain.count; i++)
        if (scope->chain.branches[i] == branch) return true;
    return false;
}

loci_rc loci_guard_write(loci_view *view, const loci_scope *scope, int64_t branch, loci_err *err)
{
    if (scope->as_of != LOCI_NEVER)
        return loci_fail(err, LOCI_EDENIED, "the past cannot be written: leave out as_of");
    if (branch == scope->branch) return LOCI_OK;
    shown mine = show(view, scope->agent, scope->branch), other = show(view, scope->agent, branch);
    return loci_fail(
        err, LOCI_EDENIED,
        "a write in %s may not touch what belongs to %s: name that node to write there", mine.text,
        other.text);
}

static loci_rc deny(loci_view *view, const loci_fence *fence, int64_t agent, int64_t branch,
                    const char *what, loci_err *err)
{
    shown mine = show(view, fence->agent, fence->branch), other = show(view, agent, branch);

    return loci_fail(err, LOCI_EDENIED, "this caller is bound to %s and may not %s %s%s", mine.text,
                     what, other.text, agent == fence->agent ? "" : " of another agent");
}

loci_rc loci_guard_use(loci_view *view, const loci_fence *fence, const loci_scope *scope,
                       loci_err *err)
{
    if (!fence->on || (fence->agent == scope->agent && fence->branch == scope->branch))
        return LOCI_OK;
    return deny(view, fence, scope->agent, scope->branch, "use", err);
}

static loci_rc check_depth(loci_view *view, int64_t agent, int64_t parent, loci_err *err)
{
    size_t depth = 0;
    loci_rc rc = loci_view_depth(view, agent, parent, &depth, err);

    if (rc) return rc;
    if (depth + 2 <= LOCI_CHAIN_MAX) return LOCI_OK;
    return loci_fail(err, LOCI_ELIMIT, "%s has %zu ancestors: a chain has at most %d branches",
                     show(view, agent, parent).text, depth, LOCI_CHAIN_MAX);
}

loci_rc loci_guard_fork(loci_view *view, const loci_fence *fence, int64_t agent, int64_t parent,
                        loci_err *err)
{
    bool inside = !fence->on;
    loci_rc rc = check_depth(view, agent, parent, err);

    if (rc || inside) return rc;
    if (fence->agent == agent && fence->branch == parent) return LOCI_OK;
    if (fence->agent == agent)
        rc = loci_view_is_ancestor(view, agent, fence->branch, parent, &inside, err);
    if (rc || inside) return rc;
    return deny(view, fence, agent, parent, "fork below", err);
}

loci_rc loci_guard_promote(loci_view *view, const loci_fence *fence, int64_t agent, int64_t child,
                           int64_t above, loci_err *err)
{
    bool is_above = false;

    if (fence->on && (fence->agent != agent || fence->branch != child))
        return deny(view, fence, agent, child, "promote from", err);
    loci_rc rc = loci_view_is_ancestor(view, agent, above, child, &is_above, err);
    if (rc || is_above) return rc;
    shown mine = show(view, agent, child), other = show(view, agent, above);
    return loci_fail(err, LOCI_EDENIED, "%s may promote to its ancestors only: %s is none",
                     mine.text, other.text);
}
