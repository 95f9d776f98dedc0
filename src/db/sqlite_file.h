/* db/sqlite_file.h -- may this file be our store?
 *
 * Here:     the folder, the file system, the header: all that is looked at before SQLite may write.
 * Not here: the connection (db/sqlite.c).
 * Owns:     nothing.
 * Threads:  safe from any thread.
 * Errors:   LOCI_EINVAL not ours or not local, LOCI_ECORRUPT cut short, LOCI_EDENIED no right. The
 *           file is only read, and only through SQLite's own descriptor: opening and closing it
 *           ourselves would drop the POSIX locks of every other connection in this process.
 */
#ifndef LOCI_DB_SQLITE_FILE_H
#define LOCI_DB_SQLITE_FILE_H

#include "base/err.h"
#include "base/str.h"

#include <sqlite3.h>

enum { LOCI_SQLITE_APP_ID = 0x6C6F6369 }; /* "loci" */

/* Before the file is opened: a usable path in a local folder, which is made if it is missing. */
LOCI_MUST loci_rc loci_sqlite_check_place(const char *path, loci_err *err);

/* After it was opened and before anything is run: the file is empty, ours, or may be taken over. */
LOCI_MUST loci_rc loci_sqlite_check_header(sqlite3 *db, const char *path, loci_err *err);

/* Whether SQLite's locks and shared memory cannot be trusted there: statfs' f_type, and for FUSE
 * the type in the mount table ("fuse.sshfs"). */
bool loci_sqlite_is_remote(uint64_t magic, loci_str mount_type);

#endif
