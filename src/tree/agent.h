/* tree/agent.h -- agents: who remembers.
 *
 * Here:     making, finding, listing, changing, ending and reviving agents.
 * Not here: their branches (tree/branch.h), blocks and archives (the memory room).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread; writes run inside a closure of loci_write.
 * Errors:   LOCI_ENOTFOUND for no such agent, LOCI_ECONFLICT for an id that is taken, LOCI_EINVAL
 * and LOCI_ELIMIT for bad values.
 */
#ifndef LOCI_TREE_AGENT_H
#define LOCI_TREE_AGENT_H

#include "base/arena.h"
#include "db/write.h"

enum {
    LOCI_AGENT_NAME_BYTES = 1024,    /* longest name */
    LOCI_AGENT_TEXT_BYTES = 1 << 20, /* longest system, description, metadata, extra */
    LOCI_AGENT_TAGS = 256,           /* most tags */
    LOCI_AGENT_TAG_BYTES = 255,      /* longest tag */
    LOCI_AGENT_PAGE = 1000           /* most agents in one answer */
};

#define LOCI_AGENT_PREFIX "agent"
#define LOCI_AGENT_TYPE "letta_v1_agent" /* what an agent is unless somebody says otherwise */

/* One revision of an agent. Texts that are absent have ptr NULL. */
typedef struct loci_agent {
    int64_t obj, row, rev, born, ended; /* ended is LOCI_NEVER while alive */
    loci_str id, name, type;
    loci_str system, description;
    loci_str tags, metadata, extra; /* JSON */
    bool hidden;
    int64_t created_at;
} loci_agent;

typedef struct loci_agents {
    loci_agent *items;
    size_t count;
} loci_agents;

/* What a caller says about an agent. Texts with ptr NULL are absent. */
typedef struct loci_agent_values {
    loci_str name, type; /* type: LOCI_AGENT_TYPE when absent */
    loci_str system, description, metadata, extra;
    const loci_str *tags;
    size_t tag_count;
    bool hidden;
    int64_t created_at; /* 0: the time of the write */
} loci_agent_values;

/* Fields that loci_agent_change sets; the others stay. created_at never changes. */
enum {
    LOCI_AGENT_SET_NAME = 1 << 0,
    LOCI_AGENT_SET_TYPE = 1 << 1,
    LOCI_AGENT_SET_SYSTEM = 1 << 2,
    LOCI_AGENT_SET_DESCRIPTION = 1 << 3,
    LOCI_AGENT_SET_METADATA = 1 << 4,
    LOCI_AGENT_SET_EXTRA = 1 << 5,
    LOCI_AGENT_SET_TAGS = 1 << 6,
    LOCI_AGENT_SET_HIDDEN = 1 << 7
};

/* Add an agent under `id`, which was made before the write. Names need not be unique. */
LOCI_MUST loci_rc loci_agent_create(loci_change *change, loci_str id,
                                    const loci_agent_values *values, int64_t *ret_obj,
                                    loci_err *err);

/* The agent called `name`, or the one whose id it is; made under `fresh_id` when nobody has that
 * name. An id that nobody has is LOCI_ENOTFOUND. */
LOCI_MUST loci_rc loci_agent_ensure(loci_change *change, loci_str name, loci_str fresh_id,
                                    int64_t *ret_obj, bool *ret_created, loci_err *err);

/* A new revision with the fields of `set`. */
LOCI_MUST loci_rc loci_agent_change(loci_change *change, int64_t obj, unsigned set,
                                    const loci_agent_values *values, loci_err *err);

/* End it and its links to blocks and archives. Its other rows stay as they are and are out of
 * reach, because nothing lists an agent that is not alive. */
LOCI_MUST loci_rc loci_agent_end(loci_change *change, int64_t obj, loci_err *err);

/* Bring an ended agent back, with the links that ended together with it and whose blocks and
 * archives are still there. LOCI_ECONFLICT when it is alive. */
LOCI_MUST loci_rc loci_agent_revive(loci_change *change, int64_t obj, loci_err *err);

/* By public id, else by name; of several with one name the oldest. */
LOCI_MUST loci_rc loci_agent_find(loci_tx *tx, int64_t org, loci_str id_or_name, loci_arena *arena,
                                  loci_agent *ret_agent, loci_err *err);

/* The same, and when nobody alive is called so, the one that ended last: its last revision. */
LOCI_MUST loci_rc loci_agent_find_ever(loci_tx *tx, int64_t org, loci_str id_or_name,
                                       loci_arena *arena, loci_agent *ret_agent, loci_err *err);

/* The revision alive at `time`; LOCI_NEVER for now. */
LOCI_MUST loci_rc loci_agent_get(loci_tx *tx, int64_t org, int64_t obj, int64_t time,
                                 loci_arena *arena, loci_agent *ret_agent, loci_err *err);

/* Zero means the default everywhere. */
typedef struct loci_agent_page {
    size_t limit; /* 1..LOCI_AGENT_PAGE; 50 */
    bool oldest_first;
    const loci_agent *behind; /* the last agent of the page before */
    loci_str name;            /* only those with this name */
    bool hidden;              /* hidden ones too */
} loci_agent_page;

/* Live agents by created_at. */
LOCI_MUST loci_rc loci_agent_list(loci_tx *tx, int64_t org, const loci_agent_page *page,
                                  loci_arena *arena, loci_agents *ret_agents, loci_err *err);

#endif
