/* From the published table of a token scheme to ours. The published form is one line per token:
 * its bytes in base64, a space, its rank. Ours is a loci_dict whose ids are the ranks. */
#include "base/alloc.h"
#include "base/base64.h"
#include "text/bpe.h"
#include "text/dict.h"

typedef struct table {
    loci_str *words; /* by rank; len 0 where none came yet */
    size_t lines;    /* room in words */
    loci_buf bytes;  /* of all words; has all its room from the start, so that it stays in place */
    size_t count;
    uint64_t highest;
} table;

static void table_done(table *t)
{
    loci_free(t->words);
    loci_buf_done(&t->bytes);
}

static size_t count_lines(loci_str text)
{
    size_t lines = 1;

    for (size_t i = 0; i < text.len; i++) lines += text.ptr[i] == '\n';
    return lines;
}

static loci_rc table_init(table *t, loci_str text, loci_err *err)
{
    loci_buf_init(&t->bytes, text.len + 1);
    t->lines = count_lines(text);
    t->words = loci_zalloc(t->lines * sizeof *t->words);
    if (!t->words || !loci_buf_reserve(&t->bytes, text.len + 1))
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    return LOCI_OK;
}

static loci_rc read_line(table *t, loci_str line, size_t number, loci_err *err)
{
    loci_str base64, rest = line;
    size_t start = t->bytes.len;
    uint64_t rank;

    if (!loci_str_cut(&rest, ' ', &base64) || !loci_str_to_u64(rest, &rank))
        return loci_fail(err, LOCI_ECORRUPT, "token list: line %zu is not 'base64 rank'", number);
    if (rank >= t->lines || t->words[rank].len)
        return loci_fail(err, LOCI_ECORRUPT, "token list: rank on line %zu is doubled or too high",
                         number);
    if (loci_base64_decode(LOCI_BASE64, base64, &t->bytes, NULL) || t->bytes.len == start)
        return loci_fail(err, LOCI_ECORRUPT, "token list: line %zu is not base64", number);
    t->words[rank] = (loci_str){ t->bytes.ptr + start, t->bytes.len - start };
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

loci_rc loci_bpe_convert(loci_str tiktoken, loci_bpe_scheme scheme, loci_buf *out, loci_err *err)
{
    LOCI_AUTO(table_done) table t = { 0 };
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;

    loci_rc rc = table_init(&t, tiktoken, err);
    if (rc) return rc;
    rc = read_lines(&t, tiktoken, err);
    if (rc) return rc;
    rc = loci_dict_build(t.words, t.count,
                         scheme == LOCI_BPE_O200K ? LOCI_DICT_O200K : LOCI_DICT_CL100K, out, err);
    if (rc) return rc;
    return loci_bpe_open_memory(loci_buf_str(out), scheme, &bpe, err); /* has it every byte? */
}
