#include "base/config.h"

#include "base/alloc.h"
#include "base/config_value.h"
#include "base/fs.h"
#include "base/suggest.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { MEMORY = 4 << 20, SHOWN_BYTES = 48 };

/* The order is the rule: a later one wins. */
typedef enum source { FROM_PRESET, FROM_FILE, FROM_FOREIGN, FROM_ENV, FROM_FLAG } source;

typedef struct value {
    source from;
    loci_str text; /* what the getter lends; for a list with what was added */
    const char *origin;
    loci_config_number number;
    size_t line;    /* where the file being read set it; 0: not yet */
    loci_str added; /* LIST: from its foreign variable */
    bool foreign_counts;
} value;

struct loci_config {
    const loci_config_key *keys;
    size_t count;
    value *values;
    loci_arena *arena;
    loci_str home;      /* ptr is NULL without one */
    loci_str file_path; /* the usual place; ptr is NULL without one */
};

/* Where a value comes from, for set(). */
typedef struct place {
    source from;
    const char *origin;
} place;

/* A text as messages show it: not too long, and cut between characters. */
static loci_str shown(loci_str text)
{
    return loci_utf8_cut(text, SHOWN_BYTES);
}

static loci_rc bad_value(const loci_config_key *key, loci_str text, const char *origin,
                         loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf allowed;
    loci_buf_init(&allowed, 1024);

    loci_config_value_allowed(key, &allowed);
    text = shown(text);
    if (key->secret)
        return loci_fail(err, LOCI_EINVAL, "%.100s: %s must be %s", origin, key->name,
                         loci_buf_str(&allowed).ptr);
    return loci_fail(err, LOCI_EINVAL, "%.100s: %s = '%.*s': must be %s", origin, key->name,
                     LOCI_ARG(text), loci_buf_str(&allowed).ptr);
}

/* What no value may be, whatever its kind. The value is not shown: it may be a secret. */
static loci_rc check_text(const loci_config_key *key, loci_str text, const char *origin,
                          loci_err *err)
{
    if (text.len > LOCI_CONFIG_VALUE_MAX)
        return loci_fail(err, LOCI_ELIMIT, "%.100s: %s is longer than %d bytes", origin, key->name,
                         LOCI_CONFIG_VALUE_MAX);
    if (!loci_utf8_valid(text))
        return loci_fail(err, LOCI_EINVAL, "%.100s: %s is not UTF-8", origin, key->name);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7F)
            return loci_fail(err, LOCI_EINVAL,
                             "%.100s: %s has a control character (a line break?) at offset %zu",
                             origin, key->name, i);
    return LOCI_OK;
}

/* A copy of the text that the config keeps; "~/" in a path becomes the home folder. */
static loci_rc keep_text(loci_config *config, const loci_config_key *key, loci_str text,
                         loci_str *ret_text, const char *origin, loci_err *err)
{
    bool below_home = key->kind == LOCI_CONFIG_PATH && loci_str_starts(text, LOCI_STR("~/"));

    if (below_home && !config->home.ptr)
        return loci_fail(err, LOCI_EINVAL, "%.100s: %s starts with ~/, but HOME is not set", origin,
                         key->name);
    loci_str kept = below_home
                        ? loci_fs_join(config->arena, config->home, loci_str_sub(text, 2, text.len))
                        : loci_arena_str(config->arena, text);
    if (!kept.ptr) return loci_arena_fail(config->arena, err);
    *ret_text = kept;
    return LOCI_OK;
}

/* Both parts of a list, which may be empty, as one. */
static loci_rc join_list(loci_config *config, loci_str a, loci_str b, loci_str *ret_text,
                         loci_err *err)
{
    const char *comma = a.len && b.len ? "," : "";
    loci_str text = loci_arena_printf(config->arena, "%.*s%s%.*s", LOCI_ARG(a), comma, LOCI_ARG(b));

    if (!text.ptr) return loci_arena_fail(config->arena, err);
    *ret_text = text;
    return LOCI_OK;
}

/* The origin that a list shows when its foreign variable added to it. */
static loci_rc join_origin(loci_config *config, const loci_config_key *key, const char *origin,
                           const char **ret_origin, loci_err *err)
{
    loci_str text = loci_arena_printf(config->arena, "%s, %s", origin, key->foreign_name);

    if (!text.ptr) return loci_arena_fail(config->arena, err);
    *ret_origin = text.ptr;
    return LOCI_OK;
}

/* Check a value and keep it, unless a higher place has set it already. Checked it is in any case:
 * a wrong line in the file is an error also when a flag outweighs it. */
