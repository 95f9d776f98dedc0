/* Completion scripts for three shells, made from the tables of commands and settings. */
#include "base/config.h"
#include "cli/help.h"
#include "ops/app.h"

#include <string.h>

/* All words that may follow `command`: its own options, the global ones and the settings. */
static void add_option_words(loci_buf *out, const loci_command *command)
{
    for (const loci_option *o = command ? command->options : NULL; o && o->name; o++)
        loci_buf_printf(out, " --%s", o->name);
    for (const loci_option *o = loci_global_options(); o->name; o++)
        loci_buf_printf(out, " --%s", o->name);
    for (size_t i = 0; i < loci_config_key_count; i++)
        if (!loci_config_keys[i].secret) loci_buf_printf(out, " --%s", loci_config_keys[i].name);
}

static void add_command_words(loci_buf *out)
{
    size_t count;
    const loci_command *commands = loci_commands(&count);

    for (size_t i = 0; i < count; i++)
        if (!commands[i].hidden) loci_buf_printf(out, " %s", commands[i].name);
}

/* What may follow a command besides options: names of commands, operations, verbs. */
static void add_own_words(loci_buf *out, const loci_command *command)
{
    LOCI_AUTO(loci_ops_freep) loci_ops *ops = NULL;
    loci_ops_filter all = { .toolsets = LOCI_TOOLSET_ALL };
    const loci_op_info *op;

    if (strcmp(command->name, "help") == 0) add_command_words(out);
    if (strcmp(command->name, "org") == 0) loci_buf_add_cstr(out, " create list");
    if (strcmp(command->name, "key") == 0) loci_buf_add_cstr(out, " create list revoke");
    if (strcmp(command->name, "call") != 0 && strcmp(command->name, "ops") != 0) return;
    if (loci_table_new(&ops, NULL)) return;
    for (size_t cursor = 0; (op = loci_ops_next(ops, all, &cursor));)
        loci_buf_printf(out, " %s", op->row->name);
}

static void add_bash(loci_buf *out)
{
    size_t count;
    const loci_command *commands = loci_commands(&count);

    loci_buf_add_cstr(out, "_loci() {\n    local words command=${COMP_WORDS[1]}\n"
                           "    case $command in\n");
    for (size_t i = 0; i < count; i++) {
        if (commands[i].hidden) continue;
        loci_buf_printf(out, "    %s) words=\"", commands[i].name);
        add_option_words(out, &commands[i]);
        add_own_words(out, &commands[i]);
        loci_buf_add_cstr(out, "\" ;;\n");
    }
    loci_buf_add_cstr(out, "    *) words=\"");
    add_command_words(out);
    add_option_words(out, NULL);
    loci_buf_add_cstr(out,
                      "\" ;;\n    esac\n"
                      "    COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
                      "}\ncomplete -o default -F _loci loci\n");
}

/* zsh and fish show the help beside each word; a quote in it would end theirs. */
static void add_plain(loci_buf *out, const char *help)
{
    for (; *help; help++)
        if (*help != '\'' && *help != ':' && *help != '[' && *help != ']')
            loci_buf_add_char(out, *help);
}

static void add_zsh(loci_buf *out)
{
    size_t count;
    const loci_command *commands = loci_commands(&count);

    loci_buf_add_cstr(out, "#compdef loci\nlocal -a commands\ncommands=(\n");
    for (size_t i = 0; i < count; i++) {
        if (commands[i].hidden) continue;
        loci_buf_printf(out, "    '%s:", commands[i].name);
        add_plain(out, commands[i].help);
        loci_buf_add_cstr(out, "'\n");
    }
    loci_buf_add_cstr(out, ")\nif (( CURRENT == 2 )); then\n    _describe command commands\nelse\n"
                           "    case $words[2] in\n");
    for (size_t i = 0; i < count; i++) {
        if (commands[i].hidden) continue;
        loci_buf_printf(out, "    %s) compadd --", commands[i].name);
        add_option_words(out, &commands[i]);
        add_own_words(out, &commands[i]);
        loci_buf_add_cstr(out, " ;;\n");
    }
    loci_buf_add_cstr(out, "    esac\n    _files\nfi\n");
}

static void add_fish_options(loci_buf *out, const loci_option *options, const char *command)
{
    for (; options && options->name; options++) {
        loci_buf_add_cstr(out, "complete -c loci");
        if (command) loci_buf_printf(out, " -n '__fish_seen_subcommand_from %s'", command);
        loci_buf_printf(out, " -l %s%s -d '", options->name, options->value ? " -r" : "");
        add_plain(out, options->help);
        loci_buf_add_cstr(out, "'\n");
    }
}

static void add_fish(loci_buf *out)
{
    size_t count;
    const loci_command *commands = loci_commands(&count);

    for (size_t i = 0; i < count; i++) {
        if (commands[i].hidden) continue;
        loci_buf_printf(out, "complete -c loci -n __fish_use_subcommand -a %s -d '",
                        commands[i].name);
        add_plain(out, commands[i].help);
        loci_buf_add_cstr(out, "'\n");
        add_fish_options(out, commands[i].options, commands[i].name);
        loci_buf_printf(out, "complete -c loci -n '__fish_seen_subcommand_from %s' -a '",
                        commands[i].name);
        add_own_words(out, &commands[i]);
        loci_buf_add_cstr(out, "'\n");
    }
    add_fish_options(out, loci_global_options(), NULL);
    for (size_t i = 0; i < loci_config_key_count; i++) {
        if (loci_config_keys[i].secret) continue;
        loci_buf_printf(out, "complete -c loci -l %s -d '", loci_config_keys[i].name);
        add_plain(out, loci_config_keys[i].help);
        loci_buf_add_cstr(out, "'\n");
    }
}

bool loci_help_completion(loci_buf *out, loci_str shell)
{
    if (loci_str_eq(shell, LOCI_STR("bash")))
        add_bash(out);
    else if (loci_str_eq(shell, LOCI_STR("zsh")))
        add_zsh(out);
    else if (loci_str_eq(shell, LOCI_STR("fish")))
        add_fish(out);
    else
        return false;
    return true;
}
