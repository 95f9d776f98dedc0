/* tree/past.h -- looking back: the versioned tables, described once for history, log, diff, undo.
 *
 * Here:     what a table must bring to be looked back at, and the steps that those four share.
 * Not here: the four themselves (tree/history.h, tree/diff.h, tree/undo.h).
 * Owns:     nothing; rows are copied into the caller's arena.
 * Threads:  safe from any thread, each with its own transaction.
 * Errors:   those of the store; LOCI_ELIMIT when the arena is full.
 *
 * A room adds a table by a block of LOCI_PAST_STATEMENTS statements in its own statement table
 * (the macros below write them), a loci_past_table that says where they begin, and its address in
 * the list that it hands to the functions. Everything goes by born and ended, never by version,
 * because only times survive an export and import.
 */
#ifndef LOCI_TREE_PAST_H
#define LOCI_TREE_PAST_H

#include "base/arena.h"
#include "db/stmt.h"
#include "db/write.h"

/* The statements of one table, in this order. */
enum {
    LOCI_PAST_FIND,       /* "it"      org, id: the obj that is alive */
    LOCI_PAST_FIND_ENDED, /* "it"      org, id: the obj that is not */
    LOCI_PAST_HISTORY,    /* "ii"      org, obj: all revisions */
    LOCI_PAST_BORN,       /* "iiiiiii" org, owner, agent, after, (time, row) before, limit */
    LOCI_PAST_ENDED,      /* the same for ends that no new revision followed at once */
    LOCI_PAST_TOUCHED,    /* "iiiii"   org, owner, agent, after, up to: objs born or ended then */
    LOCI_PAST_AT,         /* "iii"     org, obj, time: the revision of that time */
    LOCI_PAST_END,        /* "iiiitt"  org, row, time, version, who, door */
    LOCI_PAST_COPY,       /* "iiiiitt" org, row, new row, time, version, who, door */
    LOCI_PAST_TAGS,       /* "iii"     org, row, new row: copy what hangs on a revision */
    LOCI_PAST_STATEMENTS
};

/* Every revision is read with these columns, then the table's own. `id`, `name`, `node` and `text`
 * are expressions over the row r. */
#define LOCI_PAST_SELECT(table, id, name, node, text, columns)                                     \
    "SELECT r.row, r.obj, r.rev, r.born, r.ended, r.who, r.door, r.ended_who, r.ended_door, " id   \
    ", " name ", " node ", " text ", (SELECT p.ended FROM " table " p WHERE p.org = r.org AND "    \
    "p.obj = r.obj AND p.rev = r.rev - 1), " columns " FROM " table " r "

/* Statements on revisions. `born_owned` and `ended_owned` say which rows belong to owner ?2 (and
 * agent ?3) when they are born, and when they end. */
#define LOCI_PAST_READS(first, table, select, born_owned, ended_owned)                             \
    [(first) +                                                                                     \
        LOCI_PAST_HISTORY] = { "ii", select "WHERE r.org = ?1 AND r.obj = ?2 ORDER BY r.rev",      \
                               false },                                                            \
        [(first) + LOCI_PAST_BORN] = { "iiiiiii",                                                  \
                                       select "WHERE r.org = ?1 AND " born_owned                   \
                                              " AND r.born > ?4 AND (r.born, r.row) < (?5, ?6) "   \
                                              "ORDER BY r.born DESC, r.row DESC LIMIT ?7",         \
                                       false },                                                    \
        [(first) + LOCI_PAST_ENDED] = { "iiiiiii",                                                 \
                                        select                                                     \
                                        "WHERE r.org = ?1 AND " ended_owned                        \
                                        " AND r.ended > ?4 AND (r.ended, r.row) < (?5, ?6) AND "   \
                                        "r.ended < {never} AND NOT EXISTS (SELECT 1 FROM " table   \
                                        " n WHERE n.org = r.org AND n.obj = r.obj AND "            \
                                        "n.rev = r.rev + 1 AND n.born = r.ended) "                 \
                                        "ORDER BY r.ended DESC, r.row DESC LIMIT ?7",              \
                                        false },                                                   \
        [(first) + LOCI_PAST_TOUCHED] = { "iiiii",                                                 \
                                          "SELECT r.obj FROM " table                               \
                                          " r WHERE r.org = ?1 AND " born_owned                    \
                                          " AND r.born > ?4 AND r.born <= ?5 UNION "               \
                                          "SELECT r.obj FROM " table                               \
                                          " r WHERE r.org = ?1 AND " ended_owned                   \
                                          " AND r.ended > ?4 AND r.ended <= ?5 AND "               \
                                          "r.ended < {never} ORDER BY 1",                          \
                                          false },                                                 \
        [(first) + LOCI_PAST_AT] = {                                                               \
            "iii", select "WHERE r.org = ?1 AND r.obj = ?2 AND r.born <= ?3 AND r.ended > ?3",     \
            false                                                                                  \
        }

