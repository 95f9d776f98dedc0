#include "tree/label.h"

#include "base/utf8.h"
#include "db/stmt.h"
#include "tree/statements.h"

#include <stdlib.h>

enum { SCRATCH_BYTES = 16 << 20 };

loci_rc loci_label_check(loci_str label, loci_err *err)
{
    if (label.len > LOCI_LABEL_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "a block's label has at most %d bytes, not %zu",
                         LOCI_LABEL_BYTES, label.len);
    if (!label.len || memchr(label.ptr, '\0', label.len) || !loci_utf8_valid(label))
        return loci_fail(err, LOCI_EINVAL, "a block's label must be UTF-8 without NUL, not empty");
    return LOCI_OK;
}

/* How far a branch is from the scope's own, for the whole chain: sorted by branch. */
typedef struct distance {
    int64_t branch;
    size_t steps;
} distance;

static int by_branch(const void *a, const void *b)
{
    const distance *x = a, *y = b;

    return (x->branch > y->branch) - (x->branch < y->branch);
}

static distance *measure(const loci_chain *chain, loci_arena *scratch)
{
    distance *d = loci_arena_array(scratch, chain->count, sizeof *d);

    if (!d) return NULL;
    for (size_t i = 0; i < chain->count; i++) d[i] = (distance){ chain->branches[i], i };
    qsort(d, chain->count, sizeof *d, by_branch);
    return d;
}

static size_t steps_to(const distance *d, size_t count, int64_t branch)
{
    distance key = { branch, 0 };
    const distance *found = bsearch(&key, d, count, sizeof *d, by_branch);

    return found ? found->steps : SIZE_MAX;
}

/* A link with its distance. */
typedef struct candidate {
    loci_label label;
    size_t steps;
} candidate;

typedef struct candidates {
    candidate *items;
    size_t count, room;
} candidates;

static candidate *push(candidates *list, loci_arena *scratch)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 32;
        candidate *more = loci_arena_array(scratch, room, sizeof *more);
        if (!more) return NULL;
        if (list->count) memcpy(more, list->items, list->count * sizeof *more);
        list->items = more;
        list->room = room;
    }
    return &list->items[list->count++];
}

static loci_rc read_link(loci_stmt *q, loci_arena *arena, loci_label *ret_label, loci_err *err)
{
    *ret_label = (loci_label){ .row = loci_stmt_i64(q, 0),
                               .obj = loci_stmt_i64(q, 1),
                               .rev = loci_stmt_i64(q, 2),
                               .branch = loci_stmt_i64(q, 4),
                               .block = loci_stmt_i64(q, 5),
                               .place = loci_stmt_i64(q, 6),
                               .born = loci_stmt_i64(q, 7) };
    return loci_stmt_copy(q, 3, arena, &ret_label->label, err);
}

