#include "db/import_row.h"

#include "base/id.h"

void loci_import_rows_start(loci_import_rows *rows)
{
    rows->cached = 0;
}

static bool find_cached(const loci_import_rows *rows, const loci_table *table, loci_str id,
                        int64_t *ret_obj)
{
    size_t count = rows->cached < LOCI_IMPORT_CACHE ? rows->cached : LOCI_IMPORT_CACHE;

    for (size_t i = 0; i < count; i++) {
        if (rows->cache[i].table != table || !loci_str_eq(rows->cache[i].id, id)) continue;
        *ret_obj = rows->cache[i].obj;
        return true;
    }
    return false;
}

loci_rc loci_import_obj(loci_import_rows *rows, loci_tx *tx, const loci_table *table, loci_str id,
                        int64_t *ret_obj, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    if (find_cached(rows, table, id, ret_obj)) return LOCI_OK;
    loci_rc rc = loci_table_begin(tx, table, LOCI_TABLE_OBJ, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, rows->org);
    loci_stmt_bind_text(q, 2, id);
    rc = loci_stmt_next(q, err);
    *ret_obj = rc ? 0 : loci_stmt_i64(q, 0);
    if (rc) return rc == LOCI_DONE ? LOCI_OK : rc;
    size_t at = rows->cached++ % LOCI_IMPORT_CACHE;
    rows->cache[at].table = table;
    rows->cache[at].id = id;
    rows->cache[at].obj = *ret_obj;
    return LOCI_OK;
}

/* Bind the keys of a row, references as numbers. *ret_found is false when one of them points to
 * nothing in this store, so that the row cannot be there either. */
static loci_rc key_numbers(loci_import_rows *rows, loci_tx *tx, const loci_carried *row,
                           int64_t numbers[LOCI_TABLE_KEYS], bool *ret_found, loci_err *err)
{
    const loci_table *t = row->table;
    loci_rc rc = LOCI_OK;

    *ret_found = true;
    for (size_t i = 0; !rc && i < LOCI_TABLE_KEYS && t->keys[i] && !t->has_id; i++) {
        const loci_column *c = loci_table_column(t, t->keys[i]);
        const loci_carried_value *v = loci_carry_get(row, t->keys[i]);
        numbers[i] = v->number;
        if (!c->ref || !v->there) continue;
        rc = loci_import_obj(rows, tx, loci_table_find(loci_str_from(c->ref)), v->bytes,
                             &numbers[i], err);
        if (!rc && !numbers[i]) *ret_found = false;
    }
    return rc;
}

static void bind_keys(loci_import_rows *rows, loci_stmt *q, const loci_carried *row,
                      const int64_t numbers[LOCI_TABLE_KEYS])
{
    const loci_table *t = row->table;

    loci_stmt_bind_i64(q, 1, rows->org);
    if (t->has_id) {
        loci_stmt_bind_text(q, 2, row->id);
        return;
    }
    for (unsigned i = 0; i < LOCI_TABLE_KEYS && t->keys[i]; i++) {
        const loci_column *c = loci_table_column(t, t->keys[i]);
        const loci_carried_value *v = loci_carry_get(row, t->keys[i]);
        if (c->kind == 'i')
            loci_stmt_bind_i64(q, i + 2, numbers[i]);
        else if (c->kind == 'b')
            loci_stmt_bind_blob(q, i + 2, v->bytes);
        else
            loci_stmt_bind_text(q, i + 2, v->bytes);
    }
}

static loci_import_state compare_ends(const loci_carried *row, loci_stmt *q,
                                      const char **ret_column)
{
    int64_t stored = loci_stmt_i64(q, LOCI_CARRIED_ENDED);

    if (stored == row->ended || row->ended == LOCI_NEVER) return LOCI_IMPORT_SAME;
    if (stored == LOCI_NEVER) return LOCI_IMPORT_ENDS;
    *ret_column = "ended";
    return LOCI_IMPORT_CONFLICT;
}

static loci_import_state compare_one(const loci_carried *row, loci_stmt *q, const char **ret_column)
{
    *ret_column = loci_carry_differs(row, q);
    if (*ret_column) return LOCI_IMPORT_CONFLICT;
    if (row->table->kind != LOCI_TABLE_VERSIONED) return LOCI_IMPORT_SAME;
    return compare_ends(row, q, ret_column);
}

/* A plain row is there once. A vector is only a cache: the one that is there is as good. */
static loci_rc look_plain(loci_stmt *q, const loci_carried *row, loci_import_state *ret_state,
                          const char **ret_column, loci_err *err)
{
    loci_rc rc = loci_stmt_next(q, err);

    if (rc) return rc == LOCI_DONE ? LOCI_OK : rc;
    if (strcmp(row->table->name, "vector") == 0) {
        *ret_state = LOCI_IMPORT_SAME;
        return LOCI_OK;
    }
    *ret_state = compare_one(row, q, ret_column);
    return LOCI_OK;
}

