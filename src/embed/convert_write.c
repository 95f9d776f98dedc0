#include "base/alloc.h"
#include "base/buf.h"
#include "embed/convert.h"
#include "text/wordpiece.h"
#include "vec/matmul.h"
#include "vec/matmul_i8.h"
#include "vec/ops.h"

#include <math.h>

/* What the making of one file needs. */
typedef struct maker {
    const loci_tensor_set *set;
    const loci_model_info *info;
    loci_model_writer *writer;
    char *block;   /* room for the largest block */
    float *values; /* room for the largest tensor, or three matrices of attention */
    float *turned; /* room for one matrix */
    int8_t *q;     /* room for one matrix */
    float *scale;  /* room for one per column */
    loci_err *err;
} maker;

/* The layout functions give pointers to read from; here the same places are written to. */
static void put(const void *place, const void *data, size_t bytes)
{
    memcpy((void *)(uintptr_t)place, data, bytes);
}

static void free_maker(maker *m)
{
    loci_model_writer_close(m->writer);
    loci_free(m->block);
    loci_free(m->values);
    loci_free(m->turned);
    loci_free(m->q);
    loci_free(m->scale);
}

/* "encoder.layer.<layer>.<rest>", or `rest` alone for layer -1. */
static loci_rc get_tensor(maker *m, int layer, const char *rest, size_t rows, size_t columns,
                          const loci_tensor **ret)
{
    char name[128];

    if (layer < 0)
        (void)snprintf(name, sizeof name, "%s", rest);
    else
        (void)snprintf(name, sizeof name, "encoder.layer.%d.%s", layer, rest);
    const loci_tensor *t = loci_tensor_find(m->set, loci_str_from(name));
    bool turn = t && columns && !t->flipped && layer >= 0; /* PyTorch: out x in */
    return loci_tensor_get(m->set, name, turn ? columns : rows, turn ? rows : columns, ret, m->err);
}

static loci_rc put_floats(maker *m, int layer, const char *rest, size_t count, const float *place)
{
    const loci_tensor *t;
    loci_rc rc = get_tensor(m, layer, rest, count, 0, &t);
    if (rc) return rc;
    loci_tensor_floats(t, m->values);
    put(place, m->values, count * sizeof *place);
    return LOCI_OK;
}

static loci_rc put_norm(maker *m, int layer, const char *rest, loci_norm place)
{
    char weight[96], bias[96];

    (void)snprintf(weight, sizeof weight, "%s.weight", rest);
    (void)snprintf(bias, sizeof bias, "%s.bias", rest);
    loci_rc rc = put_floats(m, layer, weight, m->info->hidden, place.weight);
    return rc ? rc : put_floats(m, layer, bias, m->info->hidden, place.bias);
}

/* The scale that lets the largest of `count` values, `step` apart, be 127; 1 when all are 0. */
static float best_scale(const float *values, size_t count, size_t step)
{
    float most = 0;
    for (size_t i = 0; i < count; i++) most = fmaxf(most, fabsf(values[i * step]));
    return most > 0 && isfinite(most) ? most / 127.0F : 1.0F;
}

static int8_t quantise(float value, float scale)
{
    float q = rintf(value / scale);
    return (int8_t)fmaxf(-128.0F, fminf(127.0F, q)); /* also for what is not a number */
}

/* Read a matrix as in x out into `columns` of m->values, whose rows are `wide` long, and the scales
 * that it has or should have into m->scale. */
static loci_rc load_matrix(maker *m, int layer, const char *rest, const loci_matrix *to,
                           size_t column)
{
    char name[96];
    const loci_tensor *t;
    size_t out = column == SIZE_MAX ? to->out : to->in; /* one of three, or the whole */
    size_t first = column == SIZE_MAX ? 0 : column;

    (void)snprintf(name, sizeof name, "%s.weight", rest);
    loci_rc rc = get_tensor(m, layer, name, to->in, out, &t);
    if (rc) return rc;

    loci_tensor_floats(t, m->turned);
    for (size_t i = 0; i < to->in; i++)
        for (size_t j = 0; j < out; j++)
            m->values[i * to->out + first + j] =
                t->flipped ? m->turned[i * out + j] : m->turned[j * to->in + i];
    for (size_t j = 0; j < out; j++)
        m->scale[first + j] = t->scales == out ? t->scale[j]
                              : t->scales == 1 ? t->scale[0]
                                               : best_scale(m->values + first + j, to->in, to->out);
    return LOCI_OK;
}

