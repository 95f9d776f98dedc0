/* cli/args.h -- argv taken apart: global options, the command, its options and words.
 *
 * Here:     reading argv against the table of commands and the table of settings.
 * Not here: what options mean (the commands), values of settings (base/config.h).
 * Owns:     nothing: slices point into argv, arrays live in the arena.
 * Threads:  one at a time.
 * Errors:   LOCI_EINVAL with a message that names the word and suggests what was meant.
 */
#ifndef LOCI_CLI_ARGS_H
#define LOCI_CLI_ARGS_H

#include "base/arena.h"
#include "cli/command.h"

/* An option that is a setting: the key's name and the text of its value. */
typedef struct loci_setting {
    const char *name;
    const char *value;
} loci_setting;

typedef struct loci_args {
    const loci_command *command; /* NULL when none was given */
    bool help, version, json;
    const char *config_file; /* NULL when not given, as the next */
    const char *org;
    struct {
        const loci_option *option;
        const char *value; /* "" for an option without a value */
    } * given;             /* the command's own options */
    size_t given_count;
    loci_setting *settings; /* options that are settings: --listen ... */
    size_t setting_count;
    const char **words; /* what is left, without the command */
    size_t word_count;
} loci_args;

/* Options may stand before and after the command; what follows "--" is words only. `_` and `-` are
 * the same in an option's name. */
LOCI_MUST loci_rc loci_args_parse(loci_arena *arena, int argc, char **argv, loci_args *ret_args,
                                  loci_err *err);

/* The value of the command's own option --name, or NULL when it was not given. */
const char *loci_args_find(const loci_args *args, const char *name);

#endif
