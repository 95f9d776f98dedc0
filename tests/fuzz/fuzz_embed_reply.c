/* The answers of remote embedders: the first byte says which shape and how many texts were asked
 * for. What is accepted is vectors of length 1; what is not gives a message fit to be shown. */
#include "base/utf8.h"
#include "embed/remote_shape.h"

#include <assert.h>
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_vectors(const loci_remote_vectors *v, size_t count)
{
    assert(v->dim > 0 && v->dim <= LOCI_REMOTE_DIM);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t k = 0; k < v->dim; k++) {
            double value = (double)v->values[i * v->dim + k];
            sum += value * value;
        }
        assert(fabs(sum - 1) < 1e-3);
    }
}

static void check_complaint(loci_str answer, loci_arena *arena)
{
    loci_str says = loci_remote_complaint(answer, "key", arena);

    assert(says.len <= 120 && loci_utf8_valid(says));
    assert(says.len == 0 || loci_str_find(says, LOCI_STR("key")) == says.len);
    for (size_t i = 0; i < says.len; i++) assert((unsigned char)says.ptr[i] >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    loci_remote_vectors vectors = { 0 };
    loci_err err = { 0 };

    if (size == 0) return 0;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 20);
    if (!arena) return 0;
    loci_remote_shape shape = (loci_remote_shape)(data[0] % 3);
    size_t count = (size_t)data[0] / 3 % 64 + 1;
    loci_str answer = { (const char *)data + 1, size - 1 };

    loci_rc rc = loci_remote_read(shape, answer, count, arena, &vectors, &err);
    assert(rc == err.code);
    assert(rc == LOCI_OK || rc == LOCI_ECORRUPT || rc == LOCI_ELIMIT || rc == LOCI_ENOMEM);
    if (rc)
        assert(!vectors.values && err.msg[0]);
    else
        check_vectors(&vectors, count);
    check_complaint(answer, arena);
    return 0;
}
