#include "base/alloc.h"
#include "db/dialect.h"
#include "db/pg.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>

/* Types by their numbers in pg_type, which never change. */
enum { BOOL = 16, BYTEA = 17, INT8 = 20, INT2 = 21, INT4 = 23, TEXT = 25, VARCHAR = 1043 };
enum { TEXT_LIST = 1009, INT8_LIST = 1016 };

typedef struct prepared {
    char *text; /* in PostgreSQL's words */
    char name[16];
    bool known; /* the server has it under that name */
    Oid types[LOCI_DB_PARAMETERS];
    const char *values[LOCI_DB_PARAMETERS];
    int lengths[LOCI_DB_PARAMETERS];
    int formats[LOCI_DB_PARAMETERS];
    int64_t numbers[LOCI_DB_PARAMETERS]; /* in network order */
    PGresult *result;
    int row, rows;
    bool more; /* rows of a stream are still to come */
} prepared;

static Oid type_of(char letter)
{
    switch (letter) {
    case 'i': return INT8;
    case 'b': return BYTEA;
    case 'I': return INT8_LIST;
    case 'T': return TEXT_LIST;
    default: return TEXT;
    }
}

/* Only the text is made here; it is sent to the server with the first use. */
loci_rc loci_pg_prepare(loci_stmt *stmt, loci_err *err)
{
    loci_buf text;

    loci_buf_init(&text, LOCI_SQL_BYTES);
    loci_rc rc = loci_dialect_translate(LOCI_POSTGRES, loci_str_from(stmt->sql->text), &text, err);
    if (rc) {
        loci_buf_done(&text);
        return rc;
    }
    prepared *p = loci_zalloc(sizeof *p);
    if (!p) {
        loci_buf_done(&text);
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    p->text = loci_buf_take(&text);
    for (unsigned i = 0; i < stmt->parameter_count; i++) p->types[i] = type_of(stmt->sql->types[i]);
    (void)snprintf(p->name, sizeof p->name, "s%zu", stmt->slot);
    stmt->prepared = p;
    return LOCI_OK;
}

void loci_pg_finalize(loci_stmt *stmt)
{
    prepared *p = stmt->prepared;

    PQclear(p->result);
    loci_free(p->text);
    loci_free(p);
    loci_buf_done(&stmt->lists);
    loci_free(stmt);
}

loci_rc loci_pg_bind(loci_stmt *stmt, loci_err *err)
{
    prepared *p = stmt->prepared;

    for (unsigned i = 0; i < stmt->parameter_count; i++) {
        const loci_parameter *in = &stmt->parameters[i];
        if (in->bytes.len > INT32_MAX)
            return loci_fail(err, LOCI_ELIMIT, "a text or blob of %zu bytes is too long",
                             in->bytes.len);
        p->formats[i] = in->type == 'I' || in->type == 'T' ? 0 : 1;
        p->values[i] = in->type ? in->bytes.ptr : NULL;
        p->lengths[i] = (int)in->bytes.len;
        if (in->type != 'i') continue;
        p->numbers[i] = (int64_t)htobe64((uint64_t)in->number);
        p->values[i] = (const char *)&p->numbers[i];
        p->lengths[i] = sizeof p->numbers[i];
    }
    return LOCI_OK;
}

/* Make the query known to the server under its name. What was posted before is waited for first, so
 * that a failure there cannot swallow the preparation; this happens once per connection. */
static loci_rc name_query(loci_stmt *stmt, loci_err *err)
{
    prepared *p = stmt->prepared;
    loci_pg_link *link = loci_pg_link_of(stmt->tx);
    loci_rc rc = link->posted ? loci_pg_sync(stmt->tx, false, err) : LOCI_OK;

    if (rc) return rc;
    if (!PQsendPrepare(link->conn, p->name, p->text, (int)stmt->parameter_count, p->types))
        return loci_pg_fail(stmt->tx, NULL, err);
    link->posted++;
    rc = loci_pg_sync(stmt->tx, false, err);
    p->known = !rc;
    return rc;
}

/* Put the query on the wire. Results are asked for in binary: no digits to parse, no hex to undo.
 */
static loci_rc send_query(loci_stmt *stmt, loci_err *err)
{
    prepared *p = stmt->prepared;
    loci_pg_link *link = loci_pg_link_of(stmt->tx);
    int count = (int)stmt->parameter_count;
    bool named = !stmt->tx->db->options.noprepare;
    const char *const *values = p->values;

    loci_rc rc = named && !p->known ? name_query(stmt, err) : LOCI_OK;
    if (rc) return rc;
    int sent =
        named ? PQsendQueryPrepared(link->conn, p->name, count, values, p->lengths, p->formats, 1)
              : PQsendQueryParams(link->conn, p->text, count, p->types, values, p->lengths,
                                  p->formats, 1);
    return sent ? LOCI_OK : loci_pg_fail(stmt->tx, NULL, err);
}

/* Keep `result` if it holds rows or nothing at all; else fail and empty the pipeline. */
static loci_rc take_rows(loci_stmt *stmt, PGresult *result, loci_err *err)
{
    prepared *p = stmt->prepared;
    ExecStatusType status = PQresultStatus(result);

    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK && status != PGRES_SINGLE_TUPLE) {
        loci_rc rc = loci_pg_fail(stmt->tx, result, err);
        PQclear(result);
        p->more = false;
        if (!stmt->tx->broken) (void)loci_pg_drain(stmt->tx, NULL);
        return rc;
    }
    loci_str changed = loci_str_from(PQcmdTuples(result));
    if (!changed.len || !loci_str_to_i64(changed, &stmt->changes)) stmt->changes = 0;
    p->result = result;
    p->row = -1;
    p->rows = PQntuples(result);
    return LOCI_OK;
}

