/* Who asks. A password (or a server without password and keys) is admin, and the header user_id
 * chooses the organization. A key fixes organization, role and perhaps agent and node. */
#include "access/org.h"
#include "api/api.h"
#include "api/auth.h"
#include "base/id.h"
#include "base/utf8.h"
#include "db/schema.h"
#include "tree/agent.h"

enum { NAME_SHOWN = 60 };

static loci_credentials credentials_of(const loci_http_request *request)
{
    return (loci_credentials){
        .authorization = loci_http_header(request, "Authorization"),
        .bare_password = loci_http_header(request, "X-BARE-PASSWORD"),
    };
}

/* What stands behind "Bearer ". */
static loci_str bearer(const loci_credentials *c)
{
    static const loci_str scheme = { "Bearer ", 7 };

    if (!loci_str_eq_nocase(loci_str_sub(c->authorization, 0, scheme.len), scheme))
        return (loci_str){ NULL, 0 };
    return loci_str_trim(loci_str_sub(c->authorization, scheme.len, c->authorization.len));
}

static loci_rc refuse(loci_err *err)
{
    return loci_fail(err, LOCI_EAUTH, "Unauthorized");
}

loci_rc loci_api_gate(const loci_api *api, const loci_http_request *request, loci_err *err)
{
    loci_credentials given = credentials_of(request);

    if (loci_key_shaped(bearer(&given))) return LOCI_OK;
    if (api->password.len == 0) return loci_keyring_seen(api->keys) ? refuse(err) : LOCI_OK;
    return loci_auth_check(api->password, &given, err);
}

/* The organization of the header user_id. As its clients expect, an id that nobody has means the
 * default user. */
static loci_rc find_org(loci_api *api, loci_str user, int64_t *ret_org, loci_err *err)
{
    if (!loci_id_check(user, "user")) {
        loci_str shown = loci_utf8_cut(user, NAME_SHOWN);
        return loci_fail(err, LOCI_EINVAL,
                         "user_id '%.*s' is no user id; loci org list shows those there are",
                         LOCI_ARG(shown));
    }
    loci_rc rc = loci_org_of_user(api->app->db, user, ret_org, err);
    if (rc != LOCI_ENOTFOUND) return rc;
    *ret_org = LOCI_DEFAULT_ORG;
    return LOCI_OK;
}

/* A key's agent may be asked for by name and by id; one that does not exist yet has one spelling.
 */
static loci_rc find_alias(loci_api *api, const loci_key *key, loci_arena *arena, loci_str *ret,
                          loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_agent agent;

    loci_rc rc = loci_tx_begin(api->app->db, LOCI_TX_READ, &tx, err);
    if (!rc) rc = loci_agent_find(tx, key->org, key->agent, arena, &agent, err);
    if (rc == LOCI_ENOTFOUND) return LOCI_OK;
    if (!rc) *ret = loci_str_eq(agent.id, key->agent) ? agent.name : agent.id;
    return rc;
}

static loci_rc check_header(const char *name, loci_str given, loci_str own, loci_str alias,
                            loci_err *err)
{
    if (!given.len || !own.len || loci_str_eq(given, own)) return LOCI_OK;
    if (alias.len && loci_str_eq(given, alias)) return LOCI_OK;
    return loci_fail(err, LOCI_EDENIED, "%s disagrees with the key, which is for '%.*s'", name,
                     LOCI_ARG(own));
}

static void become(const loci_key *key, loci_caller *who)
{
    who->org = key->org;
    who->role = key->role;
    who->actor = key->id;
    who->agent_bound = key->agent.len > 0;
    who->node_fence = key->node.len > 0;
    if (key->agent.len) who->agent = key->agent;
    if (key->node.len) who->node = key->node;
}

/* The key decides; headers fill in what it leaves open. */
static loci_rc use_key(loci_api *api, const loci_key *key, loci_str user, loci_arena *arena,
                       loci_caller *who, loci_err *err)
{
    int64_t org = key->org;

    loci_rc rc = user.len ? find_org(api, user, &org, err) : LOCI_OK;
    if (rc) return rc;
    if (org != key->org)
        return loci_fail(err, LOCI_EDENIED,
                         "user_id disagrees with the key, which is for "
                         "organization '%.*s'",
                         LOCI_ARG(key->org_name));
    if (key->agent.len) rc = find_alias(api, key, arena, &who->agent_alias, err);
    if (!rc) rc = check_header("X-Loci-Agent", who->agent, key->agent, who->agent_alias, err);
    if (!rc) rc = check_header("X-Loci-Node", who->node, key->node, LOCI_STR(""), err);
    if (!rc) become(key, who);
    return rc;
}

static loci_rc use_password(loci_api *api, const loci_credentials *given, loci_str user,
                            loci_caller *who, loci_err *err)
{
    bool keys = false;
    loci_rc rc = LOCI_OK;

    if (api->password.len)
        rc = loci_auth_check(api->password, given, err);
    else
        rc = loci_keyring_any(api->keys, &keys, err);
    if (rc) return rc;
    if (keys) return refuse(err);
    who->role = LOCI_ROLE_ADMIN;
    who->org = LOCI_DEFAULT_ORG;
    return user.len ? find_org(api, user, &who->org, err) : LOCI_OK;
}

/* A password may look like a key, so it is tried first. */
static bool is_password(const loci_api *api, const loci_credentials *given)
{
    return api->password.len && loci_auth_check(api->password, given, NULL) == LOCI_OK;
}

loci_rc loci_api_caller(loci_api *api, loci_http_request *request, loci_door door,
                        loci_caller *ret_caller, loci_err *err)
{
    loci_credentials given = credentials_of(request);
    loci_str secret = bearer(&given), user = loci_http_header(request, "user_id");
    loci_caller who = {
        .door = door,
        .agent = loci_http_header(request, "X-Loci-Agent"),
        .node = loci_http_header(request, "X-Loci-Node"),
        .files = api->app->file_roots.len ? LOCI_FILES_BELOW : LOCI_FILES_NONE,
        .file_roots = api->app->file_roots,
    };
    loci_key key;
    loci_rc rc;

    if (loci_key_shaped(secret) && !is_password(api, &given)) {
        rc = loci_keyring_find(api->keys, secret, loci_http_arena(request), &key, err);
        if (!rc) rc = use_key(api, &key, user, loci_http_arena(request), &who, err);
    } else {
        rc = use_password(api, &given, user, &who, err);
    }
    if (!rc) *ret_caller = who;
    return rc;
}
