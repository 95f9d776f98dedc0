/* Two tables. `entries` holds keys and values in the order of insertion; `slots` is the hash table
 * proper, open addressing with linear steps, and holds numbers of entries. So walking needs no
 * list, the sparse part has four bytes per slot, and a rebuild copies no key. A removed entry
 * leaves a gap in `entries` and a mark in its slot; both go at the next rebuild, which happens only
 * when a new key finds no room.
 *
 * The hash is SipHash-2-4 (Aumasson and Bernstein): who does not know the seed cannot choose keys
 * that meet. */
#include "base/map.h"

#include "base/alloc.h"
#include "base/id.h"

#include <assert.h>
#include <string.h>

enum { EMPTY = 0, GONE = 1, FIRST = 2, SMALLEST = 8 }; /* a slot is EMPTY, GONE, or entry + FIRST */

typedef struct entry {
    loci_str key;
    uint64_t hash;
    void *value; /* NULL: a gap */
} entry;

struct loci_map {
    loci_map_options options;
    uint64_t seed[2];
    size_t count; /* without gaps */
    size_t used;  /* of entries, gaps included */
    size_t room;  /* of entries; slots has twice as many, a power of two */
    entry *entries;
    uint32_t *slots;
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void mix(uint64_t v[4], int rounds)
{
    while (rounds-- > 0) {
        v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
        v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
    }
}

/* Up to eight bytes, the first one lowest. */
static uint64_t little_endian(const char *at, size_t len)
{
    uint64_t n = 0;

    for (size_t i = 0; i < len; i++) n |= (uint64_t)(uint8_t)at[i] << 8 * i;
    return n;
}

static void take_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

uint64_t loci_map_hash(const uint64_t key[2], loci_str bytes)
{
    uint64_t v[4] = {
        key[0] ^ UINT64_C(0x736f6d6570736575),
        key[1] ^ UINT64_C(0x646f72616e646f6d),
        key[0] ^ UINT64_C(0x6c7967656e657261),
        key[1] ^ UINT64_C(0x7465646279746573),
    };
    size_t whole = bytes.len & ~(size_t)7;

    for (size_t i = 0; i < whole; i += 8) take_word(v, little_endian(bytes.ptr + i, 8));
    uint64_t rest = whole < bytes.len ? little_endian(bytes.ptr + whole, bytes.len - whole) : 0;
    take_word(v, rest | (uint64_t)bytes.len << 56);
    v[2] ^= 0xFF;
    mix(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

loci_rc loci_map_new(const loci_map_options *options, loci_map **ret_map, loci_err *err)
{
    LOCI_AUTO(loci_freep) loci_map *map = loci_zalloc(sizeof *map);
    if (!map) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    if (options) map->options = *options;
    if (map->options.cap == 0 || map->options.cap > LOCI_MAP_MAX) map->options.cap = LOCI_MAP_MAX;
    loci_rc rc = loci_random_bytes(map->seed, sizeof map->seed, err);
    if (rc) return rc;
    *ret_map = LOCI_TAKE(map);
    return LOCI_OK;
}

/* The key is const for everybody but its owner. */
static void free_key(const loci_map *map, loci_str key)
{
    union {
        const char *borrowed;
        char *owned;
    } bytes = { key.ptr };

    if (!map->options.borrow_keys) loci_free(bytes.owned);
}

void loci_map_free(loci_map *map)
{
    if (!map) return;
    for (size_t i = 0; i < map->used; i++) {
        if (!map->entries[i].value) continue;
        free_key(map, map->entries[i].key);
        if (map->options.drop) map->options.drop(map->entries[i].value);
    }
    loci_free(map->entries);
    loci_free(map->slots);
    loci_free(map);
}

size_t loci_map_count(const loci_map *map)
{
    return map->count;
}

/* The slot of `key`, or NULL. There is always an empty slot, so the walk ends. */
static uint32_t *find_slot(const loci_map *map, loci_str key, uint64_t hash)
{
    size_t mask = map->room * 2 - 1;

    if (map->count == 0) return NULL;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        if (map->slots[i] == EMPTY) return NULL;
        if (map->slots[i] == GONE) continue;
        const entry *e = &map->entries[map->slots[i] - FIRST];
        if (e->hash == hash && loci_str_eq(e->key, key)) return &map->slots[i];
    }
}

void *loci_map_find(const loci_map *map, loci_str key)
{
    const uint32_t *slot = find_slot(map, key, loci_map_hash(map->seed, key));
    return slot ? map->entries[*slot - FIRST].value : NULL;
}

static void fill_slot(uint32_t *slots, size_t mask, uint64_t hash, size_t number)
{
    size_t i = hash & mask;

    while (slots[i] != EMPTY) i = (i + 1) & mask;
    slots[i] = (uint32_t)(number + FIRST);
}

/* Move to tables without gaps: of the same size when at least half are gaps, else twice as large.
 */
static loci_rc rebuild(loci_map *map, loci_err *err)
{
    size_t room = map->count < map->room / 2 ? map->room : map->room * 2;
    if (room < SMALLEST) room = SMALLEST;

    LOCI_AUTO(loci_freep) entry *entries = loci_zalloc(room * sizeof *entries);
    LOCI_AUTO(loci_freep) uint32_t *slots = loci_zalloc(2 * room * sizeof *slots);
    if (!entries || !slots) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    size_t used = 0;
    for (size_t i = 0; i < map->used; i++) {
        if (!map->entries[i].value) continue;
        entries[used] = map->entries[i];
        fill_slot(slots, room * 2 - 1, entries[used].hash, used);
        used++;
    }
    loci_free(map->entries);
    loci_free(map->slots);
    map->entries = LOCI_TAKE(entries);
    map->slots = LOCI_TAKE(slots);
    map->used = used;
    map->room = room;
    return LOCI_OK;
}

static loci_rc add(loci_map *map, loci_str key, uint64_t hash, void *value, loci_err *err)
{
    if (map->count >= map->options.cap)
        return loci_fail(err, LOCI_ELIMIT, "more than %zu entries", map->options.cap);
    LOCI_AUTO(loci_freep) char *copy = NULL;
    if (!map->options.borrow_keys) {
        copy = loci_realloc(NULL, key.len);
        if (!copy) return loci_fail(err, LOCI_ENOMEM, "out of memory");
        if (key.len) memcpy(copy, key.ptr, key.len);
        key.ptr = copy;
    }
    loci_rc rc = map->used == map->room ? rebuild(map, err) : LOCI_OK;
    if (rc) return rc;

    map->entries[map->used] = (entry){ key, hash, value };
    fill_slot(map->slots, map->room * 2 - 1, hash, map->used++);
    map->count++;
    copy = NULL; /* the entry has it now */
    return LOCI_OK;
}

loci_rc loci_map_set(loci_map *map, loci_str key, void *value, loci_err *err)
{
    uint64_t hash = loci_map_hash(map->seed, key);
    const uint32_t *slot = find_slot(map, key, hash);

    assert(value);
    if (!slot) return add(map, key, hash, value, err);
    entry *e = &map->entries[*slot - FIRST];
    void *old = e->value;
    e->value = value;
    if (map->options.drop && old != value) map->options.drop(old);
    return LOCI_OK;
}

void *loci_map_take(loci_map *map, loci_str key)
{
    uint32_t *slot = find_slot(map, key, loci_map_hash(map->seed, key));
    if (!slot) return NULL;

    entry *e = &map->entries[*slot - FIRST];
    void *value = e->value;
    free_key(map, e->key);
    *e = (entry){ 0 };
    *slot = GONE;
    map->count--;
    return value;
}

bool loci_map_next(const loci_map *map, size_t *cursor, loci_str *ret_key, void **ret_value)
{
    while (*cursor < map->used) {
        const entry *e = &map->entries[(*cursor)++];
        if (!e->value) continue;
        if (ret_key) *ret_key = e->key;
        *ret_value = e->value;
        return true;
    }
    return false;
}
