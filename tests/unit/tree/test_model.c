#include "world.h"

#include "base/alloc.h"
#include "tree/undo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Random forks, ends, links, tombstones and undos, on two stores over one file that take turns,
 * against a model that is plain arrays; every state of it is kept, so that the past and undo can be
 * compared as well. */

enum { SLOTS = 48, LABELS = 4, HIDDEN = -1 };

typedef struct model {
    int64_t born;
    int64_t obj[SLOTS]; /* 0: not alive. Slot 0 is the trunk */
    int parent[SLOTS];
    int64_t block[SLOTS][LABELS]; /* 0: no link; HIDDEN: a tombstone */
} model;

typedef struct trial {
    world a, b;
    int64_t agent;
    model *states;
    size_t count;
    unsigned seed;
    int64_t next_block;
} trial;

static bool is_there(const model *m, int slot)
{
    return slot == 0 || m->obj[slot];
}

static int64_t seen(const model *m, int slot, int label)
{
    for (;; slot = m->parent[slot]) {
        if (m->block[slot][label])
            return m->block[slot][label] == HIDDEN ? 0 : m->block[slot][label];
        if (slot == 0) return 0;
    }
}

static const char *node_of(int slot, char text[8])
{
    if (slot)
        (void)snprintf(text, 8, "n%d", slot);
    else
        text[0] = '\0';
    return text;
}

static void check_scope(trial *t, world *w, const model *m, int slot, int64_t as_of)
{
    static const char *const names[LABELS] = { "a", "b", "c", "d" };
    char node[8], want[256] = "", got[256];
    loci_scope scope = world_scope(w, t->agent, node_of(slot, node), as_of);
    size_t n = 0, len = 0;

    for (int at = slot;; at = m->parent[at]) {
        assert_true(n < scope.chain.count);
        assert_int_equal(scope.chain.branches[n++], m->obj[at]);
        if (at == 0) break;
    }
    assert_int_equal(scope.chain.count, n);
    for (int l = 0; l < LABELS; l++)
        if (seen(m, slot, l))
            len += (size_t)snprintf(want + len, sizeof want - len, "%s%s=%lld", len ? " " : "",
                                    names[l], (long long)seen(m, slot, l));
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
    loci_labels labels = { 0 };
    loci_err err = { 0 };
    assert_ok(loci_label_list(tx, &scope, w->arena, &labels, &err), err);
    got[0] = '\0';
    len = 0;
    for (size_t i = 0; i < labels.count; i++)
        len += (size_t)snprintf(got + len, sizeof got - len, "%s%.*s=%lld", len ? " " : "",
                                LOCI_ARG(labels.items[i].label), (long long)labels.items[i].block);
    assert_string_equal(got, want);
}

static void cut_below(model *m, int slot)
{
    for (int i = 1; i < SLOTS; i++)
        if (m->obj[i] && m->parent[i] == slot) cut_below(m, i);
    m->obj[slot] = 0;
    memset(m->block[slot], 0, sizeof m->block[slot]);
}

static int pick_alive(trial *t, const model *m)
{
    int slot;

    do slot = rand_r(&t->seed) % SLOTS;
    while (!is_there(m, slot));
    return slot;
}

static void fork_or_cut(trial *t, world *w, model *m, int slot)
{
    char node[8];
    int parent = pick_alive(t, m);

    if (slot == 0) return;
    if (m->obj[slot]) {
        if (rand_r(&t->seed) % 8) return;
        (void)world_do(w, (act){ CUT_ALL, .agent = t->agent, .obj = m->obj[slot] });
        cut_below(m, slot);
        return;
    }
    m->obj[slot] = world_do(
        w, (act){ FORK, .agent = t->agent, .parent = m->obj[parent], .name = node_of(slot, node) });
    m->parent[slot] = parent;
}

static void write_label(trial *t, world *w, model *m, int slot, int label)
{
    static const char *const names[LABELS] = { "a", "b", "c", "d" };
    char node[8];
    loci_scope scope = world_scope(w, t->agent, node_of(slot, node), LOCI_NEVER);
    act a = { .name = names[label], .place = label, .scope = &scope, .obj = t->next_block++ };
    int64_t *own = &m->block[slot][label];
    bool inherited = slot && seen(m, m->parent[slot], label);
    loci_rc want = LOCI_OK;
    loci_err err = { 0 };

    switch (rand_r(&t->seed) % 4) {
    case 0:
        a.op = DROP;
        want = seen(m, slot, label) ? LOCI_OK : LOCI_ENOTFOUND;
        if (!want) *own = inherited ? HIDDEN : 0;
        break;
    case 1:
        a.op = UNLINK;
        want = *own ? LOCI_OK : LOCI_ENOTFOUND;
        *own = 0;
        break;
    default: a.op = LINK; *own = a.obj;
    }
    assert_int_equal(world_try(w, &a, &err), want);
}

static void go_back(trial *t, world *w, model *m)
{
    const model *then = &t->states[(size_t)rand_r(&t->seed) % t->count];
    loci_undo_request request = {
        .org = ORG, .agent = t->agent, .to = then->born, .door = LOCI_STR("test")
    };
    loci_undo_result result;
    loci_err err = { 0 };

    assert_ok(loci_undo(w->writer, &request, w->arena, &result, &err), err);
    *m = *then;
    w->born = result.born;
}

static void step(trial *t, size_t number)
{
    world *w = rand_r(&t->seed) % 2 ? &t->a : &t->b, *reader = rand_r(&t->seed) % 2 ? &t->a : &t->b;
    model *m = &t->states[t->count];
    int slot = rand_r(&t->seed) % SLOTS;

    *m = t->states[t->count - 1];
    w->born = 0;
    if (number % 60 == 59)
        go_back(t, w, m);
    else if (rand_r(&t->seed) % 2)
        fork_or_cut(t, w, m, slot);
    else
        write_label(t, w, m, pick_alive(t, m), rand_r(&t->seed) % LABELS);
    if (w->born) {
        m->born = w->born;
        t->count++;
    }
    const model *now = &t->states[t->count - 1];
    check_scope(t, reader, now, pick_alive(t, now), LOCI_NEVER);
    const model *then = &t->states[(size_t)rand_r(&t->seed) % t->count];
    if (number % 4 == 0) check_scope(t, reader, then, pick_alive(t, then), then->born);
    loci_arena_reset(t->a.arena);
    loci_arena_reset(t->b.arena);
}

static void agrees_with_the_model(void **state)
{
    store *s = store_of(state);
    size_t steps = s->engine == LOCI_SQLITE ? 4000 : 600;
    trial t = { .a = world_open(s->url), .b = world_open(s->url), .seed = 20, .next_block = 1000 };

    t.states = loci_zalloc((steps + 1) * sizeof *t.states);
    assert_non_null(t.states);
    t.agent = world_do(&t.a, (act){ CREATE, .name = "sam" });
    t.states[t.count++].born = t.a.born;
    for (size_t i = 0; i < steps; i++) step(&t, i);
    assert_true(t.count > steps / 3); /* most steps did something */
    loci_free(t.states);
    world_close(&t.a);
    world_close(&t.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ON_BOTH(agrees_with_the_model) };

    return cmocka_run_group_tests_name("tree/model", tests, NULL, NULL);
}
