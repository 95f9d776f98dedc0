#include "net/route.h"

#include "net/uri.h"

#include <stdio.h>
#include <string.h>

enum { ROUTER_BYTES = 4 << 20 }; /* the tree of a few thousand routes */

/* One route at the node where its pattern ends. */
typedef struct entry {
    struct entry *next;
    const loci_route *route;
    void *context;
    size_t count;
    loci_str names[LOCI_ROUTE_PARAMS];
} entry;

/* One segment of a pattern; the children hang in lists because a node has few. */
typedef struct node {
    struct node *next;
    struct node *literals;
    struct node *param; /* {name} */
    struct node *rest;  /* {name*} */
    loci_str text;      /* for a literal */
    entry *entries;
} node;

struct loci_router {
    loci_arena *arena;
    node root;
};

typedef struct segment {
    loci_str text;     /* decoded */
    const char *start; /* where it begins in the encoded path */
} segment;

typedef struct search {
    loci_str path;
    segment segments[LOCI_ROUTE_DEPTH];
    size_t count;
    bool deeper; /* the path has more segments than fit */
    loci_method method;
    const entry *found;
    unsigned allow;
    loci_str values[LOCI_ROUTE_PARAMS];
} search;

static const struct {
    loci_method method;
    const char *name;
} methods[] = {
    { LOCI_GET, "GET" },         { LOCI_HEAD, "HEAD" },   { LOCI_POST, "POST" },
    { LOCI_PUT, "PUT" },         { LOCI_PATCH, "PATCH" }, { LOCI_DELETE, "DELETE" },
    { LOCI_OPTIONS, "OPTIONS" },
};

loci_method loci_method_parse(loci_str name)
{
    for (size_t i = 0; i < LOCI_COUNT(methods); i++)
        if (loci_str_eq(name, loci_str_from(methods[i].name))) return methods[i].method;
    return LOCI_METHOD_NONE;
}

const char *loci_method_name(loci_method method)
{
    for (size_t i = 0; i < LOCI_COUNT(methods); i++)
        if (methods[i].method == method) return methods[i].name;
    return "";
}

void loci_route_allow_text(unsigned set, char ret_text[LOCI_ALLOW_BYTES])
{
    size_t len = 0;

    ret_text[0] = '\0';
    for (size_t i = 0; i < LOCI_COUNT(methods); i++) {
        if (!(set & methods[i].method)) continue;
        int n = snprintf(ret_text + len, LOCI_ALLOW_BYTES - len, "%s%s", len ? ", " : "",
                         methods[i].name);
        if (n > 0) len += (size_t)n;
    }
}

