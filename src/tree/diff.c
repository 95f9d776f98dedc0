#include "tree/diff.h"

const char *loci_diff_event_name(loci_diff_event event)
{
    static const char *const names[] = { "added", "changed", "ended" };

    return (size_t)event < LOCI_COUNT(names) ? names[event] : "changed";
}

typedef struct gathering {
    loci_diff diff;
    size_t limit, room;
    loci_arena *arena;
} gathering;

static loci_diff_entry *push(gathering *g)
{
    if (g->diff.count == g->room) {
        size_t room = g->room ? 2 * g->room : 32;
        loci_diff_entry *more = loci_arena_array(g->arena, room, sizeof *more);
        if (!more) return NULL;
        if (g->diff.count) memcpy(more, g->diff.entries, g->diff.count * sizeof *more);
        g->diff.entries = more;
        g->room = room;
    }
    return &g->diff.entries[g->diff.count++];
}

static loci_rc list_fields(const loci_past_pair *pair, loci_arena *arena, loci_diff_entry *e,
                           loci_err *err)
{
    loci_diff_field *fields = loci_arena_array(arena, pair->old->value_count, sizeof *fields);

    if (!fields) return loci_arena_fail(arena, err);
    for (size_t i = 0; i < pair->old->value_count; i++) {
        const loci_past_value *old = &pair->old->values[i], *new = &pair->new->values[i];
        if (!loci_past_value_same(old, new))
            fields[e->field_count++] = (loci_diff_field){ old, new };
    }
    e->fields = fields;
    return LOCI_OK;
}

static loci_rc on_pair(const loci_past_pair *pair, void *arg, loci_err *err)
{
    gathering *g = arg;

    if (g->diff.count == g->limit) {
        g->diff.more = true;
        return LOCI_DONE; /* stops the walk */
    }
    loci_diff_entry *e = push(g);
    if (!e) return loci_arena_fail(g->arena, err);
    *e = (loci_diff_entry){ .table = pair->table->name, .old = pair->old, .new = pair->new };
    e->event = !pair->old ? LOCI_DIFF_ADDED : !pair->new ? LOCI_DIFF_ENDED : LOCI_DIFF_CHANGED;
    return e->event == LOCI_DIFF_CHANGED ? list_fields(pair, g->arena, e, err) : LOCI_OK;
}

loci_rc loci_diff_read(loci_tx *tx, const loci_diff_request *request, loci_arena *arena,
                       loci_diff *ret_diff, loci_err *err)
{
    gathering g = { .arena = arena, .limit = request->limit ? request->limit : LOCI_DIFF_PAGE };
    loci_past_walk_request walk = { .org = request->org,
                                    .agent = request->agent,
                                    .from = request->from,
                                    .to = request->to,
                                    .tables = request->tables,
                                    .keep = true,
                                    .pair = on_pair,
                                    .arg = &g };

    if (request->from >= request->to)
        return loci_fail(err, LOCI_EINVAL, "the second time must be after the first");
    if (g.limit > LOCI_DIFF_PAGE)
        return loci_fail(err, LOCI_EINVAL, "limit must be 1..%d, not %zu", LOCI_DIFF_PAGE, g.limit);
    loci_rc rc = loci_past_walk(tx, &walk, arena, err);
    if (rc && rc != LOCI_DONE) return rc;
    *ret_diff = g.diff;
    return LOCI_OK;
}
