/* The one path from every door to every handler. */
#include "ops/call.h"

#include "base/clock.h"
#include "ops/guard.h"

static const loci_json no_input = { .type = LOCI_JSON_OBJECT };

/* What is too deep or has too many values is a question of form; what does not fit the arena is
 * too large. */
static loci_rc parse(loci_call *call, loci_str text, const loci_json **ret, loci_err *err)
{
    if (loci_str_trim(text).len == 0) return LOCI_OK;
    loci_rc rc = loci_json_parse(call->arena, text, ret, err);
    if (rc != LOCI_ELIMIT || text.len > LOCI_JSON_BYTES) return rc;
    if (loci_arena_fail(call->arena, NULL) == LOCI_ELIMIT) return rc;
    if (err) err->code = LOCI_ESHAPE;
    return LOCI_ESHAPE;
}

/* Everything of the last call that this one must not see. */
static void forget(loci_call *call)
{
    call->op = NULL;
    call->in = (loci_in){ 0 };
    call->agent = call->node = call->write_key = (loci_str){ NULL, 0 };
    call->progressed = -1; /* so that 0 is passed on */
    call->refused = false;
}

static loci_rc begin(const loci_ops *ops, loci_call *call, loci_str name, loci_err *err)
{
    forget(call);
    loci_rc rc = loci_ops_get(ops, name, &call->op, err);
    if (!rc) rc = loci_call_check(call, err);
    return rc ? rc : loci_guard_op(call, err);
}

static loci_rc check_output(loci_call *call, loci_str text, loci_err *err)
{
    const loci_json *value = NULL;
    loci_err why = { 0 };

    loci_rc rc = loci_json_parse(call->arena, text, &value, &why);
    if (!rc) rc = loci_schema_check(call->op->output, value, &why);
    if (rc == LOCI_OK) return LOCI_OK;
    if (rc != LOCI_ESHAPE) return loci_fail(err, rc, "%s", why.msg);
    return loci_fail(err, LOCI_ECORRUPT, "%s: its output does not fit its schema: %s",
                     call->op->row->name, why.msg);
}

static loci_rc run(loci_call *call, loci_buf *out, loci_err *err)
{
    size_t start = out->len;
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_rc rc = call->op->row->run(call, &w, err);
    if (rc == LOCI_DONE) rc = loci_fail(err, LOCI_EIO, "%s ended early", call->op->row->name);
    if (rc) return rc;
    if (out->len == start)
        loci_buf_add(out, LOCI_STR("{}")); /* nothing to say */
    else
        rc = loci_json_check(&w, err);
    if (!rc) rc = loci_buf_check(out, err);
    if (rc) loci_err_prefix(err, "the answer");
    return rc;
}

static loci_rc finish(loci_call *call, loci_buf *out, loci_err *err)
{
    size_t start = out->len;
    loci_rc rc = loci_guard_input(call, err);

    if (!rc) rc = run(call, out, err);
    if (!rc && call->check_output)
        rc = check_output(call, loci_str_sub(loci_buf_str(out), start, out->len), err);
    if (rc) loci_buf_cut(out, start);
    return rc;
}

static loci_rc check_input(loci_call *call, const loci_json *input, loci_err *err)
{
    call->in = (loci_in){ input, call->op->input };
    return loci_schema_check(call->op->input, input, err);
}

loci_rc loci_ops_call_json(const loci_ops *ops, loci_call *call, loci_str name,
                           const loci_json *input, loci_buf *out, loci_err *err)
{
    loci_rc rc = begin(ops, call, name, err);
    if (!rc) rc = check_input(call, input ? input : &no_input, err);
    return rc ? rc : finish(call, out, err);
}

loci_rc loci_ops_call(const loci_ops *ops, loci_call *call, loci_str name, loci_str input,
                      loci_buf *out, loci_err *err)
{
    const loci_json *value = &no_input;

    loci_rc rc = begin(ops, call, name, err);
    if (!rc) rc = parse(call, input, &value, err);
    if (!rc) rc = check_input(call, value, err);
    return rc ? rc : finish(call, out, err);
}

loci_rc loci_call_check(loci_call *call, loci_err *err)
{
    if (call->cancelled && call->cancelled(call->door))
        return loci_fail(err, LOCI_EUNAVAILABLE, "the call was cancelled");
    if (call->deadline && loci_clock_steady() >= call->deadline)
        return loci_fail(err, LOCI_EUNAVAILABLE, "the time for this call is over");
    return LOCI_OK;
}

void loci_call_progress(loci_call *call, double done, double total, loci_str note)
{
    if (!call->progress || !(done > call->progressed)) return;
    call->progressed = done;
    call->progress(call->door, done, total, note);
}
