/* A store with everything that embedding needs, the fake embedder, and rows to write into it. */
#ifndef LOCI_TEST_EMBED_STORE_H
#define LOCI_TEST_EMBED_STORE_H

#include "fake.h"
#include "memory.h"

#include "embed/drain.h"
#include "embed/queue.h"
#include "embed/reindex.h"

enum {
    ES_PASSAGE,
    ES_MESSAGE,
    ES_ERASE,
    ES_QUEUE,
    ES_VECTORS,
    ES_TEXTS_WITH_VECTOR,
    ES_ROWS_WITHOUT,
    ES_MODELS,
    ES_TRIES,
    ES_STATEMENTS
};

#define ES_HAS_VECTOR                                                                              \
    "EXISTS (SELECT 1 FROM vector v JOIN org o ON o.org = v.org AND o.model = v.model "            \
    "WHERE v.org = p.org AND v.text_hash = p.text_hash AND v.chunk = 0)"

static const loci_sql es_statements[] = {
    /* clang-format off */
    [ES_PASSAGE] = { "iitiittb",
        "INSERT INTO passage (org, row, obj, rev, id, born, ended, ver, ended_ver, door, archive, branch, kind, "
        "text, text_hash, created_at) "
        "VALUES (?1, ?2, ?2, 1, ?3, ?4, {never}, ?5, 0, ?6, 1, 0, 'memory', ?7, ?8, ?4)", false },
    [ES_MESSAGE] = { "iitiittb",
        "INSERT INTO message (org, row, obj, rev, id, born, ended, ver, ended_ver, door, agent, branch, kind, role, "
        "text, text_hash, created_at) "
        "VALUES (?1, ?2, ?2, 1, ?3, ?4, {never}, ?5, 0, ?6, 1, 0, 'message', 'user', ?7, ?8, ?4)", false },
    [ES_ERASE] = { "ii", "DELETE FROM passage WHERE org = ?1 AND row = ?2", false },
    [ES_QUEUE] = { "", "SELECT count(*) FROM queue", false },
    [ES_VECTORS] = { "", "SELECT count(*) FROM vector", false },
    [ES_TEXTS_WITH_VECTOR] = { "", "SELECT count(DISTINCT text_hash) FROM vector", false },
    [ES_ROWS_WITHOUT] = { "",
        "SELECT (SELECT count(*) FROM passage p WHERE NOT " ES_HAS_VECTOR ") + "
        "(SELECT count(*) FROM message p WHERE p.text_hash IS NOT NULL AND NOT " ES_HAS_VECTOR ")", false },
    [ES_MODELS] = { "", "SELECT count(DISTINCT model) FROM vector", false },
    [ES_TRIES] = { "", "SELECT coalesce(max(tries), 0) FROM queue", false },
    /* clang-format on */
};

static const loci_db_room es_room = { .name = "embed-test",
                                      .statements = es_statements,
                                      .statement_count = LOCI_COUNT(es_statements) };

static const loci_db_room *const es_rooms[] = {
    &loci_schema_room, &loci_write_room, &loci_catchup_room, &loci_vectors_room, &loci_queue_room,
    &loci_model_room,  &loci_drain_room, &loci_reindex_room, &es_room,           NULL
};

/* One process: a store, and embedders of which the first is configured. */
typedef struct es {
    loci_embedding e;
    loci_embedder_options embedders[2];
} es;

static LOCI_UNUSED void es_open(es *s, const char *url, const char *model, const char *other)
{
    loci_db_options options = { .rooms = es_rooms, .deadline = 60 * LOCI_SECOND };
    loci_err err = { 0 };

    *s = (es){ .embedders = { { .name = model }, { .name = other } } };
    loci_models_options m = { .embedders = s->embedders,
                              .count = other ? 2 : 1,
                              .open = fake_open };
    m.service.threads = 1;
    assert_ok(loci_db_open(url, &options, &s->e.db, &err), err);
    assert_ok(loci_writer_new(s->e.db, &s->e.writer, &err), err);
    assert_ok(loci_models_new(&m, &s->e.models, &err), err);
    s->e.chunk_tokens = 16;
}

