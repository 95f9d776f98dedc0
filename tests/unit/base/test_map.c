#include "base/alloc.h"
#include "base/map.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { MANY = 5000 };

static loci_map *make(const loci_map_options *options)
{
    loci_map *map = NULL;
    loci_err err = { 0 };

    assert_ok(loci_map_new(options, &map, &err), err);
    return map;
}

/* The published vectors of SipHash-2-4: key 00..0f, message 00..n-1. */
static void hashes_as_published(void **state)
{
    static const uint64_t key[2] = { UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908) };
    static const struct {
        size_t len;
        uint64_t want;
    } cases[] = {
        { 0, UINT64_C(0x726fdb47dd0e0e31) },
        { 1, UINT64_C(0x74f839c593dc67fd) },
        { 8, UINT64_C(0x93f5f5799a932462) },
        { 15, UINT64_C(0xa129ca6149be45e5) },
    };
    char message[16];
    (void)state;

    for (size_t i = 0; i < sizeof message; i++) message[i] = (char)i;
    for (size_t i = 0; i < LOCI_COUNT(cases); i++)
        assert_true(loci_map_hash(key, (loci_str){ message, cases[i].len }) == cases[i].want);
}

static void finds_sets_and_takes(void **state)
{
    LOCI_AUTO(loci_map_freep) loci_map *map = make(NULL);
    int one = 1, two = 2, three = 3;
    loci_err err = { 0 };
    char key[] = "key";
    (void)state;

    assert_null(loci_map_find(map, LOCI_STR("key")));
    assert_null(loci_map_take(map, LOCI_STR("key")));
    assert_ok(loci_map_set(map, loci_str_from(key), &one, &err), err);
    key[0] = 'x'; /* the map has a copy */
    assert_ptr_equal(loci_map_find(map, LOCI_STR("key")), &one);
    assert_null(loci_map_find(map, LOCI_STR("xey")));
    assert_ok(loci_map_set(map, LOCI_STR("key"), &two, &err), err);
    assert_ok(loci_map_set(map, LOCI_STR(""), &three, &err), err);
    assert_ok(loci_map_set(map, LOCI_STR("key\0"), &one, &err), err);
    assert_int_equal(loci_map_count(map), 3);
    assert_ptr_equal(loci_map_find(map, (loci_str){ NULL, 0 }), &three);
    assert_ptr_equal(loci_map_take(map, LOCI_STR("key")), &two);
    assert_null(loci_map_find(map, LOCI_STR("key")));
    assert_ptr_equal(loci_map_find(map, LOCI_STR("key\0")), &one);
    assert_int_equal(loci_map_count(map), 2);
}

static void numbers_are_keys_too(void **state)
{
    LOCI_AUTO(loci_map_freep) loci_map *map = make(NULL);
    static int values[MANY];
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < MANY; i++)
        assert_ok(loci_map_set_u64(map, UINT64_MAX - i * 1024, &values[i], &err), err);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(loci_map_find_u64(map, UINT64_MAX - i * 1024), &values[i]);
    assert_null(loci_map_find_u64(map, 5));
    assert_ptr_equal(loci_map_take_u64(map, UINT64_MAX), &values[0]);
    assert_null(loci_map_find_u64(map, UINT64_MAX));
}

/* Against a plain array, with keys coming and going in a fixed pseudo-random order. */
static void agrees_with_an_array(void **state)
{
    LOCI_AUTO(loci_map_freep) loci_map *map = make(NULL);
    static int values[500];
    static bool present[500];
    size_t count = 0;
    uint64_t random = 42;
    char key[16];
    (void)state;

    for (int turn = 0; turn < 20000; turn++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t i = (size_t)(random >> 33) % 500;
        int n = snprintf(key, sizeof key, "key-%zu", i);
        loci_str name = { key, (size_t)n };

        assert_ptr_equal(loci_map_find(map, name), present[i] ? &values[i] : NULL);
        if (random >> 40 & 1) {
            assert_int_equal(loci_map_set(map, name, &values[i], NULL), LOCI_OK);
            count += !present[i];
            present[i] = true;
        } else {
            assert_ptr_equal(loci_map_take(map, name), present[i] ? &values[i] : NULL);
            count -= present[i];
            present[i] = false;
        }
        assert_int_equal(loci_map_count(map), count);
    }
}

