#include "text/dict.h"

#include "base/alloc.h"
#include "test.h"

static const loci_str words[] = {
    { "cat", 3 }, { "dog", 3 }, { "a\0b", 3 }, { "\xff", 1 }, { "catalogue of long words", 23 },
};

static loci_rc build(const loci_str *list, size_t count, loci_buf *out, loci_err *err)
{
    loci_buf_init(out, 1 << 20);
    return loci_dict_build(list, count, LOCI_DICT_WORDPIECE, out, err);
}

static void finds_every_word_and_no_other(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf block;
    loci_err err = { 0 };
    loci_dict dict;
    (void)state;

    assert_ok(build(words, LOCI_COUNT(words), &block, &err), err);
    assert_ok(loci_dict_init(&dict, block.ptr, block.len, LOCI_DICT_WORDPIECE, &err), err);
    assert_ok(loci_dict_verify(&dict, &err), err);
    assert_int_equal(dict.count, LOCI_COUNT(words));
    assert_int_equal(dict.longest, 23);
    for (uint32_t i = 0; i < LOCI_COUNT(words); i++) {
        assert_int_equal(loci_dict_find(&dict, words[i].ptr, words[i].len), i);
        assert_true(loci_str_eq(loci_dict_get(&dict, i), words[i]));
    }
    assert_true(loci_dict_find(&dict, "ca", 2) == LOCI_DICT_NONE);
    assert_true(loci_dict_find(&dict, "", 0) == LOCI_DICT_NONE);
    assert_true(loci_dict_find(&dict, "a\0c", 3) == LOCI_DICT_NONE);
    assert_str(loci_dict_get(&dict, 5), "");
}

static void holds_many_words(void **state)
{
    enum { MANY = 20000 };
    LOCI_AUTO(loci_freep) uint32_t *bytes = loci_zalloc(MANY * sizeof *bytes);
    LOCI_AUTO(loci_freep) loci_str *list = loci_zalloc(MANY * sizeof *list);
    LOCI_AUTO(loci_buf_done) loci_buf block;
    loci_err err = { 0 };
    loci_dict dict;
    (void)state;

    assert_true(bytes && list);
    for (uint32_t i = 0; i < MANY; i++) {
        bytes[i] = i * 2654435761U;
        list[i] = (loci_str){ (const char *)&bytes[i], 4 };
    }
    assert_ok(build(list, MANY, &block, &err), err);
    assert_ok(loci_dict_init(&dict, block.ptr, block.len, LOCI_DICT_WORDPIECE, &err), err);
    assert_true(dict.probes < 100); /* a bad hash would show here */
    for (uint32_t i = 0; i < MANY; i++) assert_int_equal(loci_dict_find(&dict, &bytes[i], 4), i);
}

static void refuses_bad_lists(void **state)
{
    static const loci_str doubled[] = { { "a", 1 }, { "b", 1 }, { "a", 1 } };
    static const loci_str empty[] = { { "a", 1 }, { "", 0 } };
    static char text[LOCI_DICT_WORD_BYTES + 1];
    const loci_str longer = { text, sizeof text };
    LOCI_AUTO(loci_buf_done) loci_buf block;
    (void)state;

    assert_int_equal(build(doubled, 3, &block, NULL), LOCI_EINVAL);
    assert_int_equal(build(empty, 2, &block, NULL), LOCI_EINVAL);
    assert_int_equal(build(empty, 0, &block, NULL), LOCI_ELIMIT);
    assert_int_equal(build(&longer, 1, &block, NULL), LOCI_ELIMIT);
    assert_int_equal(block.len, 0);
}

/* Whatever byte is changed: the header is refused at open, the rest by verify, and looking up in
 * an unverified table stays inside it. */
static void notices_damage(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf block;
    loci_err err = { 0 };
    loci_dict dict;
    (void)state;

    assert_ok(build(words, LOCI_COUNT(words), &block, &err), err);
    for (size_t i = 0; i < block.len; i++) {
        block.ptr[i] = (char)(block.ptr[i] ^ 0x55);
        loci_rc rc = loci_dict_init(&dict, block.ptr, block.len, LOCI_DICT_WORDPIECE, NULL);
        assert_int_equal(rc, i < 56 ? LOCI_ECORRUPT : LOCI_OK);
        if (!rc) {
            assert_int_equal(loci_dict_verify(&dict, NULL), LOCI_ECORRUPT);
            for (size_t k = 0; k < LOCI_COUNT(words); k++)
                (void)loci_dict_find(&dict, words[k].ptr, words[k].len);
        }
        block.ptr[i] = (char)(block.ptr[i] ^ 0x55);
    }
    for (size_t len = 0; len < block.len; len++)
        assert_int_equal(loci_dict_init(&dict, block.ptr, len, LOCI_DICT_WORDPIECE, NULL),
                         LOCI_ECORRUPT);
    assert_int_equal(loci_dict_init(&dict, block.ptr, block.len, LOCI_DICT_O200K, NULL),
                     LOCI_ECORRUPT);
}

static void lies_on_a_border(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf block;
    loci_err err = { 0 };
    loci_dict dict;
    (void)state;

    assert_ok(build(words, LOCI_COUNT(words), &block, &err), err);
    assert_int_equal(block.len % LOCI_DICT_ALIGN, 0);
    assert_int_equal(loci_dict_init(&dict, block.ptr + 1, block.len - 1, LOCI_DICT_WORDPIECE, NULL),
                     LOCI_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_word_and_no_other),
        cmocka_unit_test(holds_many_words),
        cmocka_unit_test(refuses_bad_lists),
        cmocka_unit_test(notices_damage),
        cmocka_unit_test(lies_on_a_border),
    };
    return cmocka_run_group_tests_name("text/dict", tests, NULL, NULL);
}
