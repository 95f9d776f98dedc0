/* Every row of the whole table, over a real store. */
#include "examples.h"
#include "test.h"

#include "base/fs.h"
#include "db/schema.h"
#include "ops/app.h"
#include "tree/agent.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ORG = LOCI_DEFAULT_ORG };

#define ALICE "agent-3f1c9a52-6f0b-4c1e-9a56-0b7c2d4e8f10"
#define APRIL INT64_C(1775044800000000) /* 2026-04-01T12:00:00Z */

static const loci_caller admin = { .org = ORG,
                                   .actor = { "test", 4 },
                                   .door = LOCI_DOOR_LIBRARY,
                                   .role = LOCI_ROLE_ADMIN,
                                   .files = LOCI_FILES_ANY };

typedef struct place {
    char folder[32], home[4096];
    loci_config *config;
    loci_app *app;
} place;

static void open_place(place *p)
{
    loci_err err = { 0 };

    (void)snprintf(p->folder, sizeof p->folder, "/tmp/loci-table-XXXXXX");
    assert_non_null(mkdtemp(p->folder));
    assert_non_null(getcwd(p->home, sizeof p->home));
    assert_int_equal(chdir(p->folder), 0);
    assert_ok(loci_config_new(loci_config_keys, loci_config_key_count, NULL, &p->config, &err),
              err);
    assert_ok(loci_config_set_flag(p->config, "--db", LOCI_STR("store.db"), &err), err);
    assert_ok(loci_app_open(p->config, NULL, &p->app, &err), err);
}

static void close_place(place *p)
{
    char command[64];

    loci_app_close(p->app);
    loci_config_free(p->config);
    assert_int_equal(chdir(p->home), 0);
    (void)snprintf(command, sizeof command, "rm -r %s", p->folder);
    assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): our own folder */
    memset(p, 0, sizeof *p);
}

/* The agent that examples speak of, made in April 2026. */
static loci_rc add_alice(loci_change *change, void *arg, loci_err *err)
{
    loci_agent_values values = { .name = LOCI_STR("alice") };
    int64_t obj;

    (void)arg;
    return loci_agent_create(change, LOCI_STR(ALICE), &values, &obj, err);
}

static void make_alice(place *p)
{
    loci_write_request request = {
        .org = ORG, .run = add_alice, .door = LOCI_STR("test"), .now = APRIL
    };
    loci_write_result result;
    loci_err err = { 0 };

    assert_ok(loci_write(p->app->writer, &request, NULL, &result, &err), err);
}

static void begin_anew(loci_call *call, void *state)
{
    place *p = state;

    if (p->app) close_place(p);
    open_place(p);
    make_alice(p);
    call->app = p->app;
    call->who = &admin;
}

static void every_example_runs(void **state)
{
    LOCI_AUTO(loci_ops_freep) loci_ops *ops = NULL;
    place p = { 0 };
    loci_err err = { 0 };

    (void)state;
    assert_ok(loci_table_new(&ops, &err), err);
    assert_true(run_every_example(ops, begin_anew, &p) >= loci_ops_count(ops));
    close_place(&p);
}

static loci_rc call_as(place *p, const loci_caller *who, const char *op, const char *input,
                       loci_buf *out, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(16 << 20);
    loci_call call = { .arena = arena, .app = p->app, .who = who, .check_output = true };

    return loci_ops_call(p->app->ops, &call, loci_str_from(op), loci_str_from(input), out, err);
}

/* A reader gets no further than the flags, whatever the input is. */
static void readers_cannot_write(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf out = { 0 };
    loci_caller reader = { .org = ORG, .door = LOCI_DOOR_REST };
    place p = { 0 };
    size_t writes = 0;

    (void)state;
    loci_buf_init(&out, 1 << 20);
    open_place(&p);
    for (size_t i = 0; i < loci_ops_count(p.app->ops); i++) {
        const loci_op *row = loci_ops_at(p.app->ops, i)->row;
        loci_err err = { 0 };
        if (!(row->flags & LOCI_OP_WRITES)) continue;
        assert_int_equal(call_as(&p, &reader, row->name, row->examples[0].input, &out, &err),
                         LOCI_EDENIED);
        assert_non_null(strstr(err.msg, "needs the role"));
        writes++;
    }
    assert_true(writes > 0);
    close_place(&p);
}

