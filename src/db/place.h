/* db/place.h -- giving a finished file its name.
 *
 * Here:     sync, rename with or without replacing, sync of the folder.
 * Not here: writing the file.
 * Owns:     nothing.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ECONFLICT when the name is taken and may not be replaced, LOCI_EIO.
 */
#ifndef LOCI_DB_PLACE_H
#define LOCI_DB_PLACE_H

#include "base/err.h"
#include "base/str.h"

/* Sync `temporary` and rename it to `path`. After a failure `temporary` is still there, unless only
 * the last sync failed. */
LOCI_MUST loci_rc loci_place_file(const char *temporary, const char *path, bool replace,
                                  loci_err *err);

/* LOCI_ECONFLICT when something is at `path`: said before the work rather than after it. */
LOCI_MUST loci_rc loci_place_check(const char *path, bool replace, loci_err *err);

#endif
