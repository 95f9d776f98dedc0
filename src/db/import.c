#include "db/import.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "db/carry_check.h"
#include "db/import_row.h"
#include "db/lines.h"

#include <assert.h>

enum { ARENA = 8 * LOCI_LINE_BYTES, NAMES = 200 };

#define SKEW (24 * 3600 * INT64_C(1000000)) /* how far ahead another clock may be */

enum {
    STMT_WRITTEN = LOCI_IMPORT_STMT_WRITTEN,
    STMT_ORG,
    STMT_ORG_BY_ID,
    STMT_NEW_ORG,
    STMT_SET_MODEL,
    STMT_SET_ORG,
    STMT_ANALYZE
};

static const loci_sql statements[] = {
    /* clang-format off */
    [STMT_WRITTEN] = { "", "SELECT count(*) FROM org WHERE ver > 0", false },
    [STMT_ORG] = { "i", "SELECT org, id, ver, model FROM org WHERE org = ?1", false },
    [STMT_ORG_BY_ID] = { "t", "SELECT org, id, ver, model FROM org WHERE id = ?1", false },
    [STMT_NEW_ORG] = { "ttit",
        "INSERT INTO org (org, id, name, ver, tag, at, row, created_at, extra) "
        "SELECT COALESCE(max(o.org), 0) + 1, ?1, ?2, 0, 0, 0, 0, ?3, ?4 FROM org o RETURNING org", false },
    [STMT_SET_MODEL] = { "it", "UPDATE org SET model = ?2 WHERE org = ?1 AND model IS NULL", false },
    [STMT_SET_ORG] = { "itit",
        "UPDATE org SET name = ?2, created_at = ?3, extra = ?4 WHERE org = ?1 AND ver = 0", false },
    [STMT_ANALYZE] = { "", "ANALYZE", false },
    /* clang-format on */
};

const loci_db_room loci_import_room = { .name = "import",
                                        .statements = statements,
                                        .statement_count = LOCI_COUNT(statements) };

typedef struct work {
    loci_db *db;
    loci_writer *writer;
    const loci_import_options *options;
    int64_t now;
    loci_lines_in *in;
    loci_arena *arena; /* of the batch */
    loci_carry_check *check;
    bool writing;
    loci_import_rows rows;
    loci_carried batch[LOCI_IMPORT_BATCH];
    size_t count;
    int64_t added, ended;  /* by the batch that is being written */
    int64_t statistics_at; /* after which batch they are gathered next */
    int64_t conflicts;
    loci_buf names; /* of the first conflicts */
    loci_import_result result;
} work;

static void work_free(work *w)
{
    if (!w) return;
    loci_lines_in_free(w->in);
    loci_arena_free(w->arena);
    loci_carry_check_free(w->check);
    loci_buf_done(&w->names);
    loci_free(w);
}

LOCI_DEFINE_CLEANUP(work_freep, work, work_free)

/* Does the store have what the file only refers to? */
static loci_rc is_known(const loci_table *table, loci_str id, void *arg, bool *ret_known,
                        loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    work *w = arg;
    int64_t obj = 0;

    *ret_known = false;
    if (!w->rows.org) return LOCI_OK;
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_READ, &tx, err);
    if (rc) return rc;
    loci_import_rows_start(&w->rows);
    rc = loci_import_obj(&w->rows, tx, table, id, &obj, err);
    loci_import_rows_start(&w->rows);
    *ret_known = obj != 0;
    return rc;
}

/* --- batches --- */

static void note_conflict(work *w, const loci_carried *row, const char *column)
{
    if (w->conflicts++ >= LOCI_IMPORT_NAMED || w->names.len > NAMES / 2) return;
    loci_buf_printf(&w->names, "%sline %zu: ", w->names.len ? ", " : "", row->line);
    loci_carry_name(row, &w->names);
    if (column) loci_buf_printf(&w->names, " (%s)", column);
}

/* Compare the batch with the store. *ret_work: something is to be written. */
static loci_rc look_at_batch(work *w, bool *ret_work, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_READ, &tx, err);

    if (rc) return rc;
    loci_import_rows_start(&w->rows);
    *ret_work = false;
    for (size_t i = 0; !rc && i < w->count; i++) {
        loci_import_state state = LOCI_IMPORT_NEW;
        int64_t row = 0, obj = 0;
        const char *column = NULL;
        rc = loci_import_look(&w->rows, tx, &w->batch[i], &state, &row, &obj, &column, err);
        if (!rc && state == LOCI_IMPORT_CONFLICT) note_conflict(w, &w->batch[i], column);
        if (state == LOCI_IMPORT_NEW || state == LOCI_IMPORT_ENDS) *ret_work = true;
        if (w->writing && *ret_work) break;
    }
    return rc;
}

/* May run more than once. */
static loci_rc write_rows(loci_change *change, void *arg, loci_err *err)
{
    work *w = arg;
    loci_rc rc = LOCI_OK;

    loci_import_rows_start(&w->rows);
    w->added = w->ended = 0;
    for (size_t i = 0; !rc && i < w->count; i++) {
        loci_import_state state = LOCI_IMPORT_NEW;
        rc = loci_import_put(&w->rows, change, &w->batch[i], w->arena, &state, err);
        if (state == LOCI_IMPORT_NEW) w->added++;
        if (state == LOCI_IMPORT_ENDS) w->ended++;
    }
    return rc;
}

