#include "tree/branch.h"

#include "base/id.h"
#include "base/utf8.h"
#include "db/stmt.h"
#include "tree/statements.h"

enum { SCRATCH_BYTES = 32 << 20 };

static bool is_node(loci_str node)
{
    return node.len && node.len <= LOCI_NODE_BYTES && !memchr(node.ptr, '\0', node.len) &&
           loci_utf8_valid(node);
}

loci_rc loci_node_check(loci_str node, loci_err *err)
{
    if (node.len > LOCI_NODE_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "a node id has at most %d bytes, not %zu",
                         LOCI_NODE_BYTES, node.len);
    if (!is_node(node))
        return loci_fail(err, LOCI_EINVAL, "a node id must be UTF-8 without NUL, and not empty");
    return LOCI_OK;
}

static loci_rc no_node(loci_str node, loci_err *err)
{
    loci_str shown = loci_utf8_cut(node, 100);

    return loci_fail(err, LOCI_ENOTFOUND, "no node '%.*s'", LOCI_ARG(shown));
}

static loci_rc no_branch(int64_t obj, int64_t time, loci_err *err)
{
    return loci_fail(err, LOCI_ENOTFOUND, "no branch with the number %lld%s", (long long)obj,
                     time == LOCI_NEVER ? "" : " at that time");
}

static loci_rc read_branch(loci_stmt *q, loci_arena *arena, loci_branch *ret_branch, loci_err *err)
{
    loci_branch b = { .row = loci_stmt_i64(q, 0),
                      .obj = loci_stmt_i64(q, 1),
                      .rev = loci_stmt_i64(q, 2),
                      .born = loci_stmt_i64(q, 3),
                      .ended = loci_stmt_i64(q, 4),
                      .agent = loci_stmt_i64(q, 6),
                      .parent = loci_stmt_i64(q, 8),
                      .created_at = loci_stmt_i64(q, 11) };
    loci_rc rc = loci_stmt_copy(q, 5, arena, &b.id, err);

    if (!rc) rc = loci_stmt_copy(q, 7, arena, &b.node, err);
    if (!rc) rc = loci_stmt_copy(q, 9, arena, &b.title, err);
    if (!rc) rc = loci_stmt_copy(q, 10, arena, &b.metadata, err);
    if (!rc) rc = loci_stmt_copy(q, 12, arena, &b.extra, err);
    if (!rc) *ret_branch = b;
    return rc;
}

/* LOCI_DONE: there is none. */
static loci_rc find_node(loci_tx *tx, int64_t org, int64_t agent, loci_str node, int64_t time,
                         loci_arena *arena, loci_branch *ret_branch, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    bool now = time == LOCI_NEVER;

    if (!is_node(node)) return LOCI_DONE;
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room,
                                 now ? TREE_BRANCH_BY_NODE : TREE_BRANCH_BY_NODE_AT, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, agent);
    loci_stmt_bind_text(q, 3, node);
    if (!now) loci_stmt_bind_i64(q, 4, time);
    rc = loci_stmt_next(q, err);
    return rc ? rc : read_branch(q, arena, ret_branch, err);
}

loci_rc loci_branch_find(loci_tx *tx, int64_t org, int64_t agent, loci_str node, int64_t time,
                         loci_arena *arena, loci_branch *ret_branch, loci_err *err)
{
    loci_rc rc = find_node(tx, org, agent, node, time, arena, ret_branch, err);

    return rc == LOCI_DONE ? no_node(node, err) : rc;
}

loci_rc loci_branch_find_id(loci_tx *tx, int64_t org, loci_str id, loci_arena *arena,
                            loci_branch *ret_branch, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    if (!is_node(id)) return no_node(id, err);
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, TREE_BRANCH_BY_ID, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, id);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE) return no_node(id, err);
    return rc ? rc : read_branch(q, arena, ret_branch, err);
}

