#include "base/log.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, LINES = 200 };

static int real_stderr, log_file;
static char logged[1 << 20];

/* stderr goes to a file that has no name. */
static void catch_stderr(void)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    log_file = dup(fileno(file));
    (void)fclose(file);
    (void)fcntl(log_file, F_SETFL, O_APPEND);
    real_stderr = dup(STDERR_FILENO);
    assert_int_equal(dup2(log_file, STDERR_FILENO), STDERR_FILENO);
}

/* What was logged since, as a C string. */
static const char *give_back_stderr(void)
{
    assert_int_equal(dup2(real_stderr, STDERR_FILENO), STDERR_FILENO);
    ssize_t n = pread(log_file, logged, sizeof logged - 1, 0);
    assert_true(n >= 0);
    logged[n] = '\0';
    (void)close(real_stderr);
    (void)close(log_file);
    return logged;
}

/* The line without its time, whose form is checked. */
static const char *after_time(const char *text)
{
    static const char form[] = "ts=dddd-dd-ddTdd:dd:dd.ddddddZ ";

    for (size_t i = 0; form[i]; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        assert_true(form[i] == 'd' ? digit : text[i] == form[i]);
    }
    return text + sizeof form - 1;
}

static void writes_each_type(void **state)
{
    char text[] = "bare";
    size_t size = SIZE_MAX;
    bool yes = true;
    (void)state;

    catch_stderr();
    errno = 77;
    loci_log(LOCI_LOG_INFO, "net", "hello", LOCI_KV("i", -5), LOCI_KV("n", size),
             LOCI_KV("l", INT64_MIN), LOCI_KV("r", 0.25), LOCI_KV("b", yes), LOCI_KV("c", text),
             LOCI_KV("s", LOCI_STR("two words")), LOCI_KV("e", ""),
             LOCI_KV("z", (const char *)NULL));
    int kept = errno;
    const char *line = give_back_stderr();
    assert_string_equal(
        after_time(line),
        "level=info room=net msg=hello i=-5 n=18446744073709551615 "
        "l=-9223372036854775808 r=0.25 b=true c=bare s=\"two words\" e=\"\" z=\"\"\n");
    assert_int_equal(kept, 77);
}

