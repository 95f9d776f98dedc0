/* Variables of the environment, and where the program's own files are by custom (the XDG Base
 * Directory rules). */
#include "base/config.h"

#include "base/fs.h"

#include <stdio.h>
#include <string.h>

void loci_config_env_name(const loci_config_key *key, char ret_name[LOCI_CONFIG_NAME_MAX])
{
    (void)snprintf(ret_name, LOCI_CONFIG_NAME_MAX, "LOCI_%s", key->name);
    for (char *c = ret_name; *c; c++) {
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
        if (*c == '-' || *c == '.') *c = '_';
    }
}

loci_str loci_config_env(char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; env && *env; env++)
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=' && (*env)[len + 1])
            return loci_str_from(*env + len + 1);
    return (loci_str){ NULL, 0 };
}

typedef struct custom {
    const char *variable;
    loci_str below_home, rest;
    const char *advice; /* how to do without */
} custom;

static loci_rc find_place(loci_arena *arena, char *const *env, const custom *c, loci_str *ret_path,
                          loci_err *err)
{
    loci_str folder = loci_config_env(env, c->variable);

    if (folder.len == 0 || folder.ptr[0] != '/') {
        loci_str home = loci_config_env(env, "HOME");
        if (home.len == 0)
            return loci_fail(err, LOCI_ENOTFOUND, "neither %s nor HOME is set: %s", c->variable,
                             c->advice);
        folder = loci_fs_join(arena, home, c->below_home);
        if (!folder.ptr) return loci_arena_fail(arena, err);
    }
    loci_str path = loci_fs_join(arena, folder, c->rest);
    if (!path.ptr) return loci_arena_fail(arena, err);
    *ret_path = path;
    return LOCI_OK;
}

loci_rc loci_config_file_path(loci_arena *arena, char *const *env, loci_str *ret_path,
                              loci_err *err)
{
    const custom c = { "XDG_CONFIG_HOME", LOCI_STR(".config"), LOCI_STR("loci/config"),
                       "name the file with --config" };
    return find_place(arena, env, &c, ret_path, err);
}

loci_rc loci_config_store_path(loci_arena *arena, char *const *env, loci_str *ret_path,
                               loci_err *err)
{
    const custom c = { "XDG_DATA_HOME", LOCI_STR(".local/share"), LOCI_STR("loci/loci.db"),
                       "say where the store is with --db" };
    return find_place(arena, env, &c, ret_path, err);
}
