#include "embed/tensor.h"

#include <math.h>
#include <string.h>

size_t loci_tensor_width(loci_tensor_type type)
{
    static const size_t widths[] = { 0, 4, 2, 1, 1 };
    return widths[type];
}

const loci_tensor *loci_tensor_find(const loci_tensor_set *set, loci_str name)
{
    for (size_t i = 0; i < set->count; i++)
        if (loci_str_eq(set->items[i].name, name)) return &set->items[i];
    return NULL;
}

loci_rc loci_tensor_get(const loci_tensor_set *set, const char *name, size_t rows, size_t columns,
                        const loci_tensor **ret, loci_err *err)
{
    const loci_tensor *t = loci_tensor_find(set, loci_str_from(name));
    size_t rank = columns ? 2 : 1;

    if (!t) return loci_fail(err, LOCI_ENOTFOUND, "the model has no tensor '%s'", name);
    if (t->type == LOCI_TENSOR_OTHER)
        return loci_fail(err, LOCI_ECORRUPT, "tensor '%s' has a type that is not read", name);
    if (t->rank != rank || t->dims[0] != rows || (columns && t->dims[1] != columns))
        return loci_fail(err, LOCI_ECORRUPT, "tensor '%s' is not %zu x %zu", name, rows, columns);
    if (t->scales > 1 && t->scales != columns)
        return loci_fail(err, LOCI_ECORRUPT, "tensor '%s' has %zu scales", name, t->scales);
    *ret = t;
    return LOCI_OK;
}

/* IEEE 754 half precision. */
static float from_half(uint16_t half)
{
    int exponent = (half >> 10) & 31, fraction = half & 1023;
    float sign = half & 0x8000 ? -1.0F : 1.0F;

    if (exponent == 31) return fraction ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexpf((float)fraction, -24);
    return sign * ldexpf((float)(fraction + 1024), exponent - 25);
}

static float value_at(const loci_tensor *t, size_t i)
{
    const char *p = t->data.ptr + i * loci_tensor_width(t->type);
    uint16_t half;
    float value;

    switch (t->type) {
    case LOCI_TENSOR_F32: memcpy(&value, p, sizeof value); return value;
    case LOCI_TENSOR_F16: memcpy(&half, p, sizeof half); return from_half(half);
    case LOCI_TENSOR_I8: return (float)(*(const int8_t *)p - t->zero);
    case LOCI_TENSOR_U8: return (float)(*(const uint8_t *)p - t->zero);
    case LOCI_TENSOR_OTHER: break;
    }
    return 0;
}

void loci_tensor_floats(const loci_tensor *t, float *ret)
{
    size_t scales = t->scales ? t->scales : 1;

    for (size_t i = 0; i < t->count; i++) {
        ret[i] = value_at(t, i);
        if (t->scales) ret[i] *= t->scale[i % scales];
    }
}
