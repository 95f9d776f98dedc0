/* The reference page, made from the table that parses the settings, so that it cannot be wrong. */
#include "base/config.h"

#include "base/config_value.h"

static const char intro[] =
    "# Configuration\n"
    "\n"
    "This page is generated from the table that reads the settings.\n"
    "\n"
    "Lowest to highest: the default, the configuration file, the environment, flags. The file is\n"
    "`$XDG_CONFIG_HOME/loci/config`, else `~/.config/loci/config`, or the one named by\n"
    "`--config FILE`. It has lines `key = value`. A line that starts with `#` is a comment; `#`\n"
    "elsewhere belongs to the value. Quotes around a value keep blanks at its ends. An unknown "
    "key\n"
    "is an error. Key `k` is also the variable `LOCI_K` (upper case, `-` and `.` as `_`); an "
    "empty\n"
    "variable counts as not set.\n"
    "\n"
    "Sizes are bytes or end in KiB, MiB or GiB. Durations end in ms, s, m or h; a bare number is\n"
    "seconds. Lists are separated by commas.\n"
    "\n"
    "| key | default | environment | what |\n"
    "|---|---|---|---|\n";

static void add_environment(const loci_config_key *key, loci_buf *out)
{
    char name[LOCI_CONFIG_NAME_MAX];

    loci_config_env_name(key, name);
    loci_buf_printf(out, "`%s`", name);
    if (!key->foreign_name) return;
    loci_buf_printf(out, "; `%s`", key->foreign_name);
    if (key->kind == LOCI_CONFIG_LIST) loci_buf_add_cstr(out, " adds to it");
    if (key->foreign_when) loci_buf_printf(out, " when `%s` is true", key->foreign_when);
}

/* Texts need no word about what is allowed; numbers and choices do. */
static void add_row(const loci_config_key *key, loci_buf *out)
{
    bool text = key->kind == LOCI_CONFIG_STRING || key->kind == LOCI_CONFIG_PATH;

    loci_buf_printf(out, "| `%s` | ", key->name);
    loci_buf_printf(out, key->preset[0] ? "`%s` | " : "none%s | ", key->preset);
    add_environment(key, out);
    loci_buf_printf(out, " | %s", key->help);
    if (!text) {
        loci_buf_add_cstr(out, ": ");
        loci_config_value_allowed(key, out);
    }
    if (key->secret) loci_buf_add_cstr(out, ". Never shown");
    loci_buf_add_cstr(out, ". |\n");
}

void loci_config_docs(const loci_config_key *keys, size_t count, loci_buf *out)
{
    loci_buf_add_cstr(out, intro);
    for (size_t i = 0; i < count; i++) add_row(&keys[i], out);
}
