/* A chain of blocks, each filled from the front. A request that needs little touches one block of
 * 4 KiB; blocks double up to 1 MiB, and a single large thing gets a block of its own size.
 * Under AddressSanitizer what was not handed out is poisoned, and a red zone stands behind each
 * piece, so that an overrun inside a block is seen. */
#include "base/arena.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

#if LOCI_ASAN
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 16 };
#define POISON(p, n) __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#else
enum { RED_ZONE = 0 };
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 16, FIRST_BLOCK = 4096, LARGEST_STEP = 1 << 20 };

typedef struct block {
    struct block *older;
    size_t size; /* bytes of data[] */
    size_t used;
    size_t pad_to_align;
    char data[];
} block;

struct loci_arena {
    block *newest;
    size_t ceiling;
    size_t taken; /* from the heap, headers included */
    bool hit_ceiling;
};

loci_arena *loci_arena_new(size_t ceiling)
{
    loci_arena *arena = loci_zalloc(sizeof *arena);
    if (!arena) return NULL;
    arena->ceiling = ceiling;
    arena->taken = sizeof *arena;
    return arena;
}

static void drop_block(loci_arena *arena, block *b)
{
    arena->taken -= sizeof *b + b->size;
    UNPOISON(b->data, b->size);
    loci_free(b);
}

void loci_arena_free(loci_arena *arena)
{
    if (!arena) return;
    while (arena->newest) {
        block *b = arena->newest;
        arena->newest = b->older;
        drop_block(arena, b);
    }
    loci_free(arena);
}

void loci_arena_reset(loci_arena *arena)
{
    while (arena->newest && arena->newest->older) {
        block *b = arena->newest;
        arena->newest = b->older;
        drop_block(arena, b);
    }
    arena->hit_ceiling = false;
    if (!arena->newest) return;
    POISON(arena->newest->data, arena->newest->size);
    arena->newest->used = 0;
}

/* The next block's size: double the last one, within the steps, never less than `need`, and what
 * is left below the ceiling when that is less but still enough. 0 when the ceiling forbids it. */
static size_t next_size(const loci_arena *arena, size_t need)
{
    size_t left = arena->ceiling > arena->taken ? arena->ceiling - arena->taken : 0;
    size_t size = arena->newest ? arena->newest->size * 2 : FIRST_BLOCK - sizeof(block);

    if (left < sizeof(block) || need > left - sizeof(block)) return 0;
    if (size > LARGEST_STEP) size = LARGEST_STEP;
    if (size < need) size = need;
    return size < left - sizeof(block) ? size : left - sizeof(block);
}

static block *add_block(loci_arena *arena, size_t need)
{
    size_t size = next_size(arena, need);
    if (size == 0) {
        arena->hit_ceiling = true;
        return NULL;
    }
    block *b = loci_realloc(NULL, sizeof *b + size); /* loci_arena_alloc clears what it gives */
    if (!b) return NULL;
    *b = (block){ .older = arena->newest, .size = size };
    arena->newest = b;
    arena->taken += sizeof *b + size;
    POISON(b->data, b->size);
    return b;
}

/* `size` rounded up with its red zone; 0 when it does not fit a size_t. */
static size_t footprint(size_t size)
{
    size_t whole;
    if (LOCI_ADD_OVERFLOWS(size, (size_t)(ALIGN - 1 + RED_ZONE), &whole)) return 0;
    whole &= ~(size_t)(ALIGN - 1);
    return whole ? whole : ALIGN;
}

void *loci_arena_alloc(loci_arena *arena, size_t size)
{
    size_t need = footprint(size);
    if (need == 0) {
        arena->hit_ceiling = true;
        return NULL;
    }
    block *b = arena->newest;
    if (!b || need > b->size - b->used) b = add_block(arena, need);
    if (!b) return NULL;

    char *p = b->data + b->used;
    b->used += need;
    UNPOISON(p, size);
    return memset(p, 0, size);
}

void *loci_arena_array(loci_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (LOCI_MUL_OVERFLOWS(count, size, &bytes)) {
        arena->hit_ceiling = true;
        return NULL;
    }
    return loci_arena_alloc(arena, bytes);
}

static bool grow_in_place(loci_arena *arena, char *p, size_t old_size, size_t new_size)
{
    block *b = arena->newest;
    size_t old_need = footprint(old_size), new_need = footprint(new_size);

    if (!b || new_need == 0 || p + old_need != b->data + b->used) return false;
    if (new_need - old_need > b->size - b->used) return false;
    b->used += new_need - old_need;
    UNPOISON(p, new_size);
    memset(p + old_size, 0, new_size - old_size);
    return true;
}

void *loci_arena_grow(loci_arena *arena, void *p, size_t old_size, size_t new_size)
{
    if (p && new_size <= old_size) return p;
    if (p && grow_in_place(arena, p, old_size, new_size)) return p;
    void *copy = loci_arena_alloc(arena, new_size);
    if (copy && p) memcpy(copy, p, old_size);
    return copy;
}

loci_str loci_arena_str(loci_arena *arena, loci_str s)
{
    char *copy = s.len < SIZE_MAX ? loci_arena_alloc(arena, s.len + 1) : NULL;
    if (!copy) return (loci_str){ NULL, 0 };
    if (s.len) memcpy(copy, s.ptr, s.len);
    return (loci_str){ copy, s.len };
}

loci_str loci_arena_printf(loci_arena *arena, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    char *text = n < 0 ? NULL : loci_arena_alloc(arena, (size_t)n + 1);
    if (text) (void)vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(args);
    return text ? (loci_str){ text, (size_t)n } : (loci_str){ NULL, 0 };
}

size_t loci_arena_used(const loci_arena *arena)
{
    return arena->taken;
}

loci_rc loci_arena_fail(const loci_arena *arena, loci_err *err)
{
    if (arena->hit_ceiling)
        return loci_fail(err, LOCI_ELIMIT, "needs more than the %zu bytes that one request may use",
                         arena->ceiling);
    return loci_fail(err, LOCI_ENOMEM, "out of memory");
}
