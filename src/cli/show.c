/* Commands that only show what the program knows: itself, its settings, its references. */
#include "base/json.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "ops/reference.h"

int loci_cli_version(loci_cli *cli)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };

    loci_buf_init(&text, LOCI_CLI_TEXT_MAX);
    loci_buf_printf(&text, cli->args.json ? "{\"version\": \"%s\"}\n" : "loci %s\n",
                    loci_version());
    return loci_cli_print(cli, &text);
}

int loci_cli_explain(loci_cli *cli, const loci_command *command)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };

    loci_buf_init(&text, LOCI_CLI_TEXT_MAX);
    if (command)
        loci_help_command(&text, command);
    else
        loci_help_overview(&text);
    return loci_cli_print(cli, &text);
}

int loci_cli_help(loci_cli *cli)
{
    loci_err err = { 0 };
    const char *name = cli->args.word_count ? cli->args.words[0] : NULL;
    const loci_command *command = loci_command_find(loci_str_from(name));

    if (!name || command) return loci_cli_explain(cli, command);
    (void)!loci_command_unknown(name, &err);
    return loci_cli_fail(cli, &err, LOCI_EXIT_USAGE);
}

/* The value as its kind of JSON: sizes in bytes, durations in microseconds; a secret stays one. */
static void write_value(const loci_config *config, const loci_config_key *key, loci_json_writer *w)
{
    if (key->secret) {
        loci_json_string(w, loci_config_is_set(config, key->name) ? LOCI_STR("(set)")
                                                                  : LOCI_STR("(not set)"));
        return;
    }
    switch (key->kind) {
    case LOCI_CONFIG_BOOL: loci_json_bool(w, loci_config_bool(config, key->name)); break;
    case LOCI_CONFIG_FLOAT: loci_json_real(w, loci_config_float(config, key->name)); break;
    case LOCI_CONFIG_INT:
    case LOCI_CONFIG_SIZE:
    case LOCI_CONFIG_DURATION: loci_json_int(w, loci_config_int(config, key->name)); break;
    case LOCI_CONFIG_ENUM:
    case LOCI_CONFIG_STRING:
    case LOCI_CONFIG_PATH:
    case LOCI_CONFIG_LIST: loci_json_string(w, loci_config_text(config, key->name)); break;
    }
}

static void list_as_json(const loci_config *config, loci_buf *out)
{
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_json_object(&w);
    for (size_t i = 0; i < loci_config_key_count; i++) {
        const loci_config_key *key = &loci_config_keys[i];
        loci_json_name(&w, loci_str_from(key->name));
        loci_json_object(&w);
        loci_json_name(&w, LOCI_STR("value"));
        write_value(config, key, &w);
        loci_json_member_cstr(&w, "origin", loci_config_origin(config, key->name));
        loci_json_object_end(&w);
    }
    loci_json_object_end(&w);
    loci_buf_add_char(out, '\n');
}

int loci_cli_config(loci_cli *cli)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };

    loci_buf_init(&text, LOCI_CLI_TEXT_MAX);
    if (cli->args.json)
        list_as_json(cli->config, &text);
    else
        loci_config_list(cli->config, &text);
    return loci_cli_print(cli, &text);
}

static bool write_operations(loci_buf *out)
{
    LOCI_AUTO(loci_ops_freep) loci_ops *ops = NULL;

    if (loci_table_new(&ops, NULL)) return false;
    loci_reference_page(ops, out);
    return true;
}

int loci_cli_docs(loci_cli *cli)
{
    LOCI_AUTO(loci_buf_done) loci_buf text = { 0 };
    loci_str page = loci_str_from(cli->args.words[0]);
    loci_err err = { 0 };

    loci_buf_init(&text, LOCI_CLI_TEXT_MAX);
    if (loci_str_eq(page, LOCI_STR("configuration"))) {
        loci_config_docs(loci_config_keys, loci_config_key_count, &text);
    } else if (loci_str_eq(page, LOCI_STR("manual"))) {
        loci_help_manual(&text);
    } else if (loci_str_eq(page, LOCI_STR("operations")) && write_operations(&text)) {
        return loci_cli_print(cli, &text);
    } else if (!loci_help_completion(&text, page)) {
        loci_err_set(
            &err, LOCI_EINVAL,
            "no reference '%.*s'; there are configuration, operations, manual, bash, zsh and fish",
            LOCI_ARG(page));
        return loci_cli_fail(cli, &err, LOCI_EXIT_USAGE);
    }
    return loci_cli_print(cli, &text);
}
