/* Protobuf is a row of fields: a number that says which field and how it is written, then the
 * value. We step over every field that we do not need. Field numbers are those of onnx.proto:
 * ModelProto.graph 7; GraphProto.node 1, .initializer 5; NodeProto.input 1, .output 2, .op_type 4;
 * TensorProto.dims 1, .data_type 2, .float_data 4, .int32_data 5, .name 8, .raw_data 9. */
#include "embed/onnx.h"

#include <assert.h>
#include <string.h>

enum { NODE_INPUTS = 4, CHAIN = 6 };

typedef struct field {
    uint32_t number;
    uint64_t value; /* of a varint */
    loci_str bytes; /* of a length-delimited field */
} field;

typedef struct node {
    loci_str op, output, input[NODE_INPUTS];
} node;

typedef struct reader {
    loci_arena *arena;
    loci_tensor_set set;
    node *nodes;
    size_t node_count;
    loci_err *err;
} reader;

static bool take_varint(loci_str *rest, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < 10 && i < rest->len; i++) {
        uint64_t byte = (uint8_t)rest->ptr[i];
        value |= (byte & 127) << (7 * i);
        if (byte & 128) continue;
        *rest = loci_str_sub(*rest, i + 1, rest->len);
        *ret = value;
        return true;
    }
    return false;
}

static bool take_bytes(loci_str *rest, uint64_t len, loci_str *ret)
{
    if (len > rest->len) return false;
    *ret = loci_str_sub(*rest, 0, (size_t)len);
    *rest = loci_str_sub(*rest, (size_t)len, rest->len);
    return true;
}

/* Take the next field off `rest`. LOCI_DONE at its end. */
static loci_rc next_field(loci_str *rest, field *ret, loci_err *err)
{
    uint64_t key = 0;
    bool good;

    if (rest->len == 0) return LOCI_DONE;
    good = take_varint(rest, &key);
    *ret = (field){ .number = (uint32_t)(key >> 3) };
    switch (key & 7) {
    case 0: good = good && take_varint(rest, &ret->value); break;
    case 1: good = good && take_bytes(rest, 8, &ret->bytes); break;
    case 2:
        good = good && take_varint(rest, &ret->value) && take_bytes(rest, ret->value, &ret->bytes);
        break;
    case 5: good = good && take_bytes(rest, 4, &ret->bytes); break;
    default: good = false;
    }
    if (!good)
        return loci_fail(err, LOCI_ECORRUPT, "not an ONNX file, or cut short: %zu bytes are left",
                         rest->len);
    return LOCI_OK;
}

static loci_tensor_type type_of(uint64_t onnx_type)
{
    switch (onnx_type) {
    case 1: return LOCI_TENSOR_F32;
    case 2: return LOCI_TENSOR_U8;
    case 3: return LOCI_TENSOR_I8;
    case 10: return LOCI_TENSOR_F16;
    default: return LOCI_TENSOR_OTHER;
    }
}

static bool add_dim(loci_tensor *t, uint64_t dim)
{
    if (t->rank < LOCI_TENSOR_DIMS) t->dims[t->rank] = dim;
    t->rank++;
    return !LOCI_MUL_OVERFLOWS(t->count, (size_t)dim, &t->count) &&
           t->count <= LOCI_TENSOR_VALUES && dim <= LOCI_TENSOR_VALUES;
}

/* One dimension, or several packed into one field. */
static bool add_dims(loci_tensor *t, field f)
{
    if (!f.bytes.ptr) return add_dim(t, f.value);
    for (uint64_t dim; f.bytes.len > 0;)
        if (!take_varint(&f.bytes, &dim) || !add_dim(t, dim)) return false;
    return true;
}

/* The bytes of a tensor must be as many as its dimensions say. Small 8-bit tensors, zero points,
 * are written as numbers of variable length: they stay, and are read by zero_point. */
static loci_rc check_size(loci_tensor *t, loci_err *err)
{
    size_t width = loci_tensor_width(t->type);

    if (width && t->data.len == t->count * width) return LOCI_OK;
    if (t->type == LOCI_TENSOR_F32 || t->type == LOCI_TENSOR_F16)
        return loci_fail(err, LOCI_ECORRUPT, "tensor '%.*s' has %zu bytes for %zu values",
                         LOCI_ARG(loci_str_sub(t->name, 0, 100)), t->data.len, t->count);
    t->type = LOCI_TENSOR_OTHER;
    return LOCI_OK;
}

