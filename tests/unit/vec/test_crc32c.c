#include "levels.h"
#include "vec/crc32c.h"

/* The first value is the check value of the CRC catalogue; the others follow from RFC 3720 B.4. */
static void known_values(void **state)
{
    static uint8_t zeros[32], ones[32], rising[32];
    (void)state;

    for (size_t i = 0; i < 32; i++) {
        ones[i] = 0xff;
        rising[i] = (uint8_t)i;
    }
    FOR_LEVELS(level)
    {
        assert_int_equal(loci_crc32c(0, "123456789", 9), 0xe3069283U);
        assert_int_equal(loci_crc32c(0, zeros, 32), 0x8a9136aaU);
        assert_int_equal(loci_crc32c(0, ones, 32), 0x62a8ab43U);
        assert_int_equal(loci_crc32c(0, rising, 32), 0x46dd794eU);
        assert_int_equal(loci_crc32c(0, NULL, 0), 0);
    }
}

static void parts_give_the_whole(void **state)
{
    uint8_t data[100];
    uint32_t seed = 3;
    (void)state;

    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)next_random(&seed);
    (void)loci_vec_level_force(LOCI_VEC_SCALAR);
    uint32_t whole = loci_crc32c(0, data, sizeof data);
    FOR_LEVELS(level)
    for (size_t cut = 0; cut <= sizeof data; cut++)
        assert_int_equal(loci_crc32c(loci_crc32c(0, data, cut), data + cut, sizeof data - cut),
                         whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(parts_give_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
