/* embed/model_file.h -- the file that holds a built-in model, mapped into memory.
 *
 * Here:     the form of the file, opening and checking one, writing one.
 * Not here: where models come from (embed/convert.h), what is done with them (embed/forward.h).
 * Owns:     an open model owns its mapping; everything got from it dies with it.
 * Threads:  an open model may be used by any number of threads; a writer by one.
 * Errors:   LOCI_ENOTFOUND no such file, LOCI_ECORRUPT damaged, cut short or something else,
 *           LOCI_ENOSYS made by a newer loci, LOCI_EIO, LOCI_ENOMEM. Messages name the file.
 *
 * Form: a page of 4096 bytes (magic, version, size, checksum of the page, description, table of
 * blocks), then the blocks, each a multiple of 64 bytes: vocabulary (text/wordpiece.h), word table,
 * position table, and one block per layer. Matrices lie in the panels that the kernels of vec/
 * read, so nothing is copied or computed at opening. Little-endian. The page and the size are
 * checked at opening, each block against its own checksum when it is first asked for; no byte is
 * without a checksum.
 */
#ifndef LOCI_EMBED_MODEL_FILE_H
#define LOCI_EMBED_MODEL_FILE_H

#include "base/err.h"
#include "base/str.h"

enum {
    LOCI_MODEL_VERSION = 1,
    LOCI_MODEL_PAGE = 4096,
    LOCI_MODEL_LAYERS = 64,   /* limits of what is accepted */
    LOCI_MODEL_HIDDEN = 4096, /* a multiple of 32, as are the two below */
    LOCI_MODEL_HEAD = 256,    /* values of one head */
    LOCI_MODEL_FFN = 16384,   /* inner width of the feed-forward part */
    LOCI_MODEL_VOCAB = 1 << 20,
    LOCI_MODEL_TOKENS = 8192,
    LOCI_MODEL_VOCAB_BYTES = 16 << 20,
};

typedef enum loci_pooling { LOCI_POOL_MEAN = 1, LOCI_POOL_CLS = 2 } loci_pooling;

typedef enum loci_weights { LOCI_WEIGHTS_F32 = 1, LOCI_WEIGHTS_I8 = 2 } loci_weights;

/* What there is to know of a model; the same in the file and in memory. Texts end with a NUL, and
 * what follows it is NUL. */
typedef struct loci_model_info {
    char name[64];
    char licence[64];
    char package[96];          /* the package that the weights came from, with its version */
    char sha256[72];           /* of the file in it, in hexadecimal */
    char query_prefix[128];    /* put before a question */
    char document_prefix[128]; /* put before a text to be found */
    uint32_t layers, hidden, heads, ffn;
    uint32_t vocab;      /* words in the table */
    uint32_t positions;  /* rows of the position table */
    uint32_t max_tokens; /* longest text, with its two marks; at most `positions` */
    uint32_t pooling;    /* loci_pooling */
    uint32_t weights;    /* loci_weights */
    float norm_eps;
    float cosine_low, cosine_high; /* usual range between texts; both 0: not measured */
} loci_model_info;

/* y = x W + bias. */
typedef struct loci_matrix {
    size_t in, out;
    const float *f32; /* packed (vec/matmul.h), or NULL */
    const int8_t *i8; /* packed (vec/matmul_i8.h), or NULL; then with the two below */
    const float *scale;
    const int32_t *sum;
    const float *bias;
} loci_matrix;

typedef struct loci_norm {
    const float *weight, *bias;
} loci_norm;

typedef struct loci_model_layer {
    loci_matrix qkv; /* query, key and value side by side */
    loci_matrix output;
    loci_norm attention_norm;
    loci_matrix up, down;
    loci_norm ffn_norm;
} loci_model_layer;

typedef struct loci_model_tables {
    const float *f32; /* vocab x hidden, or NULL */
    const int8_t *i8; /* vocab x hidden, or NULL; then with `scale`, one per 32 */
    const float *scale;
    const float *position; /* positions x hidden; the table of segment 0 is added in */
    loci_norm norm;
} loci_model_tables;

typedef struct loci_model loci_model;

/* Map `path` and check its page and size. No block is read. */
LOCI_MUST loci_rc loci_model_open(const char *path, loci_model **ret_model, loci_err *err);
void loci_model_close(loci_model *model); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_model_closep, loci_model, loci_model_close)

const loci_model_info *loci_model_get_info(const loci_model *model);

/* Blocks. The first call for each checks its checksum (LOCI_ECORRUPT); later ones cost nothing. */
LOCI_MUST loci_rc loci_model_get_vocab(loci_model *model, loci_str *ret_table, loci_err *err);
LOCI_MUST loci_rc loci_model_get_tables(loci_model *model, loci_model_tables *ret, loci_err *err);
LOCI_MUST loci_rc loci_model_get_layer(loci_model *model, size_t layer, loci_model_layer *ret,
                                       loci_err *err);

/* Check a page as loci_model_open does, for a file of `file_bytes`; `path` is for messages. */
LOCI_MUST loci_rc loci_model_check_page(const void *page, uint64_t file_bytes, const char *path,
                                        loci_err *err);

/* Where things lie in a block, for whoever writes one: the same functions find them when it is
 * read. They point into `block` and give its size, a multiple of 64; `block` may be NULL to learn
 * the size alone. */
size_t loci_model_layout_tables(const loci_model_info *info, const void *block,
                                loci_model_tables *ret);
size_t loci_model_layout_positions(const loci_model_info *info, const void *block,
                                   loci_model_tables *ret);
size_t loci_model_layout_layer(const loci_model_info *info, const void *block,
                               loci_model_layer *ret);

typedef struct loci_model_writer loci_model_writer;

/* Write a file beside `path`; it takes that name at the end, whole or not at all. */
LOCI_MUST loci_rc loci_model_writer_open(const char *path, const loci_model_info *info,
                                         loci_model_writer **ret_writer, loci_err *err);

/* The next block: vocabulary, words, positions, layers. Padded with zeros to a multiple of 64. */
LOCI_MUST loci_rc loci_model_writer_add(loci_model_writer *writer, const void *block, size_t bytes,
                                        loci_err *err);

/* Page, fsync and rename. */
LOCI_MUST loci_rc loci_model_writer_finish(loci_model_writer *writer, loci_err *err);

/* Removes what was not finished. NULL is fine. */
void loci_model_writer_close(loci_model_writer *writer);
LOCI_DEFINE_CLEANUP(loci_model_writer_closep, loci_model_writer, loci_model_writer_close)

#endif