static loci_rc look_versioned(loci_stmt *q, const loci_carried *row, loci_import_state *ret_state,
                              int64_t *ret_row, int64_t *ret_obj, const char **ret_column,
                              loci_err *err)
{
    bool id = row->table->has_id;
    loci_rc rc;

    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        bool alive = loci_stmt_i64(q, LOCI_CARRIED_ENDED) == LOCI_NEVER;
        int64_t rev = loci_stmt_i64(q, LOCI_CARRIED_REV);
        bool mine = id || loci_stmt_i64(q, LOCI_CARRIED_FIRST) == row->first;
        if (mine) *ret_obj = loci_stmt_i64(q, LOCI_CARRIED_OBJ);
        if (mine && rev == row->rev) {
            *ret_row = loci_stmt_i64(q, LOCI_CARRIED_ROW);
            *ret_state = compare_one(row, q, ret_column);
            return LOCI_OK;
        }
        /* Two living ones cannot be. An older revision of the same object will have been ended. */
        if (alive && row->ended == LOCI_NEVER && (!mine || rev > row->rev)) {
            *ret_state = LOCI_IMPORT_CONFLICT;
            *ret_column = id ? "rev" : "first";
        }
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

loci_rc loci_import_look(loci_import_rows *rows, loci_tx *tx, const loci_carried *row,
                         loci_import_state *ret_state, int64_t *ret_row, int64_t *ret_obj,
                         const char **ret_column, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t numbers[LOCI_TABLE_KEYS] = { 0 };
    bool found = false;

    *ret_state = LOCI_IMPORT_NEW;
    *ret_row = *ret_obj = 0;
    *ret_column = NULL;
    loci_rc rc = key_numbers(rows, tx, row, numbers, &found, err);
    if (rc || !found) return rc;
    rc = loci_table_begin(tx, row->table, LOCI_TABLE_FIND, &q, err);
    if (rc) return rc;
    bind_keys(rows, q, row, numbers);
    if (row->table->kind == LOCI_TABLE_VERSIONED)
        return look_versioned(q, row, ret_state, ret_row, ret_obj, ret_column, err);
    return look_plain(q, row, ret_state, ret_column, err);
}

/* The numbers behind the references of a row. */
static loci_rc resolve(loci_import_rows *rows, loci_change *change, const loci_carried *row,
                       int64_t numbers[LOCI_CARRY_COLUMNS], loci_err *err)
{
    const loci_table *t = row->table;
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < t->column_count; i++) {
        const loci_column *c = &t->columns[i];
        loci_str id = row->own[i].bytes;
        numbers[i] = row->own[i].number;
        if (!c->ref || !row->own[i].there) continue;
        const loci_table *target = loci_table_find(loci_str_from(c->ref));
        rc = loci_import_obj(rows, change->tx, target, id, &numbers[i], err);
        if (rc || numbers[i] || (c->flags & LOCI_COLUMN_WEAK)) continue;
        return loci_fail(err, LOCI_ECONFLICT, "'%s' names %.*s, which has gone meanwhile", c->name,
                         LOCI_ARG(id));
    }
    return rc;
}

static void bind_common(loci_stmt *q, const loci_change *change, const loci_carried *row,
                        int64_t number, int64_t obj, unsigned *at)
{
    const int64_t numbers[] = { change->org, number,
                                obj,         row->rev,
                                row->born,   row->ended,
                                change->ver, row->ended == LOCI_NEVER ? 0 : change->ver };
    const loci_str texts[] = { row->who, row->door, row->ended_who, row->ended_door };

    for (size_t i = 0; i < LOCI_COUNT(numbers); i++) loci_stmt_bind_i64(q, ++*at, numbers[i]);
    for (size_t i = 0; i < LOCI_COUNT(texts); i++) loci_stmt_bind_text_or_null(q, ++*at, texts[i]);
    if (row->table->has_id) loci_stmt_bind_text(q, ++*at, row->id);
}

static void bind_own(loci_stmt *q, const loci_change *change, const loci_column *c,
                     const loci_carried_value *v, int64_t number, unsigned at)
{
    /* A reference to nothing is NULL, unless the column says that it is 0. */
    bool is_number = c->ref ? number || (c->flags & LOCI_COLUMN_ZERO) : v->there && c->kind == 'i';

    if (strcmp(c->name, "org") == 0)
        loci_stmt_bind_i64(q, at, change->org);
    else if (c->flags & LOCI_COLUMN_STAMP)
        loci_stmt_bind_i64(q, at, change->ver);
    else if (is_number)
        loci_stmt_bind_i64(q, at, number);
    else if (c->ref || !v->there)
        loci_stmt_bind_null(q, at);
    else if (c->kind == 'b')
        loci_stmt_bind_blob(q, at, v->bytes);
    else
        loci_stmt_bind_text(q, at, v->bytes);
}

