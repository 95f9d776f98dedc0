/* Each kind of damage is planted in a healthy store, found by its check and named; fixing repairs
 * derived data and nothing else. */
#include "fill.h"

#include "db/doctor.h"
#include "db/export.h"

enum { FINDINGS = 300 };
#define NOW INT64_C(1800000000000000)

typedef struct findings {
    loci_finding all[FINDINGS];
    size_t count;
} findings;

static findings found;

static loci_rc keep(const loci_finding *f, void *arg, loci_err *err)
{
    findings *to = arg;

    (void)err;
    assert_true(to->count < FINDINGS);
    to->all[to->count++] = *f;
    return LOCI_OK;
}

static loci_doctor_result examine(loci_db *db, bool fix)
{
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;
    loci_doctor_options o = { .fix = fix, .now = NOW, .finding = keep, .arg = &found };
    loci_doctor_result result = { 0 };
    loci_err err = { 0 };

    found.count = 0;
    assert_ok(loci_writer_new(db, &writer, &err), err);
    assert_ok(loci_doctor(db, writer, &o, &result, &err), err);
    return result;
}

static const loci_finding *find(const char *check)
{
    for (size_t i = 0; i < found.count; i++)
        if (strcmp(found.all[i].check, check) == 0 &&
            (found.all[i].severity != LOCI_SEVERITY_INFO || strcmp(check, "rows") != 0))
            return &found.all[i];
    return NULL;
}

static void export_to(loci_db *db, const char *path)
{
    loci_export_options o = { .vectors = false, .replace = true };
    loci_err err = { 0 };

    assert_ok(loci_export(db, path, &o, NULL, &err), err);
}

#define ONE(table) "(SELECT min(row) FROM " table " WHERE org = 1)"
#define NEVER "9223372036854775807"
#define ALIVE "(SELECT min(row) FROM passage WHERE org = 1 AND ended = " NEVER ")"

/* What is done to the store, which check finds it, and whether it is repaired. */
static const struct {
    const char *check, *damage[3];
    loci_severity severity;
    bool fixed;
} cases[] = {
    { "orphans",
      { "UPDATE message SET agent = 424242 WHERE row = " ONE("message") },
      LOCI_SEVERITY_ERROR,
      false },
    { "orphans",
      { "UPDATE message SET branch = 424242 WHERE row = " ONE("message") },
      LOCI_SEVERITY_ERROR,
      false },
    { "orphans",
      { "UPDATE block_link SET block = 424242 WHERE row = " ONE("block_link") },
      LOCI_SEVERITY_ERROR,
      false },
    { "orphans",
      { "UPDATE archive_link SET archive = 424242 WHERE row = " ONE("archive_link") },
      LOCI_SEVERITY_ERROR,
      false },
    { "orphans",
      { "UPDATE passage SET archive = 424242 WHERE row = " ONE("passage") },
      LOCI_SEVERITY_ERROR,
      false },
    { "orphans",
      { "UPDATE branch SET parent = 424242 WHERE row = " ONE("branch") },
      LOCI_SEVERITY_ERROR,
      false },
    { "alive_twice",
      { "INSERT INTO archive_link SELECT org, row + 700000, obj, rev + 70, born, " NEVER
        ", ver, 0, who, door, NULL, NULL, agent, (SELECT max(obj) + 5 FROM archive), is_owner FROM "
        "archive_link WHERE row = (SELECT min(row) FROM archive_link WHERE ended = " NEVER ")" },
      LOCI_SEVERITY_ERROR,
      false },
    { "times",
      { "UPDATE message SET ended = born - 1 WHERE row = " ONE("message") },
      LOCI_SEVERITY_ERROR,
      false },
    { "gaps",
      { "UPDATE message SET rev = rev + 1 WHERE rev = (SELECT max(rev) FROM message)" },
      LOCI_SEVERITY_WARNING,
      false },
    { "twins",
      { "UPDATE archive SET id = (SELECT id FROM archive WHERE obj = (SELECT min(obj) FROM "
        "archive) "
        "LIMIT 1), ended = 1999999, ended_ver = 1 WHERE obj = (SELECT max(obj) FROM archive)" },
      LOCI_SEVERITY_ERROR,
      false },
    { "tags",
      { "DELETE FROM passage_tag WHERE passage = (SELECT min(passage) FROM passage_tag)" },
      LOCI_SEVERITY_WARNING,
      true },
    { "tags",
      { "INSERT INTO block_tag (org, tag, block) SELECT 1, 'planted', min(row) FROM block" },
      LOCI_SEVERITY_WARNING,
      true },
    { "tags",
      { "UPDATE passage SET tags = 'not json' WHERE row = " ONE("passage") },
      LOCI_SEVERITY_WARNING,
      false },
    { "duplicates",
      { "INSERT INTO passage SELECT org, row + 700000, row + 700000, 1, born, " NEVER
        ", ver, 0, who, door, NULL, NULL, 'passage-copy', archive, agent, branch, kind, text, "
        "text_hash, grp, source, NULL, metadata, created_at, extra FROM passage WHERE row "
        "= " ALIVE },
      LOCI_SEVERITY_WARNING,
      false },
    { "waiting", { "UPDATE org SET model = 'm' WHERE org = 1" }, LOCI_SEVERITY_INFO, false },
    { "queue_lease",
      { "INSERT INTO queue SELECT 1, 1, 'embed', min(row), text_hash, 0, 0, 5, NULL FROM passage "
        "GROUP BY text_hash LIMIT 1" },
      LOCI_SEVERITY_WARNING,
      true },
    { "queue_row",
      { "INSERT INTO queue SELECT 1, 2, 'embed', 999999, text_hash, 0, 0, 0, NULL FROM passage "
        "LIMIT 1" },
      LOCI_SEVERITY_WARNING,
      true },
    { "outbox_lease",
      { "INSERT INTO outbox VALUES (1, 1, 'x', 1, NULL, 0, 0, 5, NULL)" },
      LOCI_SEVERITY_WARNING,
      true },
    { "idempotency",
      { "INSERT INTO idempotency SELECT 1, 'old', text_hash, 5, 1, 0, NULL FROM passage LIMIT 1" },
      LOCI_SEVERITY_INFO,
      true },
};

