/* tree/statements.h -- every SQL statement of this room.
 *
 * Here:     their numbers. The texts are in statements.c, in the words that both engines speak.
 * Not here: tables (db/schema.h). The room adds only indexes, for looking back by agent.
 * Owns:     nothing; constants.
 * Threads:  constants.
 * Errors:   none.
 */
#ifndef LOCI_TREE_STATEMENTS_H
#define LOCI_TREE_STATEMENTS_H

#include "tree/past.h"

/* Give it to loci_db_open behind loci_schema_room. */
extern const loci_db_room loci_tree_room;

enum {
    TREE_AGENT_ADD,
    TREE_AGENT_BY_ID,
    TREE_AGENT_BY_NAME,
    TREE_AGENT_BY_OBJ,
    TREE_AGENT_ENDED_ID,
    TREE_AGENT_ENDED_NAME,
    TREE_AGENT_LAST,
    TREE_AGENT_UP,
    TREE_AGENT_DOWN,
    TREE_AGENT_TAG,
    TREE_AGENT_ALIVE,
    TREE_AGENT_END_BLOCKS,
    TREE_AGENT_END_ARCHIVES,
    TREE_AGENT_LOST_BLOCKS,
    TREE_AGENT_LOST_ARCHIVES,
    TREE_BRANCH_ADD,
    TREE_BRANCH_BY_NODE,
    TREE_BRANCH_BY_NODE_AT,
    TREE_BRANCH_BY_ID,
    TREE_BRANCH_AT,
    TREE_BRANCH_CHILDREN,
    TREE_BRANCH_CHAIN_AT,
    TREE_LABEL_CHAIN,
    TREE_LABEL_CHAIN_AT,
    TREE_LABEL_OWN,
    TREE_LABEL_LAST,
    TREE_LABEL_ADD,
    TREE_ARCHIVE_SPANS,
    TREE_BLOCK_OTHERS,
    TREE_ARCHIVE_OTHERS,
    TREE_PAST, /* from here on: LOCI_PAST_STATEMENTS for each table */
    TREE_PAST_AGENT = TREE_PAST,
    TREE_PAST_BRANCH = TREE_PAST_AGENT + LOCI_PAST_STATEMENTS,
    TREE_PAST_ARCHIVE = TREE_PAST_BRANCH + LOCI_PAST_STATEMENTS,
    TREE_PAST_ARCHIVE_LINK = TREE_PAST_ARCHIVE + LOCI_PAST_STATEMENTS,
    TREE_PAST_BLOCK = TREE_PAST_ARCHIVE_LINK + LOCI_PAST_STATEMENTS,
    TREE_PAST_BLOCK_LINK = TREE_PAST_BLOCK + LOCI_PAST_STATEMENTS,
    TREE_PAST_MESSAGE = TREE_PAST_BLOCK_LINK + LOCI_PAST_STATEMENTS,
    TREE_PAST_PASSAGE = TREE_PAST_MESSAGE + LOCI_PAST_STATEMENTS,
    TREE_STATEMENTS = TREE_PAST_PASSAGE + LOCI_PAST_STATEMENTS
};

/* Content columns of the tables, in the order of their statements and of loci_past_table.types. */
#define TREE_AGENT_COLUMNS                                                                         \
    "name, agent_type, system, description, tags, metadata, hidden, created_at, extra"
#define TREE_BRANCH_COLUMNS "agent, node, parent, title, metadata, created_at, extra"
#define TREE_ARCHIVE_COLUMNS "name, description, provider, embedding, metadata, created_at, extra"
#define TREE_ARCHIVE_LINK_COLUMNS "agent, archive, is_owner"
#define TREE_BLOCK_COLUMNS                                                                         \
    "label, value, description, char_limit, read_only, importance, expires_at, budget, hidden, "   \
    "is_template, template_name, tags, metadata, created_at, extra"
#define TREE_BLOCK_LINK_COLUMNS "agent, branch, label, block, place"
#define TREE_MESSAGE_COLUMNS                                                                       \
    "agent, branch, kind, role, text, content, name, tags, metadata, grp, text_hash, created_at, " \
    "extra"
#define TREE_PASSAGE_COLUMNS                                                                       \
    "archive, agent, branch, kind, text, text_hash, grp, source, tags, metadata, created_at, "     \
    "extra"

#endif
