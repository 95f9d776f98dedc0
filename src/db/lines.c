#include "db/lines.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "db/place.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    CHUNK = 64 << 10,
    PATH_BYTES = 4096,
    GZIP = 15 + 16, /* zlib's way to ask for gzip with the largest window */
    MEMORY_LEVEL = 8
};

struct loci_lines_out {
    int fd;
    bool own; /* the descriptor is ours to close, and a file is to be named */
    bool gzip, replace, finished;
    loci_buf path, temporary;
    size_t held; /* bytes in `plain` */
    z_stream z;
    unsigned char plain[CHUNK], packed[CHUNK];
};

static loci_rc write_all(loci_lines_out *out, const unsigned char *bytes, size_t size,
                         loci_err *err)
{
    while (size) {
        ssize_t n = write(out->fd, bytes, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return loci_fail(err, errno == ENOSPC ? LOCI_EUNAVAILABLE : LOCI_EIO,
                             "cannot write %s: %s", out->own ? out->path.ptr : "to the output",
                             strerror(errno));
        bytes += n;
        size -= (size_t)n;
    }
    return LOCI_OK;
}

/* Hand what is held to the file, through zlib when asked for. */
static loci_rc flush(loci_lines_out *out, bool last, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    if (!out->gzip) {
        rc = write_all(out, out->plain, out->held, err);
        out->held = 0;
        return rc;
    }
    out->z.next_in = out->plain;
    out->z.avail_in = (unsigned)out->held;
    do {
        out->z.next_out = out->packed;
        out->z.avail_out = CHUNK;
        (void)deflate(&out->z, last ? Z_FINISH : Z_NO_FLUSH);
        rc = write_all(out, out->packed, CHUNK - out->z.avail_out, err);
    } while (!rc && out->z.avail_out == 0);
    out->held = 0;
    return rc;
}

static loci_rc open_out(loci_lines_out *out, loci_err *err)
{
    if (out->gzip && deflateInit2(&out->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, MEMORY_LEVEL,
                                  Z_DEFAULT_STRATEGY) != Z_OK) {
        out->gzip = false;
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    if (!out->own) return LOCI_OK;
    out->fd = open(out->temporary.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out->fd >= 0) return LOCI_OK;
    return loci_fail(err, errno == EACCES ? LOCI_EDENIED : LOCI_EIO, "cannot make %s: %s",
                     out->temporary.ptr, strerror(errno));
}

loci_rc loci_lines_create(const char *path, bool replace, loci_lines_out **ret_out, loci_err *err)
{
    LOCI_AUTO(loci_lines_out_freep) loci_lines_out *out = loci_zalloc(sizeof *out);
    if (!out) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    out->own = strcmp(path, "-") != 0;
    out->fd = out->own ? -1 : STDOUT_FILENO;
    out->gzip = loci_str_ends(loci_str_from(path), LOCI_STR(".gz"));
    out->replace = replace;
    loci_buf_init(&out->path, PATH_BYTES);
    loci_buf_init(&out->temporary, PATH_BYTES);
    loci_buf_add_cstr(&out->path, path);
    loci_buf_printf(&out->temporary, "%s.%ld.tmp", path, (long)getpid());
    loci_rc rc = loci_buf_check(&out->temporary, err);
    if (!rc && out->own) rc = loci_place_check(path, replace, err);
    if (!rc) rc = open_out(out, err);
    if (rc) return rc;
    *ret_out = LOCI_TAKE(out);
    return LOCI_OK;
}

static loci_rc put(loci_lines_out *out, loci_str s, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    while (!rc && s.len) {
        size_t n = s.len < CHUNK - out->held ? s.len : CHUNK - out->held;
        memcpy(out->plain + out->held, s.ptr, n);
        out->held += n;
        s = loci_str_sub(s, n, s.len);
        if (out->held == CHUNK) rc = flush(out, false, err);
    }
    return rc;
}

loci_rc loci_lines_put(loci_lines_out *out, loci_str line, loci_err *err)
{
    loci_rc rc = put(out, line, err);

    return rc ? rc : put(out, LOCI_STR("\n"), err);
}

loci_rc loci_lines_finish(loci_lines_out *out, loci_err *err)
{
    loci_rc rc = flush(out, true, err);

    assert(!out->finished);
    if (!rc && out->own) rc = loci_place_file(out->temporary.ptr, out->path.ptr, out->replace, err);
    if (!rc) out->finished = true;
    return rc;
}

void loci_lines_out_free(loci_lines_out *out)
{
    if (!out) return;
    if (out->gzip) (void)deflateEnd(&out->z);
    if (out->own && out->fd >= 0) {
        (void)close(out->fd);
        if (!out->finished) (void)unlink(out->temporary.ptr);
    }
    loci_buf_done(&out->path);
    loci_buf_done(&out->temporary);
    loci_free(out);
}

struct loci_lines_in {
    int fd; /* -1: memory */
    loci_str memory;
    int64_t size, position; /* of the file; how much of it was read */
    bool gzip, inflating;   /* gzip, and inside one of its members */
    bool last;              /* the file is used up */
    z_stream z;
    loci_buf line;
    size_t number;
    size_t from, to; /* what of `plain` was not yet given out */
    unsigned char packed[CHUNK], plain[CHUNK];
};

/* Up to `most` bytes of the file as it is; 0 at its end. */
static loci_rc read_raw(loci_lines_in *in, unsigned char *bytes, size_t most, size_t *ret_size,
                        loci_err *err)
{
    ssize_t n = 0;

    if (in->fd < 0) {
        loci_str part = loci_str_sub(in->memory, (size_t)in->position, most);
        if (part.len) memcpy(bytes, part.ptr, part.len);
        n = (ssize_t)part.len;
    } else {
        do n = read(in->fd, bytes, most);
        while (n < 0 && errno == EINTR);
        if (n < 0) return loci_fail(err, LOCI_EIO, "cannot read the file: %s", strerror(errno));
    }
    in->position += n;
    *ret_size = (size_t)n;
    return LOCI_OK;
}

static loci_rc damaged(const loci_lines_in *in, const char *how, loci_err *err)
{
    return loci_fail(err, LOCI_ECORRUPT, "the compressed file is %s behind line %zu", how,
                     in->number);
}

/* One turn of zlib: from `packed` to `plain`. */
static loci_rc inflate_some(loci_lines_in *in, loci_err *err)
{
    in->z.next_out = in->plain;
    in->z.avail_out = CHUNK;
    int rc = inflate(&in->z, Z_NO_FLUSH);

    if (rc == Z_STREAM_END)
        in->inflating = false;
    else if (rc != Z_OK && rc != Z_BUF_ERROR)
        return damaged(in, "damaged", err);
    in->from = 0;
    in->to = CHUNK - in->z.avail_out;
    return LOCI_OK;
}

/* A gzip file is one or more members; bytes that begin none are damage. */
static loci_rc fill_gzip(loci_lines_in *in, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    in->from = in->to = 0;
    while (!rc && in->from == in->to && !in->last) {
        if (in->z.avail_in == 0) {
            size_t n = 0;
            rc = read_raw(in, in->packed, CHUNK, &n, err);
            if (rc) return rc;
            in->z.next_in = in->packed;
            in->z.avail_in = (unsigned)n;
            if (n == 0) {
                in->last = true;
                return in->inflating ? damaged(in, "cut off", err) : LOCI_OK;
            }
        }
        if (!in->inflating) {
            (void)inflateReset2(&in->z, GZIP);
            in->inflating = true;
        }
        rc = inflate_some(in, err);
    }
    return rc;
}

static loci_rc fill(loci_lines_in *in, loci_err *err)
{
    size_t n = 0;

    if (in->gzip) return fill_gzip(in, err);
    loci_rc rc = read_raw(in, in->plain, CHUNK, &n, err);
    in->from = 0;
    in->to = n;
    in->last = n == 0;
    return rc;
}

loci_rc loci_lines_rewind(loci_lines_in *in, loci_err *err)
{
    unsigned char head[2] = { 0 };
    size_t n = 0;

    in->position = 0;
    if (in->fd >= 0 && lseek(in->fd, 0, SEEK_SET) != 0)
        return loci_fail(err, LOCI_EIO, "cannot read the file again: %s", strerror(errno));
    loci_rc rc = read_raw(in, head, sizeof head, &n, err);
    if (rc) return rc;
    in->gzip = n == 2 && head[0] == 0x1F && head[1] == 0x8B;
    in->position = 0;
    if (in->fd >= 0) (void)lseek(in->fd, 0, SEEK_SET);
    in->inflating = in->last = false;
    in->number = in->from = in->to = 0;
    in->z.avail_in = 0;
    loci_buf_clear(&in->line);
    return LOCI_OK;
}

static loci_rc start_in(loci_lines_in *in, loci_err *err)
{
    loci_buf_init(&in->line, LOCI_LINE_BYTES);
    if (inflateInit2(&in->z, GZIP) != Z_OK) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    return loci_lines_rewind(in, err);
}

static loci_rc open_regular(const char *path, loci_lines_in *in, loci_err *err)
{
    struct stat st;

    in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in->fd < 0) {
        loci_rc code = errno == ENOENT ? LOCI_ENOTFOUND : errno == EACCES ? LOCI_EDENIED : LOCI_EIO;
        return loci_fail(err, code, "cannot open %s: %s", path, strerror(errno));
    }
    if (fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return loci_fail(err, LOCI_EINVAL, "%s is not a file", path);
    in->size = st.st_size;
    return LOCI_OK;
}

loci_rc loci_lines_open(const char *path, loci_lines_in **ret_in, loci_err *err)
{
    LOCI_AUTO(loci_lines_in_freep) loci_lines_in *in = loci_zalloc(sizeof *in);
    if (!in) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    in->fd = -1;
    loci_rc rc = open_regular(path, in, err);
    if (!rc) rc = start_in(in, err);
    if (rc) return rc;
    *ret_in = LOCI_TAKE(in);
    return LOCI_OK;
}

loci_rc loci_lines_open_memory(loci_str bytes, loci_lines_in **ret_in, loci_err *err)
{
    LOCI_AUTO(loci_lines_in_freep) loci_lines_in *in = loci_zalloc(sizeof *in);
    if (!in) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    in->fd = -1;
    in->memory = bytes;
    in->size = (int64_t)bytes.len;
    loci_rc rc = start_in(in, err);
    if (rc) return rc;
    *ret_in = LOCI_TAKE(in);
    return LOCI_OK;
}

/* Move bytes up to the next line end into the line. True when the end was there. */
static bool take_part(loci_lines_in *in)
{
    const unsigned char *start = in->plain + in->from;
    const unsigned char *end = memchr(start, '\n', in->to - in->from);
    size_t n = end ? (size_t)(end - start) : in->to - in->from;

    loci_buf_add(&in->line, (loci_str){ (const char *)start, n });
    in->from += n + (end ? 1 : 0);
    return end != NULL;
}

loci_rc loci_lines_next(loci_lines_in *in, loci_str *ret_line, loci_err *err)
{
    loci_rc rc = LOCI_OK;
    bool whole = false;

    loci_buf_clear(&in->line);
    while (!whole) {
        if (in->from < in->to) whole = take_part(in);
        rc = loci_buf_check(&in->line, err);
        if (rc == LOCI_ELIMIT)
            return loci_fail(err, LOCI_ELIMIT, "line %zu is longer than %d bytes", in->number + 1,
                             LOCI_LINE_BYTES);
        if (rc || whole) break;
        rc = fill(in, err);
        if (rc) return rc;
        if (in->last && in->from == in->to) break;
    }
    if (rc) return rc;
    if (!whole && in->line.len == 0) return LOCI_DONE;
    in->number++;
    if (!whole)
        return loci_fail(err, LOCI_ECORRUPT, "line %zu has no end: the file was cut off",
                         in->number);
    *ret_line = loci_buf_str(&in->line);
    return LOCI_OK;
}

size_t loci_lines_number(const loci_lines_in *in)
{
    return in->number;
}

int64_t loci_lines_position(const loci_lines_in *in)
{
    return in->position;
}

int64_t loci_lines_size(const loci_lines_in *in)
{
    return in->size;
}

void loci_lines_in_free(loci_lines_in *in)
{
    if (!in) return;
    (void)inflateEnd(&in->z);
    if (in->fd >= 0) (void)close(in->fd);
    loci_buf_done(&in->line);
    loci_free(in);
}
