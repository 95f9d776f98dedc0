/* tests/unit/embed/synthetic.h -- a tiny random model, and the forward pass written naively. */
#ifndef LOCI_TEST_SYNTHETIC_H
#define LOCI_TEST_SYNTHETIC_H

#include "test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "embed/convert.h"
#include "embed/forward.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_TENSORS = 64 };

typedef struct synthetic {
    loci_arena *arena;
    loci_model_info info;
    loci_tensor_set set;
    loci_str lines;
    char path[64];
} synthetic;

static inline float synthetic_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (float)(int32_t)*state / 2147483648.0F;
}

static inline float *synthetic_add(synthetic *s, const char *name, size_t rows, size_t columns,
                                   float range, float middle)
{
    static uint32_t seed = 77;
    size_t count = rows * (columns ? columns : 1);
    float *values = loci_arena_array(s->arena, count, sizeof *values);
    loci_str copy = loci_arena_str(s->arena, loci_str_from(name));

    assert_non_null(values);
    for (size_t i = 0; i < count; i++) values[i] = middle + range * synthetic_random(&seed);
    assert_true(s->set.count < MOST_TENSORS);
    s->set.items[s->set.count++] = (loci_tensor){
        .name = copy,
        .type = LOCI_TENSOR_F32,
        .flipped = columns != 0,
        .rank = columns ? 2 : 1,
        .dims = { rows, columns },
        .count = count,
        .data = { (const char *)values, count * sizeof *values },
    };
    return values;
}

static inline void synthetic_layer(synthetic *s, uint32_t layer)
{
    static const struct {
        const char *name;
        int in, out;
    } parts[] = {
        { "attention.self.query", 0, 0 }, { "attention.self.key", 0, 0 },
        { "attention.self.value", 0, 0 }, { "attention.output.dense", 0, 0 },
        { "intermediate.dense", 0, 1 },   { "output.dense", 1, 0 },
    };
    static const char *const norms[] = { "attention.output.LayerNorm", "output.LayerNorm" };
    size_t width[2] = { s->info.hidden, s->info.ffn };
    char name[128];

    for (size_t i = 0; i < LOCI_COUNT(parts); i++) {
        (void)snprintf(name, sizeof name, "encoder.layer.%u.%s.weight", layer, parts[i].name);
        (void)synthetic_add(s, name, width[parts[i].in], width[parts[i].out], 0.2F, 0);
        (void)snprintf(name, sizeof name, "encoder.layer.%u.%s.bias", layer, parts[i].name);
        (void)synthetic_add(s, name, width[parts[i].out], 0, 0.1F, 0);
    }
    for (size_t i = 0; i < LOCI_COUNT(norms); i++) {
        (void)snprintf(name, sizeof name, "encoder.layer.%u.%s.weight", layer, norms[i]);
        (void)synthetic_add(s, name, s->info.hidden, 0, 0.3F, 1);
        (void)snprintf(name, sizeof name, "encoder.layer.%u.%s.bias", layer, norms[i]);
        (void)synthetic_add(s, name, s->info.hidden, 0, 0.2F, 0);
    }
}

/* Two layers of width 64, one or two heads. */
static inline void synthetic_init(synthetic *s, uint32_t heads, loci_pooling pooling)
{
    loci_buf words;
    int fd;

    *s = (synthetic){ .info = { .name = "synthetic",
                                .layers = 2,
                                .hidden = 64,
                                .heads = heads,
                                .ffn = 128,
                                .vocab = 50,
                                .positions = 140,
                                .max_tokens = 130,
                                .pooling = pooling,
                                .weights = LOCI_WEIGHTS_F32,
                                .norm_eps = 1e-12F } };
    s->arena = loci_arena_new(8 << 20);
    assert_non_null(s->arena);
    s->set.items = loci_arena_array(s->arena, MOST_TENSORS, sizeof *s->set.items);
    (void)synthetic_add(s, "embeddings.word_embeddings.weight", 50, 64, 1, 0);
    (void)synthetic_add(s, "embeddings.position_embeddings.weight", 140, 64, 0.3F, 0);
    (void)synthetic_add(s, "embeddings.token_type_embeddings.weight", 2, 64, 0.3F, 0);
    (void)synthetic_add(s, "embeddings.LayerNorm.weight", 64, 0, 0.3F, 1);
    (void)synthetic_add(s, "embeddings.LayerNorm.bias", 64, 0, 0.3F, 0);
    for (uint32_t i = 0; i < 2; i++) synthetic_layer(s, i);

    loci_buf_init_arena(&words, s->arena, 4096);
    loci_buf_add_cstr(&words, "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nc\n##a\n##b\n##c\n");
    for (int i = 10; i < 50; i++) loci_buf_printf(&words, "word%d\n", i);
    s->lines = loci_buf_str(&words);
    (void)snprintf(s->path, sizeof s->path, "/tmp/loci-model-XXXXXX");
    fd = mkstemp(s->path);
    assert_true(fd >= 0);
    (void)close(fd);
}

static inline void synthetic_write(synthetic *s, loci_weights weights)
{
    loci_err err = { 0 };
    s->info.weights = weights;
    assert_ok(loci_convert_write(&s->set, &s->info, s->lines, s->path, &err), err);
}

static inline void synthetic_done(synthetic *s)
{
    (void)unlink(s->path);
    loci_arena_free(s->arena);
}

#endif
