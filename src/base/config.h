/* base/config.h -- settings: one table of keys, four places they come from.
 *
 * Here:     reading file, environment and flags against a table; typed values; where each came
 *           from; the reference page made from the same table.
 * Not here: the command line's grammar (cli/), what the settings do.
 * Owns:     a loci_config owns the texts that its getters lend.
 * Threads:  set up by one thread; afterwards every thread may read.
 * Errors:   LOCI_EINVAL for a key or a value that is wrong, with its place and what is allowed;
 *           LOCI_ENOTFOUND for a named file that is missing; LOCI_ELIMIT, LOCI_ENOMEM and the
 *           errors of base/fs.h. A secret value is in no message and no listing.
 *
 * Lowest to highest: the table's default, the file, the environment (names of other programs before
 * our own), flags. The order of the calls does not matter.
 *
 * The file has lines `key = value`. A line that starts with # is a comment; # elsewhere belongs to
 * the value. Quotes ("..." or '...') around a value keep blanks at its ends; nothing is escaped.
 * Key k is also the variable LOCI_K: upper case, - and . as _. An empty variable counts as not set.
 */
#ifndef LOCI_BASE_CONFIG_H
#define LOCI_BASE_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    LOCI_CONFIG_FILE_MAX = 64 << 10, /* bytes of a configuration file */
    LOCI_CONFIG_VALUE_MAX = 4 << 10, /* bytes of one value */
    LOCI_CONFIG_NAME_MAX = 64,       /* bytes of a variable's name, with its NUL */
};

typedef enum loci_config_kind {
    LOCI_CONFIG_STRING,
    LOCI_CONFIG_PATH,     /* "~/" at the front becomes the home folder */
    LOCI_CONFIG_LIST,     /* texts separated by commas; foreign variables add to it */
    LOCI_CONFIG_INT,      /* -5 */
    LOCI_CONFIG_SIZE,     /* in bytes: 4096, 32KiB, 1MiB, 2GiB */
    LOCI_CONFIG_DURATION, /* in microseconds: 500ms, 30s, 5m, 1h; a bare number is seconds */
    LOCI_CONFIG_BOOL,     /* true, false, yes, no, on, off, 1, 0 */
    LOCI_CONFIG_ENUM,     /* one word of `words` */
    LOCI_CONFIG_FLOAT,    /* 0.5 */
} loci_config_kind;

/* One row. Everything is a constant. Texts (STRING, PATH, LIST) may be empty. */
typedef struct loci_config_key {
    const char *name; /* lower case, with _ and . */
    loci_config_kind kind;
    const char *preset;       /* the default, written as in a file; never NULL */
    double least, most;       /* bounds of numbers, in the kind's unit; both 0: none */
    const char *words;        /* ENUM: "error|warn|info" */
    const char *foreign_name; /* a variable of another program that is understood too, or NULL */
    const char *foreign_when; /* it counts only when this variable is true, or NULL */
    bool secret;              /* never shown */
    const char *help;         /* one sentence for the reference, without a full stop */
} loci_config_key;

/* The keys of the program (base/config_keys.c). */
extern const loci_config_key loci_config_keys[];
extern const size_t loci_config_key_count;

typedef struct loci_config loci_config;

/* All keys at their defaults. `env` is like environ ("NAME=value", NULL at the end; may be NULL)
 * and is read at once for everything that comes later. Wrong values in it are errors already here.
 */
LOCI_MUST loci_rc loci_config_new(const loci_config_key *keys, size_t count, char *const *env,
                                  loci_config **ret_config, loci_err *err);
void loci_config_free(loci_config *config); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_config_freep, loci_config, loci_config_free)

/* Read the file `path`; it must exist. NULL: the usual place, where nothing need be. */
LOCI_MUST loci_rc loci_config_read_file(loci_config *config, const char *path, loci_err *err);

/* The same from memory; `name` stands for the file in messages and origins. */
LOCI_MUST loci_rc loci_config_read_text(loci_config *config, loci_str text, const char *name,
                                        loci_err *err);

/* A flag: "--body-limit" sets the key body_limit. `flag` is kept as the origin. */
LOCI_MUST loci_rc loci_config_set_flag(loci_config *config, const char *flag, loci_str value,
                                       loci_err *err);

/* Values. Asking for a name that is not in the table, or for the wrong kind, is a bug of ours and
 * asserts. Texts have a NUL behind them and live as long as the config. */
loci_str loci_config_text(const loci_config *config,
                          const char *name); /* STRING, PATH, LIST; the word of an ENUM */
int64_t loci_config_int(const loci_config *config, const char *name); /* INT, SIZE, DURATION */
bool loci_config_bool(const loci_config *config, const char *name);
size_t loci_config_enum(const loci_config *config, const char *name); /* position in `words` */
double loci_config_float(const loci_config *config, const char *name);

/* Where the value came from: "default", "FILE:LINE", "LOCI_LISTEN", "--listen"; for a list that was
 * added to, "FILE:LINE, ACCEPTABLE_ORIGINS". */
const char *loci_config_origin(const loci_config *config, const char *name);

/* Whether somebody set it: it is not the default. */
bool loci_config_is_set(const loci_config *config, const char *name);

/* Append every key as a line `key = value`, and above it `# from ORIGIN` when somebody set it. It
 * is a file that can be read back, except for secrets, of which a comment says whether they are
 * set. */
void loci_config_list(const loci_config *config, loci_buf *out);

/* Append the reference page (Markdown). */
void loci_config_docs(const loci_config_key *keys, size_t count, loci_buf *out);

/* The variable of a key: LOCI_LISTEN for listen. */
void loci_config_env_name(const loci_config_key *key, char ret_name[LOCI_CONFIG_NAME_MAX]);

/* The value of one variable in an environ-like list; ptr is NULL when it is missing or empty. */
loci_str loci_config_env(char *const *env, const char *name);

/* The usual places: $XDG_CONFIG_HOME/loci/config and $XDG_DATA_HOME/loci/loci.db, else those below
 * $HOME. A relative XDG folder is ignored. LOCI_ENOTFOUND when neither variable is set. */
LOCI_MUST loci_rc loci_config_file_path(loci_arena *arena, char *const *env, loci_str *ret_path,
                                        loci_err *err);
LOCI_MUST loci_rc loci_config_store_path(loci_arena *arena, char *const *env, loci_str *ret_path,
                                         loci_err *err);

/* Whether the variable that lets a key's foreign variable count (foreign_when) is true. The server
 * makes up a password when this holds for "password" and none is set. */
bool loci_config_foreign_counts(const loci_config *config, const char *name);

#endif
