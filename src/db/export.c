#include "db/export.h"

#include "base/clock.h"
#include "base/hash.h"
#include "db/carry.h"
#include "db/lines.h"
#include "db/tables.h"

enum { TELL_EVERY = 1000 }; /* rows between two calls of progress */

enum { STMT_NEXT_ORG, STMT_AGENT };

static const loci_sql statements[] = {
    [STMT_NEXT_ORG] = { "i", "SELECT org FROM org WHERE org > ?1 ORDER BY org LIMIT 1", false },
    [STMT_AGENT] = { "it",
                     "SELECT obj FROM agent WHERE org = ?1 AND id = ?2 AND ended = {never} UNION "
                     "ALL SELECT obj FROM agent WHERE org = ?1 AND id = ?2 AND ended < {never} "
                     "LIMIT 1",
                     false },
};

const loci_db_room loci_export_room = { .name = "export",
                                        .statements = statements,
                                        .statement_count = LOCI_COUNT(statements) };

typedef struct work {
    loci_tx *tx;
    const loci_export_options *options;
    loci_lines_out *out;
    loci_hash *hash;
    loci_buf line;
    loci_export_result result;
} work;

static loci_rc put_line(work *w, loci_err *err)
{
    loci_rc rc = loci_buf_check(&w->line, err);

    if (!rc) rc = loci_lines_put(w->out, loci_buf_str(&w->line), err);
    loci_buf_clear(&w->line);
    return rc;
}

static loci_rc put_row(work *w, const loci_table *table, loci_stmt *q, loci_err *err)
{
    bool orphan = false;

    loci_buf_clear(&w->line);
    loci_rc rc = loci_carry_write(table, q, !w->options->vectors, &w->line, &orphan, err);
    if (rc) return rc;
    if (orphan) {
        w->result.orphans++;
        return LOCI_OK;
    }
    loci_hash_add(w->hash, loci_buf_str(&w->line));
    loci_hash_add(w->hash, LOCI_STR("\n"));
    rc = put_line(w, err);
    if (rc || ++w->result.rows % TELL_EVERY) return rc;
    return loci_progress_tell(w->options->progress, w->options->arg, "exporting", w->result.rows, 0,
                              err);
}

static bool wanted(const work *w, const loci_table *table, int64_t agent)
{
    if (!table->carried || !loci_table_open(loci_tx_db(w->tx), table)) return false;
    if (table == &loci_tables[0]) return true; /* an organization begins with its own row */
    if (table->secret && !w->options->keys) return false;
    if (strcmp(table->name, "vector") == 0 && !w->options->vectors) return false;
    return !agent || table->of_agent;
}