/* Take the whole answer or, of a stream, one row; an answer without rows ends the stream. */
static loci_rc fetch(loci_stmt *stmt, loci_err *err)
{
    prepared *p = stmt->prepared;
    PGresult *result = NULL;

    PQclear(p->result);
    p->result = NULL;
    loci_rc rc = loci_pg_result(stmt->tx, &result, err);
    if (!rc) rc = take_rows(stmt, result, err);
    if (rc || (p->more && p->rows > 0)) return rc;
    p->more = false;
    return loci_pg_drain(stmt->tx, err);
}

static loci_rc start(loci_stmt *stmt, loci_err *err)
{
    loci_rc rc = send_query(stmt, err);

    if (!rc) rc = loci_pg_sync(stmt->tx, true, err);
    if (rc) return rc;
    if (stmt->sql->stream)
        ((prepared *)stmt->prepared)->more = PQsetSingleRowMode(loci_pg_link_of(stmt->tx)->conn);
    return fetch(stmt, err);
}

loci_rc loci_pg_step(loci_stmt *stmt, loci_err *err)
{
    prepared *p = stmt->prepared;
    loci_rc rc = LOCI_OK;

    if (!p->result)
        rc = start(stmt, err);
    else if (p->more && p->row + 1 == p->rows)
        rc = fetch(stmt, err);
    if (rc) return rc;
    return ++p->row < p->rows ? LOCI_OK : LOCI_DONE;
}

loci_rc loci_pg_post(loci_stmt *stmt, loci_err *err)
{
    loci_rc rc = send_query(stmt, err);

    if (rc) return rc;
    loci_pg_link_of(stmt->tx)->posted++;
    if (PQflush(loci_pg_link_of(stmt->tx)->conn) < 0) return loci_pg_fail(stmt->tx, NULL, err);
    return LOCI_OK;
}

void loci_pg_reset(loci_stmt *stmt)
{
    prepared *p = stmt->prepared;

    PQclear(p->result);
    p->result = NULL;
    if (p->more && !stmt->tx->broken) (void)loci_pg_drain(stmt->tx, NULL);
    p->more = false;
}

bool loci_pg_is_null(loci_stmt *stmt, unsigned column)
{
    prepared *p = stmt->prepared;

    assert((int)column < PQnfields(p->result));
    return PQgetisnull(p->result, p->row, (int)column);
}

int64_t loci_pg_i64(loci_stmt *stmt, unsigned column)
{
    prepared *p = stmt->prepared;
    const char *value = PQgetvalue(p->result, p->row, (int)column);
    uint64_t wide;
    uint32_t narrow;

    switch (PQftype(p->result, (int)column)) {
    case INT8: memcpy(&wide, value, sizeof wide); return (int64_t)be64toh(wide);
    case INT4: memcpy(&narrow, value, sizeof narrow); return (int32_t)be32toh(narrow);
    default:
        assert(false); /* an integer column must be BIGINT: cast it */
        return 0;
    }
}

loci_str loci_pg_bytes(loci_stmt *stmt, unsigned column, bool text)
{
    prepared *p = stmt->prepared;
    Oid type = PQftype(p->result, (int)column);

    assert(type == TEXT || type == VARCHAR || type == BYTEA);
    (void)type;
    (void)text;
    return (loci_str){ PQgetvalue(p->result, p->row, (int)column),
                       (size_t)PQgetlength(p->result, p->row, (int)column) };
}