/* What load_matrix left in m->values, packed, to its place. */
static void pack_matrix(maker *m, const loci_matrix *to)
{
    size_t count = to->in * to->out;

    if (to->f32) {
        loci_matmul_pack(m->values, to->in, to->out, (float *)(uintptr_t)to->f32);
        return;
    }
    for (size_t i = 0; i < count; i++) m->q[i] = quantise(m->values[i], m->scale[i % to->out]);
    loci_matmul_i8_pack(m->q, to->in, to->out, (int8_t *)(uintptr_t)to->i8,
                        (int32_t *)(uintptr_t)to->sum);
    put(to->scale, m->scale, to->out * sizeof *m->scale);
}

static loci_rc put_matrix(maker *m, int layer, const char *rest, const loci_matrix *to)
{
    char bias[96];
    loci_rc rc = load_matrix(m, layer, rest, to, SIZE_MAX);
    if (rc) return rc;
    pack_matrix(m, to);
    (void)snprintf(bias, sizeof bias, "%s.bias", rest);
    return put_floats(m, layer, bias, to->out, to->bias);
}

/* Query, key and value side by side. */
static loci_rc put_qkv(maker *m, int layer, const loci_matrix *to)
{
    static const char *const parts[] = { "attention.self.query", "attention.self.key",
                                         "attention.self.value" };
    size_t hidden = m->info->hidden;
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; i < 3 && !rc; i++) rc = load_matrix(m, layer, parts[i], to, i * hidden);
    if (rc) return rc;
    pack_matrix(m, to);
    for (size_t i = 0; i < 3 && !rc; i++) {
        char bias[96];
        (void)snprintf(bias, sizeof bias, "%s.bias", parts[i]);
        rc = put_floats(m, layer, bias, hidden, to->bias + i * hidden);
    }
    return rc;
}

static loci_rc write_layer(maker *m, int layer)
{
    loci_model_layer l;
    size_t bytes = loci_model_layout_layer(m->info, m->block, &l);

    memset(m->block, 0, bytes);
    loci_rc rc = put_qkv(m, layer, &l.qkv);
    if (!rc) rc = put_matrix(m, layer, "attention.output.dense", &l.output);
    if (!rc) rc = put_norm(m, layer, "attention.output.LayerNorm", l.attention_norm);
    if (!rc) rc = put_matrix(m, layer, "intermediate.dense", &l.up);
    if (!rc) rc = put_matrix(m, layer, "output.dense", &l.down);
    if (!rc) rc = put_norm(m, layer, "output.LayerNorm", l.ffn_norm);
    return rc ? rc : loci_model_writer_add(m->writer, m->block, bytes, m->err);
}

/* A few values of a row can be far larger than the others, so one scale for a row would leave
 * these few bits: with it the cosine of odd texts fell to .98 for MiniLM. */
static void quantise_words(maker *m, const loci_tensor *t, const loci_model_tables *to)
{
    size_t count = (size_t)m->info->vocab * m->info->hidden;
    int8_t *q = (int8_t *)(uintptr_t)to->i8;

    for (size_t i = 0; i < count; i += LOCI_GROUP) {
        const float *values = m->values + i;
        float scale = t->scales == 1 ? t->scale[0] : best_scale(values, LOCI_GROUP, 1);
        put(to->scale + i / LOCI_GROUP, &scale, sizeof scale);
        for (size_t j = 0; j < LOCI_GROUP; j++) q[i + j] = quantise(values[j], scale);
    }
}

