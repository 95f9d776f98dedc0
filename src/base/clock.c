#include "base/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_clock(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * LOCI_SECOND + t.tv_nsec / 1000;
}

int64_t loci_clock_now(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t loci_clock_steady(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

void loci_clock_sleep(int64_t microseconds)
{
    struct timespec left = { microseconds / LOCI_SECOND, microseconds % LOCI_SECOND * 1000 };

    if (microseconds <= 0) return;
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}
