#include "base/alloc.h"
#include "base/config.h"
#include "base/fs.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One key of each kind. */
static const loci_config_key keys[] = {
    { .name = "name", .kind = LOCI_CONFIG_STRING, .preset = "loci", .help = "A name" },
    { .name = "file", .kind = LOCI_CONFIG_PATH, .preset = "", .help = "A file" },
    { .name = "list",
      .kind = LOCI_CONFIG_LIST,
      .preset = "",
      .foreign_name = "OTHER_LIST",
      .help = "Things" },
    { .name = "count",
      .kind = LOCI_CONFIG_INT,
      .preset = "5",
      .least = -3,
      .most = 9,
      .help = "N" },
    { .name = "any", .kind = LOCI_CONFIG_INT, .preset = "0", .help = "N" },
    { .name = "size",
      .kind = LOCI_CONFIG_SIZE,
      .preset = "32KiB",
      .least = 1024,
      .most = 1 << 30,
      .help = "S" },
    { .name = "time",
      .kind = LOCI_CONFIG_DURATION,
      .preset = "30s",
      .least = 1500000,
      .most = 3600e6,
      .help = "T" },
    { .name = "yes", .kind = LOCI_CONFIG_BOOL, .preset = "false", .help = "B" },
    { .name = "word",
      .kind = LOCI_CONFIG_ENUM,
      .preset = "two",
      .words = "one|two|three",
      .help = "W" },
    { .name = "search.weight",
      .kind = LOCI_CONFIG_FLOAT,
      .preset = "0.6",
      .least = 0,
      .most = 1,
      .help = "F" },
    { .name = "pin", .kind = LOCI_CONFIG_INT, .preset = "0", .secret = true, .help = "Digits" },
    { .name = "secret",
      .kind = LOCI_CONFIG_STRING,
      .preset = "",
      .foreign_name = "OTHER_SECRET",
      .foreign_when = "OTHER_SECURE",
      .secret = true,
      .help = "A secret" },
};

#define ENV(...) ((char *[]){ __VA_ARGS__, NULL })
#define PUT(text)                                                                                  \
    (char[])                                                                                       \
    {                                                                                              \
        text                                                                                       \
    }

static loci_config *make(char *const *env)
{
    loci_config *config = NULL;
    loci_err err = { 0 };

    assert_ok(loci_config_new(keys, LOCI_COUNT(keys), env, &config, &err), err);
    return config;
}

static void starts_with_defaults(void **state)
{
    LOCI_AUTO(loci_config_freep) loci_config *config = make(NULL);
    (void)state;

    assert_str(loci_config_text(config, "name"), "loci");
    assert_str(loci_config_text(config, "list"), "");
    assert_int_equal(loci_config_int(config, "count"), 5);
    assert_int_equal(loci_config_int(config, "size"), 32768);
    assert_int_equal(loci_config_int(config, "time"), 30000000);
    assert_false(loci_config_bool(config, "yes"));
    assert_int_equal(loci_config_enum(config, "word"), 1);
    assert_true(loci_config_float(config, "search.weight") == 0.6);
    assert_string_equal(loci_config_origin(config, "word"), "default");
    assert_false(loci_config_is_set(config, "word"));
    assert_false(loci_config_foreign_counts(config, "secret"));
}

