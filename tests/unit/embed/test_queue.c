#include "embed_store.h"
#include "plan.h"

#include <pthread.h>

#define HOUR (INT64_C(3600) * LOCI_SECOND)

/* Passages have their vector with the write, messages later, system messages never. */
static void each_kind_has_its_rule(void **state)
{
    loci_embed_item items[] = {
        { .text = LOCI_STR("a passage"), .rule = LOCI_EMBED_NOW, .kind = "passage" },
        { .text = LOCI_STR("a message"), .rule = LOCI_EMBED_LATER, .kind = "message" },
        { .text = LOCI_STR("a system message"), .rule = LOCI_EMBED_NEVER, .kind = "message" },
        { .text = LOCI_STR(""), .rule = LOCI_EMBED_LATER, .kind = "message" },
    };
    loci_err err = { 0 };
    char model[64];
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    assert_string_equal(es_model(&s, model), "");
    assert_ok(es_write(&s, items, LOCI_COUNT(items), &err), err);
    assert_int_equal(es_ask(&s, ES_VECTORS), 1);
    assert_int_equal(es_pending(&s).waiting, 1);
    assert_string_equal(es_model(&s, model), "m1");
    loci_drain_result r = es_drain(&s, 0);
    assert_int_equal(r.done, 1);
    assert_int_equal(es_ask(&s, ES_VECTORS), 2);
    assert_int_equal(es_pending(&s).waiting, 0);
    assert_int_equal(fake->texts, 2);
    es_close(&s);
}

/* The same text twice, in one write, in two, in the queue: one computation. */
static void a_text_is_computed_once(void **state)
{
    loci_embed_item items[] = {
        { .text = LOCI_STR("twice"), .rule = LOCI_EMBED_NOW, .kind = "passage" },
        { .text = LOCI_STR("twice"), .rule = LOCI_EMBED_NOW, .kind = "passage" },
    };
    loci_err err = { 0 };
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    assert_ok(es_write(&s, items, 2, &err), err);
    assert_int_equal(fake->texts, 1);
    (void)es_put(&s, "passage", "twice");
    (void)es_put(&s, "message", "twice"); /* known: not even queued */
    assert_int_equal(es_pending(&s).waiting, 0);
    assert_int_equal(fake->texts, 1);
    (void)es_put(&s, "message", "thrice");
    (void)es_put(&s, "message", "thrice");
    assert_int_equal(es_pending(&s).waiting, 2);
    assert_int_equal(es_drain(&s, 0).done, 2);
    assert_int_equal(fake->texts, 2);
    assert_int_equal(es_ask(&s, ES_VECTORS), 2);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    es_close(&s);
}

/* Away, writes go on; what fails says why and waits longer each time; in the end all arrive. */
static void a_dead_embedder_fails_no_write(void **state)
{
    int64_t now = loci_clock_now();
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    fake->fail = LOCI_EUNAVAILABLE;
    es_fill(&s, "passage", 5, "passage");
    es_fill(&s, "message", 5, "message");
    loci_queue_pending p = es_pending(&s);
    assert_int_equal(p.waiting, 10);
    assert_int_equal(p.failing, 0);
    loci_drain_result r = es_drain(&s, now + LOCI_SECOND);
    assert_int_equal(r.failed, 10);
    assert_int_equal(r.err.code, LOCI_EUNAVAILABLE);
    p = es_pending(&s);
    assert_int_equal(p.failing, 10);
    assert_non_null(strstr(p.error, "told to fail"));
    assert_true(p.next > now + LOCI_SECOND);
    assert_int_equal(es_drain(&s, now + LOCI_SECOND).taken, 0); /* not due yet */
    for (int i = 2; i < 30; i++) {
        assert_int_equal(es_drain(&s, now + i * HOUR).failed, 10);
        assert_true(es_pending(&s).next <= now + (i + 1) * HOUR);
    }
    fake->fail = LOCI_OK;
    assert_int_equal(es_drain(&s, now + 100 * HOUR).done, 10);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    assert_int_equal(es_ask(&s, ES_QUEUE), 0);
    es_close(&s);
}

