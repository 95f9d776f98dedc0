/* loci key: API keys. A secret is shown once, when it is made. */
#include "access/key.h"
#include "cli/access.h"
#include "cli/cli.h"

enum { COLUMNS = 9 };

static void write_key(const loci_key *key, loci_str secret, loci_json_writer *w)
{
    loci_json_object(w);
    loci_json_member_str(w, "id", key->id);
    loci_json_member_str(w, "name", key->name);
    loci_json_member_str(w, "shown", key->shown);
    loci_json_member_cstr(w, "role", loci_role_name(key->role));
    loci_json_name(w, LOCI_STR("agent"));
    loci_cli_text_or_null(w, key->agent);
    loci_json_name(w, LOCI_STR("node"));
    loci_cli_text_or_null(w, key->node);
    loci_json_name(w, LOCI_STR("created_at"));
    loci_cli_time_or_null(w, key->created_at);
    loci_json_name(w, LOCI_STR("used_at"));
    loci_cli_time_or_null(w, key->used_at);
    loci_json_name(w, LOCI_STR("revoked_at"));
    loci_cli_time_or_null(w, key->revoked_at);
    if (secret.len) loci_json_member_str(w, "key", secret);
    loci_json_object_end(w);
}

/* One key as it is, with its secret when it is new. */
static int print_one(loci_cli *cli, const loci_key *key, loci_str secret)
{
    loci_json_writer w;
    loci_buf out;

    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_TEXT_MAX);
    loci_json_begin(&w, &out);
    write_key(key, secret, &w);
    loci_buf_add_char(&out, '\n');
    return loci_cli_print(cli, &out);
}

static int print_list(loci_cli *cli, const loci_keys *keys)
{
    loci_json_writer w;
    loci_buf out;

    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_ANSWER_MAX);
    loci_json_begin(&w, &out);
    loci_json_object(&w);
    loci_json_name(&w, LOCI_STR("results"));
    loci_json_array(&w);
    for (size_t i = 0; i < keys->count; i++) write_key(&keys->items[i], LOCI_STR(""), &w);
    loci_json_array_end(&w);
    loci_json_object_end(&w);
    loci_buf_add_char(&out, '\n');
    return loci_cli_print(cli, &out);
}

static loci_str or_dash(loci_str text)
{
    return text.len ? text : LOCI_STR("-");
}

static void fill_row(loci_cli *cli, const loci_key *key, loci_str row[COLUMNS])
{
    row[0] = key->id;
    row[1] = key->name;
    row[2] = loci_str_from(loci_role_name(key->role));
    row[3] = key->shown;
    row[4] = or_dash(key->agent);
    row[5] = or_dash(key->node);
    row[6] = loci_cli_time(cli, key->created_at);
    row[7] = loci_cli_time(cli, key->used_at);
    row[8] = loci_cli_time(cli, key->revoked_at);
}

static int print_keys(loci_cli *cli, const loci_keys *keys)
{
    static const char *const heads[COLUMNS] = { "ID",   "NAME",    "ROLE", "BEGINS", "AGENT",
                                                "NODE", "CREATED", "USED", "REVOKED" };
    loci_err err = { 0 };
    loci_str *cells = loci_arena_array(cli->arena, (keys->count + 1) * COLUMNS, sizeof *cells);

    if (!cells) {
        (void)loci_arena_fail(cli->arena, &err);
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    }
    for (size_t c = 0; c < COLUMNS; c++) cells[c] = loci_str_from(heads[c]);
    for (size_t i = 0; i < keys->count; i++)
        fill_row(cli, &keys->items[i], cells + (i + 1) * COLUMNS);
    return loci_cli_rows(cli, cells, COLUMNS, keys->count + 1);
}

static loci_rc create(loci_cli *cli, int64_t org, loci_key *ret_key, loci_str *ret_secret,
                      loci_err *err)
{
    const char *role = loci_args_find(&cli->args, "role");
    loci_key_values values = { .org = org,
                               .agent = loci_str_from(loci_args_find(&cli->args, "agent")),
                               .node = loci_str_from(loci_args_find(&cli->args, "node")),
                               .who = LOCI_CLI_ACTOR,
                               .door = LOCI_STR("cli") };

    if (cli->args.word_count != 2)
        return loci_fail(err, LOCI_EINVAL,
                         "key create needs a name; usage: loci key create NAME --role ROLE");
    values.name = loci_str_from(cli->args.words[1]);
    if (!role)
        return loci_fail(err, LOCI_EINVAL,
                         "say what the key may do: --role read, --role write or --role admin");
    loci_rc rc = loci_role_parse(loci_str_from(role), &values.role, err);
    if (rc) return rc;
    return loci_key_create(cli->app->writer, &values, cli->arena, ret_key, ret_secret, err);
}

static int run_create(loci_cli *cli, int64_t org)
{
    loci_err err = { 0 };
    loci_key key;
    loci_str secret;
    loci_buf out;

    if (create(cli, org, &key, &secret, &err)) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (cli->args.json) return print_one(cli, &key, secret);
    loci_buf_init_arena(&out, cli->arena, LOCI_CLI_TEXT_MAX);
    loci_buf_printf(&out, "%.*s\n%.*s may %s. Keep it now: it is not shown again.\n",
                    LOCI_ARG(secret), LOCI_ARG(key.id), loci_role_name(key.role));
    return loci_cli_print(cli, &out);
}

static int run_list(loci_cli *cli, int64_t org)
{
    loci_keys keys;
    loci_err err = { 0 };

    if (loci_key_list(cli->app->db, org, cli->arena, &keys, &err))
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    return cli->args.json ? print_list(cli, &keys) : print_keys(cli, &keys);
}

static int run_revoke(loci_cli *cli, int64_t org)
{
    loci_key key;
    loci_err err = { 0 };

    if (cli->args.word_count != 2) return loci_cli_usage(cli, "revoke ID");
    if (loci_key_revoke(cli->app->db, cli->app->writer, org, loci_str_from(cli->args.words[1]),
                        LOCI_CLI_ACTOR, LOCI_STR("cli"), cli->arena, &key, &err))
        return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (cli->args.json) return print_one(cli, &key, LOCI_STR(""));
    return print_keys(cli, &(loci_keys){ &key, 1 });
}

int loci_cli_run_key(loci_cli *cli)
{
    loci_str verb = loci_str_from(cli->args.words[0]);
    int64_t org;
    loci_err err = { 0 };

    if (loci_cli_org(cli, &org, &err)) return loci_cli_fail(cli, &err, LOCI_EXIT_FAILED);
    if (loci_str_eq(verb, LOCI_STR("create"))) return run_create(cli, org);
    if (loci_str_eq(verb, LOCI_STR("revoke"))) return run_revoke(cli, org);
    if (loci_str_eq(verb, LOCI_STR("list")) && cli->args.word_count == 1) return run_list(cli, org);
    return loci_cli_usage(cli, "create NAME --role ROLE, list or revoke ID");
}
