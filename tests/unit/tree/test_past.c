#include "world.h"

#include "tree/diff.h"
#include "tree/history.h"
#include "tree/undo.h"

#include <stdio.h>
#include <string.h>

/* An agent with a block of its own, one that is shared with another agent, an archive, a branch. */
typedef struct home {
    world w;
    int64_t agent, other, own, common, archive, branch, message, passage;
    loci_scope trunk, node, others;
    int64_t then; /* when all was well */
} home;

static home home_open(void **state)
{
    home h = { .w = world_open(store_of(state)->url) };
    world *w = &h.w;

    h.agent = world_do(w, (act){ CREATE, .name = "sam", .id = "agent-sam" });
    h.other = world_do(w, (act){ CREATE, .name = "max", .id = "agent-max" });
    h.trunk = world_scope(w, h.agent, "", LOCI_NEVER);
    h.others = world_scope(w, h.other, "", LOCI_NEVER);
    h.own = world_do(w, (act){ BLOCK, .name = "human", .text = "likes tea", .id = "block-own" });
    h.common =
        world_do(w, (act){ BLOCK, .name = "team", .text = "four of us", .id = "block-common" });
    (void)world_do(w, (act){ LINK, .name = "human", .obj = h.own, .scope = &h.trunk });
    (void)world_do(w, (act){ LINK, .name = "team", .obj = h.common, .scope = &h.trunk });
    (void)world_do(w, (act){ LINK, .name = "team", .obj = h.common, .scope = &h.others });
    h.archive = world_do(w, (act){ ARCHIVE, .name = "notes", .id = "archive-1" });
    (void)world_do(w, (act){ ATTACH, .agent = h.agent, .obj = h.archive });
    h.passage =
        world_do(w, (act){ PASSAGE, .text = "the sea", .parent = h.archive, .id = "passage-1" });
    h.branch = world_do(w, (act){ FORK, .agent = h.agent, .name = "n", .id = "branch-n" });
    h.node = world_scope(w, h.agent, "n", LOCI_NEVER);
    h.message = world_do(w, (act){ MESSAGE, .agent = h.agent, .text = "hello", .id = "message-1" });
    h.then = w->born;
    return h;
}

/* Everything goes wrong. */
static void wreck(home *h)
{
    world *w = &h->w;

    (void)world_do(w, (act){ SET, .table = &loci_past_block, .obj = h->own, .text = "wrecked" });
    (void)world_do(
        w, (act){ SET, .table = &loci_past_block, .obj = h->common, .text = "wrecked too" });
    (void)world_do(w, (act){ DROP, .name = "human", .scope = &h->node });
    (void)world_do(w, (act){ KILL, .table = &loci_past_message, .obj = h->message });
    (void)world_do(w,
                   (act){ SET, .table = &loci_past_passage, .obj = h->passage, .text = "the mud" });
    (void)world_do(w, (act){ PASSAGE, .text = "junk", .parent = h->archive, .id = "passage-junk" });
    (void)world_do(w, (act){ UNLINK, .name = "human", .scope = &h->trunk });
    (void)world_do(w, (act){ KILL, .table = &loci_past_block, .obj = h->own });
    (void)world_do(w, (act){ CUT, .agent = h->agent, .obj = h->branch });
    (void)world_do(w, (act){ FORK, .agent = h->agent, .name = "n", .id = "branch-n2" });
    (void)world_do(w, (act){ RENAME, .obj = h->agent, .name = "broken" });
}

/* The text of a thing now; NULL when it is not alive. */
static const char *text_of(home *h, const loci_past_table *table, int64_t obj)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&h->w);
    loci_past_row row = { 0 };
    loci_err err = { 0 };
    loci_rc rc = loci_past_at(tx, table, ORG, obj, LOCI_NEVER, h->w.arena, &row, &err);

    if (rc == LOCI_DONE) return NULL;
    assert_ok(rc, err);
    return row.text.ptr ? row.text.ptr : row.name.ptr;
}

static loci_diff diff(home *h, int64_t from, int64_t to)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&h->w);
    loci_diff_request request = { .org = ORG, .agent = h->agent, .from = from, .to = to };
    loci_diff d = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_diff_read(tx, &request, h->w.arena, &d, &err), err);
    return d;
}

static loci_undo_result undo(home *h, int64_t to, bool shared)
{
    loci_undo_request request = { .org = ORG,
                                  .agent = h->agent,
                                  .to = to,
                                  .shared = shared,
                                  .who = LOCI_STR("user-2"),
                                  .door = LOCI_STR("cli") };
    loci_undo_result result = { 0 };
    loci_err err = { 0 };

    assert_ok(loci_undo(h->w.writer, &request, h->w.arena, &result, &err), err);
    return result;
}

