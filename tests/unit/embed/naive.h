/* tests/unit/embed/naive.h -- the forward pass as one would write it first, in double precision. */
#ifndef LOCI_TEST_NAIVE_H
#define LOCI_TEST_NAIVE_H

#include "synthetic.h"

enum { NAIVE_TOKENS = 140, NAIVE_WIDTH = 128 };

typedef double naive_rows[NAIVE_TOKENS][NAIVE_WIDTH];

static inline const float *naive_tensor(const synthetic *s, int layer, const char *rest)
{
    char name[128];
    if (layer < 0)
        (void)snprintf(name, sizeof name, "%s", rest);
    else
        (void)snprintf(name, sizeof name, "encoder.layer.%d.%s", layer, rest);
    const loci_tensor *t = loci_tensor_find(&s->set, loci_str_from(name));
    assert_non_null(t);
    return (const float *)(const void *)t->data.ptr;
}

/* to = from * W + b */
static inline void naive_dense(const synthetic *s, int layer, const char *name, naive_rows from,
                               size_t rows, size_t in, size_t out, naive_rows to)
{
    char part[64];
    (void)snprintf(part, sizeof part, "%s.weight", name);
    const float *w = naive_tensor(s, layer, part);
    (void)snprintf(part, sizeof part, "%s.bias", name);
    const float *bias = naive_tensor(s, layer, part);

    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < out; j++) {
            double sum = (double)bias[j];
            for (size_t i = 0; i < in; i++) sum += from[r][i] * (double)w[i * out + j];
            to[r][j] = sum;
        }
}

static inline void naive_norm(const synthetic *s, int layer, const char *name, naive_rows x,
                              size_t rows)
{
    char part[64];
    size_t n = s->info.hidden;
    (void)snprintf(part, sizeof part, "%s.weight", name);
    const float *weight = naive_tensor(s, layer, part);
    (void)snprintf(part, sizeof part, "%s.bias", name);
    const float *bias = naive_tensor(s, layer, part);

    for (size_t r = 0; r < rows; r++) {
        double mean = 0, variance = 0;
        for (size_t i = 0; i < n; i++) mean += x[r][i] / (double)n;
        for (size_t i = 0; i < n; i++) variance += pow(x[r][i] - mean, 2) / (double)n;
        for (size_t i = 0; i < n; i++)
            x[r][i] =
                (x[r][i] - mean) / sqrt(variance + 1e-12) * (double)weight[i] + (double)bias[i];
    }
}

static inline void naive_attention(const synthetic *s, naive_rows q, naive_rows k, naive_rows v,
                                   size_t rows, naive_rows to)
{
    size_t size = s->info.hidden / s->info.heads;

    for (size_t h = 0; h < s->info.hidden; h += size)
        for (size_t r = 0; r < rows; r++) {
            double weight[NAIVE_TOKENS], total = 0;
            for (size_t c = 0; c < rows; c++) {
                double dot = 0;
                for (size_t i = h; i < h + size; i++) dot += q[r][i] * k[c][i];
                total += weight[c] = exp(dot / sqrt((double)size));
            }
            for (size_t i = h; i < h + size; i++) {
                to[r][i] = 0;
                for (size_t c = 0; c < rows; c++) to[r][i] += weight[c] / total * v[c][i];
            }
        }
}

static inline void naive_layer(const synthetic *s, int layer, naive_rows x, size_t rows)
{
    static naive_rows q, k, v, a, b;
    size_t hidden = s->info.hidden, ffn = s->info.ffn;

    naive_dense(s, layer, "attention.self.query", x, rows, hidden, hidden, q);
    naive_dense(s, layer, "attention.self.key", x, rows, hidden, hidden, k);
    naive_dense(s, layer, "attention.self.value", x, rows, hidden, hidden, v);
    naive_attention(s, q, k, v, rows, a);
    naive_dense(s, layer, "attention.output.dense", a, rows, hidden, hidden, b);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < hidden; i++) x[r][i] += b[r][i];
    naive_norm(s, layer, "attention.output.LayerNorm", x, rows);
    naive_dense(s, layer, "intermediate.dense", x, rows, hidden, ffn, a);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < ffn; i++) a[r][i] *= 0.5 * (1 + erf(a[r][i] / sqrt(2)));
    naive_dense(s, layer, "output.dense", a, rows, ffn, hidden, b);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < hidden; i++) x[r][i] += b[r][i];
    naive_norm(s, layer, "output.LayerNorm", x, rows);
}

static inline void naive_forward(const synthetic *s, loci_ids text, double *ret)
{
    static naive_rows x;
    const float *word = naive_tensor(s, -1, "embeddings.word_embeddings.weight");
    const float *position = naive_tensor(s, -1, "embeddings.position_embeddings.weight");
    const float *segment = naive_tensor(s, -1, "embeddings.token_type_embeddings.weight");
    size_t n = s->info.hidden;
    double squares = 0;

    for (size_t r = 0; r < text.count; r++)
        for (size_t i = 0; i < n; i++)
            x[r][i] = (double)word[text.ids[r] * n + i] + (double)position[r * n + i] +
                      (double)segment[i];
    naive_norm(s, -1, "embeddings.LayerNorm", x, text.count);
    for (uint32_t i = 0; i < s->info.layers; i++) naive_layer(s, (int)i, x, text.count);

    for (size_t i = 0; i < n; i++) {
        ret[i] = x[0][i];
        for (size_t r = 1; s->info.pooling == LOCI_POOL_MEAN && r < text.count; r++)
            ret[i] += x[r][i];
        squares += ret[i] * ret[i];
    }
    for (size_t i = 0; i < n; i++) ret[i] /= sqrt(squares);
}

#endif
