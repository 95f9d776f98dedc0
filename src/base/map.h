/* base/map.h -- a hash map from text (or numbers) to pointers, in the order of insertion.
 *
 * Here:     find, set, take, walk; a seeded hash, so that hostile keys cannot collide on purpose.
 * Not here: sets of rows (index/), anything that is kept on disk.
 * Owns:     its own tables and, unless told otherwise, copies of the keys. Values belong to the
 *           caller; `drop` can be given to release them.
 * Threads:  one map, one thread at a time; several may read one that nobody changes.
 * Errors:   LOCI_ENOMEM, LOCI_ELIMIT at the cap. After an error the map is as it was before.
 */
#ifndef LOCI_BASE_MAP_H
#define LOCI_BASE_MAP_H

#include "base/err.h"
#include "base/str.h"

typedef struct loci_map loci_map;

typedef struct loci_map_options {
    size_t cap;                /* most entries; 0: LOCI_MAP_MAX */
    bool borrow_keys;          /* keep the caller's bytes, which must outlive the map */
    void (*drop)(void *value); /* called for values that are replaced, or left in loci_map_free */
} loci_map_options;

enum { LOCI_MAP_MAX = 1 << 30 };

/* An empty map; `options` may be NULL. Nothing is allocated for entries yet. */
LOCI_MUST loci_rc loci_map_new(const loci_map_options *options, loci_map **ret_map, loci_err *err);
void loci_map_free(loci_map *map); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_map_freep, loci_map, loci_map_free)

size_t loci_map_count(const loci_map *map);

/* The value of `key`, or NULL when there is none. Keys are bytes; the empty key is one too. */
void *loci_map_find(const loci_map *map, loci_str key);

/* Put `value`, which must not be NULL, under `key`. A key that is there keeps its place in the
 * order and its copy of the bytes. */
LOCI_MUST loci_rc loci_map_set(loci_map *map, loci_str key, void *value, loci_err *err);

/* Remove `key` and hand its value to the caller; NULL when there is none. */
void *loci_map_take(loci_map *map, loci_str key);

/* Walk in the order of insertion: start with *cursor = 0, go on while it is true. What the walk
 * stands on may be taken out meanwhile; nothing new may be put in. ret_key may be NULL. */
bool loci_map_next(const loci_map *map, size_t *cursor, loci_str *ret_key, void **ret_value);

/* The same with numbers as keys, for maps without borrow_keys. Do not mix both in one map. */
static inline void *loci_map_find_u64(const loci_map *map, uint64_t key)
{
    return loci_map_find(map, (loci_str){ (const char *)&key, sizeof key });
}

LOCI_MUST static inline loci_rc loci_map_set_u64(loci_map *map, uint64_t key, void *value,
                                                 loci_err *err)
{
    return loci_map_set(map, (loci_str){ (const char *)&key, sizeof key }, value, err);
}

static inline void *loci_map_take_u64(loci_map *map, uint64_t key)
{
    return loci_map_take(map, (loci_str){ (const char *)&key, sizeof key });
}

/* SipHash-2-4 under a key of 16 bytes: what the map uses, with a key from the kernel. */
uint64_t loci_map_hash(const uint64_t key[2], loci_str bytes);

#endif