static void history_has_every_revision(void **state)
{
    home h = home_open(state);
    loci_history history = { 0 };
    loci_err err = { 0 };

    wreck(&h);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&h.w);
    assert_ok(loci_history_read(tx, NULL, ORG, LOCI_STR("block-own"), h.w.arena, &history, &err),
              err);
    assert_string_equal(history.table->name, "block");
    assert_int_equal(history.obj, h.own);
    assert_int_equal(history.count, 2);
    assert_str(history.revisions[0].text, "likes tea");
    assert_str(history.revisions[1].text, "wrecked");
    assert_int_equal(history.revisions[0].ended, history.revisions[1].born);
    assert_str(history.revisions[1].who, "user-1");
    assert_str(history.revisions[1].door, "test");
    assert_str(history.revisions[1].ended_door, "test");
    assert_true(history.revisions[1].ended < LOCI_NEVER);
    assert_ok(loci_history_read(tx, NULL, ORG, LOCI_STR("agent-sam"), h.w.arena, &history, &err),
              err);
    assert_int_equal(history.count, 2);
    assert_str(history.revisions[0].name, "sam");
    static const loci_str none[] = { { "block-x", 7 }, { "", 0 }, { "a\0b", 3 }, { "\xff", 1 } };
    for (size_t i = 0; i < LOCI_COUNT(none); i++)
        assert_int_equal(loci_history_read(tx, NULL, ORG, none[i], h.w.arena, &history, &err),
                         LOCI_ENOTFOUND);
    loci_tx_endp(&tx);
    world_close(&h.w);
}

/* The log in pages of any size is the same log. */
static void log_tells_all_newest_first(void **state)
{
    static const struct {
        const char *table;
        loci_log_event event;
        const char *name, *text;
    } want[] = {
        { "agent", LOCI_LOG_CHANGED, "broken", NULL },
        { "branch", LOCI_LOG_ADDED, "n", NULL },
        { "branch", LOCI_LOG_ENDED, "n", NULL },
        { "block_link", LOCI_LOG_ENDED, "human", "block-own" },
        { "passage", LOCI_LOG_ADDED, "passage", "junk" },
        { "passage", LOCI_LOG_CHANGED, "passage", "the mud" },
        { "message", LOCI_LOG_ENDED, "user", "hello" },
        { "block_link", LOCI_LOG_ADDED, "human", NULL }, /* the tombstone in n */
        { "block", LOCI_LOG_CHANGED, "team", "wrecked too" },
        { "block", LOCI_LOG_CHANGED, "human", "wrecked" },
        { "message", LOCI_LOG_ADDED, "user", "hello" },
        { "branch", LOCI_LOG_ADDED, "n", NULL },
        { "passage", LOCI_LOG_ADDED, "passage", "the sea" },
        { "archive_link", LOCI_LOG_ADDED, "notes", "archive-1" },
        { "block_link", LOCI_LOG_ADDED, "team", "block-common" },
        { "block_link", LOCI_LOG_ADDED, "human", "block-own" },
        { "agent", LOCI_LOG_ADDED, "sam", NULL },
    };
    home h = home_open(state);

    wreck(&h);
    /* After it was unlinked, what happens to a block is not the agent's: its end is not told. */
    for (size_t limit = 1; limit <= 20; limit += 3) {
        LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&h.w);
        loci_log_request request = { .org = ORG, .agent = h.agent, .limit = limit };
        loci_log log = { 0 };
        size_t seen = 0;
        loci_err err = { 0 };
        do {
            assert_ok(loci_log_read(tx, &request, h.w.arena, &log, &err), err);
            assert_true(log.count <= limit);
            for (size_t i = 0; i < log.count; i++, seen++) {
                assert_true(seen < LOCI_COUNT(want));
                assert_string_equal(log.entries[i].table, want[seen].table);
                assert_int_equal(log.entries[i].event, want[seen].event);
                assert_str(log.entries[i].name, want[seen].name);
                assert_str(log.entries[i].text, want[seen].text);
                assert_str(log.entries[i].door, "test");
            }
            request.behind = log.next;
        } while (log.next.ptr);
        assert_int_equal(seen, LOCI_COUNT(want));
    }
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&h.w);
    static const char *const bad[] = { "x", "1", "1.2", "1.2.x", "1.2.e.3", "1.-2.e", ".." };
    for (size_t i = 0; i < LOCI_COUNT(bad); i++) {
        loci_log_request request = { .org = ORG,
                                     .agent = h.agent,
                                     .behind = loci_str_from(bad[i]) };
        loci_log log;
        loci_err err = { 0 };
        assert_int_equal(loci_log_read(tx, &request, h.w.arena, &log, &err), LOCI_EINVAL);
    }
    loci_tx_endp(&tx);
    world_close(&h.w);
}

