#include "db/purge.h"

#include "base/alloc.h"
#include "base/json.h"
#include "db/purge_rules.h"
#include "db/stmt.h"
#include "db/tables.h"

enum { ARENA = 4 << 20, ENTRIES = 10000, HASH = 64, VECTORS = 500 };

typedef struct work {
    loci_db *db;
    loci_writer *writer;
    const loci_purge_options *options;
    loci_arena *arena;
    const loci_purge_rule *rule; /* of the batch */
    int64_t rows[LOCI_PURGE_BATCH], objs[LOCI_PURGE_BATCH];
    loci_str ids[LOCI_PURGE_BATCH]; /* ptr is NULL for links */
    size_t count;
    int64_t entries[ENTRIES]; /* of the access log */
    size_t entry_count;
    loci_purge_result result;
} work;

static void work_free(work *w)
{
    if (!w) return;
    loci_arena_free(w->arena);
    loci_free(w);
}

LOCI_DEFINE_CLEANUP(work_freep, work, work_free)

/* --- one batch --- */

static loci_rc run_list(loci_tx *tx, size_t statement, int64_t org, const int64_t *values,
                        size_t count, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_purge_room, statement, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64s(q, 2, values, count);
    return loci_stmt_post(q, err);
}

static loci_rc note_rows(loci_change *change, const work *w, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < w->count; i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        rc = loci_stmt_begin(change->tx, &loci_purge_room, LOCI_PURGE_STMT_NOTE, &q, err);
        if (rc) return rc;
        loci_stmt_bind_i64(q, 1, change->org);
        loci_stmt_bind_i64(q, 2, loci_change_row(change));
        loci_stmt_bind_i64(q, 3, change->ver);
        loci_stmt_bind_i64(q, 4, change->born);
        loci_stmt_bind_text(q, 5, loci_str_from(w->rule->table));
        loci_stmt_bind_i64(q, 6, w->rows[i]);
        rc = loci_stmt_post(q, err);
    }
    return rc;
}

static loci_rc count_left(loci_tx *tx, size_t statement, int64_t org, int64_t obj, int64_t *ret,
                          loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_purge_room, statement, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, obj);
    rc = loci_stmt_next(q, err);
    if (!rc) *ret = loci_stmt_i64(q, 0);
    return rc;
}

static loci_rc tell_external(loci_change *change, int64_t obj, loci_str id, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf payload = { 0 };
    loci_json_writer j;

    loci_buf_init(&payload, 1024);
    loci_json_begin(&j, &payload);
    loci_json_object(&j);
    loci_json_member_str(&j, "id", id);
    loci_json_object_end(&j);
    loci_rc rc = loci_json_check(&j, err);
    return rc ? rc : loci_change_outbox(change, "delete", obj, loci_buf_str(&payload), err);
}

/* What waits to be told about a passage is dropped when nothing of it is left. */
static loci_rc settle_outbox(loci_change *change, const work *w, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    if (strcmp(w->rule->table, "passage") != 0) return LOCI_OK;
    for (size_t i = 0; !rc && i < w->count; i++) {
        int64_t left = 0;
        bool told = false;
        for (size_t k = 0; k < i; k++) told = told || w->objs[k] == w->objs[i];
        if (told) continue;
        rc = count_left(change->tx, LOCI_PURGE_STMT_LEFT, change->org, w->objs[i], &left, err);
        if (rc || left) continue;
        rc = run_list(change->tx, LOCI_PURGE_STMT_OUTBOX, change->org, &w->objs[i], 1, err);
        if (!rc && w->options->external) rc = tell_external(change, w->objs[i], w->ids[i], err);
    }
    return rc;
}

