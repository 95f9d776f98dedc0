/* One system call per id would do, but costs more than the rest of an insert's bookkeeping. So each
 * thread keeps a small stock of random bytes. A stock is good only for the process that drew it,
 * and that is told by its epoch: `guard` points at a number in a page that the kernel clears in a
 * forked child, and a cleared number is replaced by one that was never used before. */
#include "base/id.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

enum { STOCK = 256 }; /* getrandom(2) gives up to this many bytes in one piece */

typedef struct stock {
    uint64_t epoch; /* 0: never filled */
    size_t left;
    uint8_t bytes[STOCK];
} stock;

static _Thread_local stock mine;
static atomic_ullong last_epoch;
static atomic_ullong *guard; /* NULL: the kernel cannot wipe, so there is no stock */
static pthread_once_t guard_once = PTHREAD_ONCE_INIT;

static void make_guard(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (page == MAP_FAILED) return;
    if (madvise(page, size, MADV_WIPEONFORK) == 0)
        guard = page;
    else
        (void)munmap(page, size);
}

/* This process's epoch, never 0. Two threads may race to set a new one: the first wins. */
static uint64_t epoch_now(void)
{
    unsigned long long epoch = atomic_load(guard);

    if (LOCI_LIKELY(epoch != 0)) return epoch;
    unsigned long long fresh = atomic_fetch_add(&last_epoch, 1) + 1;
    return atomic_compare_exchange_strong(guard, &epoch, fresh) ? fresh : epoch;
}

static loci_rc draw(uint8_t *bytes, size_t size, loci_err *err)
{
    while (size > 0) {
        ssize_t n = getrandom(bytes, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return loci_fail(err, LOCI_EUNAVAILABLE, "the kernel gives no random bytes: %s",
                             strerror(errno));
        bytes += n;
        size -= (size_t)n;
    }
    return LOCI_OK;
}

/* What was handed out is cleared, so that no later leak of memory tells it. */
static loci_rc draw_from_stock(uint8_t *bytes, size_t size, loci_err *err)
{
    uint64_t epoch = epoch_now();

    if (mine.epoch != epoch || mine.left < size) {
        mine.epoch = 0;
        loci_rc rc = draw(mine.bytes, STOCK, err);
        if (rc) return rc;
        mine.left = STOCK;
        mine.epoch = epoch;
    }
    mine.left -= size;
    memcpy(bytes, mine.bytes + mine.left, size);
    explicit_bzero(mine.bytes + mine.left, size);
    return LOCI_OK;
}

loci_rc loci_random_bytes(void *ret_bytes, size_t size, loci_err *err)
{
    (void)pthread_once(&guard_once, make_guard);
    if (!guard || size > STOCK / 4) return draw(ret_bytes, size, err);
    return draw_from_stock(ret_bytes, size, err);
}

static bool dash_at(size_t i)
{
    return i == 8 || i == 13 || i == 18 || i == 23;
}

loci_rc loci_id_make(const char *prefix, loci_id *ret_id, loci_err *err)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t raw[16];
    size_t len = strlen(prefix);
    assert(len > 0 && len <= LOCI_ID_PREFIX_MAX);

    loci_rc rc = loci_random_bytes(raw, sizeof raw, err);
    if (rc) return rc;
    raw[6] = (uint8_t)(0x40 | (raw[6] & 0x0F)); /* version 4 */
    raw[8] = (uint8_t)(0x80 | (raw[8] & 0x3F)); /* the variant of RFC 9562 */

    char *at = ret_id->text;
    memcpy(at, prefix, len);
    at[len] = '-';
    at += len + 1;
    for (size_t i = 0, nibble = 0; i < LOCI_UUID_LEN; i++) {
        if (dash_at(i)) {
            at[i] = '-';
            continue;
        }
        at[i] = digits[nibble % 2 ? raw[nibble / 2] & 0x0F : raw[nibble / 2] >> 4];
        nibble++;
    }
    at[LOCI_UUID_LEN] = '\0';
    return LOCI_OK;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool loci_id_check(loci_str id, const char *prefix)
{
    loci_str want = loci_str_from(prefix);

    if (id.len != want.len + 1 + LOCI_UUID_LEN || !loci_str_starts(id, want)) return false;
    if (id.ptr[want.len] != '-') return false;
    const char *uuid = id.ptr + want.len + 1;
    for (size_t i = 0; i < LOCI_UUID_LEN; i++)
        if (dash_at(i) ? uuid[i] != '-' : !is_hex(uuid[i])) return false;
    return uuid[14] == '4' && memchr("89ab", uuid[19], 4) != NULL;
}
