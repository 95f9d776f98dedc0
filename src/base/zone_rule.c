/* The POSIX TZ rule at the end of a TZif file: "std offset [dst [offset] , start , end]". */
#include "base/zone_data.h"

#include "base/civil.h"

#include <string.h>

static bool take(loci_str *rest, char c)
{
    if (rest->len == 0 || rest->ptr[0] != c) return false;
    *rest = loci_str_sub(*rest, 1, rest->len);
    return true;
}

static bool take_number(loci_str *rest, int most, int *ret)
{
    int n = 0;
    size_t i = 0;

    for (; i < rest->len && i < 3 && rest->ptr[i] >= '0' && rest->ptr[i] <= '9'; i++)
        n = n * 10 + (rest->ptr[i] - '0');
    if (i == 0 || n > most) return false;
    *rest = loci_str_sub(*rest, i, rest->len);
    *ret = n;
    return true;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool take_time(loci_str *rest, int most_hours, int32_t *ret)
{
    bool minus = take(rest, '-');
    int hours, minutes = 0, seconds = 0;

    if (!minus) (void)take(rest, '+');
    if (!take_number(rest, most_hours, &hours)) return false;
    if (take(rest, ':')) {
        if (!take_number(rest, 59, &minutes)) return false;
        if (take(rest, ':') && !take_number(rest, 59, &seconds)) return false;
    }
    int32_t all = hours * 3600 + minutes * 60 + seconds;
    *ret = minus ? -all : all;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool loci_zone_abbreviation_ok(loci_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!is_letter(c) && (c < '0' || c > '9') && c != '+' && c != '-') return false;
    }
    return text.len > 0 && text.len <= LOCI_ZONE_ABBREVIATION_MAX;
}

/* CET, or <+03> for names that are not letters. */
static bool take_name(loci_str *rest, char *ret_name)
{
    bool quoted = take(rest, '<');
    size_t len = 0;

    while (len < rest->len && (quoted ? rest->ptr[len] != '>' : is_letter(rest->ptr[len]))) len++;
    loci_str name = loci_str_sub(*rest, 0, len);
    *rest = loci_str_sub(*rest, len, rest->len);
    if (quoted && !take(rest, '>')) return false;
    if (!loci_zone_abbreviation_ok(name)) return false;
    memcpy(ret_name, name.ptr, name.len);
    ret_name[name.len] = '\0';
    return true;
}

static bool take_form(loci_str *rest, loci_zone_day *day)
{
    if (take(rest, 'M')) {
        day->form = 'M';
        return take_number(rest, 12, &day->month) && day->month >= 1 && take(rest, '.') &&
               take_number(rest, 5, &day->week) && day->week >= 1 && take(rest, '.') &&
               take_number(rest, 6, &day->day);
    }
    day->form = take(rest, 'J') ? 'J' : '0';
    return take_number(rest, 365, &day->day) && (day->form == '0' || day->day >= 1);
}

static bool take_day(loci_str *rest, loci_zone_day *ret_day)
{
    loci_zone_day day = { .second = 2 * 3600 };

    if (!take(rest, ',') || !take_form(rest, &day)) return false;
    if (take(rest, '/') && !take_time(rest, 167, &day.second)) return false;
    *ret_day = day;
    return true;
}

/* POSIX writes offsets westward; ours are eastward. */
static bool take_offset(loci_str *rest, int32_t *ret_offset)
{
    int32_t west;

    if (!take_time(rest, 24, &west) || west <= -LOCI_ZONE_DAY || west >= LOCI_ZONE_DAY)
        return false;
    *ret_offset = -west;
    return true;
}

bool loci_zone_rule_parse(loci_str text, loci_zone_rule *ret_rule)
{
    loci_zone_rule rule = { 0 };

    if (!take_name(&text, rule.standard.abbreviation)) return false;
    if (!take_offset(&text, &rule.standard.offset)) return false;
    if (text.len > 0) {
        rule.has_summer = true;
        rule.summer.summer = true;
        rule.summer.offset = rule.standard.offset + 3600;
        if (!take_name(&text, rule.summer.abbreviation)) return false;
        if (text.len && text.ptr[0] != ',' && !take_offset(&text, &rule.summer.offset))
            return false;
        if (rule.summer.offset >= LOCI_ZONE_DAY) return false;
        if (!take_day(&text, &rule.start) || !take_day(&text, &rule.end)) return false;
    }
    if (text.len > 0) return false;
    *ret_rule = rule;
    return true;
}

/* The day in days since 1970. */
static int64_t day_in_year(const loci_zone_day *day, int year)
{
    int64_t new_year = loci_civil_to_days((loci_civil){ year, 1, 1 });

    if (day->form == '0') return new_year + day->day;
    if (day->form == 'J')
        return new_year + day->day - 1 + (day->day >= 60 && loci_civil_leap(year));

    int64_t first = loci_civil_to_days((loci_civil){ year, day->month, 1 });
    int64_t weekday = first + 4 - 7 * loci_floor_div(first + 4, 7); /* 1970 began on a Thursday */
    int64_t in_month = (day->day - weekday + 7) % 7 + (day->week - 1) * 7;
    if (in_month >= loci_civil_month_days(year, day->month)) in_month -= 7;
    return first + in_month;
}

typedef struct change {
    int64_t at;
    bool to_summer;
} change;

/* Into order, at one instant first the end of summer time: a rule of summer all year long ends and
 * begins it at once. */
static void sort_changes(change *changes, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0; j--) {
            change *a = &changes[j - 1], *b = &changes[j];
            if (a->at < b->at || (a->at == b->at && a->to_summer <= b->to_summer)) break;
            change swap = *a;
            *a = *b;
            *b = swap;
        }
}

loci_zone_span loci_zone_rule_at(const loci_zone_rule *rule, int64_t seconds)
{
    loci_zone_span span = { .until = INT64_MAX };
    const loci_zone_type *now = &rule->standard;
    change changes[6];
    size_t n = 0;

    if (rule->has_summer) {
        int64_t local = seconds + rule->standard.offset;
        int year = loci_civil_from_days(loci_floor_div(local, LOCI_ZONE_DAY)).year;
        for (int y = year - 1; y <= year + 1; y++) {
            int64_t start = day_in_year(&rule->start, y) * LOCI_ZONE_DAY + rule->start.second;
            int64_t end = day_in_year(&rule->end, y) * LOCI_ZONE_DAY + rule->end.second;
            changes[n++] = (change){ start - rule->standard.offset, true };
            changes[n++] = (change){ end - rule->summer.offset, false };
        }
        sort_changes(changes, n);
    }
    for (size_t i = 0; i < n && span.until == INT64_MAX; i++) {
        if (changes[i].at > seconds)
            span.until = changes[i].at;
        else
            now = changes[i].to_summer ? &rule->summer : &rule->standard;
    }
    span.offset = now->offset;
    span.summer = now->summer;
    span.abbreviation = now->abbreviation;
    return span;
}
