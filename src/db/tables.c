#include "db/tables.h"

#include "db/driver.h"

#define REQ LOCI_COLUMN_REQUIRED
#define ZERO (LOCI_COLUMN_REQUIRED | LOCI_COLUMN_ZERO)
#define WEAK LOCI_COLUMN_WEAK
#define JSON LOCI_COLUMN_JSON
#define TAGS LOCI_COLUMN_TAGS
#define STAMP (LOCI_COLUMN_REQUIRED | LOCI_COLUMN_STAMP)

/* clang-format off */
const loci_column loci_versioned_columns[] = {
    { "org", 'i', REQ, NULL },      { "row", 'i', REQ, NULL },       { "obj", 'i', REQ, NULL },
    { "rev", 'i', REQ, NULL },      { "born", 'i', REQ, NULL },      { "ended", 'i', REQ, NULL },
    { "ver", 'i', STAMP, NULL },    { "ended_ver", 'i', STAMP, NULL },
    { "who", 't', 0, NULL },        { "door", 't', REQ, NULL },
    { "ended_who", 't', 0, NULL },  { "ended_door", 't', 0, NULL },
};

static const loci_column org_columns[] = {
    { "org", 'i', 0, NULL },        { "id", 't', REQ, NULL },        { "name", 't', REQ, NULL },
    { "ver", 'i', STAMP, NULL },    { "tag", 'i', STAMP, NULL },     { "at", 'i', STAMP, NULL },
    { "row", 'i', STAMP, NULL },    { "model", 't', 0, NULL },       { "created_at", 'i', REQ, NULL },
    { "extra", 't', JSON, NULL },
};
static const loci_column users_columns[] = {
    { "org", 'i', REQ, NULL },      { "id", 't', REQ, NULL },        { "name", 't', REQ, NULL },
    { "created_at", 'i', REQ, NULL }, { "extra", 't', JSON, NULL },
};
static const loci_column api_key_columns[] = {
    { "hash", 'b', REQ, NULL },      { "org", 'i', REQ, NULL },       { "id", 't', REQ, NULL },
    { "name", 't', REQ, NULL },     { "shown", 't', REQ, NULL },     { "role", 't', REQ, NULL },
    { "agent", 't', 0, NULL },      { "node", 't', 0, NULL },        { "created_at", 'i', REQ, NULL },
    { "created_by", 't', 0, NULL }, { "used_at", 'i', 0, NULL },     { "revoked_at", 'i', 0, NULL },
};
static const loci_column version_columns[] = {
    { "org", 'i', REQ, NULL },      { "ver", 'i', STAMP, NULL },     { "tag", 'i', STAMP, NULL },
    { "at", 'i', REQ, NULL },       { "row", 'i', STAMP, NULL },     { "who", 't', 0, NULL },
    { "door", 't', REQ, NULL },
};
static const loci_column agent_columns[] = {
    { "name", 't', REQ, NULL },     { "agent_type", 't', REQ, NULL }, { "system", 't', 0, NULL },
    { "description", 't', 0, NULL }, { "tags", 't', TAGS, NULL },    { "metadata", 't', JSON, NULL },
    { "hidden", 'i', 0, NULL },     { "created_at", 'i', REQ, NULL }, { "extra", 't', JSON, NULL },
};
static const loci_column agent_tag_columns[] = {
    { "org", 'i', REQ, NULL },      { "tag", 't', REQ, NULL },       { "agent", 'i', REQ, NULL },
};
static const loci_column branch_columns[] = {
    { "agent", 'i', REQ, "agent" }, { "node", 't', REQ, NULL },      { "parent", 'i', ZERO, "branch" },
    { "title", 't', 0, NULL },      { "metadata", 't', JSON, NULL }, { "created_at", 'i', REQ, NULL },
    { "extra", 't', JSON, NULL },
};
static const loci_column block_columns[] = {
    { "label", 't', 0, NULL },      { "value", 't', REQ, NULL },     { "description", 't', 0, NULL },
    { "char_limit", 'i', REQ, NULL }, { "read_only", 'i', REQ, NULL }, { "importance", 'i', 0, NULL },
    { "expires_at", 'i', 0, NULL }, { "budget", 'i', REQ, NULL },    { "hidden", 'i', 0, NULL },
    { "is_template", 'i', REQ, NULL }, { "template_name", 't', 0, NULL }, { "tags", 't', TAGS, NULL },
    { "metadata", 't', JSON, NULL }, { "created_at", 'i', REQ, NULL }, { "extra", 't', JSON, NULL },
};
static const loci_column block_tag_columns[] = {
    { "org", 'i', REQ, NULL },      { "tag", 't', REQ, NULL },       { "block", 'i', REQ, NULL },
};
static const loci_column block_link_columns[] = {
    { "agent", 'i', REQ, "agent" }, { "branch", 'i', ZERO, "branch" }, { "label", 't', REQ, NULL },
    { "block", 'i', ZERO, "block" }, { "place", 'i', REQ, NULL },
};
static const loci_column message_columns[] = {
    { "agent", 'i', REQ, "agent" }, { "branch", 'i', ZERO, "branch" }, { "kind", 't', REQ, NULL },
    { "role", 't', REQ, NULL },     { "text", 't', REQ, NULL },      { "content", 't', 0, NULL },
    { "name", 't', 0, NULL },       { "tags", 't', JSON, NULL },     { "metadata", 't', JSON, NULL },
    { "grp", 't', 0, NULL },        { "text_hash", 'b', 0, NULL },   { "created_at", 'i', REQ, NULL },
    { "extra", 't', JSON, NULL },
};
static const loci_column archive_columns[] = {
    { "name", 't', REQ, NULL },     { "description", 't', 0, NULL }, { "provider", 't', REQ, NULL },
    { "embedding", 't', 0, NULL },  { "metadata", 't', JSON, NULL }, { "created_at", 'i', REQ, NULL },
    { "extra", 't', JSON, NULL },
};
static const loci_column archive_link_columns[] = {
    { "agent", 'i', REQ, "agent" }, { "archive", 'i', REQ, "archive" }, { "is_owner", 'i', REQ, NULL },
};
static const loci_column passage_columns[] = {
    { "archive", 'i', REQ, "archive" }, { "agent", 'i', WEAK, "agent" }, { "branch", 'i', ZERO, "branch" },
    { "kind", 't', REQ, NULL },     { "text", 't', REQ, NULL },      { "text_hash", 'b', REQ, NULL },
    { "grp", 't', 0, NULL },        { "source", 't', 0, NULL },      { "tags", 't', TAGS, NULL },
    { "metadata", 't', JSON, NULL }, { "created_at", 'i', REQ, NULL }, { "extra", 't', JSON, NULL },
};
static const loci_column passage_tag_columns[] = {
    { "org", 'i', REQ, NULL },      { "id", 't', REQ, NULL },        { "tag", 't', REQ, NULL },
    { "passage", 'i', REQ, NULL },  { "archive", 'i', REQ, NULL },
};
static const loci_column vector_columns[] = {
    { "org", 'i', REQ, NULL },      { "model", 't', REQ, NULL },     { "text_hash", 'b', REQ, NULL },
    { "chunk", 'i', REQ, NULL },    { "start", 'i', REQ, NULL },     { "len", 'i', REQ, NULL },
    { "ver", 'i', STAMP, NULL },    { "data", 'b', REQ, NULL },
};
static const loci_column queue_columns[] = {
    { "org", 'i', REQ, NULL },      { "job", 'i', REQ, NULL },       { "kind", 't', REQ, NULL },
    { "row", 'i', REQ, NULL },      { "text_hash", 'b', REQ, NULL }, { "tries", 'i', REQ, NULL },
    { "due", 'i', REQ, NULL },      { "lease", 'i', REQ, NULL },     { "error", 't', 0, NULL },
};
static const loci_column outbox_columns[] = {
    { "org", 'i', REQ, NULL },      { "job", 'i', REQ, NULL },       { "kind", 't', REQ, NULL },
    { "obj", 'i', REQ, NULL },      { "payload", 't', 0, NULL },     { "tries", 'i', REQ, NULL },
    { "due", 'i', REQ, NULL },      { "lease", 'i', REQ, NULL },     { "error", 't', 0, NULL },
};
static const loci_column access_log_columns[] = {
    { "org", 'i', REQ, NULL },      { "entry", 'i', REQ, NULL },     { "at", 'i', REQ, NULL },
    { "agent", 'i', 0, NULL },      { "branch", 'i', 0, NULL },      { "kind", 't', 0, NULL },
    { "obj", 'i', 0, NULL },        { "action", 't', REQ, NULL },    { "preview", 't', 0, NULL },
    { "who", 't', 0, NULL },        { "door", 't', REQ, NULL },
};
static const loci_column idempotency_columns[] = {
    { "org", 'i', REQ, NULL },      { "key", 't', REQ, NULL },       { "input_hash", 'b', REQ, NULL },
    { "at", 'i', REQ, NULL },       { "ver", 'i', STAMP, NULL },     { "kept", 'i', REQ, NULL },
    { "answer", 'b', 0, NULL },
};
static const loci_column purge_columns[] = {
    { "org", 'i', REQ, NULL },      { "row", 'i', REQ, NULL },       { "ver", 'i', STAMP, NULL },
    { "at", 'i', REQ, NULL },       { "kind", 't', REQ, NULL },      { "target", 'i', REQ, NULL },
    { "done", 'i', REQ, NULL },
};
static const loci_column schema_columns[] = {
    { "room", 't', REQ, NULL },      { "ver", 'i', REQ, NULL },
};
/* clang-format on */

