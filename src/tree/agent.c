#include "tree/agent.h"

#include "base/buf.h"
#include "base/id.h"
#include "base/json.h"
#include "base/utf8.h"
#include "db/stmt.h"
#include "tree/statements.h"

enum {
    TAGS_BYTES = LOCI_AGENT_TAGS * (6 * LOCI_AGENT_TAG_BYTES + 3) + 2,
    SCRATCH_BYTES = 16 << 20 /* for one agent with its texts */
};

static loci_rc check_text(const char *what, loci_str s, loci_err *err)
{
    if (s.len > LOCI_AGENT_TEXT_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "an agent's %s has at most %d bytes, not %zu", what,
                         LOCI_AGENT_TEXT_BYTES, s.len);
    return LOCI_OK;
}

static loci_rc check_name(loci_str name, loci_err *err)
{
    if (!name.len) return loci_fail(err, LOCI_EINVAL, "an agent needs a name");
    if (name.len > LOCI_AGENT_NAME_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "an agent's name has at most %d bytes, not %zu",
                         LOCI_AGENT_NAME_BYTES, name.len);
    return LOCI_OK;
}

static loci_rc check_tags(const loci_agent_values *v, loci_err *err)
{
    if (v->tag_count > LOCI_AGENT_TAGS)
        return loci_fail(err, LOCI_ELIMIT, "an agent has at most %d tags, not %zu", LOCI_AGENT_TAGS,
                         v->tag_count);
    for (size_t i = 0; i < v->tag_count; i++)
        if (!v->tags[i].len || v->tags[i].len > LOCI_AGENT_TAG_BYTES)
            return loci_fail(err, LOCI_EINVAL,
                             "tag %zu of the agent must have 1..%d bytes, not %zu", i + 1,
                             LOCI_AGENT_TAG_BYTES, v->tags[i].len);
    return LOCI_OK;
}

static loci_rc check_values(const loci_agent_values *v, unsigned set, loci_err *err)
{
    loci_rc rc = set & LOCI_AGENT_SET_NAME ? check_name(v->name, err) : LOCI_OK;

    if (!rc) rc = check_text("type", v->type, err);
    if (!rc) rc = check_text("system text", v->system, err);
    if (!rc) rc = check_text("description", v->description, err);
    if (!rc) rc = check_text("metadata", v->metadata, err);
    if (!rc) rc = check_text("extra", v->extra, err);
    return rc ? rc : check_tags(v, err);
}

/* The tags as a JSON array, in `arena`. */
static loci_rc write_tags(const loci_agent_values *v, loci_arena *arena, loci_str *ret_json,
                          loci_err *err)
{
    loci_buf out;
    loci_json_writer w;

    loci_buf_init_arena(&out, arena, TAGS_BYTES);
    loci_json_begin(&w, &out);
    loci_json_array(&w);
    for (size_t i = 0; i < v->tag_count; i++) loci_json_string(&w, v->tags[i]);
    loci_json_array_end(&w);
    loci_rc rc = loci_json_check(&w, err);
    if (!rc) *ret_json = loci_buf_str(&out);
    return rc;
}

static bool is_repeated(const loci_agent_values *v, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (loci_str_eq(v->tags[k], v->tags[i])) return true;
    return false;
}

