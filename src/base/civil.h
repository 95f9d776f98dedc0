/* base/civil.h -- days and calendar dates (proleptic Gregorian), and division that rounds down.
 *
 * Here:     arithmetic that dates and time zones share.
 * Not here: text (base/date.h), zones (base/zone.h).
 * Owns:     nothing.
 * Threads:  pure functions.
 * Errors:   none; callers bring years within -10000..20000 and check months and days first.
 */
#ifndef LOCI_BASE_CIVIL_H
#define LOCI_BASE_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct loci_civil {
    int year, month, day; /* 1..12, 1..31 */
} loci_civil;

static inline int64_t loci_floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline bool loci_civil_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static inline int loci_civil_month_days(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return days[month - 1] + (month == 2 && loci_civil_leap(year));
}

/* Days from 1970-01-01 to this date. The year is taken to begin in March, so that the leap day is
 * its last and months follow a line: day of year = (153 * month + 2) / 5. */
static inline int64_t loci_civil_to_days(loci_civil date)
{
    int64_t year = date.year - (date.month <= 2);
    int64_t month = (date.month + 9) % 12;
    int64_t leaps = loci_floor_div(year, 4) - loci_floor_div(year, 100) + loci_floor_div(year, 400);

    return year * 365 + leaps + (153 * month + 2) / 5 + date.day - 1 - 719468;
}

/* The opposite. A cycle of 400 years has 146097 days. */
static inline loci_civil loci_civil_from_days(int64_t days)
{
    days += 719468;
    int64_t cycle = loci_floor_div(days, 146097);
    int64_t in_cycle = days - cycle * 146097;
    int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    int64_t in_year = in_cycle - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * in_year + 2) / 153;
    int64_t day = in_year - (153 * month + 2) / 5 + 1;

    return (loci_civil){ (int)(year + cycle * 400 + (month >= 10)),
                         (int)(month < 10 ? month + 3 : month - 9), (int)day };
}

#endif
