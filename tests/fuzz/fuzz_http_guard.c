/* Host, Origin and content type of strangers. The first line is the text, the second the list. */
#include "net/guard.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    loci_str rest = { (const char *)data, size }, text = { NULL, 0 };
    loci_host host;
    loci_err err;

    if (!loci_str_cut(&rest, '\n', &text)) return 0;
    if (loci_host_parse(text, &host, &err) == LOCI_OK) {
        assert(host.name.len > 0 && host.name.len + host.port.len <= text.len);
        assert(host.name.ptr >= text.ptr && host.name.ptr + host.name.len <= text.ptr + text.len);
        /* Loopback needs no list. */
        if (loci_host_is_loopback(&host)) assert(!loci_guard_host(text, rest, &err));
    } else {
        assert(loci_guard_host(text, rest, &err) == LOCI_EINVAL);
    }
    /* Nothing is allowed to nobody. */
    if (text.len == 0)
        assert(!loci_guard_origin(text, LOCI_STR("http"), LOCI_STR("localhost:8283"), rest));
    else if (loci_guard_origin(text, LOCI_STR("http"), LOCI_STR("localhost:8283"), LOCI_STR("")))
        assert(loci_guard_origin(text, LOCI_STR("http"), LOCI_STR("localhost:8283"), rest));
    assert(!loci_guard_origin(LOCI_STR("null"), LOCI_STR("http"), text, rest));
    if (loci_guard_json_type(text)) assert(text.len >= sizeof "application/json" - 1);
    return 0;
}
