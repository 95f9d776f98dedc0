#include "synthetic.h"

#include "base/alloc.h"
#include "embed/embed.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

enum { HIDDEN = 64, THREADS = 6 };

static char folder[] = "/tmp/loci-models-XXXXXX";
static const loci_embedder_options options = { .model_dir = folder };

/* default.locim in a folder of its own; questions are marked with a prefix. */
static int make_folder(void **state)
{
    static synthetic s;

    if (!mkdtemp(folder)) return -1;
    synthetic_init(&s, 2, LOCI_POOL_MEAN);
    (void)snprintf(s.info.query_prefix, sizeof s.info.query_prefix, "a b: ");
    (void)unlink(s.path);
    (void)snprintf(s.path, sizeof s.path, "%s/default.locim", folder);
    synthetic_write(&s, LOCI_WEIGHTS_I8);
    *state = &s;
    return 0;
}

static int remove_folder(void **state)
{
    synthetic_done(*state);
    return rmdir(folder);
}

static void embed(loci_embedder *e, loci_embed_kind kind, const char *text, float *ret)
{
    loci_err err = { 0 };
    loci_str s = loci_str_from(text);
    assert_ok(loci_embedder_embed(e, kind, &s, 1, ret, &err), err);
}

static void texts_get_vectors(void **state)
{
    loci_embedder *e = NULL;
    loci_err err = { 0 };
    float one[HIDDEN], two[HIDDEN], length = 0;
    (void)state;

    assert_ok(loci_embedder_open(&options, &e, &err), err);
    const loci_embedder_info *info = loci_embedder_get_info(e);
    assert_int_equal(info->dim, HIDDEN);
    assert_int_equal(info->max_tokens, 130);
    assert_string_equal(info->model, "synthetic");
    assert_non_null(strstr(info->id, "synthetic/int8"));

    embed(e, LOCI_EMBED_DOCUMENT, "", one); /* no text is a text */
    for (size_t i = 0; i < HIDDEN; i++) length += one[i] * one[i];
    assert_true(fabsf(length - 1) < 1e-5F);
    embed(e, LOCI_EMBED_DOCUMENT, "abc word20", one);
    embed(e, LOCI_EMBED_DOCUMENT, "ABC  Word20\t", two); /* the same tokens */
    assert_memory_equal(one, two, sizeof one);
    embed(e, LOCI_EMBED_QUERY, "abc word20", two);
    assert_memory_not_equal(one, two, sizeof one);
    embed(e, LOCI_EMBED_DOCUMENT, "a b: abc word20", one); /* the prefix, written out */
    assert_memory_equal(one, two, sizeof one);
    loci_embedder_close(e);
}

static void many_texts_are_the_same_as_each(void **state)
{
    enum { MANY = 150 };
    static char texts[MANY][400];
    static float together[MANY * HIDDEN], alone[HIDDEN];
    loci_str slices[MANY];
    loci_embedder *e = NULL;
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_embedder_open(&options, &e, &err), err);
    for (size_t i = 0; i < MANY; i++) { /* the longest are longer than the window */
        for (size_t j = 0; j < i % 190; j++) texts[i][2 * j] = "abc"[(i + j) % 3];
        for (size_t j = 0; j < i % 190; j++) texts[i][2 * j + 1] = ' ';
        slices[i] = loci_str_from(texts[i]);
    }
    assert_ok(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, slices, MANY, together, &err), err);
    for (size_t i = 0; i < MANY; i += 7) {
        embed(e, LOCI_EMBED_DOCUMENT, texts[i], alone);
        assert_memory_equal(alone, together + i * HIDDEN, sizeof alone);
    }
    assert_memory_equal(together + 140 * HIDDEN, together + 143 * HIDDEN, sizeof alone);
    loci_embedder_close(e);
}

static void tokens_have_places(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    loci_embedder *e = NULL;
    loci_tokens tokens;
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_embedder_open(&options, &e, &err), err);
    assert_ok(loci_embedder_tokens(e, LOCI_STR("ab  word12 zz"), arena, &tokens, &err), err);
    assert_int_equal(tokens.count, 4); /* a ##b word12 [UNK] */
    assert_int_equal(tokens.items[2].id, 12);
    assert_int_equal(tokens.items[2].start, 4);
    assert_int_equal(tokens.items[2].end, 10);
    loci_embedder_close(e);
}

static void names_and_folders_that_are_wrong(void **state)
{
    static const struct {
        loci_embedder_options options;
        loci_rc want;
        const char *says;
    } cases[] = {
        { { .name = "open-sesame" }, LOCI_EINVAL, "builtin:fast" },
        { { .name = "builtin:fast", .model_dir = folder }, LOCI_ENOTFOUND, "make setup" },
        { { .model_dir = "/tmp/loci-no-such-folder" }, LOCI_ENOTFOUND, "/tmp/loci-no-such-folder" },
        { { .model_dir = folder, .passes = 65 }, LOCI_EINVAL, "65" },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_embedder *e = NULL;
        loci_err err = { 0 };
        assert_int_equal(loci_embedder_open(&cases[i].options, &e, &err), cases[i].want);
        assert_non_null(strstr(err.msg, cases[i].says));
        assert_null(e);
    }
}

static void missing_memory_is_an_error(void **state)
{
    (void)state;
    for (unsigned long n = 1;; n++) {
        loci_embedder *e = NULL;
        float vector[HIDDEN];
        loci_str text = LOCI_STR("abc word20");
        loci_err err = { 0 };

        (void)loci_alloc_fail_at(n);
        loci_rc rc = loci_embedder_open(&options, &e, &err);
        if (!rc) rc = loci_embedder_embed(e, LOCI_EMBED_QUERY, &text, 1, vector, &err);
        (void)loci_alloc_fail_at(0);
        loci_embedder_close(e);
        if (!rc) {
            assert_true(n > 5);
            break;
        }
        assert_true(rc == LOCI_ENOMEM || rc == LOCI_ELIMIT || rc == LOCI_ENOTFOUND);
    }
}

typedef struct worker {
    loci_embedder *e;
    float vector[HIDDEN];
    loci_rc rc;
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    loci_str text = LOCI_STR("abc word20 c c c b");
    for (int i = 0; i < 20 && !w->rc; i++)
        w->rc = loci_embedder_embed(w->e, LOCI_EMBED_DOCUMENT, &text, 1, w->vector, NULL);
    return NULL;
}

/* More threads than passes: they wait for each other and all get the same vector. */
static void threads_share_an_embedder(void **state)
{
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    loci_embedder *e = NULL;
    loci_err err = { 0 };
    (void)state;

    assert_ok(loci_embedder_open(&options, &e, &err), err);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].e = e;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].rc, LOCI_OK);
        assert_memory_equal(workers[i].vector, workers[0].vector, sizeof workers[0].vector);
    }
    loci_embedder_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_get_vectors),
        cmocka_unit_test(many_texts_are_the_same_as_each),
        cmocka_unit_test(tokens_have_places),
        cmocka_unit_test(names_and_folders_that_are_wrong),
        cmocka_unit_test(missing_memory_is_an_error),
        cmocka_unit_test(threads_share_an_embedder),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
