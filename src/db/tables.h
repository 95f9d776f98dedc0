/* db/tables.h -- what every table of the store looks like, said once.
 *
 * Here:     tables and columns for whoever works on all of them: export, import, doctor, purge;
 *           the statements that are made from them.
 * Not here: the tables themselves (db/schema.h and the rooms' migrations).
 * Owns:     constants, and the texts of the statements, which live as long as the program.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ENOMEM when the statements are made.
 *
 * A room that comes later adds its tables as rows of tables.c, under the name of its room; a test
 * compares everything here with the catalogue of both engines.
 */
#ifndef LOCI_DB_TABLES_H
#define LOCI_DB_TABLES_H

#include "db/db.h"
#include "db/stmt.h"

typedef enum loci_column_flags {
    LOCI_COLUMN_REQUIRED = 1 << 0, /* NOT NULL */
    LOCI_COLUMN_ZERO = 1 << 1,     /* a reference that is 0 for none (the trunk, a tombstone) */
    LOCI_COLUMN_WEAK = 1 << 2,     /* a reference that may point to nothing in another store */
    LOCI_COLUMN_JSON = 1 << 3,     /* text that is JSON */
    LOCI_COLUMN_TAGS = 1 << 4,     /* text that is a JSON array of texts, kept in `junction` too */
    LOCI_COLUMN_STAMP = 1 << 5,    /* a number of this store alone (ver): never carried */
} loci_column_flags;

typedef struct loci_column {
    const char *name;
    char kind; /* i integer, t text, b blob */
    unsigned flags;
    const char *ref; /* the table whose obj this integer is; NULL for a plain value */
} loci_column;

typedef enum loci_table_kind {
    LOCI_TABLE_PLAIN,     /* `columns` is all there is, org among them */
    LOCI_TABLE_VERSIONED, /* begins with the columns of loci_versioned_columns */
} loci_table_kind;

enum { LOCI_TABLE_KEYS = 4 };

typedef struct loci_table {
    const char *name;
    const char *room; /* which room's migrations make it */
    loci_table_kind kind;
    bool has_id;  /* versioned: the column id follows the versioned ones */
    bool carried; /* by export */
    bool secret;  /* carried only when asked for: hashes of keys */
    const loci_column *columns;
    size_t column_count;
    /* What identifies a row beside rev: {"id"} when has_id is set; of links the columns that make
     * the link, to which the time of their first revision is added; of plain tables the key. */
    const char *keys[LOCI_TABLE_KEYS];
    /* Columns that no two living rows share, beside the id; none when the first is NULL. */
    const char *unique[LOCI_TABLE_KEYS];
    const char *junction; /* the table of the tags, or NULL */
    /* Rows refer to rows of the same table, so they are carried in the order of their own numbers,
     * in which every reference points backwards; others object by object. */
    bool by_row;
    /* Condition on `t` for what belongs to agent ?2 (an obj); NULL: not with one agent. */
    const char *of_agent;
} loci_table;

/* org, row, obj, rev, born, ended, ver, ended_ver, who, door, ended_who, ended_door. */
extern const loci_column loci_versioned_columns[];
extern const size_t loci_versioned_column_count;

/* In an order in which references point backwards. */
extern const loci_table loci_tables[];
extern const size_t loci_table_count;

/* The table called `name`, or NULL. */
const loci_table *loci_table_find(loci_str name);

/* The column of `table` called `name`, or NULL; not the versioned ones. */
const loci_column *loci_table_column(const loci_table *table, const char *name);

/* Whether the store was opened with the room of this table. */
bool loci_table_open(const loci_db *db, const loci_table *table);

/* The statements that every table has; which parameters and columns, tables_sql.c says. */
typedef enum loci_table_stmt {
    LOCI_TABLE_ALL,    /* "i" org: the carried columns of all rows, in the order of export */
    LOCI_TABLE_AGENT,  /* "ii" org, agent: those of one agent */
    LOCI_TABLE_FIND,   /* org and keys: the carried columns of all revisions */
    LOCI_TABLE_OBJ,    /* "it" org, id: obj; with has_id only */
    LOCI_TABLE_INSERT, /* every column, in the order of the table */
    LOCI_TABLE_END,    /* "iiiitt" org, row, ended, ended_ver, ended_who, ended_door */
    LOCI_TABLE_TAG,    /* "itiit" org, tag, row, archive, id: a row of the junction table */
    LOCI_TABLE_TWINS,  /* "i" org: an id that two objects have, which must not be; PostgreSQL */
    LOCI_TABLE_TWINS_SQLITE,
    LOCI_TABLE_STMTS
} loci_table_stmt;

/* The columns before the table's own in what LOCI_TABLE_ALL, _AGENT and _FIND give for a versioned
 * table. Its own follow in order: a reference as two columns, the id and the number; stamps and org
 * left out. A plain table has its own only. */
enum {
    LOCI_CARRIED_ROW,
    LOCI_CARRIED_OBJ,
    LOCI_CARRIED_REV,
    LOCI_CARRIED_BORN,
    LOCI_CARRIED_ENDED,
    LOCI_CARRIED_FIRST, /* of links: born of the first revision that is there */
    LOCI_CARRIED_WHO,
    LOCI_CARRIED_DOOR,
    LOCI_CARRIED_ENDED_WHO,
    LOCI_CARRIED_ENDED_DOOR,
    LOCI_CARRIED_ID, /* NULL for links */
    LOCI_CARRIED_OWN
};

/* Its statements are made at the first use; give it to loci_db_open behind loci_schema_room. It
 * brings the indexes by which links of the past are found. */
extern const loci_db_room loci_tables_room;

/* Begin a statement of a table. */
LOCI_MUST loci_rc loci_table_begin(loci_tx *tx, const loci_table *table, loci_table_stmt which,
                                   loci_stmt **ret_stmt, loci_err *err);

#endif