static loci_rc set(loci_config *config, size_t i, loci_str text, place where, loci_err *err)
{
    const loci_config_key *key = &config->keys[i];
    loci_config_number number = { 0 };
    loci_str kept = { NULL, 0 };
    loci_str origin = loci_arena_str(config->arena, loci_str_from(where.origin));

    if (!origin.ptr) return loci_arena_fail(config->arena, err);
    loci_rc rc = check_text(key, text, where.origin, err);
    if (rc) return rc;
    if (!loci_config_value_parse(key, text, &number))
        return bad_value(key, text, where.origin, err);
    rc = keep_text(config, key, text, &kept, where.origin, err);
    value *v = &config->values[i];
    if (rc || where.from < v->from) return rc;

    if (v->added.len) {
        rc = join_list(config, kept, v->added, &kept, err);
        if (!rc) rc = join_origin(config, key, origin.ptr, &origin.ptr, err);
        if (rc) return rc;
    }
    v->from = where.from;
    v->text = kept;
    v->origin = origin.ptr;
    v->number = number;
    return LOCI_OK;
}

/* A guard that is neither true nor false is an error: taking it for false could switch off the
 * password that somebody believes in. */
static loci_rc read_guard(const loci_config_key *key, char *const *env, bool *ret_on, loci_err *err)
{
    loci_str text = key->foreign_when ? loci_config_env(env, key->foreign_when) : LOCI_STR("true");

    if (!text.ptr) return LOCI_OK; /* stays off */
    if (loci_config_value_bool(loci_str_trim(text), ret_on)) return LOCI_OK;
    text = loci_utf8_valid(text) ? shown(text) : LOCI_STR("?");
    return loci_fail(err, LOCI_EINVAL, "%s = '%.*s': must be true or false", key->foreign_when,
                     LOCI_ARG(text));
}

static loci_rc read_foreign(loci_config *config, size_t i, char *const *env, loci_err *err)
{
    const loci_config_key *key = &config->keys[i];
    value *v = &config->values[i];

    if (!key->foreign_name) return LOCI_OK;
    loci_rc rc = read_guard(key, env, &v->foreign_counts, err);
    loci_str text = loci_config_env(env, key->foreign_name);
    if (rc || !text.ptr || !v->foreign_counts) return rc;
    if (key->kind != LOCI_CONFIG_LIST)
        return set(config, i, text, (place){ FROM_FOREIGN, key->foreign_name }, err);

    rc = check_text(key, text, key->foreign_name, err);
    if (!rc) rc = keep_text(config, key, text, &v->added, key->foreign_name, err);
    if (!rc) rc = join_list(config, v->text, v->added, &v->text, err);
    v->origin = key->foreign_name;
    return rc;
}