loci_rc loci_branch_get(loci_tx *tx, int64_t org, int64_t obj, int64_t time, loci_arena *arena,
                        loci_branch *ret_branch, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, TREE_BRANCH_AT, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, obj);
    loci_stmt_bind_i64(q, 3, time == LOCI_NEVER ? LOCI_NEVER - 1 : time);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE) return no_branch(obj, time, err);
    return rc ? rc : read_branch(q, arena, ret_branch, err);
}

loci_rc loci_branch_children(loci_tx *tx, int64_t org, int64_t agent, int64_t parent,
                             int64_t behind, size_t limit, loci_arena *arena,
                             loci_branches *ret_branches, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_branches list = { 0 };

    if (limit < 1 || limit > LOCI_BRANCH_PAGE)
        return loci_fail(err, LOCI_EINVAL, "limit must be 1..%d, not %zu", LOCI_BRANCH_PAGE, limit);
    list.items = loci_arena_array(arena, limit, sizeof *list.items);
    if (!list.items) return loci_arena_fail(arena, err);
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, TREE_BRANCH_CHILDREN, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, agent);
    loci_stmt_bind_i64(q, 3, parent);
    loci_stmt_bind_i64(q, 4, behind);
    loci_stmt_bind_i64(q, 5, (int64_t)limit);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        rc = read_branch(q, arena, &list.items[list.count++], err);
        if (rc) return rc;
    }
    if (rc != LOCI_DONE) return rc;
    *ret_branches = list;
    return LOCI_OK;
}

static loci_rc add_link(int64_t **objs, size_t *count, size_t *room, int64_t obj, loci_arena *arena,
                        loci_err *err)
{
    if (*count == *room) {
        int64_t *more =
            loci_arena_grow(arena, *objs, *room * sizeof **objs, 2 * *room * sizeof **objs);
        if (!more) return loci_arena_fail(arena, err);
        *objs = more;
        *room *= 2;
    }
    (*objs)[(*count)++] = obj;
    return LOCI_OK;
}

loci_rc loci_branch_chain_at(loci_tx *tx, int64_t org, int64_t agent, int64_t obj, int64_t time,
                             loci_arena *arena, loci_chain *ret_chain, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    size_t count = 0, room = 64;
    int64_t parent = obj, *objs = loci_arena_array(arena, room, sizeof *objs);
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, TREE_BRANCH_CHAIN_AT, &q, err);

    if (rc) return rc;
    if (!objs) return loci_arena_fail(arena, err);
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, obj);
    loci_stmt_bind_i64(q, 3, time == LOCI_NEVER ? LOCI_NEVER - 1 : time);
    loci_stmt_bind_i64(q, 4, LOCI_CHAIN_MAX);
    while (obj != LOCI_TRUNK && (rc = loci_stmt_next(q, err)) == LOCI_OK) {
        parent = loci_stmt_i64(q, 1);
        if (loci_stmt_i64(q, 2) != agent) return no_branch(obj, time, err);
        rc = add_link(&objs, &count, &room, loci_stmt_i64(q, 0), arena, err);
        if (rc) return rc;
    }
    if (rc && rc != LOCI_DONE) return rc;
    if (obj != LOCI_TRUNK && !count) return no_branch(obj, time, err);
    if (count >= LOCI_CHAIN_MAX)
        return loci_fail(err, LOCI_ECORRUPT,
                         "branch %lld does not come to the trunk in %d steps: its ancestors form a "
                         "circle, or are too many",
                         (long long)obj, LOCI_CHAIN_MAX);
    if (parent != LOCI_TRUNK)
        return loci_fail(err, LOCI_ECORRUPT, "branch %lld hangs below branch %lld, which is gone",
                         (long long)obj, (long long)parent);
    rc = add_link(&objs, &count, &room, LOCI_TRUNK, arena, err);
    if (!rc) *ret_chain = (loci_chain){ .agent = agent, .branches = objs, .count = count };
    return rc;
}

