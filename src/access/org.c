#include "access/org.h"

#include "base/id.h"
#include "base/utf8.h"
#include "db/schema.h"
#include "db/stmt.h"

enum { ORGS_MAX = 100000 };

static loci_rc read_org(loci_stmt *q, loci_arena *arena, loci_org *ret, loci_err *err)
{
    loci_org org = { .number = loci_stmt_i64(q, 0), .created_at = loci_stmt_i64(q, 3) };

    loci_rc rc = loci_stmt_copy(q, 1, arena, &org.id, err);
    if (!rc) rc = loci_stmt_copy(q, 2, arena, &org.name, err);
    if (!rc) rc = loci_stmt_copy(q, 4, arena, &org.user, err);
    if (!rc) *ret = org;
    return rc;
}

static loci_rc check_name(loci_str name, loci_err *err)
{
    if (name.len == 0 || loci_str_trim(name).len != name.len)
        return loci_fail(err, LOCI_EINVAL,
                         "an organization's name must not be empty, nor have blanks at its ends");
    if (name.len > LOCI_ORG_NAME_BYTES)
        return loci_fail(err, LOCI_EINVAL, "an organization's name has at most %d bytes, not %zu",
                         LOCI_ORG_NAME_BYTES, name.len);
    if (!loci_utf8_valid(name))
        return loci_fail(err, LOCI_EINVAL, "an organization's name must be UTF-8");
    return LOCI_OK;
}

static loci_rc find_in(loci_tx *tx, loci_str id_or_name, loci_arena *arena, loci_org *ret_org,
                       loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_org org;

    loci_rc rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_ORG_FIND, &q, err);
    if (rc) return rc;
    loci_stmt_bind_text(q, 1, id_or_name);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE)
        return loci_fail(err, LOCI_ENOTFOUND,
                         "no organization '%.*s'; loci org list shows them, loci org create makes "
                         "one",
                         LOCI_ARG(id_or_name));
    if (!rc) rc = read_org(q, arena, &org, err);
    if (rc) return rc;
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_OK)
        return loci_fail(err, LOCI_ECONFLICT,
                         "several organizations are called '%.*s'; give the id instead",
                         LOCI_ARG(id_or_name));
    if (rc != LOCI_DONE) return rc;
    *ret_org = org;
    return LOCI_OK;
}

loci_rc loci_org_find(loci_db *db, loci_str id_or_name, loci_arena *arena, loci_org *ret_org,
                      loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;

    loci_rc rc = check_name(id_or_name, err);
    if (!rc) rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    return rc ? rc : find_in(tx, id_or_name, arena, ret_org, err);
}

loci_rc loci_org_list(loci_db *db, loci_arena *arena, loci_orgs *ret_orgs, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_orgs orgs = { 0 };
    size_t room = 0;

    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_ORG_LIST, &q, err);
    if (rc) return rc;
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        if (orgs.count == ORGS_MAX)
            return loci_fail(err, LOCI_ELIMIT, "more than %d organizations", ORGS_MAX);
        if (orgs.count == room) {
            loci_org *more = loci_arena_array(arena, room = room ? 2 * room : 16, sizeof *more);
            if (!more) return loci_arena_fail(arena, err);
            for (size_t i = 0; i < orgs.count; i++) more[i] = orgs.items[i];
            orgs.items = more;
        }
        rc = read_org(q, arena, &orgs.items[orgs.count], err);
        if (rc) return rc;
        orgs.count++;
    }
    if (rc != LOCI_DONE) return rc;
    *ret_orgs = orgs;
    return LOCI_OK;
}

loci_rc loci_org_of_user(loci_db *db, loci_str id, int64_t *ret_org, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_USER_ORG, &q, err);
    if (rc) return rc;
    loci_stmt_bind_text(q, 1, id);
    rc = loci_stmt_next(q, err);
    if (rc == LOCI_DONE) return loci_fail(err, LOCI_ENOTFOUND, "no user '%.*s'", LOCI_ARG(id));
    if (!rc) *ret_org = loci_stmt_i64(q, 0);
    return rc;
}

typedef struct making {
    loci_org *org;
    loci_arena *arena;
} making;

static loci_rc add_row(loci_change *change, size_t statement, int64_t org, loci_str id,
                       loci_str name, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_stmt_begin(change->tx, &loci_access_room, statement, &q, err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, id);
    loci_stmt_bind_text(q, 3, name);
    loci_stmt_bind_i64(q, 4, change->born);
    return loci_stmt_run(q, err);
}

static loci_rc next_number(loci_tx *tx, int64_t *ret, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;

    loci_rc rc = loci_stmt_begin(tx, &loci_access_room, ACCESS_ORG_NEXT, &q, err);
    if (!rc) rc = loci_stmt_next(q, err);
    if (!rc) *ret = loci_stmt_i64(q, 0);
    return rc;
}

/* Everybody who makes one writes in the default organization, so only one does at a time. */
static loci_rc make(loci_change *change, void *arg, loci_err *err)
{
    making *m = arg;
    loci_org other;

    loci_rc rc = find_in(change->tx, m->org->name, m->arena, &other, err);
    if (rc == LOCI_OK || rc == LOCI_ECONFLICT)
        return loci_fail(err, LOCI_ECONFLICT, "there is an organization '%.*s' already",
                         LOCI_ARG(m->org->name));
    if (rc != LOCI_ENOTFOUND) return rc;
    m->org->created_at = change->born;
    rc = next_number(change->tx, &m->org->number, err);
    if (!rc) rc = add_row(change, ACCESS_ORG_ADD, m->org->number, m->org->id, m->org->name, err);
    if (!rc) rc = add_row(change, ACCESS_USER_ADD, m->org->number, m->org->user, m->org->name, err);
    return rc;
}

static loci_rc make_id(const char *prefix, loci_arena *arena, loci_str *ret, loci_err *err)
{
    loci_id id;

    loci_rc rc = loci_id_make(prefix, &id, err);
    if (rc) return rc;
    *ret = loci_arena_str(arena, loci_str_from(id.text));
    return ret->ptr ? LOCI_OK : loci_arena_fail(arena, err);
}

loci_rc loci_org_create(loci_writer *writer, loci_str name, loci_str who, loci_str door,
                        loci_arena *arena, loci_org *ret_org, loci_err *err)
{
    loci_org org = { .name = name };
    making m = { &org, arena };
    loci_write_request request = {
        .org = LOCI_DEFAULT_ORG, .run = make, .arg = &m, .who = who, .door = door
    };

    loci_rc rc = check_name(name, err);
    if (!rc) rc = make_id("org", arena, &org.id, err);
    if (!rc) rc = make_id("user", arena, &org.user, err);
    if (rc) return rc;
    loci_write_result result;
    rc = loci_write(writer, &request, NULL, &result, err);
    if (!rc) *ret_org = org;
    return rc;
}
