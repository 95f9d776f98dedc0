#include "pg.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 60 * LOCI_SECOND, PATH = 200 };

static struct {
    bool tried, running, durable;
    char bin[PATH], folder[64];
    pid_t keeper, owner;
    int pipe; /* its end tells the keeper to clean up */
    unsigned databases;
} pg;

static bool find_bin(void)
{
    static const char *const places[] = { "/usr/lib/postgresql/15/bin",
                                          "/usr/lib/postgresql/16/bin",
                                          "/usr/lib/postgresql/17/bin", "/usr/local/pgsql/bin" };
    const char *own = getenv("LOCI_TEST_PG_BIN"), *off = getenv("LOCI_TEST_PG");
    char path[PATH + 16];

    if (off && strcmp(off, "0") == 0) return false;
    for (size_t i = 0; i <= LOCI_COUNT(places); i++) {
        const char *place = i ? places[i - 1] : own;
        if (!place) continue;
        (void)snprintf(path, sizeof path, "%s/initdb", place);
        if (access(path, X_OK) != 0) continue;
        (void)snprintf(pg.bin, sizeof pg.bin, "%s", place);
        return true;
    }
    return false;
}

static const struct passwd *server_user(void)
{
    const struct passwd *user = getpwnam("postgres");

    return user ? user : getpwnam("nobody");
}

/* In a child: become the server's user, die with the parent, be silent, run. */
static void become(char *const argv[])
{
    const struct passwd *user = geteuid() == 0 ? server_user() : NULL;
    int null = open("/dev/null", O_RDWR);

    if (user && (setgroups(0, NULL) || setgid(user->pw_gid) || setuid(user->pw_uid))) _exit(126);
    (void)prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (chdir(pg.folder) != 0) _exit(126);
    (void)dup2(null, 0);
    (void)dup2(null, 1);
    if (!getenv("LOCI_TEST_PG_LOG")) (void)dup2(null, 2);
    for (int fd = 3; fd < 256; fd++) (void)close(fd);
    (void)execv(argv[0], argv);
    _exit(127);
}

static pid_t spawn(char *const argv[])
{
    pid_t child = fork();

    if (child == 0) become(argv);
    return child;
}

