/* access/org.h -- organizations: the tenants, and the user that stands for each.
 *
 * Here:     making, listing and finding organizations; whose a user is.
 * Not here: keys (access/key.h), what belongs to an organization (every other room).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ENOTFOUND for no such organization or user, LOCI_ECONFLICT for a name that is
 * taken or that two have, LOCI_EINVAL for a bad name; those of the store.
 */
#ifndef LOCI_ACCESS_ORG_H
#define LOCI_ACCESS_ORG_H

#include "access/statements.h"
#include "base/arena.h"
#include "db/write.h"

enum { LOCI_ORG_NAME_BYTES = 255 };

typedef struct loci_org {
    int64_t number;
    loci_str id, name;
    loci_str user; /* the id that chooses it in the header user_id; ptr is NULL without one */
    int64_t created_at;
} loci_org;

typedef struct loci_orgs {
    loci_org *items;
    size_t count;
} loci_orgs;

/* Make one, with its user. `who` may be empty. */
LOCI_MUST loci_rc loci_org_create(loci_writer *writer, loci_str name, loci_str who, loci_str door,
                                  loci_arena *arena, loci_org *ret_org, loci_err *err);

/* All, in the order in which they were made. */
LOCI_MUST loci_rc loci_org_list(loci_db *db, loci_arena *arena, loci_orgs *ret_orgs, loci_err *err);

/* By id or name. */
LOCI_MUST loci_rc loci_org_find(loci_db *db, loci_str id_or_name, loci_arena *arena,
                                loci_org *ret_org, loci_err *err);

/* The number of the organization that has the user `id`. */
LOCI_MUST loci_rc loci_org_of_user(loci_db *db, loci_str id, int64_t *ret_org, loci_err *err);

#endif