#define COLUMNS(name) .columns = name##_columns, .column_count = LOCI_COUNT(name##_columns)
#define CORE .room = "core"
#define VERSIONED .kind = LOCI_TABLE_VERSIONED, .carried = true
#define BY_ID .has_id = true, .keys = { "id" }

/* The archives that agent ?2 has or had, and the same for blocks. */
#define ITS_ARCHIVES "(SELECT l.archive FROM archive_link l WHERE l.org = ?1 AND l.agent = ?2)"
#define ITS_BLOCKS "(SELECT l.block FROM block_link l WHERE l.org = ?1 AND l.agent = ?2)"
/* A passage of another agent's branch is not for this one to see. */
#define ITS_PASSAGES "t.archive IN " ITS_ARCHIVES " AND (t.branch = 0 OR t.agent = ?2)"

const loci_table loci_tables[] = {
    { .name = "org", CORE, COLUMNS(org), .carried = true, .keys = { "id" } },
    { .name = "users", CORE, COLUMNS(users), .carried = true, .keys = { "id" } },
    { .name = "api_key",
      CORE,
      COLUMNS(api_key),
      .carried = true,
      .secret = true,
      .keys = { "id" } },
    { .name = "agent",
      CORE,
      VERSIONED,
      BY_ID,
      COLUMNS(agent),
      .junction = "agent_tag",
      .of_agent = "t.obj = ?2" },
    { .name = "branch",
      CORE,
      VERSIONED,
      BY_ID,
      COLUMNS(branch),
      .unique = { "agent", "node" },
      .by_row = true,
      .of_agent = "t.agent = ?2" },
    { .name = "block",
      CORE,
      VERSIONED,
      BY_ID,
      COLUMNS(block),
      .junction = "block_tag",
      .of_agent = "t.obj IN " ITS_BLOCKS },
    { .name = "block_link",
      CORE,
      VERSIONED,
      COLUMNS(block_link),
      .keys = { "agent", "branch", "label" },
      .unique = { "agent", "branch", "label" },
      .of_agent = "t.agent = ?2" },
    { .name = "message", CORE, VERSIONED, BY_ID, COLUMNS(message), .of_agent = "t.agent = ?2" },
    { .name = "archive",
      CORE,
      VERSIONED,
      BY_ID,
      COLUMNS(archive),
      .of_agent = "t.obj IN " ITS_ARCHIVES },
    { .name = "archive_link",
      CORE,
      VERSIONED,
      COLUMNS(archive_link),
      .keys = { "agent", "archive" },
      .unique = { "agent", "archive" },
      .of_agent = "t.agent = ?2" },
    { .name = "passage",
      CORE,
      VERSIONED,
      BY_ID,
      COLUMNS(passage),
      .junction = "passage_tag",
      .of_agent = ITS_PASSAGES },
    { .name = "vector",
      CORE,
      COLUMNS(vector),
      .carried = true,
      .keys = { "model", "text_hash", "chunk" },
      .of_agent = "(t.text_hash IN (SELECT m.text_hash FROM message m WHERE m.org = ?1 AND "
                  "m.agent = ?2 AND m.text_hash IS NOT NULL) OR t.text_hash IN (SELECT p.text_hash "
                  "FROM passage p WHERE p.org = ?1 AND p.archive IN " ITS_ARCHIVES
                  " AND (p.branch = 0 OR p.agent = ?2)))" },
    /* Derived from what is above, or of no use in another store. */
    { .name = "agent_tag", CORE, COLUMNS(agent_tag) },
    { .name = "block_tag", CORE, COLUMNS(block_tag) },
    { .name = "passage_tag", CORE, COLUMNS(passage_tag) },
    { .name = "version", CORE, COLUMNS(version) },
    { .name = "queue", CORE, COLUMNS(queue) },
    { .name = "outbox", CORE, COLUMNS(outbox) },
    { .name = "access_log", CORE, COLUMNS(access_log) },
    { .name = "idempotency", CORE, COLUMNS(idempotency) },
    { .name = "purge", CORE, COLUMNS(purge) },
    { .name = "loci_schema", CORE, COLUMNS(schema) },
};
const size_t loci_table_count = LOCI_COUNT(loci_tables);
const size_t loci_versioned_column_count = LOCI_COUNT(loci_versioned_columns);

const loci_table *loci_table_find(loci_str name)
{
    for (size_t i = 0; i < loci_table_count; i++)
        if (loci_str_eq(name, loci_str_from(loci_tables[i].name))) return &loci_tables[i];
    return NULL;
}

const loci_column *loci_table_column(const loci_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0) return &table->columns[i];
    return NULL;
}

bool loci_table_open(const loci_db *db, const loci_table *table)
{
    for (size_t i = 0; i < db->room_count; i++)
        if (strcmp(db->rooms[i]->name, table->room) == 0) return true;
    return false;
}
