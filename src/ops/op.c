#include "ops/op.h"

#include "base/alloc.h"
#include "base/suggest.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { SCHEMA_BYTES = 16 << 20 }; /* all schemas of all operations */

/* Fields that the flags add, so that no row repeats them. */
static const struct added_field {
    unsigned flag;
    const char *name, *schema;
} added_fields[] = {
    { LOCI_OP_AGENT, "agent",
      "{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,\"description\":"
      "\"Whose memory, by name or id; otherwise the connection's agent\"}" },
    { LOCI_OP_NODE, "node",
      "{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,\"description\":"
      "\"Branch of the agent's tree; otherwise the connection's, else the trunk\"}" },
    { LOCI_OP_WRITES, "request_id",
      "{\"type\":\"string\",\"minLength\":1,\"maxLength\":200,\"description\":"
      "\"Names this call, so that repeating it gives the first answer and writes nothing\"}" },
};

struct loci_ops {
    loci_arena *arena;
    loci_op_info *infos; /* sorted by name */
    size_t count;
    loci_schema *added[LOCI_COUNT(added_fields)]; /* parsed once, shared by all */
};

static bool good_name(loci_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool digit = c >= '0' && c <= '9';
        if (!(c >= 'a' && c <= 'z') && c != '_' && !(digit && i > 0)) return false;
    }
    return name.len > 0 && name.len <= LOCI_OP_NAME_MAX;
}

static bool good_help(loci_str help)
{
    return help.len > 0 && help.len <= LOCI_OP_HELP_MAX && !memchr(help.ptr, '\n', help.len);
}

static loci_rc check_flags(const loci_op *op, loci_err *err)
{
    unsigned mode = op->flags & (LOCI_OP_READS | LOCI_OP_WRITES);

    if (mode != LOCI_OP_READS && mode != LOCI_OP_WRITES)
        return loci_fail(err, LOCI_EINVAL, "must either read or write");
    if (op->flags & (LOCI_OP_DESTRUCTIVE | LOCI_OP_IDEMPOTENT) && mode == LOCI_OP_READS)
        return loci_fail(err, LOCI_EINVAL, "only a write is destructive or idempotent");
    if (op->flags & LOCI_OP_NODE && !(op->flags & LOCI_OP_AGENT))
        return loci_fail(err, LOCI_EINVAL, "a node without an agent");
    return LOCI_OK;
}

static loci_rc check_row(const loci_op *op, loci_err *err)
{
    if (!good_help(loci_str_from(op->help)))
        return loci_fail(err, LOCI_EINVAL, "help must be one line of at most %d bytes",
                         LOCI_OP_HELP_MAX);
    if (!op->description || !op->run || !op->input || !op->output)
        return loci_fail(err, LOCI_EINVAL, "description, schemas and handler must be there");
    if (op->toolsets == 0 || op->toolsets & ~(loci_toolsets)LOCI_TOOLSET_ALL)
        return loci_fail(err, LOCI_EINVAL, "must be in a toolset");
    if (!op->examples[0].title) return loci_fail(err, LOCI_EINVAL, "needs an example");
    return check_flags(op, err);
}

static loci_rc parse_object(loci_arena *arena, const char *text, loci_schema **ret, loci_err *err)
{
    loci_rc rc = loci_schema_parse(arena, loci_str_from(text), ret, err);
    if (rc) return rc;
    if ((*ret)->types != 1U << LOCI_JSON_OBJECT || !(*ret)->properties)
        return loci_fail(err, LOCI_EINVAL, "must be an object with properties");
    return LOCI_OK;
}

/* A path without the flag would never be checked against file_roots. */
static loci_rc check_paths(const loci_op_info *info, loci_err *err)
{
    for (size_t i = 0; i < info->input->property_count; i++)
        if (loci_format_is_path(info->input->properties[i].schema->format) &&
            !(info->row->flags & LOCI_OP_FILES))
            return loci_fail(err, LOCI_EINVAL, "takes a path, but is not marked LOCI_OP_FILES");
    return LOCI_OK;
}

