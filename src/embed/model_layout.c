#include "embed/model_file.h"

#include "vec/ops.h"

/* Takes parts off a block one after the other, each padded to 64 bytes. */
typedef struct cursor {
    const char *base; /* NULL: only sizes are wanted */
    size_t used;
} cursor;

static const void *take(cursor *c, size_t bytes)
{
    const char *part = c->base ? c->base + c->used : NULL;
    c->used += (bytes + 63) / 64 * 64;
    return part;
}

static loci_matrix take_matrix(cursor *c, const loci_model_info *info, size_t in, size_t out)
{
    loci_matrix m = { .in = in, .out = out };

    if (info->weights == LOCI_WEIGHTS_I8) {
        m.i8 = take(c, in * out);
        m.scale = take(c, out * sizeof *m.scale);
        m.sum = take(c, out * sizeof *m.sum);
    } else {
        m.f32 = take(c, in * out * sizeof *m.f32);
    }
    m.bias = take(c, out * sizeof *m.bias);
    return m;
}

static loci_norm take_norm(cursor *c, const loci_model_info *info)
{
    loci_norm norm;
    norm.weight = take(c, info->hidden * sizeof *norm.weight);
    norm.bias = take(c, info->hidden * sizeof *norm.bias);
    return norm;
}

size_t loci_model_layout_tables(const loci_model_info *info, const void *block,
                                loci_model_tables *ret)
{
    cursor c = { block, 0 };
    size_t values = (size_t)info->vocab * info->hidden;

    ret->f32 = NULL;
    ret->i8 = NULL;
    ret->scale = NULL;
    if (info->weights == LOCI_WEIGHTS_I8) {
        ret->i8 = take(&c, values);
        ret->scale = take(&c, values / LOCI_GROUP * sizeof *ret->scale);
    } else {
        ret->f32 = take(&c, values * sizeof *ret->f32);
    }
    return c.used;
}

size_t loci_model_layout_positions(const loci_model_info *info, const void *block,
                                   loci_model_tables *ret)
{
    cursor c = { block, 0 };

    ret->position = take(&c, (size_t)info->positions * info->hidden * sizeof *ret->position);
    ret->norm = take_norm(&c, info);
    return c.used;
}

size_t loci_model_layout_layer(const loci_model_info *info, const void *block,
                               loci_model_layer *ret)
{
    cursor c = { block, 0 };

    ret->qkv = take_matrix(&c, info, info->hidden, (size_t)3 * info->hidden);
    ret->output = take_matrix(&c, info, info->hidden, info->hidden);
    ret->attention_norm = take_norm(&c, info);
    ret->up = take_matrix(&c, info, info->hidden, info->ffn);
    ret->down = take_matrix(&c, info, info->ffn, info->hidden);
    ret->ffn_norm = take_norm(&c, info);
    return c.used;
}