/* Links on `count` branches of the chain; a list in SQL is bounded. */
static loci_rc read_piece(loci_tx *tx, const loci_scope *scope, loci_str label,
                          const int64_t *branches, size_t count, candidates *list,
                          loci_arena *scratch, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    bool now = scope->as_of == LOCI_NEVER;
    loci_rc rc =
        loci_stmt_begin(tx, &loci_tree_room, now ? TREE_LABEL_CHAIN : TREE_LABEL_CHAIN_AT, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, scope->org);
    loci_stmt_bind_i64(q, 2, scope->agent);
    loci_stmt_bind_i64s(q, 3, branches, count);
    loci_stmt_bind_text_or_null(q, 4, label);
    if (!now) loci_stmt_bind_i64(q, 5, scope->as_of);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        candidate *c = push(list, scratch);
        if (!c) return loci_arena_fail(scratch, err);
        rc = read_link(q, scratch, &c->label, err);
        if (rc) return rc;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static int by_label_and_steps(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    int order = loci_str_cmp(x->label.label, y->label.label);

    return order ? order : (x->steps > y->steps) - (x->steps < y->steps);
}

static int by_place(const void *a, const void *b)
{
    const loci_label *x = a, *y = b;
    int order = (x->place > y->place) - (x->place < y->place);

    return order ? order : loci_str_cmp(x->label, y->label);
}

/* Of each label the nearest, tombstones left out; candidates are sorted. */
static loci_rc keep_nearest(const candidates *list, loci_arena *arena, loci_labels *ret_labels,
                            loci_err *err)
{
    loci_labels out = { .items = loci_arena_array(arena, list->count, sizeof *out.items) };

    if (!out.items) return loci_arena_fail(arena, err);
    for (size_t i = 0; i < list->count; i++) {
        const loci_label *l = &list->items[i].label;
        if (i > 0 && loci_str_eq(l->label, list->items[i - 1].label.label)) continue;
        if (l->block == LOCI_TOMBSTONE) continue;
        out.items[out.count] = *l;
        out.items[out.count].label = loci_arena_str(arena, l->label);
        if (!out.items[out.count++].label.ptr) return loci_arena_fail(arena, err);
    }
    if (out.count) qsort(out.items, out.count, sizeof *out.items, by_place);
    *ret_labels = out;
    return LOCI_OK;
}

/* With a label, at most one is found; else all. */
static loci_rc resolve(loci_tx *tx, const loci_scope *scope, const loci_chain *chain,
                       loci_str label, loci_arena *arena, loci_labels *ret_labels, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    candidates list = { 0 };
    loci_rc rc = LOCI_OK;

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    for (size_t i = 0; !rc && i < chain->count; i += LOCI_DB_LIST_ITEMS) {
        size_t left = chain->count - i;
        size_t count = left < LOCI_DB_LIST_ITEMS ? left : LOCI_DB_LIST_ITEMS;
        rc = read_piece(tx, scope, label, chain->branches + i, count, &list, scratch, err);
    }
    if (rc) return rc;
    distance *d = measure(chain, scratch);
    if (!d) return loci_arena_fail(scratch, err);
    for (size_t i = 0; i < list.count; i++)
        list.items[i].steps = steps_to(d, chain->count, list.items[i].label.branch);
    if (list.count) qsort(list.items, list.count, sizeof *list.items, by_label_and_steps);
    return keep_nearest(&list, arena, ret_labels, err);
}

loci_rc loci_label_list(loci_tx *tx, const loci_scope *scope, loci_arena *arena,
                        loci_labels *ret_labels, loci_err *err)
{
    return resolve(tx, scope, &scope->chain, (loci_str){ NULL, 0 }, arena, ret_labels, err);
}

static loci_rc no_label(const loci_scope *scope, loci_str label, loci_err *err)
{
    return loci_fail(err, LOCI_ENOTFOUND, "no block with the label '%.*s' %s%.*s%s",
                     LOCI_ARG(loci_utf8_cut(label, 80)), scope->node.len ? "in node '" : "here",
                     LOCI_ARG(loci_utf8_cut(scope->node, 80)), scope->node.len ? "'" : "");
}

loci_rc loci_label_find(loci_tx *tx, const loci_scope *scope, loci_str label, loci_arena *arena,
                        loci_label *ret_label, loci_err *err)
{
    loci_labels found = { 0 };
    loci_rc rc = loci_label_check(label, err);

    if (!rc) rc = resolve(tx, scope, &scope->chain, label, arena, &found, err);
    if (rc) return rc;
    if (!found.count) return no_label(scope, label, err);
    *ret_label = found.items[0];
    return LOCI_OK;
}

/* The link on the scope's own branch: alive, or the last that was. LOCI_DONE: none. */
static loci_rc find_own(loci_tx *tx, size_t number, const loci_scope *scope, loci_str label,
                        loci_arena *scratch, loci_label *ret_label, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, number, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, scope->org);
    loci_stmt_bind_i64(q, 2, scope->agent);
    loci_stmt_bind_i64(q, 3, scope->branch);
    loci_stmt_bind_text(q, 4, label);
    rc = loci_stmt_next(q, err);
    return rc ? rc : read_link(q, scratch, ret_label, err);
}

