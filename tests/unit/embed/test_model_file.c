#include "synthetic.h"

#include "base/alloc.h"
#include "embed/model_form.h"
#include "text/wordpiece.h"

static char *whole; /* the bytes of a good file */
static size_t whole_len;

static void read_whole(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    whole = loci_realloc(whole, 4 << 20);
    assert_non_null(whole);
    whole_len = fread(whole, 1, 4 << 20, file);
    (void)fclose(file);
}

static void write_part(const char *path, size_t len)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(whole, 1, len, file), len);
    (void)fclose(file);
}

/* Change one byte of the file where it stands; the same call again changes it back. */
static void flip(const char *path, size_t at)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    whole[at] ^= 0x10;
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fwrite(whole + at, 1, 1, file), 1);
    (void)fclose(file);
}

/* Open, and touch every block: what a process does that uses the whole model. */
static loci_rc use(const char *path, loci_err *err)
{
    LOCI_AUTO(loci_model_closep) loci_model *model = NULL;
    loci_model_tables tables;
    loci_model_layer layer;
    loci_str lines;

    loci_rc rc = loci_model_open(path, &model, err);
    if (!rc) rc = loci_model_get_vocab(model, &lines, err);
    if (!rc) rc = loci_model_get_tables(model, &tables, err);
    for (size_t i = 0; i < 2 && !rc; i++) rc = loci_model_get_layer(model, i, &layer, err);
    return rc;
}

static void assert_refused(const char *path, loci_rc want)
{
    loci_err err = { 0 };
    assert_int_equal(use(path, &err), want);
    assert_non_null(strstr(err.msg, path));
    assert_non_null(strstr(err.msg, "make setup"));
}

static void what_was_written_is_read(void **state)
{
    synthetic s;
    loci_model *model = NULL;
    loci_model_tables tables;
    loci_wordpiece wp;
    loci_str table;
    loci_err err = { 0 };
    loci_model_layer layer;
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_CLS);
    synthetic_write(&s, LOCI_WEIGHTS_I8);
    assert_ok(loci_model_open(s.path, &model, &err), err);
    assert_memory_equal(loci_model_get_info(model), &s.info, sizeof s.info);
    assert_ok(loci_model_get_vocab(model, &table, &err), err);
    assert_ok(loci_wordpiece_init(&wp, table.ptr, table.len, &err), err);
    assert_int_equal(wp.sep, 3);
    assert_int_equal(loci_dict_find(&wp.vocabulary, "word49", 6), 49);
    assert_ok(loci_model_get_tables(model, &tables, &err), err);
    assert_true(tables.i8 && !tables.f32);
    assert_int_equal(loci_model_get_layer(model, 2, &layer, &err), LOCI_EINVAL);
    loci_model_close(model);
    synthetic_done(&s);
}

static void a_changed_byte_anywhere_is_noticed(void **state)
{
    synthetic s;
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_I8);
    read_whole(s.path);
    const model_page *page = (const model_page *)(const void *)whole;
    size_t blocks = page->blocks, starts[8];
    for (size_t i = 0; i < blocks; i++) starts[i] = page->block[i].offset;
    starts[blocks] = whole_len;

    for (size_t at = 8; at < LOCI_MODEL_PAGE; at += at < sizeof(model_page) ? 5 : 97) {
        if (at >= 8 && at < 12) continue; /* the version has a message of its own */
        flip(s.path, at);
        assert_refused(s.path, LOCI_ECORRUPT);
        flip(s.path, at);
    }
    for (size_t i = 0; i < blocks; i++) {
        size_t len = starts[i + 1] - starts[i], where[] = { 0, 1, len / 3, len - 1 };
        for (size_t j = 0; j < LOCI_COUNT(where); j++) {
            flip(s.path, starts[i] + where[j]);
            assert_refused(s.path, LOCI_ECORRUPT);
            flip(s.path, starts[i] + where[j]);
        }
    }
    synthetic_done(&s);
}

