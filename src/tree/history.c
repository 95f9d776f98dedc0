#include "tree/history.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdlib.h>

enum { ID_BYTES = 255, SCRATCH_BYTES = 256 << 20 };

/* LOCI_DONE: nothing in the table has, or had, that id. */
static loci_rc find_obj(loci_tx *tx, const loci_past_table *table, size_t which, int64_t org,
                        loci_str id, int64_t *ret_obj, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, table->room, table->first + which, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, id);
    rc = loci_stmt_next(q, err);
    if (!rc) *ret_obj = loci_stmt_i64(q, 0);
    return rc;
}

static loci_rc read_revisions(loci_tx *tx, int64_t org, loci_arena *arena, loci_history *h,
                              loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    size_t room = 0;
    loci_rc rc = loci_stmt_begin(tx, h->table->room, h->table->first + LOCI_PAST_HISTORY, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, h->obj);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        if (h->count == room) {
            room = room ? 2 * room : 8;
            loci_past_row *more = loci_arena_array(arena, room, sizeof *more);
            if (!more) return loci_arena_fail(arena, err);
            if (h->count) memcpy(more, h->revisions, h->count * sizeof *more);
            h->revisions = more;
        }
        rc = loci_past_read(h->table, q, arena, &h->revisions[h->count++], err);
        if (rc) return rc;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static bool is_askable(loci_str id)
{
    return id.len && id.len <= ID_BYTES && !memchr(id.ptr, '\0', id.len) && loci_utf8_valid(id);
}

loci_rc loci_history_read(loci_tx *tx, const loci_past_table *const *tables, int64_t org,
                          loci_str id, loci_arena *arena, loci_history *ret_history, loci_err *err)
{
    loci_history h = { 0 };
    loci_rc rc = LOCI_DONE;

    tables = tables ? tables : loci_past_core;
    for (; is_askable(id) && rc == LOCI_DONE && *tables; tables++) {
        h.table = *tables;
        if (!h.table->has_id) continue;
        rc = find_obj(tx, h.table, LOCI_PAST_FIND, org, id, &h.obj, err);
        if (rc == LOCI_DONE) rc = find_obj(tx, h.table, LOCI_PAST_FIND_ENDED, org, id, &h.obj, err);
    }
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND, "nothing has the id '%.*s', and nothing had it",
                         LOCI_ARG(loci_utf8_cut(id, 100)));
    if (!rc) rc = read_revisions(tx, org, arena, &h, err);
    if (!rc) *ret_history = h;
    return rc;
}

const char *loci_log_event_name(loci_log_event event)
{
    static const char *const names[] = { "added", "changed", "revived", "ended" };

    return (size_t)event < LOCI_COUNT(names) ? names[event] : "changed";
}

/* Where a page begins. Newest first; in one moment the higher row first, because rows rise; of one
 * row its end before its birth. */
typedef struct place {
    int64_t at, row;
    bool ended;
} place;

static loci_rc parse_place(loci_str text, place *ret_place, loci_err *err)
{
    place p = { .at = INT64_MAX, .row = INT64_MAX, .ended = true };
    loci_str rest = text, at = { 0 }, row = { 0 }, kind = { 0 };

    if (text.len) {
        bool ok = loci_str_cut(&rest, '.', &at) && loci_str_cut(&rest, '.', &row) &&
                  loci_str_cut(&rest, '.', &kind) && !rest.ptr && loci_str_to_i64(at, &p.at) &&
                  loci_str_to_i64(row, &p.row) && p.row > 0 && p.row < INT64_MAX &&
                  (loci_str_eq(kind, LOCI_STR("b")) || loci_str_eq(kind, LOCI_STR("e")));
        if (!ok)
            return loci_fail(err, LOCI_EINVAL, "'%.*s' is not a place in a log",
                             LOCI_ARG(loci_utf8_cut(text, 60)));
        p.ended = loci_str_eq(kind, LOCI_STR("e"));
    }
    *ret_place = p;
    return LOCI_OK;
}

typedef struct reading {
    loci_tx *tx;
    const loci_log_request *request;
    place behind;
    size_t limit;
    loci_log_entry *entries; /* in `scratch` */
    size_t count, room;
    loci_arena *scratch;
} reading;

static loci_log_entry *push(reading *r)
{
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 128;
        loci_log_entry *more = loci_arena_array(r->scratch, room, sizeof *more);
        if (!more) return NULL;
        if (r->count) memcpy(more, r->entries, r->count * sizeof *more);
        r->entries = more;
        r->room = room;
    }
    return &r->entries[r->count++];
}

/* Columns 5 and 6 are who and door of the birth, 7 and 8 those of the end, 9 to 12 id, name, node
 * and text, 13 the end of the revision before. */
