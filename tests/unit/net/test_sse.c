#include "net/sse.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static loci_rc note_event(void *context, const loci_sse_event *event, loci_err *err)
{
    (void)err;
    loci_buf_printf(context, "[%.*s|%.*s|%.*s]", LOCI_ARG(event->name), LOCI_ARG(event->id),
                    LOCI_ARG(event->data));
    return LOCI_OK;
}

static loci_rc note_line(void *context, loci_str line, loci_err *err)
{
    (void)err;
    loci_buf_printf(context, "[%.*s]", LOCI_ARG(line));
    return LOCI_OK;
}

/* Fed in pieces of every size, the events are the same. */
static void events_of_any_pieces(void **state)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "data: one\n\n", "[message||one]" },
        { "data: one\r\ndata:two\r\n\r\n", "[message||one\ntwo]" },
        { "data: one\r\rdata: two\r\r", "[message||one][message||two]" },
        { "event: tick\nid: 7\ndata: a\n\ndata: b\n\n", "[tick|7|a][message|7|b]" },
        { "id: 7\ndata: a\n\nid\ndata: b\n\n", "[message|7|a][message||b]" },
        { ": comment\nretry: 5\nunknown: x\ndata: a\n\n", "[message||a]" },
        { "event: lonely\n\ndata: a\n\n", "[message||a]" },
        { "data\n\n", "[message||]" },
        { "data:\ndata:\n\n", "[message||\n]" },
        { "data:  two blanks\n\n", "[message|| two blanks]" },
        { "\xef\xbb\xbf"
          "data: a\n\n",
          "[message||a]" },
        { "data: cut short\n", "" },
        { "", "" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        size_t len = strlen(cases[i].text);
        for (size_t step = 1; step <= len + 1; step++) {
            LOCI_AUTO(loci_buf_done) loci_buf got;
            LOCI_AUTO(loci_sse_done) loci_sse sse;
            loci_err err = { 0 };
            loci_buf_init(&got, 4096);
            loci_sse_init(&sse, 64, note_event, &got);
            for (size_t at = 0; at < len; at += step)
                assert_ok(
                    loci_sse_feed(&sse, loci_str_sub(loci_str_from(cases[i].text), at, step), &err),
                    err);
            assert_str(loci_buf_str(&got), cases[i].want);
        }
    }
}

static void lines_and_the_last_one(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf got;
    LOCI_AUTO(loci_lines_done) loci_lines lines;
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&got, 4096);
    loci_lines_init(&lines, 16, note_line, &got);
    assert_ok(loci_lines_feed(&lines, LOCI_STR("{}\n\n{\"a\""), &err), err);
    assert_str(loci_buf_str(&got), "[{}][]");
    assert_ok(loci_lines_feed(&lines, LOCI_STR(":1}"), &err), err);
    assert_ok(loci_lines_end(&lines, &err), err);
    assert_ok(loci_lines_end(&lines, &err), err); /* nothing is left */
    assert_str(loci_buf_str(&got), "[{}][][{\"a\":1}]");
}

static loci_rc refuse(void *context, const loci_sse_event *event, loci_err *err)
{
    (void)context, (void)event;
    return loci_fail(err, LOCI_EDENIED, "enough");
}

static void limits_and_handlers_end_it(void **state)
{
    static const struct {
        const char *text;
        loci_sse_handler *handler;
        loci_rc want;
        const char *says;
    } cases[] = {
        { "data: 0123456789", note_event, LOCI_ELIMIT, "a line" },     /* not yet ended */
        { "data: 0123456789\n\n", note_event, LOCI_ELIMIT, "a line" }, /* whole in one piece */
        { "data: 0123\ndata: 0123\ndata: 0123\ndata: 0\n", note_event, LOCI_ELIMIT, "an event" },
        { "data: a\n\n", refuse, LOCI_EDENIED, "enough" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf got;
        LOCI_AUTO(loci_sse_done) loci_sse sse;
        loci_err err = { 0 };
        loci_buf_init(&got, 4096);
        loci_sse_init(&sse, 15, cases[i].handler, &got);
        assert_int_equal(loci_sse_feed(&sse, loci_str_from(cases[i].text), &err), cases[i].want);
        assert_non_null(strstr(err.msg, cases[i].says));
        assert_int_equal(got.len, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_any_pieces),
        cmocka_unit_test(lines_and_the_last_one),
        cmocka_unit_test(limits_and_handlers_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
