/* The hash by which a repeated request is told from another one under the same key: SHA-256 over
 * JSON in one canonical form, names sorted. */
#include "ops/guard.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    const loci_json_member *x = a, *y = b;
    return loci_str_cmp(x->name, y->name);
}

/* The members in order of their names; NULL when the arena is full. */
static const loci_json_member *sorted(loci_arena *arena, const loci_json *object)
{
    size_t count = object->object.count;
    loci_json_member *list = loci_arena_array(arena, count, sizeof *list);

    if (!list || count == 0) return list;
    memcpy(list, object->object.members, count * sizeof *list);
    qsort(list, count, sizeof *list, by_name);
    return list;
}

/* `depth` counts down from what the parser lets in. False when the arena is full. */
static bool write_canonical(loci_arena *arena, loci_json_writer *w, const loci_json *value,
                            size_t depth)
{
    bool ok = depth > 0;

    if (value->type == LOCI_JSON_ARRAY) {
        loci_json_array(w);
        for (size_t i = 0; ok && i < value->array.count; i++)
            ok = write_canonical(arena, w, &value->array.items[i], depth - 1);
        loci_json_array_end(w);
    } else if (value->type == LOCI_JSON_OBJECT) {
        const loci_json_member *list = sorted(arena, value);
        ok = ok && list;
        loci_json_object(w);
        for (size_t i = 0; ok && i < value->object.count; i++) {
            /* Only the outermost object has a request_id of ours. */
            if (depth > LOCI_JSON_DEPTH && loci_str_eq(list[i].name, LOCI_STR("request_id")))
                continue;
            loci_json_name(w, list[i].name);
            ok = write_canonical(arena, w, &list[i].value, depth - 1);
        }
        loci_json_object_end(w);
    } else {
        loci_json_value(w, value);
    }
    return ok;
}

loci_rc loci_guard_hash(loci_call *call, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf text;
    loci_json_writer w;

    loci_buf_init(&text, LOCI_JSON_BYTES);
    loci_json_begin(&w, &text);
    loci_json_array(&w);
    loci_json_string(&w, loci_str_from(call->op->row->name));
    loci_json_string(&w, call->agent);
    loci_json_string(&w, call->node);
    bool ok = write_canonical(call->arena, &w, call->in.value, LOCI_JSON_DEPTH + 1);
    loci_json_array_end(&w);
    if (!ok) return loci_arena_fail(call->arena, err);
    loci_rc rc = loci_json_check(&w, err);
    return rc ? rc : loci_hash_bytes(LOCI_SHA256, loci_buf_str(&text), call->input_hash, err);
}