static const loci_diff_entry *entry_of(const loci_diff *d, const char *id)
{
    for (size_t i = 0; i < d->count; i++) {
        const loci_past_row *row = d->entries[i].old ? d->entries[i].old : d->entries[i].new;
        if (loci_str_eq(row->id, loci_str_from(id))) return &d->entries[i];
    }
    return NULL;
}

static void diff_compares_two_times(void **state)
{
    home h = home_open(state);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_diff d;
    loci_err err = { 0 };

    wreck(&h);
    d = diff(&h, h.then, LOCI_NEVER);
    const loci_diff_entry *e = entry_of(&d, "block-common");
    assert_non_null(e);
    assert_int_equal(e->event, LOCI_DIFF_CHANGED);
    assert_str(e->old->text, "four of us");
    assert_str(e->new->text, "wrecked too");
    assert_true(e->field_count >= 1);
    assert_str(e->fields[0].old->name, "value");
    e = entry_of(&d, "block-own");
    assert_int_equal(e->event, LOCI_DIFF_ENDED);
    assert_str(e->old->text, "likes tea"); /* as it was, not as it was last */
    assert_int_equal(entry_of(&d, "message-1")->event, LOCI_DIFF_ENDED);
    assert_int_equal(entry_of(&d, "passage-junk")->event, LOCI_DIFF_ADDED);
    assert_int_equal(entry_of(&d, "branch-n")->event, LOCI_DIFF_ENDED);
    assert_int_equal(entry_of(&d, "branch-n2")->event, LOCI_DIFF_ADDED);
    assert_int_equal(entry_of(&d, "agent-sam")->event, LOCI_DIFF_CHANGED);
    assert_int_equal(d.count, 10); /* with the tombstone, the ended link and the passage */
    assert_false(d.more);
    assert_int_equal(diff(&h, h.w.born, LOCI_NEVER).count, 0);
    assert_int_equal(diff(&h, 0, 1).count, 0);

    tx = world_read(&h.w);
    loci_diff_request wrong = { .org = ORG, .agent = h.agent, .from = 5, .to = 5 };
    loci_diff_request few = { .org = ORG, .agent = h.agent, .to = LOCI_NEVER, .limit = 2 };
    assert_int_equal(loci_diff_read(tx, &wrong, h.w.arena, &d, &err), LOCI_EINVAL);
    assert_ok(loci_diff_read(tx, &few, h.w.arena, &d, &err), err);
    assert_int_equal(d.count, 2);
    assert_true(d.more);
    loci_tx_endp(&tx);
    world_close(&h.w);
}

static void undo_brings_all_back(void **state)
{
    home h = home_open(state);
    char labels[256];

    (void)snprintf(labels, sizeof labels, "%s", world_labels(&h.w, &h.node));
    wreck(&h);
    int64_t wrecked = h.w.born;
    loci_undo_result r = undo(&h, h.then, false);
    h.w.born = r.born;
    assert_string_equal(text_of(&h, &loci_past_block, h.own), "likes tea");
    assert_string_equal(text_of(&h, &loci_past_block, h.common),
                        "wrecked too"); /* not ours alone */
    assert_string_equal(text_of(&h, &loci_past_message, h.message), "hello");
    assert_string_equal(text_of(&h, &loci_past_passage, h.passage), "the sea");
    assert_string_equal(text_of(&h, &loci_past_agent, h.agent), "sam");
    assert_string_equal(text_of(&h, &loci_past_branch, h.branch), "n");
    assert_string_equal(world_labels(&h.w, &h.node), labels);
    assert_int_equal(world_chain(&h.w, h.agent, h.branch).count, 2);
    assert_int_equal(r.restored, 4); /* block, link, message, branch */
    assert_int_equal(r.removed, 3);  /* branch, tombstone, passage */
    assert_int_equal(r.reverted, 2); /* agent, passage */
    assert_int_equal(r.item_count, 9);
    assert_int_equal(r.shared_count, 1);
    assert_string_equal(r.shared[0].table, "block");
    assert_str(r.shared[0].id, "block-common");
    assert_int_equal(r.shared[0].agents, 1);
    loci_diff left = diff(&h, h.then, LOCI_NEVER);
    assert_int_equal(left.count, 1); /* the shared block */

    /* Twice is once, and the undo can be undone. */
    r = undo(&h, h.then, false);
    assert_int_equal(r.restored + r.removed + r.reverted, 0);
    assert_int_equal(r.shared_count, 1);
    r = undo(&h, wrecked, false);
    assert_int_equal(r.restored + r.removed + r.reverted, 9);
    assert_int_equal(diff(&h, wrecked, LOCI_NEVER).count, 0);
    assert_null(text_of(&h, &loci_past_block, h.own));
    assert_string_equal(text_of(&h, &loci_past_agent, h.agent), "broken");

    r = undo(&h, h.then, true);
    assert_int_equal(r.shared_count, 1);
    assert_int_equal(diff(&h, h.then, LOCI_NEVER).count, 0);
    assert_string_equal(text_of(&h, &loci_past_block, h.common), "four of us");
    world_close(&h.w);
}