static loci_rc check_values(const loci_branch_values *v, loci_err *err)
{
    loci_rc rc = loci_node_check(v->node, err);

    if (rc) return rc;
    if (!v->id.len || v->id.len > LOCI_ID_MAX)
        return loci_fail(err, LOCI_EINVAL, "a branch's id must have 1..%d bytes, not %zu",
                         LOCI_ID_MAX, v->id.len);
    if (v->title.len > LOCI_BRANCH_TEXT_BYTES || v->metadata.len > LOCI_BRANCH_TEXT_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "title and metadata of a branch have at most %d bytes",
                         LOCI_BRANCH_TEXT_BYTES);
    return LOCI_OK;
}

static loci_rc check_agent(loci_change *change, int64_t agent, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_tree_room, TREE_AGENT_ALIVE, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, agent);
    rc = loci_stmt_next(q, err);
    if (rc != LOCI_DONE) return rc;
    return loci_fail(err, LOCI_ENOTFOUND, "no agent with the number %lld", (long long)agent);
}

static loci_rc check_parent(loci_change *change, int64_t agent, int64_t parent, loci_arena *scratch,
                            loci_err *err)
{
    loci_branch b;

    if (parent == LOCI_TRUNK) return check_agent(change, agent, err);
    loci_rc rc = loci_branch_get(change->tx, change->org, parent, LOCI_NEVER, scratch, &b, err);
    if (!rc && b.agent != agent) return no_branch(parent, LOCI_NEVER, err);
    return rc ? rc : check_agent(change, agent, err);
}

static loci_rc add_branch(loci_change *change, int64_t agent, int64_t parent,
                          const loci_branch_values *v, int64_t *ret_obj, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t row = loci_change_row(change);
    loci_rc rc = loci_stmt_begin(change->tx, &loci_tree_room, TREE_BRANCH_ADD, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, row);
    loci_stmt_bind_i64(q, 3, change->born);
    loci_stmt_bind_i64(q, 4, change->ver);
    loci_stmt_bind_text_or_null(q, 5, change->who);
    loci_stmt_bind_text(q, 6, change->door);
    loci_stmt_bind_text(q, 7, v->id);
    loci_stmt_bind_i64(q, 8, agent);
    loci_stmt_bind_text(q, 9, v->node);
    loci_stmt_bind_i64(q, 10, parent);
    loci_stmt_bind_text_or_null(q, 11, v->title);
    loci_stmt_bind_text_or_null(q, 12, v->metadata);
    loci_stmt_bind_i64(q, 13, change->born);
    rc = loci_stmt_run(q, err);
    if (!rc) *ret_obj = row;
    return rc;
}

loci_rc loci_branch_fork(loci_change *change, int64_t agent, int64_t parent,
                         const loci_branch_values *values, int64_t *ret_obj, bool *ret_created,
                         loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_branch there;
    loci_rc rc = check_values(values, err);

    if (rc) return rc;
    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    rc = check_parent(change, agent, parent, scratch, err);
    if (rc) return rc;
    rc = find_node(change->tx, change->org, agent, values->node, LOCI_NEVER, scratch, &there, err);
    if (rc == LOCI_OK && there.parent != parent)
        return loci_fail(err, LOCI_ECONFLICT, "node '%.*s' exists already, below another node",
                         LOCI_ARG(loci_utf8_cut(values->node, 100)));
    if (rc == LOCI_DONE) {
        rc = add_branch(change, agent, parent, values, ret_obj, err);
        if (!rc) *ret_created = true;
        return rc;
    }
    if (rc) return rc;
    *ret_obj = there.obj;
    *ret_created = false;
    return LOCI_OK;
}

