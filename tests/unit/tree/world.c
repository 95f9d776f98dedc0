#include "world.h"

#include "base/id.h"

#include <string.h>

enum { BLOCK_ADD, MESSAGE_ADD, ARCHIVE_ADD, ARCHIVE_LINK, PASSAGE_ADD, TAG_ADD };

#define STAMPS "org, row, obj, rev, born, ver, ended, ended_ver, who, door"
#define STAMPED "?1, ?2, ?3, ?4, ?5, ?6, {never}, 0, 'user-1', 'test'"

static const loci_sql statements[] = {
    /* clang-format off */
    [BLOCK_ADD] = { "iiiiiittt",
        "INSERT INTO block (" STAMPS ", id, label, value, char_limit, read_only, budget, "
        "is_template, created_at) VALUES (" STAMPED ", ?7, ?8, ?9, 5000, 0, 0, 0, ?5)", false },
    [MESSAGE_ADD] = { "iiiiiittii",
        "INSERT INTO message (" STAMPS ", id, text, agent, branch, kind, role, created_at) "
        "VALUES (" STAMPED ", ?7, ?8, ?9, ?10, 'message', 'user', ?5)", false },
    [ARCHIVE_ADD] = { "iiiiiitt",
        "INSERT INTO archive (" STAMPS ", id, name, provider, created_at) "
        "VALUES (" STAMPED ", ?7, ?8, 'native', ?5)", false },
    [ARCHIVE_LINK] = { "iiiiiiii",
        "INSERT INTO archive_link (" STAMPS ", agent, archive, is_owner) "
        "VALUES (" STAMPED ", ?7, ?8, 1)", false },
    [PASSAGE_ADD] = { "iiiiiittiiib",
        "INSERT INTO passage (" STAMPS ", id, text, archive, agent, branch, text_hash, kind, "
        "tags, created_at) VALUES (" STAMPED ", ?7, ?8, ?9, ?10, ?11, ?12, 'passage', '[\"t\"]', ?5)", false },
    [TAG_ADD] = { "iii",
        "INSERT INTO passage_tag (org, id, tag, passage, archive) VALUES (?1, 'tag', 't', ?2, ?3)", false },
    [DAMAGE_PARENT] = { "iii", "UPDATE branch SET parent = ?3 WHERE org = ?1 AND obj = ?2", false },
    [DAMAGE_TAG] = { "iii",
        "UPDATE org SET tag = ?2, ver = ver + ?3 WHERE org = ?1", false },
    [DAMAGE_VERSIONS] = { "iii", "DELETE FROM version WHERE org = ?1 AND ver > ?2 AND ver < ?3", false },
    /* clang-format on */
};

const loci_db_room world_room = { .name = "world",
                                  .statements = statements,
                                  .statement_count = LOCI_COUNT(statements) };

const loci_db_room *const world_rooms[] = { &loci_schema_room, &loci_write_room, &loci_catchup_room,
                                            &loci_tree_room,   &world_room,      NULL };

world world_open(const char *url)
{
    loci_db_options options = { .rooms = world_rooms, .durability = LOCI_DURABLE_NORMAL };
    world w = { .arena = loci_arena_new(1 << 30) };
    loci_err err = { 0 };

    assert_non_null(w.arena);
    assert_ok(loci_db_open(url, &options, &w.db, &err), err);
    assert_ok(loci_writer_new(w.db, &w.writer, &err), err);
    assert_ok(loci_forest_new(w.db, NULL, &w.forest, &err), err);
    return w;
}

void world_close(world *w)
{
    loci_forest_free(w->forest);
    loci_writer_free(w->writer);
    loci_db_close(w->db);
    loci_arena_free(w->arena);
}

/* Parameters 1 to 6 of an insert. obj 0: a new thing. */
static loci_rc begin_add(loci_change *change, size_t number, int64_t obj, int64_t rev,
                         int64_t *ret_row, loci_stmt **ret_stmt, loci_err *err)
{
    loci_rc rc = loci_stmt_begin(change->tx, &world_room, number, ret_stmt, err);

    if (rc) return rc;
    *ret_row = loci_change_row(change);
    loci_stmt_bind_i64(*ret_stmt, 1, change->org);
    loci_stmt_bind_i64(*ret_stmt, 2, *ret_row);
    loci_stmt_bind_i64(*ret_stmt, 3, obj ? obj : *ret_row);
    loci_stmt_bind_i64(*ret_stmt, 4, rev);
    loci_stmt_bind_i64(*ret_stmt, 5, change->born);
    loci_stmt_bind_i64(*ret_stmt, 6, change->ver);
    return LOCI_OK;
}