static void a_cut_or_longer_file_is_noticed(void **state)
{
    synthetic s;
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_F32);
    read_whole(s.path);
    for (size_t len = 0; len < whole_len; len += len < 5000 ? 499 : 20011) {
        write_part(s.path, len);
        assert_refused(s.path, LOCI_ECORRUPT);
    }
    write_part(s.path, whole_len - 1);
    assert_refused(s.path, LOCI_ECORRUPT);
    write_part(s.path, whole_len + 64);
    assert_refused(s.path, LOCI_ECORRUPT);
    synthetic_done(&s);
}

static void foreign_and_newer_files_are_named(void **state)
{
    synthetic s;
    loci_err err = { 0 };
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_F32);
    read_whole(s.path);
    whole[8] = 2;
    write_part(s.path, whole_len);
    assert_refused(s.path, LOCI_ENOSYS);
    whole[0] = 'X';
    write_part(s.path, whole_len);
    assert_refused(s.path, LOCI_ECORRUPT);
    (void)unlink(s.path);
    assert_refused(s.path, LOCI_ENOTFOUND);
    assert_int_equal(use("/tmp", &err), LOCI_ECORRUPT); /* a folder */
    synthetic_done(&s);
}

/* Descriptions that no program of ours writes, with a checksum that is right. */
static void senseless_descriptions_are_refused(void **state)
{
    synthetic s;
    union {
        model_page page;
        char bytes[LOCI_MODEL_PAGE];
    } good, bad;
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_F32);
    read_whole(s.path);
    memcpy(&good, whole, sizeof good);
    for (int i = 0; i < 14; i++) {
        loci_err err = { 0 };
        loci_model_info *info = &bad.page.info;
        memcpy(&bad, &good, sizeof bad);
        switch (i) {
        /* clang-format off */
        case 0: info->layers = 0; break;
        case 1: info->layers = 65; break;
        case 2: info->hidden = 48; break;
        case 3: info->heads = 3; break;
        case 4: info->heads = 0; break;
        case 5: info->ffn = 1 << 30; break;
        case 6: info->vocab = 0; break;
        case 7: info->max_tokens = 141; break;
        case 8: info->pooling = 3; break;
        case 9: info->weights = 0; break;
        case 10: info->norm_eps = NAN; break;
        case 11: memset(info->name, 'x', sizeof info->name); break;
        case 12: bad.page.blocks = 6; break;
        default: bad.page.block[2].offset += 64; break;
            /* clang-format on */
        }
        bad.page.crc = model_page_crc(&bad);
        assert_int_equal(loci_model_check_page(&bad, whole_len, "x", &err), LOCI_ECORRUPT);
    }
    good.page.crc = model_page_crc(&good);
    assert_int_equal(loci_model_check_page(&good, whole_len, "x", NULL), LOCI_OK);
    synthetic_done(&s);
}

/* A writer that does not finish leaves the old file and nothing else. */
static void an_unfinished_file_leaves_no_trace(void **state)
{
    synthetic s;
    loci_model_writer *writer = NULL;
    loci_err err = { 0 };
    char temporary[128];
    (void)state;

    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    synthetic_write(&s, LOCI_WEIGHTS_F32);
    assert_ok(loci_model_writer_open(s.path, &s.info, &writer, &err), err);
    assert_ok(loci_model_writer_add(writer, "x", 1, &err), err);
    assert_int_equal(loci_model_writer_finish(writer, &err), LOCI_ECORRUPT); /* blocks missing */
    (void)snprintf(temporary, sizeof temporary, "%s.%ld.tmp", s.path, (long)getpid());
    assert_int_equal(access(temporary, F_OK), 0);
    loci_model_writer_close(writer);
    assert_int_not_equal(access(temporary, F_OK), 0);
    assert_ok(use(s.path, &err), err);
    assert_int_equal(loci_model_writer_open("/nonexistent/x", &s.info, &writer, &err), LOCI_EIO);
    synthetic_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(a_changed_byte_anywhere_is_noticed),
        cmocka_unit_test(a_cut_or_longer_file_is_noticed),
        cmocka_unit_test(foreign_and_newer_files_are_named),
        cmocka_unit_test(senseless_descriptions_are_refused),
        cmocka_unit_test(an_unfinished_file_leaves_no_trace),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    loci_free(whole);
    return failed;
}
