#include "test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "embed/onnx.h"

#include <string.h>

/* A writer of protobuf: just enough to make small files. */
static void varint(loci_buf *b, uint64_t value)
{
    for (; value >= 128; value >>= 7) loci_buf_add_char(b, (char)(value | 128));
    loci_buf_add_char(b, (char)value);
}

static void number(loci_buf *b, unsigned field, uint64_t value)
{
    varint(b, field << 3);
    varint(b, value);
}

static void bytes(loci_buf *b, unsigned field, loci_str value)
{
    varint(b, field << 3 | 2);
    varint(b, value.len);
    loci_buf_add(b, value);
}

static void text(loci_buf *b, unsigned field, const char *value)
{
    bytes(b, field, loci_str_from(value));
}

/* A tensor of rows x columns (or rows) into the graph `g`; `field` is where its data goes. */
static void tensor(loci_buf *g, const char *name, unsigned type, size_t rows, size_t columns,
                   loci_str data, unsigned field)
{
    LOCI_AUTO(loci_buf_done) loci_buf t;
    loci_buf_init(&t, 1 << 16);
    number(&t, 1, rows);
    if (columns) number(&t, 1, columns);
    number(&t, 2, type);
    text(&t, 8, name);
    bytes(&t, field, data);
    bytes(g, 5, loci_buf_str(&t));
}

static void node(loci_buf *g, const char *op, const char *first, const char *second,
                 const char *output)
{
    LOCI_AUTO(loci_buf_done) loci_buf n;
    loci_buf_init(&n, 1 << 12);
    text(&n, 1, first);
    if (second) text(&n, 1, second);
    text(&n, 2, output);
    text(&n, 4, op);
    bytes(g, 1, loci_buf_str(&n));
}

static const float values[] = { 1, 2, 3, 4, 5, 6 };

static loci_str some_floats(size_t count)
{
    return (loci_str){ (const char *)values, count * sizeof values[0] };
}

/* A product of each kind, as exporters write them. */
static void make_graph(loci_buf *g)
{
    tensor(g, "a.bias", 1, 3, 0, some_floats(3), 9);
    tensor(g, "b.bias", 1, 2, 0, some_floats(2), 9);
    tensor(g, "onnx::MatMul_7", 1, 2, 3, some_floats(6), 9);
    tensor(g, "onnx::MatMul_8_quantized", 3, 3, 2, (loci_str){ "\1\2\3\377\376\375", 6 }, 9);
    tensor(g, "onnx::MatMul_8_scale", 1, 2, 0, some_floats(2), 4);
    tensor(g, "onnx::MatMul_8_zero_point", 3, 2, 0, (loci_str){ "\0\0", 2 }, 5);
    tensor(g, "table_quantized", 2, 2, 2, (loci_str){ "\200\201\177\0", 4 }, 9);
    tensor(g, "table_scale", 1, 1, 0, some_floats(1), 4);
    tensor(g, "table_zero_point", 2, 1, 0, (loci_str){ "\200\1", 2 }, 5); /* 128, as a varint */
    node(g, "MatMul", "x", "onnx::MatMul_7", "y");
    node(g, "Add", "a.bias", "y", "z");
    node(g, "MatMulInteger", "zq", "onnx::MatMul_8_quantized", "i");
    node(g, "Cast", "i", NULL, "f");
    node(g, "Mul", "f", "scales", "s");
    node(g, "Add", "s", "b.bias", "out");
    node(g, "MatMul", "out", "x", "ignored"); /* of two inputs: no weights */
}

static void wrap(loci_buf *g, loci_buf *file)
{
    number(file, 1, 8);
    text(file, 2, "producer");
    bytes(file, 7, loci_buf_str(g));
}

static const loci_tensor *want(const loci_tensor_set *set, const char *name)
{
    const loci_tensor *t = loci_tensor_find(set, loci_str_from(name));
    if (!t) fail_msg("no tensor %s", name);
    return t;
}

static void weights_get_the_names_of_their_biases(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf g, file;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(16 << 20);
    loci_tensor_set set;
    loci_err err = { 0 };
    float got[6];
    const loci_tensor *t;
    (void)state;

    loci_buf_init(&g, 1 << 20);
    loci_buf_init(&file, 1 << 20);
    make_graph(&g);
    wrap(&g, &file);
    assert_ok(loci_onnx_read(loci_buf_str(&file), arena, &set, &err), err);

    t = want(&set, "a.weight");
    assert_true(t->flipped);
    loci_tensor_floats(t, got);
    assert_memory_equal(got, values, sizeof values);

    static const float columns[] = { 1, 4, 3, -2, -2, -6 }; /* scales 1 and 2 */
    t = want(&set, "b.weight");
    loci_tensor_floats(t, got);
    assert_memory_equal(got, columns, sizeof columns);
    assert_int_equal(t->scales, 2);

    static const float table[] = { 0, 1, -1, -128 };
    loci_tensor_floats(want(&set, "table"), got);
    assert_memory_equal(got, table, sizeof table);

    assert_ok(loci_tensor_get(&set, "b.weight", 3, 2, &t, &err), err);
    assert_int_equal(loci_tensor_get(&set, "b.weight", 2, 3, &t, &err), LOCI_ECORRUPT);
    assert_int_equal(loci_tensor_get(&set, "c.weight", 2, 3, &t, &err), LOCI_ENOTFOUND);
}

static void every_cut_is_refused_or_read(void **state)
{
    LOCI_AUTO(loci_buf_done) loci_buf g, file;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(16 << 20);
    size_t refused = 0;
    (void)state;

    loci_buf_init(&g, 1 << 20);
    loci_buf_init(&file, 1 << 20);
    make_graph(&g);
    wrap(&g, &file);
    for (size_t len = 0; len < file.len; len += 3) {
        loci_tensor_set set;
        loci_arena_reset(arena);
        refused +=
            loci_onnx_read(loci_str_sub(loci_buf_str(&file), 0, len), arena, &set, NULL) != LOCI_OK;
    }
    assert_true(refused > file.len / 3 - 10);
}

static void wrong_tensors_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        LOCI_AUTO(loci_buf_done) loci_buf g, file;
        LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(16 << 20);
        static const loci_rc want_rc[] = { LOCI_ECORRUPT, LOCI_ELIMIT, LOCI_ECORRUPT };
        loci_tensor_set set = { 0 };
        loci_err err = { 0 };

        loci_buf_init(&g, 1 << 20);
        loci_buf_init(&file, 1 << 20);
        if (i == 0) tensor(&g, "short", 1, 2, 3, some_floats(5), 9);
        if (i == 1) tensor(&g, "huge", 1, SIZE_MAX / 2, 3, some_floats(5), 9);
        if (i == 2) tensor(&g, "lone_quantized", 3, 1, 1, LOCI_STR("x"), 9);
        wrap(&g, &file);
        assert_int_equal(loci_onnx_read(loci_buf_str(&file), arena, &set, &err), want_rc[i]);
        assert_int_equal(set.count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_get_the_names_of_their_biases),
        cmocka_unit_test(every_cut_is_refused_or_read),
        cmocka_unit_test(wrong_tensors_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
