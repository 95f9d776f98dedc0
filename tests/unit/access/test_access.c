#include "store.h"

#include "access/key.h"
#include "access/org.h"
#include "api/keyring.h"
#include "db/schema.h"

#include <string.h>

static const loci_db_room *const rooms[] = { &loci_schema_room, &loci_write_room, &loci_access_room,
                                             NULL };

typedef struct place {
    loci_db *db;
    loci_writer *writer;
    loci_arena *arena;
} place;

static place open_place(void **state)
{
    place p = { .arena = loci_arena_new(16 << 20) };
    loci_db_options options = { .rooms = rooms };
    loci_err err = { 0 };

    assert_ok(loci_db_open(store_of(state)->url, &options, &p.db, &err), err);
    assert_ok(loci_writer_new(p.db, &p.writer, &err), err);
    return p;
}

static void close_place(place *p)
{
    loci_writer_free(p->writer);
    loci_db_close(p->db);
    loci_arena_free(p->arena);
}

static loci_str make_key(place *p, int64_t org, loci_key *ret_key)
{
    loci_key_values values = { .org = org,
                               .name = LOCI_STR("a key"),
                               .role = LOCI_ROLE_WRITE,
                               .agent = LOCI_STR("alice"),
                               .door = LOCI_STR("test") };
    loci_str secret;
    loci_err err = { 0 };

    assert_ok(loci_key_create(p->writer, &values, p->arena, ret_key, &secret, &err), err);
    return secret;
}

static void organizations_have_names_and_users(void **state)
{
    place p = open_place(state);
    loci_org made, found;
    loci_orgs all;
    int64_t number;
    loci_err err = { 0 };

    assert_ok(loci_org_create(p.writer, LOCI_STR("acme"), LOCI_STR("me"), LOCI_STR("test"), p.arena,
                              &made, &err),
              err);
    assert_int_equal(made.number, LOCI_DEFAULT_ORG + 1);
    assert_int_equal(loci_org_create(p.writer, LOCI_STR("acme"), LOCI_STR(""), LOCI_STR("test"),
                                     p.arena, &found, &err),
                     LOCI_ECONFLICT);
    assert_int_equal(
        loci_org_create(p.writer, made.id, LOCI_STR(""), LOCI_STR("test"), p.arena, &found, &err),
        LOCI_ECONFLICT); /* a name that is another's id would never be found */
    assert_ok(loci_org_find(p.db, LOCI_STR("acme"), p.arena, &found, &err), err);
    assert_true(loci_str_eq(found.id, made.id) && loci_str_eq(found.user, made.user));
    assert_ok(loci_org_find(p.db, made.id, p.arena, &found, &err), err);
    assert_int_equal(loci_org_find(p.db, LOCI_STR("nobody"), p.arena, &found, &err),
                     LOCI_ENOTFOUND);
    assert_ok(loci_org_of_user(p.db, made.user, &number, &err), err);
    assert_int_equal(number, made.number);
    assert_int_equal(loci_org_of_user(p.db, LOCI_STR("user-x"), &number, &err), LOCI_ENOTFOUND);
    assert_ok(loci_org_list(p.db, p.arena, &all, &err), err);
    assert_int_equal(all.count, 2);
    close_place(&p);
}

static void bad_names_are_refused(void **state)
{
    static const char *const names[] = { "", " x", "x ", "\xff" };
    place p = open_place(state);
    loci_org org;
    loci_err err = { 0 };

    for (size_t i = 0; i < LOCI_COUNT(names); i++)
        assert_int_equal(loci_org_create(p.writer, loci_str_from(names[i]), LOCI_STR(""),
                                         LOCI_STR("test"), p.arena, &org, &err),
                         LOCI_EINVAL);
    close_place(&p);
}

static void keys_are_found_by_their_hash_alone(void **state)
{
    place p = open_place(state);
    loci_key key, found;
    loci_keys keys;
    loci_key_hash hash;
    bool any = true;
    loci_err err = { 0 };

    assert_ok(loci_key_any(p.db, &any, &err), err);
    assert_false(any);
    loci_str secret = make_key(&p, LOCI_DEFAULT_ORG, &key);
    assert_true(loci_key_shaped(secret));
    assert_true(loci_str_starts(secret, key.shown) && key.shown.len < secret.len / 4);
    assert_ok(loci_key_hash_of(secret, &hash, &err), err);
    assert_ok(loci_key_find(p.db, &hash, p.arena, &found, &err), err);
    assert_true(loci_str_eq(found.id, key.id) && found.role == LOCI_ROLE_WRITE);
    assert_true(loci_str_eq(found.agent, LOCI_STR("alice")) && found.node.ptr == NULL);
    assert_ok(loci_key_touch(p.db, &hash, 5, &err), err);
    assert_ok(loci_key_list(p.db, LOCI_DEFAULT_ORG, p.arena, &keys, &err), err);
    assert_int_equal(keys.count, 1);
    assert_int_equal(keys.items[0].used_at, 5);
    hash.bytes[0] ^= 1;
    assert_int_equal(loci_key_find(p.db, &hash, p.arena, &found, &err), LOCI_ENOTFOUND);
    assert_ok(loci_key_any(p.db, &any, &err), err);
    assert_true(any);
    close_place(&p);
}

