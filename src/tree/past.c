#include "tree/past.h"

#include "tree/statements.h"

#include <assert.h>
#include <string.h>

const loci_past_table loci_past_agent = { .name = "agent",
                                          .room = &loci_tree_room,
                                          .first = TREE_PAST_AGENT,
                                          .columns = TREE_AGENT_COLUMNS,
                                          .types = "ttttttiit",
                                          .has_id = true,
                                          .has_tags = true };

const loci_past_table loci_past_branch = { .name = "branch",
                                           .room = &loci_tree_room,
                                           .first = TREE_PAST_BRANCH,
                                           .columns = TREE_BRANCH_COLUMNS,
                                           .types = "itittit",
                                           .has_id = true };

const loci_past_table loci_past_archive = { .name = "archive",
                                            .room = &loci_tree_room,
                                            .first = TREE_PAST_ARCHIVE,
                                            .columns = TREE_ARCHIVE_COLUMNS,
                                            .types = "tttttit",
                                            .owner = LOCI_PAST_OF_ARCHIVE,
                                            .has_id = true,
                                            .common = &loci_past_archive,
                                            .others = TREE_ARCHIVE_OTHERS };

const loci_past_table loci_past_archive_link = { .name = "archive_link",
                                                 .room = &loci_tree_room,
                                                 .first = TREE_PAST_ARCHIVE_LINK,
                                                 .columns = TREE_ARCHIVE_LINK_COLUMNS,
                                                 .types = "iii" };

const loci_past_table loci_past_block = { .name = "block",
                                          .room = &loci_tree_room,
                                          .first = TREE_PAST_BLOCK,
                                          .columns = TREE_BLOCK_COLUMNS,
                                          .types = "tttiiiiiiitttit",
                                          .has_id = true,
                                          .has_tags = true,
                                          .common = &loci_past_block,
                                          .others = TREE_BLOCK_OTHERS };

const loci_past_table loci_past_block_link = { .name = "block_link",
                                               .room = &loci_tree_room,
                                               .first = TREE_PAST_BLOCK_LINK,
                                               .columns = TREE_BLOCK_LINK_COLUMNS,
                                               .types = "iitii" };

const loci_past_table loci_past_message = { .name = "message",
                                            .room = &loci_tree_room,
                                            .first = TREE_PAST_MESSAGE,
                                            .columns = TREE_MESSAGE_COLUMNS,
                                            .types = "iittttttttbit",
                                            .has_id = true };

const loci_past_table loci_past_passage = { .name = "passage",
                                            .room = &loci_tree_room,
                                            .first = TREE_PAST_PASSAGE,
                                            .columns = TREE_PASSAGE_COLUMNS,
                                            .types = "iiittbttttit",
                                            .owner = LOCI_PAST_OF_ARCHIVE,
                                            .has_id = true,
                                            .has_tags = true,
                                            .common = &loci_past_archive,
                                            .others = TREE_ARCHIVE_OTHERS };

const loci_past_table *const loci_past_core[] = {
    &loci_past_agent,        &loci_past_branch,  &loci_past_archive,
    &loci_past_archive_link, &loci_past_block,   &loci_past_block_link,
    &loci_past_message,      &loci_past_passage, NULL,
};

enum { OWN_COLUMNS = 14 }; /* LOCI_PAST_SELECT gives these before the table's */

/* Texts of LOCI_PAST_SELECT, by column. */
static loci_rc read_texts(loci_stmt *stmt, loci_arena *arena, loci_past_row *r, loci_err *err)
{
    loci_str *const texts[] = { &r->who, &r->door, &r->ended_who, &r->ended_door,
                                &r->id,  &r->name, &r->node,      &r->text };
    loci_rc rc = LOCI_OK;

    for (unsigned i = 0; !rc && i < LOCI_COUNT(texts); i++)
        rc = loci_stmt_copy(stmt, 5 + i, arena, texts[i], err);
    return rc;
}

static loci_rc read_value(loci_stmt *stmt, unsigned column, loci_arena *arena, loci_past_value *v,
                          loci_err *err)
{
    v->null = loci_stmt_is_null(stmt, column);
    if (v->null) return LOCI_OK;
    if (v->type == 'i') {
        v->number = loci_stmt_i64(stmt, column);
        return LOCI_OK;
    }
    v->text = loci_arena_str(arena, v->type == 'b' ? loci_stmt_blob(stmt, column)
                                                   : loci_stmt_text(stmt, column));
    return v->text.ptr ? LOCI_OK : loci_arena_fail(arena, err);
}

