/* base/arena.h -- memory that is freed all at once, with a ceiling.
 *
 * Here:     one arena per request or per piece of work; request code has no free().
 * Not here: long-lived objects (base/alloc.h).
 * Owns:     every byte that it hands out; all die with loci_arena_reset or _free.
 * Threads:  one arena, one thread at a time.
 * Errors:   NULL means no memory or the ceiling; loci_arena_fail says which.
 */
#ifndef LOCI_BASE_ARENA_H
#define LOCI_BASE_ARENA_H

#include "base/err.h"
#include "base/str.h"

typedef struct loci_arena loci_arena;

/* An empty arena that will hold at most `ceiling` bytes, its own overhead included. Nothing is
 * allocated for the content until it is asked for. NULL when out of memory. */
LOCI_MUST loci_arena *loci_arena_new(size_t ceiling);
void loci_arena_free(loci_arena *arena); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_arena_freep, loci_arena, loci_arena_free)

/* Forget everything; the first block is kept for the next use. */
void loci_arena_reset(loci_arena *arena);

/* `size` bytes of zeros, aligned to 16; NULL past the ceiling or without memory. 0 gives a valid
 * pointer to nothing. */
LOCI_MUST void *loci_arena_alloc(loci_arena *arena, size_t size);

/* The same for `count` things of `size`, safe against overflow. */
LOCI_MUST void *loci_arena_array(loci_arena *arena, size_t count, size_t size);

/* Make the newest allocation `p` of `old_size` bytes larger: in place when it can, else a copy.
 * New bytes are zeros. On failure NULL, and `p` is still good. */
LOCI_MUST void *loci_arena_grow(loci_arena *arena, void *p, size_t old_size, size_t new_size);

/* A copy with a NUL behind it (not counted in len). ret.ptr is NULL on failure. */
LOCI_MUST loci_str loci_arena_str(loci_arena *arena, loci_str s);

/* printf into the arena; ret.ptr is NULL on failure. A NUL stands behind the text. */
LOCI_MUST loci_str loci_arena_printf(loci_arena *arena, const char *fmt, ...) LOCI_PRINTF(2, 3);

/* Bytes taken from the heap so far. */
size_t loci_arena_used(const loci_arena *arena);

/* The error for a NULL from above: LOCI_ELIMIT when the ceiling was hit, else LOCI_ENOMEM. */
loci_rc loci_arena_fail(const loci_arena *arena, loci_err *err);

#endif
