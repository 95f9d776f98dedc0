#include "db/carry.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "db/lines.h"

#include <assert.h>

bool loci_carry_has(const loci_table *table, size_t index)
{
    const loci_column *c = &table->columns[index];

    return !(c->flags & LOCI_COLUMN_STAMP) && strcmp(c->name, "org") != 0;
}

unsigned loci_carry_place(const loci_table *table, size_t index)
{
    unsigned at = table->kind == LOCI_TABLE_VERSIONED ? LOCI_CARRIED_OWN : 0;

    for (size_t i = 0; i < index; i++)
        if (loci_carry_has(table, i)) at += table->columns[i].ref ? 2 : 1;
    return at;
}

const loci_carried_value *loci_carry_get(const loci_carried *row, const char *name)
{
    const loci_column *c = loci_table_column(row->table, name);

    assert(c);
    return &row->own[c - row->table->columns];
}

/* --- writing --- */

static void write_blob(loci_json_writer *w, loci_str bytes)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };

    loci_buf_init(&text, LOCI_LINE_BYTES);
    loci_base64_encode(LOCI_BASE64, bytes, &text);
    loci_json_string(w, loci_buf_str(&text));
    if (text.failed) w->out->failed = text.failed;
}

static void write_text(loci_json_writer *w, const char *name, loci_str text)
{
    if (text.ptr) loci_json_member_str(w, name, text);
}

static void write_common(const loci_table *table, loci_stmt *row, loci_json_writer *w)
{
    int64_t ended = loci_stmt_i64(row, LOCI_CARRIED_ENDED);

    write_text(w, "id", loci_stmt_text(row, LOCI_CARRIED_ID));
    loci_json_member_int(w, "rev", loci_stmt_i64(row, LOCI_CARRIED_REV));
    loci_json_member_int(w, "born", loci_stmt_i64(row, LOCI_CARRIED_BORN));
    if (ended != LOCI_NEVER) loci_json_member_int(w, "ended", ended);
    if (!table->has_id) loci_json_member_int(w, "first", loci_stmt_i64(row, LOCI_CARRIED_FIRST));
    write_text(w, "who", loci_stmt_text(row, LOCI_CARRIED_WHO));
    write_text(w, "door", loci_stmt_text(row, LOCI_CARRIED_DOOR));
    write_text(w, "ended_who", loci_stmt_text(row, LOCI_CARRIED_ENDED_WHO));
    write_text(w, "ended_door", loci_stmt_text(row, LOCI_CARRIED_ENDED_DOOR));
}

static void write_own(const loci_column *c, loci_stmt *row, unsigned at, loci_json_writer *w)
{
    if (loci_stmt_is_null(row, at)) return;
    loci_json_name(w, loci_str_from(c->name));
    if (c->ref || c->kind == 't')
        loci_json_string(w, loci_stmt_text(row, at));
    else if (c->kind == 'b')
        write_blob(w, loci_stmt_blob(row, at));
    else
        loci_json_int(w, loci_stmt_i64(row, at));
}

/* A reference to a row that is not there: the number is there and the id is not. To carry the row
 * without it would move it elsewhere, from a branch to the trunk. */
static bool is_orphan(const loci_table *table, loci_stmt *row)
{
    for (size_t i = 0; i < table->column_count; i++) {
        unsigned at = loci_carry_place(table, i);
        const loci_column *c = &table->columns[i];
        if (!c->ref || (c->flags & LOCI_COLUMN_WEAK) || !loci_stmt_is_null(row, at)) continue;
        if (loci_stmt_i64(row, at + 1) != 0 || !(c->flags & LOCI_COLUMN_ZERO)) return true;
    }
    return false;
}

loci_rc loci_carry_write(const loci_table *table, loci_stmt *row, bool bare, loci_buf *out,
                         bool *ret_orphan, loci_err *err)
{
    loci_json_writer w;
    bool versioned = table->kind == LOCI_TABLE_VERSIONED;

    *ret_orphan = versioned && is_orphan(table, row);
    if (*ret_orphan) return LOCI_OK;
    loci_json_begin(&w, out);
    loci_json_object(&w);
    loci_json_member_cstr(&w, "table", table->name);
    if (versioned) write_common(table, row, &w);
    for (size_t i = 0; i < table->column_count; i++) {
        if (!loci_carry_has(table, i)) continue;
        if (bare && strcmp(table->columns[i].name, "model") == 0) continue;
        write_own(&table->columns[i], row, loci_carry_place(table, i), &w);
    }
    loci_json_object_end(&w);
    loci_rc rc = loci_json_check(&w, err);
    if (rc) loci_err_prefix(err, "a row of %s", table->name);
    return rc;
}