/* `before` is the revision that this one follows; NULL for a link that is new. */
static loci_rc add_link(loci_change *change, const loci_scope *scope, loci_str label,
                        const loci_label *before, int64_t block, int64_t place, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t row = loci_change_row(change);
    loci_rc rc = loci_stmt_begin(change->tx, &loci_tree_room, TREE_LABEL_ADD, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, row);
    loci_stmt_bind_i64(q, 3, before ? before->obj : row);
    loci_stmt_bind_i64(q, 4, before ? before->rev + 1 : 1);
    loci_stmt_bind_i64(q, 5, change->born);
    loci_stmt_bind_i64(q, 6, change->ver);
    loci_stmt_bind_text_or_null(q, 7, change->who);
    loci_stmt_bind_text(q, 8, change->door);
    loci_stmt_bind_i64(q, 9, scope->agent);
    loci_stmt_bind_i64(q, 10, scope->branch);
    loci_stmt_bind_text(q, 11, label);
    loci_stmt_bind_i64(q, 12, block);
    loci_stmt_bind_i64(q, 13, place);
    return loci_stmt_post(q, err);
}

static loci_rc check_write(const loci_change *change, const loci_scope *scope, loci_str label,
                           loci_err *err)
{
    if (scope->as_of != LOCI_NEVER)
        return loci_fail(err, LOCI_EDENIED, "the past cannot be written: leave out as_of");
    if (scope->org != change->org)
        return loci_fail(err, LOCI_EDENIED, "the scope is one of another organization");
    return loci_label_check(label, err);
}

/* Set the link of the scope's own branch. One that was there before, dead or alive, goes on as the
 * same link, so that its history is one. */
static loci_rc set_link(loci_change *change, const loci_scope *scope, loci_str label, int64_t block,
                        int64_t place, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_label own;

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = find_own(change->tx, TREE_LABEL_OWN, scope, label, scratch, &own, err);
    if (rc == LOCI_OK) {
        if (own.block == block && own.place == place) return LOCI_OK;
        rc = loci_past_end(change, &loci_past_block_link, own.row, err);
        return rc ? rc : add_link(change, scope, label, &own, block, place, err);
    }
    if (rc != LOCI_DONE) return rc;
    rc = find_own(change->tx, TREE_LABEL_LAST, scope, label, scratch, &own, err);
    if (rc && rc != LOCI_DONE) return rc;
    return add_link(change, scope, label, rc ? NULL : &own, block, place, err);
}

loci_rc loci_label_link(loci_change *change, const loci_scope *scope, loci_str label, int64_t block,
                        int64_t place, loci_err *err)
{
    loci_rc rc = check_write(change, scope, label, err);

    if (rc) return rc;
    if (block <= LOCI_TOMBSTONE)
        return loci_fail(err, LOCI_EINVAL, "a link needs a block, not %lld", (long long)block);
    return set_link(change, scope, label, block, place, err);
}

loci_rc loci_label_unlink(loci_change *change, const loci_scope *scope, loci_str label,
                          loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_label own;
    loci_rc rc = check_write(change, scope, label, err);

    if (rc) return rc;
    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    rc = find_own(change->tx, TREE_LABEL_OWN, scope, label, scratch, &own, err);
    if (rc == LOCI_DONE) return no_label(scope, label, err);
    return rc ? rc : loci_past_end(change, &loci_past_block_link, own.row, err);
}

loci_rc loci_label_drop(loci_change *change, const loci_scope *scope, loci_str label, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_labels seen = { 0 }, inherited = { 0 };
    loci_chain above = scope->chain;
    loci_rc rc = check_write(change, scope, label, err);

    if (rc) return rc;
    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    above.branches++;
    above.count--;
    rc = resolve(change->tx, scope, &scope->chain, label, scratch, &seen, err);
    if (!rc && !seen.count) return no_label(scope, label, err);
    if (!rc && above.count)
        rc = resolve(change->tx, scope, &above, label, scratch, &inherited, err);
    if (rc) return rc;
    if (!inherited.count) return loci_label_unlink(change, scope, label, err);
    return set_link(change, scope, label, LOCI_TOMBSTONE, inherited.items[0].place, err);
}
