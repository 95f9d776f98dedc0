#include "fake.h"

#include "embed/make.h"

enum { CHUNK = 16 };

static loci_embed_service *service;
static loci_arena *arena;

static int setup(void **state)
{
    loci_embedder_options e = { .name = "fake" };
    loci_embedder *embedder = NULL;

    if (fake_setup(state) || fake_open(&e, &embedder, NULL)) return -1;
    arena = loci_arena_new(64 << 20);
    return !arena || loci_embed_service_new(embedder, NULL, &service, NULL) ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    loci_embed_service_free(service);
    loci_arena_free(arena);
    return 0;
}

/* `words` words of a letter, in sentences of five. */
static loci_str words(size_t count)
{
    loci_buf b;

    loci_buf_init_arena(&b, arena, 1 << 20);
    for (size_t i = 0; i < count; i++)
        loci_buf_printf(&b, "%sw%zu%s", i ? " " : "", i, i % 5 == 4 ? "." : "");
    return loci_buf_str(&b);
}

/* Up to the size one vector, for all of the text; one more token, and there are chunks, each with
 * the vector of its own bytes. */
static void long_texts_have_chunks(void **state)
{
    static const struct {
        size_t words, least, most, overlap;
    } cases[] = {
        /* clang-format off */
        { 1, 1, 1, 0 }, { CHUNK, 1, 1, 0 }, { CHUNK + 1, 2, 2, 0 }, { 5 * CHUNK, 5, 7, 0 },
        { 5 * CHUNK, 5, 12, 4 }, { 2000, 125, 160, 0 },
        /* clang-format on */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_make_item item = { .text = words(cases[i].words) };
        loci_make_options o = { .tokens = CHUNK, .overlap = cases[i].overlap };
        size_t end = 0;
        loci_make_vectors(service, &o, &item, 1, arena);
        assert_ok(item.rc, item.err);
        assert_in_range(item.vectors.count, cases[i].least, cases[i].most);
        for (size_t j = 0; j < item.vectors.count; j++) {
            const loci_vector *v = &item.vectors.items[j];
            float want[FAKE_DIM];
            assert_true(v->start <= end && v->start + v->len > end);
            end = v->start + v->len;
            fake_vector("fake", loci_str_sub(item.text, v->start, v->len), want);
            assert_memory_equal(v->values, want, sizeof want);
        }
        assert_int_equal(end, item.text.len);
    }
}

/* A chunk is never larger than what the model reads, and a text has so many at most. */
static void sizes_have_limits(void **state)
{
    loci_make_item item = { .text = words(FAKE_TOKENS - 2) };
    loci_make_options o = { 0 };
    (void)state;

    loci_make_vectors(service, &o, &item, 1, arena);
    assert_int_equal(item.vectors.count, 1);
    item.text = words(FAKE_TOKENS - 1);
    loci_make_vectors(service, &o, &item, 1, arena);
    assert_int_equal(item.vectors.count, 2);
    item.text = words(LOCI_VECTOR_CHUNKS * 10);
    o.tokens = 8;
    loci_make_vectors(service, &o, &item, 1, arena);
    assert_ok(item.rc, item.err);
    assert_int_equal(item.vectors.count, LOCI_VECTOR_CHUNKS);
}

static void a_bad_text_fails_alone(void **state)
{
    loci_make_item items[5] = { { .text = LOCI_STR("a") },
                                { .text = LOCI_STR("b") },
                                { .text = LOCI_STR(FAKE_POISON) },
                                { .text = words(3 * CHUNK) },
                                { .text = LOCI_STR("d") } };
    loci_make_options o = { .tokens = CHUNK };
    (void)state;

    loci_make_vectors(service, &o, items, LOCI_COUNT(items), arena);
    for (size_t i = 0; i < LOCI_COUNT(items); i++)
        assert_int_equal(items[i].rc, i == 2 ? LOCI_EINVAL : LOCI_OK);
    assert_non_null(strstr(items[2].err.msg, "does not like"));
    assert_int_equal(items[3].vectors.count >= 3, 1);
}

/* An embedder that is away is asked once, however many texts there are. */
static void a_dead_embedder_fails_all(void **state)
{
    loci_make_item items[3] = { { .text = words(100) },
                                { .text = words(20) },
                                { .text = words(1) } };
    loci_make_options o = { .tokens = CHUNK };
    (void)state;

    fake_reset();
    fake->fail = LOCI_EUNAVAILABLE;
    loci_make_vectors(service, &o, items, 3, arena);
    for (size_t i = 0; i < 3; i++) assert_int_equal(items[i].rc, LOCI_EUNAVAILABLE);
    assert_int_equal(fake->calls, 1);
    fake_reset();
}

static loci_rc stop_at_second(void *arg, loci_err *err)
{
    int *n = arg;

    return ++*n == 2 ? loci_fail(err, LOCI_ECONFLICT, "stop") : LOCI_OK;
}

/* Between passes somebody may end it: what is done stays done. */
static void a_tick_can_end_it(void **state)
{
    static char large[3][40 << 10];
    loci_make_item items[3];
    int n = 0;
    loci_make_options o = { .tokens = CHUNK, .tick = stop_at_second, .arg = &n };
    (void)state;

    for (size_t i = 0; i < 3; i++) {
        memset(large[i], 'a' + (int)i, sizeof large[i]);
        items[i] = (loci_make_item){ .text = { large[i], sizeof large[i] } };
    }
    loci_make_vectors(service, &o, items, 3, arena);
    assert_int_equal(items[0].rc, LOCI_OK);
    assert_int_equal(items[1].rc, LOCI_OK);
    assert_int_equal(items[2].rc, LOCI_ECONFLICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_texts_have_chunks), cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(a_bad_text_fails_alone), cmocka_unit_test(a_dead_embedder_fails_all),
        cmocka_unit_test(a_tick_can_end_it),
    };
    return cmocka_run_group_tests_name("embed/make", tests, setup, teardown);
}
