#include "base/alloc.h"
#include "base/clock.h"
#include "examples.h"
#include "small_ops.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_BYTES = 1 << 20, OUTPUT_BYTES = 1 << 16 };

/* One call from nothing: table, caller, arena, output. */
typedef struct world {
    loci_ops *ops;
    loci_arena *arena;
    struct loci_app app;
    loci_caller who;
    loci_call call;
    loci_buf out;
    loci_err err;
} world;

static void begin(world *w)
{
    *w = (world){ .ops = small_ops(), .arena = loci_arena_new(ARENA_BYTES) };
    w->who = (loci_caller){ .org = 1, .role = LOCI_ROLE_ADMIN, .files = LOCI_FILES_ANY };
    w->call =
        (loci_call){ .arena = w->arena, .app = &w->app, .who = &w->who, .check_output = true };
    loci_buf_init(&w->out, OUTPUT_BYTES);
}

static void end(world *w)
{
    loci_buf_done(&w->out);
    loci_arena_free(w->arena);
    loci_ops_free(w->ops);
}

static loci_rc call(world *w, const char *op, const char *input)
{
    loci_buf_clear(&w->out);
    w->err = (loci_err){ 0 };
    return loci_ops_call(w->ops, &w->call, loci_str_from(op), loci_str_from(input), &w->out,
                         &w->err);
}

static void answers(world *w, const char *op, const char *input, const char *output)
{
    assert_ok(call(w, op, input), w->err);
    assert_str(loci_buf_str(&w->out), output);
}

static void refuses(world *w, const char *op, const char *input, loci_rc rc, const char *message)
{
    assert_int_equal(call(w, op, input), rc);
    assert_int_equal(w->err.code, rc);
    assert_string_equal(w->err.msg, message);
    assert_int_equal(w->out.len, 0);
}

static void runs_handlers(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    answers(&w, "add", "{\"a\":2,\"b\":3}", "{\"sum\":5}");
    answers(&w, "add", " {\"a\":2.0} ", "{\"sum\":3}"); /* the default of b; 2.0 is whole */
    answers(&w, "echo", "", "{\"text\":\"hello\",\"agent\":\"default\",\"node\":\"\",\"tags\":[]}");
    answers(&w, "echo", "{\"tags\":\"one\",\"metadata\":null}",
            "{\"text\":\"hello\",\"agent\":\"default\",\"node\":\"\",\"tags\":[\"one\"]}");
    answers(&w, "echo", "{\"text\":\"\",\"tags\":[\"a\",\"b\"],\"metadata\":{\"k\":[1]}}",
            "{\"text\":\"\",\"agent\":\"default\",\"node\":\"\",\"tags\":[\"a\",\"b\"],"
            "\"metadata\":{\"k\":[1]}}");
    answers(&w, "_secret", "{}", "{}");
    answers(&w, "slow", "", "{}");
}

static void appends_to_the_output(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    loci_buf_add(&w.out, LOCI_STR("before "));
    assert_ok(loci_ops_call(w.ops, &w.call, LOCI_STR("add"), LOCI_STR("{\"a\":1}"), &w.out, &w.err),
              w.err);
    assert_str(loci_buf_str(&w.out), "before {\"sum\":2}");
    assert_int_equal(loci_ops_call(w.ops, &w.call, LOCI_STR("fail"), LOCI_STR("{\"really\":true}"),
                                   &w.out, &w.err),
                     LOCI_EINVAL);
    assert_str(loci_buf_str(&w.out), "before {\"sum\":2}");
}

static void takes_parsed_input(void **state)
{
    LOCI_AUTO(end) world w;
    const loci_json *input = NULL;
    (void)state;

    begin(&w);
    assert_ok(loci_json_parse(w.arena, LOCI_STR("{\"a\":40,\"b\":2}"), &input, &w.err), w.err);
    assert_ok(loci_ops_call_json(w.ops, &w.call, LOCI_STR("add"), input, &w.out, &w.err), w.err);
    assert_str(loci_buf_str(&w.out), "{\"sum\":42}");
    loci_buf_clear(&w.out);
    assert_ok(loci_ops_call_json(w.ops, &w.call, LOCI_STR("lie"), NULL, &w.out, &w.err), w.err);
    assert_int_equal(loci_ops_call_json(w.ops, &w.call, LOCI_STR("add"), NULL, &w.out, &w.err),
                     LOCI_ESHAPE);
    assert_string_equal(w.err.msg, "a: is required");
}

