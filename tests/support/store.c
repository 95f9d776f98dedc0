#include "store.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "pg.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

loci_engine store_sqlite = LOCI_SQLITE, store_postgres = LOCI_POSTGRES;

static void make_folder(store *s)
{
    const char *temp = getenv("TMPDIR");

    (void)snprintf(s->folder, sizeof s->folder, "%.40s/loci-db-XXXXXX", temp ? temp : "/tmp");
    assert_non_null(mkdtemp(s->folder));
}

int store_setup(void **state)
{
    store *s = loci_zalloc(sizeof *s);

    if (!s) return -1;
    s->engine = *(loci_engine *)*state;
    make_folder(s);
    if (s->engine == LOCI_POSTGRES) {
        s->url = pg_new_database();
    } else {
        loci_buf b;
        loci_buf_init(&b, 200);
        loci_buf_printf(&b, "%s/loci.db", s->folder);
        s->url = loci_buf_take(&b);
    }
    *state = s;
    return 0;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[512];

    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.') continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path) != 0) remove_folder(path);
    }
    if (dir) (void)closedir(dir);
    (void)rmdir(folder);
}

int store_teardown(void **state)
{
    store *s = *state;

    remove_folder(s->folder);
    loci_free(s->url);
    loci_free(s);
    return 0;
}

store *store_of(void **state)
{
    store *s = *state;

    if (!s->url) skip();
    return s;
}

pid_t store_fork(int (*body)(void *), void *arg)
{
    (void)fflush(NULL);
    pid_t child = fork();

    if (child == 0) _exit(body(arg));
    assert_true(child > 0);
    return child;
}

bool store_reap(pid_t child)
{
    int status = -1;

    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