void loci_carry_write_head(const loci_carry_head *head, loci_buf *out)
{
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_json_object(&w);
    loci_json_member_cstr(&w, "format", LOCI_CARRY_FORMAT);
    loci_json_member_int(&w, "version", LOCI_CARRY_VERSION);
    loci_json_member_int(&w, "time", head->time);
    loci_json_member_str(&w, "store", head->store);
    loci_json_member_str(&w, "program", head->program);
    loci_json_member_bool(&w, "vectors", head->vectors);
    write_text(&w, "agent", head->agent);
    loci_json_object_end(&w);
}

void loci_carry_write_end(const loci_carry_end *end, loci_buf *out)
{
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_json_object(&w);
    loci_json_member_bool(&w, "end", true);
    loci_json_member_int(&w, "lines", end->lines);
    write_text(&w, "sha256", end->sha256);
    loci_json_object_end(&w);
}

/* --- reading --- */

static loci_rc want(const loci_json *value, loci_json_type type, loci_str name, loci_err *err)
{
    if (value->type == type) return LOCI_OK;
    return loci_fail(err, LOCI_ESHAPE, "'%.*s' must be %s, not %s", LOCI_ARG(name),
                     loci_json_type_name(type), loci_json_type_name(value->type));
}

static loci_rc read_int(const loci_json *value, loci_str name, int64_t *ret, loci_err *err)
{
    loci_rc rc = want(value, LOCI_JSON_INT, name, err);

    if (!rc) *ret = value->integer;
    return rc;
}

static loci_rc read_text(const loci_json *value, loci_str name, loci_str *ret, loci_err *err)
{
    loci_rc rc = want(value, LOCI_JSON_STRING, name, err);

    if (rc) return rc;
    if (memchr(value->string.ptr, '\0', value->string.len))
        return loci_fail(err, LOCI_ESHAPE, "'%.*s' holds a NUL character", LOCI_ARG(name));
    *ret = value->string;
    return LOCI_OK;
}

static loci_rc read_id(const loci_json *value, loci_str name, loci_str *ret, loci_err *err)
{
    loci_str id = { NULL, 0 };
    loci_rc rc = read_text(value, name, &id, err);

    if (rc) return rc;
    if (id.len == 0 || id.len > LOCI_CARRY_ID)
        return loci_fail(err, LOCI_ESHAPE, "'%.*s' is an id of %zu bytes, not of 1 to %d",
                         LOCI_ARG(name), id.len, LOCI_CARRY_ID);
    *ret = id;
    return LOCI_OK;
}

static loci_rc read_blob(loci_arena *arena, const loci_json *value, loci_str name, loci_str *ret,
                         loci_err *err)
{
    loci_buf bytes;
    loci_rc rc = want(value, LOCI_JSON_STRING, name, err);

    if (rc) return rc;
    loci_buf_init_arena(&bytes, arena, value->string.len + 1);
    rc = loci_base64_decode(LOCI_BASE64, value->string, &bytes, err);
    if (rc == LOCI_EINVAL)
        return loci_fail(err, LOCI_ESHAPE, "'%.*s' is not base64", LOCI_ARG(name));
    if (rc) return rc;
    *ret = bytes.ptr ? loci_buf_str(&bytes) : LOCI_STR("");
    return LOCI_OK;
}

loci_rc loci_carry_tags(loci_arena *arena, loci_str json, loci_str **ret_tags, size_t *ret_count,
                        loci_err *err)
{
    const loci_json *list = NULL;
    loci_rc rc = loci_json_parse(arena, json, &list, err);

    if (!rc) rc = want(list, LOCI_JSON_ARRAY, LOCI_STR("tags"), err);
    if (rc) return rc;
    if (list->array.count > LOCI_CARRY_TAGS)
        return loci_fail(err, LOCI_ELIMIT, "%zu tags: at most %d", list->array.count,
                         LOCI_CARRY_TAGS);
    loci_str *tags = loci_arena_array(arena, list->array.count + 1, sizeof *tags);
    if (!tags) return loci_arena_fail(arena, err);
    for (size_t i = 0; !rc && i < list->array.count; i++)
        rc = read_text(&list->array.items[i], LOCI_STR("tags"), &tags[i], err);
    if (rc) return rc;
    *ret_tags = tags;
    *ret_count = list->array.count;
    return LOCI_OK;
}

