#include "tree/undo.h"

#include "tree/agent.h"

enum { STEPS_BYTES = 64 << 20, ROWS_BYTES = 128 << 20 };

const char *loci_undo_event_name(loci_undo_event event)
{
    static const char *const names[] = { "restored", "removed", "reverted" };

    return (size_t)event < LOCI_COUNT(names) ? names[event] : "reverted";
}

/* One thing to bring back: a revision to end, one to copy, or both. */
typedef struct step {
    const loci_past_table *table;
    int64_t end, copy; /* rows; 0 for none */
    struct step *next;
} step;

typedef struct planning {
    loci_tx *tx;
    const loci_undo_request *request;
    loci_arena *arena; /* the caller's: the result */
    loci_arena *scratch;
    step *first, **end;
    size_t count;
    loci_undo_result result;
    size_t shared_room;
} planning;

static loci_rc copy_str(loci_arena *arena, loci_str from, loci_str *to, loci_err *err)
{
    if (!from.ptr) return LOCI_OK;
    *to = loci_arena_str(arena, from);
    return to->ptr ? LOCI_OK : loci_arena_fail(arena, err);
}

/* How many other agents have it too. */
static loci_rc count_others(planning *p, const loci_past_table *table, int64_t obj,
                            int64_t *ret_count, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(p->tx, table->room, table->others, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, p->request->org);
    loci_stmt_bind_i64(q, 2, obj);
    loci_stmt_bind_i64(q, 3, p->request->agent);
    rc = loci_stmt_next(q, err);
    if (!rc) *ret_count = loci_stmt_i64(q, 0);
    return rc;
}

/* Rows on a branch are the agent's own, wherever they are kept. */
static bool is_on_branch(const loci_past_row *row)
{
    for (size_t i = 0; i < row->value_count; i++)
        if (loci_str_eq(row->values[i].name, LOCI_STR("branch"))) return row->values[i].number != 0;
    return false;
}

static loci_undo_shared *push_shared(planning *p)
{
    loci_undo_result *r = &p->result;

    if (r->shared_count == p->shared_room) {
        size_t room = p->shared_room ? 2 * p->shared_room : 8;
        loci_undo_shared *more = loci_arena_array(p->arena, room, sizeof *more);
        if (!more) return NULL;
        if (r->shared_count) memcpy(more, r->shared, r->shared_count * sizeof *more);
        r->shared = more;
        p->shared_room = room;
    }
    return &r->shared[r->shared_count++];
}

/* List what the others have; its name is the present one, or the last before it ended. */
static loci_rc list_shared(planning *p, const loci_past_table *common, int64_t obj, int64_t agents,
                           loci_err *err)
{
    loci_past_row row = { 0 };
    loci_undo_shared *s = NULL;

    for (size_t i = 0; i < p->result.shared_count; i++) {
        s = &p->result.shared[i];
        if (s->obj == obj) {
            s->rows++;
            return LOCI_OK;
        }
    }
    s = push_shared(p);
    if (!s) return loci_arena_fail(p->arena, err);
    *s = (loci_undo_shared){ .table = common->name, .obj = obj, .agents = agents, .rows = 1 };
    loci_rc rc =
        loci_past_at(p->tx, common, p->request->org, obj, LOCI_NEVER, p->scratch, &row, err);
    if (rc == LOCI_DONE) return LOCI_OK;
    if (!rc) rc = copy_str(p->arena, row.id, &s->id, err);
    return rc ? rc : copy_str(p->arena, row.name, &s->name, err);
}

/* Do others have it, and is it to be left alone then? */
static loci_rc check_shared(planning *p, const loci_past_pair *pair, bool *ret_leave, loci_err *err)
{
    const loci_past_table *table = pair->table, *common = table->common;
    const loci_past_row *row = pair->new ? pair->new : pair->old;
    int64_t others = 0, obj = common == table ? pair->obj : pair->owner;

    *ret_leave = false;
    if (!common || (common != table && is_on_branch(row))) return LOCI_OK;
    loci_rc rc = count_others(p, table, obj, &others, err);
    if (rc || !others) return rc;
    *ret_leave = !p->request->shared;
    return list_shared(p, common, obj, others, err);
}

static loci_rc list_item(planning *p, const loci_past_pair *pair, loci_undo_event event,
                         loci_err *err)
{
    const loci_past_row *row = pair->old ? pair->old : pair->new;
    loci_undo_result *r = &p->result;

    if (r->item_count == LOCI_UNDO_LISTED) return LOCI_OK;
    if (!r->items) r->items = loci_arena_array(p->arena, LOCI_UNDO_LISTED, sizeof *r->items);
    if (!r->items) return loci_arena_fail(p->arena, err);
    loci_undo_item *item = &r->items[r->item_count++];
    *item = (loci_undo_item){ .event = event, .table = pair->table->name, .obj = pair->obj };
    loci_rc rc = copy_str(p->arena, row->id, &item->id, err);
    if (!rc) rc = copy_str(p->arena, row->name, &item->name, err);
    return rc ? rc : copy_str(p->arena, row->node, &item->node, err);
}

