/* ops/call.h -- one call of one operation: who asks, with what, and the one path to the handler.
 *
 * Here:     what a handler sees, and what every door calls.
 * Not here: the table (ops/op.h), fields of the input (ops/input.h), status codes of the wire
 *           (api/), logging and counting calls, which is the door's.
 * Owns:     nothing: the door owns call, arena and output buffer.
 * Threads:  one call, one thread at a time; loci_ops, loci_app and loci_caller may be shared.
 * Errors:   LOCI_ENOTFOUND no such operation, LOCI_ESHAPE not JSON or not the input's schema,
 *           LOCI_EDENIED not for this caller, LOCI_ECONFLICT two different request ids,
 *           LOCI_EUNAVAILABLE cancelled or out of time, LOCI_ELIMIT more than the arena or the
 *           output may hold, LOCI_ECORRUPT an output that does not fit its schema (a bug of
 *           ours), and whatever the handler returns.
 */
#ifndef LOCI_OPS_CALL_H
#define LOCI_OPS_CALL_H

#include "access/role.h"
#include "base/hash.h"
#include "ops/input.h"
#include "ops/op.h"

/* The application's state: store, index, embedder, settings. Handlers hand it to their rooms. */
typedef struct loci_app loci_app;

typedef enum loci_door {
    LOCI_DOOR_LIBRARY,
    LOCI_DOOR_CLI,
    LOCI_DOOR_REST,
    LOCI_DOOR_MCP,
} loci_door;

/* Which paths of the host a caller may name. */
typedef enum loci_files {
    LOCI_FILES_NONE,
    LOCI_FILES_BELOW, /* only below `file_roots`: callers over HTTP */
    LOCI_FILES_ANY,   /* those who sit at the machine: stdio, command line, library */
} loci_files;

/* Who asks. Made once per connection or request from key, flags and headers. All zeros is somebody
 * who may read and nothing else. */
typedef struct loci_caller {
    int64_t org;    /* the organization's row */
    loci_str actor; /* for attribution: the key's name, "cli", ... */
    loci_door door;
    loci_role role;

    loci_str agent;       /* default agent; empty: "default" */
    loci_str agent_alias; /* another spelling of the same one (id and name), or empty */
    bool agent_bound;     /* the key is this agent's: no other, and only operations with `agent` */
    loci_str node;        /* default node; empty: the trunk */
    bool node_fence;      /* no other node than this one, and no other agent */

    loci_files files;
    loci_str file_roots; /* folders separated by ':' */
} loci_caller;

struct loci_call {
    /* The door fills these. */
    loci_arena *arena; /* for everything that dies with the call */
    loci_app *app;
    const loci_caller *who;
    loci_str request_id;      /* of the log line */
    loci_str idempotency_key; /* from the header; may be empty */
    int64_t deadline;         /* on loci_clock_steady; 0: none */
    void *door;               /* handed to the two functions below, which may be NULL */
    bool (*cancelled)(void *door);
    void (*progress)(void *door, double done, double total, loci_str note);
    bool check_output; /* against the schema: debug builds and tests */

    /* loci_ops_call fills these, the handler reads them. */
    const loci_op_info *op;
    loci_in in;         /* the input: see ops/input.h */
    loci_str agent;     /* with LOCI_OP_AGENT: whose memory; a name, an id, or "*" if so asked */
    loci_str node;      /* with LOCI_OP_NODE: the branch; empty: the trunk */
    loci_str write_key; /* a write's idempotency key; empty: none */
    uint8_t input_hash[LOCI_SHA256_LEN]; /* with a write_key: of operation, agent, node and input */
    double progressed;                   /* private: the last value reported */

    /* The handler may set it: the output is a failure that a contract fixes. REST answers 200,
     * MCP isError, the command line exits with 1. */
    bool refused;
};

/* Run the operation `name` with `input`, JSON text; empty text counts as {}. The output, one JSON
 * object, is appended to `out`; on failure nothing is. */
LOCI_MUST loci_rc loci_ops_call(const loci_ops *ops, loci_call *call, loci_str name, loci_str input,
                                loci_buf *out, loci_err *err);

/* The same with a parsed input, which must outlive the call; NULL counts as {}. */
LOCI_MUST loci_rc loci_ops_call_json(const loci_ops *ops, loci_call *call, loci_str name,
                                     const loci_json *input, loci_buf *out, loci_err *err);

/* For handlers. */

/* LOCI_EUNAVAILABLE once the caller has gone away or the time is over. Cheap: ask in every loop. */
LOCI_MUST loci_rc loci_call_check(loci_call *call, loci_err *err);

/* Tell how far long work is. `total` may be 0 for unknown. Only rising values are passed on. */
void loci_call_progress(loci_call *call, double done, double total, loci_str note);

/* Whether the caller may act on `node`: LOCI_EDENIED when a fence forbids it. For handlers with
 * LOCI_OP_OWN_FENCE and for nodes that are named deeper in the input. */
LOCI_MUST loci_rc loci_call_fence(const loci_call *call, loci_str node, loci_err *err);

/* The path of the host that the caller named, if the caller may: the one to open, in call->arena.
 * Fields with the format host-path have been asked about already; this resolves them. With
 * LOCI_FILES_BELOW symbolic links are followed first and the result must be below a root; its
 * folder must exist, the file itself need not. Whoever can change those folders while the
 * operation runs can still lead it elsewhere: roots are for folders that only their owner writes.
 * Errors: LOCI_EDENIED. */
LOCI_MUST loci_rc loci_call_path(const loci_call *call, loci_str path, loci_str *ret_path,
                                 loci_err *err);

#endif
