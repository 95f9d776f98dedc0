/* Paths of the host that a caller names: resolved first, then compared with the roots. */
#include "base/alloc.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "ops/call.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { PATH_SHOWN = 80 };

/* realpath(3) into the arena; ptr is NULL when there is no such file (or no memory: who cannot be
 * found is not let in). */
static loci_str resolve(loci_arena *arena, loci_str path)
{
    loci_str copy = loci_arena_str(arena, path);
    char *real = copy.ptr ? realpath(copy.ptr, NULL) : NULL;
    loci_str found = { NULL, 0 };

    if (real) found = loci_arena_str(arena, loci_str_from(real));
    loci_free_foreign(real);
    return found;
}

static loci_str last_part(loci_str path)
{
    size_t at = path.len;
    while (at > 0 && path.ptr[at - 1] != '/') at--;
    return loci_str_sub(path, at, path.len);
}

/* A file that is not there yet, in a folder that is. A link that points nowhere is refused: making
 * the file would follow it. */
static loci_str resolve_new(loci_arena *arena, loci_str path)
{
    loci_str nothing = { NULL, 0 }, name = last_part(path);
    struct stat st;

    if (name.len == 0 || loci_str_eq(name, LOCI_STR(".")) || loci_str_eq(name, LOCI_STR("..")))
        return nothing;
    loci_str folder = resolve(arena, loci_fs_folder_of(path));
    if (!folder.ptr) return nothing;
    loci_str whole = loci_fs_join(arena, folder, name);
    return whole.ptr && lstat(whole.ptr, &st) != 0 ? whole : nothing;
}

static bool is_below(loci_str path, loci_str root)
{
    if (!root.ptr || !loci_str_starts(path, root)) return false;
    return path.len == root.len || path.ptr[root.len] == '/' || loci_str_ends(root, LOCI_STR("/"));
}

static bool below_a_root(const loci_call *call, loci_str path)
{
    loci_str rest = call->who->file_roots, part;

    while (loci_str_cut(&rest, ':', &part))
        if (part.len && is_below(path, resolve(call->arena, part))) return true;
    return false;
}

static loci_rc refuse(loci_str path, loci_err *err)
{
    loci_str shown = loci_utf8_cut(path, PATH_SHOWN);
    return loci_fail(err, LOCI_EDENIED,
                     "'%.*s' is not in an existing folder below file_roots, the only place where "
                     "this connection may use files of the host",
                     LOCI_ARG(shown));
}

loci_rc loci_call_path(const loci_call *call, loci_str path, loci_str *ret_path, loci_err *err)
{
    if (call->who->files == LOCI_FILES_ANY) {
        loci_str copy = loci_arena_str(call->arena, path);
        if (!copy.ptr) return loci_arena_fail(call->arena, err);
        *ret_path = copy;
        return LOCI_OK;
    }
    if (call->who->files == LOCI_FILES_NONE || path.len == 0) return refuse(path, err);
    loci_str real = resolve(call->arena, path);
    if (!real.ptr) real = resolve_new(call->arena, path);
    if (!real.ptr || !below_a_root(call, real)) return refuse(path, err);
    *ret_path = real;
    return LOCI_OK;
}