static loci_rc read_env(loci_config *config, char *const *env, loci_err *err)
{
    char name[LOCI_CONFIG_NAME_MAX];

    for (size_t i = 0; i < config->count; i++) {
        loci_rc rc = read_foreign(config, i, env, err);
        if (rc) return rc;
        loci_config_env_name(&config->keys[i], name);
        loci_str text = loci_config_env(env, name);
        if (text.ptr) rc = set(config, i, text, (place){ FROM_ENV, name }, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

/* What later calls need of the environment. Without a home there is simply no usual place. */
static loci_rc keep_places(loci_config *config, char *const *env, loci_err *err)
{
    loci_str home = loci_config_env(env, "HOME");

    if (home.ptr) config->home = loci_arena_str(config->arena, home);
    if (home.ptr && !config->home.ptr) return loci_arena_fail(config->arena, err);
    loci_rc rc = loci_config_file_path(config->arena, env, &config->file_path, err);
    return rc == LOCI_ENOTFOUND ? LOCI_OK : rc;
}

loci_rc loci_config_new(const loci_config_key *keys, size_t count, char *const *env,
                        loci_config **ret_config, loci_err *err)
{
    LOCI_AUTO(loci_config_freep) loci_config *config = loci_zalloc(sizeof *config);
    if (!config) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    config->keys = keys;
    config->count = count;
    config->arena = loci_arena_new(MEMORY);
    if (!config->arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    config->values = loci_arena_array(config->arena, count, sizeof *config->values);
    if (!config->values) return loci_arena_fail(config->arena, err);

    loci_rc rc = keep_places(config, env, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = set(config, i, loci_str_from(keys[i].preset), (place){ FROM_PRESET, "default" }, err);
    if (!rc) rc = read_env(config, env, err);
    if (rc) return rc;
    *ret_config = LOCI_TAKE(config);
    return LOCI_OK;
}

void loci_config_free(loci_config *config)
{
    if (!config) return;
    loci_arena_free(config->arena);
    loci_free(config);
}

static size_t find_key(const loci_config *config, loci_str name)
{
    size_t i = 0;

    while (i < config->count && !loci_str_eq_name(name, loci_str_from(config->keys[i].name))) i++;
    return i;
}

/* The error for a key that does not exist, with the nearest that does. */
static loci_rc unknown_key(const loci_config *config, loci_str name, const char *origin,
                           loci_err *err)
{
    loci_suggest near = { .wanted = name };

    for (size_t i = 0; i < config->count; i++)
        loci_suggest_try(&near, loci_str_from(config->keys[i].name));
    name = shown(name);
    return loci_fail(err, LOCI_EINVAL, "%.100s: unknown key '%.*s'%s", origin, LOCI_ARG(name),
                     loci_suggest_text(&near).text);
}

/* Take the quotes off, if there are any. */
static loci_rc unquote(loci_str *text, const char *origin, loci_err *err)
{
    loci_str s = *text;

    if (s.len == 0 || (s.ptr[0] != '"' && s.ptr[0] != '\'')) return LOCI_OK;
    if (s.len == 1 || s.ptr[s.len - 1] != s.ptr[0])
        return loci_fail(err, LOCI_EINVAL, "%.100s: the quote %c is not closed", origin, s.ptr[0]);
    s = loci_str_sub(s, 1, s.len - 2);
    if (memchr(s.ptr, text->ptr[0], s.len))
        return loci_fail(err, LOCI_EINVAL, "%.100s: a quote %c inside such quotes", origin,
                         text->ptr[0]);
    *text = s;
    return LOCI_OK;
}

static loci_rc read_line(loci_config *config, loci_str line, size_t number, const char *origin,
                         loci_err *err)
{
    size_t equals = loci_str_find(line, LOCI_STR("="));
    loci_str name = loci_str_trim(loci_str_sub(line, 0, equals));

    /* The line is not shown: it may be a secret in the wrong place. */
    if (equals == line.len || name.len == 0)
        return loci_fail(err, LOCI_EINVAL, "%.100s: expected 'key = value'", origin);
    size_t i = find_key(config, name);
    if (i == config->count) return unknown_key(config, name, origin, err);
    if (config->values[i].line)
        return loci_fail(err, LOCI_EINVAL, "%.100s: %s is set already in line %zu", origin,
                         config->keys[i].name, config->values[i].line);
    config->values[i].line = number;

    loci_str text = loci_str_trim(loci_str_sub(line, equals + 1, line.len));
    loci_rc rc = unquote(&text, origin, err);
    return rc ? rc : set(config, i, text, (place){ FROM_FILE, origin }, err);
}

static loci_rc read_lines(loci_config *config, loci_str text, const char *name, loci_err *err)
{
    char origin[512];
    loci_str line;

    if (loci_str_starts(text, LOCI_STR("\xEF\xBB\xBF"))) text = loci_str_sub(text, 3, text.len);
    for (size_t number = 1; loci_str_cut(&text, '\n', &line); number++) {
        (void)snprintf(origin, sizeof origin, "%.480s:%zu", name, number);
        if (loci_utf8_check(line) != line.len)
            return loci_fail(err, LOCI_EINVAL, "%.100s: not UTF-8", origin);
        line = loci_str_trim(line);
        if (line.len == 0 || line.ptr[0] == '#') continue;
        loci_rc rc = read_line(config, line, number, origin, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

loci_rc loci_config_read_text(loci_config *config, loci_str text, const char *name, loci_err *err)
{
    if (text.len > LOCI_CONFIG_FILE_MAX)
        return loci_fail(err, LOCI_ELIMIT, "%.100s is larger than %d bytes", name,
                         LOCI_CONFIG_FILE_MAX);
    for (size_t i = 0; i < config->count; i++) config->values[i].line = 0;
    return read_lines(config, text, name, err);
}

loci_rc loci_config_read_file(loci_config *config, const char *path, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(4 * LOCI_CONFIG_FILE_MAX);
    bool usual = path == NULL;
    loci_str text;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    if (usual) path = config->file_path.ptr;
    if (!path) return LOCI_OK;
    loci_rc rc = loci_fs_read(arena, path, LOCI_CONFIG_FILE_MAX, &text, err);
    if (rc == LOCI_ENOTFOUND && usual) {
        if (err) *err = (loci_err){ 0 };
        return LOCI_OK;
    }
    if (rc) loci_err_prefix(err, "configuration file");
    return rc ? rc : loci_config_read_text(config, text, path, err);
}

loci_rc loci_config_set_flag(loci_config *config, const char *flag, loci_str text, loci_err *err)
{
    loci_str name = loci_str_from(flag);
    if (loci_str_starts(name, LOCI_STR("--"))) name = loci_str_sub(name, 2, name.len);

    size_t i = find_key(config, name);
    if (i == config->count) return unknown_key(config, name, flag, err);
    return set(config, i, text, (place){ FROM_FLAG, flag }, err);
}

/* The value of a key that must be in the table, of one of the kinds given as bits. */
static const value *get(const loci_config *config, const char *name, unsigned kinds)
{
    size_t i = find_key(config, loci_str_from(name));

    assert(i < config->count && (kinds >> config->keys[i].kind & 1));
    return &config->values[i];
}

enum {
    TEXTS = 1 << LOCI_CONFIG_STRING | 1 << LOCI_CONFIG_PATH | 1 << LOCI_CONFIG_LIST |
            1 << LOCI_CONFIG_ENUM,
    INTEGERS = 1 << LOCI_CONFIG_INT | 1 << LOCI_CONFIG_SIZE | 1 << LOCI_CONFIG_DURATION,
    ANY = 0xFFFF,
};

loci_str loci_config_text(const loci_config *config, const char *name)
{
    return get(config, name, TEXTS)->text;
}

int64_t loci_config_int(const loci_config *config, const char *name)
{
    return get(config, name, INTEGERS)->number.integer;
}

bool loci_config_bool(const loci_config *config, const char *name)
{
    return get(config, name, 1 << LOCI_CONFIG_BOOL)->number.integer != 0;
}

size_t loci_config_enum(const loci_config *config, const char *name)
{
    return (size_t)get(config, name, 1 << LOCI_CONFIG_ENUM)->number.integer;
}

double loci_config_float(const loci_config *config, const char *name)
{
    return get(config, name, 1 << LOCI_CONFIG_FLOAT)->number.real;
}

const char *loci_config_origin(const loci_config *config, const char *name)
{
    return get(config, name, ANY)->origin;
}

bool loci_config_is_set(const loci_config *config, const char *name)
{
    const value *v = get(config, name, ANY);
    return v->from != FROM_PRESET || v->added.len;
}

bool loci_config_foreign_counts(const loci_config *config, const char *name)
{
    return get(config, name, ANY)->foreign_counts;
}

/* The quotes that a value needs to be read back as it is: none, one kind, or '?' when neither kind
 * will do. */
static char quote_for(loci_str text)
{
    bool blank_ends = loci_str_trim(text).len != text.len;
    bool quoted = text.len && (text.ptr[0] == '"' || text.ptr[0] == '\'');

    if (!blank_ends && !quoted) return '\0';
    if (!memchr(text.ptr, '"', text.len)) return '"';
    return memchr(text.ptr, '\'', text.len) ? '?' : '\'';
}

/* A file's name may hold anything; here it must stay in its line. */
static void add_origin(const char *origin, loci_buf *out)
{
    loci_buf_add_cstr(out, "from ");
    for (const char *p = origin; *p; p++)
        loci_buf_add_char(out, (unsigned char)*p < 0x20 || *p == 0x7F ? '?' : *p);
    loci_buf_add_char(out, '\n');
}

static void list_secret(const char *name, const value *v, bool is_set, loci_buf *out)
{
    loci_buf_printf(out, "# %s = %s", name, is_set ? "(set), " : "(not set)\n");
    if (is_set) add_origin(v->origin, out);
}

static void list_value(const char *name, const value *v, bool is_set, loci_buf *out)
{
    char quote = quote_for(v->text);
    const char around[] = { quote, '\0' };

    if (is_set) {
        loci_buf_add_cstr(out, "# ");
        add_origin(v->origin, out);
    }
    if (quote == '?') loci_buf_add_cstr(out, "# has quotes that no file can hold: ");
    loci_buf_printf(out, "%s =%s%s%.*s%s\n", name, v->text.len ? " " : "",
                    quote == '?' ? "" : around, LOCI_ARG(v->text), quote == '?' ? "" : around);
}

void loci_config_list(const loci_config *config, loci_buf *out)
{
    for (size_t i = 0; i < config->count; i++) {
        const loci_config_key *key = &config->keys[i];
        bool is_set = loci_config_is_set(config, key->name);

        if (key->secret)
            list_secret(key->name, &config->values[i], is_set, out);
        else
            list_value(key->name, &config->values[i], is_set, out);
    }
}
