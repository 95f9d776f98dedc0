#include "cli/command.h"

static const loci_option global_options[] = {
    /* clang-format off */
    { "config",  "FILE", "read settings from FILE instead of the user's configuration" },
    { "json",    NULL,   "print JSON instead of text for people" },
    { "help",    NULL,   "explain the command and stop" },
    { "version", NULL,   "print the version and stop" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const loci_option serve_options[] = {
    /* clang-format off */
    { "password-file", "FILE", "ask every client for the password in FILE (its first line)" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const char serve_details[] =
    "Serves until SIGTERM or SIGINT, then finishes the requests that are running and exits.\n"
    "Prints one line with its URL when it is ready. HOST:PORT may have port 0 for any free port;\n"
    "unix:PATH makes a socket that only this user can open. Beyond this machine it listens only\n"
    "with a password, or with --insecure when something in front of it checks who comes in.";

static const char config_details[] =
    "Settings come, lowest to highest, from the defaults, the configuration file, the environment\n"
    "(LOCI_ and the name in upper case) and options (--name VALUE, on every command).";

/* Every command there is. Help, manual and completions are made from this table. */
static const loci_command commands[] = {
    /* clang-format off */
    { .name = "serve",   .usage = "[--listen HOST:PORT | unix:PATH] [--password-file FILE]",
      .help = "run the server",
      .details = serve_details, .options = serve_options, .run = loci_cli_serve },
    { .name = "config",  .usage = "", .help = "show every setting, its value and where it came from",
      .details = config_details, .run = loci_cli_config },
    { .name = "version", .usage = "", .help = "print the version", .run = loci_cli_version },
    { .name = "help",    .usage = "[COMMAND]", .help = "explain a command, or list them",
      .words_max = 1, .run = loci_cli_help },
    { .name = "docs",    .usage = "configuration|manual|bash|zsh|fish",
      .help = "print a generated reference", .words_min = 1, .words_max = 1, .hidden = true,
      .run = loci_cli_docs },
    /* clang-format on */
};

const loci_command *loci_commands(size_t *ret_count)
{
    *ret_count = LOCI_COUNT(commands);
    return commands;
}

const loci_option *loci_global_options(void)
{
    return global_options;
}

const loci_command *loci_command_find(loci_str name)
{
    for (size_t i = 0; i < LOCI_COUNT(commands); i++)
        if (loci_str_eq(loci_str_from(commands[i].name), name)) return &commands[i];
    return NULL;
}

const loci_command *loci_command_suggest(loci_str name)
{
    const loci_command *nearest = NULL;
    size_t best = 3; /* a word further away than two edits is another word */

    for (size_t i = 0; i < LOCI_COUNT(commands); i++) {
        size_t away = loci_str_distance(loci_str_from(commands[i].name), name, 2);
        if (away < best && !commands[i].hidden) best = away, nearest = &commands[i];
    }
    return nearest;
}
