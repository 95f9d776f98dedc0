#include "memory.h"

#include "db/stmt.h"

static const loci_sql statements[] = {
    /* clang-format off */
    [MEMORY_INSERT] = { "iitiitttb",
        "INSERT INTO passage (org, row, obj, rev, id, born, ended, ver, ended_ver, who, door, archive, "
        "branch, kind, text, text_hash, created_at) "
        "VALUES (?1, ?2, ?2, 1, ?3, ?4, {never}, ?5, 0, ?6, ?7, 1, 0, 'memory', ?8, ?9, ?4)", false },
    [MEMORY_FINISH] = { "iiii",
        "UPDATE passage SET ended = ?3, ended_ver = ?4 WHERE org = ?1 AND row = ?2 AND ended = {never}", false },
    [MEMORY_PASSAGES] = { "", "SELECT count(*) FROM passage WHERE ended = {never}", false },
    [MEMORY_VERSIONS] = { "", "SELECT count(*) FROM version", false },
    [MEMORY_VERSION_GAPS] = { "",
        "SELECT count(*) FROM version v WHERE v.ver > 1 AND NOT EXISTS "
        "(SELECT 1 FROM version p WHERE p.org = v.org AND p.ver = v.ver - 1)", false },
    [MEMORY_BORN_FALLS] = { "",
        "SELECT count(*) FROM version v JOIN version p ON p.org = v.org AND p.ver = v.ver - 1 "
        "WHERE v.at <= p.at OR v.row < p.row", false },
    [MEMORY_KEYS] = { "", "SELECT count(*) FROM idempotency", false },
    [MEMORY_OUTBOX] = { "", "SELECT count(*) FROM outbox", false },
    [MEMORY_IDS] = { "", "SELECT id FROM passage", true },
    [MEMORY_WHO] = { "", "SELECT count(*) FROM version v JOIN passage p ON p.org = v.org AND p.ver = v.ver "
        "WHERE p.who = 'user-1' AND p.door = 'test' AND v.who = 'user-1' AND v.door = 'test'", false },
    [MEMORY_JUMP] = { "", "UPDATE org SET ver = 100351 WHERE org = 1", false },
    [MEMORY_OLDEST] = { "", "SELECT ver FROM version ORDER BY ver LIMIT 1", false },
    [MEMORY_DEFAULTS] = { "", "SELECT count(*) FROM org o JOIN users u ON u.org = o.org "
        "WHERE o.org = 1 AND o.id = '" LOCI_DEFAULT_ORG_ID "' AND u.id = '" LOCI_DEFAULT_USER_ID "'", false },
    /* clang-format on */
};

const loci_db_room memory_room = { .name = "memory-test",
                                   .statements = statements,
                                   .statement_count = LOCI_COUNT(statements) };

static const loci_db_room *const rooms[] = { &loci_schema_room, &loci_write_room,
                                             &loci_catchup_room, &memory_room, NULL };

loci_rc memory_try_open(const char *url, loci_db_options options, memory *ret_memory, loci_err *err)
{
    memory m = { 0 };

    options.rooms = rooms;
    loci_rc rc = loci_db_open(url, &options, &m.db, err);
    if (!rc) rc = loci_writer_new(m.db, &m.writer, err);
    if (rc)
        loci_db_close(m.db);
    else
        *ret_memory = m;
    return rc;
}

memory memory_open(const char *url)
{
    memory m = { 0 };
    loci_err err = { 0 };

    assert_ok(memory_try_open(url, (loci_db_options){ 0 }, &m, &err), err);
    return m;
}

void memory_close(memory *m)
{
    loci_writer_free(m->writer);
    loci_db_close(m->db);
}

static loci_rc insert(loci_change *c, const passage *p, int64_t row, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(c->tx, &memory_room, MEMORY_INSERT, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, c->org);
    loci_stmt_bind_i64(q, 2, row);
    loci_stmt_bind_text(q, 3, loci_str_from(p->id));
    loci_stmt_bind_i64(q, 4, c->born);
    loci_stmt_bind_i64(q, 5, c->ver);
    loci_stmt_bind_text_or_null(q, 6, c->who);
    loci_stmt_bind_text(q, 7, c->door);
    loci_stmt_bind_text(q, 8, loci_str_from(p->text));
    loci_stmt_bind_blob(q, 9, loci_str_from(p->id));
    return loci_stmt_post(q, err);
}

loci_rc memory_add(loci_change *change, void *arg, loci_err *err)
{
    passage *p = arg;

    p->runs++;
    p->row = loci_change_row(change);
    loci_rc rc = insert(change, p, p->row, err);
    if (!rc && p->duplicate) rc = insert(change, p, p->row, err);
    if (!rc && p->fail) rc = loci_fail(err, p->fail, "%s was refused", p->id);
    if (!rc) loci_buf_add_cstr(change->answer, p->id);
    return rc;
}

loci_rc memory_end(loci_change *change, void *arg, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    const passage *p = arg;
    loci_rc rc = loci_stmt_begin(change->tx, &memory_room, MEMORY_FINISH, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, p->row);
    loci_stmt_bind_i64(q, 3, change->born);
    loci_stmt_bind_i64(q, 4, change->ver);
    return loci_stmt_run(q, err);
}

loci_rc memory_write(memory *m, passage *p, loci_write_result *ret_result, loci_err *err)
{
    loci_write_request request = { .org = LOCI_DEFAULT_ORG,
                                   .run = memory_add,
                                   .arg = p,
                                   .who = LOCI_STR("user-1"),
                                   .door = LOCI_STR("test") };

    return loci_write(m->writer, &request, NULL, ret_result, err);
}

int64_t memory_ask(loci_db *db, size_t statement)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &memory_room, statement, &q, &err), err);
    assert_ok(loci_stmt_next(q, &err), err);
    return loci_stmt_i64(q, 0);
}

loci_rc memory_do(loci_db *db, size_t statement, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_WRITE, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &memory_room, statement, &q, err);
    if (!rc) rc = loci_stmt_run(q, err);
    return rc ? rc : loci_tx_commit(tx, err);
}