loci_rc loci_branch_ensure(loci_change *change, int64_t agent, const loci_branch_values *values,
                           int64_t *ret_obj, bool *ret_created, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_branch there = { .obj = LOCI_TRUNK };
    loci_rc rc = LOCI_OK;

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (values->node.len)
        rc = find_node(change->tx, change->org, agent, values->node, LOCI_NEVER, scratch, &there,
                       err);
    if (rc == LOCI_DONE)
        return loci_branch_fork(change, agent, LOCI_TRUNK, values, ret_obj, ret_created, err);
    if (rc) return rc;
    *ret_obj = there.obj;
    *ret_created = false;
    return LOCI_OK;
}

/* Objs that are to end, each behind its parent. */
typedef struct ending {
    int64_t *objs, *rows;
    size_t count, room;
} ending;

static loci_rc push_ending(ending *e, const loci_branch *b, loci_arena *scratch, loci_err *err)
{
    if (e->count == LOCI_BRANCH_ENDS)
        return loci_fail(err, LOCI_ELIMIT,
                         "more than %d branches would end at once: end parts of the tree first",
                         LOCI_BRANCH_ENDS);
    if (e->count == e->room) {
        size_t room = e->room ? 2 * e->room : 64;
        int64_t *objs = loci_arena_array(scratch, room, sizeof *objs);
        int64_t *rows = loci_arena_array(scratch, room, sizeof *rows);
        if (!objs || !rows) return loci_arena_fail(scratch, err);
        if (e->count) memcpy(objs, e->objs, e->count * sizeof *objs);
        if (e->count) memcpy(rows, e->rows, e->count * sizeof *rows);
        *e = (ending){ .objs = objs, .rows = rows, .count = e->count, .room = room };
    }
    e->objs[e->count] = b->obj;
    e->rows[e->count++] = b->row;
    return LOCI_OK;
}

/* All children of e->objs[at], page by page; the pages die at once. */
static loci_rc push_children(loci_change *change, int64_t agent, ending *e, size_t at,
                             loci_arena *page, loci_arena *scratch, loci_err *err)
{
    loci_branches list = { 0 };
    int64_t behind = 0;

    do {
        loci_arena_reset(page);
        loci_rc rc = loci_branch_children(change->tx, change->org, agent, e->objs[at], behind,
                                          LOCI_BRANCH_PAGE, page, &list, err);
        for (size_t i = 0; !rc && i < list.count; i++) {
            behind = list.items[i].obj;
            rc = push_ending(e, &list.items[i], scratch, err);
        }
        if (rc) return rc;
    } while (list.count == LOCI_BRANCH_PAGE);
    return LOCI_OK;
}

static loci_rc end_all(loci_change *change, const ending *e, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    for (size_t i = e->count; !rc && i-- > 0;)
        rc = loci_past_end(change, &loci_past_branch, e->rows[i], err);
    return rc;
}

loci_rc loci_branch_end(loci_change *change, int64_t agent, int64_t obj, bool below,
                        int64_t *ret_count, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    LOCI_AUTO(loci_arena_freep) loci_arena *page = loci_arena_new(SCRATCH_BYTES);
    loci_branch b;
    ending e = { 0 };

    if (!scratch || !page) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (obj == LOCI_TRUNK) return loci_fail(err, LOCI_EINVAL, "the trunk cannot end");
    loci_rc rc = loci_branch_get(change->tx, change->org, obj, LOCI_NEVER, scratch, &b, err);
    if (!rc && b.agent != agent) return no_branch(obj, LOCI_NEVER, err);
    if (!rc) rc = push_ending(&e, &b, scratch, err);
    for (size_t i = 0; !rc && i < e.count; i++) {
        rc = push_children(change, agent, &e, i, page, scratch, err);
        if (!rc && !below && e.count > 1)
            return loci_fail(err, LOCI_ECONFLICT,
                             "node '%.*s' has children: end them first, or all of them together",
                             LOCI_ARG(loci_utf8_cut(b.node, 100)));
    }
    if (!rc) rc = end_all(change, &e, err);
    if (!rc) *ret_count = (int64_t)e.count;
    return rc;
}