static loci_rc add_tag(loci_change *change, int64_t row, int64_t archive, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &world_room, TAG_ADD, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, row);
    loci_stmt_bind_i64(q, 3, archive);
    return loci_stmt_run(q, err);
}

static loci_rc add_row(loci_change *change, act *a, int64_t obj, int64_t rev, loci_str id,
                       loci_err *err)
{
    static const size_t numbers[] = { [BLOCK] = BLOCK_ADD,
                                      [MESSAGE] = MESSAGE_ADD,
                                      [ARCHIVE] = ARCHIVE_ADD,
                                      [ATTACH] = ARCHIVE_LINK,
                                      [PASSAGE] = PASSAGE_ADD };
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t row = 0;
    loci_rc rc = begin_add(change, numbers[a->op], obj, rev, &row, &q, err);

    if (rc) return rc;
    if (a->op != ATTACH) loci_stmt_bind_text(q, 7, id);
    if (a->op == BLOCK || a->op == ARCHIVE) loci_stmt_bind_text(q, 8, loci_str_from(a->name));
    if (a->op == BLOCK) loci_stmt_bind_text(q, 9, loci_str_from(a->text));
    if (a->op == MESSAGE || a->op == PASSAGE) loci_stmt_bind_text(q, 8, loci_str_from(a->text));
    if (a->op == MESSAGE) loci_stmt_bind_i64(q, 9, a->agent);
    if (a->op == MESSAGE) loci_stmt_bind_i64(q, 10, a->parent);
    if (a->op == ATTACH) loci_stmt_bind_i64(q, 7, a->agent);
    if (a->op == ATTACH) loci_stmt_bind_i64(q, 8, a->obj);
    if (a->op == PASSAGE) {
        loci_stmt_bind_i64(q, 9, a->parent);
        if (a->agent) loci_stmt_bind_i64(q, 10, a->agent);
        loci_stmt_bind_i64(q, 11, a->branch);
        loci_stmt_bind_blob(q, 12, loci_str_from(a->text));
    }
    rc = loci_stmt_run(q, err);
    if (!rc && a->op == PASSAGE) rc = add_tag(change, row, a->parent, err);
    if (!rc && a->op != ATTACH) a->obj = obj ? obj : row;
    return rc;
}

static int64_t number_of(const loci_past_row *row, const char *name)
{
    for (size_t i = 0; i < row->value_count; i++)
        if (loci_str_eq(row->values[i].name, loci_str_from(name))) return row->values[i].number;
    return 0;
}

static loci_rc set_text(loci_change *change, act *a, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 24);
    loci_past_row old;
    act fresh = *a;
    loci_rc rc =
        loci_past_at(change->tx, a->table, change->org, a->obj, LOCI_NEVER, arena, &old, err);

    if (!rc) rc = loci_past_end(change, a->table, old.row, err);
    if (rc || a->op == KILL) return rc;
    fresh.op = a->table == &loci_past_block     ? BLOCK
               : a->table == &loci_past_message ? MESSAGE
                                                : PASSAGE;
    fresh.name = old.name.ptr;
    fresh.agent = number_of(&old, "agent");
    fresh.branch = number_of(&old, "branch");
    fresh.parent = fresh.op == PASSAGE ? number_of(&old, "archive") : fresh.branch;
    return add_row(change, &fresh, old.obj, old.rev + 1, old.id, err);
}

