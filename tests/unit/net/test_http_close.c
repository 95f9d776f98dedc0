/* Every descriptor is closed once, however a server ends. A second close is seen because this
 * program, and with it the HTTP library, has a close(2) of its own. */
#include "base/alloc.h"
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int closed_twice;

#pragma GCC visibility push(default)
int close(int fd)
{
    long rc = syscall(SYS_close, fd);

    if (rc != 0 && errno == EBADF) (void)atomic_fetch_add(&closed_twice, 1);
    return (int)rc;
}
#pragma GCC visibility pop

static int count_open(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder)) count++;
    (void)closedir(folder);
    return count;
}

/* A start that fails at each allocation in turn, some of them with the library running already. */
static void starts_that_fail_close_once(void **state)
{
    /* A queue that takes an allocation of its own, after the library has started. */
    const loci_http_options options = { .listen = "127.0.0.1:0", .queue = 4096 };
    loci_http_server *server = NULL;
    loci_router *router = NULL;
    loci_err err = { 0 };
    loci_rc rc;
    (void)state;

    assert_ok(loci_router_new(&router, &err), err);
    int before = count_open();
    unsigned long n = 0;
    do {
        (void)loci_alloc_fail_at(++n);
        rc = loci_http_start(&options, router, &server, NULL);
        (void)loci_alloc_fail_at(0);
        if (rc) assert_int_equal(count_open(), before);
    } while (rc && n < 100);
    assert_int_equal(rc, LOCI_OK);
    loci_http_stop(server);
    assert_int_equal(count_open(), before);
    assert_int_equal(atomic_load(&closed_twice), 0);
    loci_router_free(router);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(starts_that_fail_close_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