static loci_rc add_tags(loci_change *change, const loci_agent_values *v, int64_t row, loci_err *err)
{
    for (size_t i = 0; i < v->tag_count; i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        if (is_repeated(v, i)) continue;
        loci_rc rc = loci_stmt_begin(change->tx, &loci_tree_room, TREE_AGENT_TAG, &q, err);
        if (rc) return rc;
        loci_stmt_bind_i64(q, 1, change->org);
        loci_stmt_bind_text(q, 2, v->tags[i]);
        loci_stmt_bind_i64(q, 3, row);
        rc = loci_stmt_post(q, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

static loci_rc add_revision(loci_change *change, const loci_agent *a, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    const loci_str texts[] = { a->name, a->type, a->system, a->description, a->tags, a->metadata };
    loci_rc rc = loci_stmt_begin(change->tx, &loci_tree_room, TREE_AGENT_ADD, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, a->row);
    loci_stmt_bind_i64(q, 3, a->obj);
    loci_stmt_bind_i64(q, 4, a->rev);
    loci_stmt_bind_i64(q, 5, change->born);
    loci_stmt_bind_i64(q, 6, change->ver);
    loci_stmt_bind_text_or_null(q, 7, change->who);
    loci_stmt_bind_text(q, 8, change->door);
    loci_stmt_bind_text(q, 9, a->id);
    for (unsigned i = 0; i < LOCI_COUNT(texts); i++)
        loci_stmt_bind_text_or_null(q, 10 + i, texts[i]);
    loci_stmt_bind_i64(q, 16, a->hidden);
    loci_stmt_bind_i64(q, 17, a->created_at);
    loci_stmt_bind_text_or_null(q, 18, a->extra);
    return loci_stmt_run(q, err);
}

static loci_rc read_agent(loci_stmt *q, loci_arena *arena, loci_agent *ret_agent, loci_err *err)
{
    loci_agent a = { .row = loci_stmt_i64(q, 0),
                     .obj = loci_stmt_i64(q, 1),
                     .rev = loci_stmt_i64(q, 2),
                     .born = loci_stmt_i64(q, 3),
                     .ended = loci_stmt_i64(q, 4),
                     .hidden = loci_stmt_i64(q, 12) != 0,
                     .created_at = loci_stmt_i64(q, 13) };
    loci_str *const texts[] = { &a.id,          &a.name, &a.type,    &a.system,
                                &a.description, &a.tags, &a.metadata };
    loci_rc rc = loci_stmt_copy(q, 14, arena, &a.extra, err);

    for (unsigned i = 0; !rc && i < LOCI_COUNT(texts); i++)
        rc = loci_stmt_copy(q, 5 + i, arena, texts[i], err);
    if (!rc) *ret_agent = a;
    return rc;
}

/* One row by a text. LOCI_DONE: there is none. */
static loci_rc find_by(loci_tx *tx, size_t number, int64_t org, loci_str text, loci_arena *arena,
                       loci_agent *ret_agent, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, number, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, text);
    rc = loci_stmt_next(q, err);
    return rc ? rc : read_agent(q, arena, ret_agent, err);
}

/* The last revision, dead or alive. LOCI_DONE: there is none. */
static loci_rc find_last(loci_tx *tx, int64_t org, int64_t obj, loci_arena *arena,
                         loci_agent *ret_agent, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, TREE_AGENT_LAST, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, obj);
    rc = loci_stmt_next(q, err);
    return rc ? rc : read_agent(q, arena, ret_agent, err);
}

static loci_rc not_found(loci_str id_or_name, loci_err *err)
{
    loci_str shown = loci_utf8_cut(id_or_name, 100);

    return loci_fail(err, LOCI_ENOTFOUND, "no agent with the id or name '%.*s'", LOCI_ARG(shown));
}

/* No agent can have it: not a question for the store, whose text must be UTF-8 without NUL. */
static bool is_nameable(loci_str s)
{
    return s.len && s.len <= LOCI_AGENT_NAME_BYTES && !memchr(s.ptr, '\0', s.len) &&
           loci_utf8_valid(s);
}

/* LOCI_DONE: nobody. */
static loci_rc find_alive(loci_tx *tx, int64_t org, loci_str id_or_name, loci_arena *arena,
                          loci_agent *ret_agent, loci_err *err)
{
    if (!is_nameable(id_or_name)) return LOCI_DONE;
    loci_rc rc = find_by(tx, TREE_AGENT_BY_ID, org, id_or_name, arena, ret_agent, err);
    if (rc != LOCI_DONE) return rc;
    return find_by(tx, TREE_AGENT_BY_NAME, org, id_or_name, arena, ret_agent, err);
}

loci_rc loci_agent_find(loci_tx *tx, int64_t org, loci_str id_or_name, loci_arena *arena,
                        loci_agent *ret_agent, loci_err *err)
{
    loci_rc rc = find_alive(tx, org, id_or_name, arena, ret_agent, err);

    return rc == LOCI_DONE ? not_found(id_or_name, err) : rc;
}

loci_rc loci_agent_find_ever(loci_tx *tx, int64_t org, loci_str id_or_name, loci_arena *arena,
                             loci_agent *ret_agent, loci_err *err)
{
    if (!is_nameable(id_or_name)) return not_found(id_or_name, err);
    loci_rc rc = find_alive(tx, org, id_or_name, arena, ret_agent, err);
    if (rc == LOCI_DONE)
        rc = find_by(tx, TREE_AGENT_ENDED_ID, org, id_or_name, arena, ret_agent, err);
    if (rc == LOCI_DONE)
        rc = find_by(tx, TREE_AGENT_ENDED_NAME, org, id_or_name, arena, ret_agent, err);
    return rc == LOCI_DONE ? not_found(id_or_name, err) : rc;
}

loci_rc loci_agent_get(loci_tx *tx, int64_t org, int64_t obj, int64_t time, loci_arena *arena,
                       loci_agent *ret_agent, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, TREE_AGENT_BY_OBJ, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, obj);
    loci_stmt_bind_i64(q, 3, time == LOCI_NEVER ? LOCI_NEVER - 1 : time);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND, "no agent with the number %lld%s", (long long)obj,
                         time == LOCI_NEVER ? "" : " at that time");
    return rc ? rc : read_agent(q, arena, ret_agent, err);
}

