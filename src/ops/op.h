/* ops/op.h -- the operations table: one row per operation, from which every door is made.
 *
 * Here:     what a row says, the registry of all rows, names, toolsets.
 * Not here: running an operation (ops/call.h), the pages and lists made from the table
 *           (ops/reference.h, ops/openapi.h).
 * Owns:     a loci_ops owns the parsed schemas; rows and their texts are constants.
 * Threads:  a loci_ops never changes after loci_ops_new and may be shared.
 * Errors:   LOCI_EINVAL for a row that is wrong (a bug of ours, found at start) or an unknown
 *           toolset, LOCI_ENOTFOUND for an unknown operation, LOCI_ENOMEM.
 */
#ifndef LOCI_OPS_OP_H
#define LOCI_OPS_OP_H

#include "base/json.h"
#include "ops/schema.h"

typedef struct loci_call loci_call;

/* Do the work of one call. The input has been checked against the schema and the caller may do
 * this; read it with ops/input.h. Write one object to `out`, or nothing for {}. On failure what
 * was written is dropped. Everything lives in call->arena. */
typedef loci_rc (*loci_op_handler)(loci_call *call, loci_json_writer *out, loci_err *err);

/* What an operation does, and what the registry and the call path add to it. */
enum {
    LOCI_OP_READS = 1 << 0,       /* changes nothing; exactly one of these two */
    LOCI_OP_WRITES = 1 << 1,      /* needs the role write; takes `request_id` */
    LOCI_OP_DESTRUCTIVE = 1 << 2, /* a write that takes something away */
    LOCI_OP_IDEMPOTENT = 1 << 3,  /* a write that, repeated, changes nothing more */
    LOCI_OP_FILES = 1 << 4,       /* reads or writes paths of the host */
    LOCI_OP_ADMIN = 1 << 5,       /* needs the role admin */
    LOCI_OP_AGENT = 1 << 6,       /* acts on an agent: takes `agent`, gives call->agent */
    LOCI_OP_NODE = 1 << 7,        /* and on a branch of it: takes `node`, gives call->node */

    /* Touches nothing that lies on a branch, so that it may be called from behind a fence. Without
     * this and without LOCI_OP_NODE an operation is closed to a fenced caller. */
    LOCI_OP_OFF_TREE = 1 << 8,

    /* `node_id` and `branch_id` are not the call's node: the handler says what they are, and asks
     * loci_call_fence about each (forking, promoting, reading by explicit ancestors). */
    LOCI_OP_OWN_FENCE = 1 << 9,

    LOCI_OP_HIDDEN = 1 << 10, /* works, but stands in no list */
};

/* The sets that doors offer; an operation may be in several. */
typedef unsigned loci_toolsets;
enum {
    LOCI_TOOLSET_MEMORY = 1 << 0,
    LOCI_TOOLSET_SESSION = 1 << 1,
    LOCI_TOOLSET_JOURNAL = 1 << 2,
    LOCI_TOOLSET_LETTA = 1 << 3,
    LOCI_TOOLSET_TREE = 1 << 4,
    LOCI_TOOLSET_RESEARCH = 1 << 5,
    LOCI_TOOLSET_FILES = 1 << 6,
    LOCI_TOOLSET_ADMIN = 1 << 7,
    LOCI_TOOLSET_ALL = (1 << 8) - 1,
    LOCI_TOOLSET_DEFAULT = LOCI_TOOLSET_MEMORY | LOCI_TOOLSET_SESSION,
};

enum {
    LOCI_OP_NAME_MAX = 64,
    LOCI_OP_HELP_MAX = 160, /* bytes of the one line */
    LOCI_OP_EXAMPLES = 4,
};

/* An input that works. `needs` names an operation whose first example must have run before, or is
 * NULL; "{{id}}" in the input then stands for the text `id` of that one's output. */
typedef struct loci_op_example {
    const char *title; /* what it shows, without a full stop; NULL ends the list */
    const char *input;
    const char *needs;
} loci_op_example;

typedef struct loci_op {
    const char *name;        /* [a-z_][a-z0-9_]*, at most LOCI_OP_NAME_MAX */
    const char *help;        /* one line that a model can act on */
    const char *description; /* more, in whole sentences; may be "" */
    loci_toolsets toolsets;
    unsigned flags;
    const char *input; /* schema texts; both objects */
    const char *output;
    loci_op_handler run;
    loci_op_example examples[LOCI_OP_EXAMPLES]; /* one at least */
} loci_op;

/* A row and what was parsed from it. `input` has the fields that the flags add. */
typedef struct loci_op_info {
    const loci_op *row;
    loci_schema *input, *output;
    loci_str about; /* help and description, as a model reads them */
} loci_op_info;

/* The rows that one room brings, sorted by name. */
typedef struct loci_op_group {
    const loci_op *rows;
    size_t count;
} loci_op_group;

#define LOCI_OP_GROUP(rows) ((loci_op_group){ (rows), LOCI_COUNT(rows) })

typedef struct loci_ops loci_ops;

/* Read all rows of all groups. Fails with the name of the row that is wrong. */
LOCI_MUST loci_rc loci_ops_new(const loci_op_group *groups, size_t count, loci_ops **ret_ops,
                               loci_err *err);
void loci_ops_free(loci_ops *ops); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_ops_freep, loci_ops, loci_ops_free)

/* All of them, by name. */
size_t loci_ops_count(const loci_ops *ops);
const loci_op_info *loci_ops_at(const loci_ops *ops, size_t index);

/* NULL when there is none. */
const loci_op_info *loci_ops_find(const loci_ops *ops, loci_str name);

/* The same, with an error that suggests what was meant. */
LOCI_MUST loci_rc loci_ops_get(const loci_ops *ops, loci_str name, const loci_op_info **ret_op,
                               loci_err *err);

/* Which operations a list shows. */
typedef struct loci_ops_filter {
    loci_toolsets toolsets; /* in one of these */
    bool read_only;         /* only those that read */
} loci_ops_filter;

/* The next operation that `filter` lets through and that is not hidden, by name; NULL after the
 * last. *cursor starts at 0. */
const loci_op_info *loci_ops_next(const loci_ops *ops, loci_ops_filter filter, size_t *cursor);

/* Read a list such as "memory,session" or "all"; blanks around names are fine. An empty list is
 * LOCI_TOOLSET_DEFAULT. The error says which there are. */
LOCI_MUST loci_rc loci_toolsets_parse(loci_str list, loci_toolsets *ret_toolsets, loci_err *err);

/* The name of the first set of `toolsets`; never NULL. */
const char *loci_toolsets_name(loci_toolsets toolsets);

#endif
