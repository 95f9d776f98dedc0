#include "scarce.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static sqlite3_mem_methods real;
static _Atomic int64_t count, refused;

static bool is_due(void)
{
    return atomic_fetch_add(&count, 1) + 1 == atomic_load(&refused);
}

static void *get(int size)
{
    return is_due() ? NULL : real.xMalloc(size);
}

static void *get_again(void *old, int size)
{
    return is_due() ? NULL : real.xRealloc(old, size);
}

void scarce_install(int64_t at)
{
    sqlite3_mem_methods mine;

    atomic_store(&refused, at);
    if (sqlite3_shutdown() || sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real)) _exit(99);
    mine = real;
    mine.xMalloc = get;
    mine.xRealloc = get_again;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &mine)) _exit(99);
}

void scarce_mend(void)
{
    atomic_store(&refused, 0);
}

int64_t scarce_count(void)
{
    return atomic_load(&count);
}
