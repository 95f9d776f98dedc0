#include "access/key.h"

#include "base/base64.h"
#include "base/id.h"
#include "base/utf8.h"
#include "db/stmt.h"

#include <string.h>

enum { SHOWN = 10 }; /* characters of a secret that are kept to recognise it by */

/* Texts of the current row, by column. */
static loci_rc copy_texts(loci_stmt *q, loci_arena *arena, loci_key *key, loci_err *err)
{
    struct {
        unsigned column;
        loci_str *to;
    } texts[] = { { 0, &key->id },    { 1, &key->name }, { 2, &key->shown },
                  { 5, &key->agent }, { 6, &key->node }, { 10, &key->org_name } };

    for (size_t i = 0; i < LOCI_COUNT(texts); i++) {
        loci_rc rc = loci_stmt_copy(q, texts[i].column, arena, texts[i].to, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

static loci_rc read_key(loci_stmt *q, loci_arena *arena, loci_key *ret, loci_err *err)
{
    loci_key key = { .org = loci_stmt_i64(q, 3),
                     .created_at = loci_stmt_i64(q, 7),
                     .used_at = loci_stmt_i64(q, 8),
                     .revoked_at = loci_stmt_i64(q, 9) };

    loci_rc rc = loci_role_parse(loci_stmt_text(q, 4), &key.role, err);
    if (rc) return loci_fail(err, LOCI_ECORRUPT, "an API key in the store has an unknown role");
    rc = copy_texts(q, arena, &key, err);
    if (!rc) *ret = key;
    return rc;
}

static loci_rc check_text(const char *what, loci_str text, loci_err *err)
{
    if (text.len > LOCI_KEY_NAME_BYTES)
        return loci_fail(err, LOCI_EINVAL, "the key's %s has at most %d bytes, not %zu", what,
                         LOCI_KEY_NAME_BYTES, text.len);
    if (!loci_utf8_valid(text) || memchr(text.len ? text.ptr : "", 0, text.len))
        return loci_fail(err, LOCI_EINVAL, "the key's %s must be UTF-8", what);
    return LOCI_OK;
}

static loci_rc check_values(const loci_key_values *v, loci_err *err)
{
    if (loci_str_trim(v->name).len == 0)
        return loci_fail(err, LOCI_EINVAL, "a key needs a name, to know it by later");
    if (v->node.len && !v->agent.len)
        return loci_fail(err, LOCI_EINVAL, "a key for node '%.*s' needs the agent it belongs to",
                         LOCI_ARG(v->node));
    loci_rc rc = check_text("name", v->name, err);
    if (!rc) rc = check_text("agent", v->agent, err);
    if (!rc) rc = check_text("node", v->node, err);
    return rc;
}

static loci_rc make_secret(loci_arena *arena, loci_str *ret_secret, loci_err *err)
{
    uint8_t bytes[LOCI_KEY_RANDOM];
    loci_buf text;

    loci_rc rc = loci_random_bytes(bytes, sizeof bytes, err);
    if (rc) return rc;
    loci_buf_init_arena(&text, arena, LOCI_KEY_LEN);
    loci_buf_add_cstr(&text, LOCI_KEY_PREFIX);
    loci_base64_encode(LOCI_BASE64_URL, (loci_str){ (const char *)bytes, sizeof bytes }, &text);
    rc = loci_buf_check(&text, err);
    if (!rc) *ret_secret = loci_buf_str(&text);
    return rc;
}

typedef struct making {
    loci_key *key;
    loci_key_hash hash;
} making;

static loci_str or_null(loci_str text)
{
    return text.len ? text : (loci_str){ NULL, 0 };
}

static loci_rc make(loci_change *change, void *arg, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    making *m = arg;
    loci_key *key = m->key;

    loci_rc rc = loci_stmt_begin(change->tx, &loci_access_room, ACCESS_KEY_ADD, &q, err);
    if (rc) return rc;
    key->created_at = change->born;
    loci_stmt_bind_blob(q, 1, (loci_str){ (const char *)m->hash.bytes, sizeof m->hash.bytes });
    loci_stmt_bind_i64(q, 2, change->org);
    loci_stmt_bind_text(q, 3, key->id);
    loci_stmt_bind_text(q, 4, key->name);
    loci_stmt_bind_text(q, 5, key->shown);
    loci_stmt_bind_text(q, 6, loci_str_from(loci_role_name(key->role)));
    loci_stmt_bind_text_or_null(q, 7, key->agent);
    loci_stmt_bind_text_or_null(q, 8, key->node);
    loci_stmt_bind_i64(q, 9, change->born);
    loci_stmt_bind_text_or_null(q, 10, change->who);
    return loci_stmt_run(q, err);
}

loci_rc loci_key_create(loci_writer *writer, const loci_key_values *values, loci_arena *arena,
                        loci_key *ret_key, loci_str *ret_secret, loci_err *err)
{
    loci_key key = { .org = values->org,
                     .name = values->name,
                     .role = values->role,
                     .agent = or_null(values->agent),
                     .node = or_null(values->node) };
    making m = { .key = &key };
    loci_write_request request = {
        .org = values->org, .run = make, .arg = &m, .who = values->who, .door = values->door
    };
    loci_write_result result;
    loci_str secret = { 0 };
    loci_id id;

    loci_rc rc = check_values(values, err);
    if (!rc) rc = make_secret(arena, &secret, err);
    if (!rc) rc = loci_key_hash_of(secret, &m.hash, err);
    if (!rc) rc = loci_id_make("key", &id, err);
    if (rc) return rc;
    key.id = loci_arena_str(arena, loci_str_from(id.text));
    key.shown = loci_str_sub(secret, 0, SHOWN);
    if (!key.id.ptr) return loci_arena_fail(arena, err);
    rc = loci_write(writer, &request, NULL, &result, err);
    if (rc) return rc;
    *ret_key = key;
    *ret_secret = secret;
    return LOCI_OK;
}

/* Room for one more; NULL when there are too many or the arena is full. */
static loci_key *next_key(loci_keys *keys, size_t *room, loci_arena *arena, loci_err *err)
{
    if (keys->count == LOCI_KEYS_LISTED) {
        loci_err_set(err, LOCI_ELIMIT, "more than %d keys", LOCI_KEYS_LISTED);
        return NULL;
    }
    if (keys->items && keys->count < *room) return &keys->items[keys->count];
    *room = *room ? 2 * *room : 16;
    loci_key *more = loci_arena_array(arena, *room, sizeof *more);
    if (!more) {
        (void)loci_arena_fail(arena, err);
        return NULL;
    }
    for (size_t i = 0; i < keys->count; i++) more[i] = keys->items[i];
    keys->items = more;
    return &more[keys->count];
}

loci_rc loci_key_list(loci_db *db, int64_t org, loci_arena *arena, loci_keys *ret_keys,
                      loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_keys keys = { 0 };
    loci_err why = { 0 };
    size_t room = 0;

    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_KEY_LIST, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        loci_key *key = next_key(&keys, &room, arena, &why);
        if (!key) return loci_fail(err, why.code, "%s", why.msg);
        rc = read_key(q, arena, key, err);
        if (rc) return rc;
        keys.count++;
    }
    if (rc != LOCI_DONE) return rc;
    *ret_keys = keys;
    return LOCI_OK;
}

static loci_rc find_id(loci_db *db, int64_t org, loci_str id, loci_arena *arena, loci_key *ret_key,
                       loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_KEY_BY_ID, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, id);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND,
                         "no key '%.*s' in this organization; loci key list shows them",
                         LOCI_ARG(id));
    return rc ? rc : read_key(q, arena, ret_key, err);
}