/* The organization's clock must not lie behind what it holds. */
static int64_t time_of_batch(const work *w)
{
    int64_t latest = w->now;

    for (size_t i = 0; i < w->count; i++) {
        const loci_carried *row = &w->batch[i];
        if (row->table->kind != LOCI_TABLE_VERSIONED) continue;
        int64_t last = row->ended != LOCI_NEVER ? row->ended : row->born;
        if (last > latest) latest = last;
    }
    return latest;
}

/* Without statistics, PostgreSQL takes every index that begins with org for as good as another, and
 * finds a row by id in a pass over the table. So it is told early, and now and then, what there is.
 */
static loci_rc gather_statistics(work *w, bool last, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    bool due = last ? w->result.batches > 0 : w->result.batches == w->statistics_at;

    if (loci_db_engine(w->db) != LOCI_POSTGRES || !due) return LOCI_OK;
    w->statistics_at *= 8;
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_WRITE, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_import_room, STMT_ANALYZE, &q, err);
    if (!rc) rc = loci_stmt_run(q, err);
    loci_stmt_endp(&q);
    return rc ? rc : loci_tx_commit(tx, err);
}

static loci_rc write_batch(work *w, loci_err *err)
{
    const loci_import_options *o = w->options;
    loci_write_request request = { .org = w->rows.org,
                                   .run = write_rows,
                                   .arg = w,
                                   .who = o->who,
                                   .door = o->door.len ? o->door : LOCI_STR("import"),
                                   .now = time_of_batch(w) };
    loci_rc rc = loci_write(w->writer, &request, NULL, NULL, err);

    if (rc) {
        loci_err_prefix(err, "lines %zu to %zu", w->batch[0].line, w->batch[w->count - 1].line);
        return rc;
    }
    w->result.added += w->added;
    w->result.ended += w->ended;
    w->result.batches++;
    return gather_statistics(w, false, err);
}

static loci_rc tell(work *w, loci_err *err)
{
    return loci_progress_tell(w->options->progress, w->options->arg,
                              w->writing ? "writing" : "checking", loci_lines_position(w->in),
                              loci_lines_size(w->in), err);
}

static loci_rc settle_batch(work *w, loci_err *err)
{
    bool to_do = false;
    loci_rc rc = LOCI_OK;

    /* An organization that is still to be made has nothing to compare with. */
    if (w->count && w->rows.org) rc = look_at_batch(w, &to_do, err);
    if (!rc && w->writing && to_do) rc = write_batch(w, err);
    w->count = 0;
    return rc;
}

static loci_rc flush(work *w, loci_err *err)
{
    loci_rc rc = settle_batch(w, err);

    loci_arena_reset(w->arena);
    return rc ? rc : tell(w, err);
}

/* --- organizations --- */

typedef struct target {
    int64_t org, ver;
    bool found, same_id, has_model;
} target;

static loci_rc find_target(work *w, loci_tx *tx, const loci_carried *row, target *ret,
                           loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_str id = loci_carry_get(row, "id")->bytes;
    int64_t org = w->options->org;
    loci_rc rc = loci_stmt_begin(tx, &loci_import_room, org ? STMT_ORG : STMT_ORG_BY_ID, &q, err);

    if (rc) return rc;
    if (org)
        loci_stmt_bind_i64(q, 1, org);
    else
        loci_stmt_bind_text(q, 1, id);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE && org)
        return loci_fail(err, LOCI_ENOTFOUND, "no organization with the number %lld",
                         (long long)org);
    if (rc) return rc == LOCI_DONE ? LOCI_OK : rc;
    *ret = (target){ .org = loci_stmt_i64(q, 0),
                     .ver = loci_stmt_i64(q, 2),
                     .found = true,
                     .same_id = loci_str_eq(loci_stmt_text(q, 1), id),
                     .has_model = !loci_stmt_is_null(q, 3) };
    return LOCI_OK;
}

static void bind_optional(loci_stmt *q, unsigned at, const loci_carried_value *v)
{
    loci_stmt_bind_text_or_null(q, at, v->there ? v->bytes : (loci_str){ NULL, 0 });
}

static loci_rc make_org(loci_tx *tx, const loci_carried *row, int64_t *ret_org, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_import_room, STMT_NEW_ORG, &q, err);

    if (rc) return rc;
    loci_stmt_bind_text(q, 1, loci_carry_get(row, "id")->bytes);
    loci_stmt_bind_text(q, 2, loci_carry_get(row, "name")->bytes);
    loci_stmt_bind_i64(q, 3, loci_carry_get(row, "created_at")->number);
    bind_optional(q, 4, loci_carry_get(row, "extra"));
    rc = loci_stmt_next(q, err);
    if (!rc) *ret_org = loci_stmt_i64(q, 0);
    return rc;
}