static void reads_every_kind(void **state)
{
    static const struct {
        const char *key, *text;
        bool ok;
        int64_t want;
    } cases[] = {
        { "count", "-3", true, -3 },
        { "count", "9", true, 9 },
        { "count", "10", false, 0 },
        { "count", "-4", false, 0 },
        { "count", "1.5", false, 0 },
        { "count", "", false, 0 },
        { "count", "0x1", false, 0 },
        { "any", "-9223372036854775808", true, INT64_MIN },
        { "any", "9223372036854775808", false, 0 },
        { "size", "1024", true, 1024 },
        { "size", "2KiB", true, 2048 },
        { "size", "2 kib", true, 2048 },
        { "size", "3MiB", true, 3 << 20 },
        { "size", "1GiB", true, 1 << 30 },
        { "size", "1023", false, 0 },
        { "size", "2GiB", false, 0 },
        { "size", "2KB", false, 0 },
        { "size", "-2KiB", false, 0 },
        { "size", "KiB", false, 0 },
        { "size", "9223372036854775807GiB", false, 0 },
        { "time", "1500ms", true, 1500000 },
        { "time", "2s", true, 2000000 },
        { "time", "2", true, 2000000 },
        { "time", "3m", true, 180000000 },
        { "time", "1h", true, INT64_C(3600000000) },
        { "time", "2h", false, 0 },
        { "time", "1s", false, 0 },
        { "time", "1d", false, 0 },
        { "time", "9223372036854775807h", false, 0 },
        { "yes", "TRUE", true, 1 },
        { "yes", "on", true, 1 },
        { "yes", "0", true, 0 },
        { "yes", "maybe", false, 0 },
        { "yes", "", false, 0 },
        { "word", "one", true, 0 },
        { "word", "three", true, 2 },
        { "word", "One", false, 0 },
        { "word", "one|two", false, 0 },
        { "word", "", false, 0 },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_config_freep) loci_config *config = make(NULL);
        loci_err err = { 0 };
        loci_rc rc = loci_config_set_flag(config, cases[i].key, loci_str_from(cases[i].text), &err);
        const char *key = cases[i].key;

        if (rc != (cases[i].ok ? LOCI_OK : LOCI_EINVAL))
            fail_msg("%s = %s: %s", key, cases[i].text, err.msg);
        assert_int_equal(loci_config_is_set(config, key), cases[i].ok);
        if (!cases[i].ok) continue;
        int64_t got = strcmp(key, "yes") == 0    ? loci_config_bool(config, key)
                      : strcmp(key, "word") == 0 ? (int64_t)loci_config_enum(config, key)
                                                 : loci_config_int(config, key);
        assert_int_equal(got, cases[i].want);
    }
}

static void reads_floats(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        double want;
    } cases[] = {
        { "0", true, 0 },
        { "1", true, 1 },
        { "0.25", true, 0.25 },
        { "0.1", true, 0.1 },
        { "1.0", true, 1 },
        { "0.123456789012345", false, 0 },
        { "1.1", false, 0 },
        { "-0.1", false, 0 },
        { ".5", false, 0 },
        { "5.", false, 0 },
        { "0,5", false, 0 },
        { "nan", false, 0 },
        { "1e-1", false, 0 },
        { "", false, 0 },
        { "-", false, 0 },
        { "0.5.5", false, 0 },
        { "0.12345678901234", true, 0.12345678901234 },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_config_freep) loci_config *config = make(NULL);
        loci_rc rc =
            loci_config_set_flag(config, "--search.weight", loci_str_from(cases[i].text), NULL);
        assert_int_equal(rc == LOCI_OK, cases[i].ok);
        if (cases[i].ok) assert_true(loci_config_float(config, "search.weight") == cases[i].want);
    }
}

/* Flag over environment over file over default, in whichever order they are read. */
static void the_highest_place_wins(void **state)
{
    char **env = ENV(PUT("LOCI_COUNT=2"), PUT("LOCI_SEARCH_WEIGHT=0.5"), PUT("LOCI_NAME="),
                     PUT("LOCI_UNKNOWN=1"));
    loci_str file = LOCI_STR("name = from file\ncount = 1\nsize=1MiB\nsearch.weight = 0.1\n");
    loci_err err = { 0 };
    (void)state;

    for (int flag_first = 0; flag_first < 2; flag_first++) {
        LOCI_AUTO(loci_config_freep) loci_config *config = make(env);
        if (flag_first)
            assert_ok(loci_config_set_flag(config, "--count", LOCI_STR("3"), &err), err);
        assert_ok(loci_config_read_text(config, file, "conf", &err), err);
        if (!flag_first) {
            assert_int_equal(loci_config_int(config, "count"), 2);
            assert_string_equal(loci_config_origin(config, "count"), "LOCI_COUNT");
            assert_ok(loci_config_set_flag(config, "--count", LOCI_STR("3"), &err), err);
        }
        assert_int_equal(loci_config_int(config, "count"), 3);
        assert_string_equal(loci_config_origin(config, "count"), "--count");
        assert_str(loci_config_text(config, "name"), "from file");
        assert_string_equal(loci_config_origin(config, "name"), "conf:1");
        assert_string_equal(loci_config_origin(config, "size"), "conf:3");
        assert_string_equal(loci_config_origin(config, "search.weight"), "LOCI_SEARCH_WEIGHT");
        assert_true(loci_config_is_set(config, "name"));
    }
}

