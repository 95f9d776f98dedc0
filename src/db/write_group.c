#include "db/write_group.h"

#include "base/clock.h"
#include "base/id.h"
#include "db/driver.h"
#include "db/migrate.h"
#include "db/stmt.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 10, PAUSE = 2 * LOCI_MS, TIDY_EVERY = 256 };

enum {
    STMT_LOCK,
    STMT_SAVE,
    STMT_VERSION,
    STMT_PRUNE,
    STMT_FIND,
    STMT_KEEP,
    STMT_FORGET,
    STMT_HAS,
    STMT_OUTBOX
};

static const loci_sql statements[] = {
    /* clang-format off */
    [STMT_LOCK] = { "i",
        "UPDATE org SET ver = ver WHERE org = ?1 "
        "RETURNING ver, at, row, (SELECT s.ver FROM loci_schema s WHERE s.room = '')", false },
    [STMT_SAVE] = { "iiiii",
        "UPDATE org SET ver = ?2, tag = ?3, at = ?4, row = ?5 WHERE org = ?1", false },
    [STMT_VERSION] = { "iiiiitt",
        "INSERT INTO version (org, ver, tag, at, row, who, door) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", false },
    [STMT_PRUNE] = { "ii", "DELETE FROM version WHERE org = ?1 AND ver <= ?2", false },
    [STMT_FIND] = { "iti",
        "SELECT i.input_hash, i.kept, i.answer, i.ver, i.at FROM idempotency i "
        "WHERE i.org = ?1 AND i.key = ?2 AND i.at > ?3", false },
    [STMT_KEEP] = { "itbiiib",
        "INSERT INTO idempotency (org, key, input_hash, at, ver, kept, answer) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (org, key) DO UPDATE SET "
        "input_hash = excluded.input_hash, at = excluded.at, ver = excluded.ver, "
        "kept = excluded.kept, answer = excluded.answer", false },
    [STMT_FORGET] = { "ii", "DELETE FROM idempotency WHERE org = ?1 AND at <= ?2", false },
    [STMT_HAS] = { "iii",
        "SELECT count(*) FROM version WHERE org = ?1 AND ver = ?2 AND tag = ?3", false },
    [STMT_OUTBOX] = { "iititi",
        "INSERT INTO outbox (org, job, kind, obj, payload, tries, due, lease) "
        "VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, 0)", false },
    /* clang-format on */
};

const loci_db_room loci_write_room = { .name = "write",
                                       .statements = statements,
                                       .statement_count = LOCI_COUNT(statements) };

/* An organization as the group has changed it so far. */
typedef struct org_state {
    int64_t org, ver, tag, at, row;
    bool found, dirty;
} org_state;

typedef struct group {
    loci_db *db;
    loci_tx *tx;
    loci_write_item *const *items;
    size_t count;
    bool careful; /* each write under its savepoint */
    org_state orgs[LOCI_WRITE_GROUP];
    size_t org_count;
    const loci_write_item
        *last; /* the last one that changed something: its tag proves the commit */
} group;

