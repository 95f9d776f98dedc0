/* A request's target, and the route that it finds. */
#include "base/utf8.h"
#include "net/route.h"
#include "net/uri.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void nothing(void *context, loci_http_request *request)
{
    (void)context, (void)request;
}

static const loci_route routes[] = {
    { LOCI_GET, "/", 0, nothing, NULL },
    { LOCI_GET, "/v1/health", 0, nothing, NULL },
    { LOCI_GET, "/v1/agents/{agent}", 0, nothing, NULL },
    { LOCI_POST, "/v1/agents/search", 0, nothing, NULL },
    { LOCI_GET, "/v1/agents/{agent}/b/{label}", 0, nothing, NULL },
    { LOCI_GET, "/v1/{any}/search/{x}", 0, nothing, NULL },
    { LOCI_GET, "/web/{file*}", 0, nothing, NULL },
};

/* Decoded text is UTF-8 without NULs, whatever came in. */
static void assert_clean(loci_str s)
{
    assert(loci_utf8_valid(s));
    assert(s.len == 0 || !memchr(s.ptr, '\0', s.len));
}

static void check_route(const loci_router *router, loci_arena *arena, loci_str path)
{
    loci_route_match match;

    loci_rc rc = loci_router_find(router, LOCI_GET, path, arena, &match, NULL);
    assert(rc == LOCI_OK || rc == LOCI_ENOTFOUND || rc == LOCI_EINVAL || rc == LOCI_ELIMIT);
    if (rc) return;
    assert(match.allow);
    for (size_t i = 0; i < match.count; i++) {
        assert(match.params[i].value.len > 0);
        assert_clean(match.params[i].value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static loci_router *router;
    loci_str target = { (const char *)data, size }, path, query, text;
    loci_uri_param *params;
    size_t count;

    if (!router && (loci_router_new(&router, NULL) ||
                    loci_router_add(router, "", routes, LOCI_COUNT(routes), NULL, NULL)))
        return 0;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    if (!arena) return 0;

    check_route(router, arena, target);
    if (!loci_uri_decode(arena, target, size % 2, &text, NULL)) assert_clean(text);
    if (loci_uri_split(target, &path, &query, NULL)) return 0;
    check_route(router, arena, path);
    if (loci_uri_query(arena, query, &params, &count, NULL)) return 0;
    assert(count <= LOCI_URI_PARAMS);
    for (size_t i = 0; i < count; i++) {
        assert_clean(params[i].name);
        assert_clean(params[i].value);
    }
    return 0;
}