static void refuses_bad_input(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    refuses(&w, "ad", "{}", LOCI_ENOTFOUND, "there is no operation 'ad'; did you mean 'add'?");
    refuses(&w, "add", "{\"a\":\"x\"}", LOCI_ESHAPE, "a: must be an integer, not 'x'");
    refuses(&w, "add", "{\"a\":1,\"c\":2}", LOCI_ESHAPE, "unknown field 'c'");
    refuses(&w, "add", "{\"a\":1,\"request_id\":\"x\"}", LOCI_ESHAPE, "unknown field 'request_id'");
    refuses(&w, "add", "{}", LOCI_ESHAPE, "a: is required");
    refuses(&w, "add", "[1]", LOCI_ESHAPE, "the input must be an object, not an array");
    refuses(&w, "add", "{\"a\":9223372036854775807}", LOCI_EINVAL, "the sum is too large");
    assert_int_equal(call(&w, "add", "{\"a\":1"), LOCI_ESHAPE);
    assert_int_equal(call(&w, "add", "{\"a\":1}x"), LOCI_ESHAPE);
    assert_int_equal(call(&w, "add", "\xff"), LOCI_ESHAPE);
    assert_int_equal(call(&w, "add", "{\"a\":1e999}"), LOCI_ESHAPE);
    assert_int_equal(w.app.kept, 0);
}

static void refuses_huge_and_deep_input(void **state)
{
    LOCI_AUTO(end) world w;
    LOCI_AUTO(loci_buf_done) loci_buf text;
    (void)state;

    begin(&w);
    loci_buf_init(&text, 4 << 20);
    loci_buf_add_cstr(&text, "{\"metadata\":");
    for (int i = 0; i < 100000; i++) loci_buf_add_char(&text, '[');
    assert_int_equal(call(&w, "echo", text.ptr), LOCI_ESHAPE);
    assert_non_null(strstr(w.err.msg, "nested deeper"));

    loci_buf_clear(&text);
    loci_buf_add_cstr(&text, "{\"text\":\"");
    for (int i = 0; i < 2000; i++) loci_buf_add_cstr(&text, "\xc3\xa4");
    loci_buf_add_cstr(&text, "\"}");
    refuses(&w, "echo", text.ptr, LOCI_ESHAPE, "text: must have at most 1000 characters, not 2000");

    loci_buf_clear(&text);
    loci_buf_add_cstr(&text, "{\"metadata\":{\"a\":\"");
    for (int i = 0; i < 2 << 20; i++) loci_buf_add_char(&text, 'x');
    loci_buf_add_cstr(&text, "\"}}");
    assert_int_equal(call(&w, "echo", text.ptr), LOCI_ELIMIT); /* more than the arena holds */
}

static void bounds_the_output(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    loci_buf_done(&w.out);
    loci_buf_init(&w.out, 20);
    refuses(&w, "echo", "{}", LOCI_ELIMIT, "the answer: text longer than 20 bytes");
    answers(&w, "add", "{\"a\":1}", "{\"sum\":2}");
}

static void passes_on_failures(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    refuses(&w, "fail", "{\"really\":true}", LOCI_EINVAL, "asked to fail");
    refuses(&w, "fail", "{\"really\":true,\"how\":\"missing\"}", LOCI_ENOTFOUND, "asked to fail");
    refuses(&w, "fail", "{\"really\":true,\"how\":\"early\"}", LOCI_EIO, "fail ended early");
    assert_false(w.call.refused);
    answers(&w, "fail", "{\"really\":true,\"how\":\"refused\"}", "{\"half\":\"written\"}");
    assert_true(w.call.refused);
    answers(&w, "add", "{\"a\":1}", "{\"sum\":2}");
    assert_false(w.call.refused);
}