static loci_rc revoke(loci_change *change, void *arg, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_key *key = arg;

    loci_rc rc = loci_stmt_begin(change->tx, &loci_access_room, ACCESS_KEY_REVOKE, &q, err);
    if (rc) return rc;
    key->revoked_at = change->born;
    loci_stmt_bind_i64(q, 1, change->org);
    loci_stmt_bind_text(q, 2, key->id);
    loci_stmt_bind_i64(q, 3, change->born);
    return loci_stmt_run(q, err);
}

loci_rc loci_key_revoke(loci_db *db, loci_writer *writer, int64_t org, loci_str id, loci_str who,
                        loci_str door, loci_arena *arena, loci_key *ret_key, loci_err *err)
{
    loci_key key;
    loci_write_request request = {
        .org = org, .run = revoke, .arg = &key, .who = who, .door = door
    };
    loci_write_result result;

    loci_rc rc = check_text("id", id, err);
    if (!rc) rc = find_id(db, org, id, arena, &key, err);
    if (!rc && !key.revoked_at) rc = loci_write(writer, &request, NULL, &result, err);
    if (!rc) *ret_key = key;
    return rc;
}

static bool is_url64(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

bool loci_key_shaped(loci_str text)
{
    if (text.len != LOCI_KEY_LEN || !loci_str_starts(text, LOCI_STR(LOCI_KEY_PREFIX))) return false;
    for (size_t i = 0; i < text.len; i++)
        if (!is_url64(text.ptr[i])) return false;
    return true;
}

loci_rc loci_key_hash_of(loci_str secret, loci_key_hash *ret_hash, loci_err *err)
{
    return loci_hash_bytes(LOCI_SHA256, secret, ret_hash->bytes, err);
}

static loci_str bytes_of(const loci_key_hash *hash)
{
    return (loci_str){ (const char *)hash->bytes, sizeof hash->bytes };
}

loci_rc loci_key_find(loci_db *db, const loci_key_hash *hash, loci_arena *arena, loci_key *ret_key,
                      loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_KEY_BY_HASH, &q, err);
    if (rc) return rc;
    loci_stmt_bind_blob(q, 1, bytes_of(hash));
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE) return loci_fail(err, LOCI_ENOTFOUND, "no such key");
    return rc ? rc : read_key(q, arena, ret_key, err);
}

loci_rc loci_key_touch(loci_db *db, const loci_key_hash *hash, int64_t now, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_tx_begin(db, LOCI_TX_WRITE, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_KEY_USED, &q, err);
    if (rc) return rc;
    loci_stmt_bind_blob(q, 1, bytes_of(hash));
    loci_stmt_bind_i64(q, 2, now);
    rc = loci_stmt_run(q, err);
    loci_stmt_endp(&q);
    return rc ? rc : loci_tx_commit(tx, err);
}

loci_rc loci_key_any(loci_db *db, bool *ret_any, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_KEY_ANY, &q, err);
    if (!rc) rc = loci_stmt_next(q, err);
    if (!rc) *ret_any = loci_stmt_i64(q, 0) > 0;
    return rc;
}