static loci_rc drop_answers(loci_change *change, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc =
        loci_stmt_begin(change->tx, &loci_purge_room, LOCI_PURGE_STMT_IDEMPOTENCY, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    return loci_stmt_post(q, err);
}

static loci_rc erase(loci_change *change, void *arg, loci_err *err)
{
    work *w = arg;
    int64_t org = change->org;
    loci_rc rc = run_list(change->tx, w->rule->delete, org, w->rows, w->count, err);

    if (!rc) rc = run_list(change->tx, LOCI_PURGE_STMT_QUEUE, org, w->rows, w->count, err);
    if (!rc && w->entry_count)
        rc = run_list(change->tx, LOCI_PURGE_STMT_CUT_PREVIEWS, org, w->entries, w->entry_count,
                      err);
    if (!rc) rc = settle_outbox(change, w, err);
    if (!rc) rc = drop_answers(change, err);
    return rc ? rc : note_rows(change, w, err);
}

/* The rows that the rule takes next, and the previews that speak of them. */
static loci_rc select_rows(work *w, loci_tx *tx, int64_t target, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_purge_room, w->rule->statement, &q, err);

    if (rc) return rc;
    w->count = 0;
    loci_arena_reset(w->arena);
    loci_stmt_bind_i64(q, 1, w->options->org);
    loci_stmt_bind_i64(q, 2, target);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK && w->count < LOCI_PURGE_BATCH) {
        w->rows[w->count] = loci_stmt_i64(q, 0);
        w->objs[w->count] = loci_stmt_i64(q, 1);
        rc = loci_stmt_copy(q, 2, w->arena, &w->ids[w->count], err);
        if (rc) return rc;
        w->count++;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc select_previews(work *w, loci_tx *tx, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(tx, &loci_purge_room, LOCI_PURGE_STMT_PREVIEWS, &q, err);

    if (rc) return rc;
    w->entry_count = 0;
    loci_stmt_bind_i64(q, 1, w->options->org);
    loci_stmt_bind_i64s(q, 2, w->objs, w->count);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK && w->entry_count < ENTRIES)
        w->entries[w->entry_count++] = loci_stmt_i64(q, 0);
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc gather(work *w, int64_t target, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = select_rows(w, tx, target, err);
    return rc || !w->count ? rc : select_previews(w, tx, err);
}

static loci_rc write_with(work *w, loci_write_fn run, loci_err *err)
{
    loci_write_request r = { .org = w->options->org,
                             .run = run,
                             .arg = w,
                             .who = w->options->who,
                             .door = w->options->door.len ? w->options->door : LOCI_STR("purge") };

    return loci_write(w->writer, &r, NULL, NULL, err);
}

static loci_rc run_rule(work *w, const loci_purge_rule *rule, int64_t target, loci_err *err)
{
    w->rule = rule;
    for (;;) {
        loci_rc rc = gather(w, target, err);
        if (rc || !w->count) return rc;
        rc = write_with(w, erase, err);
        if (rc) return rc;
        w->result.rows += (int64_t)w->count;
        w->result.previews += (int64_t)w->entry_count;
        rc = loci_progress_tell(w->options->progress, w->options->arg, "purging", w->result.rows, 0,
                                err);
        if (rc) return rc;
    }
}

static loci_rc run_plan(work *w, const char *table, int64_t target, loci_err *err)
{
    const loci_purge_plan *plan = loci_purge_plan_of(table);
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < plan->count; i++) rc = run_rule(w, &plan->rules[i], target, err);
    return rc;
}

/* --- what goes --- */

static loci_rc find_id(work *w, loci_tx *tx, loci_str id, const loci_table **ret_table,
                       int64_t *ret_obj, loci_err *err)
{
    for (size_t i = 0; i < loci_table_count; i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        const loci_table *t = &loci_tables[i];
        if (!t->has_id || !loci_purge_plan_of(t->name) || !loci_table_open(w->db, t)) continue;
        loci_rc rc = loci_table_begin(tx, t, LOCI_TABLE_OBJ, &q, err);
        if (rc) return rc;
        loci_stmt_bind_i64(q, 1, w->options->org);
        loci_stmt_bind_text(q, 2, id);
        rc = loci_stmt_next(q, err);
        if (rc == LOCI_DONE) continue;
        if (!rc) *ret_obj = loci_stmt_i64(q, 0);
        *ret_table = t;
        return rc;
    }
    return loci_fail(err, LOCI_ENOTFOUND, "nothing has the id '%.*s'", LOCI_ARG(id));
}

static loci_rc check_children(work *w, loci_tx *tx, const loci_table *t, int64_t obj, loci_str id,
                              loci_err *err)
{
    int64_t children = 0;

    if (strcmp(t->name, "branch") != 0) return LOCI_OK;
    loci_rc rc = count_left(tx, LOCI_PURGE_STMT_CHILDREN, w->options->org, obj, &children, err);
    if (rc || !children) return rc;
    return loci_fail(err, LOCI_ECONFLICT, "the branch %.*s has children: purge them first",
                     LOCI_ARG(id));
}

/* Every id is looked up before anything is erased. */
static loci_rc purge_ids(work *w, const loci_str *ids, size_t count, bool agent, loci_err *err)
{
    const loci_table *tables[LOCI_PURGE_IDS] = { 0 };
    int64_t objs[LOCI_PURGE_IDS] = { 0 };
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;

    if (count > LOCI_PURGE_IDS)
        return loci_fail(err, LOCI_ELIMIT, "%zu ids: at most %d at once", count, LOCI_PURGE_IDS);
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_READ, &tx, err);
    for (size_t i = 0; !rc && i < count; i++) {
        rc = find_id(w, tx, ids[i], &tables[i], &objs[i], err);
        if (!rc && agent && strcmp(tables[i]->name, "agent") != 0)
            rc = loci_fail(err, LOCI_ENOTFOUND, "no agent with the id '%.*s'", LOCI_ARG(ids[i]));
        if (!rc) rc = check_children(w, tx, tables[i], objs[i], ids[i], err);
    }
    loci_tx_endp(&tx);
    for (size_t i = 0; !rc && i < count; i++) rc = run_plan(w, tables[i]->name, objs[i], err);
    return rc;
}

