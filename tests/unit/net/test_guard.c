#include "net/guard.h"
#include "test.h"

static void hosts(void **state)
{
    static const struct {
        const char *header;
        loci_rc want;
    } cases[] = {
        { "localhost", LOCI_OK },
        { "LocalHost:8283", LOCI_OK },
        { "localhost:", LOCI_OK },
        { "letta.localhost:3000", LOCI_OK },
        { "127.0.0.1:8283", LOCI_OK },
        { "127.255.0.9", LOCI_OK },
        { "[::1]", LOCI_OK },
        { "[::1]:8283", LOCI_OK },
        { "[0:0:0:0:0:0:0:1]:1", LOCI_OK },
        { "box.example", LOCI_OK },        /* configured, any port */
        { "BOX.example:99", LOCI_OK },     /* case does not matter */
        { "other.example:8443", LOCI_OK }, /* configured with this port */
        { "[fe80::1]:5", LOCI_OK },        /* configured */
        { "other.example", LOCI_EDENIED }, /* the port is missing */
        { "other.example:844", LOCI_EDENIED },
        { "evil.example", LOCI_EDENIED },
        { "localhost.evil.example", LOCI_EDENIED },
        { "evillocalhost", LOCI_EDENIED },
        { ".localhost", LOCI_EDENIED }, /* no name before it */
        { "127.0.0.1.evil.example", LOCI_EDENIED },
        { "128.0.0.1", LOCI_EDENIED },
        { "0.0.0.0", LOCI_EDENIED },
        { "127.1", LOCI_EDENIED }, /* not four numbers: a name */
        { "[::2]", LOCI_EDENIED },
        { "[::ffff:127.0.0.1]", LOCI_EDENIED },
        { "", LOCI_EINVAL },
        { ":80", LOCI_EINVAL },
        { "a b", LOCI_EINVAL },
        { "a/b", LOCI_EINVAL },
        { "user@localhost", LOCI_EINVAL },
        { "localhost:http", LOCI_EINVAL },
        { "localhost:65536", LOCI_EINVAL },
        { "localhost:000001", LOCI_EINVAL },
        { "localhost:1:2", LOCI_EINVAL },
        { "::1", LOCI_EINVAL },
        { "[::1", LOCI_EINVAL },
        { "[::1]x", LOCI_EINVAL },
        { "[localhost]", LOCI_EINVAL },
        { "[]", LOCI_EINVAL },
    };
    const loci_str allowed = LOCI_STR(" box.example ,other.example:8443,[fe80::1],,bad host");
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_err err = { 0 };
        loci_rc rc = loci_guard_host(loci_str_from(cases[i].header), allowed, &err);
        if (rc != cases[i].want) fail_msg("%s: %s", cases[i].header, loci_rc_name(rc));
        assert_int_equal(err.code, cases[i].want);
    }
    assert_int_equal(loci_guard_host((loci_str){ "local\0host", 10 }, allowed, NULL), LOCI_EINVAL);
}

static void long_hosts(void **state)
{
    char name[LOCI_HOST_BYTES + 1];
    (void)state;

    memset(name, 'a', sizeof name);
    assert_int_equal(loci_guard_host((loci_str){ name, sizeof name }, LOCI_STR(""), NULL),
                     LOCI_EINVAL);
    assert_int_equal(loci_guard_host((loci_str){ name, sizeof name - 1 }, LOCI_STR(""), NULL),
                     LOCI_EDENIED);
}

static void origins(void **state)
{
    static const struct {
        const char *origin, *scheme, *host;
        bool want;
    } cases[] = {
        { "http://letta.localhost", "http", "localhost", true },
        { "http://localhost:8283", "http", "127.0.0.1:9", true },
        { "http://localhost:8083", "http", "127.0.0.1:9", true },
        { "http://localhost:3000", "http", "127.0.0.1:9", true },
        { "http://localhost:4200", "http", "127.0.0.1:9", true },
        { "http://127.0.0.1:9", "http", "127.0.0.1:9", true }, /* our own */
        { "HTTP://LOCALHOST:9", "http", "localhost:9", true },
        { "https://localhost:9", "https", "localhost:9", true },
        { "https://app.example", "http", "localhost", true }, /* configured */
        { "https://localhost:9", "http", "localhost:9", false },
        { "http://127.0.0.1:10", "http", "127.0.0.1:9", false },
        { "http://localhost", "http", "127.0.0.1", false },
        { "http://localhost:82830", "http", "127.0.0.1", false },
        { "http://localhost:8283/", "http", "127.0.0.1", false },
        { "http://app.example", "http", "localhost", false },
        { "https://app.example.evil", "http", "localhost", false },
        { "https://evil.example", "http", "localhost", false },
        { "null", "http", "localhost", false },
        { "", "http", "localhost", false },
        { "http://", "http", "", false },
        { "*", "http", "localhost", false },
    };
    const loci_str allowed = LOCI_STR("https://app.example, null,");
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        bool got = loci_guard_origin(loci_str_from(cases[i].origin), loci_str_from(cases[i].scheme),
                                     loci_str_from(cases[i].host), allowed);
        if (got != cases[i].want) fail_msg("%s at %s", cases[i].origin, cases[i].host);
    }
}

static void content_types(void **state)
{
    static const struct {
        const char *type;
        bool want;
    } cases[] = {
        { "application/json", true },
        { "Application/JSON", true },
        { " application/json ; charset=utf-8", true },
        { "application/json;charset=\"UTF-8\"", true },
        { "application/json;", true },
        { "application/json; charset=latin1", false },
        { "application/json; charset", false },
        { "application/json; charset=utf-8; x=y", false },
        { "application/json; boundary=x", false },
        { "application/jsonp", false },
        { "application/x-www-form-urlencoded", false },
        { "text/plain", false },
        { "text/plain; application/json", false },
        { "", false },
        { ";", false },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        if (loci_guard_json_type(loci_str_from(cases[i].type)) != cases[i].want)
            fail_msg("'%s'", cases[i].type);
    assert_false(loci_guard_json_type((loci_str){ NULL, 0 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts),
        cmocka_unit_test(long_hosts),
        cmocka_unit_test(origins),
        cmocka_unit_test(content_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