/* What stands in a text that must be JSON. */
static loci_rc check_json(loci_arena *arena, const loci_column *c, loci_str text, loci_err *err)
{
    const loci_json *value = NULL;
    loci_str *tags = NULL;
    size_t count = 0;
    loci_rc rc = LOCI_OK;

    if (c->flags & LOCI_COLUMN_TAGS)
        rc = loci_carry_tags(arena, text, &tags, &count, err);
    else if (c->flags & LOCI_COLUMN_JSON)
        rc = loci_json_parse(arena, text, &value, err);
    if (rc) loci_err_prefix(err, "'%s'", c->name);
    return rc;
}

static loci_rc read_own(loci_arena *arena, const loci_column *c, const loci_json *value,
                        loci_carried_value *ret, loci_err *err)
{
    loci_str name = loci_str_from(c->name);
    loci_rc rc;

    if (c->ref || strcmp(c->name, "id") == 0)
        rc = read_id(value, name, &ret->bytes, err);
    else if (c->kind == 'i')
        rc = read_int(value, name, &ret->number, err);
    else if (c->kind == 'b')
        rc = read_blob(arena, value, name, &ret->bytes, err);
    else
        rc = read_text(value, name, &ret->bytes, err);
    if (!rc) rc = check_json(arena, c, ret->bytes, err);
    if (!rc) ret->there = true;
    return rc;
}

/* LOCI_DONE: not a field that all versioned rows have. */
static loci_rc read_common(const loci_json_member *m, loci_carried *row, loci_err *err)
{
    const struct {
        const char *name;
        int64_t *number;
        loci_str *text;
    } fields[] = {
        { "rev", &row->rev, NULL },
        { "born", &row->born, NULL },
        { "ended", &row->ended, NULL },
        { "first", &row->first, NULL },
        { "who", NULL, &row->who },
        { "door", NULL, &row->door },
        { "ended_who", NULL, &row->ended_who },
        { "ended_door", NULL, &row->ended_door },
    };

    if (row->table->has_id && loci_str_eq(m->name, LOCI_STR("id")))
        return read_id(&m->value, m->name, &row->id, err);
    for (size_t i = 0; i < LOCI_COUNT(fields); i++) {
        if (!loci_str_eq(m->name, loci_str_from(fields[i].name))) continue;
        if (fields[i].text) return read_text(&m->value, m->name, fields[i].text, err);
        return read_int(&m->value, m->name, fields[i].number, err);
    }
    return LOCI_DONE;
}

static loci_rc read_member(loci_arena *arena, const loci_json_member *m, loci_carried *row,
                           loci_err *err)
{
    const loci_table *t = row->table;

    if (loci_str_eq(m->name, LOCI_STR("table"))) return LOCI_OK;
    if (t->kind == LOCI_TABLE_VERSIONED) {
        loci_rc rc = read_common(m, row, err);
        if (rc != LOCI_DONE) return rc;
    }
    for (size_t i = 0; i < t->column_count; i++)
        if (loci_carry_has(t, i) && loci_str_eq(m->name, loci_str_from(t->columns[i].name)))
            return read_own(arena, &t->columns[i], &m->value, &row->own[i], err);
    return loci_fail(err, LOCI_ESHAPE, "a row of %s has no field '%.*s'", t->name,
                     LOCI_ARG(loci_utf8_cut(m->name, 60)));
}

static loci_rc missing(const loci_carried *row, const char *name, loci_err *err)
{
    return loci_fail(err, LOCI_ESHAPE, "a row of %s needs '%s'", row->table->name, name);
}