static void undo_leaves_shared_archives_alone(void **state)
{
    home h = home_open(state);
    int64_t own = world_do(&h.w, (act){ PASSAGE, .text = "mine", .parent = h.archive,
                                        .agent = h.agent, .branch = h.branch });

    (void)world_do(&h.w, (act){ ATTACH, .agent = h.other, .obj = h.archive });
    int64_t then = h.w.born;
    (void)world_do(&h.w,
                   (act){ SET, .table = &loci_past_passage, .obj = h.passage, .text = "ours" });
    (void)world_do(&h.w, (act){ SET, .table = &loci_past_passage, .obj = own, .text = "bad" });
    loci_undo_result r = undo(&h, then, false);
    assert_string_equal(text_of(&h, &loci_past_passage, h.passage), "ours");
    assert_string_equal(text_of(&h, &loci_past_passage, own), "mine"); /* on its own branch */
    assert_int_equal(r.shared_count, 1);
    assert_str(r.shared[0].id, "archive-1");
    (void)undo(&h, then, true);
    assert_string_equal(text_of(&h, &loci_past_passage, h.passage), "the sea");
    world_close(&h.w);
}

static void undo_revives_and_refuses(void **state)
{
    home h = home_open(state);
    loci_undo_request early = { .org = ORG, .agent = h.agent, .to = 1, .door = LOCI_STR("cli") };
    loci_undo_result r;
    char labels[256];
    loci_err err = { 0 };

    (void)snprintf(labels, sizeof labels, "%s", world_labels(&h.w, &h.trunk));
    assert_int_equal(loci_undo(h.w.writer, &early, h.w.arena, &r, &err), LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "did not exist"));
    (void)world_do(&h.w, (act){ END, .obj = h.agent });
    assert_string_equal(world_labels(&h.w, &h.trunk), "");

    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&h.w);
    loci_undo_request request = { .org = ORG, .agent = h.agent, .to = h.then };
    assert_ok(loci_undo_plan(tx, &request, h.w.arena, &r, &err), err);
    assert_int_equal(r.restored, 4); /* agent, two blocks linked, one archive */
    loci_tx_endp(&tx);
    assert_string_equal(world_labels(&h.w, &h.trunk), ""); /* only a plan */
    (void)undo(&h, h.then, false);
    assert_string_equal(world_labels(&h.w, &h.trunk), labels);
    assert_string_equal(text_of(&h, &loci_past_agent, h.agent), "sam");
    world_close(&h.w);
}

/* Names and types of every table agree with its statements. */
static void tables_are_whole(void **state)
{
    world w = world_open(store_of(state)->url);
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(&w);

    for (const loci_past_table *const *t = loci_past_core; *t; t++) {
        loci_str rest = loci_str_from((*t)->columns), name;
        loci_past_row row;
        size_t n = 0;
        loci_err err = { 0 };
        while (loci_str_cut(&rest, ',', &name)) n++;
        assert_int_equal(n, strlen((*t)->types));
        assert_int_equal(loci_past_at(tx, *t, ORG, 1, LOCI_NEVER, w.arena, &row, &err), LOCI_DONE);
    }
    loci_tx_endp(&tx);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(tables_are_whole),           ON_BOTH(history_has_every_revision),
        ON_BOTH(log_tells_all_newest_first), ON_BOTH(diff_compares_two_times),
        ON_BOTH(undo_brings_all_back),       ON_BOTH(undo_leaves_shared_archives_alone),
        ON_BOTH(undo_revives_and_refuses),
    };
    return cmocka_run_group_tests_name("tree/past", tests, NULL, NULL);
}