static void plant(const store *s, size_t i)
{
    for (size_t k = 0; k < 3 && cases[i].damage[k]; k++) fill_run(s, cases[i].damage[k]);
}

static void finds_each_damage(void **state)
{
    const store *s = store_of(state);

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_db *db = fill_open(s->url);
        if (i == 0) {
            fill_store(db, 1, 33, 250);
            (void)examine(db, true); /* random vectors that nobody uses */
            assert_int_equal(examine(db, false).errors, 0);
            fill_run(s, "DELETE FROM passage WHERE tags IS NULL");
        }
        if (find(cases[i].check) && cases[i].severity != LOCI_SEVERITY_INFO)
            fail_msg("%s is there before its damage", cases[i].check);
        loci_db_close(db);
        plant(s, i);
        db = fill_open(s->url);
        (void)examine(db, false);
        const loci_finding *f = find(cases[i].check);
        if (!f) fail_msg("%zu: %s was not found", i, cases[i].check);
        assert_int_equal(f->severity, cases[i].severity);
        assert_true(f->count > 0 && f->example_count > 0 && f->examples[0][0]);
        assert_int_equal(f->fixable, cases[i].fixed);
        assert_false(f->fixed);
        loci_db_close(db);
        if (cases[i].fixed) {
            db = fill_open(s->url);
            assert_true(examine(db, true).fixed > 0);
            (void)examine(db, false);
            if (find(cases[i].check)) fail_msg("%zu: %s was not fixed", i, cases[i].check);
            loci_db_close(db);
        } else {
            /* Fixing leaves it alone; a fresh store for the next. */
            loci_db *again = fill_open(s->url);
            (void)examine(again, true);
            assert_non_null(find(cases[i].check));
            fill_run(s, "DELETE FROM passage_tag");
            fill_run(s, "DELETE FROM block_tag");
            fill_run(s, "DELETE FROM agent_tag");
            static const char *const tables[] = { "vector",  "archive_link", "block_link",
                                                  "message", "passage",      "branch",
                                                  "block",   "archive",      "agent",
                                                  "users",   "api_key",      "queue" };
            for (size_t k = 0; k < LOCI_COUNT(tables); k++) {
                char sql[64];
                (void)snprintf(sql, sizeof sql, "DELETE FROM %s", tables[k]);
                fill_run(s, sql);
            }
            fill_run(s, "UPDATE org SET model = NULL");
            fill_store(again, 1, (unsigned)(40 + i), 250);
            (void)examine(again, true);
            fill_run(s, "DELETE FROM passage WHERE tags IS NULL");
            loci_db_close(again);
        }
    }
}

static void fixes_derived_data_only(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    LOCI_AUTO(loci_buf_done) loci_buf before = { 0 }, after = { 0 };

    fill_store(db, 1, 12, 250);
    fill_run(s, "DELETE FROM passage_tag WHERE tag = 't1'");
    int64_t tags = fill_number(s, "SELECT count(*) FROM passage_tag");
    export_to(db, fill_path(s, "a.jsonl"));
    loci_doctor_result result = examine(db, true);
    assert_int_equal(result.errors, 0);
    assert_true(result.fixed >= 2);
    assert_non_null(find("unused_vectors"));
    assert_int_equal(fill_number(s, "SELECT count(*) FROM vector"), 0);
    assert_true(fill_number(s, "SELECT count(*) FROM passage_tag") > tags);
    export_to(db, fill_path(s, "b.jsonl"));
    fill_read(fill_path(s, "a.jsonl"), &before);
    fill_read(fill_path(s, "b.jsonl"), &after);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.ptr, after.ptr, before.len);
    assert_int_equal(examine(db, true).fixed, 0);
}

static void tells_sizes(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    int rows = 0;

    fill_store(db, 1, 12, 60);
    (void)examine(db, false);
    for (size_t i = 0; i < found.count; i++) rows += strcmp(found.all[i].check, "rows") == 0;
    assert_int_equal(rows, loci_table_count);
    if (s->engine == LOCI_SQLITE) assert_true(find("file")->count > 0 && find("disk")->count > 0);
}

static void finds_a_damaged_file(void **state)
{
    const store *s = store_of(state);
    loci_db *db = fill_open(s->url);

    fill_store(db, 1, 12, 200);
    loci_db_close(db);
    fill_run(s, "PRAGMA wal_checkpoint(TRUNCATE)");
    FILE *f = fopen(s->url, "r+b");
    assert_non_null(f);
    /* Every page of the last half, behind the first ones that opening needs. */
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    assert_int_equal(fseek(f, ftell(f) / 2 / 4096 * 4096, SEEK_SET), 0);
    for (int i = 0; i < 3000; i++) assert_int_not_equal(fputc(0xA5, f), EOF);
    (void)fclose(f);
    db = fill_open(s->url);
    assert_true(examine(db, false).errors > 0);
    loci_db_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BOTH(finds_each_damage),
                                        ON_BOTH(fixes_derived_data_only), ON_BOTH(tells_sizes),
                                        ON_SQLITE(finds_a_damaged_file) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
