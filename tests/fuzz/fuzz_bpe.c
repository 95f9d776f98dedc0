/* Any bytes as a text: its tokens cover it, counting agrees with encoding, cutting keeps its limit.
 * The first byte chooses the scheme, the limit, and whether the rest is a text, a published token
 * list or a table to open. */
#include <stddef.h>
#include <stdint.h>

#include "../unit/text/toy_table.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/utf8.h"
#include "text/bpe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) abort();
}

static void fuzz_text(const loci_bpe *bpe, loci_str text, size_t limit)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new((size_t)64 << 20);
    loci_tokens tokens = { 0 };
    size_t count = 0, at = 0, len = 0;

    if (!arena || loci_bpe_encode(bpe, text, arena, &tokens, NULL)) return;
    for (size_t i = 0; i < tokens.count; i++) {
        check(tokens.items[i].start == at && tokens.items[i].end > at);
        at = tokens.items[i].end;
    }
    check(at == text.len);
    check(loci_bpe_count(bpe, text, &count, NULL) == LOCI_OK && count == tokens.count);
    check(loci_bpe_cut(bpe, text, limit, &len, NULL) == LOCI_OK && len <= text.len);
    check(loci_utf8_cut(text, len).len == len);
    check(loci_bpe_count(bpe, loci_str_sub(text, 0, len), &at, NULL) == LOCI_OK && at <= limit);
    if (count <= limit) check(len == text.len);
}

/* A table from outside: refused, or good enough to count with. */
static void fuzz_table(loci_str table)
{
    LOCI_AUTO(loci_buf_done) loci_buf copy; /* where the heap aligns it */
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;
    size_t count;

    loci_buf_init(&copy, (size_t)1 << 24);
    loci_buf_add(&copy, table);
    if (loci_bpe_open_memory(loci_buf_str(&copy), LOCI_BPE_O200K, &bpe, NULL)) return;
    loci_rc rc = loci_bpe_verify(bpe, NULL);
    check(rc == LOCI_OK || rc == LOCI_ECORRUPT);
    check(loci_bpe_count(bpe, LOCI_STR("some text 123  aaaa"), &count, NULL) == LOCI_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_buf_done) loci_buf out;
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;

    if (size == 0) return 0;
    loci_bpe_scheme scheme = data[0] & 1 ? LOCI_BPE_CL100K : LOCI_BPE_O200K;
    loci_str rest = { (const char *)data + 1, size - 1 };
    loci_buf_init(&out, (size_t)1 << 24);
    if ((data[0] >> 1 & 3) == 1) {
        if (loci_bpe_convert(rest, scheme, &out, NULL) == LOCI_OK) check(out.len > 256);
    } else if ((data[0] >> 1 & 3) == 2) {
        fuzz_table(rest);
    } else if (!toy_table(scheme == LOCI_BPE_O200K ? LOCI_DICT_O200K : LOCI_DICT_CL100K, &out,
                          NULL)) {
        if (loci_bpe_open_memory(loci_buf_str(&out), scheme, &bpe, NULL)) abort();
        fuzz_text(bpe, rest, data[0] >> 3);
    }
    return 0;
}