static loci_rc add_step(planning *p, const loci_past_pair *pair, loci_err *err)
{
    step *s = loci_arena_alloc(p->scratch, sizeof *s);

    if (!s) return loci_arena_fail(p->scratch, err);
    if (p->count++ == LOCI_UNDO_ROWS)
        return loci_fail(err, LOCI_ELIMIT,
                         "the undo would touch more than %d things: go back in smaller steps",
                         LOCI_UNDO_ROWS);
    s->table = pair->table;
    s->end = pair->new ? pair->new->row : 0;
    s->copy = pair->old ? pair->old->row : 0;
    *p->end = s;
    p->end = &s->next;
    return LOCI_OK;
}

static loci_rc on_pair(const loci_past_pair *pair, void *arg, loci_err *err)
{
    planning *p = arg;
    bool leave = false;
    loci_undo_event event = !pair->new   ? LOCI_UNDO_RESTORED
                            : !pair->old ? LOCI_UNDO_REMOVED
                                         : LOCI_UNDO_REVERTED;
    loci_rc rc = check_shared(p, pair, &leave, err);

    if (rc || leave) return rc;
    p->result.restored += event == LOCI_UNDO_RESTORED;
    p->result.removed += event == LOCI_UNDO_REMOVED;
    p->result.reverted += event == LOCI_UNDO_REVERTED;
    rc = add_step(p, pair, err);
    return rc ? rc : list_item(p, pair, event, err);
}

static loci_rc check_agent(planning *p, loci_err *err)
{
    loci_agent agent;
    loci_rc rc = loci_agent_get(p->tx, p->request->org, p->request->agent, p->request->to,
                                p->scratch, &agent, err);

    if (rc != LOCI_ENOTFOUND) return rc;
    return loci_fail(err, LOCI_EINVAL,
                     "the agent did not exist at that time: choose a later one, or delete it");
}

static loci_rc plan(planning *p, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *rows = loci_arena_new(ROWS_BYTES);
    loci_past_walk_request walk = { .org = p->request->org,
                                    .agent = p->request->agent,
                                    .from = p->request->to,
                                    .to = LOCI_NEVER,
                                    .tables = p->request->tables,
                                    .pair = on_pair,
                                    .arg = p };

    if (!rows) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    p->end = &p->first;
    loci_rc rc = check_agent(p, err);
    return rc ? rc : loci_past_walk(p->tx, &walk, rows, err);
}

loci_rc loci_undo_plan(loci_tx *tx, const loci_undo_request *request, loci_arena *arena,
                       loci_undo_result *ret_result, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(STEPS_BYTES);
    planning p = { .tx = tx, .request = request, .arena = arena, .scratch = scratch };

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = plan(&p, err);
    if (!rc) *ret_result = p.result;
    return rc;
}

loci_rc loci_undo_in(loci_change *change, const loci_undo_request *request, loci_arena *arena,
                     loci_undo_result *ret_result, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(STEPS_BYTES);
    planning p = { .tx = change->tx, .request = request, .arena = arena, .scratch = scratch };

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (request->org != change->org)
        return loci_fail(err, LOCI_EINVAL, "the undo is for another organization than the write");
    loci_rc rc = plan(&p, err);
    /* All ends before all births: a name or label may go from one thing to another. */
    for (const step *s = p.first; !rc && s; s = s->next)
        if (s->end) rc = loci_past_end(change, s->table, s->end, err);
    for (const step *s = p.first; !rc && s; s = s->next)
        if (s->copy) rc = loci_past_copy(change, s->table, s->copy, err);
    if (rc) return rc;
    p.result.ver = change->ver;
    p.result.born = change->born;
    *ret_result = p.result;
    return LOCI_OK;
}

typedef struct job {
    const loci_undo_request *request;
    loci_arena *arena;
    loci_undo_result result;
} job;

static loci_rc run(loci_change *change, void *arg, loci_err *err)
{
    job *j = arg;

    return loci_undo_in(change, j->request, j->arena, &j->result, err);
}

loci_rc loci_undo(loci_writer *writer, const loci_undo_request *request, loci_arena *arena,
                  loci_undo_result *ret_result, loci_err *err)
{
    job j = { .request = request, .arena = arena };
    loci_write_request write = {
        .org = request->org, .run = run, .arg = &j, .who = request->who, .door = request->door
    };
    loci_rc rc = loci_write(writer, &write, NULL, NULL, err);

    if (!rc) *ret_result = j.result;
    return rc;
}
