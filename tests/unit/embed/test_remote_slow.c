/* A program of its own, because it waits as long as a server asks for. */
#include "embed_server.h"

static void retry_after_is_waited_for(void **state)
{
    loci_embedder *e = open_remote("openai", (loci_embedder_options){ .dim = FAKE_DIM });
    loci_str text = LOCI_STR("x");
    float got[FAKE_DIM];
    loci_err err = { 0 };
    (void)state;

    es.script[0] = BUSY_SECOND;
    int64_t before = loci_clock_steady();
    assert_ok(loci_embedder_embed(e, LOCI_EMBED_DOCUMENT, &text, 1, got, &err), err);
    assert_true(loci_clock_steady() - before >= LOCI_SECOND); /* never sooner, however late */
    assert_int_equal(atomic_load(&es.requests), 2);
    loci_embedder_close(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(retry_after_is_waited_for) };
    return cmocka_run_group_tests(tests, embed_server_start, embed_server_stop);
}
