#include "embed/builtin.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#define REMEDY "run 'make setup'; until then search works on words alone"

/* Cut a path to its folder, without the last slash; false when it has none. */
static bool to_folder(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash) return false;
    *slash = 0;
    return true;
}

/* The folder of the shared library, or of the program that this is linked into. */
static bool library_folder(char *ret, size_t room)
{
    static const char here;
    Dl_info info;

    if (!dladdr(&here, &info) || !info.dli_fname) return false;
    char *real = realpath(info.dli_fname, NULL); /* NULL for a bare argv[0]; the program is next */
    bool good = real && strlen(real) < room;
    if (good) memcpy(ret, real, strlen(real) + 1);
    loci_free_foreign(real);
    return good && to_folder(ret);
}

static bool program_folder(char *ret, size_t room)
{
    ssize_t len = readlink("/proc/self/exe", ret, room - 1);
    if (len <= 0) return false;
    ret[len] = 0;
    return to_folder(ret);
}

/* Try one folder; what was tried is gathered for the message. */
static bool try_folder(const char *folder, const char *below, const char *file, loci_buf *path,
                       loci_buf *tried)
{
    loci_buf_clear(path);
    loci_buf_printf(path, "%s%s", folder, below);
    if (loci_buf_check(path, NULL)) return false;
    loci_buf_printf(tried, "%s%s", tried->len ? ", " : "", path->ptr);
    loci_buf_printf(path, "/%s", file);
    return !loci_buf_check(path, NULL) && access(path->ptr, F_OK) == 0;
}

static bool try_around(bool have, const char *folder, const char *file, loci_buf *path,
                       loci_buf *tried)
{
    static const char *const below[] = { "/models", "/../share/loci/models",
                                         "/../../share/loci/models" };
    for (size_t i = 0; have && i < LOCI_COUNT(below); i++)
        if (try_folder(folder, below[i], file, path, tried)) return true;
    return false;
}

loci_rc loci_builtin_find(const char *model_dir, const char *file, loci_buf *ret_path,
                          loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf tried;
    char library[PATH_MAX], program[PATH_MAX];

    loci_buf_init(&tried, (size_t)4 * PATH_MAX);
    if (model_dir && model_dir[0]) {
        if (try_folder(model_dir, "", file, ret_path, &tried)) return LOCI_OK;
        return loci_fail(err, LOCI_ENOTFOUND, "no model file %s in %s; " REMEDY, file, model_dir);
    }
    bool have_library = library_folder(library, sizeof library);
    bool have_program = program_folder(program, sizeof program);
    if (have_library && have_program && strcmp(library, program) == 0) have_library = false;
    if (try_around(have_library, library, file, ret_path, &tried) ||
        try_around(have_program, program, file, ret_path, &tried))
        return LOCI_OK;
    return loci_fail(err, LOCI_ENOTFOUND, "no model file %s; " REMEDY " (looked in %.*s)", file,
                     LOCI_ARG(loci_buf_str(&tried)));
}
