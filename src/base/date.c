#include "base/date.h"

#include "base/civil.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum { DAY = 86400, LONGEST = 64, SHOWN = 40 };

typedef struct fields {
    int year, month, day, hour, minute, second, micros;
    int offset; /* seconds east of UTC */
    bool date_only, has_zone;
} fields;

/* What is wrong is put before what it is about; the value is shown as far as it is printable. */
static loci_rc bad_date(loci_str text, const char *why, loci_err *err)
{
    char shown[SHOWN];
    size_t len = text.len < SHOWN ? text.len : SHOWN;

    for (size_t i = 0; i < len; i++)
        shown[i] = (char)(text.ptr[i] >= 0x20 && text.ptr[i] < 0x7F ? text.ptr[i] : '?');
    return loci_fail(err, LOCI_EINVAL, "'%.*s%s' is no date: %s", (int)len, shown,
                     text.len > SHOWN ? "..." : "", why);
}

static bool take(loci_str *rest, char c)
{
    if (rest->len == 0 || rest->ptr[0] != c) return false;
    *rest = loci_str_sub(*rest, 1, rest->len);
    return true;
}

/* Exactly `count` digits. */
static bool take_digits(loci_str *rest, size_t count, int *ret)
{
    int n = 0;

    if (rest->len < count) return false;
    for (size_t i = 0; i < count; i++) {
        if (rest->ptr[i] < '0' || rest->ptr[i] > '9') return false;
        n = n * 10 + (rest->ptr[i] - '0');
    }
    *rest = loci_str_sub(*rest, count, rest->len);
    *ret = n;
    return true;
}

/* 1 to 9 digits; those after the sixth are dropped. */
static bool take_fraction(loci_str *rest, int *ret_micros)
{
    int micros = 0, digit;
    size_t n = 0;

    for (; n < 9 && take_digits(rest, 1, &digit); n++)
        if (n < 6) micros = micros * 10 + digit;
    for (size_t i = n; i < 6; i++) micros *= 10;
    *ret_micros = micros;
    return n > 0;
}

static bool take_clock(loci_str *rest, fields *f)
{
    if (!take_digits(rest, 2, &f->hour) || !take(rest, ':')) return false;
    if (!take_digits(rest, 2, &f->minute)) return false;
    if (!take(rest, ':')) return true;
    if (!take_digits(rest, 2, &f->second)) return false;
    return !take(rest, '.') || take_fraction(rest, &f->micros);
}