static loci_rc read_entry(loci_stmt *q, bool ended, loci_arena *arena, loci_log_entry *e,
                          loci_err *err)
{
    int64_t before = loci_stmt_i64(q, 13);
    loci_str text = loci_stmt_text(q, 12);

    e->row = loci_stmt_i64(q, 0);
    e->obj = loci_stmt_i64(q, 1);
    e->rev = loci_stmt_i64(q, 2);
    e->at = loci_stmt_i64(q, ended ? 4 : 3);
    e->event = ended             ? LOCI_LOG_ENDED
               : !before         ? LOCI_LOG_ADDED
               : before == e->at ? LOCI_LOG_CHANGED
                                 : LOCI_LOG_REVIVED;
    e->text_bytes = text.len;
    if (text.ptr) {
        e->text = loci_arena_str(arena, loci_utf8_cut(text, LOCI_LOG_TEXT_BYTES));
        if (!e->text.ptr) return loci_arena_fail(arena, err);
    }
    loci_rc rc = loci_stmt_copy(q, ended ? 7 : 5, arena, &e->who, err);
    if (!rc) rc = loci_stmt_copy(q, ended ? 8 : 6, arena, &e->door, err);
    if (!rc) rc = loci_stmt_copy(q, 9, arena, &e->id, err);
    if (!rc) rc = loci_stmt_copy(q, 10, arena, &e->name, err);
    return rc ? rc : loci_stmt_copy(q, 11, arena, &e->node, err);
}

/* The newest births or ends of one table behind the place, one more than asked for. */
static loci_rc read_source(reading *r, const loci_past_table *table, const loci_past_span *span,
                           bool ended, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    place p = r->behind;
    loci_rc rc = loci_stmt_begin(
        r->tx, table->room, table->first + (ended ? LOCI_PAST_ENDED : LOCI_PAST_BORN), &q, err);

    if (rc) return rc;
    if (!ended && p.ended && p.row < INT64_MAX) p.row++; /* its birth comes behind its end */
    if (p.at > span->until) p = (place){ .at = span->until, .row = INT64_MAX };
    loci_stmt_bind_i64(q, 1, r->request->org);
    loci_stmt_bind_i64(q, 2, span->owner);
    loci_stmt_bind_i64(q, 3, r->request->agent);
    loci_stmt_bind_i64(q, 4, span->after);
    loci_stmt_bind_i64(q, 5, p.at);
    loci_stmt_bind_i64(q, 6, p.row);
    loci_stmt_bind_i64(q, 7, (int64_t)r->limit + 1);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        loci_log_entry *e = push(r);
        if (!e) return loci_arena_fail(r->scratch, err);
        e->table = table->name;
        rc = read_entry(q, ended, r->scratch, e, err);
        if (rc) return rc;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc read_sources(reading *r, const loci_past_spans *spans, loci_err *err)
{
    const loci_past_table *const *table = r->request->tables ? r->request->tables : loci_past_core;
    loci_rc rc = LOCI_OK;

    for (; !rc && *table; table++)
        for (size_t i = 0; !rc && i < spans->count; i++) {
            if (spans->items[i].kind != (*table)->owner) continue;
            rc = read_source(r, *table, &spans->items[i], false, err);
            if (!rc) rc = read_source(r, *table, &spans->items[i], true, err);
        }
    return rc;
}

static int newest_first(const void *a, const void *b)
{
    const loci_log_entry *x = a, *y = b;

    if (x->at != y->at) return x->at < y->at ? 1 : -1;
    if (x->row != y->row) return x->row < y->row ? 1 : -1;
    return (y->event == LOCI_LOG_ENDED) - (x->event == LOCI_LOG_ENDED);
}

static loci_rc copy_entry(const loci_log_entry *from, loci_arena *arena, loci_log_entry *to,
                          loci_err *err)
{
    *to = *from;
    loci_str *const texts[] = { &to->who, &to->door, &to->id, &to->name, &to->node, &to->text };
    for (size_t i = 0; i < LOCI_COUNT(texts); i++) {
        if (!texts[i]->ptr) continue;
        *texts[i] = loci_arena_str(arena, *texts[i]);
        if (!texts[i]->ptr) return loci_arena_fail(arena, err);
    }
    return LOCI_OK;
}

static loci_rc take_page(const reading *r, loci_arena *arena, loci_log *ret_log, loci_err *err)
{
    loci_log log = { .count = r->count < r->limit ? r->count : r->limit };

    log.entries = loci_arena_array(arena, log.count, sizeof *log.entries);
    if (!log.entries) return loci_arena_fail(arena, err);
    for (size_t i = 0; i < log.count; i++) {
        assert(r->entries); /* there is something to copy */
        loci_rc rc = copy_entry(&r->entries[i], arena, &log.entries[i], err);
        if (rc) return rc;
    }
    if (r->count > r->limit) {
        const loci_log_entry *last = &log.entries[log.count - 1];
        log.next =
            loci_arena_printf(arena, "%lld.%lld.%s", (long long)last->at, (long long)last->row,
                              last->event == LOCI_LOG_ENDED ? "e" : "b");
        if (!log.next.ptr) return loci_arena_fail(arena, err);
    }
    *ret_log = log;
    return LOCI_OK;
}

loci_rc loci_log_read(loci_tx *tx, const loci_log_request *request, loci_arena *arena,
                      loci_log *ret_log, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    reading r = { .tx = tx, .request = request, .scratch = scratch };
    loci_past_spans spans = { 0 };

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (request->limit > LOCI_LOG_PAGE)
        return loci_fail(err, LOCI_EINVAL, "limit must be 1..%d, not %zu", LOCI_LOG_PAGE,
                         request->limit);
    r.limit = request->limit ? request->limit : 50;
    loci_rc rc = parse_place(request->behind, &r.behind, err);
    if (!rc) rc = loci_past_find_spans(tx, request->org, request->agent, scratch, &spans, err);
    if (!rc) rc = read_sources(&r, &spans, err);
    if (rc) return rc;
    if (r.count) qsort(r.entries, r.count, sizeof *r.entries, newest_first);
    return take_page(&r, arena, ret_log, err);
}