static loci_rc check_page(const loci_agent_page *page, loci_err *err)
{
    if (page->limit > LOCI_AGENT_PAGE)
        return loci_fail(err, LOCI_EINVAL, "limit must be 1..%d, not %zu", LOCI_AGENT_PAGE,
                         page->limit);
    return LOCI_OK;
}

loci_rc loci_agent_list(loci_tx *tx, int64_t org, const loci_agent_page *page, loci_arena *arena,
                        loci_agents *ret_agents, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    size_t limit = page->limit ? page->limit : 50, number;
    int64_t edge = page->oldest_first ? INT64_MIN : INT64_MAX;
    loci_agents agents = { 0 };
    loci_rc rc = check_page(page, err);

    if (rc) return rc;
    number = page->oldest_first ? TREE_AGENT_UP : TREE_AGENT_DOWN;
    agents.items = loci_arena_array(arena, limit, sizeof *agents.items);
    if (!agents.items) return loci_arena_fail(arena, err);
    rc = loci_stmt_begin(tx, &loci_tree_room, number, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, page->behind ? page->behind->created_at : edge);
    loci_stmt_bind_text_or_null(q, 3, page->name);
    loci_stmt_bind_i64(q, 4, page->behind ? page->behind->obj : edge);
    loci_stmt_bind_i64(q, 5, page->hidden);
    loci_stmt_bind_i64(q, 6, (int64_t)limit);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        rc = read_agent(q, arena, &agents.items[agents.count++], err);
        if (rc) return rc;
    }
    if (rc != LOCI_DONE) return rc;
    *ret_agents = agents;
    return LOCI_OK;
}

loci_rc loci_agent_create(loci_change *change, loci_str id, const loci_agent_values *values,
                          int64_t *ret_obj, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_agent a = { .rev = 1,
                     .id = id,
                     .name = values->name,
                     .type = values->type.len ? values->type : LOCI_STR(LOCI_AGENT_TYPE),
                     .system = values->system,
                     .description = values->description,
                     .metadata = values->metadata,
                     .extra = values->extra,
                     .hidden = values->hidden,
                     .created_at = values->created_at ? values->created_at : change->born };
    loci_rc rc = check_values(values, LOCI_AGENT_SET_NAME, err);

    if (rc) return rc;
    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (!id.len || id.len > LOCI_ID_MAX)
        return loci_fail(err, LOCI_EINVAL, "an agent's id must have 1..%d bytes, not %zu",
                         LOCI_ID_MAX, id.len);
    rc = write_tags(values, scratch, &a.tags, err);
    if (rc) return rc;
    a.row = a.obj = loci_change_row(change);
    rc = add_revision(change, &a, err);
    if (rc == LOCI_ECONFLICT)
        return loci_fail(err, LOCI_ECONFLICT, "an agent with the id '%.*s' exists already",
                         LOCI_ARG(id));
    if (!rc) rc = add_tags(change, values, a.row, err);
    if (!rc) *ret_obj = a.obj;
    return rc;
}

loci_rc loci_agent_ensure(loci_change *change, loci_str name, loci_str fresh_id, int64_t *ret_obj,
                          bool *ret_created, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_agent_values values = { .name = name };
    loci_agent found = { 0 };

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = check_name(name, err);
    if (!rc) rc = find_alive(change->tx, change->org, name, scratch, &found, err);
    if (rc == LOCI_OK) {
        *ret_obj = found.obj;
        *ret_created = false;
        return LOCI_OK;
    }
    if (rc != LOCI_DONE) return rc;
    if (loci_id_check(name, LOCI_AGENT_PREFIX)) return not_found(name, err);
    rc = loci_agent_create(change, fresh_id, &values, ret_obj, err);
    if (!rc) *ret_created = true;
    return rc;
}