/* The model file is not there at all: the same. */
static void no_embedder_fails_no_write(void **state)
{
    es s;

    fake_reset();
    fake->broken_open = 1;
    es_open(&s, store_of(state)->url, "m1", NULL);
    es_fill(&s, "passage", 3, "passage");
    loci_drain_result r = es_drain(&s, 0);
    assert_int_equal(r.degraded, 1);
    assert_int_equal(r.taken, 0);
    assert_int_equal(es_pending(&s).waiting, 3);
    assert_int_equal(es_ask(&s, ES_TRIES), 0);
    fake->broken_open = 0;
    assert_int_equal(es_drain(&s, 0).done, 3);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    es_close(&s);
}

/* A text that takes longer than the patience goes through the queue. */
static void a_slow_embedder_delays_no_write(void **state)
{
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    fake->delay = LOCI_EMBED_PATIENCE + LOCI_SECOND / 2;
    (void)es_put(&s, "passage", "slow");
    assert_int_equal(es_pending(&s).waiting, 1);
    assert_int_equal(es_ask(&s, ES_VECTORS), 0);
    fake->delay = 0;
    assert_int_equal(es_drain(&s, 0).done, 1);
    assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    es_close(&s);
}

/* What the embedder refuses is kept with its error and holds nobody up. */
static void a_bad_text_waits_alone(void **state)
{
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    es_fill(&s, "message", 3, "good");
    (void)es_put(&s, "message", "some " FAKE_POISON);
    es_fill(&s, "message", 3, "better");
    loci_drain_result r = es_drain(&s, 0);
    assert_int_equal(r.done, 6);
    assert_int_equal(r.failed, 1);
    loci_queue_pending p = es_pending(&s);
    assert_int_equal(p.waiting, 1);
    assert_int_equal(p.failing, 1);
    assert_non_null(strstr(p.error, "does not like"));
    es_close(&s);
}

/* Long texts have one vector per chunk, and all of them or none are there. */
static void long_texts_are_kept_in_chunks(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    LOCI_AUTO(loci_buf_done) loci_buf b = { 0 };
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_vectors found = { 0 };
    uint8_t hash[LOCI_TEXT_HASH];
    loci_err err = { 0 };
    size_t end = 0;
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    loci_buf_init(&b, 10000);
    for (int i = 0; i < 200; i++) loci_buf_printf(&b, "word%d%s", i, i % 7 == 6 ? ".\n\n" : " ");
    (void)es_put(&s, "message", b.ptr);
    assert_int_equal(es_drain(&s, 0).done, 1);
    assert_ok(loci_vectors_hash(loci_buf_str(&b), hash, &err), err);
    assert_ok(loci_tx_begin(s.e.db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_vectors_load(tx, LOCI_DEFAULT_ORG, LOCI_STR("m1"), hash, FAKE_DIM, arena, &found,
                                &err),
              err);
    assert_true(found.count >= 200 / 16);
    for (size_t i = 0; i < found.count; i++) {
        float want[FAKE_DIM];
        loci_vector *v = &found.items[i];
        assert_int_equal(v->start, end);
        end = v->start + v->len;
        fake_vector("m1", loci_str_sub(loci_buf_str(&b), v->start, v->len), want);
        assert_memory_equal(v->values, want, sizeof want);
    }
    assert_int_equal(end, b.len);
    loci_tx_endp(&tx);
    es_close(&s);
}

static loci_rc erase(loci_change *change, void *arg, loci_err *err)
{
    loci_embed_item *item = arg;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &es_room, ES_ERASE, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, item->row);
    rc = loci_stmt_run(q, err);
    return rc ? rc
              : loci_vectors_forget(change, loci_text_sources, loci_text_source_count, item->hash,
                                    err);
}