/* Ending a revision, and adding a new one with the content of an old one. */
#define LOCI_PAST_WRITES(first, table, columns)                                                    \
    [(first) + LOCI_PAST_END] = { "iiiitt",                                                        \
                                  "UPDATE " table                                                  \
                                  " SET ended = ?3, ended_ver = ?4, ended_who = ?5, "              \
                                  "ended_door = ?6 WHERE org = ?1 AND row = ?2 AND "               \
                                  "ended = {never}",                                               \
                                  false },                                                         \
               [(first) + LOCI_PAST_COPY] = {                                                      \
                   "iiiiitt",                                                                      \
                   "INSERT INTO " table                                                            \
                   " (org, row, obj, rev, born, ended, ver, ended_ver, who, door, " columns        \
                   ") SELECT r.org, ?3, r.obj, (SELECT max(x.rev) + 1 FROM " table                 \
                   " x WHERE x.org = ?1 AND x.obj = r.obj), ?4, {never}, ?5, 0, ?6, ?7, " columns  \
                   " FROM " table " r WHERE r.org = ?1 AND r.row = ?2",                            \
                   false                                                                           \
               }

/* Finding the obj behind a public id, for tables that have one. */
#define LOCI_PAST_FINDS(first, table)                                                              \
    [(first) +                                                                                     \
        LOCI_PAST_FIND] = { "it",                                                                  \
                            "SELECT obj FROM " table                                               \
                            " WHERE org = ?1 AND id = ?2 AND ended = {never}",                     \
                            false },                                                               \
        [(first) +                                                                                 \
            LOCI_PAST_FIND_ENDED] = { "it",                                                        \
                                      "SELECT obj FROM " table                                     \
                                      " WHERE org = ?1 AND id = ?2 AND ended < {never} LIMIT 1",   \
                                      false }

typedef enum loci_past_owner {
    LOCI_PAST_OF_AGENT,  /* owner is the agent's obj */
    LOCI_PAST_OF_ARCHIVE /* owner is the obj of an archive that the agent has, or had */
} loci_past_owner;

typedef struct loci_past_table {
    const char *name;
    const loci_db_room *room; /* whose statements it uses */
    size_t first;             /* the first of them */
    const char *columns;      /* content, as in its SQL: "name, tags, created_at" */
    const char *types;        /* one letter for each: i integer, t text, b blob */
    loci_past_owner owner;
    bool has_id;   /* it has public ids */
    bool has_tags; /* LOCI_PAST_TAGS is there */
    /* What several agents may have in common: the table it stands in (this one: by obj; another: by
     * owner), and the statement "iii" (org, obj, agent) that counts the other agents. */
    const struct loci_past_table *common;
    size_t others;
} loci_past_table;

/* The store's own tables. */
extern const loci_past_table loci_past_agent, loci_past_branch, loci_past_archive,
    loci_past_archive_link, loci_past_block, loci_past_block_link, loci_past_message,
    loci_past_passage;

/* All of them; ends with NULL. */
extern const loci_past_table *const loci_past_core[];

