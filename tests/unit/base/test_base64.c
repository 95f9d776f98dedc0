#include "base/base64.h"
#include "test.h"

/* RFC 4648 section 10, and bytes that tell the two alphabets apart. */
static const struct {
    const char *bytes;
    const char *standard;
    const char *url;
} vectors[] = {
    { "", "", "" },
    { "f", "Zg==", "Zg" },
    { "fo", "Zm8=", "Zm8" },
    { "foo", "Zm9v", "Zm9v" },
    { "foob", "Zm9vYg==", "Zm9vYg" },
    { "fooba", "Zm9vYmE=", "Zm9vYmE" },
    { "foobar", "Zm9vYmFy", "Zm9vYmFy" },
    { "\xFB\xEF\xBE\xFF\xFF", "++++//8=", "----__8" },
};

static void goes_there_and_back(void **state)
{
    loci_err err = { 0 };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(vectors); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_buf_init(&out, 100);

        loci_base64_encode(LOCI_BASE64, loci_str_from(vectors[i].bytes), &out);
        assert_str(loci_buf_str(&out), vectors[i].standard);
        loci_buf_clear(&out);
        loci_base64_encode(LOCI_BASE64_URL, loci_str_from(vectors[i].bytes), &out);
        assert_str(loci_buf_str(&out), vectors[i].url);
        loci_buf_clear(&out);
        assert_ok(loci_base64_decode(LOCI_BASE64, loci_str_from(vectors[i].standard), &out, &err),
                  err);
        assert_str(loci_buf_str(&out), vectors[i].bytes);
        loci_buf_clear(&out);
        assert_ok(loci_base64_decode(LOCI_BASE64_URL, loci_str_from(vectors[i].url), &out, &err),
                  err);
        assert_str(loci_buf_str(&out), vectors[i].bytes);
    }
}

static void refuses_what_it_never_writes(void **state)
{
    static const struct {
        loci_base64_form form;
        const char *text;
    } cases[] = {
        { LOCI_BASE64, "Zg" },         /* padding missing */
        { LOCI_BASE64, "Zg=" },        /* half of it */
        { LOCI_BASE64, "Zg===" },      /* too much */
        { LOCI_BASE64, "Z===" },       /* a lone digit */
        { LOCI_BASE64, "====" },       /* nothing but padding */
        { LOCI_BASE64, "Zm8=Zm8=" },   /* padding inside */
        { LOCI_BASE64, "Zh==" },       /* four bits left over */
        { LOCI_BASE64, "Zm9=" },       /* two bits left over */
        { LOCI_BASE64, "Zm9v\n" },     /* blanks */
        { LOCI_BASE64, "Zm 9" },       /* blanks inside */
        { LOCI_BASE64, "----" },       /* the other alphabet */
        { LOCI_BASE64, "Zm9\xC3" },    /* not ASCII */
        { LOCI_BASE64_URL, "++//" },   /* the other alphabet */
        { LOCI_BASE64_URL, "Zg==" },   /* padded */
        { LOCI_BASE64_URL, "Z" },      /* a lone digit */
        { LOCI_BASE64_URL, "Zm9vY" },  /* a lone digit at the end */
        { LOCI_BASE64_URL, "Zm9vYh" }, /* bits left over */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_buf_done) loci_buf out;
        loci_err err = { 0 };
        loci_buf_init(&out, 100);

        assert_int_equal(
            loci_base64_decode(cases[i].form, loci_str_from(cases[i].text), &out, &err),
            LOCI_EINVAL);
        assert_int_equal(err.code, LOCI_EINVAL);
        assert_int_equal(out.len, 0);
    }
}

static void keeps_the_buffers_maximum(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf out;
    loci_err err = { 0 };
    (void)state;

    loci_buf_init(&out, 5);
    assert_int_equal(loci_base64_decode(LOCI_BASE64, LOCI_STR("Zm9vYmFy"), &out, &err),
                     LOCI_ELIMIT);
    loci_buf_clear(&out);
    loci_base64_encode(LOCI_BASE64, LOCI_STR("foobar"), &out);
    assert_int_equal(loci_buf_check(&out, &err), LOCI_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_there_and_back),
        cmocka_unit_test(refuses_what_it_never_writes),
        cmocka_unit_test(keeps_the_buffers_maximum),
    };
    return cmocka_run_group_tests_name("base/base64", tests, NULL, NULL);
}
