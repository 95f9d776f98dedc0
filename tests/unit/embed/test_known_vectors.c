/* The start of five vectors that ONNX Runtime 1.30.0 made of the same weights. Skipped where set-up
 * made no model: the file is looked for in the build folder. */
#include "test.h"

#include "embed/embed.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char *const sentences[] = {
    "The cat sat on the mat.",
    "A kitten was resting on the rug.",
    "When did Caroline go to the LGBTQ support group?",
    "Stock prices fell sharply after the central bank's decision.",
    "Café Zoë in 東京 costs 12.50€ — naïve résumé!",
};

typedef struct known {
    const char *model;
    size_t sentence;
    float start[8];
} known;

static const known table[] = {
    /* clang-format off */
    { "gte-small", 0, { +0.00102F, -0.03794F, +0.01905F, +0.04165F, -0.00750F, +0.04082F, +0.08305F, +0.10116F } },
    { "gte-small", 1, { -0.03838F, -0.01965F, +0.06616F, +0.07435F, +0.00644F, +0.02477F, +0.06979F, +0.06774F } },
    { "gte-small", 2, { -0.00019F, -0.00720F, +0.06729F, -0.02554F, +0.00801F, +0.10028F, +0.04983F, +0.04287F } },
    { "gte-small", 3, { -0.00549F, -0.02158F, -0.00213F, +0.02726F, +0.03088F, +0.01452F, +0.03011F, +0.05203F } },
    { "gte-small", 4, { -0.04550F, +0.00262F, +0.06351F, +0.00817F, +0.03014F, +0.02279F, +0.03714F, +0.04203F } },
    { "bge-small-en-v1.5", 0, { +0.02699F, -0.00409F, +0.00162F, +0.06808F, -0.03999F, -0.00451F, +0.08291F, +0.08915F } },
    { "bge-small-en-v1.5", 2, { +0.03111F, -0.01516F, +0.06075F, -0.01455F, -0.01072F, +0.10307F, +0.00873F, +0.02846F } },
    { "all-MiniLM-L6-v2", 0, { +0.13024F, -0.01577F, -0.03672F, +0.05799F, -0.05979F, +0.03305F, +0.03012F, +0.02893F } },
    { "all-MiniLM-L6-v2", 2, { -0.00812F, +0.01394F, -0.04245F, +0.09817F, -0.05317F, +0.03876F, -0.02049F, -0.08520F } },
    /* clang-format on */
};

/* <build>/models, from <build>/tests/unit/test-embed-known-vectors. */
static const char *model_folder(void)
{
    static char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 32);

    if (len < 0) return NULL;
    path[len] = 0;
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = 0;
    }
    memcpy(path + strlen(path), "/models", sizeof "/models");
    return path;
}

/* Two vectors of length 1 with cosine c differ by 2 (1 - c) in the sum of squares. The least that
 * 8-bit weights must reach is .99, which is a root mean square of .0072 for each of 384 values; the
 * eight that are known are held to that. A wrong vector is at about .07. */
static void check_start(const known *k, const float *vector)
{
    double squares = 0;

    for (size_t j = 0; j < 8; j++) squares += pow((double)vector[j] - (double)k->start[j], 2);
    double got = sqrt(squares / 8), most = sqrt(2 * (1 - 0.99) / 384);
    if (!(got < most))
        fail_msg("%s, sentence %zu: off by %f, at most %f", k->model, k->sentence + 1, got, most);
}

static void check(loci_embedder *e)
{
    size_t checked = 0;

    for (size_t i = 0; i < LOCI_COUNT(table); i++) {
        static float vector[4096];
        loci_str text = loci_str_from(sentences[table[i].sentence]);
        loci_err err = { 0 };

        if (strcmp(table[i].model, loci_embedder_get_info(e)->model) != 0) continue;
        assert_ok(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, &text, 1, vector, &err), err);
        check_start(&table[i], vector);
        checked++;
    }
    assert_true(checked >= 2);
}

static void check_name(const char *name)
{
    LOCI_AUTO(loci_embedder_closep) loci_embedder *e = NULL;
    loci_embedder_options options = { .name = name, .model_dir = model_folder() };
    loci_err err = { 0 };
    loci_rc rc = loci_embedder_open(&options, &e, &err);

    if (rc == LOCI_ENOTFOUND && strcmp(name, "builtin:fast") == 0) return; /* it is optional */
    assert_ok(rc, err);
    check(e);
}

static void the_default_model_gives_its_vectors(void **state)
{
    (void)state;
    check_name("builtin");
}

static void the_fast_model_gives_its_vectors(void **state)
{
    (void)state;
    check_name("builtin:fast");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_model_gives_its_vectors),
        cmocka_unit_test(the_fast_model_gives_its_vectors),
    };
    LOCI_AUTO(loci_embedder_closep) loci_embedder *e = NULL;

    if (loci_embedder_open(&(loci_embedder_options){ .model_dir = model_folder() }, &e, NULL) ==
        LOCI_ENOTFOUND) {
        (void)printf("1..0 # SKIP no model in the build folder: run tools/setup-models\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
