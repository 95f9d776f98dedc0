#include "base/alloc.h"
#include "base/arena.h"
#include "test.h"

#include <stdint.h>

static void gives_aligned_zeros(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *a = loci_arena_new(1 << 20);
    static const size_t sizes[] = { 0, 1, 15, 16, 17, 4000, 5000, 100000 };
    (void)state;

    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < LOCI_COUNT(sizes); i++) {
            unsigned char *p = loci_arena_alloc(a, sizes[i]);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 16, 0);
            for (size_t j = 0; j < sizes[i]; j++) {
                assert_int_equal(p[j], 0);
                p[j] = 0xAA; /* the next round must not see it */
            }
        }
        loci_arena_reset(a);
    }
}

static void keeps_its_ceiling(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *a = loci_arena_new(64 * 1024);
    loci_err err = { 0 };
    size_t got = 0;
    (void)state;

    while (loci_arena_alloc(a, 100)) got += 100;
    assert_true(loci_arena_used(a) <= 64 * 1024);
    assert_true(got > 32 * 1024);
    assert_int_equal(loci_arena_fail(a, &err), LOCI_ELIMIT);
    loci_arena_reset(a);
    assert_non_null(loci_arena_alloc(a, 100));
    assert_null(loci_arena_alloc(a, SIZE_MAX));
    assert_null(loci_arena_alloc(a, SIZE_MAX - 20));
    assert_null(loci_arena_array(a, SIZE_MAX / 2, 3));
}

static void grows_in_place_and_by_copy(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *a = loci_arena_new(1 << 20);
    (void)state;

    char *p = loci_arena_alloc(a, 10);
    p[9] = 'x';
    char *q = loci_arena_grow(a, p, 10, 200);
    assert_ptr_equal(p, q);
    assert_int_equal(q[9], 'x');
    assert_int_equal(q[199], 0);
    assert_non_null(loci_arena_alloc(a, 1));
    char *r = loci_arena_grow(a, q, 200, 9000);
    assert_ptr_not_equal(q, r);
    assert_int_equal(r[9], 'x');
    assert_int_equal(r[8999], 0);
    assert_non_null(loci_arena_grow(a, NULL, 0, 5));
}

static void makes_text(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *a = loci_arena_new(1 << 16);
    (void)state;

    loci_str s = loci_arena_str(a, LOCI_STR("abc"));
    assert_str(s, "abc");
    assert_int_equal(s.ptr[3], '\0');
    assert_non_null(loci_arena_str(a, (loci_str){ NULL, 0 }).ptr);
    assert_str(loci_arena_printf(a, "%d-%s", 7, "x"), "7-x");
}

static void survives_failing_allocations(void **state)
{
    loci_err err = { 0 };
    (void)state;

    loci_alloc_fail_at(1);
    assert_null(loci_arena_new(100));
    loci_alloc_fail_at(2);
    loci_arena *a = loci_arena_new(1 << 20);
    assert_non_null(a);
    assert_null(loci_arena_alloc(a, 10));
    loci_alloc_fail_at(0);
    assert_int_equal(loci_arena_fail(a, &err), LOCI_ENOMEM);
    assert_non_null(loci_arena_alloc(a, 10));
    loci_arena_free(a);
    loci_arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_aligned_zeros),          cmocka_unit_test(keeps_its_ceiling),
        cmocka_unit_test(grows_in_place_and_by_copy),   cmocka_unit_test(makes_text),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("base/arena", tests, NULL, NULL);
}