static loci_rc read_values(const loci_past_table *table, loci_stmt *stmt, loci_arena *arena,
                           loci_past_row *r, loci_err *err)
{
    loci_str rest = loci_str_from(table->columns), name;

    r->value_count = strlen(table->types);
    r->values = loci_arena_array(arena, r->value_count, sizeof *r->values);
    if (!r->values) return loci_arena_fail(arena, err);
    for (size_t i = 0; loci_str_cut(&rest, ',', &name); i++) {
        assert(i < r->value_count);
        r->values[i].name = loci_str_trim(name);
        r->values[i].type = table->types[i];
        loci_rc rc = read_value(stmt, OWN_COLUMNS + (unsigned)i, arena, &r->values[i], err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

loci_rc loci_past_read(const loci_past_table *table, loci_stmt *stmt, loci_arena *arena,
                       loci_past_row *ret_row, loci_err *err)
{
    loci_past_row r = { .row = loci_stmt_i64(stmt, 0),
                        .obj = loci_stmt_i64(stmt, 1),
                        .rev = loci_stmt_i64(stmt, 2),
                        .born = loci_stmt_i64(stmt, 3),
                        .ended = loci_stmt_i64(stmt, 4),
                        .before = loci_stmt_i64(stmt, OWN_COLUMNS - 1) };
    loci_rc rc = read_texts(stmt, arena, &r, err);

    if (!rc) rc = read_values(table, stmt, arena, &r, err);
    if (!rc) *ret_row = r;
    return rc;
}

loci_rc loci_past_at(loci_tx *tx, const loci_past_table *table, int64_t org, int64_t obj,
                     int64_t time, loci_arena *arena, loci_past_row *ret_row, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, table->room, table->first + LOCI_PAST_AT, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, obj);
    /* Alive now is what ends at LOCI_NEVER: the moment before it. */
    loci_stmt_bind_i64(q, 3, time == LOCI_NEVER ? LOCI_NEVER - 1 : time);
    rc = loci_stmt_next(q, err);
    return rc ? rc : loci_past_read(table, q, arena, ret_row, err);
}

bool loci_past_value_same(const loci_past_value *a, const loci_past_value *b)
{
    if (a->null || b->null) return a->null == b->null;
    return a->type == 'i' ? a->number == b->number : loci_str_eq(a->text, b->text);
}

bool loci_past_same(const loci_past_row *a, const loci_past_row *b)
{
    assert(a->value_count == b->value_count);
    for (size_t i = 0; i < a->value_count; i++)
        if (!loci_past_value_same(&a->values[i], &b->values[i])) return false;
    return true;
}

/* The link's next revision, or a new link made in the very moment, goes on with the same span. */
static void add_span(loci_past_spans *spans, int64_t archive, int64_t born, int64_t ended)
{
    loci_past_span *last = spans->count ? &spans->items[spans->count - 1] : NULL;

    if (last && last->kind == LOCI_PAST_OF_ARCHIVE && last->owner == archive &&
        born <= last->until) {
        if (ended > last->until) last->until = ended;
        return;
    }
    spans->items[spans->count++] = (loci_past_span){
        .kind = LOCI_PAST_OF_ARCHIVE, .owner = archive, .after = born - 1, .until = ended
    };
}

loci_rc loci_past_find_spans(loci_tx *tx, int64_t org, int64_t agent, loci_arena *arena,
                             loci_past_spans *ret_spans, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_past_spans spans = { 0 };
    size_t room = 8;
    loci_rc rc = loci_stmt_begin(tx, &loci_tree_room, TREE_ARCHIVE_SPANS, &q, err);

    if (rc) return rc;
    spans.items = loci_arena_array(arena, room, sizeof *spans.items);
    if (!spans.items) return loci_arena_fail(arena, err);
    spans.items[spans.count++] = (loci_past_span){
        .kind = LOCI_PAST_OF_AGENT, .owner = agent, .after = 0, .until = LOCI_NEVER
    };
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, agent);
    loci_stmt_bind_i64(q, 3, LOCI_PAST_SPANS);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        if (spans.count == room) {
            spans.items = loci_arena_grow(arena, spans.items, room * sizeof *spans.items,
                                          2 * room * sizeof *spans.items);
            if (!spans.items) return loci_arena_fail(arena, err);
            room *= 2;
        }
        add_span(&spans, loci_stmt_i64(q, 0), loci_stmt_i64(q, 1), loci_stmt_i64(q, 2));
    }
    if (rc != LOCI_DONE) return rc;
    *ret_spans = spans;
    return LOCI_OK;
}

loci_rc loci_past_end(loci_change *change, const loci_past_table *table, int64_t row, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, table->room, table->first + LOCI_PAST_END, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, row);
    loci_stmt_bind_i64(q, 3, change->born);
    loci_stmt_bind_i64(q, 4, change->ver);
    loci_stmt_bind_text_or_null(q, 5, change->who);
    loci_stmt_bind_text(q, 6, change->door);
    return loci_stmt_post(q, err);
}

loci_rc loci_past_copy_tags(loci_change *change, const loci_past_table *table, int64_t row,
                            int64_t fresh, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, table->room, table->first + LOCI_PAST_TAGS, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, row);
    loci_stmt_bind_i64(q, 3, fresh);
    return loci_stmt_post(q, err);
}

loci_rc loci_past_copy(loci_change *change, const loci_past_table *table, int64_t row,
                       loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t fresh = loci_change_row(change);
    loci_rc rc = loci_stmt_begin(change->tx, table->room, table->first + LOCI_PAST_COPY, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, row);
    loci_stmt_bind_i64(q, 3, fresh);
    loci_stmt_bind_i64(q, 4, change->born);
    loci_stmt_bind_i64(q, 5, change->ver);
    loci_stmt_bind_text_or_null(q, 6, change->who);
    loci_stmt_bind_text(q, 7, change->door);
    rc = loci_stmt_post(q, err);
    return rc || !table->has_tags ? rc : loci_past_copy_tags(change, table, row, fresh, err);
}
