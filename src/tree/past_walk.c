#include "tree/past.h"

#include <stdlib.h>

enum { OBJS_BYTES = 64 << 20 };

/* Objs that are to be compared. */
typedef struct objs {
    int64_t *items;
    size_t count, room;
} objs;

static bool push(objs *list, int64_t obj, loci_arena *arena)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 64;
        int64_t *more = loci_arena_array(arena, room, sizeof *more);
        if (!more) return false;
        if (list->count) memcpy(more, list->items, list->count * sizeof *more);
        list->items = more;
        list->room = room;
    }
    list->items[list->count++] = obj;
    return true;
}

/* Add what was touched while the owner was the agent's. */
static loci_rc add_touched(loci_tx *tx, const loci_past_walk_request *r,
                           const loci_past_table *table, const loci_past_span *span, objs *list,
                           loci_arena *arena, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, table->room, table->first + LOCI_PAST_TOUCHED, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, r->org);
    loci_stmt_bind_i64(q, 2, span->owner);
    loci_stmt_bind_i64(q, 3, r->agent);
    loci_stmt_bind_i64(q, 4, r->from > span->after ? r->from : span->after);
    loci_stmt_bind_i64(q, 5, r->to < span->until ? r->to : span->until);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK)
        if (!push(list, loci_stmt_i64(q, 0), arena)) return loci_arena_fail(arena, err);
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void sort_unique(objs *list)
{
    size_t n = 0;

    if (list->count) qsort(list->items, list->count, sizeof *list->items, by_number);
    for (size_t i = 0; i < list->count; i++)
        if (n == 0 || list->items[i] != list->items[n - 1]) list->items[n++] = list->items[i];
    list->count = n;
}

/* The revision of `time` into `arena`; *ret_row is NULL when there was none. */
static loci_rc read_at(loci_tx *tx, const loci_past_walk_request *r, const loci_past_table *table,
                       int64_t obj, int64_t time, loci_arena *arena, loci_past_row **ret_row,
                       loci_err *err)
{
    loci_past_row *row = loci_arena_alloc(arena, sizeof *row);

    if (!row) return loci_arena_fail(arena, err);
    loci_rc rc = loci_past_at(tx, table, r->org, obj, time, arena, row, err);
    if (rc && rc != LOCI_DONE) return rc;
    *ret_row = rc ? NULL : row;
    return LOCI_OK;
}

static loci_rc compare(loci_tx *tx, const loci_past_walk_request *r, const loci_past_table *table,
                       int64_t owner, int64_t obj, loci_arena *rows, loci_err *err)
{
    loci_past_row *old = NULL, *new = NULL;

    if (!r->keep) loci_arena_reset(rows);
    loci_rc rc = read_at(tx, r, table, obj, r->from, rows, &old, err);
    if (!rc) rc = read_at(tx, r, table, obj, r->to, rows, &new, err);
    if (rc || (!old && !new)) return rc;
    if (old && new && (old->row == new->row || loci_past_same(old, new))) return LOCI_OK;
    loci_past_pair pair = { .table = table, .owner = owner, .obj = obj, .old = old, .new = new };
    return r->pair(&pair, r->arg, err);
}

/* Spans of one owner follow each other: take them together. *at goes behind them. */
static loci_rc walk_owner(loci_tx *tx, const loci_past_walk_request *r,
                          const loci_past_table *table, const loci_past_spans *spans, size_t *at,
                          loci_arena *rows, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(OBJS_BYTES);
    int64_t owner = spans->items[*at].owner;
    objs list = { 0 };
    loci_rc rc = LOCI_OK;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_past_owner kind = spans->items[*at].kind;
    for (; !rc && *at < spans->count && spans->items[*at].kind == kind &&
           spans->items[*at].owner == owner;
         ++*at)
        rc = add_touched(tx, r, table, &spans->items[*at], &list, arena, err);
    sort_unique(&list);
    for (size_t i = 0; !rc && i < list.count; i++)
        rc = compare(tx, r, table, owner, list.items[i], rows, err);
    return rc;
}

loci_rc loci_past_walk(loci_tx *tx, const loci_past_walk_request *request, loci_arena *rows,
                       loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(OBJS_BYTES);
    const loci_past_table *const *table = request->tables ? request->tables : loci_past_core;
    loci_past_spans spans = { 0 };

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = loci_past_find_spans(tx, request->org, request->agent, arena, &spans, err);
    for (; !rc && *table; table++)
        for (size_t i = 0; !rc && i < spans.count;) {
            if (spans.items[i].kind == (*table)->owner)
                rc = walk_owner(tx, request, *table, &spans, &i, rows, err);
            else
                i++;
        }
    return rc;
}
