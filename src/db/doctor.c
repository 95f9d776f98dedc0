#include "db/doctor.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "db/doctor_checks.h"
#include "db/purge.h"
#include "db/stmt.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

enum { MB = 1 << 20 };

typedef struct work {
    loci_db *db;
    loci_writer *writer;
    const loci_doctor_options *options;
    int64_t now;
    int64_t done; /* checks */
    loci_doctor_result result;
} work;

void loci_finding_add(loci_finding *finding, loci_str example)
{
    finding->count++;
    if (finding->example_count == LOCI_DOCTOR_EXAMPLES) return;
    loci_str cut = loci_utf8_cut(example, LOCI_DOCTOR_EXAMPLE - 1);
    (void)snprintf(finding->examples[finding->example_count++], LOCI_DOCTOR_EXAMPLE, "%.*s",
                   LOCI_ARG(cut));
}

static loci_rc report(work *w, const loci_finding *f, loci_err *err)
{
    if (f->fixed)
        w->result.fixed++;
    else if (f->severity == LOCI_SEVERITY_ERROR)
        w->result.errors++;
    else if (f->severity == LOCI_SEVERITY_WARNING)
        w->result.warnings++;
    else
        w->result.infos++;
    return w->options->finding ? w->options->finding(f, w->options->arg, err) : LOCI_OK;
}

static loci_rc step(work *w, loci_err *err)
{
    return loci_progress_tell(w->options->progress, w->options->arg, "examining", ++w->done, 0,
                              err);
}

/* The texts name a table and a column, or nothing. */
static void describe(const loci_check *c, int64_t org, loci_finding *f)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };
    const char *names[] = { c->table, c->column };
    loci_str rest = loci_str_from(c->what);

    loci_buf_init(&text, sizeof f->what - 1);
    for (size_t i = 0, at;
         i < LOCI_COUNT(names) && (at = loci_str_find(rest, LOCI_STR("%s"))) < rest.len; i++) {
        loci_buf_add(&text, loci_str_sub(rest, 0, at));
        loci_buf_add_cstr(&text, names[i]);
        rest = loci_str_sub(rest, at + 2, rest.len);
    }
    loci_buf_add(&text, rest);
    *f = (loci_finding){ .severity = c->severity, .check = c->name, .org = org };
    (void)snprintf(f->what, sizeof f->what, "%s", text.ptr ? text.ptr : c->name);
}

static loci_rc run_statement(work *w, const loci_check *c, int64_t org, loci_finding *f,
                             loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &loci_doctor_room, c->statement, &q, err);
    if (rc) return rc;
    if (c->scope != LOCI_DOCTOR_STORE) loci_stmt_bind_i64(q, 1, org);
    if (c->scope == LOCI_DOCTOR_ORG_TIME) loci_stmt_bind_i64(q, 2, w->now);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK && f->count < LOCI_DOCTOR_MOST) {
        if (c->number)
            f->count = loci_stmt_i64(q, 0);
        else
            loci_finding_add(f, loci_stmt_text(q, 0));
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc run_fix(work *w, const loci_check *c, int64_t org, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    int64_t count = 0;

    if (c->fix == LOCI_DOCTOR_FIX_VECTORS)
        return loci_purge_vectors(w->db, w->writer, org, LOCI_STR("doctor"), &count, err);
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_WRITE, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_doctor_room, (size_t)c->fix, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, w->now);
    rc = loci_stmt_run(q, err);
    loci_stmt_endp(&q);
    return rc ? rc : loci_tx_commit(tx, err);
}

/* A check that cannot be finished says so; the others go on. */
static loci_rc unfinished(work *w, loci_finding *f, const loci_err *why, loci_err *err)
{
    f->severity = why->code == LOCI_ECORRUPT ? LOCI_SEVERITY_ERROR : LOCI_SEVERITY_WARNING;
    f->fixable = f->fixed = false;
    (void)snprintf(f->what, sizeof f->what, "the check '%s' could not be finished: %.100s",
                   f->check, why->msg);
    return report(w, f, err);
}

static loci_rc run_check(work *w, const loci_check *c, int64_t org, loci_err *err)
{
    loci_finding f;
    loci_err why = { 0 };

    describe(c, org, &f);
    loci_rc rc = run_statement(w, c, org, &f, &why);
    if (rc) return unfinished(w, &f, &why, err);
    if (f.count == 0 && !c->number) return step(w, err);
    f.fixable = c->fix != LOCI_DOCTOR_NO_FIX;
    if (f.fixable && w->options->fix) {
        rc = run_fix(w, c, org, err);
        if (rc) return rc;
        f.fixed = true;
    }
    rc = report(w, &f, err);
    return rc ? rc : step(w, err);
}

static bool applies(const work *w, const loci_check *c, bool store)
{
    const loci_table *t = c->table ? loci_table_find(loci_str_from(c->table)) : NULL;

    if ((c->scope == LOCI_DOCTOR_STORE) != store) return false;
    if (c->engine >= 0 && c->engine != (int)loci_db_engine(w->db)) return false;
    return !t || loci_table_open(w->db, t);
}

