/* Numbers against the C library: integers against strtoll, others against strtod, bit by bit. */
#include "base/json.h"
#include "test.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { ROUNDS = 150000, CEILING = 4 << 20 };

static uint64_t seed = 0x9E3779B97F4A7C15;

static uint64_t roll(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* What the C library says that `number` is. False when nothing can hold it. */
static bool by_library(const char *number, loci_json *ret)
{
    errno = 0;
    if (strpbrk(number, ".eE")) {
        *ret = (loci_json){ .type = LOCI_JSON_REAL, .real = strtod(number, NULL) };
        return isfinite(ret->real);
    }
    *ret = (loci_json){ .type = LOCI_JSON_INT, .integer = strtoll(number, NULL, 10) };
    return errno != ERANGE;
}

static void check(loci_arena *arena, const char *number)
{
    const loci_json *got = NULL;
    loci_json want;
    loci_err err = { 0 };

    loci_arena_reset(arena);
    loci_rc rc = loci_json_parse(arena, loci_str_from(number), &got, &err);
    if (!by_library(number, &want)) {
        if (rc != LOCI_ESHAPE) fail_msg("%.100s is out of range, got %d", number, rc);
        return;
    }
    if (rc != LOCI_OK) fail_msg("%.100s: %s", number, err.msg);
    assert_int_equal(got->type, want.type);
    if (memcmp(&got->integer, &want.integer, sizeof want.integer) != 0)
        fail_msg("%.100s: got %.17g or %lld", number, got->real, (long long)got->integer);
}

static void edges(void **state)
{
    static const char *const cases[] = {
        "0",
        "-0",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "9999999999999999999",
        "10000000000000000000",
        "18446744073709551615",
        "18446744073709551616",
        "18446744073709551617",
        "0.0",
        "-0.0",
        "0e5",
        "-0.000e-9999999999999999999999",
        "0e99999999999999999999999",
        "1.0",
        "123.456",
        "9007199254740992.0",
        "9007199254740993.0",
        "9007199254740993e0",
        "9007199254740992e22",
        "9007199254740992e-22",
        "9007199254740993e22",
        "1e22",
        "1e23",
        "1e-22",
        "1e-23",
        "123456789012345e22",
        "8.5e22",
        "5e-324",
        "2e-324",
        "2.4703282292062328e-324",
        "2.4703282292062327e-324",
        "1e-400",
        "-1e-400",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "-1e309",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0.000000000000000000000000000000000000000000000000001e60",
        "100000000000000000000000000000000000000000000000000000000000000000000000e-70",
        "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017"
        "977587207096330286416692887910946555547851940402630657488671505820681908902000708383676273"
        "854845817711531764475730270069855571366959622842914819860834936475292719074168444365510704"
        "342711559699508093042880.0",
        "0.50000000000000011102230246251565404236316680908203125",
        "0.500000000000000055511151231257827021181583404541015625",
        "0.500000000000000055511151231257827021181583404541015624999999999999999999999999999999999",
        "0.500000000000000055511151231257827021181583404541015625000000000000000000000000000000001",
    };
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) check(arena, cases[i]);
}

/* Many places and a far exponent, which must not cancel out when the exponent was cut. */
static void far_exponents(void **state)
{
    static const char *const exponents[] = { "100000",
                                             "100001",
                                             "100330",
                                             "1000000000",
                                             "99999999999",
                                             "1099511627776",
                                             "10995116277760000",
                                             "-5" };
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    LOCI_AUTO(loci_buf_done) loci_buf b;
    (void)state;

    loci_buf_init(&b, CEILING);
    for (size_t i = 0; i < LOCI_COUNT(exponents); i++) {
        loci_buf_clear(&b);
        loci_buf_add_cstr(&b, "0.");
        for (size_t k = 0; k < 100000; k++) loci_buf_add_char(&b, '0');
        loci_buf_printf(&b, "17e%s", exponents[i]);
        check(arena, b.ptr);
    }
}

static void random_digits(char *out, size_t most)
{
    size_t count = 1 + roll() % most;

    for (size_t i = 0; i < count; i++) out[i] = (char)('0' + roll() % 10);
    if (count > 1 && out[0] == '0') out[0] = '1';
    out[count] = '\0';
}

static void random_integer(char *out, size_t size)
{
    char digits[32];

    random_digits(digits, 21);
    (void)snprintf(out, size, "%s%s", roll() % 2 ? "-" : "", digits);
}

/* Digits, places and exponent of any size, often at the border of what is done the fast way. */
static void random_decimal(char *out, size_t size)
{
    char whole[32], places[32] = "", exponent[16] = "";
    uint64_t r = roll();

    random_digits(whole, r % 4 ? 17 : 25);
    if (r / 4 % 4) random_digits(places, r / 16 % 4 ? 8 : 25);
    int range = r / 64 % 2 ? 25 : 340;
    if (!places[0] || r / 128 % 2)
        (void)snprintf(exponent, sizeof exponent, "e%d",
                       (int)(roll() % (uint64_t)(2 * range)) - range);
    (void)snprintf(out, size, "%s%s%s%s%s", roll() % 2 ? "-" : "", whole, places[0] ? "." : "",
                   places, exponent);
}

/* A double, or the exact middle between two, in so many digits that nothing is lost. */
static void random_middle(char *out, size_t size)
{
    double low = ldexp((double)(roll() >> 11 | UINT64_C(1) << 52), (int)(roll() % 60) - 80);
    double high = nextafter(low, INFINITY);
    long double middle = ((long double)low + (roll() % 2 ? high : low)) / 2;

    (void)snprintf(out, size, roll() % 2 ? "%.90Lf" : "%.70Le", middle);
}

static void random_numbers(void **state)
{
    static void (*const makers[])(char *, size_t) = { random_integer, random_decimal,
                                                      random_decimal, random_middle };
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    const char *longer = getenv("LOCI_TEST_ROUNDS"); /* more than the quick run */
    long rounds = longer ? strtol(longer, NULL, 10) : ROUNDS;
    (void)state;

    for (long i = 0; i < rounds; i++) {
        char number[256];
        makers[roll() % LOCI_COUNT(makers)](number, sizeof number);
        check(arena, number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges),
        cmocka_unit_test(far_exponents),
        cmocka_unit_test(random_numbers),
    };
    return cmocka_run_group_tests_name("base/json_number", tests, NULL, NULL);
}
