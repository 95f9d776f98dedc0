/* db/carry.h -- one row of any table as one line of JSON, and back.
 *
 * Here:     the format of exports, version 1: writing a row, reading and checking a line alone,
 *           comparing a row that was read with one that is stored.
 * Not here: what lines say about each other (db/carry_check.h), files (db/lines.h), SQL.
 * Owns:     nothing; what is read lives in the caller's arena.
 * Threads:  pure functions.
 * Errors:   LOCI_ESHAPE for a line that is no row of ours; the message says which field and why.
 *
 * The first line of an export describes it:
 *
 *     {"format":"loci-export","version":1,"time":1731922651000000,"store":"sqlite",
 *      "program":"0.1.0","vectors":true,"agent":"agent-..."}     agent: only of that agent
 *
 * Then, for each organization, a row of the table org and the rows of the others, table by table,
 * objects in the order in which they were made, each with all its revisions (branches: revisions in
 * the order in which they were made):
 *
 *     {"table":"passage","id":"passage-...","rev":1,"born":..., "ended":..., "door":"rest", ...}
 *
 * A column that is NULL is left out, and so is `ended` of a living row. Blobs are base64. The
 * numbers of a store (row, obj, ver) are not there: references are ids, and what has no id, a link,
 * has the time `first` at which it was made. JSON columns are texts, so that every byte comes back.
 * The last line counts the lines between and has the hash of them with their ends; whoever edits an
 * export leaves `sha256` out:
 *
 *     {"end":true,"lines":3,"sha256":"..."}
 */
#ifndef LOCI_DB_CARRY_H
#define LOCI_DB_CARRY_H

#include "base/json.h"
#include "db/stmt.h"
#include "db/tables.h"

#define LOCI_CARRY_FORMAT "loci-export"

enum {
    LOCI_CARRY_VERSION = 1,
    LOCI_CARRY_COLUMNS = 24, /* most own columns of a table */
    LOCI_CARRY_ID = 128,     /* longest id */
    LOCI_CARRY_TAGS = 1000   /* most tags of one row */
};

typedef struct loci_carried_value {
    bool there;     /* not NULL */
    int64_t number; /* of an integer */
    loci_str bytes; /* of a text, a blob, or the id of a reference */
} loci_carried_value;

typedef struct loci_carried {
    const loci_table *table;
    size_t line;                                   /* where it stood */
    int64_t rev, born, ended, first;               /* of versioned tables; first: of links */
    loci_str id, who, door, ended_who, ended_door; /* ptr is NULL when it is not there */
    loci_carried_value own[LOCI_CARRY_COLUMNS];    /* as table->columns */
} loci_carried;

typedef struct loci_carry_head {
    int64_t time;
    loci_str store, program, agent; /* agent.ptr is NULL without a restriction */
    bool vectors;
} loci_carry_head;

typedef struct loci_carry_end {
    int64_t lines;
    loci_str sha256; /* hex; ptr is NULL when it is not there */
} loci_carry_end;

/* Append the line of the current row of LOCI_TABLE_ALL or _AGENT. *ret_orphan: a reference points
 * to nothing, and nothing was appended. `bare` leaves out the model of an organization. */
LOCI_MUST loci_rc loci_carry_write(const loci_table *table, loci_stmt *row, bool bare,
                                   loci_buf *out, bool *ret_orphan, loci_err *err);
void loci_carry_write_head(const loci_carry_head *head, loci_buf *out);
void loci_carry_write_end(const loci_carry_end *end, loci_buf *out);

typedef enum loci_carry_line { LOCI_CARRY_HEAD, LOCI_CARRY_ROW, LOCI_CARRY_END } loci_carry_line;

/* Any bytes at all. One of the three is filled in, as *ret_kind says. */
LOCI_MUST loci_rc loci_carry_read(loci_arena *arena, loci_str line, loci_carry_line *ret_kind,
                                  loci_carry_head *ret_head, loci_carried *ret_row,
                                  loci_carry_end *ret_end, loci_err *err);

/* The first column in which a row of LOCI_TABLE_FIND is not the one that was read; NULL when there
 * is none. The end is not compared. A weak reference that `row` has and the store cannot resolve is
 * equal to NULL. */
const char *loci_carry_differs(const loci_carried *row, loci_stmt *stored);

/* The value of the column called `name`. */
const loci_carried_value *loci_carry_get(const loci_carried *row, const char *name);

/* The tags in a text that is a JSON array of texts. */
LOCI_MUST loci_rc loci_carry_tags(loci_arena *arena, loci_str json, loci_str **ret_tags,
                                  size_t *ret_count, loci_err *err);

/* How many columns of LOCI_TABLE_ALL come before own column `index`. */
unsigned loci_carry_place(const loci_table *table, size_t index);

/* Whether own column `index` is in an export at all. */
bool loci_carry_has(const loci_table *table, size_t index);

/* What a person calls the row: its id, or what the link links. */
void loci_carry_name(const loci_carried *row, loci_buf *out);

#endif
