/* Any bytes as the first page of a model file. The checksum is made right, so that the checks
 * behind it are reached; whatever passes them must describe blocks that lie inside the file. */
#include "embed/model_form.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const model_page *page)
{
    uint64_t at = LOCI_MODEL_PAGE;
    loci_model_tables tables;
    loci_model_layer layer;

    for (size_t i = 0; i < page->blocks; i++) {
        if (page->block[i].offset != at) abort();
        at += page->block[i].bytes;
    }
    if (at != page->file_bytes) abort();
    if (loci_model_layout_tables(&page->info, NULL, &tables) != page->block[BLOCK_WORDS].bytes ||
        loci_model_layout_layer(&page->info, NULL, &layer) != page->block[BLOCK_LAYERS].bytes ||
        page->info.layers > LOCI_MODEL_LAYERS || page->info.max_tokens > page->info.positions)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    union {
        model_page page;
        uint8_t bytes[LOCI_MODEL_PAGE];
    } page = { 0 };
    loci_err err;

    memcpy(page.bytes, data, size < sizeof page.bytes ? size : sizeof page.bytes);
    /* As it is, a page passes only with its checksum, which a fuzzer does not guess. */
    if (!loci_model_check_page(&page, page.page.file_bytes, "file", &err)) check(&page.page);
    page.page.crc = model_page_crc(&page);
    if (!loci_model_check_page(&page, page.page.file_bytes, "file", &err)) check(&page.page);
    return 0;
}
