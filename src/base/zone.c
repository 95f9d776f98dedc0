#include "base/zone.h"

#include "base/alloc.h"
#include "base/fs.h"
#include "base/zone_data.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 256 << 10 };

/* Far outside the years that dates can have, near enough for arithmetic without overflow. */
static const int64_t earliest = INT64_C(-100000000000), latest = INT64_C(300000000000);

/* The cache. Under the lock: everything. A zone in it is a heap block of its own; who asks gets a
 * copy, so that it can be thrown out at any time. */
static struct {
    pthread_mutex_t lock;
    loci_zone *zones[LOCI_ZONE_CACHE];
    uint64_t used[LOCI_ZONE_CACHE]; /* when, by `clock` */
    uint64_t clock;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void unlockp(pthread_mutex_t **lock)
{
    (void)pthread_mutex_unlock(*lock);
}

/* Holds the cache's lock to the end of the scope. */
#define HOLD_CACHE()                                                                               \
    LOCI_AUTO(unlockp) LOCI_UNUSED pthread_mutex_t *held = &cache.lock;                            \
    (void)pthread_mutex_lock(held)

/* A copy from the cache: NULL when it is not there. *ret_found tells the arena's failure apart. */
static const loci_zone *copy_cached(loci_arena *arena, loci_str name, bool *ret_found)
{
    HOLD_CACHE();

    *ret_found = false;
    for (size_t i = 0; i < LOCI_ZONE_CACHE; i++) {
        loci_zone *zone = cache.zones[i];
        if (!zone || !loci_str_eq(loci_str_from(zone->name), name)) continue;
        cache.used[i] = ++cache.clock;
        *ret_found = true;
        loci_zone *copy = loci_arena_alloc(arena, zone->bytes);
        return copy ? memcpy(copy, zone, zone->bytes) : NULL;
    }
    return NULL;
}

/* Keep a copy in the place that was not used for longest. Without memory it is just not kept; two
 * threads may keep the same zone twice, which does no harm. */
static void keep(const loci_zone *zone)
{
    loci_zone *copy = loci_realloc(NULL, zone->bytes);
    if (!copy) return;
    memcpy(copy, zone, zone->bytes);

    HOLD_CACHE();
    size_t oldest = 0;
    for (size_t i = 1; i < LOCI_ZONE_CACHE; i++)
        if (cache.used[i] < cache.used[oldest]) oldest = i;
    loci_free(cache.zones[oldest]);
    cache.zones[oldest] = copy;
    cache.used[oldest] = ++cache.clock;
}

void loci_zone_forget(void)
{
    HOLD_CACHE();

    for (size_t i = 0; i < LOCI_ZONE_CACHE; i++) {
        loci_free(cache.zones[i]);
        cache.zones[i] = NULL;
        cache.used[i] = 0;
    }
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+';
}

/* Words with single slashes between. There are no dots, so no climbing out. */
static bool is_name(loci_str name)
{
    loci_str word;

    if (name.len == 0 || name.len > LOCI_ZONE_NAME_MAX) return false;
    while (loci_str_cut(&name, '/', &word)) {
        if (word.len == 0) return false;
        for (size_t i = 0; i < word.len; i++)
            if (!is_name_byte(word.ptr[i])) return false;
    }
    return true;
}

/* The name is shown as far as it can be one. */
static loci_rc unknown_zone(loci_str name, loci_err *err)
{
    char text[LOCI_ZONE_NAME_MAX + 1];
    size_t len = name.len < LOCI_ZONE_NAME_MAX ? name.len : LOCI_ZONE_NAME_MAX;

    for (size_t i = 0; i < len; i++)
        text[i] = (char)(name.ptr[i] >= 0x20 && name.ptr[i] < 0x7F ? name.ptr[i] : '?');
    return loci_fail(err, LOCI_EINVAL,
                     "unknown time zone '%.*s': use an IANA name such as Europe/Berlin or UTC",
                     (int)len, text);
}

static loci_rc read_zone(loci_arena *arena, loci_str name, const loci_zone **ret_zone,
                         loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *scratch = loci_arena_new(2 * FILE_MAX);
    const char *folder = getenv("TZDIR");
    char path[PATH_MAX];
    loci_str bytes;

    if (!scratch) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (!folder || folder[0] != '/') folder = "/usr/share/zoneinfo";
    int n = snprintf(path, sizeof path, "%s/%.*s", folder, LOCI_ARG(name));
    if (n < 0 || n >= (int)sizeof path) return unknown_zone(name, err);

    loci_rc rc = loci_fs_read(scratch, path, FILE_MAX, &bytes, err);
    if (rc == LOCI_ENOTFOUND && access(folder, X_OK) != 0)
        return loci_fail(err, LOCI_EUNAVAILABLE,
                         "there is no time zone data in '%.100s': install the package tzdata",
                         folder);
    if (rc == LOCI_ENOTFOUND || rc == LOCI_EINVAL) return unknown_zone(name, err);
    if (rc) return rc;
    if (!loci_str_starts(bytes, LOCI_STR("TZif"))) return unknown_zone(name, err);
    return loci_zone_parse(arena, name, bytes, ret_zone, err);
}

loci_rc loci_zone_load(loci_arena *arena, loci_str name, const loci_zone **ret_zone, loci_err *err)
{
    bool found;

    if (loci_str_eq(name, LOCI_STR("UTC"))) {
        *ret_zone = NULL;
        return LOCI_OK;
    }
    if (!is_name(name)) return unknown_zone(name, err);
    const loci_zone *zone = copy_cached(arena, name, &found);
    if (found && !zone) return loci_arena_fail(arena, err);
    if (!found) {
        loci_rc rc = read_zone(arena, name, &zone, err);
        if (rc) return rc;
        keep(zone);
    }
    *ret_zone = zone;
    return LOCI_OK;
}

const char *loci_zone_name(const loci_zone *zone)
{
    return zone ? zone->name : "UTC";
}

static loci_zone_span span_of(const loci_zone_type *type, int64_t until)
{
    return (loci_zone_span){ until, type->offset, type->summer, type->abbreviation };
}

/* How many transitions are at or before `seconds`. */
static size_t count_past(const loci_zone *zone, int64_t seconds)
{
    size_t low = 0, high = zone->time_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->times[middle] <= seconds)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

loci_zone_span loci_zone_at(const loci_zone *zone, int64_t seconds)
{
    if (!zone) return (loci_zone_span){ INT64_MAX, 0, false, "UTC" };
    if (seconds < earliest) seconds = earliest;
    if (seconds > latest) seconds = latest;

    size_t past = count_past(zone, seconds);
    if (past == zone->time_count && zone->has_rule) return loci_zone_rule_at(&zone->rule, seconds);
    int64_t until = past < zone->time_count ? zone->times[past] : INT64_MAX;
    size_t kind = past > 0 ? loci_zone_kinds(zone)[past - 1] : 0; /* type 0 before them all */
    return span_of(&loci_zone_types(zone)[kind], until);
}

/* Walk over the spans around it. A span's local end is where both clocks have passed the change
 * (for the first of two equal times), or where one has (for the second). */
int64_t loci_zone_to_utc(const loci_zone *zone, int64_t local, bool later)
{
    if (!zone) return local;
    if (local < earliest) local = earliest;
    if (local > latest) local = latest;

    loci_zone_span span = loci_zone_at(zone, local - LOCI_ZONE_DAY);
    while (span.until < latest) {
        loci_zone_span next = loci_zone_at(zone, span.until);
        bool forward = next.offset > span.offset;
        int64_t edge = span.until + (forward != later ? next.offset : span.offset);
        if (local < edge) break;
        span = next;
    }
    return local - span.offset;
}
