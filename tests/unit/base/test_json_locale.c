/* JSON has a decimal point whatever locale the host program has set. Needs an installed locale with
 * a decimal comma; without one the whole program is reported as skipped. */
#include "base/json.h"
#include "test.h"

#include <locale.h>

static bool set_comma_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8",
                                         "ru_RU.UTF-8" };

    for (size_t i = 0; i < LOCI_COUNT(names); i++)
        if (setlocale(LC_ALL, names[i])) return strcmp(localeconv()->decimal_point, ",") == 0;
    return false;
}

static void reads_and_writes_points(void **state)
{
    /* clang-format off */
    static const struct { const char *in, *want; } cases[] = {
        { "[1.5,-2.25e-3,0.1]", "[1.5,-0.00225,0.1]" },
        { "[1,5]", "[1,5]" },
        { "[1.0,1.5e300]", "[1.0,1.5e+300]" },
        { "0.30000000000000004", "0.30000000000000004" },
    };
    /* clang-format on */
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
        LOCI_AUTO(loci_buf_done) loci_buf out;
        const loci_json *value;
        loci_json_writer w;
        loci_err err = { 0 };

        loci_buf_init(&out, 1000);
        assert_ok(loci_json_parse(arena, loci_str_from(cases[i].in), &value, &err), err);
        loci_json_begin(&w, &out);
        loci_json_value(&w, value);
        assert_ok(loci_json_check(&w, &err), err);
        assert_str(loci_buf_str(&out), cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_points),
    };
    if (!set_comma_locale()) {
        (void)printf("1..0 # SKIP no locale with a decimal comma is installed\n");
        return 0;
    }
    return cmocka_run_group_tests_name("base/json_locale", tests, NULL, NULL);
}