static loci_rc read_tensor(reader *r, loci_str rest)
{
    loci_tensor t = { .count = 1 };
    uint64_t onnx_type = 0;
    field f;
    loci_rc rc;

    while ((rc = next_field(&rest, &f, r->err)) == LOCI_OK) {
        if (f.number == 1 && !add_dims(&t, f))
            return loci_fail(r->err, LOCI_ELIMIT, "a tensor of over %d values", LOCI_TENSOR_VALUES);
        if (f.number == 2) onnx_type = f.value;
        if (f.number == 8) t.name = f.bytes;
        if (f.number == 4 || f.number == 5 || f.number == 9) t.data = f.bytes;
    }
    if (rc != LOCI_DONE) return rc;

    t.type = type_of(onnx_type);
    rc = check_size(&t, r->err);
    if (rc) return rc;
    assert(r->set.items); /* make_room came before */
    r->set.items[r->set.count++] = t;
    return LOCI_OK;
}

static loci_rc read_node(reader *r, loci_str rest)
{
    node n = { 0 };
    size_t inputs = 0;
    field f;
    loci_rc rc;

    while ((rc = next_field(&rest, &f, r->err)) == LOCI_OK) {
        if (f.number == 1 && inputs < NODE_INPUTS) n.input[inputs++] = f.bytes;
        if (f.number == 2 && n.output.len == 0) n.output = f.bytes;
        if (f.number == 4) n.op = f.bytes;
    }
    if (rc != LOCI_DONE) return rc;

    assert(r->nodes); /* make_room came before */
    r->nodes[r->node_count++] = n;
    return LOCI_OK;
}

/* Make room for what the graph holds beyond what was read already. */
static loci_rc make_room(reader *r, loci_str rest)
{
    size_t tensors = r->set.count, nodes = r->node_count;
    field f;
    loci_rc rc;

    while ((rc = next_field(&rest, &f, r->err)) == LOCI_OK) {
        tensors += f.number == 5;
        nodes += f.number == 1;
    }
    if (rc != LOCI_DONE) return rc;
    if (tensors > LOCI_TENSORS || nodes > LOCI_ONNX_NODES)
        return loci_fail(r->err, LOCI_ELIMIT, "more than %d tensors or %d nodes", LOCI_TENSORS,
                         LOCI_ONNX_NODES);

    loci_tensor *items = loci_arena_array(r->arena, tensors, sizeof *items);
    node *all = loci_arena_array(r->arena, nodes, sizeof *all);
    if (!items || !all) return loci_arena_fail(r->arena, r->err);
    if (r->set.count) memcpy(items, r->set.items, r->set.count * sizeof *items);
    if (r->node_count) memcpy(all, r->nodes, r->node_count * sizeof *all);
    r->set.items = items;
    r->nodes = all;
    return LOCI_OK;
}

