/* Any bytes as a time zone file, and every question to the zone that comes out. */
#include "base/clock.h"
#include "base/date.h"
#include "base/zone.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const loci_zone *zone, int64_t seconds)
{
    loci_date_text text;
    loci_zone_span span = loci_zone_at(zone, seconds);

    assert(span.offset > -86400 && span.offset < 86400 && span.abbreviation[0]);
    (void)loci_zone_to_utc(zone, seconds, false);
    (void)loci_zone_to_utc(zone, seconds, true);
    if (seconds < -200000000000 || seconds > 300000000000) return;
    (void)loci_date_print(LOCI_DATE_PROMPT, seconds * LOCI_SECOND, zone, &text);
    (void)loci_date_print(LOCI_DATE_ISO, seconds * LOCI_SECOND, zone, &text);
    (void)loci_date_day_begin(seconds * LOCI_SECOND, zone);
    (void)loci_date_day_next(seconds * LOCI_SECOND, zone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    const loci_zone *zone = NULL;

    if (!arena) return 0;
    if (loci_zone_parse(arena, LOCI_STR("Test/Zone"), (loci_str){ (const char *)data, size }, &zone,
                        NULL))
        return 0;
    ask(zone, INT64_MIN);
    ask(zone, INT64_MAX);
    for (int64_t seconds = -70000000000; seconds < 260000000000; seconds += 3700000001)
        ask(zone, seconds);
    for (int64_t seconds = 1700000000; seconds < 1740000000; seconds += 999983) ask(zone, seconds);
    return 0;
}
