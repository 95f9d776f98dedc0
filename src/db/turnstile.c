#include "db/turnstile.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

loci_rc loci_turnstile_open(const char *path, int *ret_fd, loci_err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return loci_fail(err, errno == EACCES || errno == EROFS ? LOCI_EDENIED : LOCI_EIO,
                         "cannot write %s: %s", path, strerror(errno));
    *ret_fd = fd;
    return LOCI_OK;
}

/* Locks of the open file, not of the process: two stores in one process exclude each other too. */
static bool try_lock(int fd, short type)
{
    struct flock lock = { .l_type = type, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1 };

    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

int64_t loci_turnstile_pause(int64_t waited, unsigned *seed)
{
    int64_t most = waited < 20 * LOCI_MS ? 1000 : waited < 100 * LOCI_MS ? 500 : 200;

    return most / 2 + rand_r(seed) % most;
}

bool loci_turnstile_enter(int fd, int64_t patience)
{
    int64_t start = loci_clock_steady();
    unsigned seed = (unsigned)getpid() ^ (unsigned)start;

    while (!try_lock(fd, F_WRLCK)) {
        int64_t waited = loci_clock_steady() - start;
        if (waited >= patience) return false;
        loci_clock_sleep(loci_turnstile_pause(waited, &seed));
    }
    return true;
}

void loci_turnstile_leave(int fd)
{
    (void)try_lock(fd, F_UNLCK);
}
