#include "base/civil.h"
#include "base/clock.h"
#include "base/date.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static loci_arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = loci_arena_new(1 << 20);
    return arena ? 0 : -1;
}

static int drop_arena(void **state)
{
    (void)state;
    loci_arena_free(arena);
    loci_zone_forget();
    return 0;
}

static const loci_zone *zone_of(const char *name)
{
    const loci_zone *zone = NULL;
    loci_err err = { 0 };

    assert_ok(loci_zone_load(arena, loci_str_from(name), &zone, &err), err);
    return zone;
}

static void parses_what_it_should(void **state)
{
    static const struct {
        const char *text;
        int64_t at;
        bool date_only, has_zone;
    } cases[] = {
        { "1970-01-01", 0, true, false },
        { "2026-01-02", INT64_C(1767312000000000), true, false },
        { "2026-01-02T03:04", INT64_C(1767323040000000), false, false },
        { "2026-01-02T03:04:05", INT64_C(1767323045000000), false, false },
        { "2026-01-02 03:04:05", INT64_C(1767323045000000), false, false },
        { "2026-01-02t03:04:05z", INT64_C(1767323045000000), false, true },
        { "2026-01-02T03:04:05.1", INT64_C(1767323045100000), false, false },
        { "2026-01-02T03:04:05.123456Z", INT64_C(1767323045123456), false, true },
        { "2026-01-02T03:04:05.123456999Z", INT64_C(1767323045123456), false, true },
        { "2026-01-02T03:04:05+02:00", INT64_C(1767315845000000), false, true },
        { "2026-01-02T03:04:05+0200", INT64_C(1767315845000000), false, true },
        { "2026-01-02T03:04:05+02", INT64_C(1767315845000000), false, true },
        { "2026-01-02T03:04:05-02:30", INT64_C(1767332045000000), false, true },
        { "2026-01-02T03:04-00:00", INT64_C(1767323040000000), false, true },
        { "2024-02-29T23:59:59.999999Z", INT64_C(1709251199999999), false, true },
        { "2000-02-29", INT64_C(951782400000000), true, false },
        { "1969-12-31T23:59:59.999999Z", -1, false, true },
        { "0001-01-01", LOCI_DATE_MIN, true, false },
        { "9999-12-31T23:59:59.999999Z", LOCI_DATE_MAX, false, true },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_date date;
        loci_err err = { 0 };

        assert_ok(loci_date_parse(loci_str_from(cases[i].text), NULL, &date, &err), err);
        assert_int_equal(date.at, cases[i].at);
        assert_int_equal(date.date_only, cases[i].date_only);
        assert_int_equal(date.has_zone, cases[i].has_zone);
    }
}

static void refuses_and_names_the_value(void **state)
{
    static const struct {
        const char *text, *why; /* a part of the message */
    } cases[] = {
        { "", "write it as" },
        { "yesterday", "write it as" },
        { "2026-1-2", "write it as" },
        { "20260102", "write it as" },
        { "2026-01-02Z", "write it as" },
        { "2026-01-02T", "write it as" },
        { "2026-01-02T03", "write it as" },
        { "2026-01-02T03:04:", "write it as" },
        { "2026-01-02T03:04:05.", "write it as" },
        { "2026-01-02T03:04:05.1234567890Z", "write it as" },
        { "2026-01-02T03:04:05,5Z", "write it as" },
        { "2026-01-02T03:04:05ZZ", "write it as" },
        { "2026-01-02T03:04:05 02:00", "write it as" },
        { "2026-01-02T03:04:05+2", "write it as" },
        { "2026-01-02T03:04:05+02:", "write it as" },
        { "2026-01-02T03:04:05+24:00", "write it as" },
        { "2026-01-02T03:04:05+02:60", "write it as" },
        { " 2026-01-02", "write it as" },
        { "2026-01-02\n", "write it as" },
        { "+2026-01-02", "write it as" },
        { "0000-01-01", "no year 0000" },
        { "2026-00-02", "month" },
        { "2026-13-02", "month" },
        { "2026-02-30", "no such day" },
        { "2025-02-29", "no such day" },
        { "1900-02-29", "no such day" },
        { "2026-04-31", "no such day" },
        { "2026-01-00", "no such day" },
        { "2026-01-02T24:00:00", "hour" },
        { "2026-01-02T24:00:01", "hour" },
        { "2026-01-02T03:60", "minute" },
        { "2026-06-30T23:59:60Z", "second" },
        { "0001-01-01T00:00:00+00:01", "outside the years" },
        { "9999-12-31T23:59:59-00:01", "outside the years" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_date date = { .at = 77 };
        loci_err err = { 0 };

        assert_int_equal(loci_date_parse(loci_str_from(cases[i].text), NULL, &date, &err),
                         LOCI_EINVAL);
        if (!strstr(err.msg, cases[i].why)) fail_msg("%s: %s", cases[i].text, err.msg);
        if (!strchr(cases[i].text, '\n')) assert_non_null(strstr(err.msg, cases[i].text));
        assert_int_equal(date.at, 77);
    }
}

static void hides_what_is_not_printable(void **state)
{
    loci_date date;
    loci_err err = { 0 };
    char large[100];
    (void)state;

    memset(large, '7', sizeof large);
    assert_int_equal(loci_date_parse((loci_str){ "a\0b\x1b\xC3z", 6 }, NULL, &date, &err),
                     LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "'a?b"
                                    "?"
                                    "?z' is no date"));
    assert_int_equal(loci_date_parse((loci_str){ large, sizeof large }, NULL, &date, &err),
                     LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "777...' is no date"));
    assert_int_equal(loci_date_parse((loci_str){ NULL, 0 }, NULL, &date, NULL), LOCI_EINVAL);
}

