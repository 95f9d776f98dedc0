#include "db/backup.h"

#include "base/buf.h"
#include "db/copy.h"
#include "db/export.h"
#include "db/place.h"

#include <unistd.h>

/* The copy goes to a name of its own first, so that a file that came up meanwhile is not replaced.
 */
static loci_rc copy_file(loci_db *db, const char *path, bool replace, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf copy = { 0 };

    loci_buf_init(&copy, LOCI_DB_PATH + 64);
    loci_buf_printf(&copy, "%s.%ld.new", path, (long)getpid());
    loci_rc rc = loci_buf_check(&copy, err);
    if (!rc) rc = loci_copy_store(db, copy.ptr, 1, err);
    if (rc) return rc;
    rc = loci_place_file(copy.ptr, path, replace, err);
    if (rc) (void)unlink(copy.ptr);
    return rc;
}

static loci_rc export_all(loci_db *db, const char *path, const loci_backup_options *o,
                          loci_err *err)
{
    loci_export_options options = {
        .vectors = true, .keys = true, .replace = o->replace, .progress = o->progress, .arg = o->arg
    };

    return loci_export(db, path, &options, NULL, err);
}

loci_rc loci_backup(loci_db *db, const char *path, const loci_backup_options *options,
                    loci_err *err)
{
    static const loci_backup_options none = { 0 };
    const loci_backup_options *o = options ? options : &none;

    if (strcmp(path, "-") != 0) {
        loci_rc rc = loci_place_check(path, o->replace, err);
        if (rc) return rc;
    }
    if (loci_db_engine(db) == LOCI_POSTGRES) return export_all(db, path, o, err);
    if (strcmp(path, "-") == 0)
        return loci_fail(err, LOCI_EINVAL,
                         "a backup of an SQLite store cannot go to the output: name a file");
    loci_rc rc = loci_progress_tell(o->progress, o->arg, "copying", 0, 1, err);
    if (!rc) rc = copy_file(db, path, o->replace, err);
    return rc ? rc : loci_progress_tell(o->progress, o->arg, "copying", 1, 1, err);
}
