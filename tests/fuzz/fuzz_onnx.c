/* Any bytes as an ONNX file: refused, or read so that every tensor lies inside them. */
#include "base/alloc.h"
#include "base/arena.h"
#include "embed/onnx.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 20);
    loci_str file = { (const char *)data, size };
    loci_tensor_set set;
    loci_err err;

    if (!arena || loci_onnx_read(file, arena, &set, &err)) return 0;
    for (size_t i = 0; i < set.count; i++) {
        const loci_tensor *t = &set.items[i];
        if (t->type == LOCI_TENSOR_OTHER) continue;
        if (t->count * loci_tensor_width(t->type) != t->data.len) abort();
        LOCI_AUTO(loci_freep) float *values = loci_zalloc(t->count * sizeof *values);
        if (values) loci_tensor_floats(t, values);
    }
    return 0;
}
