/* TZif files (RFC 9636): a header with six counts, a block of data in 32 bits, and from version 2
 * on a second header, the same data in 64 bits, and a rule between two line feeds. Everything is
 * checked against the bytes there are before it is believed. */
#include "base/zone_data.h"

#include <string.h>

enum { HEADER = 44, MOST_TIMES = 2048, MOST_TYPES = 256, MOST_CHARS = 2048 };

typedef struct block {
    size_t is_ut, is_standard, leaps, times, types, chars; /* counts, in the header's order */
    size_t width;                                          /* of a time: 4 or 8 bytes */
    loci_str data;
} block;

static uint64_t big_endian(const char *at, size_t width)
{
    uint64_t n = 0;

    for (size_t i = 0; i < width; i++) n = n << 8 | (uint8_t)at[i];
    return n;
}

static int64_t time_at(const block *b, size_t i)
{
    uint64_t n = big_endian(b->data.ptr + i * b->width, b->width);
    return b->width == 8 ? (int64_t)n : (int64_t)(int32_t)(uint32_t)n;
}

/* Take a header and the data that it promises off the front. */
static bool take_block(loci_str *rest, size_t width, block *ret_block)
{
    if (rest->len < HEADER || !loci_str_starts(*rest, LOCI_STR("TZif"))) return false;
    size_t n[6];
    for (size_t i = 0; i < 6; i++) n[i] = (size_t)big_endian(rest->ptr + 20 + 4 * i, 4);
    for (size_t i = 0; i < 6; i++)
        if (n[i] > MOST_TIMES) return false;

    size_t size = n[3] * (width + 1) + n[4] * 6 + n[5] + n[2] * (width + 4) + n[1] + n[0];
    if (size > rest->len - HEADER) return false;
    *ret_block =
        (block){ n[0], n[1], n[2], n[3], n[4], n[5], width, loci_str_sub(*rest, HEADER, size) };
    *rest = loci_str_sub(*rest, HEADER + size, rest->len);
    return true;
}

static bool read_type(const block *b, size_t i, loci_zone_type *ret_type)
{
    const char *at = b->data.ptr + b->times * (b->width + 1) + i * 6;
    const char *chars = b->data.ptr + b->times * (b->width + 1) + b->types * 6;
    int32_t offset = (int32_t)(uint32_t)big_endian(at, 4);
    size_t start = (uint8_t)at[5];

    if (offset <= -LOCI_ZONE_DAY || offset >= LOCI_ZONE_DAY) return false;
    if ((uint8_t)at[4] > 1 || start >= b->chars) return false;
    const char *end = memchr(chars + start, '\0', b->chars - start);
    if (!end) return false;
    loci_str name = { chars + start, (size_t)(end - chars) - start };
    if (!loci_zone_abbreviation_ok(name)) return false;

    *ret_type = (loci_zone_type){ .offset = offset, .summer = at[4] };
    memcpy(ret_type->abbreviation, name.ptr, name.len);
    return true;
}

/* Fill the three arrays behind the zone. */
static bool read_arrays(const block *b, loci_zone *zone)
{
    loci_zone_type *types = (loci_zone_type *)(zone->times + b->times);
    uint8_t *kinds = (uint8_t *)(types + b->types);

    for (size_t i = 0; i < b->types; i++)
        if (!read_type(b, i, &types[i])) return false;
    for (size_t i = 0; i < b->times; i++) {
        zone->times[i] = time_at(b, i);
        kinds[i] = (uint8_t)b->data.ptr[b->times * b->width + i];
        if (kinds[i] >= b->types) return false;
        if (i > 0 && zone->times[i] <= zone->times[i - 1]) return false;
    }
    return true;
}

/* "\nCET-1CEST,M3.5.0,M10.5.0/3\n"; nothing between the line feeds means no rule. */
static bool read_footer(loci_str rest, loci_zone *zone)
{
    if (rest.len < 2 || rest.ptr[0] != '\n') return false;
    rest = loci_str_sub(rest, 1, rest.len);
    size_t len = loci_str_find(rest, LOCI_STR("\n"));
    if (len == rest.len) return false;
    zone->has_rule = len > 0;
    return len == 0 || loci_zone_rule_parse(loci_str_sub(rest, 0, len), &zone->rule);
}

static loci_rc damaged(loci_str name, loci_err *err)
{
    return loci_fail(err, LOCI_ECORRUPT, "the file of time zone '%.*s' is damaged", LOCI_ARG(name));
}

/* The newest block of the file, and what stands behind it. */
static bool take_newest(loci_str *bytes, block *ret_block, bool *ret_footer)
{
    bool old = bytes->len > 4 && bytes->ptr[4] == '\0';

    *ret_footer = !old;
    if (!take_block(bytes, 4, ret_block)) return false;
    return old || take_block(bytes, 8, ret_block);
}

loci_rc loci_zone_parse(loci_arena *arena, loci_str name, loci_str bytes,
                        const loci_zone **ret_zone, loci_err *err)
{
    bool footer;
    block b;

    if (name.len > LOCI_ZONE_NAME_MAX)
        return loci_fail(err, LOCI_EINVAL, "a time zone's name longer than %d bytes",
                         LOCI_ZONE_NAME_MAX);
    if (!take_newest(&bytes, &b, &footer)) return damaged(name, err);
    if (b.leaps > 0)
        return loci_fail(err, LOCI_EINVAL, "time zone '%.*s' counts leap seconds", LOCI_ARG(name));
    if (b.types == 0 || b.types > MOST_TYPES || b.chars == 0 || b.chars > MOST_CHARS)
        return damaged(name, err);

    size_t size =
        sizeof(loci_zone) + b.times * (sizeof(int64_t) + 1) + b.types * sizeof(loci_zone_type);
    loci_zone *zone = loci_arena_alloc(arena, size);
    if (!zone) return loci_arena_fail(arena, err);
    zone->bytes = size;
    zone->time_count = b.times;
    zone->type_count = b.types;
    if (name.len) memcpy(zone->name, name.ptr, name.len);
    if (!read_arrays(&b, zone) || (footer && !read_footer(bytes, zone))) return damaged(name, err);
    *ret_zone = zone;
    return LOCI_OK;
}
