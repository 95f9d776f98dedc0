/* The smaller readers of what packages ship, and the outer face of the converter. */
#include "synthetic.h"

#include "embed/safetensors.h"
#include "embed/vocab.h"

#include <string.h>

static loci_str with_length(loci_arena *arena, const char *json, loci_str data)
{
    uint64_t len = strlen(json);
    char *file = loci_arena_alloc(arena, 8 + len + data.len);
    assert_non_null(file);
    memcpy(file, &len, 8);
    memcpy(file + 8, json, len);
    memcpy(file + 8 + len, data.ptr, data.len);
    return (loci_str){ file, 8 + len + data.len };
}

static void half_precision_is_exact(void **state)
{
    static const uint16_t halves[] = { 0x3c00, 0xc000, 0x0001, 0x7bff, 0x3555, 0x8000 };
    static const float want[] = { 1, -2, 5.9604645e-8F, 65504, 0.33325195F, -0.0F };
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    loci_str file = with_length(arena,
                                "{\"__metadata__\":{\"a\":\"b\"},\"w\":{\"dtype\":\"F16\","
                                "\"shape\":[2,3],\"data_offsets\":[0,12]}}",
                                (loci_str){ (const char *)halves, sizeof halves });
    loci_tensor_set set;
    const loci_tensor *t;
    loci_err err = { 0 };
    float got[6];
    (void)state;

    assert_ok(loci_safetensors_read(file, arena, &set, &err), err);
    assert_int_equal(set.count, 1);
    assert_ok(loci_tensor_get(&set, "w", 2, 3, &t, &err), err);
    assert_false(t->flipped);
    loci_tensor_floats(t, got);
    assert_memory_equal(got, want, sizeof want);
}

static void bad_tables_are_refused(void **state)
{
    static const char *const tables[] = {
        "[]",
        "{\"w\":3}",
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,17]}}",
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[8,4]}}",
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,16]}}",
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[-4],\"data_offsets\":[0,16]}}",
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[99999999,99999999],\"data_offsets\":[0,16]}}",
        "{\"w\":",
    };
    static const char data[16];
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(tables); i++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
        loci_tensor_set set = { .count = 99 };
        loci_str file = with_length(arena, tables[i], (loci_str){ data, sizeof data });
        assert_int_not_equal(loci_safetensors_read(file, arena, &set, NULL), LOCI_OK);
        assert_int_equal(set.count, 99);
        for (size_t len = 0; len < 9; len++)
            assert_int_not_equal(
                loci_safetensors_read(loci_str_sub(file, 0, len), arena, &set, NULL), LOCI_OK);
    }
}

static void vocabularies_of_both_forms_are_read(void **state)
{
    static const struct {
        const char *file;
        loci_rc want;
    } cases[] = {
        { "a\nb\nc\n", LOCI_OK },
        { "a\r\nb\r\nc", LOCI_OK },
        { "{\"model\":{\"vocab\":{\"c\":2,\"a\":0,\"b\":1}}}", LOCI_OK },
        { "a\nb\n", LOCI_ECORRUPT },                                    /* too few */
        { "a\n\nc\n", LOCI_ECORRUPT },                                  /* an empty line */
        { "{\"model\":{\"vocab\":{\"c\":2,\"a\":0}}}", LOCI_ECORRUPT }, /* id 1 is missing */
        { "{\"model\":{\"vocab\":{\"c\":2,\"a\":2,\"b\":1}}}", LOCI_ECORRUPT }, /* doubled */
        { "{\"model\":{\"vocab\":{\"c\":3,\"a\":0,\"b\":1}}}", LOCI_ECORRUPT },
        { "{\"model\":[]}", LOCI_ECORRUPT },
        { "{\"model\"", LOCI_ESHAPE },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
        loci_str lines = { 0 };
        loci_err err = { 0 };
        assert_int_equal(loci_vocab_lines(loci_str_from(cases[i].file), 3, arena, &lines, &err),
                         cases[i].want);
        if (!cases[i].want) assert_str(lines, "a\nb\nc\n");
    }
}

static void unknown_files_are_named(void **state)
{
    synthetic s;
    loci_err err = { 0 };
    loci_model_info info;
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_F32);
    loci_convert_job job = { s.path, s.path, "/tmp/never", LOCI_WEIGHTS_I8 };
    assert_int_equal(loci_convert_file(&job, &info, &err), LOCI_ENOTFOUND);
    assert_non_null(strstr(err.msg, "sha256"));
    job.source = "/tmp/loci-no-such-file";
    assert_int_equal(loci_convert_file(&job, &info, &err), LOCI_ENOTFOUND);
    assert_non_null(strstr(err.msg, job.source));
    assert_true(loci_convert_known(
        LOCI_STR("398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3"), &info));
    assert_string_equal(info.name, "gte-small");
    synthetic_done(&s);
}

static void a_missing_tensor_leaves_the_old_file(void **state)
{
    synthetic s;
    loci_model *model = NULL;
    loci_err err = { 0 };
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_F32);
    s.set.count -= 3; /* norms of the last layer */
    assert_int_equal(loci_convert_write(&s.set, &s.info, s.lines, s.path, &err), LOCI_ENOTFOUND);
    assert_non_null(strstr(err.msg, "encoder.layer.1."));
    assert_ok(loci_model_open(s.path, &model, &err), err);
    loci_model_close(model);
    assert_int_equal(loci_convert_write(&s.set, &s.info, LOCI_STR("a\n"), s.path, &err),
                     LOCI_ECORRUPT); /* 50 words are wanted */
    synthetic_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(half_precision_is_exact),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(vocabularies_of_both_forms_are_read),
        cmocka_unit_test(unknown_files_are_named),
        cmocka_unit_test(a_missing_tensor_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
