/* base/zone.h -- time zones by IANA name, such as "Europe/Berlin".
 *
 * Here:     reading the system's TZif files, offsets at an instant, local time to UTC.
 * Not here: dates as text (base/date.h).
 * Owns:     a zone lives in the arena that it was loaded into; "UTC" and NULL need none.
 * Threads:  safe from any thread; zones do not change. A cache of LOCI_ZONE_CACHE files is shared.
 * Errors:   LOCI_EINVAL for a name that is none, LOCI_ECORRUPT for a damaged file,
 *           LOCI_EUNAVAILABLE when the machine has no time zone data at all.
 *
 * Files are read from $TZDIR, else /usr/share/zoneinfo (package tzdata), once; newer ones are seen
 * after a restart. After a file's last transition its POSIX rule goes on, so summer time is right
 * in 2050 too. Wherever a zone is a parameter, NULL is UTC.
 */
#ifndef LOCI_BASE_ZONE_H
#define LOCI_BASE_ZONE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { LOCI_ZONE_NAME_MAX = 63, LOCI_ZONE_CACHE = 64 };

typedef struct loci_zone loci_zone;

/* The zone called `name`, which may be any bytes: names that could leave the folder are refused.
 * "UTC" gives NULL and needs no files. */
LOCI_MUST loci_rc loci_zone_load(loci_arena *arena, loci_str name, const loci_zone **ret_zone,
                                 loci_err *err);

/* The same from the bytes of a TZif file (RFC 9636, versions 1 to 4). Files that count leap seconds
 * are refused. */
LOCI_MUST loci_rc loci_zone_parse(loci_arena *arena, loci_str name, loci_str bytes,
                                  const loci_zone **ret_zone, loci_err *err);

/* "Europe/Berlin"; "UTC" for NULL. */
const char *loci_zone_name(const loci_zone *zone);

/* A stretch of time with one offset. */
typedef struct loci_zone_span {
    int64_t until;  /* where the next one may begin, in seconds UTC; INT64_MAX: never */
    int32_t offset; /* local time minus UTC, in seconds, less than a day */
    bool summer;
    const char *abbreviation; /* "CEST"; lives as long as the zone */
} loci_zone_span;

/* What holds at `seconds` since 1970 UTC. */
loci_zone_span loci_zone_at(const loci_zone *zone, int64_t seconds);

/* Local seconds (a calendar date and time counted as if it were UTC) to UTC. A time that the clocks
 * skip is read with the offset before the gap, so it comes out after it; of a time that comes twice
 * the first is meant, or the second with `later`. */
int64_t loci_zone_to_utc(const loci_zone *zone, int64_t local, bool later);

/* Empty the cache, so that files are read anew. */
void loci_zone_forget(void);

#endif
