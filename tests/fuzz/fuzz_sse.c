/* Server-sent events: the first byte says how the rest is cut into pieces. Whatever the pieces, the
 * events and the end are the same. */
#include "net/sse.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 64, NOTES = 1 << 20 };

static loci_rc note(void *context, const loci_sse_event *event, loci_err *err)
{
    loci_buf *out = context;
    (void)err;

    assert(event->data.len <= LIMIT && event->name.len <= LIMIT && event->id.len <= LIMIT);
    loci_buf_add(out, event->name);
    loci_buf_add_char(out, '\n');
    loci_buf_add(out, event->id);
    loci_buf_add_char(out, '\n');
    loci_buf_add(out, event->data);
    loci_buf_add_char(out, '\n');
    return LOCI_OK;
}

static loci_rc read_in_pieces(loci_str text, size_t step, loci_buf *out)
{
    LOCI_AUTO(loci_sse_done) loci_sse sse;
    loci_rc rc = LOCI_OK;

    loci_sse_init(&sse, LIMIT, note, out);
    for (size_t at = 0; at < text.len && !rc; at += step)
        rc = loci_sse_feed(&sse, loci_str_sub(text, at, step), NULL);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_buf_done) loci_buf whole;
    LOCI_AUTO(loci_buf_done) loci_buf pieces;
    loci_str text = { (const char *)data + 1, size - 1 };

    loci_buf_init(&whole, NOTES);
    loci_buf_init(&pieces, NOTES);
    if (size == 0) return 0;
    loci_rc one = read_in_pieces(text, size, &whole);
    loci_rc other = read_in_pieces(text, (size_t)data[0] + 1, &pieces);
    assert(one == other && (one == LOCI_OK || one == LOCI_ELIMIT));
    assert(loci_str_eq(loci_buf_str(&whole), loci_buf_str(&pieces)));
    return 0;
}
