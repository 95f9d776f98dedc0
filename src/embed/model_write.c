#include "base/alloc.h"
#include "embed/model_file.h"
#include "embed/model_form.h"
#include "vec/crc32c.h"

#include <errno.h>
#include <unistd.h>

struct loci_model_writer {
    FILE *file;
    uint64_t at; /* where the next block goes */
    union {
        model_page page;
        char bytes[LOCI_MODEL_PAGE];
    };
    char *path, *temporary; /* `temporary` is removed at the end unless it is empty */
};

static loci_rc io_fail(const loci_model_writer *w, const char *what, loci_err *err)
{
    return loci_fail(err, LOCI_EIO, "cannot %s %s: %s", what, w->temporary, strerror(errno));
}

static loci_rc open_file(loci_model_writer *w, const char *path, loci_err *err)
{
    size_t len = strlen(path) + 1, room = len + 32;

    w->path = loci_zalloc(len);
    w->temporary = loci_zalloc(room);
    if (!w->path || !w->temporary) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    memcpy(w->path, path, len);
    (void)snprintf(w->temporary, room, "%s.%ld.tmp", path, (long)getpid());

    w->file = fopen(w->temporary, "wbe");
    if (!w->file) return io_fail(w, "create", err);
    if (fwrite(w->bytes, 1, sizeof w->bytes, w->file) != sizeof w->bytes)
        return io_fail(w, "write", err);
    return LOCI_OK;
}

loci_rc loci_model_writer_open(const char *path, const loci_model_info *info,
                               loci_model_writer **ret_writer, loci_err *err)
{
    LOCI_AUTO(loci_model_writer_closep) loci_model_writer *w = loci_zalloc(sizeof *w);
    if (!w) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    memcpy(w->page.magic, MODEL_MAGIC, sizeof w->page.magic);
    w->page.version = LOCI_MODEL_VERSION;
    w->page.info = *info;
    w->at = LOCI_MODEL_PAGE;
    loci_rc rc = open_file(w, path, err);
    if (rc) return rc;

    *ret_writer = LOCI_TAKE(w);
    return LOCI_OK;
}

loci_rc loci_model_writer_add(loci_model_writer *w, const void *block, size_t bytes, loci_err *err)
{
    static const char zeros[BLOCK_ALIGN];
    size_t padding = (BLOCK_ALIGN - bytes % BLOCK_ALIGN) % BLOCK_ALIGN;
    model_block *b = &w->page.block[w->page.blocks];

    if (w->page.blocks >= LOCI_COUNT(w->page.block))
        return loci_fail(err, LOCI_ELIMIT, "a model file has at most %zu parts",
                         LOCI_COUNT(w->page.block));
    if (fwrite(block, 1, bytes, w->file) != bytes || fwrite(zeros, 1, padding, w->file) != padding)
        return io_fail(w, "write", err);

    b->offset = w->at;
    b->bytes = bytes + padding;
    b->padding = (uint32_t)padding;
    b->crc = loci_crc32c(loci_crc32c(0, block, bytes), zeros, padding);
    w->at += b->bytes;
    w->page.blocks++;
    return LOCI_OK;
}

loci_rc loci_model_writer_finish(loci_model_writer *w, loci_err *err)
{
    w->page.file_bytes = w->at;
    w->page.crc = model_page_crc(w->bytes);
    loci_rc rc = loci_model_check_page(w->bytes, w->at, w->path, err);
    if (rc) return rc;

    if (fseek(w->file, 0, SEEK_SET) != 0 ||
        fwrite(w->bytes, 1, sizeof w->bytes, w->file) != sizeof w->bytes || fflush(w->file) != 0 ||
        fsync(fileno(w->file)) != 0)
        return io_fail(w, "write", err);
    if (rename(w->temporary, w->path) != 0) return io_fail(w, "rename", err);
    w->temporary[0] = 0;
    return LOCI_OK;
}

void loci_model_writer_close(loci_model_writer *w)
{
    if (!w) return;
    if (w->file) (void)fclose(w->file);
    if (w->temporary && w->temporary[0]) (void)unlink(w->temporary);
    loci_free(w->path);
    loci_free(w->temporary);
    loci_free(w);
}
