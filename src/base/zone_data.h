/* base/zone_data.h -- what a zone is made of. For base/zone*.c only.
 *
 * Here:     the one block of memory that is a zone, and the POSIX rule at its end.
 * Not here: the calls that others use (base/zone.h).
 * Owns:     a zone is one block without pointers into itself, so a copy is a memcpy.
 * Threads:  zones do not change once they are made.
 * Errors:   false for a rule that is none.
 */
#ifndef LOCI_BASE_ZONE_DATA_H
#define LOCI_BASE_ZONE_DATA_H

#include "base/zone.h"

enum { LOCI_ZONE_DAY = 86400, LOCI_ZONE_ABBREVIATION_MAX = 10 };

/* One kind of local time. */
typedef struct loci_zone_type {
    int32_t offset;
    bool summer;
    char abbreviation[LOCI_ZONE_ABBREVIATION_MAX + 1];
} loci_zone_type;

/* A day of the year and a time of it, as "M3.5.0/3", "J60" or "59". */
typedef struct loci_zone_day {
    char form;      /* 'M', 'J' (1..365, never the leap day) or '0' (0..365) */
    int month;      /* M: 1..12 */
    int week;       /* M: 1..5, 5 is the last */
    int day;        /* M: 0 (Sunday)..6; J and 0: the day */
    int32_t second; /* of that day; may be negative or beyond it */
} loci_zone_day;

/* "CET-1CEST,M3.5.0,M10.5.0/3": what holds after the last transition. */
typedef struct loci_zone_rule {
    loci_zone_type standard, summer;
    bool has_summer;
    loci_zone_day start, end; /* of summer time, every year */
} loci_zone_rule;

struct loci_zone {
    size_t bytes; /* of the whole block */
    char name[LOCI_ZONE_NAME_MAX + 1];
    bool has_rule;
    loci_zone_rule rule;
    size_t time_count, type_count;
    /* Then: int64_t times[time_count], loci_zone_type types[type_count], and for each time the
     * number of the type that begins there, uint8_t kinds[time_count]. */
    int64_t times[];
};

static inline const loci_zone_type *loci_zone_types(const loci_zone *zone)
{
    return (const loci_zone_type *)(zone->times + zone->time_count);
}

static inline const uint8_t *loci_zone_kinds(const loci_zone *zone)
{
    return (const uint8_t *)(loci_zone_types(zone) + zone->type_count);
}

LOCI_MUST bool loci_zone_rule_parse(loci_str text, loci_zone_rule *ret_rule);

/* What the rule says at `seconds`. */
loci_zone_span loci_zone_rule_at(const loci_zone_rule *rule, int64_t seconds);

/* Letters, digits, + and -: at least one and not too many. */
LOCI_MUST bool loci_zone_abbreviation_ok(loci_str text);

#endif
