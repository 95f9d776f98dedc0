/* A pass keeps the rows of all texts of a batch one below the other, for the matrix products; only
 * attention looks at each text alone. Rows go through the products in slabs of SLAB, so that what
 * one product writes is still in the second-level cache when the next one reads it, and weights
 * are read once per slab.
 *
 * Queries, keys and values are written by head: for each 32 columns a block of rows x 32, in which
 * a text's rows are neighbours. Scores are made for SLAB queries at a time against all keys of
 * the text, whose transposed panels are made once per head.
 *
 * With 8-bit weights the input of each product is quantised row by row (vec/ops.h); attention
 * itself, norms and GELU stay in single precision. */
#include "embed/forward.h"

#include "base/alloc.h"
#include "vec/matmul.h"
#include "vec/matmul_i8.h"
#include "vec/ops.h"

#include <math.h>
#include <string.h>

enum { SLAB = 96, BATCH_TOKENS = 1024, ALIGN = 64 };

struct loci_forward {
    loci_model *model;
    const loci_model_info *info;
    size_t room;        /* rows: BATCH_TOKENS, or the longest text */
    float *x;           /* room x hidden: what goes from layer to layer */
    float *qkv;         /* 3 * hidden / 32 blocks of room x 32 */
    float *context;     /* room x hidden: what attention gives */
    float *inner;       /* SLAB x ffn */
    float *keys;        /* one head's keys, transposed into panels */
    float *scores;      /* SLAB x longest text */
    uint8_t *quantised; /* SLAB x the wider of hidden and ffn */
    float *scale;       /* SLAB */
    int32_t *zero;      /* SLAB */
    char *memory;       /* what all of the above point into */
};

static size_t round_up(size_t n, size_t step)
{
    return (n + step - 1) / step * step;
}

/* Cut the scratch memory into parts; with `base` NULL only its size is found. */
static size_t lay_out(loci_forward *p, char *base)
{
    const loci_model_info *i = p->info;
    size_t longest = round_up(i->max_tokens, LOCI_PANEL), used = 0;
    size_t wider = i->ffn > i->hidden ? i->ffn : i->hidden;
    const struct {
        void **part;
        size_t bytes;
    } parts[] = {
        { (void **)&p->x, p->room * i->hidden * sizeof(float) },
        { (void **)&p->qkv, p->room * i->hidden * 3 * sizeof(float) },
        { (void **)&p->context, p->room * i->hidden * sizeof(float) },
        { (void **)&p->inner, (size_t)SLAB * i->ffn * sizeof(float) },
        { (void **)&p->keys, longest * (i->hidden / i->heads) * sizeof(float) },
        { (void **)&p->scores, SLAB * longest * sizeof(float) },
        { (void **)&p->quantised, SLAB * wider },
        { (void **)&p->scale, SLAB * sizeof(float) },
        { (void **)&p->zero, SLAB * sizeof(int32_t) },
    };

    for (size_t n = 0; n < LOCI_COUNT(parts); n++) {
        if (base) *parts[n].part = base + used;
        used += round_up(parts[n].bytes, ALIGN);
    }
    return used;
}

loci_rc loci_forward_new(loci_model *model, loci_forward **ret_pass, loci_err *err)
{
    LOCI_AUTO(loci_forward_freep) loci_forward *p = loci_zalloc(sizeof *p);
    if (!p) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    p->model = model;
    p->info = loci_model_get_info(model);
    p->room = p->info->max_tokens > BATCH_TOKENS ? p->info->max_tokens : BATCH_TOKENS;
    p->memory = loci_zalloc(lay_out(p, NULL) + ALIGN);
    if (!p->memory) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    (void)lay_out(p, p->memory + (ALIGN - (uintptr_t)p->memory % ALIGN));

    *ret_pass = LOCI_TAKE(p);
    return LOCI_OK;
}

void loci_forward_free(loci_forward *p)
{
    if (!p) return;
    loci_free(p->memory);
    loci_free(p);
}

/* Where a product's result goes. */
typedef struct target {
    float *c;
    size_t ldc, next_c;
    bool add;
} target;

/* to = a m, for at most SLAB rows of `a`, which has m->in columns. */
static void product(loci_forward *p, const float *a, size_t rows, const loci_matrix *m, target to)
{
    if (m->f32) {
        loci_matmul_run(&(loci_matmul){ .a = a,
                                        .lda = m->in,
                                        .rows = rows,
                                        .depth = m->in,
                                        .b = m->f32,
                                        .ldb = LOCI_PANEL,
                                        .next_panel = m->in * LOCI_PANEL,
                                        .columns = m->out,
                                        .bias = m->bias,
                                        .c = to.c,
                                        .ldc = to.ldc,
                                        .next_c = to.next_c,
                                        .add = to.add });
        return;
    }
    for (size_t r = 0; r < rows; r++)
        loci_quantise_row(a + r * m->in, m->in, p->quantised + r * m->in, &p->scale[r],
                          &p->zero[r]);
    loci_matmul_i8_run(&(loci_matmul_i8){ .a = p->quantised,
                                          .lda = m->in,
                                          .rows = rows,
                                          .depth = m->in,
                                          .a_scale = p->scale,
                                          .zero = p->zero,
                                          .b = m->i8,
                                          .b_sum = m->sum,
                                          .b_scale = m->scale,
                                          .bias = m->bias,
                                          .columns = m->out,
                                          .c = to.c,
                                          .ldc = to.ldc,
                                          .next_c = to.next_c,
                                          .add = to.add });
}