typedef struct loci_past_value {
    loci_str name; /* of the column */
    char type;     /* i, t, b, as in the table */
    bool null;
    int64_t number; /* type i */
    loci_str text;  /* types t and b */
} loci_past_value;

/* One revision. */
typedef struct loci_past_row {
    int64_t row, obj, rev, born, ended; /* ended is LOCI_NEVER while alive */
    int64_t before;                     /* when the revision before it ended; 0 for none */
    loci_str who, door;                 /* of its birth; who.ptr is NULL when nobody is known */
    loci_str ended_who, ended_door;
    loci_str id;   /* public; ptr is NULL for links */
    loci_str name; /* what a person calls it: name, node, label, role */
    loci_str node; /* of its branch; ptr is NULL on the trunk and where there is none */
    loci_str text; /* what it says; of a block link: the id of the block, NULL for a tombstone */
    loci_past_value *values;
    size_t value_count;
} loci_past_row;

/* The current row of a HISTORY, BORN, ENDED or AT statement. */
LOCI_MUST loci_rc loci_past_read(const loci_past_table *table, loci_stmt *stmt, loci_arena *arena,
                                 loci_past_row *ret_row, loci_err *err);

/* The revision of `obj` that was alive at `time` (LOCI_NEVER: now). LOCI_DONE: none was. */
LOCI_MUST loci_rc loci_past_at(loci_tx *tx, const loci_past_table *table, int64_t org, int64_t obj,
                               int64_t time, loci_arena *arena, loci_past_row *ret_row,
                               loci_err *err);

/* Do two revisions of one table hold the same? */
bool loci_past_same(const loci_past_row *a, const loci_past_row *b);
bool loci_past_value_same(const loci_past_value *a, const loci_past_value *b);

/* A thing that rows belong to, and the time in which it was the agent's: after < t <= until. */
typedef struct loci_past_span {
    loci_past_owner kind;
    int64_t owner, after, until;
} loci_past_span;

typedef struct loci_past_spans {
    loci_past_span *items;
    size_t count;
} loci_past_spans;

enum { LOCI_PAST_SPANS = 10000 }; /* most archives that one agent ever had */

/* The agent itself first, then the archives that it ever had. */
LOCI_MUST loci_rc loci_past_find_spans(loci_tx *tx, int64_t org, int64_t agent, loci_arena *arena,
                                       loci_past_spans *ret_spans, loci_err *err);

/* One thing of the agent's that was born or ended in the time looked at, before and after. */
typedef struct loci_past_pair {
    const loci_past_table *table;
    int64_t owner, obj;
    const loci_past_row *old, *new; /* the revisions alive then; NULL for none */
} loci_past_pair;

typedef loci_rc (*loci_past_fn)(const loci_past_pair *pair, void *arg, loci_err *err);

typedef struct loci_past_walk_request {
    int64_t org, agent;
    int64_t from, to;                     /* LOCI_NEVER: now */
    const loci_past_table *const *tables; /* ends with NULL; NULL for loci_past_core */
    bool keep; /* rows stay in the arena; else it is emptied after every pair */
    loci_past_fn pair;
    void *arg;
} loci_past_walk_request;

/* Everything of the agent's that is not the same at `to` as it was at `from`, table by table, in
 * the order of their objs. Rows are put into `rows`. */
LOCI_MUST loci_rc loci_past_walk(loci_tx *tx, const loci_past_walk_request *request,
                                 loci_arena *rows, loci_err *err);

/* End revision `row`, which is alive; and add one with the content of `row`, which is not. */
LOCI_MUST loci_rc loci_past_end(loci_change *change, const loci_past_table *table, int64_t row,
                                loci_err *err);
LOCI_MUST loci_rc loci_past_copy(loci_change *change, const loci_past_table *table, int64_t row,
                                 loci_err *err);

/* Give revision `fresh` the tags of revision `row`; only for a table that has some. */
LOCI_MUST loci_rc loci_past_copy_tags(loci_change *change, const loci_past_table *table,
                                      int64_t row, int64_t fresh, loci_err *err);

#endif
