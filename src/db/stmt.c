#include "db/stmt.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "db/dialect.h"
#include "db/driver.h"

#include <assert.h>
#include <string.h>

enum { LIST_BYTES = 16 << 20 }; /* most text of all lists of one statement */

static loci_rc find_slot(const loci_db *db, const loci_db_room *room, size_t number,
                         size_t *ret_slot, loci_err *err)
{
    for (size_t i = 0; i < db->room_count; i++) {
        if (db->rooms[i] != room) continue;
        assert(number < room->statement_count);
        *ret_slot = db->first_stmt[i] + number;
        return LOCI_OK;
    }
    return loci_fail(err, LOCI_EINVAL, "the store was opened without the tables of '%s'",
                     room->name);
}

static void free_stmt(loci_stmt *stmt)
{
    if (!stmt) return;
    loci_buf_done(&stmt->lists);
    loci_free(stmt);
}

LOCI_DEFINE_CLEANUP(free_stmtp, loci_stmt, free_stmt)

/* Prepared on first use; after a reconnect, again. */
static loci_rc get_prepared(loci_tx *tx, const loci_sql *sql, size_t slot, loci_stmt **ret_stmt,
                            loci_err *err)
{
    if (tx->stmts[slot]) {
        *ret_stmt = tx->stmts[slot];
        return LOCI_OK;
    }
    LOCI_AUTO(free_stmtp) loci_stmt *stmt = loci_zalloc(sizeof *stmt);
    if (!stmt) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    stmt->tx = tx;
    stmt->sql = sql;
    stmt->slot = slot;
    stmt->parameter_count = (unsigned)strlen(sql->types);
    assert(stmt->parameter_count <= LOCI_DB_PARAMETERS);
    loci_buf_init(&stmt->lists, LIST_BYTES);
    loci_rc rc = tx->db->driver->prepare(stmt, err);
    if (rc) return rc;
    *ret_stmt = tx->stmts[slot] = LOCI_TAKE(stmt);
    return LOCI_OK;
}

loci_rc loci_stmt_begin(loci_tx *tx, const loci_db_room *room, size_t number, loci_stmt **ret_stmt,
                        loci_err *err)
{
    size_t slot = 0;
    loci_stmt *stmt = NULL;
    loci_rc rc = loci_driver_owned(tx->db, err);

    if (!rc) rc = loci_driver_intact(tx, err);
    if (!rc) rc = find_slot(tx->db, room, number, &slot, err);
    if (rc) return rc;
    assert(tx->open);
    loci_driver_call(tx);
    rc = get_prepared(tx, &room->statements[number], slot, &stmt, err);
    if (rc) return rc;

    assert(!stmt->begun);
    stmt->begun = true;
    stmt->stepped = stmt->done = false;
    stmt->changes = 0;
    stmt->bind_error = (loci_err){ 0 };
    memset(stmt->parameters, 0, sizeof stmt->parameters);
    loci_buf_clear(&stmt->lists);
    stmt->next = tx->running;
    tx->running = stmt;
    *ret_stmt = stmt;
    return LOCI_OK;
}

void loci_stmt_end(loci_stmt *stmt)
{
    if (!stmt || !stmt->begun || loci_driver_owned(stmt->tx->db, NULL)) return;
    loci_stmt **at = &stmt->tx->running;

    while (*at && *at != stmt) at = &(*at)->next;
    if (*at) *at = stmt->next;
    stmt->tx->db->driver->reset(stmt);
    stmt->begun = false;
}

/* The parameter's place, after checks that only a bug of ours can fail. */
static loci_parameter *parameter_at(loci_stmt *stmt, unsigned parameter, char type)
{
    assert(stmt->begun && !stmt->stepped);
    assert(parameter >= 1 && parameter <= stmt->parameter_count);
    assert(stmt->sql->types[parameter - 1] == type);
    (void)type;
    return &stmt->parameters[parameter - 1];
}

void loci_stmt_bind_i64(loci_stmt *stmt, unsigned parameter, int64_t value)
{
    *parameter_at(stmt, parameter, 'i') = (loci_parameter){ .type = 'i', .number = value };
}

static bool check_text(loci_stmt *stmt, loci_str value)
{
    if (value.len && memchr(value.ptr, '\0', value.len)) {
        loci_err_set(&stmt->bind_error, LOCI_EINVAL, "text must not hold a NUL character");
        return false;
    }
    if (!loci_utf8_valid(value)) {
        loci_err_set(&stmt->bind_error, LOCI_EINVAL, "text is not UTF-8");
        return false;
    }
    return true;
}

void loci_stmt_bind_text(loci_stmt *stmt, unsigned parameter, loci_str value)
{
    loci_parameter *p = parameter_at(stmt, parameter, 't');

    if (!check_text(stmt, value)) return;
    if (!value.ptr) value.ptr = "";
    *p = (loci_parameter){ .type = 't', .bytes = value };
}

void loci_stmt_bind_text_or_null(loci_stmt *stmt, unsigned parameter, loci_str value)
{
    if (value.ptr)
        loci_stmt_bind_text(stmt, parameter, value);
    else
        loci_stmt_bind_null(stmt, parameter);
}

void loci_stmt_bind_blob(loci_stmt *stmt, unsigned parameter, loci_str value)
{
    if (!value.ptr) value.ptr = "";
    *parameter_at(stmt, parameter, 'b') = (loci_parameter){ .type = 'b', .bytes = value };
}

void loci_stmt_bind_null(loci_stmt *stmt, unsigned parameter)
{
    assert(parameter >= 1 && parameter <= stmt->parameter_count);
    stmt->parameters[parameter - 1] = (loci_parameter){ 0 };
}