static void reads_the_files_grammar(void **state)
{
    LOCI_AUTO(loci_config_freep) loci_config *config = make(ENV(PUT("HOME=/home/u/")));
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_config_read_text(config,
                                    LOCI_STR("\xEF\xBB\xBF# all of it\r\n"
                                             "\r\n"
                                             "  name\t=  \" a # b \" \r\n"
                                             "   # more\r\n"
                                             "file = ~/x.pem\r\n"
                                             "list='it, \"is\"'\n"
                                             "secret = a=b#c\n"
                                             "search.weight=0.5\n"
                                             "word=one"),
                                    "conf", &err),
              err);
    assert_str(loci_config_text(config, "name"), " a # b ");
    assert_str(loci_config_text(config, "file"), "/home/u/x.pem");
    assert_str(loci_config_text(config, "list"), "it, \"is\"");
    assert_str(loci_config_text(config, "secret"), "a=b#c");
    assert_int_equal(loci_config_enum(config, "word"), 0);
    assert_ok(loci_config_read_text(config, (loci_str){ NULL, 0 }, "conf", &err), err);
    assert_ok(loci_config_read_text(config, LOCI_STR("name ="), "conf", &err), err);
    assert_str(loci_config_text(config, "name"), "");
}

static void refuses_and_explains(void **state)
{
    static const struct {
        const char *file;
        const char *message; /* a part of it */
    } cases[] = {
        { "\n\nnmae = x\n", "conf:3: unknown key 'nmae'; did you mean 'name'?" },
        { "zzzzzzzz = x\n", "conf:1: unknown key 'zzzzzzzz'" },
        { "x = 1\n", "conf:1: unknown key 'x'" },
        { "name\n", "conf:1: expected 'key = value'" },
        { "= 5\n", "conf:1: expected 'key = value'" },
        { "name = a\nname = b\n", "conf:2: name is set already in line 1" },
        { "count = 4 # four\n",
          "conf:1: count = '4 # four': must be a whole number, from -3 to 9" },
        { "size = 1KB", "conf:1: size = '1KB': must be a size such as 64KiB or 32MiB, from 1KiB to "
                        "1GiB" },
        { "time = soon", "must be a duration such as 500ms, 30s, 5m or 1h, from 1500ms to 1h" },
        { "yes = ja", "conf:1: yes = 'ja': must be true or false" },
        { "word = four", "conf:1: word = 'four': must be one of one, two, three" },
        { "search.weight = 2", "must be a number such as 0.5, from 0 to 1" },
        { "name = \"x\n", "conf:1: the quote \" is not closed" },
        { "name = \"\n", "conf:1: the quote \" is not closed" },
        { "name = 'it's'\n", "conf:1: a quote ' inside such quotes" },
        { "name = a\tb\n", "conf:1: name has a control character" },
        { "name = a\x7f\n", "conf:1: name has a control character" },
        { "name = \xC3(\n", "conf:1: not UTF-8" },
        { "# \xFF\n", "conf:1: not UTF-8" },
        { "file = ~/x\n", "conf:1: file starts with ~/, but HOME is not set" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_config_freep) loci_config *config = make(NULL);
        loci_err err = { 0 };

        assert_int_equal(loci_config_read_text(config, loci_str_from(cases[i].file), "conf", &err),
                         LOCI_EINVAL);
        if (!strstr(err.msg, cases[i].message)) fail_msg("%s: %s", cases[i].file, err.msg);
    }
    LOCI_AUTO(loci_config_freep) loci_config *config = make(NULL);
    loci_err err = { 0 };
    assert_int_equal(loci_config_set_flag(config, "--coutn", LOCI_STR("1"), &err), LOCI_EINVAL);
    assert_string_equal(err.msg, "--coutn: unknown key 'coutn'; did you mean 'count'?");
    assert_int_equal(loci_config_read_text(config, LOCI_STR("name = \0x\n"), "conf", &err),
                     LOCI_EINVAL);
}

/* A wrong line is an error also when the environment outweighs it. */
static void refuses_what_is_outweighed(void **state)
{
    LOCI_AUTO(loci_config_freep) loci_config *config = make(ENV(PUT("LOCI_COUNT=2")));
    (void)state;

    assert_int_equal(loci_config_read_text(config, LOCI_STR("count = x"), "conf", NULL),
                     LOCI_EINVAL);
    assert_int_equal(loci_config_int(config, "count"), 2);
}

