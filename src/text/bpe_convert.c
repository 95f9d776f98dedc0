/* From the published table of a token scheme to ours. The published form is one line per token:
 * its bytes in base64, a space, its rank. Ours is a loci_dict whose ids are the ranks. */
#include "base/alloc.h"
#include "text/bpe.h"
#include "text/dict.h"

#include <string.h>

typedef struct table {
    loci_str *words; /* by rank; len 0 where none came yet */
    uint8_t *bytes;  /* all of them */
    size_t lines;    /* room in words */
    size_t used;     /* of bytes */
    size_t count;
    uint64_t highest;
} table;

static void table_done(table *t)
{
    loci_free(t->words);
    loci_free(t->bytes);
}

static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    return c == '/' ? 63 : -1;
}

/* Strict base64 with padding. Returns the number of bytes written (at most 3/4 of the text), or 0
 * for what is not base64 or empty. */
static size_t decode_base64(loci_str text, uint8_t *out)
{
    size_t used = 0, padding = 0;

    if (text.len % 4 != 0) return 0;
    while (padding < 2 && text.len > padding && text.ptr[text.len - 1 - padding] == '=') padding++;
    for (size_t i = 0; i < text.len; i += 4) {
        uint32_t bits = 0;
        for (size_t k = i; k < i + 4; k++) {
            int six = k < text.len - padding ? sextet(text.ptr[k]) : 0;
            if (six < 0) return 0;
            bits = bits << 6 | (uint32_t)six;
        }
        out[used++] = (uint8_t)(bits >> 16);
        out[used++] = (uint8_t)(bits >> 8);
        out[used++] = (uint8_t)bits;
    }
    return used - padding;
}

static loci_rc read_line(table *t, loci_str line, size_t number, loci_err *err)
{
    loci_str base64, rest = line;
    uint64_t rank;

    if (!loci_str_cut(&rest, ' ', &base64) || !loci_str_to_u64(rest, &rank))
        return loci_fail(err, LOCI_ECORRUPT, "token list: line %zu is not 'base64 rank'", number);
    if (rank >= t->lines || t->words[rank].len)
        return loci_fail(err, LOCI_ECORRUPT, "token list: rank on line %zu is doubled or too high",
                         number);
    size_t len = decode_base64(base64, t->bytes + t->used);
    if (len == 0)
        return loci_fail(err, LOCI_ECORRUPT, "token list: line %zu is not base64", number);
    t->words[rank] = (loci_str){ (const char *)t->bytes + t->used, len };
    t->used += len;
    t->count++;
    if (rank > t->highest) t->highest = rank;
    return LOCI_OK;
}

static loci_rc read_lines(table *t, loci_str text, loci_err *err)
{
    loci_str line;

    for (size_t number = 1; loci_str_cut(&text, '\n', &line); number++) {
        if (line.len == 0) continue;
        loci_rc rc = read_line(t, line, number, err);
        if (rc) return rc;
    }
    if (t->count == 0) return loci_fail(err, LOCI_ECORRUPT, "token list: no tokens in it");
    if (t->highest + 1 != t->count)
        return loci_fail(err, LOCI_ECORRUPT, "token list: %zu tokens, but the highest rank is %llu",
                         t->count, (unsigned long long)t->highest);
    return LOCI_OK;
}

static size_t count_lines(loci_str text)
{
    size_t lines = 1;

    for (size_t i = 0; i < text.len; i++) lines += text.ptr[i] == '\n';
    return lines;
}

loci_rc loci_bpe_convert(loci_str tiktoken, loci_bpe_scheme scheme, loci_buf *out, loci_err *err)
{
    LOCI_AUTO(table_done) table t = { 0 };
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;

    /* One spare group of base64, because the padding of a line is decoded before it is cut off. */
    t.bytes = loci_zalloc(tiktoken.len + 3);
    t.lines = count_lines(tiktoken);
    t.words = loci_zalloc(t.lines * sizeof *t.words);
    if (!t.bytes || !t.words) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = read_lines(&t, tiktoken, err);
    if (rc) return rc;
    rc = loci_dict_build(t.words, t.count,
                         scheme == LOCI_BPE_O200K ? LOCI_DICT_O200K : LOCI_DICT_CL100K, out, err);
    if (rc) return rc;
    return loci_bpe_open_memory(loci_buf_str(out), scheme, &bpe, err); /* has it every byte? */
}
