#include "base/arena.h"
#include "cli/args.h"
#include "test.h"

#include <string.h>

/* Parse a line of words; the program's name comes first by itself. */
static loci_rc parse(loci_arena *arena, const char *line, loci_args *ret_args, loci_err *err)
{
    static char words[1024];
    char program[] = "loci", *argv[32] = { program };
    int argc = 1;

    (void)snprintf(words, sizeof words, "%s", line);
    for (char *at = words; *at;) {
        argv[argc++] = at;
        at += strcspn(at, " ");
        if (*at) *at++ = '\0';
    }
    return loci_args_parse(arena, argc, argv, ret_args, err);
}

static void takes_options_anywhere(void **state)
{
    static const char *const lines[] = {
        "--json --listen 127.0.0.1:0 --config f serve --password-file p",
        "serve --password-file p --config=f --listen=127.0.0.1:0 --json",
        "--config f serve --password_file=p --json --listen 127.0.0.1:0",
    };
    LOCI_AUTO(loci_arena_freep) loci_arena *a = loci_arena_new(1 << 20);
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(lines); i++) {
        loci_args args;
        loci_err err = { 0 };
        assert_ok(parse(a, lines[i], &args, &err), err);
        assert_string_equal(args.command->name, "serve");
        assert_true(args.json);
        assert_string_equal(args.config_file, "f");
        assert_string_equal(loci_args_find(&args, "password-file"), "p");
        assert_int_equal(args.setting_count, 1);
        assert_string_equal(args.settings[0].name, "listen");
        assert_string_equal(args.settings[0].value, "127.0.0.1:0");
        assert_int_equal(args.word_count, 0);
    }
}

static void refuses_with_a_hint(void **state)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        { "sevre", "unknown command 'sevre'; did you mean 'serve'?" },
        { "xyzzy", "unknown command 'xyzzy'; loci help lists them" },
        { "serve --lisen x", "unknown option --lisen; did you mean 'listen'?" },
        { "serve --frobnicate", "unknown option --frobnicate; see loci serve --help" },
        { "serve --listen", "option --listen needs a value" },
        { "version --json=1", "option --json takes no value, but got '1'" },
        { "version -x", "unknown option -x; options start with --" },
        { "serve --password x",
          "--password would show the secret in the list of processes; put it into the "
          "configuration file or the environment, or use --password-file" },
        { "version now", "version: unexpected word 'now'; usage: loci version " },
        { "docs",
          "docs: too few words; usage: loci docs configuration|operations|manual|bash|zsh|fish" },
    };
    LOCI_AUTO(loci_arena_freep) loci_arena *a = loci_arena_new(1 << 20);
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_args args = { .word_count = 99 };
        loci_err err = { 0 };
        assert_int_equal(parse(a, cases[i].line, &args, &err), LOCI_EINVAL);
        assert_string_equal(err.msg, cases[i].says);
        assert_int_equal(args.word_count, 99);
    }
}

static void stops_options_at_two_dashes(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *a = loci_arena_new(1 << 20);
    loci_args args;
    loci_err err = { 0 };
    (void)state;

    assert_ok(parse(a, "help -- --json", &args, &err), err);
    assert_false(args.json);
    assert_string_equal(args.words[0], "--json");
    assert_ok(parse(a, "", &args, &err), err);
    assert_null(args.command);
    assert_ok(parse(a, "-h", &args, &err), err);
    assert_true(args.help);
    assert_ok(parse(a, "serve --insecure", &args, &err), err);
    assert_string_equal(args.settings[0].value, "true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_options_anywhere),
        cmocka_unit_test(refuses_with_a_hint),
        cmocka_unit_test(stops_options_at_two_dashes),
    };
    return cmocka_run_group_tests_name("cli/args", tests, NULL, NULL);
}
