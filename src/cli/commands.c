#include "cli/command.h"

#include "base/suggest.h"

static const loci_option global_options[] = {
    /* clang-format off */
    { "config",  "FILE", "read settings from FILE instead of the user's configuration" },
    { "org",     "NAME", "work in this organization (name or id) instead of the default one" },
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

static const loci_option key_options[] = {
    /* clang-format off */
    { "role",  "ROLE",  "what a new key may do: read, write or admin" },
    { "agent", "AGENT", "a new key acts for this agent alone" },
    { "node",  "NODE",  "and on this branch of it alone" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const loci_option diff_options[] = {
    /* clang-format off */
    { "from", "TIME", "compare how it was then ..." },
    { "to",   "TIME", "... with how it was then; without it: now" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const loci_option undo_options[] = {
    /* clang-format off */
    { "to",      "TIME", "the time to go back to" },
    { "shared",  NULL,   "also touch blocks and archives that other agents have too" },
    { "dry-run", NULL,   "only tell what would be done" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const loci_option export_options[] = {
    /* clang-format off */
    { "agent",   "AGENT", "only this agent and what belongs to it" },
    { "vectors", NULL,    "with the vectors, which can be made again" },
    { "replace", NULL,    "replace a file that exists" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const loci_option backup_options[] = {
    /* clang-format off */
    { "replace", NULL, "replace a file that exists" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const loci_option restore_options[] = {
    /* clang-format off */
    { "force", NULL, "set a store that is there aside first" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const loci_option doctor_options[] = {
    /* clang-format off */
    { "fix", NULL, "repair what can be derived again" },
    { NULL, NULL, NULL },
    /* clang-format on */
};

static const char call_details[] =
    "The input is one JSON object, or words key=value. A value is read as JSON where the "
    "operation\n"
    "takes a number, a truth, a list or an object, and else as text. loci ops OP shows what an\n"
    "operation takes. Prints its JSON; exits with 1 when it failed.";

static const char org_details[] =
    "An organization is a tenant: what belongs to one is never seen by another. It is made here "
    "and\n"
    "nowhere else. The user id is what clients send in the header user_id to choose it.";

static const char key_details[] =
    "A key belongs to one organization (--org). With an agent it may act for that agent alone, "
    "with\n"
    "a node on that branch alone. It is sent as bearer token. It is shown once and stored only as "
    "a\n"
    "hash. A running server forgets a revoked key within seconds. Once a store has had a key, its\n"
    "server asks everybody for a key or the password.";

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
    { .name = "call",    .usage = "OP [JSON | key=value ...]", .help = "run one operation and print its JSON",
      .details = call_details, .words_min = 1, .words_max = 256, .run = loci_cli_run_call },
    { .name = "ops",     .usage = "[OP]", .help = "list the operations, or show the schemas of one",
      .words_max = 1, .run = loci_cli_ops },
    { .name = "status",  .usage = "", .help = "show what the store holds", .run = loci_cli_verb },
    { .name = "agents",  .usage = "", .help = "list the agents", .run = loci_cli_verb },
    { .name = "log",     .usage = "AGENT", .help = "show what happened to an agent's memory",
      .words_min = 1, .words_max = 1, .run = loci_cli_verb },
    { .name = "diff",    .usage = "AGENT --from TIME [--to TIME]",
      .help = "compare an agent's memory at two times",
      .options = diff_options, .words_min = 1, .words_max = 1, .run = loci_cli_verb },
    { .name = "undo",    .usage = "AGENT --to TIME [--shared] [--dry-run]",
      .help = "bring an agent's memory back to how it was",
      .options = undo_options, .words_min = 1, .words_max = 1, .run = loci_cli_verb },
    { .name = "export",  .usage = "[--agent AGENT] FILE",
      .help = "write everything, history included, to a file of JSON lines",
      .options = export_options, .words_min = 1, .words_max = 1, .run = loci_cli_verb },
    { .name = "import",  .usage = "FILE", .help = "bring an exported file in; twice changes nothing",
      .words_min = 1, .words_max = 1, .run = loci_cli_verb },
    { .name = "backup",  .usage = "FILE", .help = "copy the whole store into one file, while it is in use",
      .options = backup_options, .words_min = 1, .words_max = 1, .run = loci_cli_backup },
    { .name = "restore", .usage = "FILE", .help = "make the store from a backup or an export",
      .options = restore_options, .words_min = 1, .words_max = 1, .run = loci_cli_restore },
    { .name = "doctor",  .usage = "[--fix]", .help = "examine the store; exits with 1 when something is wrong",
      .options = doctor_options, .run = loci_cli_verb },
    { .name = "org",     .usage = "create NAME | list", .help = "make or list organizations",
      .details = org_details, .words_min = 1, .words_max = 2, .run = loci_cli_run_org },
    { .name = "key",     .usage = "create NAME --role ROLE | list | revoke ID", .help = "make, list or revoke API keys",
      .details = key_details, .options = key_options, .words_min = 1, .words_max = 2,
      .run = loci_cli_run_key },
    { .name = "config",  .usage = "", .help = "show every setting, its value and where it came from",
      .details = config_details, .run = loci_cli_config },
    { .name = "version", .usage = "", .help = "print the version", .no_config = true,
      .run = loci_cli_version },
    { .name = "help",    .usage = "[COMMAND]", .help = "explain a command, or list them",
      .words_max = 1, .no_config = true, .run = loci_cli_help },
    { .name = "docs",    .usage = "configuration|operations|manual|bash|zsh|fish",
      .help = "print a generated reference", .words_min = 1, .words_max = 1, .hidden = true,
      .no_config = true, .run = loci_cli_docs },
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

loci_rc loci_command_unknown(const char *name, loci_err *err)
{
    loci_suggest meant = { .wanted = loci_str_from(name) };

    for (size_t i = 0; i < LOCI_COUNT(commands); i++)
        if (!commands[i].hidden) loci_suggest_try(&meant, loci_str_from(commands[i].name));
    loci_suggest_words words = loci_suggest_text(&meant);
    return loci_fail(err, LOCI_EINVAL, "unknown command '%s'%s", name,
                     words.text[0] ? words.text : "; loci help lists them");
}