static void one_event_is_one_line(void **state)
{
    static const struct {
        loci_str value;
        const char *want;
    } cases[] = {
        { { "a\nb\r\tc", 6 }, "\"a\\nb\\r\\tc\"" },
        { { "say \"hi\" \\", 10 }, "\"say \\\"hi\\\" \\\\\"" },
        { { "a=b", 3 }, "\"a=b\"" },
        { { "\0\x1b[31m\x7f", 7 }, "\"\\u0000\\u001b[31m\\u007f\"" },
        { { "\xC3\xA4\xE2\x82\xAC", 5 }, "\"\xC3\xA4\xE2\x82\xAC\"" },
        { { "\xFF\xC3", 2 }, "\"\\xff\\xc3\"" },
        { { "\xC2\x9B", 2 }, "\"\\u009b\"" },     /* a control of the second set */
        { { "\xE2\x80\xA8", 3 }, "\"\\u2028\"" }, /* line separator */
        { { "\xF0\x9F\x98x", 4 }, "\"\\xf0\\x9f\\x98x\"" },
        { { "a\xE2\x80\xAE"
            "b",
            5 },
          "\"a\\u202eb\"" }, /* turns the line around */
        { { "\xE2\x81\xA6\xE2\x81\xA9", 6 }, "\"\\u2066\\u2069\"" },
        { { "\xE2\x80\x8B", 3 }, "\"\\u200b\"" }, /* a blank without width */
        { { "/v1/ops?x", 9 }, "/v1/ops?x" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        char want[200];

        catch_stderr();
        loci_log(LOCI_LOG_ERROR, "t", "m", LOCI_KV("v", cases[i].value));
        (void)snprintf(want, sizeof want, "level=error room=t msg=m v=%s\n", cases[i].want);
        assert_string_equal(after_time(give_back_stderr()), want);
    }
}

static void bounds_values_and_lines(void **state)
{
    static char large[5001]; /* the last stays NUL */
    (void)state;

    memset(large, 'x', sizeof large - 1);
    loci_str value = { large, sizeof large - 1 };
    catch_stderr();
    loci_log(LOCI_LOG_WARN, "t", "m", LOCI_KV("a", value), LOCI_KV("b", value), LOCI_KV("c", value),
             LOCI_KV("d", value), LOCI_KV("e", 1));
    const char *line = give_back_stderr();
    size_t len = strlen(line);
    assert_true(len <= LOCI_LOG_LINE_MAX);
    assert_true(len > 3 * LOCI_LOG_VALUE_MAX);
    assert_non_null(strstr(line, "xxx...\" b="));
    assert_null(strstr(line, " d="));
    assert_string_equal(line + len - 10, " cut=true\n");

    memset(large, '\n',
           sizeof large - 1); /* four bytes of line for one of value: nothing overflows */
    catch_stderr();
    loci_log(LOCI_LOG_WARN, "t", large + 4000, LOCI_KV("a", value), LOCI_KV("b", value));
    line = give_back_stderr();
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static int evaluated;

static int count_me(void)
{
    return ++evaluated;
}

static void levels_switch_it_off(void **state)
{
    (void)state;
    catch_stderr();
    loci_log_set_level(LOCI_LOG_WARN);
    loci_log(LOCI_LOG_INFO, "t", "no", LOCI_KV("n", count_me()));
    loci_log(LOCI_LOG_WARN, "t", "yes", LOCI_KV("n", count_me()));
    loci_log_set_level(LOCI_LOG_DEBUG);
    loci_log(LOCI_LOG_DEBUG, "t", "too");
    loci_log_set_level(LOCI_LOG_INFO);
    const char *text = give_back_stderr();
    assert_null(strstr(text, "msg=no"));
    assert_non_null(strstr(text, "level=warn room=t msg=yes n=1\n"));
    assert_non_null(strstr(text, "level=debug room=t msg=too\n"));
    assert_int_equal(evaluated, 1);
}

static void *log_lines(void *arg)
{
    for (int i = 0; i < LINES; i++)
        loci_log(LOCI_LOG_INFO, "t", "line", LOCI_KV("who", (char *)arg));
    return NULL;
}

static void lines_of_threads_do_not_mix(void **state)
{
    static char names[THREADS][200];
    pthread_t threads[THREADS];
    size_t count = 0;
    (void)state;

    catch_stderr();
    for (size_t i = 0; i < THREADS; i++) {
        memset(names[i], (char)('a' + i), sizeof names[i] - 1);
        assert_int_equal(pthread_create(&threads[i], NULL, log_lines, names[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    loci_str rest = loci_str_from(give_back_stderr()), line;
    while (loci_str_cut(&rest, '\n', &line) && line.len) {
        const char *name = line.ptr + line.len - sizeof names[0] + 1;
        assert_memory_equal(name, names[name[0] - 'a'], sizeof names[0] - 1);
        count++;
    }
    assert_int_equal(count, THREADS * LINES);
}

/* A stderr that nobody reads costs lines, and not the server. */
static void a_full_pipe_loses_lines(void **state)
{
    enum { LOST = 3 };
    static char block[4096];
    int ends[2];
    (void)state;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    while (write(ends[1], block, sizeof block) > 0) continue;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0); /* from here on a write would block */
    int kept = dup(STDERR_FILENO);
    assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
    for (int i = 0; i < LOST; i++) loci_log(LOCI_LOG_INFO, "t", "lost");
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    while (read(ends[0], block, sizeof block) > 0) continue;
    loci_log(LOCI_LOG_INFO, "t", "heard");
    loci_log(LOCI_LOG_INFO, "t", "again");
    assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
    ssize_t n = read(ends[0], logged, sizeof logged - 1);
    assert_true(n > 0);
    logged[n] = '\0';
    assert_non_null(strstr(logged, "msg=heard dropped=3\n"));
    assert_non_null(strstr(logged, "msg=again\n"));
    assert_null(strstr(logged, "msg=lost"));
    (void)close(kept), (void)close(ends[0]), (void)close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_each_type),
        cmocka_unit_test(one_event_is_one_line),
        cmocka_unit_test(bounds_values_and_lines),
        cmocka_unit_test(levels_switch_it_off),
        cmocka_unit_test(lines_of_threads_do_not_mix),
        cmocka_unit_test(a_full_pipe_loses_lines),
    };
    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
