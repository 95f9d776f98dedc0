#include "db/schema.h"

/* The SQL is laid out by hand: one table or index after another, columns in groups. */
/* clang-format off */

/* The columns that every versioned table begins with, and its key. */
#define VERSIONED \
    "org {int} NOT NULL, row {int} NOT NULL, obj {int} NOT NULL, rev {int} NOT NULL," \
    "born {int} NOT NULL, ended {int} NOT NULL, ver {int} NOT NULL, ended_ver {int} NOT NULL," \
    "who {text}, door {text} NOT NULL, ended_who {text}, ended_door {text},"
#define WITH_ID VERSIONED "id {text} NOT NULL,"
#define KEY "PRIMARY KEY (org, row)) {strict};"

/* History by obj, and the ends for the catch-up stream. */
#define HISTORY(table) \
    "CREATE UNIQUE INDEX " table "_obj ON " table " (org, obj, rev);" \
    "CREATE INDEX " table "_ends ON " table " (org, ended_ver) WHERE ended_ver > 0;"

/* By public id: one row alive, any number of past ones. */
#define BY_ID(table) \
    "CREATE UNIQUE INDEX " table "_id ON " table " (org, id) WHERE ended = {never};" \
    "CREATE INDEX " table "_past ON " table " (org, id) WHERE ended < {never};"

/* Global tables: found without knowing the organization. */
#define GLOBAL_TABLES \
    "CREATE TABLE org (" \
    "    org {int} PRIMARY KEY, id {text} NOT NULL UNIQUE, name {text} NOT NULL," \
    "    ver {int} NOT NULL, tag {int} NOT NULL, at {int} NOT NULL, row {int} NOT NULL," \
    "    model {text}, created_at {int} NOT NULL, extra {text}) {strict};" \
    "CREATE TABLE users (" \
    "    org {int} NOT NULL REFERENCES org (org), id {text} NOT NULL, name {text} NOT NULL," \
    "    created_at {int} NOT NULL, extra {text}," \
    "    PRIMARY KEY (org, id)) {strict};" \
    "CREATE TABLE api_key (" \
    "    hash {blob} PRIMARY KEY, org {int} NOT NULL REFERENCES org (org)," \
    "    id {text} NOT NULL UNIQUE, name {text} NOT NULL, shown {text} NOT NULL," \
    "    role {text} NOT NULL, agent {text}, node {text}," \
    "    created_at {int} NOT NULL, created_by {text}, used_at {int}, revoked_at {int}) {strict};" \
    "CREATE INDEX api_key_org ON api_key (org, created_at);"

#define VERSION_TABLE \
    "CREATE TABLE version (" \
    "    org {int} NOT NULL, ver {int} NOT NULL, tag {int} NOT NULL," \
    "    at {int} NOT NULL, row {int} NOT NULL, who {text}, door {text} NOT NULL," \
    "    PRIMARY KEY (org, ver)) {narrow};"

#define AGENT_TABLES \
    "CREATE TABLE agent (" WITH_ID \
    "    name {text} NOT NULL, agent_type {text} NOT NULL, system {text}, description {text}," \
    "    tags {text}, metadata {text}, hidden {int}, created_at {int} NOT NULL, extra {text}," KEY \
    HISTORY("agent") BY_ID("agent") \
    "CREATE INDEX agent_list ON agent (org, created_at, obj) WHERE ended = {never};" \
    "CREATE INDEX agent_name ON agent (org, name) WHERE ended = {never};" \
    "CREATE TABLE agent_tag (" \
    "    org {int} NOT NULL, tag {text} NOT NULL, agent {int} NOT NULL," \
    "    PRIMARY KEY (org, tag, agent)," \
    "    FOREIGN KEY (org, agent) REFERENCES agent (org, row) ON DELETE CASCADE) {narrow};" \
    "CREATE INDEX agent_tag_agent ON agent_tag (org, agent);" \
    "CREATE TABLE branch (" WITH_ID \
    "    agent {int} NOT NULL, node {text} NOT NULL, parent {int} NOT NULL, title {text}," \
    "    metadata {text}, created_at {int} NOT NULL, extra {text}," KEY \
    HISTORY("branch") BY_ID("branch") \
    "CREATE UNIQUE INDEX branch_node ON branch (org, agent, node) WHERE ended = {never};" \
    "CREATE INDEX branch_parent ON branch (org, parent) WHERE ended = {never};"

/* A link with block 0 is a tombstone: the label is not seen from there on down. budget is 1 for a
 * block that counts against the core budget. */