static void keeps_its_limits(void **state)
{
    static char text[LOCI_CONFIG_FILE_MAX + 1];
    LOCI_AUTO(loci_config_freep) loci_config *config = make(NULL);
    loci_err err = { 0 };
    (void)state;

    memset(text, '#', sizeof text);
    assert_int_equal(loci_config_read_text(config, (loci_str){ text, sizeof text }, "conf", &err),
                     LOCI_ELIMIT);
    assert_ok(loci_config_read_text(config, (loci_str){ text, sizeof text - 1 }, "conf", &err),
              err);
    assert_int_equal(
        loci_config_set_flag(config, "--name", (loci_str){ text, LOCI_CONFIG_VALUE_MAX + 1 }, &err),
        LOCI_ELIMIT);
    assert_ok(
        loci_config_set_flag(config, "--name", (loci_str){ text, LOCI_CONFIG_VALUE_MAX }, &err),
        err);
}

static void refuses_a_wrong_environment(void **state)
{
    loci_config *config = NULL;
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(
        loci_config_new(keys, LOCI_COUNT(keys), ENV(PUT("LOCI_COUNT=many")), &config, &err),
        LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "LOCI_COUNT: count = 'many': must be a whole number"));
    assert_int_equal(
        loci_config_new(keys, LOCI_COUNT(keys), ENV(PUT("LOCI_SECRET=hush\n")), &config, &err),
        LOCI_EINVAL);
    assert_null(strstr(err.msg, "hush"));
    assert_int_equal(
        loci_config_new(keys, LOCI_COUNT(keys), ENV(PUT("OTHER_SECURE=ja")), &config, &err),
        LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "OTHER_SECURE = 'ja'"));
    assert_null(config);
}

static void understands_foreign_variables(void **state)
{
    static const struct {
        const char *secure, *foreign, *own, *want;
        bool counts;
    } cases[] = {
        { "OTHER_SECURE=true", "OTHER_SECRET=f", "X=", "f", true },
        { "OTHER_SECURE=false", "OTHER_SECRET=f", "X=", "", false },
        { "X=", "OTHER_SECRET=f", "X=", "", false },
        { "OTHER_SECURE=", "OTHER_SECRET=f", "X=", "", false },
        { "OTHER_SECURE=TRUE", "X=", "X=", "", true },
        { "OTHER_SECURE=true", "OTHER_SECRET=f", "LOCI_SECRET=own", "own", true },
        { "X=", "OTHER_SECRET=f", "LOCI_SECRET=own", "own", false },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        char text[3][64];
        (void)snprintf(text[0], sizeof text[0], "%s", cases[i].own);
        (void)snprintf(text[1], sizeof text[1], "%s", cases[i].foreign);
        (void)snprintf(text[2], sizeof text[2], "%s", cases[i].secure);
        LOCI_AUTO(loci_config_freep) loci_config *config = make(ENV(text[0], text[1], text[2]));
        assert_str(loci_config_text(config, "secret"), cases[i].want);
        assert_int_equal(loci_config_foreign_counts(config, "secret"), cases[i].counts);
    }
    LOCI_AUTO(loci_config_freep)
    loci_config *over = make(ENV(PUT("OTHER_SECURE=1"), PUT("OTHER_SECRET=f")));
    loci_err err = { 0 };
    assert_ok(loci_config_read_text(over, LOCI_STR("secret = file"), "conf", &err), err);
    assert_str(loci_config_text(over, "secret"), "f"); /* the environment is above the file */
}

static void lists_are_added_to(void **state)
{
    LOCI_AUTO(loci_config_freep) loci_config *config = make(ENV(PUT("OTHER_LIST=x,y")));
    loci_err err = { 0 };
    (void)state;

    assert_str(loci_config_text(config, "list"), "x,y");
    assert_string_equal(loci_config_origin(config, "list"), "OTHER_LIST");
    assert_true(loci_config_is_set(config, "list"));
    assert_ok(loci_config_read_text(config, LOCI_STR("list = a"), "conf", &err), err);
    assert_str(loci_config_text(config, "list"), "a,x,y");
    assert_string_equal(loci_config_origin(config, "list"), "conf:1, OTHER_LIST");
    assert_ok(loci_config_set_flag(config, "--list", LOCI_STR("b"), &err), err);
    assert_str(loci_config_text(config, "list"), "b,x,y");
}

