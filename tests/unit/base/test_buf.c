#include "base/alloc.h"
#include "base/buf.h"
#include "test.h"

#include <string.h>
#include <wchar.h>

static void builds_text(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf b;
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&b, 1000);
    assert_str(loci_buf_str(&b), "");
    loci_buf_add(&b, LOCI_STR("one"));
    loci_buf_add_char(&b, ' ');
    loci_buf_printf(&b, "%05d", 42);
    loci_buf_add_cstr(&b, "!");
    loci_buf_add(&b, (loci_str){ NULL, 0 });
    char *room = loci_buf_reserve(&b, 3);
    memcpy(room, "abc", 3);
    loci_buf_advance(&b, 2);
    assert_str(loci_buf_str(&b), "one 00042!ab");
    assert_string_equal(b.ptr, "one 00042!ab");
    loci_buf_cut(&b, 3);
    assert_string_equal(b.ptr, "one");
    assert_ok(loci_buf_check(&b, &err), err);
}

static void stops_at_its_maximum(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf b;
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&b, 10);
    loci_buf_add(&b, LOCI_STR("0123456789"));
    assert_ok(loci_buf_check(&b, &err), err);
    loci_buf_add(&b, LOCI_STR(""));
    assert_ok(loci_buf_check(&b, &err), err);
    loci_buf_add_char(&b, 'x');
    loci_buf_clear(&b);
    loci_buf_add(&b, LOCI_STR("01234567"));
    loci_buf_printf(&b, "%d", 123);
    assert_int_equal(loci_buf_check(&b, &err), LOCI_ELIMIT);
    assert_string_equal(err.msg, "text longer than 10 bytes");
    loci_buf_add_char(&b, 'x'); /* sticky: room for one, and still refused */
    assert_str(loci_buf_str(&b), "01234567");
    assert_null(loci_buf_take(&b));
}

static void tells_out_of_memory(void **state)
{
    loci_buf b;
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&b, 1000);
    loci_alloc_fail_at(1);
    loci_buf_add(&b, LOCI_STR("x"));
    loci_alloc_fail_at(0);
    assert_int_equal(loci_buf_check(&b, &err), LOCI_ENOMEM);
    loci_buf_done(&b);
}

static void lives_in_an_arena(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *a = loci_arena_new(8192);
    loci_buf b;
    (void)state;

    loci_buf_init_arena(&b, a, 1 << 20);
    for (int i = 0; i < 100; i++) loci_buf_add(&b, LOCI_STR("0123456789"));
    assert_int_equal(loci_buf_check(&b, NULL), LOCI_OK);
    assert_int_equal(b.len, 1000);
    for (int i = 0; i < 1000; i++) loci_buf_add(&b, LOCI_STR("0123456789"));
    loci_err err = { 0 };
    assert_int_equal(loci_buf_check(&b, &err), LOCI_ELIMIT);
    assert_string_equal(err.msg, "needs more than the 8192 bytes that one request may use");

    loci_arena_reset(a); /* its own maximum is another matter */
    loci_buf_init_arena(&b, a, 10);
    loci_buf_add(&b, LOCI_STR("01234567890"));
    assert_int_equal(loci_buf_check(&b, &err), LOCI_ELIMIT);
    assert_string_equal(err.msg, "text longer than 10 bytes");
}

static void tells_what_cannot_be_printed(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf b;
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&b, 1000);
    loci_buf_add(&b, LOCI_STR("one"));
    loci_buf_printf(&b, "%lc", (wint_t)0x7FFFFFF0); /* no character anywhere */
    loci_buf_add(&b, LOCI_STR("two"));
    assert_int_equal(loci_buf_check(&b, &err), LOCI_EINVAL);
    assert_str(loci_buf_str(&b), "one");
    loci_buf_clear(&b);
    assert_ok(loci_buf_check(&b, &err), err);
}

static void hands_over(void **state)
{
    loci_buf b;
    (void)state;

    loci_buf_init(&b, 100);
    loci_buf_add(&b, LOCI_STR("mine"));
    LOCI_AUTO(loci_freep) char *text = loci_buf_take(&b);
    assert_string_equal(text, "mine");
    assert_null(b.ptr);
    loci_buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builds_text),
        cmocka_unit_test(stops_at_its_maximum),
        cmocka_unit_test(tells_out_of_memory),
        cmocka_unit_test(lives_in_an_arena),
        cmocka_unit_test(tells_what_cannot_be_printed),
        cmocka_unit_test(hands_over),
    };
    return cmocka_run_group_tests_name("base/buf", tests, NULL, NULL);
}
