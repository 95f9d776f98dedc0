#include "embed/safetensors.h"

#include "base/json.h"

#include <string.h>

static loci_tensor_type type_of(const loci_json *name)
{
    if (!name || name->type != LOCI_JSON_STRING) return LOCI_TENSOR_OTHER;
    if (loci_str_eq(name->string, LOCI_STR("F32"))) return LOCI_TENSOR_F32;
    if (loci_str_eq(name->string, LOCI_STR("F16"))) return LOCI_TENSOR_F16;
    return LOCI_TENSOR_OTHER;
}

/* Item `i` of an array as a number from 0 to 2^40; false otherwise. */
static bool get_number(const loci_json *array, size_t i, uint64_t *ret)
{
    if (!array || array->type != LOCI_JSON_ARRAY || i >= array->array.count) return false;
    const loci_json *item = &array->array.items[i];
    if (item->type != LOCI_JSON_INT || item->integer < 0 || item->integer >> 40) return false;
    *ret = (uint64_t)item->integer;
    return true;
}

static bool read_shape(const loci_json *shape, loci_tensor *t)
{
    t->count = 1;
    if (!shape || shape->type != LOCI_JSON_ARRAY) return false;
    t->rank = shape->array.count;
    for (size_t i = 0; i < t->rank; i++) {
        uint64_t dim;
        if (!get_number(shape, i, &dim) || dim > LOCI_TENSOR_VALUES) return false;
        if (i < LOCI_TENSOR_DIMS) t->dims[i] = dim;
        if (LOCI_MUL_OVERFLOWS(t->count, (size_t)dim, &t->count)) return false;
        if (t->count > LOCI_TENSOR_VALUES) return false;
    }
    return true;
}

static bool read_tensor(const loci_json_member *m, loci_str data, loci_tensor *ret)
{
    loci_tensor t = { .name = m->name };
    uint64_t start, end;
    const loci_json *place = loci_json_find(&m->value, LOCI_STR("data_offsets"));

    t.type = type_of(loci_json_find(&m->value, LOCI_STR("dtype")));
    if (!read_shape(loci_json_find(&m->value, LOCI_STR("shape")), &t)) return false;
    if (!get_number(place, 0, &start) || !get_number(place, 1, &end)) return false;
    if (start > end || end > data.len) return false;
    t.data = loci_str_sub(data, (size_t)start, (size_t)(end - start));
    if (t.type != LOCI_TENSOR_OTHER && t.data.len != t.count * loci_tensor_width(t.type))
        return false;
    *ret = t;
    return true;
}

static loci_rc read_table(const loci_json *table, loci_str data, loci_arena *arena,
                          loci_tensor_set *ret_set, loci_err *err)
{
    loci_tensor_set set = { 0 };

    if (table->type != LOCI_JSON_OBJECT)
        return loci_fail(err, LOCI_ECORRUPT, "the table of tensors is not an object");
    if (table->object.count > LOCI_TENSORS)
        return loci_fail(err, LOCI_ELIMIT, "more than %d tensors", LOCI_TENSORS);
    set.items = loci_arena_array(arena, table->object.count, sizeof *set.items);
    if (!set.items) return loci_arena_fail(arena, err);

    for (size_t i = 0; i < table->object.count; i++) {
        const loci_json_member *m = &table->object.members[i];
        if (loci_str_eq(m->name, LOCI_STR("__metadata__"))) continue;
        if (!read_tensor(m, data, &set.items[set.count++]))
            return loci_fail(err, LOCI_ECORRUPT, "tensor '%.*s' does not fit the file",
                             LOCI_ARG(loci_str_sub(m->name, 0, 100)));
    }
    *ret_set = set;
    return LOCI_OK;
}

loci_rc loci_safetensors_read(loci_str file, loci_arena *arena, loci_tensor_set *ret_set,
                              loci_err *err)
{
    uint64_t len = 0;
    const loci_json *table;

    if (file.len < sizeof len)
        return loci_fail(err, LOCI_ECORRUPT, "not a safetensors file: %zu bytes", file.len);
    memcpy(&len, file.ptr, sizeof len);
    if (len > file.len - sizeof len || len > LOCI_SAFETENSORS_TABLE)
        return loci_fail(err, LOCI_ECORRUPT, "not a safetensors file: a table of %llu bytes",
                         (unsigned long long)len);

    loci_str data = loci_str_sub(file, sizeof len + (size_t)len, file.len);
    loci_rc rc = loci_json_parse(arena, loci_str_sub(file, sizeof len, (size_t)len), &table, err);
    return rc ? rc : read_table(table, data, arena, ret_set, err);
}