static void lists_without_secrets(void **state)
{
    LOCI_AUTO(loci_config_freep) loci_config *config = make(ENV(PUT("LOCI_SECRET=hush")));
    LOCI_AUTO(loci_buf_done) loci_buf out;
    (void)state;

    loci_buf_init(&out, 10000);
    loci_config_list(config, &out);
    loci_str text = loci_buf_str(&out);
    assert_true(loci_str_starts(text, LOCI_STR("name = loci\nfile =\n")));
    assert_true(loci_str_ends(text, LOCI_STR("# pin = (not set)\n"
                                             "# secret = (set), from LOCI_SECRET\n")));
    assert_int_equal(loci_str_find(text, LOCI_STR("hush")), text.len);

    loci_err err = { 0 };
    assert_int_equal(loci_config_set_flag(config, "--pin", LOCI_STR("12x4"), &err), LOCI_EINVAL);
    assert_string_equal(err.msg, "--pin: pin must be a whole number");
}

/* What is listed is a file that says the same. */
static void lists_what_can_be_read_back(void **state)
{
    static const struct {
        const char *value, *line;
    } cases[] = {
        { "plain # text", "# from --name\nname = plain # text\n" },
        { "", "# from --name\nname =\n" },
        { " blanks ", "# from --name\nname = \" blanks \"\n" },
        { "'quoted'", "# from --name\nname = \"'quoted'\"\n" },
        { "\"quoted\"", "# from --name\nname = '\"quoted\"'\n" },
        { "it's \"so\"", "# from --name\nname = it's \"so\"\n" },
    };
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_config_freep) loci_config *config = make(NULL);
        LOCI_AUTO(loci_config_freep) loci_config *again = make(NULL);
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_buf_init(&out, 10000);
        loci_str value = loci_str_from(cases[i].value);
        assert_ok(loci_config_set_flag(config, "--name", value, &err), err);
        assert_ok(loci_config_set_flag(config, "--time", LOCI_STR("90s"), &err), err);
        loci_config_list(config, &out);
        assert_true(loci_str_starts(loci_buf_str(&out), loci_str_from(cases[i].line)));
        assert_ok(loci_config_read_text(again, loci_buf_str(&out), "listed", &err), err);
        assert_str(loci_config_text(again, "name"), cases[i].value);
        assert_int_equal(loci_config_int(again, "time"), 90000000);
    }
    LOCI_AUTO(loci_config_freep) loci_config *config = make(NULL);
    LOCI_AUTO(loci_buf_done) loci_buf out;
    loci_buf_init(&out, 10000);
    assert_ok(loci_config_set_flag(config, "--name", LOCI_STR("'both\""), &err), err);
    loci_config_list(config, &out);
    assert_ok(loci_config_read_text(config, loci_buf_str(&out), "listed", &err), err);
    assert_true(loci_str_find(loci_buf_str(&out), LOCI_STR("# has quotes that no file can hold")) <
                out.len);
}

static void reads_files(void **state)
{
    char folder[] = "/tmp/loci-test-config-XXXXXX", path[128], home[128], text[200];
    loci_err err = { 0 };
    (void)state;

    assert_non_null(mkdtemp(folder));
    (void)snprintf(home, sizeof home, "XDG_CONFIG_HOME=%s", folder);
    LOCI_AUTO(loci_config_freep) loci_config *config = make(ENV(home));
    assert_ok(loci_config_read_file(config, NULL, &err), err); /* nothing there is fine */
    (void)snprintf(path, sizeof path, "%s/named", folder);
    assert_int_equal(loci_config_read_file(config, path, &err), LOCI_ENOTFOUND);
    assert_non_null(strstr(err.msg, path));
    assert_int_equal(loci_config_read_file(config, folder, &err), LOCI_EINVAL);

    (void)snprintf(text, sizeof text, "%s/loci", folder);
    assert_ok(loci_fs_make_folders(text, &err), err);
    (void)snprintf(path, sizeof path, "%s/loci/config", folder);
    assert_ok(loci_fs_write_private(path, LOCI_STR("\ncount = 7\n"), &err), err);
    assert_ok(loci_config_read_file(config, NULL, &err), err);
    assert_int_equal(loci_config_int(config, "count"), 7);
    (void)snprintf(text, sizeof text, "%s:2", path);
    assert_string_equal(loci_config_origin(config, "count"), text);

    LOCI_AUTO(loci_config_freep) loci_config *homeless = make(NULL);
    assert_ok(loci_config_read_file(homeless, NULL, &err), err);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof path, "%s/loci", folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void knows_the_usual_places(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 16);
    loci_err err = { 0 };
    loci_str path;
    (void)state;

    char **env = ENV(PUT("HOME=/home/u"));
    assert_ok(loci_config_file_path(arena, env, &path, &err), err);
    assert_str(path, "/home/u/.config/loci/config");
    assert_ok(loci_config_store_path(arena, env, &path, &err), err);
    assert_str(path, "/home/u/.local/share/loci/loci.db");

    env = ENV(PUT("HOME=/home/u"), PUT("XDG_CONFIG_HOME=/c"), PUT("XDG_DATA_HOME=/d/"));
    assert_ok(loci_config_file_path(arena, env, &path, &err), err);
    assert_str(path, "/c/loci/config");
    assert_ok(loci_config_store_path(arena, env, &path, &err), err);
    assert_str(path, "/d/loci/loci.db");

    env = ENV(PUT("XDG_DATA_HOME=relative"));
    assert_int_equal(loci_config_store_path(arena, env, &path, &err), LOCI_ENOTFOUND);
    assert_non_null(strstr(err.msg, "--db"));
}