loci_rc world_act(loci_change *change, act *a, loci_err *err)
{
    loci_id made;
    loci_rc rc = loci_id_make(a->op == FORK || a->op == GROW ? "branch" : "thing", &made, err);
    loci_str id = loci_str_from(a->id ? a->id : made.text), name = loci_str_from(a->name);
    loci_agent_values values = { .name = name };
    loci_branch_values branch = { .id = id, .node = name };

    if (rc) return rc;
    switch (a->op) {
    case CREATE: return loci_agent_create(change, id, &values, &a->obj, err);
    case ENSURE: return loci_agent_ensure(change, name, id, &a->obj, &a->created, err);
    case RENAME: return loci_agent_change(change, a->obj, LOCI_AGENT_SET_NAME, &values, err);
    case END: return loci_agent_end(change, a->obj, err);
    case REVIVE: return loci_agent_revive(change, a->obj, err);
    case FORK:
        return loci_branch_fork(change, a->agent, a->parent, &branch, &a->obj, &a->created, err);
    case GROW: return loci_branch_ensure(change, a->agent, &branch, &a->obj, &a->created, err);
    case CUT:
    case CUT_ALL:
        return loci_branch_end(change, a->agent, a->obj, a->op == CUT_ALL, &a->count, err);
    case LINK: return loci_label_link(change, a->scope, name, a->obj, a->place, err);
    case UNLINK: return loci_label_unlink(change, a->scope, name, err);
    case DROP: return loci_label_drop(change, a->scope, name, err);
    case SET:
    case KILL: return set_text(change, a, err);
    default: return add_row(change, a, 0, 1, id, err);
    }
}

static loci_rc run_act(loci_change *change, void *arg, loci_err *err)
{
    return world_act(change, arg, err);
}

loci_rc world_try(world *w, act *a, loci_err *err)
{
    loci_write_request request = {
        .org = ORG, .run = run_act, .arg = a, .who = LOCI_STR("user-1"), .door = LOCI_STR("test")
    };
    loci_write_result result;
    loci_rc rc = loci_write(w->writer, &request, NULL, &result, err);

    if (!rc) w->born = result.born;
    return rc;
}

int64_t world_do(world *w, act a)
{
    loci_err err = { 0 };

    assert_ok(world_try(w, &a, &err), err);
    return a.obj;
}

void world_damage(world *w, size_t number, int64_t a, int64_t b, int64_t c)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(w->db, LOCI_TX_WRITE, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &world_room, number, &q, &err), err);
    loci_stmt_bind_i64(q, 1, a);
    loci_stmt_bind_i64(q, 2, b);
    loci_stmt_bind_i64(q, 3, c);
    assert_ok(loci_stmt_run(q, &err), err);
    loci_stmt_endp(&q);
    assert_ok(loci_tx_commit(tx, &err), err);
}

loci_view *world_view(world *w)
{
    loci_view *view = NULL;
    loci_err err = { 0 };

    assert_ok(loci_forest_view(w->forest, ORG, LOCI_FRESH, &view, &err), err);
    return view;
}

loci_tx *world_read(world *w)
{
    loci_tx *tx = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(w->db, LOCI_TX_READ, &tx, &err), err);
    return tx;
}

loci_scope world_scope(world *w, int64_t agent, const char *node, int64_t as_of)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
    loci_scope scope;
    loci_err err = { 0 };

    assert_ok(loci_scope_open(w->forest, tx, ORG, agent, loci_str_from(node), as_of, w->arena,
                              &scope, &err),
              err);
    return scope;
}

loci_chain world_chain(world *w, int64_t agent, int64_t branch)
{
    LOCI_AUTO(loci_view_endp) loci_view *view = world_view(w);
    loci_chain chain = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_view_chain(view, agent, branch, w->arena, &chain, &err), err);
    return chain;
}

const char *world_labels(world *w, const loci_scope *scope)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
    loci_labels labels = { 0 };
    loci_buf text;
    loci_err err = { 0 };

    assert_ok(loci_label_list(tx, scope, w->arena, &labels, &err), err);
    loci_buf_init_arena(&text, w->arena, 1 << 20);
    loci_buf_add_cstr(&text, "");
    for (size_t i = 0; i < labels.count; i++)
        loci_buf_printf(&text, "%s%.*s=%lld@%lld", i ? " " : "", LOCI_ARG(labels.items[i].label),
                        (long long)labels.items[i].block, (long long)labels.items[i].branch);
    return text.ptr ? text.ptr : "";
}
