/* Any text: what is accepted must be written back as the same text. */
#include "base/base64.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_form(loci_base64_form form, loci_str text)
{
    LOCI_AUTO(loci_buf_done) loci_buf bytes = { 0 };
    LOCI_AUTO(loci_buf_done) loci_buf again = { 0 };

    loci_buf_init(&bytes, 1 << 20);
    loci_buf_init(&again, 1 << 20);
    if (loci_base64_decode(form, text, &bytes, NULL)) return;
    loci_base64_encode(form, loci_buf_str(&bytes), &again);
    assert(loci_str_eq(loci_buf_str(&again), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    loci_str text = { (const char *)data, size };

    if (size > 1 << 16) return 0;
    try_form(LOCI_BASE64, text);
    try_form(LOCI_BASE64_URL, text);
    return 0;
}
