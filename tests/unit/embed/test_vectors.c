#include "embed_store.h"

#include <math.h>

static void data_is_checked(void **state)
{
    static const float values[3] = { 1.0F, -0.5F, 3.25F };
    static const uint8_t bytes[12] = { 0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf, 0, 0, 0x50, 0x40 };
    static const uint8_t nan[4] = { 0, 0, 0xc0, 0x7f };
    static const struct {
        const uint8_t *data;
        size_t len, dim;
        loci_rc want;
    } cases[] = {
        { bytes, 12, 3, LOCI_OK },       { bytes, 12, 2, LOCI_ECORRUPT },
        { bytes, 11, 3, LOCI_ECORRUPT }, { bytes, 0, 3, LOCI_ECORRUPT },
        { nan, 4, 1, LOCI_ECORRUPT },
    };
    char got[12];
    float back[3];
    (void)state;

    loci_vectors_encode(values, 3, got);
    assert_memory_equal(got, bytes, sizeof bytes);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_str data = { (const char *)cases[i].data, cases[i].len };
        assert_int_equal(loci_vectors_decode(data, cases[i].dim, back, NULL), cases[i].want);
        if (!cases[i].want) assert_memory_equal(back, values, sizeof values);
    }
}

typedef struct given {
    uint8_t hash[LOCI_TEXT_HASH];
    loci_vectors vectors;
} given;

static loci_rc store_given(loci_change *change, void *arg, loci_err *err)
{
    const given *g = arg;

    return loci_vectors_store(change, LOCI_STR("m1"), g->hash, &g->vectors, err);
}

/* What is there stays whole: a second set with more chunks does not mix with the first. */
static void the_first_set_stays(void **state)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(1 << 20);
    float values[4] = { 1, 2, 3, 4 };
    loci_vector items[4];
    given g = { .hash = { 7 }, .vectors = { .items = items, .count = 2, .dim = 1 } };
    loci_write_request request = {
        .org = LOCI_DEFAULT_ORG, .run = store_given, .arg = &g, .door = LOCI_STR("test")
    };
    loci_vectors found = { 0 };
    loci_tx *tx = NULL;
    loci_err err = { 0 };
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    for (size_t i = 0; i < 4; i++)
        items[i] = (loci_vector){ .start = i, .len = 10, .values = &values[i] };
    assert_ok(loci_write(s.e.writer, &request, NULL, NULL, &err), err);
    g.vectors.count = 4;
    assert_ok(loci_write(s.e.writer, &request, NULL, NULL, &err), err);
    g.vectors.count = 0;
    assert_int_equal(loci_write(s.e.writer, &request, NULL, NULL, &err), LOCI_ELIMIT);
    assert_ok(loci_tx_begin(s.e.db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(
        loci_vectors_load(tx, LOCI_DEFAULT_ORG, LOCI_STR("m1"), g.hash, 1, arena, &found, &err),
        err);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[1].start, 1);
    assert_true(found.items[1].values[0] == 2.0F);
    assert_int_equal(
        loci_vectors_load(tx, LOCI_DEFAULT_ORG, LOCI_STR("m1"), g.hash, 2, arena, &found, &err),
        LOCI_ECORRUPT);
    assert_ok(
        loci_vectors_load(tx, LOCI_DEFAULT_ORG, LOCI_STR("m2"), g.hash, 1, arena, &found, &err),
        err);
    assert_int_equal(found.count, 0);
    loci_tx_end(tx);
    es_close(&s);
}

static loci_rc count_vectors(const loci_catchup_source *source, loci_stmt *row, void *arg,
                             loci_err *err)
{
    (void)row;
    (void)err;
    *(int *)arg += source->event == LOCI_EVENT_VECTOR;
    return LOCI_OK;
}

static int catch_up(es *s, loci_cursor *cursor)
{
    int count = 0;
    bool reload = false;
    loci_err err = { 0 };
    loci_catchup_request request = { .org = LOCI_DEFAULT_ORG,
                                     .from = *cursor,
                                     .sources = loci_catchup_sources,
                                     .source_count = loci_catchup_source_count,
                                     .event = count_vectors,
                                     .arg = &count };

    assert_ok(loci_catchup(s->e.db, &request, cursor, &reload, &err), err);
    assert_false(reload);
    return count;
}

/* A vector that comes later than its row is behind the cursor of who has seen the row. */
static void late_vectors_are_seen(void **state)
{
    loci_cursor cursor = { 0, 0 };
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    es_fill(&s, "message", 3, "late");
    assert_int_equal(catch_up(&s, &cursor), 0);
    (void)es_drain(&s, 0);
    assert_int_equal(catch_up(&s, &cursor), 3);
    assert_int_equal(catch_up(&s, &cursor), 0);
    es_close(&s);
}

static loci_rc erase(loci_change *change, void *arg, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &es_room, ES_ERASE, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, *(int64_t *)arg);
    return loci_stmt_run(q, err);
}

/* A sweep in small steps drops what no row uses, and nothing else; without work it writes nothing.
 */
static void a_sweep_drops_what_nobody_uses(void **state)
{
    int64_t rows[20];
    loci_err err = { 0 };
    loci_cursor before = { 0, 0 }, after = { 0, 0 };
    es s;

    fake_reset();
    es_open(&s, store_of(state)->url, "m1", NULL);
    for (int i = 0; i < 20; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "text %d", i);
        rows[i] = es_put(&s, "passage", text);
    }
    loci_vectors_sweeper sweeper = { .writer = s.e.writer,
                                     .org = LOCI_DEFAULT_ORG,
                                     .sources = loci_text_sources,
                                     .source_count = loci_text_source_count,
                                     .texts = 3 };
    for (int i = 0; i < 20; i += 2) {
        loci_write_request request = {
            .org = LOCI_DEFAULT_ORG, .run = erase, .arg = &rows[i], .door = LOCI_STR("test")
        };
        assert_ok(loci_write(s.e.writer, &request, NULL, NULL, &err), err);
    }
    for (int round = 0; round < 2; round++) {
        loci_vectors_sweep sw = { 0 };
        assert_ok(loci_catchup_head(s.e.db, LOCI_DEFAULT_ORG, &before, &err), err);
        while (!sw.done) assert_ok(loci_vectors_sweep_step(s.e.db, &sweeper, &sw, &err), err);
        assert_int_equal(sw.dropped, round ? 0 : 10);
        assert_int_equal(es_ask(&s, ES_VECTORS), 10);
        assert_int_equal(es_ask(&s, ES_ROWS_WITHOUT), 0);
    }
    assert_ok(loci_catchup_head(s.e.db, LOCI_DEFAULT_ORG, &after, &err), err);
    assert_int_equal(after.ver, before.ver);
    es_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_checked),
        ON_BOTH(the_first_set_stays),
        ON_BOTH(late_vectors_are_seen),
        ON_BOTH(a_sweep_drops_what_nobody_uses),
    };
    return cmocka_run_group_tests_name("embed/vectors", tests, fake_setup, NULL);
}