/* The list was appended to stmt->lists from offset `start`; the pointer is set when stepping,
 * because the buffer may still move. */
static void set_list(loci_stmt *stmt, loci_parameter *p, char type, size_t start)
{
    *p = (loci_parameter){ .type = type, .number = (int64_t)start };
    p->bytes.len = stmt->lists.len - start;
    loci_buf_add_char(&stmt->lists, '\0');
    if (loci_buf_check(&stmt->lists, NULL))
        loci_err_set(&stmt->bind_error, stmt->lists.failed, "the lists of a query are too long");
}

static bool check_count(loci_stmt *stmt, size_t count)
{
    if (count <= LOCI_DB_LIST_ITEMS) return true;
    loci_err_set(&stmt->bind_error, LOCI_ELIMIT, "a list of %zu values: at most %d", count,
                 LOCI_DB_LIST_ITEMS);
    return false;
}

void loci_stmt_bind_i64s(loci_stmt *stmt, unsigned parameter, const int64_t *values, size_t count)
{
    loci_parameter *p = parameter_at(stmt, parameter, 'I');
    size_t start = stmt->lists.len;

    if (!check_count(stmt, count)) return;
    loci_dialect_i64s(stmt->tx->db->driver->engine, values, count, &stmt->lists);
    set_list(stmt, p, 'I', start);
}

void loci_stmt_bind_texts(loci_stmt *stmt, unsigned parameter, const loci_str *values, size_t count)
{
    loci_parameter *p = parameter_at(stmt, parameter, 'T');
    size_t start = stmt->lists.len;

    if (!check_count(stmt, count)) return;
    for (size_t i = 0; i < count; i++)
        if (!check_text(stmt, values[i])) return;
    loci_dialect_texts(stmt->tx->db->driver->engine, values, count, &stmt->lists);
    set_list(stmt, p, 'T', start);
}

/* Hand over the parameters before the first step. */
static loci_rc bind_all(loci_stmt *stmt, loci_err *err)
{
    loci_rc rc = loci_driver_intact(stmt->tx, err);

    if (rc) return rc;
    if (stmt->bind_error.code)
        return loci_fail(err, stmt->bind_error.code, "%s", stmt->bind_error.msg);
    for (unsigned i = 0; i < stmt->parameter_count; i++) {
        loci_parameter *p = &stmt->parameters[i];
        if (p->type == 'I' || p->type == 'T') p->bytes.ptr = stmt->lists.ptr + p->number;
    }
    stmt->stepped = true;
    return stmt->tx->db->driver->bind(stmt, err);
}

/* Rows of a stream must be taken before the connection can do anything else. SQLite could, but what
 * works on one engine only would not be found by the tests of the other. */
static void assert_no_other_stream(const loci_stmt *stmt)
{
    for (const loci_stmt *s = stmt->tx->running; s; s = s->next)
        assert(s == stmt || !s->sql->stream || !s->stepped || s->done);
}

loci_rc loci_stmt_next(loci_stmt *stmt, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    assert(stmt->begun);
    if (stmt->done) return LOCI_DONE;
    loci_driver_call(stmt->tx);
    if (!stmt->stepped) {
        assert_no_other_stream(stmt);
        rc = bind_all(stmt, err);
    }
    if (!rc) rc = stmt->tx->db->driver->step(stmt, err);
    if (rc) stmt->done = true;
    return rc;
}

loci_rc loci_stmt_run(loci_stmt *stmt, loci_err *err)
{
    loci_rc rc;

    while ((rc = loci_stmt_next(stmt, err)) == LOCI_OK) continue;
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

loci_rc loci_stmt_post(loci_stmt *stmt, loci_err *err)
{
    assert(stmt->begun && !stmt->stepped);
    loci_driver_call(stmt->tx);
    assert_no_other_stream(stmt);
    loci_rc rc = bind_all(stmt, err);
    if (!rc) rc = stmt->tx->db->driver->post(stmt, err);
    stmt->done = true;
    return rc;
}

int64_t loci_stmt_changes(const loci_stmt *stmt)
{
    return stmt->changes;
}

bool loci_stmt_is_null(loci_stmt *stmt, unsigned column)
{
    assert(stmt->stepped && !stmt->done);
    return stmt->tx->db->driver->is_null(stmt, column);
}

int64_t loci_stmt_i64(loci_stmt *stmt, unsigned column)
{
    return loci_stmt_is_null(stmt, column) ? 0 : stmt->tx->db->driver->i64(stmt, column);
}

loci_str loci_stmt_text(loci_stmt *stmt, unsigned column)
{
    if (loci_stmt_is_null(stmt, column)) return (loci_str){ NULL, 0 };
    return stmt->tx->db->driver->bytes(stmt, column, true);
}

loci_str loci_stmt_blob(loci_stmt *stmt, unsigned column)
{
    if (loci_stmt_is_null(stmt, column)) return (loci_str){ NULL, 0 };
    return stmt->tx->db->driver->bytes(stmt, column, false);
}

loci_rc loci_stmt_copy(loci_stmt *stmt, unsigned column, loci_arena *arena, loci_str *ret_text,
                       loci_err *err)
{
    loci_str copy = { NULL, 0 };

    if (!loci_stmt_is_null(stmt, column)) {
        copy = loci_arena_str(arena, stmt->tx->db->driver->bytes(stmt, column, true));
        if (!copy.ptr) return loci_arena_fail(arena, err);
    }
    *ret_text = copy;
    return LOCI_OK;
}