static loci_rc insert(loci_change *change, const loci_carried *row, int64_t number, int64_t obj,
                      const int64_t *numbers, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    const loci_table *t = row->table;
    unsigned at = 0;
    loci_rc rc = loci_table_begin(change->tx, t, LOCI_TABLE_INSERT, &q, err);

    if (rc) return rc;
    if (t->kind == LOCI_TABLE_VERSIONED) bind_common(q, change, row, number, obj, &at);
    for (size_t i = 0; i < t->column_count; i++)
        bind_own(q, change, &t->columns[i], &row->own[i], numbers[i], ++at);
    return loci_stmt_post(q, err);
}

static loci_rc insert_tag(loci_change *change, const loci_carried *row, loci_str tag,
                          int64_t number, int64_t archive, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_id id;
    loci_rc rc = loci_table_begin(change->tx, row->table, LOCI_TABLE_TAG, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_text(q, 2, tag);
    loci_stmt_bind_i64(q, 3, number);
    if (strcmp(row->table->name, "passage") == 0) {
        rc = loci_id_make("passage_tag", &id, err);
        if (rc) return rc;
        loci_stmt_bind_i64(q, 4, archive);
        loci_stmt_bind_text(q, 5, loci_str_from(id.text));
    }
    return loci_stmt_post(q, err);
}

/* The rows of the junction table are made from the tags. */
static loci_rc insert_tags(loci_change *change, const loci_carried *row, int64_t number,
                           const int64_t *numbers, loci_arena *arena, loci_err *err)
{
    const loci_table *t = row->table;
    const loci_column *archive = loci_table_column(t, "archive");
    loci_str *tags = NULL;
    size_t count = 0;

    if (!t->junction || !loci_carry_get(row, "tags")->there) return LOCI_OK;
    loci_rc rc = loci_carry_tags(arena, loci_carry_get(row, "tags")->bytes, &tags, &count, err);
    for (size_t i = 0; !rc && i < count; i++)
        rc = insert_tag(change, row, tags[i], number, archive ? numbers[archive - t->columns] : 0,
                        err);
    return rc;
}

static loci_rc add_row(loci_import_rows *rows, loci_change *change, const loci_carried *row,
                       int64_t obj, loci_arena *arena, loci_err *err)
{
    int64_t numbers[LOCI_CARRY_COLUMNS] = { 0 };
    int64_t number = 0;
    loci_rc rc = resolve(rows, change, row, numbers, err);

    if (rc) return rc;
    if (row->table->kind == LOCI_TABLE_VERSIONED) {
        number = loci_change_row(change);
        if (!obj) obj = number;
    }
    rc = insert(change, row, number, obj, numbers, err);
    return rc ? rc : insert_tags(change, row, number, numbers, arena, err);
}

static loci_rc end_row(loci_change *change, const loci_carried *row, int64_t number, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_table_begin(change->tx, row->table, LOCI_TABLE_END, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, number);
    loci_stmt_bind_i64(q, 3, row->ended);
    loci_stmt_bind_i64(q, 4, change->ver);
    loci_stmt_bind_text_or_null(q, 5, row->ended_who);
    loci_stmt_bind_text_or_null(q, 6, row->ended_door);
    return loci_stmt_post(q, err);
}

loci_rc loci_import_put(loci_import_rows *rows, loci_change *change, const loci_carried *row,
                        loci_arena *arena, loci_import_state *ret_state, loci_err *err)
{
    int64_t number = 0, obj = 0;
    const char *column = NULL;
    loci_rc rc = loci_import_look(rows, change->tx, row, ret_state, &number, &obj, &column, err);

    if (rc) return rc;
    switch (*ret_state) {
    case LOCI_IMPORT_NEW: return add_row(rows, change, row, obj, arena, err);
    case LOCI_IMPORT_ENDS: return end_row(change, row, number, err);
    case LOCI_IMPORT_SAME: return LOCI_OK;
    case LOCI_IMPORT_CONFLICT: break;
    }
    LOCI_AUTO(loci_buf_done) loci_buf name = { 0 };
    loci_buf_init(&name, 300);
    loci_carry_name(row, &name);
    return loci_fail(err, LOCI_ECONFLICT, "line %zu: the store has another '%s' for %s", row->line,
                     column, name.ptr ? name.ptr : row->table->name);
}