static loci_rc check_times(const loci_carried *row, loci_err *err)
{
    bool link = !row->table->has_id;

    if (!link && !row->id.ptr) return missing(row, "id", err);
    if (row->rev < 1 || row->rev > INT32_MAX)
        return loci_fail(err, LOCI_ESHAPE, "'rev' must be 1 or more, not %lld",
                         (long long)row->rev);
    if (row->born < 0) return missing(row, "born", err);
    if (!row->door.len) return missing(row, "door", err);
    if (row->ended < row->born)
        return loci_fail(err, LOCI_ESHAPE, "'ended' (%lld) lies before 'born' (%lld)",
                         (long long)row->ended, (long long)row->born);
    if (link && (row->first < 0 || row->first > row->born))
        return loci_fail(err, LOCI_ESHAPE, "'first' must be there and not behind 'born'");
    if (!link && row->first != -1)
        return loci_fail(err, LOCI_ESHAPE, "a row of %s has no field 'first'", row->table->name);
    return LOCI_OK;
}

static loci_rc check_row(const loci_carried *row, loci_err *err)
{
    const loci_table *t = row->table;

    for (size_t i = 0; i < t->column_count; i++) {
        const loci_column *c = &t->columns[i];
        bool needed = (c->flags & LOCI_COLUMN_REQUIRED) && !(c->flags & LOCI_COLUMN_ZERO);
        if (needed && loci_carry_has(t, i) && !row->own[i].there) return missing(row, c->name, err);
    }
    return t->kind == LOCI_TABLE_VERSIONED ? check_times(row, err) : LOCI_OK;
}

static loci_rc read_row(loci_arena *arena, const loci_json *object, loci_str table,
                        loci_carried *ret_row, loci_err *err)
{
    loci_carried row = {
        .table = loci_table_find(table), .born = -1, .first = -1, .ended = LOCI_NEVER
    };
    loci_rc rc = LOCI_OK;

    if (!row.table || !row.table->carried)
        return loci_fail(err, LOCI_ESHAPE, "no table '%.*s' can be imported",
                         LOCI_ARG(loci_utf8_cut(table, 60)));
    assert(row.table->column_count <= LOCI_CARRY_COLUMNS);
    for (size_t i = 0; !rc && i < object->object.count; i++)
        rc = read_member(arena, &object->object.members[i], &row, err);
    if (!rc) rc = check_row(&row, err);
    if (!rc) *ret_row = row;
    return rc;
}

static loci_rc read_head(const loci_json *object, loci_carry_head *ret_head, loci_err *err)
{
    loci_carry_head head = { 0 };
    int64_t version = 0;
    loci_str format = { NULL, 0 };
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < object->object.count; i++) {
        const loci_json_member *m = &object->object.members[i];
        if (loci_str_eq(m->name, LOCI_STR("format")))
            rc = read_text(&m->value, m->name, &format, err);
        else if (loci_str_eq(m->name, LOCI_STR("version")))
            rc = read_int(&m->value, m->name, &version, err);
        else if (loci_str_eq(m->name, LOCI_STR("time")))
            rc = read_int(&m->value, m->name, &head.time, err);
        else if (loci_str_eq(m->name, LOCI_STR("store")))
            rc = read_text(&m->value, m->name, &head.store, err);
        else if (loci_str_eq(m->name, LOCI_STR("program")))
            rc = read_text(&m->value, m->name, &head.program, err);
        else if (loci_str_eq(m->name, LOCI_STR("agent")))
            rc = read_id(&m->value, m->name, &head.agent, err);
        else if (loci_str_eq(m->name, LOCI_STR("vectors"))) {
            rc = want(&m->value, LOCI_JSON_BOOL, m->name, err);
            if (!rc) head.vectors = m->value.boolean;
        } /* a later program may say more about itself */
    }
    if (rc) return rc;
    if (!loci_str_eq(format, LOCI_STR(LOCI_CARRY_FORMAT)))
        return loci_fail(err, LOCI_ESHAPE, "this is not an export of loci");
    if (version != LOCI_CARRY_VERSION)
        return loci_fail(
            err, LOCI_ESHAPE,
            "an export of version %lld; this program reads version %d: use a newer one",
            (long long)version, LOCI_CARRY_VERSION);
    *ret_head = head;
    return LOCI_OK;
}

