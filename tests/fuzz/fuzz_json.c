/* Any bytes: they are refused, or what was read can be written and read again as the same. */
#include "base/json.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CEILING = 64 << 20 };

static void demand(bool truth)
{
    if (!truth) abort();
}

static void write_whole(loci_buf *out, const loci_json *value)
{
    loci_json_writer w;

    loci_buf_init(out, CEILING);
    loci_json_begin(&w, out);
    loci_json_value(&w, value);
    demand(loci_json_check(&w, NULL) == LOCI_OK);
    demand(loci_utf8_valid(loci_buf_str(out)));
}

static bool same(const loci_json *a, const loci_json *b);

static bool same_members(const loci_json *a, const loci_json *b)
{
    if (a->object.count != b->object.count) return false;
    for (size_t i = 0; i < a->object.count; i++) {
        const loci_json_member *m = &a->object.members[i], *n = &b->object.members[i];
        if (!loci_str_eq(m->name, n->name) || !same(&m->value, &n->value)) return false;
        if (loci_json_find(a, m->name) != &m->value) return false; /* names are unique */
    }
    return true;
}

static bool same_items(const loci_json *a, const loci_json *b)
{
    if (a->array.count != b->array.count) return false;
    for (size_t i = 0; i < a->array.count; i++)
        if (!same(&a->array.items[i], &b->array.items[i])) return false;
    return true;
}

static bool same(const loci_json *a, const loci_json *b)
{
    if (a->type != b->type) return false;
    switch (a->type) {
    case LOCI_JSON_NULL:
        return true;
    case LOCI_JSON_BOOL:
        return a->boolean == b->boolean;
    case LOCI_JSON_INT:
        return a->integer == b->integer;
    case LOCI_JSON_REAL:
        return memcmp(&a->real, &b->real, sizeof a->real) == 0;
    case LOCI_JSON_STRING:
        return loci_str_eq(a->string, b->string) && a->string.ptr[a->string.len] == '\0';
    case LOCI_JSON_ARRAY:
        return same_items(a, b);
    case LOCI_JSON_OBJECT:
        return same_members(a, b);
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    LOCI_AUTO(loci_buf_done) loci_buf first = { 0 }, second = { 0 };
    const loci_json *value = NULL, *again = NULL;
    loci_err err = { 0 };

    demand(arena != NULL);
    loci_rc rc = loci_json_parse(arena, (loci_str){ (const char *)data, size }, &value, &err);
    if (rc != LOCI_OK) {
        demand(rc == LOCI_ESHAPE || rc == LOCI_ELIMIT);
        demand(err.code == rc && !value && loci_utf8_valid(loci_str_from(err.msg)));
        return 0;
    }
    write_whole(&first, value);
    demand(loci_json_parse(arena, loci_buf_str(&first), &again, NULL) == LOCI_OK);
    demand(same(value, again));
    write_whole(&second, again);
    demand(loci_str_eq(loci_buf_str(&first), loci_buf_str(&second)));
    return 0;
}