/* The next objects of a table that ended for good before the time. */
static loci_rc select_ended(work *w, size_t which, int64_t *objs, size_t *ret_count, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    size_t n = 0;
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &loci_purge_room, LOCI_PURGE_STMT_ENDED + which, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, w->options->org);
    loci_stmt_bind_i64(q, 2, w->options->before);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK && n < LOCI_PURGE_BATCH)
        objs[n++] = loci_stmt_i64(q, 0);
    *ret_count = n;
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc purge_before(work *w, loci_err *err)
{
    int64_t objs[LOCI_PURGE_BATCH];
    loci_rc rc = LOCI_OK;

    for (size_t k = 0; !rc && k < LOCI_COUNT(loci_purge_whole); k++) {
        size_t count = 0;
        do {
            rc = select_ended(w, k, objs, &count, err);
            for (size_t i = 0; !rc && i < count; i++)
                rc = run_plan(w, loci_purge_whole[k], objs[i], err);
        } while (!rc && count);
    }
    return rc ? rc : run_plan(w, NULL, w->options->before, err);
}

/* --- vectors --- */

typedef struct vectors {
    loci_arena *arena;
    loci_str models[VECTORS], hashes[VECTORS];
    size_t count;
    int64_t last_row; /* when they were looked for */
} vectors;

static loci_rc select_unused(loci_db *db, vectors *v, int64_t org, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL, *last = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &loci_purge_room, LOCI_PURGE_STMT_LAST_ROW, &last, err);
    if (rc) return rc;
    loci_stmt_bind_i64(last, 1, org);
    rc = loci_stmt_next(last, err);
    if (rc) return rc == LOCI_DONE ? LOCI_OK : rc;
    v->last_row = loci_stmt_i64(last, 0);
    rc = loci_stmt_begin(tx, &loci_purge_room, LOCI_PURGE_STMT_UNUSED, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK && v->count < VECTORS) {
        rc = loci_stmt_copy(q, 0, v->arena, &v->models[v->count], err);
        loci_str hash = loci_arena_str(v->arena, loci_stmt_blob(q, 1));
        if (!rc && !hash.ptr) rc = loci_arena_fail(v->arena, err);
        if (rc) return rc;
        v->hashes[v->count++] = hash;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc erase_vectors(loci_change *change, void *arg, loci_err *err)
{
    const vectors *v = arg;
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < v->count; i++) {
        LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
        rc = loci_stmt_begin(change->tx, &loci_purge_room, LOCI_PURGE_STMT_VECTOR, &q, err);
        if (rc) return rc;
        loci_stmt_bind_i64(q, 1, change->org);
        loci_stmt_bind_text(q, 2, v->models[i]);
        loci_stmt_bind_blob(q, 3, v->hashes[i]);
        loci_stmt_bind_i64(q, 4, v->last_row);
        rc = loci_stmt_post(q, err);
    }
    return rc;
}

static loci_rc vector_batches(loci_db *db, loci_writer *writer, vectors *v, int64_t org,
                              loci_str door, int64_t *ret_count, loci_err *err)
{
    loci_write_request r = { .org = org, .run = erase_vectors, .arg = v, .door = door };

    for (;;) {
        loci_arena_reset(v->arena);
        v->count = 0;
        loci_rc rc = select_unused(db, v, org, err);
        if (rc || !v->count) return rc;
        rc = loci_write(writer, &r, NULL, NULL, err);
        if (rc) return rc;
        *ret_count += (int64_t)v->count;
    }
}

loci_rc loci_purge_vectors(loci_db *db, loci_writer *writer, int64_t org, loci_str door,
                           int64_t *ret_count, loci_err *err)
{
    LOCI_AUTO(loci_freep) vectors *v = loci_zalloc(sizeof *v);
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(ARENA);

    if (!v || !arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    v->arena = arena;
    return vector_batches(db, writer, v, org, door.len ? door : LOCI_STR("purge"), ret_count, err);
}

static loci_rc check_options(const loci_purge_options *o, loci_err *err)
{
    int ways = (o->id_count > 0) + (o->agent.len > 0) + (o->before > 0);

    if (ways == 1) return LOCI_OK;
    return loci_fail(err, LOCI_EINVAL, "purge needs one of ids, agent and before");
}

loci_rc loci_purge(loci_db *db, loci_writer *writer, const loci_purge_options *options,
                   loci_purge_result *ret_result, loci_err *err)
{
    LOCI_AUTO(work_freep) work *w = loci_zalloc(sizeof *w);
    loci_rc rc = check_options(options, err);

    if (rc) return rc;
    if (w) w->arena = loci_arena_new(ARENA);
    if (!w || !w->arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    w->db = db;
    w->writer = writer;
    w->options = options;
    if (options->id_count)
        rc = purge_ids(w, options->ids, options->id_count, false, err);
    else if (options->agent.len)
        rc = purge_ids(w, &options->agent, 1, true, err);
    else
        rc = purge_before(w, err);
    if (!rc)
        rc = loci_purge_vectors(db, writer, options->org, options->door, &w->result.vectors, err);
    if (!rc) rc = loci_db_checkpoint(db, true, err);
    if (!rc && ret_result) *ret_result = w->result;
    return rc;
}
