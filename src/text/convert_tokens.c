/* loci-convert-tokens: a published token list in, our mapped token table out. Run at set-up. */
#include "base/alloc.h"
#include "base/buf.h"
#include "text/bpe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)64 << 20)

static loci_rc read_file(const char *path, loci_buf *out, loci_err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) return loci_fail(err, LOCI_EIO, "cannot open %s: %s", path, strerror(errno));

    for (size_t n = 1; n > 0;) {
        char *room = loci_buf_reserve(out, 65536);
        n = room ? fread(room, 1, 65536, file) : 0;
        loci_buf_advance(out, n);
    }
    bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed) return loci_fail(err, LOCI_EIO, "cannot read %s", path);
    return loci_buf_check(out, err);
}

/* Written beside its place and then renamed, so that a reader never sees half a table. */
static loci_rc write_file(const char *path, loci_str data, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf name;
    loci_buf_init(&name, 4096);
    loci_buf_printf(&name, "%s.%ld.tmp", path, (long)getpid());
    loci_rc rc = loci_buf_check(&name, err);
    if (rc) return rc;

    FILE *file = fopen(name.ptr, "wb");
    if (!file) return loci_fail(err, LOCI_EIO, "cannot write %s: %s", name.ptr, strerror(errno));
    bool ok = fwrite(data.ptr, 1, data.len, file) == data.len && fflush(file) == 0 &&
              fsync(fileno(file)) == 0;
    ok = fclose(file) == 0 && ok;
    if (ok && rename(name.ptr, path) == 0) return LOCI_OK;
    loci_err_set(err, LOCI_EIO, "cannot write %s: %s", path, strerror(errno));
    (void)unlink(name.ptr);
    return LOCI_EIO;
}

static loci_rc check(const char *table, loci_bpe_scheme scheme, loci_err *err)
{
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;

    loci_rc rc = loci_bpe_open(table, scheme, &bpe, err);
    return rc ? rc : loci_bpe_verify(bpe, err);
}

static loci_rc convert(const char *list, const char *table, loci_bpe_scheme scheme, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf in;
    LOCI_AUTO(loci_buf_done) loci_buf out;

    loci_buf_init(&in, MOST_BYTES);
    loci_buf_init(&out, MOST_BYTES);
    loci_rc rc = read_file(list, &in, err);
    if (!rc) rc = loci_bpe_convert(loci_buf_str(&in), scheme, &out, err);
    if (!rc) rc = write_file(table, loci_buf_str(&out), err);
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