/* Lock the row before anything else is done in the organization: lock order is commit order. */
static loci_rc lock_org(group *g, int64_t org, org_state **ret_state, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    for (size_t i = 0; i < g->org_count; i++) {
        *ret_state = &g->orgs[i];
        if (g->orgs[i].org == org) return LOCI_OK;
    }
    org_state s = { .org = org };
    int64_t epoch = 0;
    loci_rc rc = loci_stmt_begin(g->tx, &loci_write_room, STMT_LOCK, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    rc = loci_stmt_next(q, err);
    if (rc && rc != LOCI_DONE) return rc;
    if (!rc) {
        s.found = true;
        s.ver = loci_stmt_i64(q, 0);
        s.at = loci_stmt_i64(q, 1);
        s.row = loci_stmt_i64(q, 2);
        epoch = loci_stmt_i64(q, 3);
        loci_stmt_endp(&q);
        rc = loci_migrate_check(g->tx, epoch, err);
        if (rc) return rc;
    }
    g->orgs[g->org_count] = s;
    *ret_state = &g->orgs[g->org_count++];
    return LOCI_OK;
}

/* The answer of the first time, if the key is known. LOCI_DONE: it is not. */
static loci_rc find_repeat(group *g, loci_write_item *it, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    const loci_write_request *r = it->request;
    loci_rc rc = loci_stmt_begin(g->tx, &loci_write_room, STMT_FIND, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, r->org);
    loci_stmt_bind_text(q, 2, r->key);
    loci_stmt_bind_i64(q, 3, it->born - LOCI_WRITE_DAY);
    rc = loci_stmt_next(q, err);
    if (rc) return rc;
    if (!loci_str_eq(loci_stmt_blob(q, 0), r->input_hash))
        return loci_fail(err, LOCI_ECONFLICT,
                         "the idempotency key '%.*s' was used for another request: use a new key",
                         LOCI_ARG(r->key));
    if (!loci_stmt_i64(q, 1))
        return loci_fail(err, LOCI_ECONFLICT,
                         "the request with the idempotency key '%.*s' was done already, and its "
                         "answer was not kept: look at what it made",
                         LOCI_ARG(r->key));
    loci_buf_add(&it->answer, loci_stmt_blob(q, 2));
    it->ver = loci_stmt_i64(q, 3);
    it->born = loci_stmt_i64(q, 4);
    it->repeated = true;
    return loci_buf_check(&it->answer, err);
}

static loci_rc post_version(group *g, const loci_write_item *it, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    const loci_write_request *r = it->request;
    loci_rc rc = loci_stmt_begin(g->tx, &loci_write_room, STMT_VERSION, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, r->org);
    loci_stmt_bind_i64(q, 2, it->ver);
    loci_stmt_bind_i64(q, 3, it->tag);
    loci_stmt_bind_i64(q, 4, it->born);
    loci_stmt_bind_i64(q, 5, it->row);
    loci_stmt_bind_text_or_null(q, 6, r->who);
    loci_stmt_bind_text(q, 7, r->door);
    return loci_stmt_post(q, err);
}

static loci_rc post_answer(group *g, const loci_write_item *it, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    const loci_write_request *r = it->request;
    bool kept = !r->secret && it->answer.len <= LOCI_WRITE_KEPT;
    loci_rc rc = loci_stmt_begin(g->tx, &loci_write_room, STMT_KEEP, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, r->org);
    loci_stmt_bind_text(q, 2, r->key);
    loci_stmt_bind_blob(q, 3, r->input_hash);
    loci_stmt_bind_i64(q, 4, it->born);
    loci_stmt_bind_i64(q, 5, it->ver);
    loci_stmt_bind_i64(q, 6, kept);
    if (kept) loci_stmt_bind_blob(q, 7, loci_buf_str(&it->answer));
    return loci_stmt_post(q, err);
}

static loci_rc post_two(group *g, size_t number, int64_t org, int64_t limit, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(g->tx, &loci_write_room, number, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, limit);
    return loci_stmt_post(q, err);
}

/* Now and then, old versions and keys go. */
static loci_rc tidy(group *g, const loci_write_item *it, loci_err *err)
{
    int64_t org = it->request->org;

    if (it->ver % TIDY_EVERY) return LOCI_OK;
    loci_rc rc = post_two(g, STMT_PRUNE, org, it->ver - LOCI_WRITE_VERSIONS, err);
    return rc ? rc : post_two(g, STMT_FORGET, org, it->born - LOCI_WRITE_DAY, err);
}

/* Everything that one write does inside its savepoint. */
static loci_rc run_item(group *g, const org_state *s, loci_write_item *it, loci_err *err)
{
    const loci_write_request *r = it->request;
    int64_t now = r->now ? r->now : loci_clock_now();

    it->ver = s->ver + 1;
    it->born = now > s->at ? now : s->at + 1;
    it->row = s->row;
    if (r->key.len) {
        loci_rc found = find_repeat(g, it, err);
        if (found != LOCI_DONE) return found;
    }
    loci_rc rc = loci_random_bytes(&it->tag, sizeof it->tag, err);
    if (rc) return rc;
    loci_change change = { .tx = g->tx,
                           .org = r->org,
                           .ver = it->ver,
                           .born = it->born,
                           .who = r->who,
                           .door = r->door,
                           .answer = &it->answer,
                           .row = &it->row };
    rc = r->run(&change, r->arg, err);
    if (!rc) rc = loci_buf_check(&it->answer, err);
    if (!rc) rc = post_version(g, it, err);
    if (!rc && r->key.len) rc = post_answer(g, it, err);
    return rc ? rc : tidy(g, it, err);
}

static void adopt(group *g, org_state *s, const loci_write_item *it)
{
    if (it->repeated) return;
    s->ver = it->ver;
    s->tag = it->tag;
    s->at = it->born;
    s->row = it->row;
    s->dirty = true;
    g->last = it;
}

static void start_item(loci_write_item *it)
{
    it->rc = LOCI_OK;
    it->err = (loci_err){ 0 };
    it->repeated = false;
    loci_buf_clear(&it->answer);
}

/* Take back what a write has done that failed on its own account. In good faith there is nothing to
 * go back to, and the failure may be a neighbour's: the group has failed. */
static loci_rc take_back(group *g, const loci_write_item *it, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    if (loci_tx_failure(g->tx) != LOCI_TX_FINAL || (!g->careful && g->count > 1))
        return loci_fail(err, it->rc, "%s", it->err.msg);
    while (!rc && g->tx->depth > 0) rc = loci_tx_undo(g->tx, err);
    return rc;
}

/* One write of the group. A failure of its own goes into the item and is undone; what is returned
 * is a failure of the whole transaction. */
static loci_rc add_item(group *g, loci_write_item *it, loci_err *err)
{
    org_state *s = NULL;

    start_item(it);
    loci_rc rc = lock_org(g, it->request->org, &s, err);
    if (rc) return rc;
    if (!s->found) {
        it->rc = loci_fail(&it->err, LOCI_ENOTFOUND, "no organization with the number %lld",
                           (long long)it->request->org);
        return LOCI_OK;
    }
    if (g->careful) rc = loci_tx_save(g->tx, err);
    if (rc) return rc;
    it->rc = run_item(g, s, it, &it->err);
    if (!it->rc && g->careful) it->rc = loci_tx_release(g->tx, &it->err);
    assert(it->rc || g->tx->depth == 0);
    if (it->rc) return take_back(g, it, err);
    adopt(g, s, it);
    return LOCI_OK;
}

static loci_rc post_org(group *g, const org_state *s, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(g->tx, &loci_write_room, STMT_SAVE, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, s->org);
    loci_stmt_bind_i64(q, 2, s->ver);
    loci_stmt_bind_i64(q, 3, s->tag);
    loci_stmt_bind_i64(q, 4, s->at);
    loci_stmt_bind_i64(q, 5, s->row);
    return loci_stmt_post(q, err);
}

/* The whole transaction once. *ret_class tells what a failure means. */
static loci_rc try_once(group *g, loci_tx_class *ret_class, loci_err *err)
{
    loci_tx *tx = NULL;

    loci_tx_endp(&g->tx);
    g->org_count = 0;
    g->last = NULL;
    loci_rc rc = loci_tx_begin(g->db, LOCI_TX_WRITE, &tx, err);
    if (rc) {
        bool later = rc == LOCI_EBUSY || rc == LOCI_EUNAVAILABLE;
        *ret_class = later ? LOCI_TX_RECONNECT : LOCI_TX_FINAL;
        return rc;
    }
    g->tx = tx;
    for (size_t i = 0; !rc && i < g->count; i++) rc = add_item(g, g->items[i], err);
    for (size_t i = 0; !rc && i < g->org_count; i++)
        if (g->orgs[i].dirty) rc = post_org(g, &g->orgs[i], err);
    if (!rc && g->last) rc = loci_tx_commit(tx, err);
    *ret_class = loci_tx_failure(tx);
    return rc;
}

/* Did the commit that gave no answer happen? Asked under the organization's lock, which the lost
 * transaction holds as long as it lives, so that the answer is final. */
static loci_rc find_commit(group *g, bool *ret_there, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_tx *tx = NULL;
    org_state *s = NULL;
    const loci_write_item *it = g->last;

    assert(it); /* a commit is sent only when somebody changed something */
    loci_tx_endp(&g->tx);
    loci_rc rc = loci_tx_begin(g->db, LOCI_TX_WRITE, &tx, err);
    if (rc) return rc;
    g->tx = tx;
    g->org_count = 0;
    rc = lock_org(g, it->request->org, &s, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_write_room, STMT_HAS, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, it->request->org);
    loci_stmt_bind_i64(q, 2, it->ver);
    loci_stmt_bind_i64(q, 3, it->tag);
    rc = loci_stmt_next(q, err);
    if (!rc) *ret_there = loci_stmt_i64(q, 0) > 0;
    return rc;
}

static void pause_before(int try)
{
    static _Thread_local unsigned seed;
    int64_t most = (int64_t)PAUSE << (try < 7 ? try : 7);

    if (!seed) seed = (unsigned)loci_clock_steady() ^ (unsigned)getpid();
    loci_clock_sleep(most / 2 + rand_r(&seed) % most);
}

/* Ask until there is an answer or the time is over. LOCI_DONE: it did not happen. */
static loci_rc settle_unknown(group *g, int64_t end, loci_err *err)
{
    bool there = false;
    loci_err asked = { 0 };

    for (int try = 0; try < TRIES; try++) {
        if (find_commit(g, &there, &asked) == LOCI_OK) return there ? LOCI_OK : LOCI_DONE;
        if (loci_clock_steady() >= end) break;
        pause_before(try);
    }
    return loci_fail(err, LOCI_EUNAVAILABLE,
                     "whether the write was stored is not known, because the store went away (%s): "
                     "repeat it with the same idempotency key",
                     asked.msg);
}

/* Again and again while that makes sense, for at most twice the time of one call. */
static loci_rc try_often(group *g, loci_tx_class *ret_class, loci_err *err)
{
    int64_t end = loci_clock_steady() + 2 * g->db->options.deadline;
    loci_rc rc = LOCI_OK;

    for (int try = 0; try < TRIES; try++) {
        rc = try_once(g, ret_class, err);
        if (rc && *ret_class == LOCI_TX_UNKNOWN) {
            rc = settle_unknown(g, end, err);
            if (rc == LOCI_DONE) *ret_class = LOCI_TX_RETRY;
        }
        if (!rc || *ret_class == LOCI_TX_FINAL || *ret_class == LOCI_TX_UNKNOWN) return rc;
        if (loci_clock_steady() >= end) break;
        pause_before(try);
    }
    if (rc != LOCI_DONE) return rc;
    return loci_fail(err, LOCI_EUNAVAILABLE, "the store kept going away: try again");
}

static void fail_all(loci_write_item *const *items, size_t count, const loci_err *err)
{
    for (size_t i = 0; i < count; i++) {
        items[i]->rc = err->code;
        items[i]->err = *err;
    }
}

void loci_write_group(loci_db *db, loci_write_item *const *items, size_t count, loci_tx **ret_tx)
{
    group g = { .db = db, .items = items, .count = count };
    loci_tx_class class = LOCI_TX_FINAL;
    loci_err err = { 0 };

    assert(count >= 1 && count <= LOCI_WRITE_GROUP);
    loci_rc rc = try_often(&g, &class, &err);
    if (rc && class == LOCI_TX_FINAL && count > 1) {
        g.careful = true;
        rc = try_often(&g, &class, &err);
    }
    /* One of them made the commit itself fail; alone, each shows whether it was that one. */
    if (rc && class == LOCI_TX_FINAL && count > 1) {
        for (size_t i = 0; i < count; i++) {
            loci_tx_endp(&g.tx);
            loci_write_group(db, &items[i], 1, &g.tx);
        }
    } else if (rc) {
        fail_all(items, count, &err);
    }
    *ret_tx = g.tx;
}

int64_t loci_change_row(loci_change *change)
{
    return ++*change->row;
}

loci_rc loci_change_outbox(loci_change *change, const char *kind, int64_t obj, loci_str payload,
                           loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_stmt_begin(change->tx, &loci_write_room, STMT_OUTBOX, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_i64(q, 2, loci_change_row(change));
    loci_stmt_bind_text(q, 3, loci_str_from(kind));
    loci_stmt_bind_i64(q, 4, obj);
    loci_stmt_bind_text_or_null(q, 5, payload);
    loci_stmt_bind_i64(q, 6, change->born);
    return loci_stmt_post(q, err);
}
