/* Any bytes as a text, cut by the tokens of either tokenizer: the new parts are the text, borders
 * are between characters, sizes are kept. The first two bytes choose tokenizer, size and overlap.
 */
#include <stddef.h>
#include <stdint.h>

#include "../unit/text/toy_table.h"
#include "../unit/text/toy_vocabulary.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/utf8.h"
#include "text/bpe.h"
#include "text/chunk.h"
#include "text/wordpiece.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) abort();
}

static bool tokenize(bool pieces, loci_str text, loci_arena *arena, loci_tokens *ret)
{
    LOCI_AUTO(loci_buf_done) loci_buf table;
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;
    loci_wordpiece wp;

    loci_buf_init(&table, (size_t)1 << 20);
    if (pieces)
        return !loci_wordpiece_build(LOCI_STR(TOY_VOCABULARY), &table, NULL) &&
               !loci_wordpiece_init(&wp, table.ptr, table.len, NULL) &&
               !loci_wordpiece_encode(&wp, text, 0, arena, ret, NULL);
    return !toy_table(LOCI_DICT_O200K, &table, NULL) &&
           !loci_bpe_open_memory(loci_buf_str(&table), LOCI_BPE_O200K, &bpe, NULL) &&
           !loci_bpe_encode(bpe, text, arena, ret, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new((size_t)64 << 20);
    loci_tokens tokens = { 0 };
    loci_chunk_list list = { 0 };
    size_t at = 0;

    if (!arena || size < 2) return 0;
    loci_str text = { (const char *)data + 2, size - 2 };
    loci_chunk_size limits = { LOCI_CHUNK_LEAST + (data[0] >> 1), 0 };
    limits.overlap = data[1] % (limits.tokens / 2 + 1);
    if (!tokenize(data[0] & 1, text, arena, &tokens)) return 0;
    check(loci_chunk_split(text, &tokens, limits, arena, &list, NULL) == LOCI_OK);
    for (size_t i = 0; i < list.count; i++) {
        loci_chunk c = list.items[i];
        check(c.fresh == at && c.start <= c.fresh && c.end > c.fresh && c.tokens <= limits.tokens);
        check(loci_utf8_cut(text, c.start).len == c.start);
        check(loci_utf8_cut(text, c.end).len == c.end);
        at = c.end;
    }
    check(at == text.len);
    return 0;
}