#define BLOCK_TABLES \
    "CREATE TABLE block (" WITH_ID \
    "    label {text}, value {text} NOT NULL, description {text}, char_limit {int} NOT NULL," \
    "    read_only {int} NOT NULL, importance {int}, expires_at {int}, budget {int} NOT NULL," \
    "    hidden {int}, is_template {int} NOT NULL, template_name {text}," \
    "    tags {text}, metadata {text}, created_at {int} NOT NULL, extra {text}," KEY \
    HISTORY("block") BY_ID("block") \
    "CREATE INDEX block_list ON block (org, created_at, obj) WHERE ended = {never};" \
    "CREATE INDEX block_label ON block (org, label, obj) WHERE ended = {never};" \
    "CREATE INDEX block_expiry ON block (org, expires_at)" \
    "    WHERE ended = {never} AND expires_at IS NOT NULL;" \
    "CREATE TABLE block_tag (" \
    "    org {int} NOT NULL, tag {text} NOT NULL, block {int} NOT NULL," \
    "    PRIMARY KEY (org, tag, block)," \
    "    FOREIGN KEY (org, block) REFERENCES block (org, row) ON DELETE CASCADE) {narrow};" \
    "CREATE INDEX block_tag_block ON block_tag (org, block);" \
    "CREATE TABLE block_link (" VERSIONED \
    "    agent {int} NOT NULL, branch {int} NOT NULL, label {text} NOT NULL," \
    "    block {int} NOT NULL, place {int} NOT NULL," KEY \
    HISTORY("block_link") \
    "CREATE UNIQUE INDEX block_link_label ON block_link (org, agent, branch, label)" \
    "    WHERE ended = {never};" \
    "CREATE INDEX block_link_block ON block_link (org, block) WHERE ended = {never};"

#define MESSAGE_TABLE \
    "CREATE TABLE message (" WITH_ID \
    "    agent {int} NOT NULL, branch {int} NOT NULL, kind {text} NOT NULL, role {text} NOT NULL," \
    "    text {text} NOT NULL, content {text}, name {text}, tags {text}, metadata {text}," \
    "    grp {text}, text_hash {blob}, created_at {int} NOT NULL, extra {text}," KEY \
    HISTORY("message") BY_ID("message") \
    "CREATE INDEX message_list ON message (org, agent, branch, kind, obj) WHERE ended = {never};" \
    "CREATE INDEX message_time ON message (org, agent, branch, created_at, obj)" \
    "    WHERE ended = {never};" \
    "CREATE INDEX message_grp ON message (org, grp, obj)" \
    "    WHERE ended = {never} AND grp IS NOT NULL;"

#define ARCHIVE_TABLES \
    "CREATE TABLE archive (" WITH_ID \
    "    name {text} NOT NULL, description {text}, provider {text} NOT NULL, embedding {text}," \
    "    metadata {text}, created_at {int} NOT NULL, extra {text}," KEY \
    HISTORY("archive") BY_ID("archive") \
    "CREATE INDEX archive_list ON archive (org, created_at, obj) WHERE ended = {never};" \
    "CREATE INDEX archive_name ON archive (org, name) WHERE ended = {never};" \
    "CREATE TABLE archive_link (" VERSIONED \
    "    agent {int} NOT NULL, archive {int} NOT NULL, is_owner {int} NOT NULL," KEY \
    HISTORY("archive_link") \
    "CREATE UNIQUE INDEX archive_link_agent ON archive_link (org, agent, archive)" \
    "    WHERE ended = {never};" \
    "CREATE INDEX archive_link_archive ON archive_link (org, archive) WHERE ended = {never};"

/* text_hash finds duplicates (with archive, branch and group) and the vectors. */
#define PASSAGE_TABLES \
    "CREATE TABLE passage (" WITH_ID \
    "    archive {int} NOT NULL, agent {int}, branch {int} NOT NULL, kind {text} NOT NULL," \
    "    text {text} NOT NULL, text_hash {blob} NOT NULL, grp {text}, source {text}," \
    "    tags {text}, metadata {text}, created_at {int} NOT NULL, extra {text}," KEY \
    HISTORY("passage") BY_ID("passage") \
    "CREATE INDEX passage_hash ON passage (org, archive, branch, text_hash)" \
    "    WHERE ended = {never};" \
    "CREATE INDEX passage_list ON passage (org, archive, branch, created_at, obj)" \
    "    WHERE ended = {never};" \
    "CREATE INDEX passage_grp ON passage (org, grp, obj)" \
    "    WHERE ended = {never} AND grp IS NOT NULL;" \
    "CREATE TABLE passage_tag (" \
    "    org {int} NOT NULL, id {text} NOT NULL, tag {text} NOT NULL, passage {int} NOT NULL," \
    "    archive {int} NOT NULL," \
    "    PRIMARY KEY (org, passage, tag)," \
    "    FOREIGN KEY (org, passage) REFERENCES passage (org, row) ON DELETE CASCADE) {narrow};" \
    "CREATE INDEX passage_tag_tag ON passage_tag (org, archive, tag, passage);"