static void norm_rows(const loci_forward *p, float *x, size_t rows, loci_norm norm)
{
    size_t hidden = p->info->hidden;
    for (size_t r = 0; r < rows; r++)
        loci_layer_norm(x + r * hidden, norm.weight, norm.bias, hidden, p->info->norm_eps);
}

/* The input of the first layer for one text, into rows at `x`. */
static void embed_text(const loci_forward *p, const loci_model_tables *t, loci_ids text, float *x)
{
    size_t hidden = p->info->hidden;

    for (size_t i = 0; i < text.count; i++) {
        size_t word = text.ids[i] * hidden;
        float *row = x + i * hidden;
        if (t->i8)
            loci_dequantise_row(t->i8 + word, hidden, t->scale + word / LOCI_GROUP, row);
        else
            memcpy(row, t->f32 + word, hidden * sizeof *row);
        loci_add(row, t->position + i * hidden, hidden);
    }
    norm_rows(p, x, text.count, t->norm);
}

/* Block `b` of queries, keys and values, from row `first`. */
static float *qkv_block(const loci_forward *p, size_t b, size_t first)
{
    return p->qkv + (b * p->room + first) * LOCI_PANEL;
}

/* The keys of one block as panels of 32 texts' rows: 32 x 32 each. Columns past the last row hold
 * old values, which are finite and whose scores are thrown away. */
static void transpose(const float *block, size_t count, float *ret_panels)
{
    for (size_t i = 0; i < count; i++) {
        float *column = ret_panels + i / LOCI_PANEL * LOCI_PANEL * LOCI_PANEL + i % LOCI_PANEL;
        for (size_t j = 0; j < LOCI_PANEL; j++) column[j * LOCI_PANEL] = block[i * LOCI_PANEL + j];
    }
}

/* scores = softmax of queries * keys, without the division; the sum of each row goes to `sums`. */
static void score(loci_forward *p, size_t block, size_t first, size_t rows, size_t count,
                  float *sums)
{
    size_t blocks = p->info->hidden / p->info->heads / LOCI_PANEL;
    size_t wide = round_up(count, LOCI_PANEL);
    float factor = 1.0F / sqrtf((float)(blocks * LOCI_PANEL));

    for (size_t b = 0; b < blocks; b++)
        loci_matmul_run(&(loci_matmul){ .a = qkv_block(p, block + b, first),
                                        .lda = LOCI_PANEL,
                                        .rows = rows,
                                        .depth = LOCI_PANEL,
                                        .b = p->keys + b * wide * LOCI_PANEL,
                                        .ldb = LOCI_PANEL,
                                        .next_panel = (size_t)LOCI_PANEL * LOCI_PANEL,
                                        .columns = wide,
                                        .c = p->scores,
                                        .ldc = wide,
                                        .next_c = LOCI_PANEL,
                                        .add = b > 0 });
    for (size_t r = 0; r < rows; r++) {
        float *row = p->scores + r * wide;
        for (size_t i = count; i < wide; i++) row[i] = -1e30F;
        sums[r] = loci_softmax_raw(row, wide, factor);
    }
}

/* One head of one text, whose rows are first .. first + count - 1. */
static void attend_head(loci_forward *p, size_t head, size_t first, size_t count)
{
    size_t hidden = p->info->hidden, blocks = hidden / p->info->heads / LOCI_PANEL;
    size_t all = hidden / LOCI_PANEL, wide = round_up(count, LOCI_PANEL);

    for (size_t b = 0; b < blocks; b++)
        transpose(qkv_block(p, all + head * blocks + b, first), count,
                  p->keys + b * wide * LOCI_PANEL);

    for (size_t done = 0, rows; done < count; done += rows) {
        float sums[SLAB];
        rows = count - done < SLAB ? count - done : SLAB;
        score(p, head * blocks, first + done, rows, count, sums);

        float *c = p->context + (first + done) * hidden + head * blocks * LOCI_PANEL;
        loci_matmul_run(&(loci_matmul){ .a = p->scores,
                                        .lda = wide,
                                        .rows = rows,
                                        .depth = count,
                                        .b = qkv_block(p, 2 * all + head * blocks, first),
                                        .ldb = LOCI_PANEL,
                                        .next_panel = p->room * LOCI_PANEL,
                                        .columns = blocks * LOCI_PANEL,
                                        .c = c,
                                        .ldc = hidden,
                                        .next_c = LOCI_PANEL });
        for (size_t r = 0; r < rows; r++)
            loci_scale(c + r * hidden, blocks * LOCI_PANEL, 1.0F / sums[r]);
    }
}