static void walks_in_order(void **state)
{
    static const char *const keys[] = { "c", "a", "b", "d", "e", "f", "g", "h", "i", "j" };
    LOCI_AUTO(loci_map_freep) loci_map *map = make(&(loci_map_options){ .borrow_keys = true });
    int values[LOCI_COUNT(keys)], other;
    char seen[32] = "";
    loci_err err = { 0 };
    loci_str key;
    void *value;
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(keys); i++)
        assert_ok(loci_map_set(map, loci_str_from(keys[i]), &values[i], &err), err);
    assert_ok(loci_map_set(map, LOCI_STR("a"), &other, &err), err); /* keeps its place */
    assert_non_null(loci_map_take(map, LOCI_STR("c")));
    assert_ok(loci_map_set(map, LOCI_STR("c"), &other, &err), err); /* comes last now */
    size_t n = 0;
    for (size_t cursor = 0; loci_map_next(map, &cursor, &key, &value);) {
        seen[n++] = key.ptr[0];
        if (key.ptr[0] % 2) assert_ptr_equal(loci_map_take(map, key), value);
    }
    assert_string_equal(seen, "abdefghijc");
    assert_int_equal(loci_map_count(map), 5);
    n = 0;
    for (size_t cursor = 0; loci_map_next(map, &cursor, NULL, &value);) n++;
    assert_int_equal(n, 5);
}

static int dropped;

static void count_drop(void *value)
{
    dropped += *(int *)value;
}

static void drops_what_it_was_left(void **state)
{
    int one = 1, ten = 10, hundred = 100;
    loci_err err = { 0 };
    (void)state;

    loci_map *map = make(&(loci_map_options){ .drop = count_drop });
    assert_ok(loci_map_set(map, LOCI_STR("a"), &one, &err), err);
    assert_ok(loci_map_set(map, LOCI_STR("a"), &one, &err), err); /* the same is not dropped */
    assert_int_equal(dropped, 0);
    assert_ok(loci_map_set(map, LOCI_STR("a"), &ten, &err), err);
    assert_int_equal(dropped, 1);
    assert_ok(loci_map_set(map, LOCI_STR("b"), &hundred, &err), err);
    assert_ptr_equal(loci_map_take(map, LOCI_STR("a")), &ten); /* the caller's now */
    loci_map_free(map);
    assert_int_equal(dropped, 101);
    loci_map_free(NULL);
}

static void keeps_its_cap(void **state)
{
    LOCI_AUTO(loci_map_freep) loci_map *map = make(&(loci_map_options){ .cap = 2 });
    loci_err err = { 0 };
    int x = 0;
    (void)state;

    assert_ok(loci_map_set(map, LOCI_STR("a"), &x, &err), err);
    assert_ok(loci_map_set(map, LOCI_STR("b"), &x, &err), err);
    assert_int_equal(loci_map_set(map, LOCI_STR("c"), &x, &err), LOCI_ELIMIT);
    assert_ok(loci_map_set(map, LOCI_STR("b"), &x, &err), err);
    assert_non_null(loci_map_take(map, LOCI_STR("a")));
    assert_ok(loci_map_set(map, LOCI_STR("c"), &x, &err), err);
}

/* One key coming and going for ever needs no more room than at first. */
static void gaps_do_not_pile_up(void **state)
{
    LOCI_AUTO(loci_map_freep) loci_map *map = make(NULL);
    int x = 0;
    (void)state;

    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(loci_map_set_u64(map, i, &x, NULL), LOCI_OK);
        if (i >= 3) assert_ptr_equal(loci_map_take_u64(map, i - 3), &x);
    }
    assert_int_equal(loci_map_count(map), 3);
    size_t cursor = 0;
    void *value;
    while (loci_map_next(map, &cursor, NULL, &value)) continue;
    assert_true(cursor <= 16);
}

/* Whichever allocation fails, what was there stays and nothing leaks. */
static void bears_no_memory(void **state)
{
    static int values[40];
    bool all = false;
    (void)state;

    for (unsigned long n = 1; !all; n++) {
        LOCI_AUTO(loci_map_freep) loci_map *map = NULL;
        uint64_t i = 0;

        (void)loci_alloc_fail_at(n);
        loci_rc rc = loci_map_new(NULL, &map, NULL);
        for (; i < 40 && !rc; i++) rc = loci_map_set_u64(map, i, &values[i], NULL);
        (void)loci_alloc_fail_at(0);
        all = rc == LOCI_OK;
        if (!map) continue;
        if (rc) i--;
        assert_int_equal(loci_map_count(map), i);
        for (uint64_t j = 0; j < 40; j++)
            assert_ptr_equal(loci_map_find_u64(map, j), j < i ? &values[j] : NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_as_published),  cmocka_unit_test(finds_sets_and_takes),
        cmocka_unit_test(numbers_are_keys_too), cmocka_unit_test(agrees_with_an_array),
        cmocka_unit_test(walks_in_order),       cmocka_unit_test(drops_what_it_was_left),
        cmocka_unit_test(keeps_its_cap),        cmocka_unit_test(gaps_do_not_pile_up),
        cmocka_unit_test(bears_no_memory),
    };
    return cmocka_run_group_tests_name("base/map", tests, NULL, NULL);
}