#define VECTOR_TABLE \
    "CREATE TABLE vector (" \
    "    org {int} NOT NULL, model {text} NOT NULL, text_hash {blob} NOT NULL," \
    "    chunk {int} NOT NULL, start {int} NOT NULL, len {int} NOT NULL, ver {int} NOT NULL," \
    "    data {blob} NOT NULL," \
    "    PRIMARY KEY (org, model, text_hash, chunk)) {strict};" \
    "CREATE INDEX vector_ver ON vector (org, ver);"

/* Work that is not versioned. due is when it may next be tried; lease is until when somebody has
 * it in hand. */
#define WORK_TABLES \
    "CREATE TABLE queue (" \
    "    org {int} NOT NULL, job {int} NOT NULL, kind {text} NOT NULL, row {int} NOT NULL," \
    "    text_hash {blob} NOT NULL, tries {int} NOT NULL, due {int} NOT NULL," \
    "    lease {int} NOT NULL, error {text}," \
    "    PRIMARY KEY (org, job)) {strict};" \
    "CREATE INDEX queue_due ON queue (due);" \
    "CREATE INDEX queue_hash ON queue (org, text_hash);" \
    "CREATE TABLE outbox (" \
    "    org {int} NOT NULL, job {int} NOT NULL, kind {text} NOT NULL, obj {int} NOT NULL," \
    "    payload {text}, tries {int} NOT NULL, due {int} NOT NULL," \
    "    lease {int} NOT NULL, error {text}," \
    "    PRIMARY KEY (org, job)) {strict};" \
    "CREATE INDEX outbox_due ON outbox (due);" \
    "CREATE INDEX outbox_obj ON outbox (org, obj);" \
    "CREATE TABLE access_log (" \
    "    org {int} NOT NULL, entry {int} NOT NULL, at {int} NOT NULL," \
    "    agent {int}, branch {int}, kind {text}, obj {int}, action {text} NOT NULL," \
    "    preview {text}, who {text}, door {text} NOT NULL," \
    "    PRIMARY KEY (org, entry)) {strict};" \
    "CREATE INDEX access_log_agent ON access_log (org, agent, at);" \
    "CREATE INDEX access_log_at ON access_log (org, at);" \
    "CREATE TABLE idempotency (" \
    "    org {int} NOT NULL, key {text} NOT NULL, input_hash {blob} NOT NULL," \
    "    at {int} NOT NULL, ver {int} NOT NULL, kept {int} NOT NULL, answer {blob}," \
    "    PRIMARY KEY (org, key)) {strict};" \
    "CREATE INDEX idempotency_at ON idempotency (org, at);" \
    "CREATE TABLE purge (" \
    "    org {int} NOT NULL, row {int} NOT NULL, ver {int} NOT NULL, at {int} NOT NULL," \
    "    kind {text} NOT NULL, target {int} NOT NULL, done {int} NOT NULL," \
    "    PRIMARY KEY (org, row)) {strict};" \
    "CREATE INDEX purge_todo ON purge (done, org, row);" \
    "CREATE INDEX purge_target ON purge (org, kind, target);"

#define DEFAULTS \
    "INSERT INTO org (org, id, name, ver, tag, at, row, created_at)" \
    "    VALUES (1, '" LOCI_DEFAULT_ORG_ID "', 'default_org', 0, 0, 0, 0, 0);" \
    "INSERT INTO users (org, id, name, created_at)" \
    "    VALUES (1, '" LOCI_DEFAULT_USER_ID "', 'default_user', 0);"

/* clang-format on */

static const char *const migrations[] = {
    GLOBAL_TABLES VERSION_TABLE AGENT_TABLES BLOCK_TABLES MESSAGE_TABLE ARCHIVE_TABLES
        PASSAGE_TABLES VECTOR_TABLE WORK_TABLES DEFAULTS,
};

const loci_db_room loci_schema_room = { .name = "core",
                                        .migrations = migrations,
                                        .migration_count = LOCI_COUNT(migrations) };
