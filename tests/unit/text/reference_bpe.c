/* reference-bpe SCHEME TABLE RECORDS: our tokens against those that the reference gave (TAP). The
 * records are those of strings.mjs. Cutting is checked on the way, on the same texts. */
#include "base/alloc.h"
#include "base/buf.h"
#include "records.h"
#include "text/bpe.h"

#include <stdio.h>

static bool covers(loci_str text, const loci_tokens *tokens)
{
    size_t at = 0;

    for (size_t i = 0; i < tokens->count; i++) {
        if (tokens->items[i].start != at || tokens->items[i].end <= at) return false;
        at = tokens->items[i].end;
    }
    return at == text.len;
}

static bool cuts(const loci_bpe *bpe, loci_str text, size_t count)
{
    size_t limit = count / 2, len = SIZE_MAX, again = SIZE_MAX;

    if (loci_bpe_cut(bpe, text, limit, &len, NULL)) return false;
    if (loci_bpe_count(bpe, loci_str_sub(text, 0, len), &again, NULL)) return false;
    bool inside = len < text.len && ((unsigned char)text.ptr[len] & 0xC0) == 0x80;
    return len <= text.len && again <= limit && !inside;
}

static bool agrees(const loci_bpe *bpe, const record *r, loci_arena *arena)
{
    loci_tokens tokens;
    size_t count = 0;

    loci_arena_reset(arena);
    if (loci_bpe_encode(bpe, r->text, arena, &tokens, NULL)) return false;
    if (loci_bpe_count(bpe, r->text, &count, NULL) || count != tokens.count) return false;
    if (count != r->count) return false;
    for (size_t i = 0; i < count; i++)
        if (tokens.items[i].id != record_id(r, i)) return false;
    return covers(r->text, &tokens) && cuts(bpe, r->text, count);
}

int main(int argc, char **argv)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new((size_t)64 << 20);
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;
    LOCI_AUTO(loci_buf_done) loci_buf data = { 0 };
    size_t at = 0, number = 0, wrong = 0;
    loci_bpe_scheme scheme;
    loci_err err = { 0 };
    record r;

    if (argc != 4 || !arena || loci_bpe_scheme_parse(loci_str_from(argv[1]), &scheme, &err) ||
        loci_bpe_open(argv[2], scheme, &bpe, &err) || !records_read(argv[3], &data)) {
        (void)printf("1..1\nnot ok 1 - %s\n", err.msg);
        return 1;
    }
    for (; records_next(loci_buf_str(&data), &at, &r); number++) {
        if (agrees(bpe, &r, arena)) continue;
        wrong++;
        (void)printf("# string %zu differs: ", number);
        record_print(&r);
    }
    (void)printf("1..1\n%s 1 - %s: %zu of %zu strings equal the reference\n",
                 wrong || !number ? "not ok" : "ok", argv[1], number - wrong, number);
    return wrong || !number;
}
