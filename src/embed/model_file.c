#include "embed/model_file.h"

#include "base/alloc.h"
#include "embed/model_form.h"
#include "vec/crc32c.h"
#include "vec/matmul.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMEDY "run 'make setup' to make it again"

struct loci_model {
    char *map; /* NULL until mapped; never written */
    size_t bytes;
    const model_page *page; /* at the start of map */
    atomic_bool checked[BLOCK_LAYERS + LOCI_MODEL_LAYERS];
    char path[]; /* for messages */
};

uint32_t model_page_crc(const void *page)
{
    static const uint32_t zero;
    const char *bytes = page;
    size_t at = offsetof(model_page, crc), after = at + sizeof zero;

    uint32_t crc = loci_crc32c(0, bytes, at);
    crc = loci_crc32c(crc, &zero, sizeof zero);
    return loci_crc32c(crc, bytes + after, LOCI_MODEL_PAGE - after);
}

/* A text of fixed room that ends inside it. */
static bool ends(const char *text, size_t room)
{
    return memchr(text, 0, room) != NULL;
}

static bool good_texts(const loci_model_info *i)
{
    return i->name[0] && ends(i->name, sizeof i->name) && ends(i->licence, sizeof i->licence) &&
           ends(i->package, sizeof i->package) && ends(i->sha256, sizeof i->sha256) &&
           ends(i->query_prefix, sizeof i->query_prefix) &&
           ends(i->document_prefix, sizeof i->document_prefix);
}

static bool good_width(uint32_t value, uint32_t most)
{
    return value > 0 && value <= most && value % LOCI_PANEL == 0;
}

static bool good_sizes(const loci_model_info *i)
{
    return i->layers > 0 && i->layers <= LOCI_MODEL_LAYERS &&
           good_width(i->hidden, LOCI_MODEL_HIDDEN) && good_width(i->ffn, LOCI_MODEL_FFN) &&
           i->heads > 0 && i->hidden % i->heads == 0 &&
           good_width(i->hidden / i->heads, LOCI_MODEL_HEAD) && i->vocab > 0 &&
           i->vocab <= LOCI_MODEL_VOCAB && i->positions > 0 && i->positions <= LOCI_MODEL_TOKENS &&
           i->max_tokens >= 2 && i->max_tokens <= i->positions;
}

static bool good_kinds(const loci_model_info *i)
{
    return (i->pooling == LOCI_POOL_MEAN || i->pooling == LOCI_POOL_CLS) &&
           (i->weights == LOCI_WEIGHTS_F32 || i->weights == LOCI_WEIGHTS_I8) &&
           isfinite(i->norm_eps) && i->norm_eps >= 0 && isfinite(i->cosine_low) &&
           isfinite(i->cosine_high);
}

/* What block `i` must measure; 0 for the vocabulary, which may have any size. */
static size_t expected(const loci_model_info *info, size_t i)
{
    loci_model_tables tables;
    loci_model_layer layer;

    if (i == BLOCK_VOCAB) return 0;
    if (i == BLOCK_WORDS) return loci_model_layout_tables(info, NULL, &tables);
    if (i == BLOCK_POSITIONS) return loci_model_layout_positions(info, NULL, &tables);
    return loci_model_layout_layer(info, NULL, &layer);
}

/* Blocks stand one behind the other and fill the file. */
static bool good_blocks(const model_page *page)
{
    uint64_t at = LOCI_MODEL_PAGE;

    for (size_t i = 0; i < page->blocks; i++) {
        const model_block *b = &page->block[i];
        size_t want = expected(&page->info, i);
        if (b->offset != at || b->bytes % BLOCK_ALIGN || b->padding >= BLOCK_ALIGN) return false;
        if (want ? b->bytes != want : b->bytes == 0 || b->bytes > LOCI_MODEL_VOCAB_BYTES)
            return false;
        at += b->bytes;
    }
    return at == page->file_bytes;
}