static loci_rc run_checks(work *w, bool store, int64_t org, loci_err *err)
{
    const loci_check *checks = NULL;
    size_t count = 0;
    loci_rc rc = loci_doctor_checks(&checks, &count, err);

    for (size_t i = 0; !rc && i < count; i++)
        if (applies(w, &checks[i], store)) rc = run_check(w, &checks[i], org, err);
    return rc;
}

static loci_rc check_tags(work *w, const loci_table *t, int64_t org, loci_err *err)
{
    loci_finding f = { .severity = LOCI_SEVERITY_WARNING, .check = "tags", .org = org };
    loci_err why = { 0 };

    (void)snprintf(f.what, sizeof f.what, "rows of %s have other tags than the table %s", t->name,
                   t->junction);
    loci_rc rc = loci_doctor_tags(w->db, w->options->fix, t, org, &f, &why);
    if (rc) return unfinished(w, &f, &why, err);
    if (f.count) rc = report(w, &f, err);
    return rc ? rc : step(w, err);
}

static loci_rc check_org(work *w, int64_t org, loci_err *err)
{
    loci_rc rc = run_checks(w, false, org, err);

    for (size_t i = 0; !rc && i < loci_table_count; i++)
        if (loci_tables[i].junction && loci_table_open(w->db, &loci_tables[i]))
            rc = check_tags(w, &loci_tables[i], org, err);
    return rc;
}

static loci_rc next_org(work *w, int64_t *org, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_tx_begin(w->db, LOCI_TX_READ, &tx, err);

    if (!rc) rc = loci_stmt_begin(tx, &loci_doctor_room, LOCI_DOCTOR_STMT_NEXT_ORG, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, *org);
    rc = loci_stmt_next(q, err);
    if (!rc) *org = loci_stmt_i64(q, 0);
    return rc;
}

static loci_rc check_orgs(work *w, loci_err *err)
{
    int64_t org = INT64_MIN;
    loci_rc rc;

    if (w->options->org) return check_org(w, w->options->org, err);
    while ((rc = next_org(w, &org, err)) == LOCI_OK) {
        rc = check_org(w, org, err);
        if (rc) return rc;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_rc tell_size(work *w, loci_severity severity, const char *check, const char *what,
                         int64_t bytes, loci_err *err)
{
    loci_finding f = { .severity = severity, .check = check, .count = bytes };

    (void)snprintf(f.what, sizeof f.what, "%s", what);
    return report(w, &f, err);
}

static int64_t file_size(const char *path, const char *suffix)
{
    LOCI_AUTO(loci_buf_done) loci_buf name = { 0 };
    struct stat st;

    loci_buf_init(&name, LOCI_DB_PATH + 8);
    loci_buf_printf(&name, "%s%s", path, suffix);
    if (loci_buf_check(&name, NULL) || stat(name.ptr, &st) != 0) return 0;
    return st.st_size;
}

/* An upgrade or a restore needs the store's size once more. */
static loci_rc check_files(work *w, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf folder = { 0 };
    const char *path = loci_db_name(w->db);
    int64_t size = file_size(path, ""), wal = file_size(path, "-wal");
    struct statvfs fs;

    if (loci_db_engine(w->db) != LOCI_SQLITE) return LOCI_OK;
    loci_buf_init(&folder, LOCI_DB_PATH);
    loci_buf_add(&folder, loci_fs_folder_of(loci_str_from(path)));
    loci_rc rc = loci_buf_check(&folder, err);
    if (!rc) rc = tell_size(w, LOCI_SEVERITY_INFO, "file", "bytes in the file", size, err);
    if (!rc) rc = tell_size(w, LOCI_SEVERITY_INFO, "wal", "bytes in the WAL", wal, err);
    if (rc || statvfs(folder.ptr, &fs) != 0) return rc;
    int64_t left = (int64_t)((uint64_t)fs.f_bavail * fs.f_frsize);
    bool little = left < 100 * (int64_t)MB || left < size + wal;
    return tell_size(w, little ? LOCI_SEVERITY_WARNING : LOCI_SEVERITY_INFO, "disk",
                     little ? "bytes are free on the disk, less than the store would need once more"
                            : "bytes are free on the disk",
                     left, err);
}

loci_rc loci_doctor(loci_db *db, loci_writer *writer, const loci_doctor_options *options,
                    loci_doctor_result *ret_result, loci_err *err)
{
    work w = { .db = db,
               .writer = writer,
               .options = options,
               .now = options->now ? options->now : loci_clock_now() };

    if (options->fix && !writer) return loci_fail(err, LOCI_EINVAL, "fixing needs a writer");
    loci_rc rc = run_checks(&w, true, 0, err);
    if (!rc) rc = check_files(&w, err);
    if (!rc) rc = check_orgs(&w, err);
    if (!rc && ret_result) *ret_result = w.result;
    return rc;
}
