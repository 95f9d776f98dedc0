/* base/date.h -- points in time as text: ISO-8601 in, four forms out.
 *
 * Here:     parsing, printing, the day around an instant. Time is microseconds since 1970 UTC.
 * Not here: what time it is (base/clock.h), zones by name (base/zone.h).
 * Owns:     nothing; text is written into the caller's memory.
 * Threads:  pure functions.
 * Errors:   LOCI_EINVAL, naming the value and what is wrong with it.
 *
 * Wherever a zone is a parameter, NULL is UTC.
 */
#ifndef LOCI_BASE_DATE_H
#define LOCI_BASE_DATE_H

#include "base/err.h"
#include "base/str.h"
#include "base/zone.h"

/* 0001-01-01T00:00:00Z and 9999-12-31T23:59:59.999999Z: what dates can be. */
#define LOCI_DATE_MIN INT64_C(-62135596800000000)
#define LOCI_DATE_MAX INT64_C(253402300799999999)

typedef struct loci_date {
    int64_t at;
    bool date_only; /* there was no time of day: `at` is the begin of that day */
    bool has_zone;  /* the text said Z or an offset */
} loci_date;

/* Parse `text`, which may be any bytes: YYYY-MM-DD, then nothing or T or a blank and hh:mm,
 * hh:mm:ss or hh:mm:ss.f (1 to 9 digits, cut to microseconds), then nothing, Z, +hh:mm, +hhmm or
 * +hh. Without an offset the time is local in `zone`; there a skipped time means the moment as far
 * behind the gap as it is behind its begin, and of a repeated one the first is meant.
 *
 * Years are 0001..9999, also after conversion to UTC. Hours are 0..23 and seconds 0..59: neither
 * 24:00 nor the leap second 60 is accepted, since no later moment could be told from them. */
LOCI_MUST loci_rc loci_date_parse(loci_str text, const loci_zone *zone, loci_date *ret_date,
                                  loci_err *err);

typedef enum loci_date_style {
    LOCI_DATE_MICROS,  /* 2026-01-02T03:04:05.123456Z, always UTC and always six digits */
    LOCI_DATE_SECONDS, /* 2026-01-02T03:04:05+00:00, the fraction cut off */
    LOCI_DATE_ISO,     /* the same, with .123456 when it is not zero */
    LOCI_DATE_PROMPT,  /* 2026-01-02 03:04:05 AM UTC+0000 */
} loci_date_style;

typedef struct loci_date_text {
    char text[56]; /* a C string */
} loci_date_text;

/* Print `at` into *ret_text; the result is a slice of it. A time outside LOCI_DATE_MIN..MAX is
 * printed as the nearer of the two. Offsets with seconds (local times of the 19th century) show
 * them. */
loci_str loci_date_print(loci_date_style style, int64_t at, const loci_zone *zone,
                         loci_date_text *ret_text);

/* The begin of the local day that holds `at`, and of the next one, which is always later than `at`.
 * A day may have 23 or 25 hours, or begin at 01:00 where the clocks skip midnight. */
int64_t loci_date_day_begin(int64_t at, const loci_zone *zone);
int64_t loci_date_day_next(int64_t at, const loci_zone *zone);

#endif