/* Erasing a row takes what waits for it and its vectors along, unless another has the same text. */
static void erased_rows_leave_nothing(void **state)
{
    loci_embed_item one = { .text = LOCI_STR("shared"), .rule = LOCI_EMBED_NOW, .kind = "passage" };
    loci_embed_item two = one;
    loci_embed_item waits = { .text = LOCI_STR("waits"),
                              .rule = LOCI_EMBED_LATER,
                              .kind = "passage" };
    loci_write_request request = { .org = LOCI_DEFAULT_ORG, .run = erase, .door = LOCI_STR("t") };
    loci_err err = { 0 };
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    assert_ok(es_write(&s, &one, 1, &err), err);
    assert_ok(es_write(&s, &two, 1, &err), err);
    assert_ok(es_write(&s, &waits, 1, &err), err);
    request.arg = &one;
    assert_ok(loci_write(s.e.writer, &request, NULL, NULL, &err), err);
    assert_int_equal(es_ask(&s, ES_VECTORS), 1);
    request.arg = &two;
    assert_ok(loci_write(s.e.writer, &request, NULL, NULL, &err), err);
    assert_int_equal(es_ask(&s, ES_VECTORS), 0);
    request.arg = &waits;
    assert_ok(loci_write(s.e.writer, &request, NULL, NULL, &err), err);
    assert_int_equal(es_ask(&s, ES_QUEUE), 0);
    assert_int_equal(es_drain(&s, 0).taken, 0);
    es_close(&s);
}

/* Erased while its vectors were being made: they are not stored. */
static void *erase_later(void *arg)
{
    es *s = arg;
    loci_embed_item item = { .text = LOCI_STR("secret"), .row = 1 };
    loci_write_request request = {
        .org = LOCI_DEFAULT_ORG, .run = erase, .arg = &item, .door = LOCI_STR("t")
    };
    loci_err err = { 0 };

    if (loci_vectors_hash(item.text, item.hash, &err)) return NULL;
    while (!fake->calls) loci_clock_sleep(LOCI_MS);
    (void)!loci_write(s->e.writer, &request, NULL, NULL, &err);
    return NULL;
}

static void erased_meanwhile_is_not_stored(void **state)
{
    loci_embed_item item = { .text = LOCI_STR("secret"),
                             .rule = LOCI_EMBED_LATER,
                             .kind = "passage" };
    loci_err err = { 0 };
    pthread_t thread;
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    assert_ok(es_write(&s, &item, 1, &err), err);
    assert_int_equal(item.row, 1);
    fake->delay = 300 * LOCI_MS;
    assert_int_equal(pthread_create(&thread, NULL, erase_later, &s), 0);
    (void)es_drain(&s, 0);
    (void)pthread_join(thread, NULL);
    assert_int_equal(es_ask(&s, ES_VECTORS), 0);
    assert_int_equal(es_ask(&s, ES_QUEUE), 0);
    es_close(&s);
}

static void no_statement_reads_a_whole_table(void **state)
{
    store *st = store_of(state);
    es s;

    fake_reset();
    es_open(&s, st->url, "m1", NULL);
    es_close(&s);
    plan_check(st->url, st->engine, &loci_vectors_room, "few");
    plan_check(st->url, st->engine, &loci_queue_room, "few queue");
    plan_check(st->url, st->engine, &loci_drain_room, "json_each");
    plan_check(st->url, st->engine, &loci_model_room, "");
    plan_check(st->url, st->engine, &loci_reindex_room, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(each_kind_has_its_rule),
        ON_BOTH(a_text_is_computed_once),
        ON_BOTH(a_dead_embedder_fails_no_write),
        ON_BOTH(no_embedder_fails_no_write),
        ON_SQLITE(a_slow_embedder_delays_no_write),
        ON_BOTH(a_bad_text_waits_alone),
        ON_BOTH(long_texts_are_kept_in_chunks),
        ON_BOTH(erased_rows_leave_nothing),
        ON_BOTH(erased_meanwhile_is_not_stored),
        ON_BOTH(no_statement_reads_a_whole_table),
    };
    return cmocka_run_group_tests_name("embed/queue", tests, fake_setup, NULL);
}
