#include "world.h"

#include "base/clock.h"
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a chain, a fork and a whole tree cost in memory, beside recursive SQL on the same store in
 * the same run. Medians, because the machine is shared. */

enum { WIDE = 100000, DEEP = 10000, ROUNDS = 101 };

enum { ALL_CTE };

static const loci_sql statements[] = {
    [ALL_CTE] = { "ii",
                  "WITH RECURSIVE t (obj, depth) AS (SELECT obj, CAST(1 AS BIGINT) FROM branch "
                  "WHERE org = ?1 AND agent = ?2 AND parent = 0 AND ended = {never} UNION ALL "
                  "SELECT b.obj, t.depth + 1 FROM t JOIN branch b ON b.org = ?1 AND b.agent = ?2 "
                  "AND b.parent = t.obj AND b.ended = {never}) SELECT obj, depth FROM t",
                  true },
};

static const loci_db_room bench_room = { .name = "bench",
                                         .statements = statements,
                                         .statement_count = LOCI_COUNT(statements) };

static void must(loci_rc rc, const loci_err *err)
{
    if (rc == LOCI_OK) return;
    (void)fprintf(stderr, "bench: %s\n", err->msg);
    exit(1);
}

static world open_durable(const char *url)
{
    static const loci_db_room *const rooms[] = { &loci_schema_room,
                                                 &loci_write_room,
                                                 &loci_catchup_room,
                                                 &loci_tree_room,
                                                 &world_room,
                                                 &bench_room,
                                                 NULL };
    loci_db_options options = { .rooms = rooms, .deadline = 120 * (int64_t)LOCI_SECOND };
    world w = { .arena = loci_arena_new(1 << 30) };
    loci_err err = { 0 };

    must(loci_db_open(url, &options, &w.db, &err), &err);
    must(loci_writer_new(w.db, &w.writer, &err), &err);
    must(loci_forest_new(w.db, NULL, &w.forest, &err), &err);
    return w;
}

typedef struct growth {
    int64_t agent, count, first, last; /* first: the number in its name */
    bool deep;
    double cpu, wall; /* microseconds per fork, without the commit */
    int64_t at_10, at_1000;
} growth;

static double cpu_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double wall_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* A wide tree is one of a hundred below each other's hundred, as a search makes them. */
static loci_rc grow(loci_change *change, void *arg, loci_err *err)
{
    growth *g = arg;
    int64_t parent = LOCI_TRUNK, above = LOCI_TRUNK;
    double start = cpu_now(), began = wall_now();
    loci_rc rc = LOCI_OK;

    for (int64_t i = 0; !rc && i < g->count; i++) {
        char node[32];
        (void)snprintf(node, sizeof node, "%c%lld", g->deep ? 'd' : 'w', (long long)(g->first + i));
        act a = { FORK, .agent = g->agent, .parent = parent, .name = node };
        rc = world_act(change, &a, err);
        g->last = a.obj;
        if (i == 9) g->at_10 = a.obj;
        if (i == 999) g->at_1000 = a.obj;
        if (i % 100 == 99) above = a.obj;
        parent = g->deep ? a.obj : above;
    }
    g->cpu = (cpu_now() - start) / (double)g->count;
    g->wall = (wall_now() - began) / (double)g->count;
    return rc;
}

static void write_growth(world *w, growth *g)
{
    loci_write_request request = { .org = ORG, .run = grow, .arg = g, .door = LOCI_STR("bench") };
    loci_err err = { 0 };

    must(loci_write(w->writer, &request, NULL, NULL, &err), &err);
}

/* The same trees by plain SQL, and statistics over them: a hundred thousand round trips would not
 * say more. Rows begin far above those that loci_write hands out. */
