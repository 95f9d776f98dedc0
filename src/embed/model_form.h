/* embed/model_form.h -- the bytes of a model file's page; private to embed/model_*.c.
 *
 * Here:     the structures as they stand in the file.
 * Not here: everything that others may know (embed/model_file.h).
 * Owns:     nothing.
 * Threads:  pure.
 * Errors:   none.
 */
#ifndef LOCI_EMBED_MODEL_FORM_H
#define LOCI_EMBED_MODEL_FORM_H

#include "embed/model_file.h"

#define MODEL_MAGIC "LOCIMDL\n"

enum { BLOCK_VOCAB, BLOCK_WORDS, BLOCK_POSITIONS, BLOCK_LAYERS, BLOCK_ALIGN = 64 };

typedef struct model_block {
    uint64_t offset, bytes;
    uint32_t crc;
    uint32_t padding; /* zeros at its end, 0..63 of its bytes */
} model_block;

typedef struct model_page {
    char magic[8];
    uint32_t version;
    uint32_t crc; /* of the page, with 0 here */
    uint64_t file_bytes;
    uint32_t blocks; /* BLOCK_LAYERS + layers */
    uint32_t unused; /* 0 */
    loci_model_info info;
    model_block block[BLOCK_LAYERS + LOCI_MODEL_LAYERS];
} model_page;

_Static_assert(sizeof(model_page) <= LOCI_MODEL_PAGE, "the page holds the largest table");
_Static_assert(sizeof(loci_model_info) == 600, "the form of the file must not change by accident");

/* The checksum of a page of LOCI_MODEL_PAGE bytes, its own field taken as 0. */
uint32_t model_page_crc(const void *page);

#endif