static loci_rc read_end(const loci_json *object, loci_carry_end *ret_end, loci_err *err)
{
    loci_carry_end end = { .lines = -1 };
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < object->object.count; i++) {
        const loci_json_member *m = &object->object.members[i];
        if (loci_str_eq(m->name, LOCI_STR("lines")))
            rc = read_int(&m->value, m->name, &end.lines, err);
        else if (loci_str_eq(m->name, LOCI_STR("sha256")))
            rc = read_text(&m->value, m->name, &end.sha256, err);
        else if (!loci_str_eq(m->name, LOCI_STR("end")))
            rc = loci_fail(err, LOCI_ESHAPE, "the last line has no field '%.*s'",
                           LOCI_ARG(loci_utf8_cut(m->name, 60)));
    }
    if (!rc && end.lines < 0) rc = loci_fail(err, LOCI_ESHAPE, "the last line needs 'lines'");
    if (!rc) *ret_end = end;
    return rc;
}

loci_rc loci_carry_read(loci_arena *arena, loci_str line, loci_carry_line *ret_kind,
                        loci_carry_head *ret_head, loci_carried *ret_row, loci_carry_end *ret_end,
                        loci_err *err)
{
    const loci_json *object = NULL, *table;
    loci_str name = { NULL, 0 };
    loci_rc rc = loci_json_parse(arena, line, &object, err);

    if (!rc) rc = want(object, LOCI_JSON_OBJECT, LOCI_STR("a line"), err);
    if (rc) return rc;
    table = loci_json_find(object, LOCI_STR("table"));
    if (table) {
        rc = read_text(table, LOCI_STR("table"), &name, err);
        if (!rc) rc = read_row(arena, object, name, ret_row, err);
        if (!rc) *ret_kind = LOCI_CARRY_ROW;
        return rc;
    }
    bool head = loci_json_find(object, LOCI_STR("format")) != NULL;
    if (!head && !loci_json_find(object, LOCI_STR("end")))
        return loci_fail(err, LOCI_ESHAPE, "a line must have 'table', 'format' or 'end'");
    rc = head ? read_head(object, ret_head, err) : read_end(object, ret_end, err);
    if (!rc) *ret_kind = head ? LOCI_CARRY_HEAD : LOCI_CARRY_END;
    return rc;
}

/* --- comparing --- */

static bool same_text(loci_str a, loci_str b)
{
    return (a.ptr == NULL) == (b.ptr == NULL) && loci_str_eq(a, b);
}

static bool same_own(const loci_column *c, const loci_carried_value *v, loci_stmt *q, unsigned at)
{
    bool null = loci_stmt_is_null(q, at);

    if ((c->flags & LOCI_COLUMN_WEAK) && null) return true;
    if (v->there == null) return false;
    if (null) return true;
    if (c->kind == 'i' && !c->ref) return loci_stmt_i64(q, at) == v->number;
    return loci_str_eq(c->kind == 'b' ? loci_stmt_blob(q, at) : loci_stmt_text(q, at), v->bytes);
}

const char *loci_carry_differs(const loci_carried *row, loci_stmt *stored)
{
    const loci_table *t = row->table;

    if (t->kind == LOCI_TABLE_VERSIONED) {
        if (loci_stmt_i64(stored, LOCI_CARRIED_BORN) != row->born) return "born";
        if (!same_text(loci_stmt_text(stored, LOCI_CARRIED_WHO), row->who)) return "who";
        if (!same_text(loci_stmt_text(stored, LOCI_CARRIED_DOOR), row->door)) return "door";
    }
    for (size_t i = 0; i < t->column_count; i++) {
        const loci_column *c = &t->columns[i];
        if (loci_carry_has(t, i) && !same_own(c, &row->own[i], stored, loci_carry_place(t, i)))
            return c->name;
    }
    return NULL;
}

void loci_carry_name(const loci_carried *row, loci_buf *out)
{
    const loci_table *t = row->table;

    if (row->id.ptr) {
        loci_buf_add(out, row->id);
        return;
    }
    loci_buf_add_cstr(out, t->name);
    for (size_t i = 0; i < LOCI_TABLE_KEYS && t->keys[i]; i++) {
        const loci_column *c = loci_table_column(t, t->keys[i]);
        const loci_carried_value *v = loci_carry_get(row, t->keys[i]);
        if (!v->there || c->kind == 'b') continue;
        loci_buf_add_char(out, ' ');
        if (c->kind == 'i' && !c->ref)
            loci_buf_printf(out, "%lld", (long long)v->number);
        else
            loci_buf_add(out, v->bytes);
    }
}
