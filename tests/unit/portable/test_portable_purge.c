/* Purge leaves no trace of a text in the store, and touches nothing else. */
#include "fill.h"

#include "base/hash.h"
#include "db/catchup.h"
#include "db/doctor.h"
#include "db/export.h"
#include "db/purge.h"

#define SECRET "zanzibar-heliotrope"

static loci_rc purge_with(loci_db *db, const loci_purge_options *o, loci_purge_result *ret,
                          loci_err *err)
{
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;

    assert_ok(loci_writer_new(db, &writer, err), *err);
    return loci_purge(db, writer, o, ret, err);
}

/* A passage, its vector, its tags, what waits about it, and what was logged and answered. */
static loci_rc add_secret(loci_change *ch, void *arg, loci_err *err)
{
    static const loci_str text = { SECRET, sizeof SECRET - 1 };
    const int64_t *refs = arg; /* archive, agent */
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    uint8_t hash[LOCI_SHA256_LEN];
    int64_t row = loci_change_row(ch);
    const loci_table *t = loci_table_find(LOCI_STR("passage"));
    const int64_t numbers[] = { ch->org, row, row, 1, ch->born, LOCI_NEVER, ch->ver, 0 };
    loci_rc rc = loci_hash_bytes(LOCI_SHA256, text, hash, err);

    if (!rc) rc = loci_table_begin(ch->tx, t, LOCI_TABLE_INSERT, &q, err);
    if (rc) return rc;
    for (unsigned i = 0; i < 8; i++) loci_stmt_bind_i64(q, i + 1, numbers[i]);
    loci_stmt_bind_text(q, 10, LOCI_STR("test"));
    loci_stmt_bind_text(q, 13, LOCI_STR("passage-secret"));
    loci_stmt_bind_i64(q, 14, refs[0]);
    loci_stmt_bind_i64(q, 15, refs[1]);
    loci_stmt_bind_i64(q, 16, 0);
    loci_stmt_bind_text(q, 17, LOCI_STR("memory"));
    loci_stmt_bind_text(q, 18, text);
    loci_stmt_bind_blob(q, 19, (loci_str){ (char *)hash, sizeof hash });
    loci_stmt_bind_text(q, 22, LOCI_STR("[\"" SECRET "\"]"));
    loci_stmt_bind_i64(q, 24, 1);
    rc = loci_stmt_run(q, err);
    loci_buf_add(ch->answer, text);
    return rc ? rc : loci_change_outbox(ch, "add", row, text, err);
}

static void plant_secret(loci_db *db, const store *s)
{
    LOCI_AUTO(loci_writer_freep) loci_writer *writer = NULL;
    loci_err err = { 0 };
    int64_t refs[] = { fill_number(s, "SELECT min(obj) FROM archive"),
                       fill_number(s, "SELECT min(obj) FROM agent") };
    loci_write_request r = { .org = 1,
                             .run = add_secret,
                             .arg = refs,
                             .door = LOCI_STR("test"),
                             .key = LOCI_STR("k"),
                             .input_hash = LOCI_STR("h") };

    assert_ok(loci_writer_new(db, &writer, &err), err);
    assert_ok(loci_write(writer, &r, NULL, NULL, &err), err);
    fill_run(s, "INSERT INTO passage_tag SELECT org, 'x', '" SECRET "', row, archive FROM passage "
                "WHERE id = 'passage-secret'");
    fill_run(s, "INSERT INTO vector SELECT org, 'm', text_hash, 0, 0, 9, 1, text_hash FROM passage "
                "WHERE id = 'passage-secret'");
    fill_run(s, "INSERT INTO queue SELECT org, 90, 'embed', row, text_hash, 0, 0, 0, '" SECRET
                "' FROM passage WHERE id = 'passage-secret'");
    fill_run(s,
             "INSERT INTO access_log SELECT org, 91, 1, agent, 0, 'passage', obj, 'read', '" SECRET
             "', NULL, 'rest' FROM passage WHERE id = 'passage-secret'");
}

/* How often the text stands in the bytes of the store's files. */
static int traces(const store *s, const char *suffix)
{
    LOCI_AUTO(loci_buf_done) loci_buf name = { 0 };
    static char bytes[64 << 20];
    int n = 0;

    loci_buf_init(&name, 300);
    loci_buf_printf(&name, "%s%s", s->url, suffix);
    FILE *f = fopen(name.ptr, "rb");
    if (!f) return 0;
    loci_str rest = { bytes, fread(bytes, 1, sizeof bytes, f) };
    (void)fclose(f);
    for (size_t at; (at = loci_str_find(rest, LOCI_STR(SECRET))) < rest.len; n++)
        rest = loci_str_sub(rest, at + 1, rest.len);
    return n;
}

#define NAMES(table, column) "(SELECT count(*) FROM " table " WHERE " column " = '" SECRET "')"

