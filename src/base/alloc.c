#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* The one file that may call what base/banned.h bans. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static atomic_ulong fail_at;
static atomic_ulong asked;

/* Counting costs a contended cache line, so it happens only while a test has the switch set. */
static int must_fail(void)
{
    unsigned long at = atomic_load_explicit(&fail_at, memory_order_relaxed);
    if (LOCI_LIKELY(at == 0)) return 0;
    return atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) + 1 >= at;
}

void *loci_zalloc(size_t size)
{
    if (must_fail()) return NULL;
    return calloc(1, size ? size : 1);
}

void *loci_realloc(void *p, size_t size)
{
    if (must_fail()) return NULL;
    return realloc(p, size ? size : 1);
}

void loci_free(void *p)
{
    free(p);
}

void loci_free_foreign(void *p)
{
    free(p);
}

unsigned long loci_alloc_fail_at(unsigned long n)
{
    atomic_store(&fail_at, n);
    return atomic_exchange(&asked, 0);
}
