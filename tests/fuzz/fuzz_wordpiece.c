/* Any bytes as a text: pieces have rising places inside it; a limit gives a front part of the
 * whole. With a first byte of 255 the rest is a vocabulary. */
#include <stddef.h>
#include <stdint.h>

#include "../unit/text/toy_vocabulary.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "text/wordpiece.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) abort();
}

static void fuzz_text(const loci_wordpiece *wp, loci_str text, size_t limit)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new((size_t)64 << 20);
    loci_tokens all = { 0 }, some = { 0 };
    uint32_t at = 0;

    if (!arena || loci_wordpiece_encode(wp, text, 0, arena, &all, NULL)) return;
    for (size_t i = 0; i < all.count; i++) {
        loci_token t = all.items[i];
        check(t.start >= at && t.end > t.start && t.end <= text.len && t.id < wp->vocabulary.count);
        at = t.start;
    }
    check(loci_wordpiece_input(wp, text, limit + 2, arena, &some, NULL) == LOCI_OK);
    check(some.count == (all.count < limit ? all.count : limit) + 2);
    for (size_t i = 1; i + 1 < some.count; i++) check(some.items[i].id == all.items[i - 1].id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_buf_done) loci_buf table;
    loci_wordpiece wp;

    if (size == 0) return 0;
    loci_str rest = { (const char *)data + 1, size - 1 };
    loci_buf_init(&table, (size_t)1 << 24);
    loci_str vocabulary = data[0] == 255 ? rest : LOCI_STR(TOY_VOCABULARY);
    if (loci_wordpiece_build(vocabulary, &table, NULL)) return 0;
    check(loci_wordpiece_init(&wp, table.ptr, table.len, NULL) == LOCI_OK);
    fuzz_text(&wp, rest, data[0]);
    return 0;
}