static loci_rc read_graph(reader *r, loci_str rest)
{
    field f;
    loci_rc rc = make_room(r, rest);
    if (rc) return rc;

    while ((rc = next_field(&rest, &f, r->err)) == LOCI_OK) {
        loci_rc inner = LOCI_OK;
        if (f.number == 5) inner = read_tensor(r, f.bytes);
        if (f.number == 1) inner = read_node(r, f.bytes);
        if (inner) return inner;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

static loci_tensor *find_tensor(reader *r, loci_str name)
{
    for (size_t i = 0; i < r->set.count; i++)
        if (name.len && loci_str_eq(r->set.items[i].name, name)) return &r->set.items[i];
    return NULL;
}

static loci_tensor *find_sibling(reader *r, loci_str stem, const char *suffix)
{
    loci_str name = loci_arena_printf(r->arena, "%.*s%s", LOCI_ARG(stem), suffix);
    return name.ptr ? find_tensor(r, name) : NULL;
}

/* A zero point, as a byte or as a number of variable length. Only the first counts: those of
 * matrices are all 0. */
static int zero_point(const loci_tensor *t)
{
    uint64_t value = 0;
    loci_str data = t->data;

    if (t->type == LOCI_TENSOR_U8 && data.len) return (uint8_t)data.ptr[0];
    if (t->type == LOCI_TENSOR_I8 && data.len) return data.ptr[0];
    return take_varint(&data, &value) && value < 256 ? (int)value : 0;
}

/* X_quantized becomes X, with the scale and the zero point of its siblings. */
static loci_rc join_quantised(reader *r, loci_tensor *t)
{
    static const loci_str suffix = { "_quantized", 10 };
    if (!loci_str_ends(t->name, suffix) || loci_tensor_width(t->type) != 1) return LOCI_OK;

    loci_str stem = loci_str_sub(t->name, 0, t->name.len - suffix.len);
    const loci_tensor *scale = find_sibling(r, stem, "_scale");
    const loci_tensor *zero = find_sibling(r, stem, "_zero_point");
    if (!scale || !zero || scale->type != LOCI_TENSOR_F32 || scale->count == 0)
        return loci_fail(r->err, LOCI_ECORRUPT, "tensor '%.*s' has no scale or zero point",
                         LOCI_ARG(loci_str_sub(stem, 0, 100)));

    float *copy = loci_arena_array(r->arena, scale->count, sizeof *copy);
    if (!copy) return loci_arena_fail(r->arena, r->err);
    loci_tensor_floats(scale, copy); /* a copy, because floats in a file stand anywhere */
    t->name = stem;
    t->scale = copy;
    t->scales = scale->count;
    t->zero = zero_point(zero);
    return LOCI_OK;
}

static bool consumes(const node *n, loci_str name)
{
    for (size_t i = 0; i < NODE_INPUTS; i++)
        if (n->input[i].len && loci_str_eq(n->input[i], name)) return true;
    return false;
}

/* The bias that is added to what `n` gives, perhaps after a few conversions; "" for none. */
static loci_str bias_behind(const reader *r, const node *n)
{
    loci_str at = n->output;

    for (size_t step = 0; step < CHAIN && at.len; step++) {
        loci_str next = { 0 };
        for (size_t i = 0; i < r->node_count && !next.len; i++) {
            const node *user = &r->nodes[i];
            if (!consumes(user, at)) continue;
            for (size_t j = 0; j < 2 && loci_str_eq(user->op, LOCI_STR("Add")); j++)
                if (loci_str_ends(user->input[j], LOCI_STR(".bias"))) return user->input[j];
            if (loci_str_eq(user->op, LOCI_STR("Cast")) || loci_str_eq(user->op, LOCI_STR("Mul")))
                next = user->output;
        }
        at = next;
    }
    return (loci_str){ 0 };
}

/* Call the matrix of a product after the bias behind it. */
static loci_rc name_matrix(reader *r, const node *n)
{
    static const loci_str quantised = { "_quantized", 10 };
    loci_str matrix = n->input[1];

    if (!loci_str_eq(n->op, LOCI_STR("MatMul")) && !loci_str_eq(n->op, LOCI_STR("MatMulInteger")))
        return LOCI_OK;
    if (loci_str_ends(matrix, quantised)) matrix.len -= quantised.len;
    loci_tensor *t = find_tensor(r, matrix);
    loci_str bias = t ? bias_behind(r, n) : (loci_str){ 0 };
    if (!bias.len) return LOCI_OK;

    bias.len -= strlen("bias");
    t->name = loci_arena_printf(r->arena, "%.*sweight", LOCI_ARG(bias));
    t->flipped = true;
    return t->name.ptr ? LOCI_OK : loci_arena_fail(r->arena, r->err);
}

static loci_rc read_model(reader *r, loci_str rest)
{
    field f;
    loci_rc rc;

    while ((rc = next_field(&rest, &f, r->err)) == LOCI_OK) {
        loci_rc inner = f.number == 7 ? read_graph(r, f.bytes) : LOCI_OK;
        if (inner) return inner;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

loci_rc loci_onnx_read(loci_str file, loci_arena *arena, loci_tensor_set *ret_set, loci_err *err)
{
    reader r = { .arena = arena, .err = err };

    loci_rc rc = read_model(&r, file);
    if (rc) return rc;
    for (size_t i = 0; i < r.set.count; i++)
        if ((rc = join_quantised(&r, &r.set.items[i]))) return rc;
    for (size_t i = 0; i < r.node_count; i++)
        if ((rc = name_matrix(&r, &r.nodes[i]))) return rc;

    *ret_set = r.set;
    return LOCI_OK;
}