/* Everything after attention, for at most SLAB rows. */
static void finish_slab(loci_forward *p, const loci_model_layer *layer, float *x,
                        const float *context, size_t rows)
{
    size_t hidden = p->info->hidden, ffn = p->info->ffn;
    target back = { x, hidden, LOCI_PANEL, true };

    product(p, context, rows, &layer->output, back);
    norm_rows(p, x, rows, layer->attention_norm);
    product(p, x, rows, &layer->up, (target){ p->inner, ffn, LOCI_PANEL, false });
    loci_gelu(p->inner, rows * ffn);
    product(p, p->inner, rows, &layer->down, back);
    norm_rows(p, x, rows, layer->ffn_norm);
}

static void run_layer(loci_forward *p, const loci_model_layer *layer, const loci_ids *texts,
                      size_t count, size_t tokens)
{
    size_t hidden = p->info->hidden;

    for (size_t at = 0; at < tokens; at += SLAB)
        product(p, p->x + at * hidden, tokens - at < SLAB ? tokens - at : SLAB, &layer->qkv,
                (target){ qkv_block(p, 0, at), LOCI_PANEL, p->room * LOCI_PANEL, false });

    for (size_t i = 0, first = 0; i < count; first += texts[i].count, i++)
        for (size_t head = 0; head < p->info->heads; head++)
            attend_head(p, head, first, texts[i].count);

    for (size_t at = 0; at < tokens; at += SLAB)
        finish_slab(p, layer, p->x + at * hidden, p->context + at * hidden,
                    tokens - at < SLAB ? tokens - at : SLAB);
}

/* One vector of length 1 out of a text's rows. */
static void pool(const loci_forward *p, const float *x, size_t count, float *ret)
{
    size_t hidden = p->info->hidden;
    double squares = 0;

    memcpy(ret, x, hidden * sizeof *ret);
    if (p->info->pooling == LOCI_POOL_MEAN)
        for (size_t i = 1; i < count; i++) loci_add(ret, x + i * hidden, hidden);
    for (size_t j = 0; j < hidden; j++) squares += (double)ret[j] * (double)ret[j];
    loci_scale(ret, hidden, squares > 0 ? (float)(1 / sqrt(squares)) : 0);
}

static loci_rc run_batch(loci_forward *p, const loci_ids *texts, size_t count, float *ret_vectors,
                         loci_err *err)
{
    loci_model_tables tables;
    size_t tokens = 0, hidden = p->info->hidden;

    loci_rc rc = loci_model_get_tables(p->model, &tables, err);
    if (rc) return rc;
    for (size_t i = 0; i < count; tokens += texts[i].count, i++)
        embed_text(p, &tables, texts[i], p->x + tokens * hidden);

    for (size_t n = 0; n < p->info->layers; n++) {
        loci_model_layer layer;
        rc = loci_model_get_layer(p->model, n, &layer, err);
        if (rc) return rc;
        run_layer(p, &layer, texts, count, tokens);
    }
    for (size_t i = 0, first = 0; i < count; first += texts[i].count, i++)
        pool(p, p->x + first * hidden, texts[i].count, ret_vectors + i * hidden);
    return LOCI_OK;
}

static loci_rc check_text(const loci_forward *p, loci_ids text, size_t number, loci_err *err)
{
    if (text.count == 0) return loci_fail(err, LOCI_EINVAL, "text %zu has no tokens", number);
    if (text.count > p->info->max_tokens)
        return loci_fail(err, LOCI_ELIMIT, "text %zu has %zu tokens; %s takes %u", number,
                         text.count, p->info->name, p->info->max_tokens);
    for (size_t i = 0; i < text.count; i++)
        if (text.ids[i] >= p->info->vocab)
            return loci_fail(err, LOCI_EINVAL, "text %zu: token %u is not one of %s's %u", number,
                             text.ids[i], p->info->name, p->info->vocab);
    return LOCI_OK;
}

loci_rc loci_forward_run(loci_forward *p, const loci_ids *texts, size_t count, float *ret_vectors,
                         loci_err *err)
{
    for (size_t i = 0; i < count; i++) {
        loci_rc rc = check_text(p, texts[i], i, err);
        if (rc) return rc;
    }
    for (size_t first = 0, next = 0; first < count; first = next) {
        size_t tokens = 0;
        for (; next < count && tokens + texts[next].count <= p->room; next++)
            tokens += texts[next].count;
        loci_rc rc =
            run_batch(p, texts + first, next - first, ret_vectors + first * p->info->hidden, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}