static void a_revoked_key_is_found_no_more(void **state)
{
    place p = open_place(state);
    loci_key key, gone, again;
    loci_key_hash hash;
    loci_err err = { 0 };

    loci_str secret = make_key(&p, LOCI_DEFAULT_ORG, &key);
    assert_ok(loci_key_hash_of(secret, &hash, &err), err);
    assert_int_equal(loci_key_revoke(p.db, p.writer, 7, key.id, LOCI_STR(""), LOCI_STR("test"),
                                     p.arena, &gone, &err),
                     LOCI_ENOTFOUND); /* another organization's */
    assert_ok(loci_key_revoke(p.db, p.writer, LOCI_DEFAULT_ORG, key.id, LOCI_STR(""),
                              LOCI_STR("test"), p.arena, &gone, &err),
              err);
    assert_ok(loci_key_revoke(p.db, p.writer, LOCI_DEFAULT_ORG, key.id, LOCI_STR(""),
                              LOCI_STR("test"), p.arena, &again, &err),
              err);
    assert_int_equal(gone.revoked_at, again.revoked_at);
    assert_int_equal(loci_key_find(p.db, &hash, p.arena, &again, &err), LOCI_ENOTFOUND);
    close_place(&p);
}

static void the_ring_believes_for_a_moment(void **state)
{
    place p = open_place(state);
    loci_keyring *ring = NULL;
    loci_key key, found;
    bool any;
    loci_err err = { 0 };

    loci_str secret = make_key(&p, LOCI_DEFAULT_ORG, &key);
    assert_ok(loci_keyring_new(p.db, &ring, &err), err);
    assert_true(loci_keyring_seen(ring));
    assert_ok(loci_keyring_find(ring, secret, p.arena, &found, &err), err);
    assert_true(loci_str_eq(found.id, key.id));
    /* What was seen is believed although it is revoked; another ring, new, knows better. */
    assert_ok(loci_key_revoke(p.db, p.writer, LOCI_DEFAULT_ORG, key.id, LOCI_STR(""),
                              LOCI_STR("test"), p.arena, &found, &err),
              err);
    assert_ok(loci_keyring_find(ring, secret, p.arena, &found, &err), err);
    loci_keyring_free(ring);
    assert_ok(loci_keyring_new(p.db, &ring, &err), err);
    assert_int_equal(loci_keyring_find(ring, secret, p.arena, &found, &err), LOCI_EAUTH);
    assert_string_equal(err.msg, "Unauthorized");
    assert_int_equal(loci_keyring_find(ring, LOCI_STR("nonsense"), p.arena, &found, &err),
                     LOCI_EAUTH);
    assert_ok(loci_keyring_any(ring, &any, &err), err);
    assert_true(any); /* revoking the last key opens nothing */
    loci_keyring_free(ring);
    close_place(&p);
}

static void shapes(void **state)
{
    char text[LOCI_KEY_LEN + 1];

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text, LOCI_KEY_PREFIX, 5);
    assert_true(loci_key_shaped((loci_str){ text, LOCI_KEY_LEN }));
    assert_false(loci_key_shaped((loci_str){ text, LOCI_KEY_LEN - 1 }));
    assert_false(loci_key_shaped((loci_str){ text, LOCI_KEY_LEN + 1 }));
    text[20] = '+';
    assert_false(loci_key_shaped((loci_str){ text, LOCI_KEY_LEN }));
    assert_false(loci_key_shaped((loci_str){ NULL, 0 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes),
        ON_BOTH(organizations_have_names_and_users),
        ON_BOTH(bad_names_are_refused),
        ON_BOTH(keys_are_found_by_their_hash_alone),
        ON_BOTH(a_revoked_key_is_found_no_more),
        ON_BOTH(the_ring_believes_for_a_moment),
    };
    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