static LOCI_UNUSED void es_close(es *s)
{
    loci_models_free(s->e.models);
    loci_writer_free(s->e.writer);
    loci_db_close(s->e.db);
}

static LOCI_UNUSED int64_t es_ask(es *s, size_t statement)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(s->e.db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &es_room, statement, &q, &err), err);
    assert_ok(loci_stmt_next(q, &err), err);
    return loci_stmt_i64(q, 0);
}

static loci_rc es_insert(loci_change *c, const loci_embed_item *item, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    char id[40];
    size_t statement = strcmp(item->kind, "passage") == 0 ? ES_PASSAGE : ES_MESSAGE;
    loci_rc rc = loci_stmt_begin(c->tx, &es_room, statement, &q, err);

    if (rc) return rc;
    (void)snprintf(id, sizeof id, "row-%lld", (long long)item->row);
    loci_stmt_bind_i64(q, 1, c->org);
    loci_stmt_bind_i64(q, 2, item->row);
    loci_stmt_bind_text(q, 3, loci_str_from(id));
    loci_stmt_bind_i64(q, 4, c->born);
    loci_stmt_bind_i64(q, 5, c->ver);
    loci_stmt_bind_text(q, 6, c->door);
    loci_stmt_bind_text(q, 7, item->text);
    if (item->rule != LOCI_EMBED_NEVER)
        loci_stmt_bind_blob(q, 8, (loci_str){ (const char *)item->hash, LOCI_TEXT_HASH });
    return loci_stmt_run(q, err);
}

static loci_rc es_add(loci_change *change, void *arg, loci_err *err)
{
    loci_embed_plan *plan = arg;
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < plan->count; i++) {
        plan->items[i].row = loci_change_row(change);
        rc = es_insert(change, &plan->items[i], err);
    }
    return rc ? rc : loci_embed_within(change, plan, err);
}

/* Write some rows in one write, as a room would. */
static LOCI_UNUSED loci_rc es_write(es *s, loci_embed_item *items, size_t count, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(64 << 20);
    loci_embed_plan plan;
    loci_write_request request = {
        .org = LOCI_DEFAULT_ORG, .run = es_add, .arg = &plan, .door = LOCI_STR("test")
    };

    loci_rc rc = loci_embed_before(&s->e, LOCI_DEFAULT_ORG, items, count, arena, &plan, err);
    return rc ? rc : loci_write(s->e.writer, &request, NULL, NULL, err);
}

/* One row. Returns its number. */
static LOCI_UNUSED int64_t es_put(es *s, const char *kind, const char *text)
{
    loci_embed_item item = { .text = loci_str_from(text), .kind = kind };
    loci_err err = { 0 };

    item.rule = strcmp(kind, "passage") == 0 ? LOCI_EMBED_NOW : LOCI_EMBED_LATER;
    assert_ok(es_write(s, &item, 1, &err), err);
    return item.row;
}

/* `count` rows with texts of their own. */
static LOCI_UNUSED void es_fill(es *s, const char *kind, int count, const char *what)
{
    for (int i = 0; i < count; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s number %d", what, i);
        (void)es_put(s, kind, text);
    }
}

static LOCI_UNUSED loci_drain_result es_drain(es *s, int64_t now)
{
    loci_drain_options o = { .now = now };
    loci_drain_result result = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_drain(&s->e, &o, &result, &err), err);
    return result;
}

static LOCI_UNUSED loci_queue_pending es_pending(es *s)
{
    loci_queue_pending p = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_queue_count(&s->e, LOCI_DEFAULT_ORG, &p, &err), err);
    return p;
}

/* The stored model, into a buffer of 64 bytes. */
static LOCI_UNUSED const char *es_model(es *s, char *ret)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 16);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_str model = { NULL, 0 };
    loci_err err = { 0 };

    assert_ok(loci_tx_begin(s->e.db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_model_get(tx, LOCI_DEFAULT_ORG, arena, &model, &err), err);
    (void)snprintf(ret, 64, "%.*s", LOCI_ARG(model));
    return ret;
}

#endif