static loci_rc write_words(maker *m)
{
    loci_model_tables to;
    const loci_tensor *t;
    size_t vocab = m->info->vocab, hidden = m->info->hidden;
    size_t bytes = loci_model_layout_tables(m->info, m->block, &to);

    loci_rc rc = get_tensor(m, -1, "embeddings.word_embeddings.weight", vocab, hidden, &t);
    if (rc) return rc;
    memset(m->block, 0, bytes);
    loci_tensor_floats(t, m->values);
    if (to.i8)
        quantise_words(m, t, &to);
    else
        put(to.f32, m->values, vocab * hidden * sizeof *m->values);
    return loci_model_writer_add(m->writer, m->block, bytes, m->err);
}

/* All texts are of segment 0, so its row is added to every position here. */
static loci_rc write_positions(maker *m)
{
    loci_model_tables to;
    const loci_tensor *t;
    size_t positions = m->info->positions, hidden = m->info->hidden;
    size_t bytes = loci_model_layout_positions(m->info, m->block, &to);

    memset(m->block, 0, bytes);
    loci_rc rc = get_tensor(m, -1, "embeddings.token_type_embeddings.weight", 2, hidden, &t);
    if (rc) return rc;
    loci_tensor_floats(t, m->turned);
    rc = get_tensor(m, -1, "embeddings.position_embeddings.weight", positions, hidden, &t);
    if (rc) return rc;
    loci_tensor_floats(t, m->values);
    for (size_t i = 0; i < positions * hidden; i++) m->values[i] += m->turned[i % hidden];
    put(to.position, m->values, positions * hidden * sizeof *m->values);

    rc = put_norm(m, -1, "embeddings.LayerNorm", to.norm);
    return rc ? rc : loci_model_writer_add(m->writer, m->block, bytes, m->err);
}

static loci_rc write_vocab(maker *m, loci_str lines)
{
    LOCI_AUTO(loci_buf_done) loci_buf table;

    loci_buf_init(&table, LOCI_MODEL_VOCAB_BYTES);
    loci_rc rc = loci_wordpiece_build(lines, &table, m->err);
    return rc ? rc : loci_model_writer_add(m->writer, table.ptr, table.len, m->err);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static loci_rc make_room(maker *m)
{
    loci_model_tables tables;
    loci_model_layer layer;
    const loci_model_info *i = m->info;
    size_t matrix = larger((size_t)3 * i->hidden, i->ffn) * i->hidden;
    size_t words = (size_t)i->vocab * i->hidden, rows = (size_t)i->positions * i->hidden;
    size_t block = larger(loci_model_layout_tables(i, NULL, &tables),
                          loci_model_layout_layer(i, NULL, &layer));

    block = larger(block, loci_model_layout_positions(i, NULL, &tables));
    m->block = loci_zalloc(block);
    m->values = loci_zalloc(larger(larger(words, rows), matrix) * sizeof *m->values);
    m->turned = loci_zalloc(matrix * sizeof *m->turned);
    m->q = loci_zalloc(matrix);
    m->scale = loci_zalloc(larger((size_t)3 * i->hidden, i->ffn) * sizeof *m->scale);
    if (!m->block || !m->values || !m->turned || !m->q || !m->scale)
        return loci_fail(m->err, LOCI_ENOMEM, "out of memory");
    return LOCI_OK;
}

static loci_rc check_lines(loci_str lines, size_t want, loci_err *err)
{
    size_t count = 0;
    for (size_t i = 0; i < lines.len; i++) count += lines.ptr[i] == '\n';
    if (count != want)
        return loci_fail(err, LOCI_ECORRUPT, "the vocabulary has %zu lines in place of %zu", count,
                         want);
    return LOCI_OK;
}

loci_rc loci_convert_write(const loci_tensor_set *set, const loci_model_info *info, loci_str lines,
                           const char *path, loci_err *err)
{
    LOCI_AUTO(free_maker) maker m = { .set = set, .info = info, .err = err };

    loci_rc rc = check_lines(lines, info->vocab, err);
    if (!rc) rc = make_room(&m);
    if (!rc) rc = loci_model_writer_open(path, info, &m.writer, err);
    if (!rc) rc = write_vocab(&m, lines);
    if (!rc) rc = write_words(&m);
    if (!rc) rc = write_positions(&m);
    for (uint32_t i = 0; i < info->layers && !rc; i++) rc = write_layer(&m, (int)i);
    return rc ? rc : loci_model_writer_finish(m.writer, err);
}
