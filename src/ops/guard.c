#include "ops/guard.h"

#include "base/utf8.h"

enum { KEY_MAX = 200, NAME_SHOWN = 60 };

static loci_role role_for(unsigned flags)
{
    if (flags & LOCI_OP_ADMIN) return LOCI_ROLE_ADMIN;
    return flags & LOCI_OP_WRITES ? LOCI_ROLE_WRITE : LOCI_ROLE_READ;
}

loci_rc loci_guard_op(const loci_call *call, loci_err *err)
{
    const loci_caller *who = call->who;
    const loci_op *op = call->op->row;
    loci_role need = role_for(op->flags);

    if (who->role < need)
        return loci_fail(err, LOCI_EDENIED, "%s needs the role %s; this key has %s", op->name,
                         loci_role_name(need), loci_role_name(who->role));
    if (who->agent_bound && !(op->flags & LOCI_OP_AGENT))
        return loci_fail(err, LOCI_EDENIED,
                         "%s is not about one agent, and this key is bound to agent '%.*s'",
                         op->name, LOCI_ARG(who->agent));
    if (who->node_fence && !(op->flags & (LOCI_OP_NODE | LOCI_OP_OFF_TREE)))
        return loci_fail(err, LOCI_EDENIED,
                         "%s is not about one node, and this connection is fenced to node '%.*s'",
                         op->name, LOCI_ARG(who->node));
    return LOCI_OK;
}

/* The text field `name`, empty when the schema has none or the caller did not give it. */
static loci_str given_text(const loci_call *call, const char *name)
{
    const loci_json *value = loci_json_find(call->in.value, loci_str_from(name));
    return value && value->type == LOCI_JSON_STRING ? value->string : LOCI_STR("");
}

/* The first of `names` that was given; two that differ are a mistake. */
static loci_rc first_given(const loci_call *call, const char *const *names, size_t count,
                           loci_str *ret, loci_err *err)
{
    const char *from = NULL;
    loci_str found = LOCI_STR("");

    for (size_t i = 0; i < count; i++) {
        loci_str text = given_text(call, names[i]);
        if (text.len == 0) continue;
        if (from && !loci_str_eq(text, found))
            return loci_fail(err, LOCI_ESHAPE, "%s and %s mean the same, but differ", from,
                             names[i]);
        found = text;
        from = names[i];
    }
    *ret = found;
    return LOCI_OK;
}

static bool is_own_agent(const loci_caller *who, loci_str agent)
{
    loci_str own = who->agent.len ? who->agent : LOCI_STR("default");
    return loci_str_eq(agent, own) ||
           (who->agent_alias.len && loci_str_eq(agent, who->agent_alias));
}

static loci_rc settle_agent(loci_call *call, loci_err *err)
{
    static const char *const names[] = { "agent", "agent_id", "run_id" };
    const loci_caller *who = call->who;
    loci_str asked, own = who->agent.len ? who->agent : LOCI_STR("default");

    loci_rc rc = first_given(call, names, LOCI_COUNT(names), &asked, err);
    if (rc) return rc;
    if (asked.len && (who->agent_bound || who->node_fence) && !is_own_agent(who, asked)) {
        loci_str shown = loci_utf8_cut(asked, NAME_SHOWN);
        return loci_fail(err, LOCI_EDENIED, "agent '%.*s' is not yours: you are '%.*s'",
                         LOCI_ARG(shown), LOCI_ARG(own));
    }
    /* A bound caller's agent has one spelling from here on. */
    bool forced = who->agent_bound || who->node_fence;
    call->agent = asked.len && !forced ? asked : own;
    return LOCI_OK;
}

loci_rc loci_call_fence(const loci_call *call, loci_str node, loci_err *err)
{
    const loci_caller *who = call->who;

    if (!who->node_fence || loci_str_eq(node, who->node)) return LOCI_OK;
    loci_str shown = loci_utf8_cut(node, NAME_SHOWN);
    return loci_fail(err, LOCI_EDENIED,
                     "node '%.*s' is outside: this connection is fenced to node '%.*s'",
                     LOCI_ARG(shown), LOCI_ARG(who->node));
}

static loci_rc settle_node(loci_call *call, loci_err *err)
{
    static const char *const names[] = { "node", "node_id", "branch_id" };
    size_t count = call->op->row->flags & LOCI_OP_OWN_FENCE ? 1 : LOCI_COUNT(names);
    loci_str asked;

    loci_rc rc = first_given(call, names, count, &asked, err);
    if (rc) return rc;
    call->node = asked.len ? asked : call->who->node;
    return loci_call_fence(call, call->node, err);
}

static loci_rc settle_key(loci_call *call, loci_err *err)
{
    loci_str header = call->idempotency_key, body = given_text(call, "request_id");

    if (header.len > KEY_MAX)
        return loci_fail(err, LOCI_EINVAL, "Idempotency-Key longer than %d bytes", KEY_MAX);
    if (header.len && body.len && !loci_str_eq(header, body))
        return loci_fail(err, LOCI_ECONFLICT, "Idempotency-Key and request_id differ; give one");
    call->write_key = body.len ? body : header;
    return call->write_key.len ? loci_guard_hash(call, err) : LOCI_OK;
}

/* Fields at the top whose format is host-path; deeper ones are the handler's. */
static loci_rc check_paths(loci_call *call, loci_err *err)
{
    for (size_t i = 0; i < call->in.schema->property_count; i++) {
        const loci_schema_property *property = &call->in.schema->properties[i];
        loci_str unused;
        if (!loci_format_is_path(property->schema->format)) continue;
        const loci_json *value = loci_json_find(call->in.value, property->name);
        if (!value || value->type != LOCI_JSON_STRING) continue;
        loci_rc rc = loci_call_path(call, value->string, &unused, err);
        if (rc) {
            loci_err_prefix(err, "%.*s", LOCI_ARG(property->name));
            return rc;
        }
    }
    return LOCI_OK;
}

loci_rc loci_guard_input(loci_call *call, loci_err *err)
{
    unsigned flags = call->op->row->flags;
    loci_rc rc = LOCI_OK;

    if (flags & LOCI_OP_AGENT) rc = settle_agent(call, err);
    if (!rc && flags & LOCI_OP_NODE) rc = settle_node(call, err);
    if (!rc && flags & LOCI_OP_FILES) rc = check_paths(call, err);
    if (!rc && flags & LOCI_OP_WRITES) rc = settle_key(call, err);
    return rc;
}
