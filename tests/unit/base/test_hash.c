#include "base/alloc.h"
#include "base/hash.h"
#include "test.h"

#include <string.h>

/* FIPS 180-4 examples and the long message of a million 'a'. */
static const struct {
    loci_hash_kind kind;
    const char *in;
    const char *want;
} vectors[] = {
    { LOCI_SHA256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { LOCI_SHA256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { LOCI_SHA256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    { LOCI_SHA1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
    { LOCI_SHA1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
    { LOCI_SHA1, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
};

static void gives_the_standard_digests(void **state)
{
    char hex[LOCI_HASH_HEX_MAX];
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(vectors); i++) {
        assert_ok(loci_hash_hex(vectors[i].kind, loci_str_from(vectors[i].in), hex, &err), err);
        assert_string_equal(hex, vectors[i].want);
    }
    assert_ok(loci_hash_hex(LOCI_SHA1, (loci_str){ NULL, 0 }, hex, &err), err);
    assert_string_equal(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

/* Each text in pieces of every size, with one hash used again and again. */
static void pieces_make_the_same(void **state)
{
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(vectors); i++) {
        LOCI_AUTO(loci_hash_freep) loci_hash *hash = NULL;
        loci_str in = loci_str_from(vectors[i].in);
        uint8_t digest[LOCI_HASH_MAX];
        char hex[LOCI_HASH_HEX_MAX];

        assert_ok(loci_hash_new(vectors[i].kind, &hash, &err), err);
        for (size_t step = 1; step < 60; step++) {
            for (size_t at = 0; at < in.len; at += step)
                loci_hash_add(hash, loci_str_sub(in, at, step));
            assert_ok(loci_hash_end(hash, digest, &err), err);
            loci_hash_to_hex(digest, loci_hash_len(vectors[i].kind), hex);
            assert_string_equal(hex, vectors[i].want);
        }
    }
}

static void hashes_a_million_letters(void **state)
{
    static char thousand[1000];
    LOCI_AUTO(loci_hash_freep) loci_hash *hash = NULL;
    uint8_t digest[LOCI_HASH_MAX];
    char hex[LOCI_HASH_HEX_MAX];
    loci_err err = { 0 };
    (void)state;

    memset(thousand, 'a', sizeof thousand);
    assert_ok(loci_hash_new(LOCI_SHA256, &hash, &err), err);
    for (int i = 0; i < 1000; i++) loci_hash_add(hash, (loci_str){ thousand, sizeof thousand });
    assert_ok(loci_hash_end(hash, digest, &err), err);
    loci_hash_to_hex(digest, LOCI_SHA256_LEN, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void compares_secrets(void **state)
{
    (void)state;
    assert_true(loci_hash_same(LOCI_STR("secret"), LOCI_STR("secret")));
    assert_false(loci_hash_same(LOCI_STR("secret"), LOCI_STR("secreT")));
    assert_false(loci_hash_same(LOCI_STR("secret"), LOCI_STR("Secret")));
    assert_false(loci_hash_same(LOCI_STR("secret"), LOCI_STR("secre")));
    assert_false(loci_hash_same(LOCI_STR("a\0b"), LOCI_STR("a\0c")));
    assert_true(loci_hash_same((loci_str){ NULL, 0 }, LOCI_STR("")));
}

static void bears_no_memory(void **state)
{
    loci_hash *hash = NULL;
    loci_err err = { 0 };
    (void)state;

    (void)loci_alloc_fail_at(1);
    loci_rc rc = loci_hash_new(LOCI_SHA256, &hash, &err);
    (void)loci_alloc_fail_at(0);
    assert_int_equal(rc, LOCI_ENOMEM);
    assert_null(hash);
    loci_hash_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_standard_digests),
        cmocka_unit_test(pieces_make_the_same),
        cmocka_unit_test(hashes_a_million_letters),
        cmocka_unit_test(compares_secrets),
        cmocka_unit_test(bears_no_memory),
    };
    return cmocka_run_group_tests_name("base/hash", tests, NULL, NULL);
}