static void catches_wrong_outputs(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    refuses(&w, "lie", "{\"lie\":true}", LOCI_ECORRUPT,
            "lie: its output does not fit its schema: truth: must be an integer, not '42'");
    w.call.check_output = false;
    answers(&w, "lie", "{\"lie\":true}", "{\"truth\":\"42\"}");
}

static void obeys_roles(void **state)
{
    static const struct {
        const char *op;
        loci_role least;
    } cases[] = {
        { "lie", LOCI_ROLE_READ },
        { "keep", LOCI_ROLE_WRITE },
        { "slow", LOCI_ROLE_WRITE },
        { "fail", LOCI_ROLE_ADMIN },
    };
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        for (loci_role role = LOCI_ROLE_READ; role <= LOCI_ROLE_ADMIN; role++) {
            w.who.role = role;
            loci_rc rc = call(&w, cases[i].op, "");
            assert_int_equal(rc == LOCI_EDENIED, role < cases[i].least);
        }
    w.who = (loci_caller){ 0 }; /* somebody of whom nothing is known */
    w.app.kept = 0;
    refuses(&w, "keep", "{\"nonsense", LOCI_EDENIED,
            "keep needs the role write; this key has read");
    refuses(&w, "fail", "{}", LOCI_EDENIED, "fail needs the role admin; this key has read");
    assert_int_equal(w.app.kept, 0);
}

#define ECHO(agent, node)                                                                          \
    "{\"text\":\"hello\",\"agent\":\"" agent "\",\"node\":\"" node "\",\"tags\":[]}"

static void settles_agent_and_node(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    answers(&w, "echo", "{\"agent\":\"a\",\"node\":\"n\"}", ECHO("a", "n"));
    answers(&w, "echo", "{\"agent_id\":\"a\",\"node_id\":\"n\"}", ECHO("a", "n"));
    answers(&w, "echo", "{\"agent_id\":\"a\",\"agent\":\"a\"}", ECHO("a", ""));
    refuses(&w, "echo", "{\"agent_id\":\"a\",\"agent\":\"b\"}", LOCI_ESHAPE,
            "agent and agent_id mean the same, but differ");
    w.who.agent = LOCI_STR("mine");
    w.who.node = LOCI_STR("here");
    answers(&w, "echo", "{}", ECHO("mine", "here"));
    answers(&w, "echo", "{\"agent\":\"*\",\"node\":\"n\"}", ECHO("*", "n"));
}

static void binds_keys_to_agents(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    w.who.agent = LOCI_STR("agent-1");
    w.who.agent_alias = LOCI_STR("anna");
    w.who.agent_bound = true;
    answers(&w, "echo", "{}", ECHO("agent-1", ""));
    answers(&w, "echo", "{\"agent\":\"anna\"}", ECHO("agent-1", ""));
    answers(&w, "echo", "{\"agent\":\"agent-1\",\"node\":\"n\"}", ECHO("agent-1", "n"));
    refuses(&w, "echo", "{\"agent\":\"bert\"}", LOCI_EDENIED,
            "agent 'bert' is not yours: you are 'agent-1'");
    refuses(&w, "echo", "{\"agent_id\":\"*\"}", LOCI_EDENIED,
            "agent '*' is not yours: you are 'agent-1'");
    refuses(&w, "add", "{\"a\":1}", LOCI_EDENIED,
            "add is not about one agent, and this key is bound to agent 'agent-1'");
}

