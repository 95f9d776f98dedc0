/* base/fs.h -- whole files and folders, the way everyone here needs them.
 *
 * Here:     read a file with a maximum, write one privately and atomically, make private folders,
 *           join paths.
 * Not here: anything that keeps a file open (db/, index/).
 * Owns:     nothing; results live in the caller's arena.
 * Threads:  safe from any thread.
 * Errors:   LOCI_ENOTFOUND, LOCI_EDENIED, LOCI_EINVAL (no regular file, a path that is no path),
 *           LOCI_ELIMIT (too large), LOCI_EIO. Messages name the path and the system's reason.
 */
#ifndef LOCI_BASE_FS_H
#define LOCI_BASE_FS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* The whole content of a regular file of at most `max` bytes; a NUL stands behind it. Folders,
 * devices and pipes are refused, and opening one never blocks. */
LOCI_MUST loci_rc loci_fs_read(loci_arena *arena, const char *path, size_t max, loci_str *ret_bytes,
                               loci_err *err);

/* The same for what must leave no copy behind: one block of the heap with a NUL behind its
 * *ret_len bytes, to explicit_bzero and loci_free. What a failure had read is wiped. */
LOCI_MUST loci_rc loci_fs_read_secret(const char *path, size_t max, char **ret_bytes,
                                      size_t *ret_len, loci_err *err);

/* Make or replace `path` with mode 0600. Whoever reads it sees the old content or the new, never a
 * part; on return it is on the disk. A symbolic link is replaced, not followed. On failure the old
 * file is untouched (unless it was only the last sync that failed) and nothing is left behind. The
 * folder must exist. */
LOCI_MUST loci_rc loci_fs_write_private(const char *path, loci_str bytes, loci_err *err);

/* Make the folder `path` and those above it that are missing, with mode 0700. What exists stays as
 * it is; something that is no folder is an error. */
LOCI_MUST loci_rc loci_fs_make_folders(const char *path, loci_err *err);

/* "folder/name", with one slash between; `name` alone when it is absolute or `folder` is empty. A
 * NUL stands behind it. ret.ptr is NULL when the arena is full. */
LOCI_MUST loci_str loci_fs_join(loci_arena *arena, loci_str folder, loci_str name);

/* The folder that holds `path`, as a slice of it: "/a" for "/a/b", "." for "b", "/" for "/b". */
loci_str loci_fs_folder_of(loci_str path);

#endif
