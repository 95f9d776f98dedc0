#include "api/keyring.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ENTRY_BYTES = 8 << 10 };

typedef struct entry {
    loci_arena *arena;
    loci_key key;
    int64_t until;   /* on the steady clock: ask again behind it */
    int64_t touched; /* when used_at was last written */
} entry;

struct loci_keyring {
    loci_db *db;
    pthread_mutex_t lock; /* guards the map */
    loci_map *keys;       /* by hash */
    atomic_bool any;
    _Atomic int64_t any_until;
};

static void drop_entry(void *value)
{
    entry *e = value;

    loci_arena_free(e->arena);
    loci_free(e);
}

static loci_rc new_map(loci_map **ret_map, loci_err *err)
{
    loci_map_options options = { .cap = LOCI_KEYRING_KEYS, .drop = drop_entry };
    return loci_map_new(&options, ret_map, err);
}

loci_rc loci_keyring_new(loci_db *db, loci_keyring **ret_ring, loci_err *err)
{
    loci_keyring *ring = loci_zalloc(sizeof *ring);
    if (!ring) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    ring->db = db;
    (void)pthread_mutex_init(&ring->lock, NULL);
    bool any;
    loci_rc rc = new_map(&ring->keys, err);
    if (!rc) rc = loci_keyring_any(ring, &any, err);
    if (rc) {
        loci_keyring_free(ring);
        return rc;
    }
    *ret_ring = ring;
    return LOCI_OK;
}

void loci_keyring_free(loci_keyring *ring)
{
    if (!ring) return;
    loci_map_free(ring->keys);
    (void)pthread_mutex_destroy(&ring->lock);
    loci_free(ring);
}

static loci_rc copy_key(const loci_key *key, loci_arena *arena, loci_key *ret, loci_err *err)
{
    loci_key copy = *key;
    loci_str *texts[] = {
        &copy.id, &copy.name, &copy.shown, &copy.agent, &copy.node, &copy.org_name
    };

    for (size_t i = 0; i < LOCI_COUNT(texts); i++) {
        if (!texts[i]->ptr) continue;
        *texts[i] = loci_arena_str(arena, *texts[i]);
        if (!texts[i]->ptr) return loci_arena_fail(arena, err);
    }
    *ret = copy;
    return LOCI_OK;
}

static loci_str name_of(const loci_key_hash *hash)
{
    return (loci_str){ (const char *)hash->bytes, sizeof hash->bytes };
}

/* LOCI_DONE when it is not known, or was asked for too long ago. */
static loci_rc look(loci_keyring *ring, const loci_key_hash *hash, loci_arena *arena,
                    loci_key *ret_key, bool *ret_touch, loci_err *err)
{
    int64_t now = loci_clock_steady();
    loci_rc rc = LOCI_DONE;

    (void)pthread_mutex_lock(&ring->lock);
    entry *e = loci_map_find(ring->keys, name_of(hash));
    if (e && now < e->until) {
        rc = copy_key(&e->key, arena, ret_key, err);
        *ret_touch = now - e->touched >= LOCI_KEYRING_USED;
        if (*ret_touch) e->touched = now;
    }
    (void)pthread_mutex_unlock(&ring->lock);
    return rc;
}

static loci_rc new_entry(const loci_key *key, entry **ret, loci_err *err)
{
    entry *e = loci_zalloc(sizeof *e);
    if (!e) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    e->until = loci_clock_steady() + LOCI_KEYRING_LIFE;
    e->touched = loci_clock_steady();
    e->arena = loci_arena_new(ENTRY_BYTES);
    loci_rc rc = LOCI_ENOMEM;
    if (e->arena)
        rc = copy_key(key, e->arena, &e->key, err);
    else
        loci_err_set(err, rc, "out of memory");
    if (rc)
        drop_entry(e);
    else
        *ret = e;
    return rc;
}

/* A full ring starts anew: what is in use is asked for again at once. */
static loci_rc keep(loci_keyring *ring, const loci_key_hash *hash, entry *e, bool *ret_touch,
                    loci_err *err)
{
    loci_rc rc = LOCI_OK;

    (void)pthread_mutex_lock(&ring->lock);
    entry *old = loci_map_find(ring->keys, name_of(hash));
    if (old && e->touched - old->touched < LOCI_KEYRING_USED) {
        e->touched = old->touched;
        *ret_touch = false;
    }
    if (!old && loci_map_count(ring->keys) == LOCI_KEYRING_KEYS) {
        loci_map_free(ring->keys);
        ring->keys = NULL;
        rc = new_map(&ring->keys, err);
    }
    if (!rc) rc = loci_map_set(ring->keys, name_of(hash), e, err);
    (void)pthread_mutex_unlock(&ring->lock);
    if (rc) drop_entry(e);
    return rc;
}

static loci_rc ask(loci_keyring *ring, const loci_key_hash *hash, loci_arena *arena,
                   loci_key *ret_key, bool *ret_touch, loci_err *err)
{
    entry *e = NULL;

    loci_rc rc = loci_key_find(ring->db, hash, arena, ret_key, err);
    if (rc == LOCI_ENOTFOUND) return loci_fail(err, LOCI_EAUTH, "Unauthorized");
    if (!rc) rc = new_entry(ret_key, &e, err);
    if (rc) return rc;
    atomic_store(&ring->any, true);
    *ret_touch = true;
    return keep(ring, hash, e, ret_touch, err);
}

loci_rc loci_keyring_find(loci_keyring *ring, loci_str secret, loci_arena *arena, loci_key *ret_key,
                          loci_err *err)
{
    loci_key_hash hash;
    loci_key key;
    bool touch = false;

    if (!loci_key_shaped(secret)) return loci_fail(err, LOCI_EAUTH, "Unauthorized");
    loci_rc rc = loci_key_hash_of(secret, &hash, err);
    if (!rc) rc = look(ring, &hash, arena, &key, &touch, err);
    if (rc == LOCI_DONE) rc = ask(ring, &hash, arena, &key, &touch, err);
    if (rc) return rc;
    /* When a key was last used is a courtesy: it never makes a request fail. */
    if (touch) (void)!loci_key_touch(ring->db, &hash, loci_clock_now(), NULL);
    *ret_key = key;
    return LOCI_OK;
}

loci_rc loci_keyring_any(loci_keyring *ring, bool *ret_any, loci_err *err)
{
    int64_t now = loci_clock_steady();
    bool any = atomic_load(&ring->any);

    if (!any && now >= atomic_load(&ring->any_until)) {
        loci_rc rc = loci_key_any(ring->db, &any, err);
        if (rc) return rc;
        if (any) atomic_store(&ring->any, true);
        atomic_store(&ring->any_until, now + LOCI_KEYRING_LIFE);
    }
    *ret_any = any;
    return LOCI_OK;
}

bool loci_keyring_seen(const loci_keyring *ring)
{
    return atomic_load(&ring->any);
}
