/* base/alloc.h -- the one door to the heap.
 *
 * Here:     allocation that tests can make fail at the n-th call.
 * Not here: arenas (base/arena.h), which request code uses instead.
 * Owns:     nothing; what is allocated belongs to the caller, who calls loci_free.
 * Threads:  safe from any thread; the failure switch counts over all threads.
 * Errors:   NULL, and nothing else changes.
 */
#ifndef LOCI_BASE_ALLOC_H
#define LOCI_BASE_ALLOC_H

#include "base/compiler.h"

#include <stddef.h>

/* `size` bytes of zeros, or NULL. A size of 0 gives one byte, so that NULL always means failure. */
LOCI_MUST void *loci_zalloc(size_t size);

/* As realloc(3); new bytes are not cleared. On failure `p` is still valid. A size of 0 counts as 1.
 */
LOCI_MUST void *loci_realloc(void *p, size_t size);

/* NULL is fine. */
void loci_free(void *p);

/* For memory that a library handed over with "free it with free()". NULL is fine. */
void loci_free_foreign(void *p);

/* For locals: LOCI_AUTO(loci_freep) char *text = ... */
static inline void loci_freep(void *p)
{
    loci_free(*(void **)p);
    *(void **)p = NULL;
}

/* For tests: let the next n - 1 allocations pass and fail the n-th and all later ones; 0 switches
 * it off. Returns how many allocations were asked for since it was last set. */
unsigned long loci_alloc_fail_at(unsigned long n);

#endif