static void fences_nodes(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    w.who.node = LOCI_STR("n1");
    w.who.node_fence = true;
    answers(&w, "echo", "{}", ECHO("default", "n1"));
    answers(&w, "echo", "{\"node\":\"n1\",\"agent\":\"default\"}", ECHO("default", "n1"));
    refuses(&w, "echo", "{\"node\":\"n2\"}", LOCI_EDENIED,
            "node 'n2' is outside: this connection is fenced to node 'n1'");
    refuses(&w, "echo", "{\"node_id\":\"n2\"}", LOCI_EDENIED,
            "node 'n2' is outside: this connection is fenced to node 'n1'");
    refuses(&w, "echo", "{\"agent\":\"other\",\"node\":\"n1\"}", LOCI_EDENIED,
            "agent 'other' is not yours: you are 'default'");
    refuses(&w, "lie", "{}", LOCI_EDENIED,
            "lie is not about one node, and this connection is fenced to node 'n1'");
    answers(&w, "add", "{\"a\":1}", "{\"sum\":2}"); /* touches no branch */
    answers(&w, "promote", "{\"node_id\":\"n1\"}", "{\"node\":\"n1\"}");
    refuses(&w, "promote", "{\"node_id\":\"n2\"}", LOCI_EDENIED,
            "node 'n2' is outside: this connection is fenced to node 'n1'");
    w.who.node_fence = false;
    answers(&w, "promote", "{\"node_id\":\"n2\",\"node\":\"n3\"}", "{\"node\":\"n3\"}");
}

/* The value of "hash" in the last answer. */
static void copy_hash(const world *w, char ret[65])
{
    const char *at = strstr(w->out.ptr, "\"hash\":\"");
    assert_non_null(at);
    memcpy(ret, at + 8, 64);
    ret[64] = '\0';
}

static void hash_of(world *w, const char *input, char ret[65])
{
    assert_ok(call(w, "keep", input), w->err);
    copy_hash(w, ret);
}

static void passes_request_ids(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    answers(&w, "keep", "{}", "{\"id\":\"thing \\\"one\\\"\",\"key\":\"\",\"hash\":null}");
    assert_ok(call(&w, "keep", "{\"request_id\":\"r1\"}"), w.err);
    assert_str(w.call.write_key, "r1");
    w.call.idempotency_key = LOCI_STR("r1");
    assert_ok(call(&w, "keep", "{\"request_id\":\"r1\"}"), w.err);
    assert_ok(call(&w, "keep", "{}"), w.err);
    assert_str(w.call.write_key, "r1");
    refuses(&w, "keep", "{\"request_id\":\"r2\"}", LOCI_ECONFLICT,
            "Idempotency-Key and request_id differ; give one");
    assert_ok(call(&w, "add", "{\"a\":1}"), w.err); /* a read has no use for it */
    assert_str(w.call.write_key, "");
    char long_key[300];
    memset(long_key, 'k', sizeof long_key);
    w.call.idempotency_key = (loci_str){ long_key, sizeof long_key };
    refuses(&w, "keep", "{}", LOCI_EINVAL, "Idempotency-Key longer than 200 bytes");
}

static void hashes_inputs(void **state)
{
    static const char *const same[] = {
        "{\"thing\":{\"a\":1,\"b\":[2,{\"c\":3,\"d\":4}]},\"request_id\":\"r\"}",
        "{\"request_id\":\"r\", \"thing\":{\"b\":[2,{\"d\":4,\"c\":3}],\"a\":1}}",
        "{\"request_id\":\"other\",\"thing\":{\"b\":[2,{\"d\":4,\"c\":3}],\"a\":1}}",
    };
    static const char *const others[] = {
        "{\"thing\":{\"a\":1,\"b\":[{\"c\":3,\"d\":4},2]},\"request_id\":\"r\"}",
        "{\"thing\":{\"a\":1,\"b\":[2,{\"c\":3,\"d\":5}]},\"request_id\":\"r\"}",
        "{\"thing\":{\"a\":1,\"b\":[],\"request_id\":\"r\"},\"request_id\":\"r\"}",
        "{\"agent\":\"x\",\"thing\":{\"a\":1},\"request_id\":\"r\"}",
    };
    LOCI_AUTO(end) world w;
    char first[65], hash[65];
    (void)state;

    begin(&w);
    hash_of(&w, same[0], first);
    for (size_t i = 1; i < LOCI_COUNT(same); i++) {
        hash_of(&w, same[i], hash);
        assert_string_equal(hash, first);
    }
    for (size_t i = 0; i < LOCI_COUNT(others); i++) {
        hash_of(&w, others[i], hash);
        assert_string_not_equal(hash, first);
    }
    hash_of(&w, "{\"thing\":{\"request_id\":1},\"request_id\":\"r\"}", first);
    hash_of(&w, "{\"thing\":{\"request_id\":2},\"request_id\":\"r\"}", hash);
    assert_string_not_equal(hash, first); /* only ours, at the top, is left out */
    hash_of(&w, same[0], first);
    w.who.agent = LOCI_STR("x"); /* the connection's agent counts as one in the input */
    hash_of(&w, same[0], hash);
    assert_string_not_equal(hash, first);
}

