#include "api/auth.h"
#include "api/status.h"
#include "test.h"

static void wants_the_password(void **state)
{
    static const struct {
        const char *password, *authorization, *bare;
        loci_rc want;
    } cases[] = {
        { "", NULL, NULL, LOCI_OK }, /* nobody is asked */
        { "", "Bearer whatever", NULL, LOCI_OK },
        { "secret", NULL, NULL, LOCI_EAUTH },
        { "secret", "Bearer secret", NULL, LOCI_OK },
        { "secret", "bearer  secret ", NULL, LOCI_OK },
        { "secret", "Bearer secre", NULL, LOCI_EAUTH },
        { "secret", "Bearer secrets", NULL, LOCI_EAUTH },
        { "secret", "Bearer", NULL, LOCI_EAUTH },
        { "secret", "Bearersecret", NULL, LOCI_EAUTH },
        { "secret", "Basic secret", NULL, LOCI_EAUTH },
        { "secret", "secret", NULL, LOCI_EAUTH },
        { "secret", NULL, "password secret", LOCI_OK },
        { "secret", NULL, "secret", LOCI_EAUTH },
        { "secret", "Bearer wrong", "password secret", LOCI_OK },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_credentials given = { loci_str_from(cases[i].authorization),
                                   loci_str_from(cases[i].bare) };
        loci_err err = { 0 };
        assert_int_equal(loci_auth_check(loci_str_from(cases[i].password), &given, &err),
                         cases[i].want);
        if (cases[i].want) assert_string_equal(err.msg, "Unauthorized");
    }
}

static void maps_every_code(void **state)
{
    (void)state;
    assert_int_equal(loci_status_http(LOCI_OK), 200);
    assert_int_equal(loci_status_http(LOCI_ESHAPE), 422);
    assert_int_equal(loci_status_http(LOCI_EBUSY), 429);
    assert_int_equal(loci_status_http(LOCI_ECORRUPT), 500);
    assert_int_equal(loci_status_http((loci_rc)999), 500);
    for (int code = LOCI_EINVAL; code <= LOCI_ECORRUPT; code++)
        assert_true(loci_status_http((loci_rc)code) >= 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wants_the_password),
        cmocka_unit_test(maps_every_code),
    };
    return cmocka_run_group_tests_name("api/auth", tests, NULL, NULL);
}