static loci_rc put_table(work *w, const loci_table *table, int64_t org, int64_t agent,
                         loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    bool some = agent && table->of_agent;
    loci_rc rc = loci_table_begin(w->tx, table, some ? LOCI_TABLE_AGENT : LOCI_TABLE_ALL, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    if (some) loci_stmt_bind_i64(q, 2, agent);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        rc = put_row(w, table, q, err);
        if (rc) return rc;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

/* Two objects with one id could not be told apart by whoever imports this. */
static loci_rc refuse_twins(work *w, const loci_table *table, int64_t org, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    bool sqlite = loci_db_engine(loci_tx_db(w->tx)) == LOCI_SQLITE;

    if (!table->has_id) return LOCI_OK;
    loci_rc rc = loci_table_begin(w->tx, table, sqlite ? LOCI_TABLE_TWINS_SQLITE : LOCI_TABLE_TWINS,
                                  &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    rc = loci_stmt_next(q, err);
    if (rc) return rc == LOCI_DONE ? LOCI_OK : rc;
    loci_str id = loci_stmt_text(q, 0);
    return loci_fail(err, LOCI_ECORRUPT,
                     "two rows of %s have the id %.*s: look at them with the doctor", table->name,
                     LOCI_ARG(id));
}

static loci_rc put_org(work *w, int64_t org, int64_t agent, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < loci_table_count; i++) {
        if (!wanted(w, &loci_tables[i], agent)) continue;
        rc = refuse_twins(w, &loci_tables[i], org, err);
        if (!rc) rc = put_table(w, &loci_tables[i], org, agent, err);
    }
    return rc;
}

/* The lowest organization above `org`; LOCI_DONE when there is none. */
static loci_rc next_org(work *w, int64_t *org, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(w->tx, &loci_export_room, STMT_NEXT_ORG, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, *org);
    rc = loci_stmt_next(q, err);
    if (!rc) *org = loci_stmt_i64(q, 0);
    return rc;
}

static loci_rc find_agent(work *w, int64_t *ret_obj, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_str id = w->options->agent;
    loci_rc rc = loci_stmt_begin(w->tx, &loci_export_room, STMT_AGENT, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, w->options->org);
    loci_stmt_bind_text(q, 2, id);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND, "no agent with the id '%.*s'", LOCI_ARG(id));
    if (!rc) *ret_obj = loci_stmt_i64(q, 0);
    return rc;
}

static loci_rc put_one_org(work *w, loci_err *err)
{
    int64_t agent = 0, before = w->result.rows;
    loci_rc rc = w->options->agent.len ? find_agent(w, &agent, err) : LOCI_OK;

    if (!rc) rc = put_org(w, w->options->org, agent, err);
    if (rc || w->result.rows > before) return rc;
    return loci_fail(err, LOCI_ENOTFOUND, "no organization with the number %lld",
                     (long long)w->options->org);
}

static loci_rc put_all_orgs(work *w, loci_err *err)
{
    int64_t org = INT64_MIN;
    loci_rc rc;

    while ((rc = next_org(w, &org, err)) == LOCI_OK) {
        rc = put_org(w, org, 0, err);
        if (rc) return rc;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static void write_head(work *w)
{
    const loci_export_options *o = w->options;
    bool sqlite = loci_db_engine(loci_tx_db(w->tx)) == LOCI_SQLITE;
    loci_carry_head head = { .time = o->now ? o->now : loci_clock_now(),
                             .store = sqlite ? LOCI_STR("sqlite") : LOCI_STR("postgres"),
                             .program = loci_str_from(loci_version()),
                             .vectors = o->vectors };

    if (o->agent.len) head.agent = o->agent;
    loci_carry_write_head(&head, &w->line);
}

static loci_rc put_end(work *w, loci_err *err)
{
    uint8_t digest[LOCI_HASH_MAX];
    char hex[LOCI_HASH_HEX_MAX];
    loci_rc rc = loci_hash_end(w->hash, digest, err);

    if (rc) return rc;
    loci_hash_to_hex(digest, LOCI_SHA256_LEN, hex);
    loci_carry_end end = { .lines = w->result.rows, .sha256 = loci_str_from(hex) };
    loci_carry_write_end(&end, &w->line);
    return put_line(w, err);
}

static loci_rc put_everything(work *w, loci_err *err)
{
    write_head(w);
    loci_rc rc = put_line(w, err);
    if (!rc) rc = w->options->org ? put_one_org(w, err) : put_all_orgs(w, err);
    if (!rc) rc = put_end(w, err);
    return rc ? rc : loci_lines_finish(w->out, err);
}

loci_rc loci_export(loci_db *db, const char *path, const loci_export_options *options,
                    loci_export_result *ret_result, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_lines_out_freep) loci_lines_out *out = NULL;
    LOCI_AUTO(loci_hash_freep) loci_hash *hash = NULL;
    work w = { .options = options };

    if (options->agent.len && !options->org)
        return loci_fail(err, LOCI_EINVAL, "an agent's export needs its organization");
    loci_buf_init(&w.line, LOCI_LINE_BYTES);
    loci_rc rc = loci_lines_create(path, options->replace, &out, err);
    if (!rc) rc = loci_hash_new(LOCI_SHA256, &hash, err);
    if (!rc) rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    w.tx = tx;
    w.out = out;
    w.hash = hash;
    if (!rc) rc = put_everything(&w, err);
    if (!rc && ret_result) *ret_result = w.result;
    loci_buf_done(&w.line);
    return rc;
}