static bool always(void *door)
{
    (void)door;
    return true;
}

static bool from_the_third_time(void *door)
{
    return ++*(int *)door >= 3;
}

static void stops_when_cancelled(void **state)
{
    LOCI_AUTO(end) world w;
    int asked = 0;
    (void)state;

    begin(&w);
    w.call.cancelled = always;
    refuses(&w, "keep", "{}", LOCI_EUNAVAILABLE, "the call was cancelled");
    assert_int_equal(w.app.kept, 0);
    w.call.cancelled = from_the_third_time;
    w.call.door = &asked;
    refuses(&w, "slow", "{\"steps\":1000000}", LOCI_EUNAVAILABLE, "the call was cancelled");
    assert_int_equal(asked, 3);
    w.call.cancelled = NULL;
    w.call.deadline = 1;
    refuses(&w, "keep", "{}", LOCI_EUNAVAILABLE, "the time for this call is over");
    w.call.deadline = loci_clock_steady() + 3600LL * LOCI_SECOND;
    assert_ok(call(&w, "keep", "{}"), w.err);
}

static void note_progress(void *door, double done, double total, loci_str note)
{
    char *text = door;
    size_t at = strlen(text);
    (void)snprintf(text + at, 100 - at, "%g/%g %.*s;", done, total, LOCI_ARG(note));
}

static void reports_rising_progress(void **state)
{
    LOCI_AUTO(end) world w;
    char text[100] = "";
    (void)state;

    begin(&w);
    w.call.progress = note_progress;
    w.call.door = text;
    assert_ok(call(&w, "slow", "{}"), w.err);
    assert_string_equal(text, "0/4 working;1/4 working;2/4 working;");
}