static loci_rc parse_added(loci_ops *ops, loci_err *err)
{
    for (size_t i = 0; i < LOCI_COUNT(added_fields); i++) {
        loci_str text = loci_str_from(added_fields[i].schema);
        loci_rc rc = loci_schema_parse(ops->arena, text, &ops->added[i], err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

static loci_rc add_fields(const loci_ops *ops, loci_op_info *info, loci_err *err)
{
    for (size_t i = 0; i < LOCI_COUNT(added_fields); i++) {
        loci_str name = loci_str_from(added_fields[i].name);
        if (!(info->row->flags & added_fields[i].flag)) continue;
        if (loci_schema_find(info->input, name)) continue;
        loci_rc rc = loci_schema_add(ops->arena, info->input, name, ops->added[i], err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

static loci_rc read_row(const loci_ops *ops, const loci_op *op, loci_op_info *ret_info,
                        loci_err *err)
{
    loci_arena *arena = ops->arena;
    loci_rc rc = check_row(op, err);
    if (rc) return rc;
    ret_info->row = op;
    ret_info->about = loci_arena_printf(arena, "%s%s%s", op->help, op->description[0] ? ". " : "",
                                        op->description);
    if (!ret_info->about.ptr) return loci_arena_fail(arena, err);
    rc = parse_object(arena, op->input, &ret_info->input, err);
    if (rc) {
        loci_err_prefix(err, "input schema");
        return rc;
    }
    rc = parse_object(arena, op->output, &ret_info->output, err);
    if (rc) {
        loci_err_prefix(err, "output schema");
        return rc;
    }
    rc = check_paths(ret_info, err);
    return rc ? rc : add_fields(ops, ret_info, err);
}

/* The rows of a room stand in order, so that a reader finds them. */
static loci_rc add_group(loci_ops *ops, loci_op_group group, loci_err *err)
{
    for (size_t i = 0; i < group.count; i++) {
        const loci_op *op = &group.rows[i];
        if (!good_name(loci_str_from(op->name)))
            return loci_fail(err, LOCI_EINVAL, "operation '%s': bad name",
                             op->name ? op->name : "");
        if (i > 0 && strcmp(op[-1].name, op->name) >= 0)
            return loci_fail(err, LOCI_EINVAL, "operation %s: not sorted by name", op->name);
        loci_rc rc = read_row(ops, op, &ops->infos[ops->count++], err);
        if (rc) {
            loci_err_prefix(err, "operation %s", op->name);
            return rc;
        }
    }
    return LOCI_OK;
}

static int by_name(const void *a, const void *b)
{
    const loci_op_info *x = a, *y = b;
    return strcmp(x->row->name, y->row->name);
}

static loci_rc fill(loci_ops *ops, const loci_op_group *groups, size_t count, loci_err *err)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++) total += groups[i].count;
    ops->infos = loci_arena_array(ops->arena, total, sizeof *ops->infos);
    if (!ops->infos) return loci_arena_fail(ops->arena, err);
    for (size_t i = 0; i < count; i++) {
        loci_rc rc = add_group(ops, groups[i], err);
        if (rc) return rc;
    }
    if (total) qsort(ops->infos, total, sizeof *ops->infos, by_name);
    for (size_t i = 1; i < total; i++)
        if (by_name(&ops->infos[i - 1], &ops->infos[i]) == 0)
            return loci_fail(err, LOCI_EINVAL, "operation %s: there are two of it",
                             ops->infos[i].row->name);
    return LOCI_OK;
}

loci_rc loci_ops_new(const loci_op_group *groups, size_t count, loci_ops **ret_ops, loci_err *err)
{
    LOCI_AUTO(loci_ops_freep) loci_ops *ops = loci_zalloc(sizeof *ops);
    if (!ops) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    ops->arena = loci_arena_new(SCHEMA_BYTES);
    if (!ops->arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    loci_rc rc = parse_added(ops, err);
    if (!rc) rc = fill(ops, groups, count, err);
    if (rc) return rc;
    *ret_ops = LOCI_TAKE(ops);
    return LOCI_OK;
}

void loci_ops_free(loci_ops *ops)
{
    if (!ops) return;
    loci_arena_free(ops->arena);
    loci_free(ops);
}

size_t loci_ops_count(const loci_ops *ops)
{
    return ops->count;
}

const loci_op_info *loci_ops_at(const loci_ops *ops, size_t index)
{
    return index < ops->count ? &ops->infos[index] : NULL;
}

const loci_op_info *loci_ops_find(const loci_ops *ops, loci_str name)
{
    size_t low = 0, high = ops->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = loci_str_cmp(name, loci_str_from(ops->infos[middle].row->name));
        if (order == 0) return &ops->infos[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

loci_rc loci_ops_get(const loci_ops *ops, loci_str name, const loci_op_info **ret_op, loci_err *err)
{
    loci_suggest near = { .wanted = name };
    const loci_op_info *found = loci_ops_find(ops, name);

    if (found) {
        *ret_op = found;
        return LOCI_OK;
    }
    for (size_t i = 0; i < ops->count; i++)
        if (!(ops->infos[i].row->flags & LOCI_OP_HIDDEN))
            loci_suggest_try(&near, loci_str_from(ops->infos[i].row->name));
    loci_str shown = loci_utf8_cut(name, LOCI_OP_NAME_MAX);
    return loci_fail(err, LOCI_ENOTFOUND, "there is no operation '%.*s'%s", LOCI_ARG(shown),
                     loci_suggest_text(&near).text);
}

const loci_op_info *loci_ops_next(const loci_ops *ops, loci_ops_filter filter, size_t *cursor)
{
    while (*cursor < ops->count) {
        const loci_op_info *info = &ops->infos[(*cursor)++];
        unsigned flags = info->row->flags;
        if (flags & LOCI_OP_HIDDEN || !(info->row->toolsets & filter.toolsets)) continue;
        if (filter.read_only && !(flags & LOCI_OP_READS)) continue;
        return info;
    }
    return NULL;
}