/* The program's own table: sound, and every row in the reference. */
static void the_programs_keys_are_sound(void **state)
{
    LOCI_AUTO(loci_config_freep) loci_config *config = NULL;
    LOCI_AUTO(loci_buf_done) loci_buf docs;
    char name[LOCI_CONFIG_NAME_MAX];
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_config_new(loci_config_keys, loci_config_key_count, NULL, &config, &err), err);
    assert_int_equal(loci_config_int(config, "body_limit"), 32 << 20);
    assert_int_equal(loci_config_int(config, "header_limit"), 32 << 10);
    assert_int_equal(loci_config_int(config, "request_timeout"), 30000000);
    assert_int_equal(loci_config_enum(config, "log"), 2);
    assert_str(loci_config_text(config, "listen"), "127.0.0.1:8283");

    loci_buf_init(&docs, 1 << 20);
    loci_config_docs(loci_config_keys, loci_config_key_count, &docs);
    assert_ok(loci_buf_check(&docs, &err), err);
    for (size_t i = 0; i < loci_config_key_count; i++) {
        loci_config_env_name(&loci_config_keys[i], name);
        assert_non_null(strstr(docs.ptr, name));
    }
    assert_non_null(strstr(docs.ptr, "| `body_limit` | `32MiB` | `LOCI_BODY_LIMIT` | Largest "
                                     "request body: a size such as 64KiB or 32MiB, from 1KiB to "
                                     "1GiB. |\n"));
    assert_non_null(strstr(docs.ptr, "| `LOCI_PASSWORD`; `LETTA_SERVER_PASSWORD` when "
                                     "`LETTA_SERVER_SECURE` is true |"));
}

static void bears_no_memory(void **state)
{
    char **env = ENV(PUT("HOME=/home/u"), PUT("OTHER_LIST=x"), PUT("LOCI_LIST=y"));
    loci_rc rc = LOCI_ENOMEM;
    unsigned long n = 0;
    (void)state;

    while (rc == LOCI_ENOMEM) {
        LOCI_AUTO(loci_config_freep) loci_config *config = NULL;
        loci_err err = { 0 };

        (void)loci_alloc_fail_at(++n);
        rc = loci_config_new(keys, LOCI_COUNT(keys), env, &config, &err);
        if (!rc) rc = loci_config_read_text(config, LOCI_STR("file = ~/x\nname=y"), "c", &err);
        (void)loci_alloc_fail_at(0);
        assert_int_equal(rc, err.code);
    }
    assert_int_equal(rc, LOCI_OK);
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_with_defaults),
        cmocka_unit_test(reads_every_kind),
        cmocka_unit_test(reads_floats),
        cmocka_unit_test(the_highest_place_wins),
        cmocka_unit_test(reads_the_files_grammar),
        cmocka_unit_test(refuses_and_explains),
        cmocka_unit_test(refuses_what_is_outweighed),
        cmocka_unit_test(keeps_its_limits),
        cmocka_unit_test(refuses_a_wrong_environment),
        cmocka_unit_test(understands_foreign_variables),
        cmocka_unit_test(lists_are_added_to),
        cmocka_unit_test(lists_without_secrets),
        cmocka_unit_test(lists_what_can_be_read_back),
        cmocka_unit_test(reads_files),
        cmocka_unit_test(knows_the_usual_places),
        cmocka_unit_test(the_programs_keys_are_sound),
        cmocka_unit_test(bears_no_memory),
    };
    return cmocka_run_group_tests_name("base/config", tests, NULL, NULL);
}
