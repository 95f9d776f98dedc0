/* loci-convert-tokens: a published token list in, our mapped token table out. Run at set-up. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/fs.h"
#include "text/bpe.h"

#include <stdio.h>
#include <sys/stat.h>

#define MOST_BYTES ((size_t)64 << 20)

static loci_rc check(const char *table, loci_bpe_scheme scheme, loci_err *err)
{
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;

    loci_rc rc = loci_bpe_open(table, scheme, &bpe, err);
    return rc ? rc : loci_bpe_verify(bpe, err);
}

/* The table is no secret: everyone may read it. */
static loci_rc convert(const char *list, const char *table, loci_bpe_scheme scheme, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(2 * MOST_BYTES);
    LOCI_AUTO(loci_buf_done) loci_buf out;
    loci_str text;

    loci_buf_init(&out, MOST_BYTES);
    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = loci_fs_read(arena, list, MOST_BYTES, &text, err);
    if (!rc) rc = loci_bpe_convert(text, scheme, &out, err);
    if (!rc) rc = loci_fs_write_private(table, loci_buf_str(&out), err);
    if (!rc && chmod(table, 0644) != 0) rc = loci_fail(err, LOCI_EIO, "cannot share %s", table);
    return rc ? rc : check(table, scheme, err);
}

int main(int argc, char **argv)
{
    loci_err err = { 0 };
    loci_bpe_scheme scheme;

    if (argc != 3 && argc != 4) {
        (void)fprintf(stderr, "usage: loci-convert-tokens SCHEME LIST TABLE  (make TABLE)\n"
                              "       loci-convert-tokens SCHEME TABLE       (check TABLE)\n"
                              "SCHEME is o200k_base or cl100k_base\n");
        return 2;
    }
    loci_rc rc = loci_bpe_scheme_parse(loci_str_from(argv[1]), &scheme, &err);
    if (!rc)
        rc = argc == 3 ? check(argv[2], scheme, &err) : convert(argv[2], argv[3], scheme, &err);
    if (!rc) return 0;
    (void)fprintf(stderr, "loci-convert-tokens: %s\n", err.msg);
    return 1;
}