static bool take_zone(loci_str *rest, fields *f)
{
    bool minus;
    int hours, minutes = 0;

    if (rest->len == 0) return true;
    f->has_zone = true;
    if (take(rest, 'Z') || take(rest, 'z')) return true;
    minus = take(rest, '-');
    if (!minus && !take(rest, '+')) return false;
    if (!take_digits(rest, 2, &hours)) return false;
    bool colon = take(rest, ':');
    if ((colon || rest->len) && !take_digits(rest, 2, &minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    f->offset = (hours * 60 + minutes) * (minus ? -60 : 60);
    return true;
}

static bool take_all(loci_str rest, fields *f)
{
    if (!take_digits(&rest, 4, &f->year) || !take(&rest, '-')) return false;
    if (!take_digits(&rest, 2, &f->month) || !take(&rest, '-')) return false;
    if (!take_digits(&rest, 2, &f->day)) return false;
    f->date_only = rest.len == 0;
    if (f->date_only) return true;
    if (!take(&rest, 'T') && !take(&rest, 't') && !take(&rest, ' ')) return false;
    return take_clock(&rest, f) && take_zone(&rest, f) && rest.len == 0;
}

/* NULL when the date exists, else why it does not. */
static const char *find_fault(const fields *f)
{
    if (f->year < 1) return "there is no year 0000";
    if (f->month < 1 || f->month > 12) return "the month must be 01..12";
    if (f->day < 1 || f->day > loci_civil_month_days(f->year, f->month))
        return "that month has no such day";
    if (f->hour > 23) return "the hour must be 00..23";
    if (f->minute > 59) return "the minute must be 00..59";
    if (f->second > 59) return "the second must be 00..59";
    return NULL;
}

static int64_t to_utc(const fields *f, const loci_zone *zone)
{
    int64_t local = loci_civil_to_days((loci_civil){ f->year, f->month, f->day }) * DAY +
                    f->hour * 3600 + f->minute * 60 + f->second;
    int64_t utc = f->has_zone ? local - f->offset : loci_zone_to_utc(zone, local, false);

    return utc * LOCI_SECOND + f->micros;
}

loci_rc loci_date_parse(loci_str text, const loci_zone *zone, loci_date *ret_date, loci_err *err)
{
    fields f = { 0 };

    if (text.len > LONGEST || !take_all(text, &f))
        return bad_date(text, "write it as 2026-01-31 or 2026-01-31T13:45:00Z", err);
    const char *fault = find_fault(&f);
    if (fault) return bad_date(text, fault, err);

    int64_t at = to_utc(&f, zone);
    if (at < LOCI_DATE_MIN || at > LOCI_DATE_MAX)
        return bad_date(text, "in UTC it is outside the years 0001..9999", err);
    *ret_date = (loci_date){ at, f.date_only, f.has_zone };
    return LOCI_OK;
}

/* "+02:00", or with seconds "+00:53:28"; `colon` may be "". */
static void print_offset(int offset, const char *colon, char ret_text[16])
{
    int abs = offset < 0 ? -offset : offset;
    int n = snprintf(ret_text, 16, "%c%02d%s%02d", offset < 0 ? '-' : '+', abs / 3600 % 100, colon,
                     abs / 60 % 60);

    if (abs % 60) (void)snprintf(ret_text + n, 16 - (size_t)n, "%s%02d", colon, abs % 60);
}

static int64_t clamp(int64_t at)
{
    if (at < LOCI_DATE_MIN) return LOCI_DATE_MIN;
    return at > LOCI_DATE_MAX ? LOCI_DATE_MAX : at;
}

/* Near both ends the local year may be 0000 or 10000; UTC is printed then. */
static loci_zone_span span_at(int64_t seconds, const loci_zone *zone)
{
    loci_zone_span span = loci_zone_at(zone, seconds);
    int64_t local = (seconds + span.offset) * LOCI_SECOND;

    return clamp(local) == local ? span : loci_zone_at(NULL, seconds);
}

static int print_tail(loci_date_style style, int micros, const loci_zone_span *span, char *at,
                      size_t room)
{
    char offset[16];

    print_offset(span->offset, style == LOCI_DATE_PROMPT ? "" : ":", offset);
    if (style == LOCI_DATE_MICROS) return snprintf(at, room, ".%06dZ", micros);
    if (style == LOCI_DATE_PROMPT) return snprintf(at, room, "%s%s", span->abbreviation, offset);
    if (style == LOCI_DATE_ISO && micros) return snprintf(at, room, ".%06d%s", micros, offset);
    return snprintf(at, room, "%s", offset);
}

loci_str loci_date_print(loci_date_style style, int64_t at, const loci_zone *zone,
                         loci_date_text *ret_text)
{
    at = clamp(at);
    int64_t seconds = loci_floor_div(at, LOCI_SECOND);
    int micros = (int)(at - seconds * LOCI_SECOND);
    loci_zone_span span = span_at(seconds, style == LOCI_DATE_MICROS ? NULL : zone);
    int64_t days = loci_floor_div(seconds + span.offset, DAY);
    int in_day = (int)(seconds + span.offset - days * DAY);
    loci_civil c = loci_civil_from_days(days);
    int hour = in_day / 3600, minute = in_day / 60 % 60, second = in_day % 60;
    char *text = ret_text->text;
    size_t room = sizeof ret_text->text;
    int n;

    if (style == LOCI_DATE_PROMPT)
        n = snprintf(text, room, "%04d-%02d-%02d %02d:%02d:%02d %s ", c.year, c.month, c.day,
                     hour % 12 ? hour % 12 : 12, minute, second, hour < 12 ? "AM" : "PM");
    else
        n = snprintf(text, room, "%04d-%02d-%02dT%02d:%02d:%02d", c.year, c.month, c.day, hour,
                     minute, second);
    n += print_tail(style, micros, &span, text + n, room - (size_t)n);
    return (loci_str){ text, (size_t)n };
}

/* The local day that holds `at`, in days since 1970. */
static int64_t local_day(int64_t at, const loci_zone *zone)
{
    int64_t seconds = loci_floor_div(at, LOCI_SECOND);
    return loci_floor_div(seconds + loci_zone_at(zone, seconds).offset, DAY);
}

int64_t loci_date_day_begin(int64_t at, const loci_zone *zone)
{
    at = clamp(at);
    return loci_zone_to_utc(zone, local_day(at, zone) * DAY, false) * LOCI_SECOND;
}

/* Where the clocks go back over midnight it comes twice; then the second one ends the day. */
int64_t loci_date_day_next(int64_t at, const loci_zone *zone)
{
    at = clamp(at);
    int64_t midnight = (local_day(at, zone) + 1) * DAY;
    int64_t next = loci_zone_to_utc(zone, midnight, false) * LOCI_SECOND;

    return next > at ? next : loci_zone_to_utc(zone, midnight, true) * LOCI_SECOND;
}