static void prints_four_styles(void **state)
{
    static const struct {
        loci_date_style style;
        int64_t at;
        const char *zone, *want;
    } cases[] = {
        { LOCI_DATE_MICROS, INT64_C(1767323045123456), "UTC", "2026-01-02T03:04:05.123456Z" },
        { LOCI_DATE_MICROS, INT64_C(1767323045000000), "UTC", "2026-01-02T03:04:05.000000Z" },
        { LOCI_DATE_MICROS, INT64_C(1767323045000000), "Asia/Tokyo",
          "2026-01-02T03:04:05.000000Z" },
        { LOCI_DATE_MICROS, -1, "UTC", "1969-12-31T23:59:59.999999Z" },
        { LOCI_DATE_SECONDS, INT64_C(1767323045999999), "UTC", "2026-01-02T03:04:05+00:00" },
        { LOCI_DATE_SECONDS, INT64_C(1767323045000000), "Asia/Kolkata",
          "2026-01-02T08:34:05+05:30" },
        { LOCI_DATE_ISO, INT64_C(1705314600000000), "UTC", "2024-01-15T10:30:00+00:00" },
        { LOCI_DATE_ISO, INT64_C(1705314600000001), "UTC", "2024-01-15T10:30:00.000001+00:00" },
        { LOCI_DATE_ISO, INT64_C(1705314600000000), "America/New_York",
          "2024-01-15T05:30:00-05:00" },
        { LOCI_DATE_ISO, INT64_C(-3000000000000000), "Europe/Berlin",
          "1874-12-07T19:33:28+00:53:28" },
        { LOCI_DATE_PROMPT, INT64_C(1705309200000000), "UTC", "2024-01-15 09:00:00 AM UTC+0000" },
        { LOCI_DATE_PROMPT, INT64_C(1705276800000000), "UTC", "2024-01-15 12:00:00 AM UTC+0000" },
        { LOCI_DATE_PROMPT, INT64_C(1705320000000000), "UTC", "2024-01-15 12:00:00 PM UTC+0000" },
        { LOCI_DATE_PROMPT, INT64_C(1720000000000000), "Europe/Berlin",
          "2024-07-03 11:46:40 AM CEST+0200" },
        { LOCI_DATE_PROMPT, INT64_C(1720000000000000), "America/Sao_Paulo",
          "2024-07-03 06:46:40 AM -03-0300" },
        { LOCI_DATE_ISO, INT64_MIN, "UTC", "0001-01-01T00:00:00+00:00" },
        { LOCI_DATE_ISO, INT64_MAX, "UTC", "9999-12-31T23:59:59.999999+00:00" },
        { LOCI_DATE_ISO, INT64_MAX, "Asia/Tokyo", "9999-12-31T23:59:59.999999+00:00" },
        { LOCI_DATE_ISO, INT64_MIN, "America/New_York", "0001-01-01T00:00:00+00:00" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_date_text text;
        assert_str(loci_date_print(cases[i].style, cases[i].at, zone_of(cases[i].zone), &text),
                   cases[i].want);
        assert_int_equal(strlen(text.text), strlen(cases[i].want));
    }
}

/* Local times around the changes of the clocks, without and with an offset in the text. */
static void reads_local_times(void **state)
{
    static const struct {
        const char *zone, *text, *utc;
    } cases[] = {
        { "Europe/Berlin", "2024-01-15T12:00", "2024-01-15T11:00:00.000000Z" },
        { "Europe/Berlin", "2024-07-15", "2024-07-14T22:00:00.000000Z" },
        { "Europe/Berlin", "2050-07-15T12:00", "2050-07-15T10:00:00.000000Z" },
        { "Europe/Berlin", "2050-01-15T12:00", "2050-01-15T11:00:00.000000Z" },
        { "Europe/Berlin", "2024-03-31T01:59:59", "2024-03-31T00:59:59.000000Z" },
        { "Europe/Berlin", "2024-03-31T02:30", "2024-03-31T01:30:00.000000Z" }, /* skipped */
        { "Europe/Berlin", "2024-03-31T03:00", "2024-03-31T01:00:00.000000Z" },
        { "Europe/Berlin", "2024-10-27T02:30", "2024-10-27T00:30:00.000000Z" }, /* twice */
        { "Europe/Berlin", "2024-10-27T03:00", "2024-10-27T02:00:00.000000Z" },
        { "Europe/Berlin", "2024-10-27T02:30+01:00", "2024-10-27T01:30:00.000000Z" },
        { "Europe/Berlin", "2024-07-15T12:00Z", "2024-07-15T12:00:00.000000Z" },
        { "Europe/Dublin", "2050-07-15T12:00",
          "2050-07-15T11:00:00.000000Z" }, /* winter is "DST" */
        { "Australia/Sydney", "2050-01-15T12:00", "2050-01-15T01:00:00.000000Z" },
        { "America/New_York", "2050-11-06T01:30", "2050-11-06T05:30:00.000000Z" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_date date;
        loci_date_text text;
        loci_err err = { 0 };

        assert_ok(
            loci_date_parse(loci_str_from(cases[i].text), zone_of(cases[i].zone), &date, &err),
            err);
        assert_str(loci_date_print(LOCI_DATE_MICROS, date.at, NULL, &text), cases[i].utc);
    }
}

static void knows_the_day_around(void **state)
{
    static const struct {
        const char *zone, *at, *begin, *next;
    } cases[] = {
        { "UTC", "2026-01-02T03:04:05.5Z", "2026-01-02T00:00:00+00:00",
          "2026-01-03T00:00:00+00:00" },
        { "UTC", "2026-01-02T00:00:00Z", "2026-01-02T00:00:00+00:00", "2026-01-03T00:00:00+00:00" },
        { "UTC", "1969-12-31T23:59:59.9Z", "1969-12-31T00:00:00+00:00",
          "1970-01-01T00:00:00+00:00" },
        { "Europe/Berlin", "2024-03-31T12:00:00Z", "2024-03-30T23:00:00+00:00",
          "2024-03-31T22:00:00+00:00" }, /* 23 hours */
        { "Europe/Berlin", "2024-10-27T12:00:00Z", "2024-10-26T22:00:00+00:00",
          "2024-10-27T23:00:00+00:00" }, /* 25 hours */
        { "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00:00+00:00",
          "2018-11-05T02:00:00+00:00" }, /* begins at 01:00 */
        { "Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-29T10:00:00+00:00",
          "2011-12-30T10:00:00+00:00" }, /* the next day there was the 31st */
        { "America/St_Johns", "2000-10-29T02:00:00Z", "2000-10-28T02:30:00+00:00",
          "2000-10-29T02:30:00+00:00" },
        { "America/St_Johns", "2000-10-29T03:00:00Z", "2000-10-28T02:30:00+00:00",
          "2000-10-29T03:30:00+00:00" }, /* 23:30 again, after the first midnight */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        const loci_zone *zone = zone_of(cases[i].zone);
        loci_date date;
        loci_date_text text;
        loci_err err = { 0 };

        assert_ok(loci_date_parse(loci_str_from(cases[i].at), NULL, &date, &err), err);
        assert_str(
            loci_date_print(LOCI_DATE_SECONDS, loci_date_day_begin(date.at, zone), NULL, &text),
            cases[i].begin);
        assert_str(
            loci_date_print(LOCI_DATE_SECONDS, loci_date_day_next(date.at, zone), NULL, &text),
            cases[i].next);
    }
}

/* Every day of a leap cycle and both ends, there and back. */
static void counts_days(void **state)
{
    loci_civil before = { 1999, 12, 31 };
    int64_t first = loci_civil_to_days((loci_civil){ 2000, 1, 1 });
    (void)state;

    assert_int_equal(first, 10957);
    for (int64_t day = first; day < first + 146097 + 1; day++) {
        loci_civil c = loci_civil_from_days(day);
        bool next_day = c.year == before.year && c.month == before.month && c.day == before.day + 1;
        bool next_month =
            c.day == 1 && before.day == loci_civil_month_days(before.year, before.month) &&
            c.month == before.month % 12 + 1 && c.year == before.year + (before.month == 12);
        if (!next_day && !next_month) fail_msg("%d-%d-%d", c.year, c.month, c.day);
        if (loci_civil_to_days(c) != day) fail_msg("%d-%d-%d", c.year, c.month, c.day);
        before = c;
    }
    assert_int_equal(loci_civil_to_days((loci_civil){ 1, 1, 1 }),
                     LOCI_DATE_MIN / LOCI_SECOND / 86400);
    assert_int_equal(loci_civil_from_days(LOCI_DATE_MIN / LOCI_SECOND / 86400).year, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses_what_it_should),
        cmocka_unit_test(refuses_and_names_the_value),
        cmocka_unit_test(hides_what_is_not_printable),
        cmocka_unit_test(prints_four_styles),
        cmocka_unit_test(reads_local_times),
        cmocka_unit_test(knows_the_day_around),
        cmocka_unit_test(counts_days),
    };
    return cmocka_run_group_tests_name("base/date", tests, make_arena, drop_arena);
}
