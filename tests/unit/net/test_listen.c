#include "net/listen.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[80], address[96];

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/loci-listen-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    (void)snprintf(path, sizeof path, "%s/s", folder);
    (void)snprintf(address, sizeof address, "unix:%s", path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void assert_refused(const char *where, loci_rc want, const char *words)
{
    loci_listener listener = { .fd = -7 };
    loci_err err = { 0 };

    assert_int_equal(loci_listener_open(where, 8, &listener, &err), want);
    assert_int_equal(listener.fd, -7);
    if (!strstr(err.msg, words)) fail_msg("'%s' does not say '%s'", err.msg, words);
}

static void takes_a_port(void **state)
{
    loci_listener first, second;
    loci_err err = { 0 };
    char text[400];
    (void)state;

    assert_ok(loci_listener_open("127.0.0.1:0", 8, &first, &err), err);
    assert_memory_equal(first.address, "127.0.0.1:", 10);
    assert_string_not_equal(first.address, "127.0.0.1:0");
    assert_string_equal(first.host, "127.0.0.1");
    (void)snprintf(text, sizeof text,
                   "%s is taken by another program; choose another with --listen", first.address);
    assert_refused(first.address, LOCI_ECONFLICT, text);

    char again[LOCI_LISTEN_BYTES];
    memcpy(again, first.address, sizeof again);
    loci_listener_close(&first);
    loci_listener_close(&first); /* fine twice */
    assert_ok(loci_listener_open(again, 8, &second, &err), err);
    loci_listener_close(&second);
}

static void takes_ipv6(void **state)
{
    loci_listener listener;
    loci_err err = { 0 };
    (void)state;

    if (loci_listener_open("[::1]:0", 8, &listener, &err)) skip(); /* a machine without IPv6 */
    assert_memory_equal(listener.address, "[::1]:", 6);
    assert_string_equal(listener.host, "[::1]");
    loci_listener_close(&listener);
}

static void refuses_addresses(void **state)
{
    char long_path[200] = "unix:/tmp/";
    (void)state;

    memset(long_path + 10, 'x', sizeof long_path - 11);
    assert_refused("", LOCI_EINVAL, "HOST:PORT");
    assert_refused("8283", LOCI_EINVAL, "'8283' is no address");
    assert_refused("localhost", LOCI_EINVAL, "HOST:PORT");
    assert_refused(":80", LOCI_EINVAL, "':80'");
    assert_refused("localhost:99999", LOCI_EINVAL, "99999");
    assert_refused("::1:80", LOCI_EINVAL, "[IPV6]:PORT");
    assert_refused("192.0.2.1:0", LOCI_EINVAL, "not an address of this machine");
    /* A label has at most 63 letters: nobody needs to be asked about this one. */
    assert_refused("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx:0",
                   LOCI_EUNAVAILABLE, "cannot be resolved");
    assert_refused("unix:", LOCI_EINVAL, "needs a path");
    assert_refused(long_path, LOCI_EINVAL, "the system allows 107");
    assert_refused("unix:/no-such-folder/x", LOCI_EIO, "No such file");
}

static void makes_a_private_socket(void **state)
{
    loci_listener listener;
    loci_err err = { 0 };
    struct stat st;
    (void)state;

    assert_ok(loci_listener_open(address, 8, &listener, &err), err);
    assert_string_equal(listener.address, address);
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_refused(address, LOCI_ECONFLICT, "is taken by another program");
    loci_listener_close(&listener);
    assert_int_equal(lstat(path, &st), -1); /* removed at the end */
}

static void replaces_a_stale_socket(void **state)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    loci_listener listener;
    loci_err err = { 0 };
    (void)state;

    (void)snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    (void)close(fd); /* the file stays, as after a crash */
    assert_ok(loci_listener_open(address, 8, &listener, &err), err);
    loci_listener_close(&listener);
}

/* Open the socket when `go` closes; say how it went, and keep it until `end` closes. */
static void start_in_child(int go, int result, int end)
{
    loci_listener listener;
    char byte;

    (void)!read(go, &byte, 1);
    char won = loci_listener_open(address, 8, &listener, NULL) == LOCI_OK;
    (void)!write(result, &won, 1);
    (void)!read(end, &byte, 1);
    _exit(0); /* as a crash: the file stays */
}

/* Several servers start at once over what a crash left behind: one gets the socket. */
static void one_of_several_wins(void **state)
{
    enum { SERVERS = 4, ROUNDS = 60 };
    (void)state;

    for (int round = 0; round < ROUNDS; round++) {
        int go[2] = { 0 }, result[2] = { 0 }, end[2] = { 0 }, winners = 0;
        assert_true(pipe(go) == 0 && pipe(result) == 0 && pipe(end) == 0);
        for (int i = 0; i < SERVERS; i++) {
            pid_t pid = fork();
            assert_true(pid >= 0);
            if (pid > 0) continue;
            (void)close(go[1]), (void)close(end[1]);
            start_in_child(go[0], result[1], end[0]);
        }
        (void)close(go[1]);
        for (int i = 0; i < SERVERS; i++) {
            char won;
            assert_int_equal(read(result[0], &won, 1), 1);
            winners += won;
        }
        (void)close(end[1]);
        for (int i = 0; i < SERVERS; i++) assert_true(wait(NULL) > 0);
        (void)close(go[0]), (void)close(end[0]), (void)close(result[0]), (void)close(result[1]);
        if (winners != 1) fail_msg("round %d: %d servers have the socket", round, winners);
    }
}

static void leaves_files_alone(void **state)
{
    loci_listener listener;
    loci_err err = { 0 };
    struct stat st;
    (void)state;

    int fd = open(path, O_CREAT | O_WRONLY, 0644);
    (void)close(fd);
    assert_refused(address, LOCI_ECONFLICT, "is no socket");
    assert_int_equal(lstat(path, &st), 0);
    (void)unlink(path);

    /* What somebody put in the place of our socket is not ours to remove. */
    assert_ok(loci_listener_open(address, 8, &listener, &err), err);
    (void)unlink(path);
    fd = open(path, O_CREAT | O_WRONLY, 0644);
    (void)close(fd);
    loci_listener_close(&listener);
    assert_int_equal(lstat(path, &st), 0);
}

static void knows_local_addresses(void **state)
{
    (void)state;
    assert_true(loci_listen_is_local("127.0.0.1:8283"));
    assert_true(loci_listen_is_local("[::1]:1"));
    assert_true(loci_listen_is_local("localhost:1"));
    assert_true(loci_listen_is_local("unix:/x"));
    assert_false(loci_listen_is_local("0.0.0.0:8283"));
    assert_false(loci_listen_is_local("[::]:8283"));
    assert_false(loci_listen_is_local("192.168.0.5:1"));
    assert_false(loci_listen_is_local("example.org:1"));
    assert_false(loci_listen_is_local(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_a_port),
        cmocka_unit_test(takes_ipv6),
        cmocka_unit_test(refuses_addresses),
        cmocka_unit_test_setup_teardown(makes_a_private_socket, set_up, tear_down),
        cmocka_unit_test_setup_teardown(replaces_a_stale_socket, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_of_several_wins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_files_alone, set_up, tear_down),
        cmocka_unit_test(knows_local_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