static void leaves_no_trace(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    loci_str id = LOCI_STR("passage-secret");
    loci_purge_options o = { .org = 1, .ids = &id, .id_count = 1, .external = true };
    loci_purge_result result = { 0 };
    loci_err err = { 0 };
    const char *everywhere =
        "SELECT " NAMES("passage", "text") " + " NAMES("passage_tag", "tag") " + " NAMES(
            "queue",
            "error") " + " NAMES("access_log",
                                 "preview") " + " NAMES("outbox",
                                                        "payload") " + (SELECT count(*) FROM "
                                                                   "idempotency WHERE kept <> 0)";

    fill_store(db, 1, 3, 150);
    int64_t passages = fill_number(s, "SELECT count(*) FROM passage");
    plant_secret(db, s);
    assert_int_equal(fill_number(s, everywhere), 6);
    if (s->engine == LOCI_SQLITE) assert_true(traces(s, "") + traces(s, "-wal") > 0);
    assert_ok(purge_with(db, &o, &result, &err), err);
    assert_int_equal(result.rows, 1);
    assert_int_equal(result.previews, 1);
    assert_true(result.vectors >= 1);
    assert_int_equal(fill_number(s, everywhere), 0);
    assert_int_equal(fill_number(s, "SELECT count(*) FROM vector WHERE model = 'm'"), 0);
    assert_int_equal(fill_number(s, "SELECT count(*) FROM passage"), passages);
    assert_int_equal(fill_number(s, "SELECT count(*) FROM outbox WHERE kind = 'delete'"), 1);
    assert_int_equal(fill_number(s, "SELECT count(*) FROM purge WHERE kind = 'passage' AND ver = "
                                    "(SELECT max(ver) FROM purge)"),
                     1);
    assert_int_equal(fill_number(s, "SELECT count(*) FROM idempotency"), 1);
    /* Also not in the bytes that lie free. */
    if (s->engine == LOCI_SQLITE) assert_int_equal(traces(s, "") + traces(s, "-wal"), 0);
    assert_int_equal(purge_with(db, &o, &result, &err), LOCI_ENOTFOUND);
}

static loci_rc fail_on_error(const loci_finding *f, void *arg, loci_err *err)
{
    (void)arg;
    (void)err;
    if (f->severity == LOCI_SEVERITY_ERROR) fail_msg("%s (%s)", f->what, f->examples[0]);
    return LOCI_OK;
}

/* The store is sound, and can be exported without leaving anything out. */
static void assert_sound(loci_db *db, const store *s)
{
    loci_doctor_options d = { .finding = fail_on_error };
    loci_export_options o = { .org = 1, .replace = true };
    loci_export_result result = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_doctor(db, NULL, &d, NULL, &err), err);
    assert_ok(loci_export(db, fill_path(s, "x"), &o, &result, &err), err);
    assert_int_equal(result.orphans, 0);
}

static void takes_an_agent(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    loci_purge_result result = { 0 };
    loci_err err = { 0 };
    char id[64];

    fill_store(db, 1, 3, 500);
    /* The agent that the filling made first. */
    (void)snprintf(id, sizeof id, "agent-%04x-0", 3);
    loci_purge_options o = { .org = 1, .agent = loci_str_from(id) };
    int64_t agents = fill_number(s, "SELECT count(DISTINCT obj) FROM agent");
    int64_t obj = fill_number(s, "SELECT min(obj) FROM agent");
    assert_ok(purge_with(db, &o, &result, &err), err);
    assert_true(result.rows > 1);
    assert_int_equal(fill_number(s, "SELECT count(DISTINCT obj) FROM agent"), agents - 1);
    char sql[200];
    (void)snprintf(
        sql, sizeof sql,
        "SELECT (SELECT count(*) FROM message WHERE agent = %lld) + (SELECT count(*) FROM "
        "branch WHERE agent = %lld) + (SELECT count(*) FROM passage WHERE agent = %lld)",
        (long long)obj, (long long)obj, (long long)obj);
    assert_int_equal(fill_number(s, sql), 0);
    assert_sound(db, s);
    assert_int_equal(purge_with(db, &o, &result, &err), LOCI_ENOTFOUND);
}

static void takes_what_ended_before(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    loci_purge_options o = { .org = 1, .before = 1000300 };
    loci_purge_result result = { 0 };
    loci_err err = { 0 };
    static const char *const alive =
        "SELECT (SELECT count(*) FROM message WHERE ended >= 1000300 AND agent IN (SELECT obj FROM "
        "agent WHERE ended >= 1000300) AND (branch = 0 OR branch IN (SELECT obj FROM branch WHERE "
        "ended >= 1000300)))";

    fill_store(db, 1, 3, 500);
    int64_t before = fill_number(s, alive);
    assert_ok(purge_with(db, &o, &result, &err), err);
    assert_true(result.rows > 20);
    assert_int_equal(fill_number(s, "SELECT (SELECT count(*) FROM message WHERE ended < 1000300) + "
                                    "(SELECT count(*) FROM passage WHERE ended < 1000300) + "
                                    "(SELECT count(*) FROM block WHERE ended < 1000300) + "
                                    "(SELECT count(*) FROM agent WHERE ended < 1000300)"),
                     0);
    assert_int_equal(fill_number(s, alive), before);
    assert_sound(db, s);
    assert_ok(purge_with(db, &o, &result, &err), err);
    assert_int_equal(result.rows, 0);
}

static void wants_one_question(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_db_closep) loci_db *db = fill_open(s->url);
    loci_str id = LOCI_STR("x");
    loci_purge_options none = { .org = 1 };
    loci_purge_options two = { .org = 1, .ids = &id, .id_count = 1, .before = 5 };
    loci_err err = { 0 };

    assert_int_equal(purge_with(db, &none, NULL, &err), LOCI_EINVAL);
    assert_int_equal(purge_with(db, &two, NULL, &err), LOCI_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BOTH(leaves_no_trace), ON_BOTH(takes_an_agent),
                                        ON_BOTH(takes_what_ended_before),
                                        ON_BOTH(wants_one_question) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