static void grow_by_sql(const char *url, growth *g)
{
    static const char text[] =
        "INSERT INTO branch (org, row, obj, rev, born, ended, ver, ended_ver, door, id, agent, "
        "node, parent, created_at) SELECT 1, i, i, 1, i, 9223372036854775807, 1, 0, 'bench', "
        "'branch-' || i, %lld, '%c' || i, CASE WHEN i <= %lld THEN 0 ELSE %s END, i "
        "FROM generate_series(%lld, %lld) i";
    int64_t start = g->deep ? 1000000 : 2000000;
    char sql[600];

    g->at_10 = start + 10;
    g->at_1000 = start + 1000;
    g->last = start + g->count;
    (void)snprintf(sql, sizeof sql, text, (long long)g->agent, g->deep ? 'd' : 'w',
                   (long long)(g->deep ? start + 1 : start + 100),
                   g->deep ? "i - 1" : "i - 1 - (i - 1) % 100", (long long)start + 1,
                   (long long)g->last);
    if (!pg_run(url, sql) || !pg_run(url, "ANALYZE")) exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

/* Microseconds: from memory, with the check for news, by SQL. */
static void chain_costs(world *w, int64_t agent, int64_t branch, const char *name)
{
    double memory[ROUNDS], fresh[ROUNDS], sql[ROUNDS];
    LOCI_AUTO(loci_view_endp) loci_view *view = world_view(w);
    size_t rounds = ROUNDS, sql_rounds = 11;
    loci_chain chain;
    loci_err err = { 0 };

    for (size_t i = 0; i < rounds; i++) {
        loci_arena_reset(w->arena);
        double start = wall_now();
        must(loci_view_chain(view, agent, branch, w->arena, &chain, &err), &err);
        memory[i] = wall_now() - start;
        loci_arena_reset(w->arena);
        start = wall_now();
        (void)world_chain(w, agent, branch);
        fresh[i] = wall_now() - start;
    }
    for (size_t i = 0; i < sql_rounds; i++) {
        LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
        loci_arena_reset(w->arena);
        double start = wall_now();
        must(loci_branch_chain_at(tx, ORG, agent, branch, LOCI_NEVER, w->arena, &chain, &err),
             &err);
        sql[i] = wall_now() - start;
    }
    double m = median(memory, rounds), f = median(fresh, rounds), s = median(sql, sql_rounds);
    (void)printf("  chain of %-6s  memory %8.2f us   with check %8.1f us   recursive SQL %10.1f us"
                 "   %8.0f x\n",
                 name, m, f, s, s / m);
}

static void fork_costs(world *w, const growth *g)
{
    enum { FORKS = 200 };
    double took[FORKS];

    for (int i = 0; i < FORKS; i++) {
        char node[32];
        (void)snprintf(node, sizeof node, "f%d", i);
        double start = wall_now();
        (void)world_do(w, (act){ FORK, .agent = g->agent, .name = node });
        took[i] = wall_now() - start;
    }
    (void)printf("  fork             CPU %8.1f us      in a transaction %8.1f us   durable, alone "
                 "%8.1f us\n",
                 g->cpu, g->wall, median(took, FORKS));
}

static double read_all_by_sql(world *w, int64_t agent, int64_t *ret_count)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = world_read(w);
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    double start = wall_now();
    loci_err err = { 0 };
    loci_rc rc;

    must(loci_stmt_begin(tx, &bench_room, ALL_CTE, &q, &err), &err);
    loci_stmt_bind_i64(q, 1, ORG);
    loci_stmt_bind_i64(q, 2, agent);
    *ret_count = 0;
    while ((rc = loci_stmt_next(q, &err)) == LOCI_OK) ++*ret_count;
    must(rc == LOCI_DONE ? LOCI_OK : rc, &err);
    return wall_now() - start;
}

static void load_costs(world *w, int64_t agent)
{
    enum { LOADS = 5 };
    double memory[LOADS], sql[LOADS];
    size_t bytes = 0;
    int64_t count = 0;
    loci_err err = { 0 };

    for (int i = 0; i < LOADS; i++) {
        LOCI_AUTO(loci_forest_freep) loci_forest *forest = NULL;
        LOCI_AUTO(loci_view_endp) loci_view *view = NULL;
        must(loci_forest_new(w->db, NULL, &forest, &err), &err);
        double start = wall_now();
        must(loci_forest_view(forest, ORG, LOCI_FRESH, &view, &err), &err);
        memory[i] = wall_now() - start;
        bytes = loci_forest_count(forest).bytes;
        loci_view_endp(&view);
        sql[i] = read_all_by_sql(w, agent, &count);
    }
    double m = median(memory, LOADS), s = median(sql, LOADS);
    (void)printf("  load of %lld      %8.1f ms, %.1f MB   one recursive SQL over them %8.1f ms\n",
                 (long long)count, m / 1e3, (double)bytes / 1e6, s / 1e3);
}

static void run(const char *name, const char *url, bool postgres)
{
    world w = open_durable(url);
    growth deep = { .count = DEEP, .deep = true }, wide = { .count = WIDE }, more;

    (void)printf("%s\n", name);
    deep.agent = world_do(&w, (act){ CREATE, .name = "deep" });
    wide.agent = world_do(&w, (act){ CREATE, .name = "wide" });
    more = (growth){ .agent = wide.agent, .count = 1000, .first = -1000 };
    if (postgres) {
        grow_by_sql(url, &deep);
        grow_by_sql(url, &wide);
    } else {
        write_growth(&w, &deep);
        write_growth(&w, &wide);
    }
    chain_costs(&w, deep.agent, deep.at_10, "10");
    chain_costs(&w, deep.agent, deep.at_1000, "1,000");
    chain_costs(&w, deep.agent, deep.last, "10,000");
    load_costs(&w, wide.agent);
    write_growth(&w, &more);
    fork_costs(&w, &more);
    world_close(&w);
}

int main(void)
{
    char folder[] = "loci-bench-XXXXXX", path[64];
    char *url = pg_start(true) ? pg_new_database() : NULL;

    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder)) return 1;
    (void)snprintf(path, sizeof path, "%s/loci.db", folder);
    run("SQLite", path, false);
    if (url) run("PostgreSQL", url, true);
    static const char *const ends[] = { "", "-wal", "-shm" };
    for (size_t i = 0; i < LOCI_COUNT(ends); i++) {
        char file[96];
        (void)snprintf(file, sizeof file, "%s%s", path, ends[i]);
        (void)unlink(file);
    }
    return rmdir(folder) == 0 ? 0 : 1;
}