/* A folder with a file, a link inside and a link that leads out. */
static void make_folder(char folder[64], char path[5][96])
{
    static const char *const names[] = { "file", "in", "out", "nowhere", "new" };

    (void)snprintf(folder, 64, "/tmp/loci-ops-XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 5; i++) (void)snprintf(path[i], 96, "%s/%s", folder, names[i]);
    FILE *file = fopen(path[0], "w");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(symlink("file", path[1]), 0);
    assert_int_equal(symlink("/etc", path[2]), 0);
    assert_int_equal(symlink("/etc/does-not-exist", path[3]), 0);
}

static void remove_folder(const char *folder, char path[5][96])
{
    for (size_t i = 0; i < 4; i++) assert_int_equal(unlink(path[i]), 0);
    assert_int_equal(rmdir(folder), 0);
}

static loci_rc ask_path(world *w, const char *path)
{
    char input[300];
    (void)snprintf(input, sizeof input, "{\"path\":\"%s\"}", path);
    return call(w, "read_file", input);
}

static void keeps_to_the_roots(void **state)
{
    LOCI_AUTO(end) world w;
    char folder[64], path[5][96], roots[200], more[200];
    (void)state;

    begin(&w);
    make_folder(folder, path);
    answers(&w, "read_file", "{\"path\":\"/etc/../x\"}", "{\"path\":\"/etc/../x\"}");
    w.who.files = LOCI_FILES_BELOW;
    assert_int_equal(ask_path(&w, path[0]), LOCI_EDENIED); /* no roots */
    (void)snprintf(roots, sizeof roots, "/does/not/exist:%s", folder);
    w.who.file_roots = loci_str_from(roots);
    assert_ok(ask_path(&w, path[0]), w.err);
    assert_ok(ask_path(&w, path[1]), w.err);
    assert_non_null(strstr(w.out.ptr, "/file\"")); /* the link was followed */
    assert_ok(ask_path(&w, path[4]), w.err);       /* not there yet */
    assert_ok(ask_path(&w, folder), w.err);
    assert_int_equal(ask_path(&w, path[2]), LOCI_EDENIED);
    assert_int_equal(ask_path(&w, path[3]), LOCI_EDENIED); /* writing would follow it */
    assert_non_null(strstr(w.err.msg, "path: '/tmp/loci-ops-"));
    assert_int_equal(ask_path(&w, "/etc/passwd"), LOCI_EDENIED);
    (void)snprintf(more, sizeof more, "%s/../../etc/passwd", folder);
    assert_int_equal(ask_path(&w, more), LOCI_EDENIED);
    (void)snprintf(more, sizeof more, "%s/missing/..", folder);
    assert_int_equal(ask_path(&w, more), LOCI_EDENIED);
    (void)snprintf(more, sizeof more, "%s-brother", folder);
    assert_int_equal(ask_path(&w, more), LOCI_EDENIED);
    w.who.file_roots = LOCI_STR("/");
    assert_ok(ask_path(&w, "/etc"), w.err);
    w.who.files = LOCI_FILES_NONE;
    assert_int_equal(ask_path(&w, path[0]), LOCI_EDENIED);
    remove_folder(folder, path);
}

static void prepare(loci_call *call_, void *state)
{
    world *w = state;
    call_->who = &w->who;
    call_->app = &w->app;
}

static void every_example_runs(void **state)
{
    LOCI_AUTO(end) world w;
    (void)state;

    begin(&w);
    assert_int_equal(run_every_example(w.ops, prepare, &w), 10);
    assert_int_equal(w.app.kept, 2); /* for itself and for the one that needs it */
}

/* Every path again with the n-th allocation failing: an error or the right answer. */
static void survives_failing_allocations(void **state)
{
    static const char *const calls[][2] = {
        { "add", "{\"a\":1}" },
        { "add", "{\"a\":1.5}" },
        { "keep", "{\"thing\":{\"b\":[1,2],\"a\":{}},\"request_id\":\"r\"}" },
        { "read_file", "{\"path\":\"/etc\"}" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(calls); i++) {
        bool done = false;
        for (unsigned long n = 1; n < 100 && !done; n++) {
            LOCI_AUTO(end) world w;
            begin(&w);
            w.who.files = LOCI_FILES_BELOW;
            w.who.file_roots = LOCI_STR("/");
            loci_alloc_fail_at(n);
            loci_rc rc = call(&w, calls[i][0], calls[i][1]);
            done = loci_alloc_fail_at(0) < n;
            if (done)
                assert_int_equal(rc, i == 1 ? LOCI_ESHAPE : LOCI_OK);
            else
                assert_true(rc != LOCI_ECORRUPT && rc != LOCI_EIO);
            assert_int_equal(rc == LOCI_OK, w.out.len > 0);
        }
        assert_true(done);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_handlers),
        cmocka_unit_test(appends_to_the_output),
        cmocka_unit_test(takes_parsed_input),
        cmocka_unit_test(refuses_bad_input),
        cmocka_unit_test(refuses_huge_and_deep_input),
        cmocka_unit_test(bounds_the_output),
        cmocka_unit_test(passes_on_failures),
        cmocka_unit_test(catches_wrong_outputs),
        cmocka_unit_test(obeys_roles),
        cmocka_unit_test(settles_agent_and_node),
        cmocka_unit_test(binds_keys_to_agents),
        cmocka_unit_test(fences_nodes),
        cmocka_unit_test(passes_request_ids),
        cmocka_unit_test(hashes_inputs),
        cmocka_unit_test(stops_when_cancelled),
        cmocka_unit_test(reports_rising_progress),
        cmocka_unit_test(keeps_to_the_roots),
        cmocka_unit_test(every_example_runs),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("ops/call", tests, NULL, NULL);
}