loci_rc loci_model_check_page(const void *bytes, uint64_t file_bytes, const char *path,
                              loci_err *err)
{
    model_page page;
    memcpy(&page, bytes, sizeof page); /* the fuzzer's bytes may stand anywhere */

    if (memcmp(page.magic, MODEL_MAGIC, sizeof page.magic) != 0)
        return loci_fail(err, LOCI_ECORRUPT, "%s is not a model file of loci; " REMEDY, path);
    if (page.version > LOCI_MODEL_VERSION)
        return loci_fail(err, LOCI_ENOSYS,
                         "%s has version %u, made by a newer loci; this one reads %d; " REMEDY,
                         path, page.version, LOCI_MODEL_VERSION);
    if (page.version == 0 || page.crc != model_page_crc(bytes))
        return loci_fail(err, LOCI_ECORRUPT, "%s: its first page is damaged; " REMEDY, path);
    if (!good_texts(&page.info) || !good_sizes(&page.info) || !good_kinds(&page.info) ||
        page.blocks != BLOCK_LAYERS + page.info.layers || !good_blocks(&page))
        return loci_fail(err, LOCI_ECORRUPT, "%s: its description makes no sense; " REMEDY, path);
    if (page.file_bytes != file_bytes)
        return loci_fail(err, LOCI_ECORRUPT, "%s has %llu bytes in place of %llu; " REMEDY, path,
                         (unsigned long long)file_bytes, (unsigned long long)page.file_bytes);
    return LOCI_OK;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) (void)close(*fd);
}

/* Map the file into model->map; closes the descriptor in any case, the mapping does not need it. */
static loci_rc map_file(loci_model *model, loci_err *err)
{
    struct stat st;
    LOCI_AUTO(close_fd) int fd = open(model->path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return loci_fail(err, LOCI_ENOTFOUND, "no model file %s; run 'make setup'", model->path);
    if (fd < 0 || fstat(fd, &st) != 0)
        return loci_fail(err, LOCI_EIO, "%s: %s", model->path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size < LOCI_MODEL_PAGE)
        return loci_fail(err, LOCI_ECORRUPT, "%s is too short to be a model file; " REMEDY,
                         model->path);

    model->bytes = (size_t)st.st_size;
    void *map = mmap(NULL, model->bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return loci_fail(err, LOCI_EIO, "%s: cannot map: %s", model->path, strerror(errno));
    model->map = map;
    model->page = map;
    return LOCI_OK;
}

loci_rc loci_model_open(const char *path, loci_model **ret_model, loci_err *err)
{
    size_t len = strlen(path) + 1;
    LOCI_AUTO(loci_model_closep) loci_model *model = loci_zalloc(sizeof *model + len);
    if (!model) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    memcpy(model->path, path, len);

    loci_rc rc = map_file(model, err);
    if (!rc) rc = loci_model_check_page(model->map, model->bytes, path, err);
    if (rc) return rc;

    *ret_model = LOCI_TAKE(model);
    return LOCI_OK;
}

void loci_model_close(loci_model *model)
{
    if (!model) return;
    if (model->map) (void)munmap(model->map, model->bytes);
    loci_free(model);
}

const loci_model_info *loci_model_get_info(const loci_model *model)
{
    return &model->page->info;
}

/* Two threads may both check a block: they read the same bytes and come to the same result. */
static loci_rc get_block(loci_model *model, size_t i, const char **ret, loci_err *err)
{
    const model_block *b = &model->page->block[i];
    const char *data = model->map + b->offset;

    if (!atomic_load_explicit(&model->checked[i], memory_order_acquire)) {
        if (loci_crc32c(0, data, b->bytes) != b->crc)
            return loci_fail(err, LOCI_ECORRUPT, "%s: part %zu is damaged; " REMEDY, model->path,
                             i);
        atomic_store_explicit(&model->checked[i], true, memory_order_release);
    }
    *ret = data;
    return LOCI_OK;
}

loci_rc loci_model_get_vocab(loci_model *model, loci_str *ret_table, loci_err *err)
{
    const model_block *b = &model->page->block[BLOCK_VOCAB];
    const char *data;
    loci_rc rc = get_block(model, BLOCK_VOCAB, &data, err);
    if (rc) return rc;

    *ret_table = (loci_str){ data, b->bytes - b->padding };
    return LOCI_OK;
}

loci_rc loci_model_get_tables(loci_model *model, loci_model_tables *ret, loci_err *err)
{
    const char *words, *positions;
    loci_rc rc = get_block(model, BLOCK_WORDS, &words, err);
    if (!rc) rc = get_block(model, BLOCK_POSITIONS, &positions, err);
    if (rc) return rc;

    (void)loci_model_layout_tables(&model->page->info, words, ret);
    (void)loci_model_layout_positions(&model->page->info, positions, ret);
    return LOCI_OK;
}

loci_rc loci_model_get_layer(loci_model *model, size_t layer, loci_model_layer *ret, loci_err *err)
{
    const char *data;
    if (layer >= model->page->info.layers)
        return loci_fail(err, LOCI_EINVAL, "%s has no layer %zu", model->path, layer);
    loci_rc rc = get_block(model, BLOCK_LAYERS + layer, &data, err);
    if (rc) return rc;

    (void)loci_model_layout_layer(&model->page->info, data, ret);
    return LOCI_OK;
}