static void patch(loci_agent *a, unsigned set, const loci_agent_values *v)
{
    if (set & LOCI_AGENT_SET_NAME) a->name = v->name;
    if (set & LOCI_AGENT_SET_TYPE) a->type = v->type.len ? v->type : LOCI_STR(LOCI_AGENT_TYPE);
    if (set & LOCI_AGENT_SET_SYSTEM) a->system = v->system;
    if (set & LOCI_AGENT_SET_DESCRIPTION) a->description = v->description;
    if (set & LOCI_AGENT_SET_METADATA) a->metadata = v->metadata;
    if (set & LOCI_AGENT_SET_EXTRA) a->extra = v->extra;
    if (set & LOCI_AGENT_SET_HIDDEN) a->hidden = v->hidden;
}

loci_rc loci_agent_change(loci_change *change, int64_t obj, unsigned set,
                          const loci_agent_values *values, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_agent a;
    loci_rc rc = check_values(values, set, err);

    if (rc) return rc;
    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    rc = loci_agent_get(change->tx, change->org, obj, LOCI_NEVER, scratch, &a, err);
    if (!rc) rc = loci_past_end(change, &loci_past_agent, a.row, err);
    if (rc) return rc;
    int64_t old = a.row;
    patch(&a, set, values);
    if (set & LOCI_AGENT_SET_TAGS) rc = write_tags(values, scratch, &a.tags, err);
    if (rc) return rc;
    a.row = loci_change_row(change);
    a.rev++;
    rc = add_revision(change, &a, err);
    if (rc) return rc;
    if (set & LOCI_AGENT_SET_TAGS) return add_tags(change, values, a.row, err);
    return loci_past_copy_tags(change, &loci_past_agent, old, a.row, err);
}

static loci_rc end_links(loci_change *change, size_t number, int64_t agent, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_tree_room, number, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, agent);
    loci_stmt_bind_i64(q, 3, change->born);
    loci_stmt_bind_i64(q, 4, change->ver);
    loci_stmt_bind_text_or_null(q, 5, change->who);
    loci_stmt_bind_text(q, 6, change->door);
    return loci_stmt_post(q, err);
}

/* The row of the live revision. */
static loci_rc find_row(loci_change *change, int64_t obj, int64_t *ret_row, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_tree_room, TREE_AGENT_ALIVE, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, obj);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND, "no agent with the number %lld", (long long)obj);
    if (!rc) *ret_row = loci_stmt_i64(q, 0);
    return rc;
}

loci_rc loci_agent_end(loci_change *change, int64_t obj, loci_err *err)
{
    int64_t row = 0;
    loci_rc rc = find_row(change, obj, &row, err);

    if (!rc) rc = end_links(change, TREE_AGENT_END_BLOCKS, obj, err);
    if (!rc) rc = end_links(change, TREE_AGENT_END_ARCHIVES, obj, err);
    return rc ? rc : loci_past_end(change, &loci_past_agent, row, err);
}

/* Links that ended at `ended`, when the agent did, come back as new revisions. */
static loci_rc revive_links(loci_change *change, size_t number, const loci_past_table *table,
                            const loci_agent *a, loci_arena *scratch, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    size_t count = 0, room = 16;
    int64_t *rows = loci_arena_array(scratch, room, sizeof *rows);
    loci_rc rc = loci_stmt_begin(change->tx, &loci_tree_room, number, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, a->obj);
    loci_stmt_bind_i64(q, 3, a->ended);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        if (rows && count == room) {
            rows = loci_arena_grow(scratch, rows, room * sizeof *rows, 2 * room * sizeof *rows);
            room *= 2;
        }
        if (!rows) return loci_arena_fail(scratch, err);
        rows[count++] = loci_stmt_i64(q, 0);
    }
    loci_stmt_endp(&q);
    rc = rc == LOCI_DONE ? LOCI_OK : rc;
    for (size_t i = 0; !rc && i < count; i++) rc = loci_past_copy(change, table, rows[i], err);
    return rc;
}

loci_rc loci_agent_revive(loci_change *change, int64_t obj, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(SCRATCH_BYTES);
    loci_agent a;

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = find_last(change->tx, change->org, obj, scratch, &a, err);
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND, "no agent with the number %lld", (long long)obj);
    if (rc) return rc;
    if (a.ended == LOCI_NEVER)
        return loci_fail(err, LOCI_ECONFLICT, "agent '%.*s' has not been deleted", LOCI_ARG(a.id));
    rc = loci_past_copy(change, &loci_past_agent, a.row, err);
    if (!rc)
        rc = revive_links(change, TREE_AGENT_LOST_BLOCKS, &loci_past_block_link, &a, scratch, err);
    if (rc) return rc;
    return revive_links(change, TREE_AGENT_LOST_ARCHIVES, &loci_past_archive_link, &a, scratch,
                        err);
}
