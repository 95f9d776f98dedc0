#include "cli/args.h"

#include "base/config.h"
#include "base/suggest.h"

#include <string.h>

typedef struct reader {
    char **argv;
    size_t count, at;
    loci_args *args;
    loci_err *err;
} reader;

static const loci_option *find_option(const loci_option *options, loci_str name)
{
    for (; options && options->name; options++)
        if (loci_str_eq_name(name, loci_str_from(options->name))) return options;
    return NULL;
}

static const loci_config_key *find_setting(loci_str name)
{
    for (size_t i = 0; i < loci_config_key_count; i++)
        if (loci_str_eq_name(name, loci_str_from(loci_config_keys[i].name)))
            return &loci_config_keys[i];
    return NULL;
}

static loci_rc unknown_option(const reader *r, loci_str name)
{
    const loci_command *command = r->args->command;
    loci_suggest meant = { .wanted = name };

    for (const loci_option *o = loci_global_options(); o->name; o++)
        loci_suggest_try(&meant, loci_str_from(o->name));
    for (const loci_option *o = command ? command->options : NULL; o && o->name; o++)
        loci_suggest_try(&meant, loci_str_from(o->name));
    for (size_t i = 0; i < loci_config_key_count; i++)
        loci_suggest_try(&meant, loci_str_from(loci_config_keys[i].name));
    loci_suggest_words words = loci_suggest_text(&meant);
    if (words.text[0])
        return loci_fail(r->err, LOCI_EINVAL, "unknown option --%.*s%s", LOCI_ARG(name),
                         words.text);
    return loci_fail(r->err, LOCI_EINVAL, "unknown option --%.*s; see loci %s --help",
                     LOCI_ARG(name), command ? command->name : "");
}

/* The value of an option that needs one: behind '=', or the next word. */
static loci_rc take_value(reader *r, loci_str name, const char *inline_value,
                          const char **ret_value)
{
    if (inline_value) {
        *ret_value = inline_value;
        return LOCI_OK;
    }
    if (r->at == r->count)
        return loci_fail(r->err, LOCI_EINVAL, "option --%.*s needs a value", LOCI_ARG(name));
    *ret_value = r->argv[r->at++];
    return LOCI_OK;
}

static loci_rc no_value(const reader *r, loci_str name, const char *inline_value)
{
    if (!inline_value) return LOCI_OK;
    return loci_fail(r->err, LOCI_EINVAL, "option --%.*s takes no value, but got '%s'",
                     LOCI_ARG(name), inline_value);
}

static loci_rc read_global(reader *r, const loci_option *option, const char *inline_value)
{
    loci_str name = loci_str_from(option->name);

    if (strcmp(option->name, "config") == 0)
        return take_value(r, name, inline_value, &r->args->config_file);
    if (strcmp(option->name, "org") == 0) return take_value(r, name, inline_value, &r->args->org);
    if (strcmp(option->name, "json") == 0) r->args->json = true;
    if (strcmp(option->name, "help") == 0) r->args->help = true;
    if (strcmp(option->name, "version") == 0) r->args->version = true;
    return no_value(r, name, inline_value);
}

static loci_rc read_own(reader *r, const loci_option *option, const char *inline_value)
{
    loci_str name = loci_str_from(option->name);
    const char *value = "";
    loci_rc rc =
        option->value ? take_value(r, name, inline_value, &value) : no_value(r, name, inline_value);

    if (rc) return rc;
    r->args->given[r->args->given_count].option = option;
    r->args->given[r->args->given_count++].value = value;
    return LOCI_OK;
}

/* A switch such as --insecure may stand alone and then means true. */
static loci_rc read_setting(reader *r, const loci_config_key *key, const char *inline_value)
{
    const char *value = "true";

    if (key->secret)
        return loci_fail(r->err, LOCI_EINVAL,
                         "--%s would show the secret in the list of processes; put it into the "
                         "configuration file or the environment, or use --password-file",
                         key->name);
    if (key->kind != LOCI_CONFIG_BOOL || inline_value) {
        loci_rc rc = take_value(r, loci_str_from(key->name), inline_value, &value);
        if (rc) return rc;
    }
    r->args->settings[r->args->setting_count++] = (loci_setting){ key->name, value };
    return LOCI_OK;
}

static loci_rc read_option(reader *r, const char *word)
{
    const char *equals = strchr(word, '=');
    loci_str name = { word, equals ? (size_t)(equals - word) : strlen(word) };
    const char *inline_value = equals ? equals + 1 : NULL;
    const loci_option *option = find_option(loci_global_options(), name);

    if (option) return read_global(r, option, inline_value);
    if (r->args->command && (option = find_option(r->args->command->options, name)))
        return read_own(r, option, inline_value);
    const loci_config_key *key = find_setting(name);
    if (key) return read_setting(r, key, inline_value);
    return unknown_option(r, name);
}

static loci_rc read_word(reader *r, const char *word)
{
    loci_args *args = r->args;

    if (args->command) {
        args->words[args->word_count++] = word;
        return LOCI_OK;
    }
    args->command = loci_command_find(loci_str_from(word));
    if (args->command) return LOCI_OK;
    return loci_command_unknown(word, r->err);
}

static loci_rc check_words(const loci_args *args, loci_err *err)
{
    const loci_command *command = args->command;

    if (!command || args->help) return LOCI_OK;
    if (args->word_count > command->words_max)
        return loci_fail(err, LOCI_EINVAL, "%s: unexpected word '%s'; usage: loci %s %s",
                         command->name, args->words[command->words_max], command->name,
                         command->usage);
    if (args->word_count < command->words_min)
        return loci_fail(err, LOCI_EINVAL, "%s: too few words; usage: loci %s %s", command->name,
                         command->name, command->usage);
    return LOCI_OK;
}

static loci_rc read_one(reader *r, bool *only_words)
{
    const char *word = r->argv[r->at++];

    if (*only_words || word[0] != '-' || word[1] == '\0') return read_word(r, word);
    if (strcmp(word, "--") == 0) {
        *only_words = true;
        return LOCI_OK;
    }
    if (strcmp(word, "-h") == 0) word = "--help";
    if (strcmp(word, "-V") == 0) word = "--version";
    if (word[1] != '-')
        return loci_fail(r->err, LOCI_EINVAL, "unknown option %s; options start with --", word);
    return read_option(r, word + 2);
}

loci_rc loci_args_parse(loci_arena *arena, int argc, char **argv, loci_args *ret_args,
                        loci_err *err)
{
    loci_args args = { 0 };
    size_t count = argc > 0 ? (size_t)argc : 0;
    reader r = { argv, count, 1, &args, err };
    bool only_words = false;

    args.given = loci_arena_array(arena, count + 1, sizeof *args.given);
    args.settings = loci_arena_array(arena, count + 1, sizeof *args.settings);
    args.words = loci_arena_array(arena, count + 1, sizeof *args.words);
    if (!args.given || !args.settings || !args.words) return loci_arena_fail(arena, err);

    while (r.at < r.count) {
        loci_rc rc = read_one(&r, &only_words);
        if (rc) return rc;
    }
    loci_rc rc = check_words(&args, err);
    if (rc) return rc;
    *ret_args = args;
    return LOCI_OK;
}

const char *loci_args_find(const loci_args *args, const char *name)
{
    for (size_t i = args->given_count; i > 0; i--)
        if (strcmp(args->given[i - 1].option->name, name) == 0) return args->given[i - 1].value;
    return NULL;
}