static bool run_initdb(void)
{
    char program[PATH + 16], data[PATH];
    char *argv[] = { program,
                     (char[]){ "-D" },
                     data,
                     (char[]){ "-U" },
                     (char[]){ "loci" },
                     (char[]){ "-A" },
                     (char[]){ "trust" },
                     (char[]){ "-E" },
                     (char[]){ "UTF8" },
                     (char[]){ "--locale=C.UTF-8" },
                     (char[]){ "-N" },
                     NULL };
    int status = 0;

    (void)snprintf(program, sizeof program, "%s/initdb", pg.bin);
    (void)snprintf(data, sizeof data, "%s/data", pg.folder);
    pid_t child = spawn(argv);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static pid_t run_postgres(void)
{
    char program[PATH + 16], data[PATH], socket[PATH];
    char *fsync = pg.durable ? (char[]){ "fsync=on" } : (char[]){ "fsync=off" };
    char *argv[] = { program,
                     (char[]){ "-D" },
                     data,
                     (char[]){ "-k" },
                     socket,
                     (char[]){ "-c" },
                     (char[]){ "listen_addresses=" },
                     (char[]){ "-c" },
                     fsync,
                     (char[]){ "-c" },
                     (char[]){ "max_connections=200" },
                     (char[]){ "-c" },
                     (char[]){ "shared_buffers=16MB" },
                     (char[]){ "-c" },
                     (char[]){ "autovacuum=off" },
                     NULL };

    (void)snprintf(program, sizeof program, "%s/postgres", pg.bin);
    (void)snprintf(data, sizeof data, "%s/data", pg.folder);
    (void)snprintf(socket, sizeof socket, "%s", pg.folder);
    return spawn(argv);
}

static void remove_tree(const char *path, int depth)
{
    DIR *dir = depth < 12 ? opendir(path) : NULL;
    struct dirent *entry;
    char below[1024];

    while (dir && (entry = readdir(dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        (void)snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR)
            remove_tree(below, depth + 1);
        else
            (void)unlink(below);
    }
    if (dir) (void)closedir(dir);
    (void)rmdir(path);
}

/* The server's own pid, which it writes at the start of postmaster.pid. */
static pid_t server_pid(void)
{
    char path[PATH + 32], text[32] = "";
    int64_t pid = 0;

    (void)snprintf(path, sizeof path, "%s/data/postmaster.pid", pg.folder);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) (void)close(fd);
    loci_str line = { text, n > 0 ? (size_t)n : 0 };
    line = loci_str_sub(line, 0, loci_str_find(line, LOCI_STR("\n")));
    return loci_str_to_i64(line, &pid) && pid > 1 ? (pid_t)pid : 0;
}

/* Lives as long as the test program: makes the cluster, runs it, and runs it again when it was
 * killed; at the end of the pipe stops it and removes the folder. */
static void keep(int pipe_end)
{
    char byte;
    pid_t server = run_initdb() ? run_postgres() : 0;

    while (server > 0 && read(pipe_end, &byte, 1) == 1) {
        (void)kill(server, SIGCONT);
        (void)kill(server, SIGQUIT);
        (void)waitpid(server, NULL, 0);
        server = run_postgres();
    }
    if (server > 0) {
        (void)kill(server, SIGCONT);
        (void)kill(server, SIGQUIT);
        (void)waitpid(server, NULL, 0);
    }
    remove_tree(pg.folder, 0);
    _exit(0);
}

static bool make_folder(void)
{
    const char *temp = getenv("TMPDIR");
    const struct passwd *user = geteuid() == 0 ? server_user() : NULL;

    (void)snprintf(pg.folder, sizeof pg.folder, "%.40s/loci-pg-XXXXXX", temp ? temp : "/tmp");
    if (!mkdtemp(pg.folder)) return false;
    return !user || chown(pg.folder, user->pw_uid, user->pw_gid) == 0;
}

static bool wait_ready(void)
{
    char url[PATH];
    int64_t end = loci_clock_steady() + PATIENCE;

    (void)snprintf(url, sizeof url, "host=%s user=loci dbname=postgres", pg.folder);
    while (loci_clock_steady() < end) {
        if (PQping(url) == PQPING_OK) return true;
        if (waitpid(pg.keeper, NULL, WNOHANG) == pg.keeper) return false;
        loci_clock_sleep(20 * LOCI_MS);
    }
    return false;
}

bool pg_start(bool durable)
{
    int ends[2];

    if (pg.tried) return pg.running;
    pg.tried = true;
    pg.durable = durable;
    if (!find_bin() || !make_folder() || pipe2(ends, O_CLOEXEC) != 0) return false;
    pg.owner = getpid();
    pg.keeper = fork();
    if (pg.keeper == 0) {
        int null = open("/dev/null", O_RDWR);
        (void)setsid();
        (void)close(ends[1]);
        (void)dup2(null, 0);
        (void)dup2(null, 1);
        if (!getenv("LOCI_TEST_PG_LOG")) (void)dup2(null, 2);
        keep(ends[0]);
    }
    (void)close(ends[0]);
    pg.pipe = ends[1];
    (void)atexit(pg_stop);
    pg.running = pg.keeper > 0 && wait_ready();
    return pg.running;
}

bool pg_run(const char *url, const char *sql)
{
    PGconn *conn = PQconnectdb(url);
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);

    PQclear(result);
    PQfinish(conn);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

int64_t pg_ask(const char *url, const char *sql)
{
    PGconn *conn = PQconnectdb(url);
    PGresult *result = PQexec(conn, sql);
    int64_t number = -1;

    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1 ||
        !loci_str_to_i64(loci_str_from(PQgetvalue(result, 0, 0)), &number))
        number = -1;
    PQclear(result);
    PQfinish(conn);
    return number;
}

const char *pg_folder(void)
{
    return pg.folder;
}

char *pg_new_database(void)
{
    char sql[64], url[PATH];
    loci_buf b;

    if (!pg_start(false)) return NULL;
    (void)snprintf(url, sizeof url, "host=%s user=loci dbname=postgres", pg.folder);
    (void)snprintf(sql, sizeof sql, "CREATE DATABASE t%u", ++pg.databases);
    if (!pg_run(url, sql)) return NULL;
    loci_buf_init(&b, 1000);
    loci_buf_printf(&b, "postgres:///t%u?host=%s&user=loci", pg.databases, pg.folder);
    return loci_buf_take(&b);
}

void pg_signal(int signal)
{
    char path[64], text[4096] = "";
    pid_t server = server_pid();

    if (!server) return;
    /* Nothing new is started meanwhile, whatever the signal is. */
    (void)kill(server, SIGSTOP);
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)server, (int)server);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) (void)close(fd);
    loci_str rest = { text, n > 0 ? (size_t)n : 0 }, part;
    int64_t child;
    while (loci_str_cut(&rest, ' ', &part))
        if (loci_str_to_i64(part, &child) && child > 1) (void)kill((pid_t)child, signal);
    (void)kill(server, signal);
}

bool pg_restart(void)
{
    pid_t old = server_pid();
    int64_t end = loci_clock_steady() + PATIENCE;

    if (write(pg.pipe, "r", 1) != 1) return false;
    while (server_pid() == old && loci_clock_steady() < end) loci_clock_sleep(10 * LOCI_MS);
    return wait_ready();
}

void pg_stop(void)
{
    if (!pg.keeper || pg.owner != getpid()) return;
    (void)close(pg.pipe);
    (void)waitpid(pg.keeper, NULL, 0);
    pg.keeper = 0;
    pg.running = false;
}
