#include "base/err.h"
#include "test.h"

#include <string.h>

static loci_rc refuse(loci_err *err)
{
    return loci_fail(err, LOCI_EINVAL, "limit must be 1..%d, not %d", 10, 11);
}

static void fills_and_returns(void **state)
{
    loci_err err = { 0 };
    (void)state;

    assert_int_equal(refuse(&err), LOCI_EINVAL);
    assert_int_equal(err.code, LOCI_EINVAL);
    assert_string_equal(err.msg, "limit must be 1..10, not 11");
    assert_int_equal(refuse(NULL), LOCI_EINVAL);
    loci_err_prefix(&err, "block %s", "persona");
    assert_string_equal(err.msg, "block persona: limit must be 1..10, not 11");
    loci_err_prefix(NULL, "nothing");
}

/* Whatever the length, a cut message ends between characters. */
static void cuts_between_characters(void **state)
{
    static const char *const chars[] = { "a", "é", "€", "😀" };
    char text[600];
    (void)state;

    for (size_t c = 0; c < LOCI_COUNT(chars); c++) {
        for (size_t shift = 0; shift < 5; shift++) {
            size_t unit = strlen(chars[c]), n = shift;
            memset(text, 'x', shift);
            while (n + unit < sizeof text) memcpy(text + n, chars[c], unit), n += unit;
            text[n] = '\0';
            loci_err err = { 0 };
            loci_err_set(&err, LOCI_EIO, "%s", text);
            assert_int_equal((strlen(err.msg) - shift) % unit, 0);
            assert_true(strlen(err.msg) > 240);
            loci_err_prefix(&err, "%s", "p");
            assert_int_equal((strlen(err.msg) - shift - 3) % unit, 0);
        }
    }
}

static void names_every_code(void **state)
{
    (void)state;
    assert_string_equal(loci_rc_name(LOCI_OK), "ok");
    assert_string_equal(loci_rc_name(LOCI_ENOTFOUND), "not_found");
    assert_string_equal(loci_rc_name((loci_rc)999), "internal");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_and_returns),
        cmocka_unit_test(cuts_between_characters),
        cmocka_unit_test(names_every_code),
    };
    return cmocka_run_group_tests_name("base/err", tests, NULL, NULL);
}
