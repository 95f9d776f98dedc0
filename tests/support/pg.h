/* tests/support/pg.h -- a private, throw-away PostgreSQL for one test program.
 *
 * Here:     starting it at the first call, databases in it, freezing and stopping it.
 * Not here: the store that is tested (support/store.h).
 * Owns:     a temporary folder and the server in it; both are gone when the program ends, however
 * it ends: a keeper process sees the end of a pipe and cleans up. Threads:  from the main thread
 * only. Errors:   NULL or false: PostgreSQL is not installed or did not start; the test is then
 * skipped.
 *
 * It listens on a unix socket in its folder and nowhere else. Run by root, it becomes the user
 * postgres or nobody. LOCI_TEST_PG_BIN names the folder of initdb and postgres when they are not
 * where Debian puts them; LOCI_TEST_PG=0 switches it off.
 */
#ifndef LOCI_TEST_PG_H
#define LOCI_TEST_PG_H

#include <stdbool.h>
#include <sys/types.h>

/* With `durable`, fsync stays on; else it is off. What the first call says counts. */
bool pg_start(bool durable);

/* The URL of a new, empty database; the caller frees it with loci_free. NULL without a server. */
char *pg_new_database(void);

/* Run one command in the database at `url`; false when it fails. */
bool pg_run(const char *url, const char *sql);

/* The one number that a query gives; -1 when it gives none. */
int64_t pg_ask(const char *url, const char *sql);

/* Where the server's socket is. */
const char *pg_folder(void);

/* Send a signal to the server and all its processes: SIGSTOP freezes it, SIGCONT thaws it. */
void pg_signal(int signal);

/* Stop the server by SIGKILL-like means and start it again in the same folder. */
bool pg_restart(void);

void pg_stop(void);

#endif