/* Nothing was ever written to it: it takes the name and the rest from the file. */
static loci_rc set_org(loci_tx *tx, const loci_carried *row, int64_t org, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_import_room, STMT_SET_ORG, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, loci_carry_get(row, "name")->bytes);
    loci_stmt_bind_i64(q, 3, loci_carry_get(row, "created_at")->number);
    bind_optional(q, 4, loci_carry_get(row, "extra"));
    return loci_stmt_run(q, err);
}

static loci_rc set_model(loci_tx *tx, const loci_carried *row, int64_t org, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_import_room, STMT_SET_MODEL, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, loci_carry_get(row, "model")->bytes);
    return loci_stmt_run(q, err);
}

static loci_rc prepare_org(work *w, const loci_carried *row, target *t, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    bool model = loci_carry_get(row, "model")->there && !t->has_model;

    if (t->found && !model && !(t->same_id && t->ver == 0)) return LOCI_OK;
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_WRITE, &tx, err);
    if (!rc && !t->found) rc = make_org(tx, row, &t->org, err);
    if (!rc && t->found && t->same_id && t->ver == 0) rc = set_org(tx, row, t->org, err);
    if (!rc && model) rc = set_model(tx, row, t->org, err);
    return rc ? rc : loci_tx_commit(tx, err);
}

static loci_rc enter_org(work *w, const loci_carried *row, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    target t = { 0 };

    if (w->options->org && loci_carry_check_orgs(w->check) > 1)
        return loci_fail(err, LOCI_EINVAL,
                         "line %zu: the file holds several organizations and cannot be imported "
                         "into one: restore it instead",
                         row->line);
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = find_target(w, tx, row, &t, err);
    loci_tx_endp(&tx);
    if (!rc && w->writing) rc = prepare_org(w, row, &t, err);
    w->rows.org = t.org;
    return rc;
}

/* --- passes --- */

static loci_rc take_row(work *w, loci_err *err)
{
    loci_carried *row = &w->batch[w->count];

    if (row->table == &loci_tables[0]) {
        loci_carried org = *row;
        loci_rc rc = settle_batch(w, err); /* it is of the organization before */
        if (!rc) rc = enter_org(w, &org, err);
        return rc ? rc : flush(w, err);
    }
    if (row->table->secret && !w->options->keys) return LOCI_OK;
    if (!loci_table_open(w->db, row->table))
        return loci_fail(err, LOCI_ESHAPE, "line %zu: this store has no table %s", row->line,
                         row->table->name);
    w->count++;
    if (w->count < LOCI_IMPORT_BATCH && loci_arena_used(w->arena) < LOCI_IMPORT_BATCH_BYTES)
        return LOCI_OK;
    return flush(w, err);
}

static loci_rc run_pass(work *w, loci_err *err)
{
    loci_str line = { NULL, 0 };
    loci_carry_line kind = LOCI_CARRY_ROW;
    loci_rc rc;

    while ((rc = loci_lines_next(w->in, &line, err)) == LOCI_OK) {
        rc = loci_carry_check_line(w->check, w->arena, line, &kind, &w->batch[w->count], err);
        if (!rc && kind == LOCI_CARRY_ROW) rc = take_row(w, err);
        if (rc) return rc;
    }
    if (rc == LOCI_DONE) rc = flush(w, err);
    if (!rc) rc = loci_carry_check_end(w->check, err);
    w->result.rows = loci_carry_check_rows(w->check);
    return rc;
}

static loci_rc start_pass(work *w, bool writing, loci_err *err)
{
    w->writing = writing;
    w->count = 0;
    w->rows.org = 0;
    loci_arena_reset(w->arena);
    loci_carry_check_free(w->check);
    w->check = NULL;
    loci_rc rc = loci_lines_rewind(w->in, err);
    if (!rc) rc = loci_carry_check_new(w->now + SKEW, is_known, w, &w->check, err);
    return rc ? rc : run_pass(w, err);
}

static loci_rc refuse_conflicts(const work *w, loci_err *err)
{
    if (!w->conflicts) return LOCI_OK;
    return loci_fail(
        err, LOCI_ECONFLICT,
        "the store has something else under %lld of the ids (%s): nothing was imported",
        (long long)w->conflicts, w->names.ptr ? w->names.ptr : "");
}

loci_rc loci_import(loci_db *db, loci_writer *writer, const char *path,
                    const loci_import_options *options, loci_import_result *ret_result,
                    loci_err *err)
{
    LOCI_AUTO(work_freep) work *w = loci_zalloc(sizeof *w);
    if (!w) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    w->db = db;
    w->writer = writer;
    w->options = options;
    w->now = options->now ? options->now : loci_clock_now();
    loci_buf_init(&w->names, NAMES);
    w->arena = loci_arena_new(ARENA);
    if (!w->arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = loci_lines_open(path, &w->in, err);
    if (!rc) rc = start_pass(w, false, err);
    if (!rc) rc = refuse_conflicts(w, err);
    w->statistics_at = 4;
    if (!rc) rc = start_pass(w, true, err);
    if (!rc) rc = gather_statistics(w, true, err);
    if (!rc && ret_result) *ret_result = w->result;
    return rc;
}