loci_rc loci_router_new(loci_router **ret_router, loci_err *err)
{
    loci_arena *arena = loci_arena_new(ROUTER_BYTES);
    loci_router *router = arena ? loci_arena_alloc(arena, sizeof *router) : NULL;

    if (!router) {
        loci_arena_free(arena);
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    router->arena = arena;
    *ret_router = router;
    return LOCI_OK;
}

void loci_router_free(loci_router *router)
{
    if (router) loci_arena_free(router->arena);
}

static bool is_param(loci_str s)
{
    return s.len > 2 && s.ptr[0] == '{' && s.ptr[s.len - 1] == '}';
}

static bool is_rest(loci_str s)
{
    return s.len > 3 && is_param(s) && s.ptr[s.len - 2] == '*';
}

static node *find_literal(const node *parent, loci_str text)
{
    for (node *n = parent->literals; n; n = n->next)
        if (loci_str_eq(n->text, text)) return n;
    return NULL;
}

/* The child of `parent` for one segment of a pattern, made when it is not there. */
static node *descend(loci_router *router, node *parent, loci_str text)
{
    node **slot = is_rest(text) ? &parent->rest : is_param(text) ? &parent->param : NULL;
    node *child = slot ? *slot : find_literal(parent, text);

    if (child) return child;
    child = loci_arena_alloc(router->arena, sizeof *child);
    if (!child) return NULL;
    if (slot) {
        *slot = child;
        return child;
    }
    child->text = text;
    child->next = parent->literals;
    parent->literals = child;
    return child;
}

static loci_rc add_name(entry *e, loci_str segment_text, loci_err *err)
{
    if (!is_param(segment_text)) return LOCI_OK;
    if (e->count == LOCI_ROUTE_PARAMS)
        return loci_fail(err, LOCI_EINVAL, "route %s has more than %d names", e->route->pattern,
                         LOCI_ROUTE_PARAMS);
    size_t marks = is_rest(segment_text) ? 3 : 2;
    e->names[e->count++] = loci_str_sub(segment_text, 1, segment_text.len - marks);
    return LOCI_OK;
}

static const entry *find_method(const node *n, loci_method method)
{
    for (const entry *e = n->entries; e; e = e->next)
        if (e->route->method == method) return e;
    return NULL;
}

/* Walk down `text`, one piece of a pattern, making nodes and gathering names. */
static loci_rc walk_pattern(loci_router *router, node **at, loci_str text, entry *e, size_t *depth,
                            loci_err *err)
{
    loci_str part;

    if (text.len && text.ptr[0] == '/') text = loci_str_sub(text, 1, text.len);
    while (text.len && loci_str_cut(&text, '/', &part)) {
        if (part.len == 0) continue; /* a slash at the end */
        if (++*depth > LOCI_ROUTE_DEPTH)
            return loci_fail(err, LOCI_EINVAL, "route %s is too deep", e->route->pattern);
        loci_rc rc = add_name(e, part, err);
        if (rc) return rc;
        *at = descend(router, *at, part);
        if (!*at) return loci_arena_fail(router->arena, err);
    }
    return LOCI_OK;
}

static loci_rc add_route(loci_router *router, const char *prefix, const loci_route *route,
                         void *context, loci_err *err)
{
    node *at = &router->root;
    size_t depth = 0;

    entry *e = loci_arena_alloc(router->arena, sizeof *e);
    if (!e) return loci_arena_fail(router->arena, err);
    *e = (entry){ .route = route, .context = context };

    loci_rc rc = walk_pattern(router, &at, loci_str_from(prefix), e, &depth, err);
    if (!rc) rc = walk_pattern(router, &at, loci_str_from(route->pattern), e, &depth, err);
    if (rc) return rc;
    if (find_method(at, route->method))
        return loci_fail(err, LOCI_ECONFLICT, "two routes for %s %s%s",
                         loci_method_name(route->method), prefix, route->pattern);
    e->next = at->entries;
    at->entries = e;
    return LOCI_OK;
}

loci_rc loci_router_add(loci_router *router, const char *prefix, const loci_route *routes,
                        size_t count, void *context, loci_err *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!routes[i].handler || !*loci_method_name(routes[i].method) ||
            routes[i].pattern[0] != '/')
            return loci_fail(err, LOCI_EINVAL, "route %zu of a table is not complete", i);
        loci_rc rc = add_route(router, prefix, &routes[i], context, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

static loci_rc cut_path(search *s, loci_arena *arena, loci_err *err)
{
    loci_str rest = loci_str_sub(s->path, 1, s->path.len), part;

    while (rest.len && loci_str_cut(&rest, '/', &part)) {
        if (s->count == LOCI_ROUTE_DEPTH) {
            s->deeper = true;
            return LOCI_OK;
        }
        segment *seg = &s->segments[s->count++];
        seg->start = part.ptr;
        loci_rc rc = loci_uri_decode(arena, part, false, &seg->text, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

/* Has the node a route for the method? Its methods are noted for the Allow header. */
static bool take_entry(search *s, const node *n)
{
    for (const entry *e = n->entries; e; e = e->next) {
        s->allow |= e->route->method;
        if (e->route->method == s->method) s->found = e;
    }
    if (!s->found && s->method == LOCI_HEAD) s->found = find_method(n, LOCI_GET);
    return s->found != NULL;
}

/* Each node of the tree is visited at most once, so the cost is bounded by the table, and the
 * depth of the recursion by LOCI_ROUTE_DEPTH. */
static bool visit(search *s, const node *n, size_t depth, size_t values)
{
    if (depth == s->count && !s->deeper && take_entry(s, n)) return true;
    if (depth == s->count) return false;

    const segment *seg = &s->segments[depth];
    const node *child = find_literal(n, seg->text);
    if (child && visit(s, child, depth + 1, values)) return true;
    if (n->param && seg->text.len) {
        s->values[values] = seg->text;
        if (visit(s, n->param, depth + 1, values + 1)) return true;
    }
    if (!n->rest) return false;
    size_t offset = (size_t)(seg->start - s->path.ptr);
    s->values[values] = loci_str_sub(s->path, offset, s->path.len); /* decoded when it won */
    return s->values[values].len && take_entry(s, n->rest);
}

/* The value of a {name*} is decoded only now; all others were when the path was cut. */
static loci_rc fill_params(const search *s, loci_arena *arena, loci_route_match *m, loci_err *err)
{
    const entry *e = s->found;

    m->route = e->route;
    m->context = e->context;
    m->count = e->count;
    for (size_t i = 0; i < e->count; i++) {
        m->params[i].name = e->names[i];
        m->params[i].value = s->values[i];
    }
    loci_str pattern = loci_str_from(e->route->pattern);
    if (!loci_str_ends(pattern, LOCI_STR("*}"))) return LOCI_OK;
    loci_str *last = &m->params[e->count - 1].value;
    return loci_uri_decode(arena, *last, false, last, err);
}

loci_rc loci_router_find(const loci_router *router, loci_method method, loci_str path,
                         loci_arena *arena, loci_route_match *ret_match, loci_err *err)
{
    search s = { .path = path, .method = method };
    loci_route_match m = { 0 };

    if (path.len == 0 || path.ptr[0] != '/')
        return loci_fail(err, LOCI_EINVAL, "the path must start with '/'");
    loci_rc rc = cut_path(&s, arena, err);
    if (rc) return rc;
    bool found = visit(&s, &router->root, 0, 0);
    if (!found && !s.allow)
        return loci_fail(err, LOCI_ENOTFOUND, "nothing is at %.*s",
                         path.len < 160 ? (int)path.len : 160, path.ptr);
    if (found) rc = fill_params(&s, arena, &m, err);
    if (rc) return rc;
    m.allow = s.allow | LOCI_OPTIONS | (s.allow & LOCI_GET ? (unsigned)LOCI_HEAD : 0u);
    *ret_match = m;
    return LOCI_OK;
}