/* Files of the host stay out of reach over HTTP. */
static void files_obey_the_roots(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf out = { 0 };
    loci_caller who = { .org = ORG, .door = LOCI_DOOR_REST, .role = LOCI_ROLE_ADMIN };
    loci_err err = { 0 };
    place p = { 0 };

    (void)state;
    loci_buf_init(&out, 1 << 20);
    open_place(&p);
    const char *inside = "{\"path\": \"out.jsonl\"}";
    assert_int_equal(call_as(&p, &who, "export", inside, &out, &err), LOCI_EDENIED);
    who.files = LOCI_FILES_BELOW;
    who.file_roots = loci_str_from(p.folder);
    assert_ok(call_as(&p, &who, "export", inside, &out, &err), err);
    assert_int_equal(call_as(&p, &who, "export", "{\"path\": \"../out.jsonl\"}", &out, &err),
                     LOCI_EDENIED);
    assert_int_equal(call_as(&p, &who, "import", "{\"path\": \"/etc/passwd\"}", &out, &err),
                     LOCI_EDENIED);
    assert_int_equal(call_as(&p, &who, "doctor", "{\"all_organizations\": true}", &out, &err),
                     LOCI_EDENIED);
    close_place(&p);
}

static void says(place *p, const char *op, const char *input, const char *want)
{
    LOCI_AUTO(loci_buf_done) loci_buf out = { 0 };
    loci_err err = { 0 };

    loci_buf_init(&out, 1 << 20);
    assert_ok(call_as(p, &admin, op, input, &out, &err), err);
    if (!strstr(out.ptr, want)) fail_msg("%s %s: no %s in %s", op, input, want, out.ptr);
}

/* What happened is seen by every way of looking back, and a repeat gets the first answer. */
static void looks_back(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf out = { 0 };
    loci_err err = { 0 };
    place p = { 0 };

    (void)state;
    loci_buf_init(&out, 1 << 20);
    open_place(&p);
    make_alice(&p);
    says(&p, "list_agents", "{}", "\"name\":\"alice\"");
    says(&p, "log", "{\"agent\":\"alice\"}", "\"event\":\"added\",\"kind\":\"agent\"");
    says(&p, "diff", "{\"agent\":\"alice\",\"from\":\"2026-03-01\"}", "\"event\":\"added\"");
    says(&p, "diff", "{\"agent\":\"alice\",\"from\":\"2026-05-01\"}", "\"results\":[]");
    says(&p, "history", "{\"id\":\"" ALICE "\"}", "\"kind\":\"agent\",\"results\":[{\"rev\":1");
    says(&p, "undo", "{\"agent\":\"alice\",\"to\":\"2026-05-01\",\"request_id\":\"r\"}",
         "\"restored\":0");
    says(&p, "undo", "{\"agent\":\"alice\",\"to\":\"2026-05-01\",\"request_id\":\"r\"}",
         "\"restored\":0");
    assert_int_equal(call_as(&p, &admin, "undo",
                             "{\"agent\":\"alice\",\"to\":\"2026-05-02\",\"request_id\":\"r\"}",
                             &out, &err),
                     LOCI_ECONFLICT);
    says(&p, "purge", "{\"ids\":[\"" ALICE "\"],\"request_id\":\"p\"}", "{\"purged\":1}");
    says(&p, "purge", "{\"ids\":[\"" ALICE "\"],\"request_id\":\"p\"}", "{\"purged\":1}");
    says(&p, "list_agents", "{}", "\"results\":[]");
    close_place(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_runs),
        cmocka_unit_test(readers_cannot_write),
        cmocka_unit_test(files_obey_the_roots),
        cmocka_unit_test(looks_back),
    };
    return cmocka_run_group_tests_name("ops/table", tests, NULL, NULL);
}
