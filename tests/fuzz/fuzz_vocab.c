/* Any bytes as a list of words or a tokenizer's JSON: refused, or as many lines as were asked for.
 */
#include "base/arena.h"
#include "embed/vocab.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 20);
    loci_str file = { (const char *)data, size }, lines;
    size_t count = 0, want = size ? data[size - 1] % 8 : 0;
    loci_err err;

    if (!arena || loci_vocab_lines(file, want, arena, &lines, &err)) return 0;
    for (size_t i = 0; i < lines.len; i++) count += lines.ptr[i] == '\n';
    if (count != want) abort();
    return 0;
}
