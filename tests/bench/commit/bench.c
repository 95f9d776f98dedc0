#include "base/clock.h"
#include "base/id.h"
#include "db/stmt.h"
#include "memory.h"
#include "pg.h"
#include "raw.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Durable single-row writes per second through loci_write, beside the disk's sync rate and a plain
 * group commit of the same rows into the same tables. Slices of all candidates are interleaved, and
 * the ratios are medians of each round's own, because a shared disk changes its mind from second to
 * second. Batches are what one thread can do that always has as many writes at hand; handed is the
 * plain group commit: as many threads hand their writes to one, who commits whatever has come. The
 * goal is 0.70 of it. */

enum { ROUNDS = 25 };

static const unsigned writers[] = { 1, 8, 32 };

/* Of one slice: writes per second, and what each cost this process. */
typedef struct slice {
    double rate, cpu;
} slice;

typedef struct figures {
    double sync[ROUNDS];
    slice batch[3][ROUNDS], raw[3][ROUNDS], loci[3][ROUNDS];
} figures;

static double cpu_now(void)
{
    struct rusage r;

    (void)getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * LOCI_SECOND +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

typedef struct job {
    memory *m;
    int64_t end, rows;
} job;

static void *write_until(void *arg)
{
    static char text[RAW_TEXT + 1];
    job *j = arg;

    memset(text, 'm', RAW_TEXT);
    while (loci_clock_steady() < j->end) {
        loci_id id;
        loci_err err = { 0 };
        if (loci_id_make("passage", &id, &err)) return NULL;
        passage p = { .id = id.text, .text = text };
        if (memory_write(j->m, &p, NULL, &err)) {
            (void)fprintf(stderr, "bench: %s\n", err.msg);
            return NULL;
        }
        j->rows++;
    }
    return NULL;
}

static double loci_rate(memory *m, unsigned count, int64_t microseconds)
{
    pthread_t threads[64];
    job jobs[64];
    int64_t start = loci_clock_steady(), rows = 0;

    for (unsigned i = 0; i < count; i++) {
        jobs[i] = (job){ .m = m, .end = start + microseconds };
        if (pthread_create(&threads[i], NULL, write_until, &jobs[i]) != 0) return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
        rows += jobs[i].rows;
    }
    return (double)rows * LOCI_SECOND / (double)(loci_clock_steady() - start);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const double *values, int rounds)
{
    double sorted[ROUNDS];

    memcpy(sorted, values, sizeof(double) * (size_t)rounds);
    qsort(sorted, (size_t)rounds, sizeof(double), by_value);
    return sorted[rounds / 2];
}

static double median_rate(const slice *slices, int rounds)
{
    double rates[ROUNDS] = { 0 };

    for (int i = 0; i < rounds; i++) rates[i] = slices[i].rate;
    return median(rates, rounds);
}

static double median_cpu(const slice *slices, int rounds)
{
    double cpu[ROUNDS] = { 0 };

    for (int i = 0; i < rounds; i++) cpu[i] = slices[i].cpu;
    return median(cpu, rounds);
}

/* The median of the rounds' own ratios: both sides of each met the same disk. */
static double median_ratio(const slice *a, const slice *b, int rounds)
{
    double ratio[ROUNDS] = { 0 };

    for (int i = 0; i < rounds; i++) ratio[i] = a[i].rate / b[i].rate;
    return median(ratio, rounds);
}

static void show(const char *engine, const figures *f, int rounds)
{
    (void)printf("%s\n  4 kB overwrite + fdatasync: %.0f per second\n", engine,
                 median(f->sync, rounds));
    (void)printf("           writes per second                         CPU us per write\n"
                 "  writers    batches     handed  loci_write  of handed     handed  loci_write\n");
    for (size_t i = 0; i < LOCI_COUNT(writers); i++)
        (void)printf("  %7u  %9.0f  %9.0f  %10.0f  %9.2f  %9.1f  %10.1f\n", writers[i],
                     median_rate(f->batch[i], rounds), median_rate(f->raw[i], rounds),
                     median_rate(f->loci[i], rounds), median_ratio(f->loci[i], f->raw[i], rounds),
                     median_cpu(f->raw[i], rounds), median_cpu(f->loci[i], rounds));
}

/* One store for loci, one with the same tables for the limit. */
typedef struct pair {
    memory m;
    const char *raw;
    double (*rate)(const char *, unsigned, bool, int64_t);
    int64_t microseconds;
} pair;

typedef enum candidate { BATCH, HANDED, LOCI } candidate;

static slice run_slice(pair *p, candidate who, unsigned count)
{
    double before = cpu_now();
    int64_t start = loci_clock_steady();
    slice s = { .rate = who == LOCI ? loci_rate(&p->m, count, p->microseconds)
                                    : p->rate(p->raw, count, who == BATCH, p->microseconds) };
    double rows = s.rate * (double)(loci_clock_steady() - start) / LOCI_SECOND;

    s.cpu = (cpu_now() - before) / (rows > 1 ? rows : 1);
    return s;
}

static void bench(const char *engine, const char *url, const char *raw, const char *folder,
                  int64_t microseconds, int rounds)
{
    static figures f;
    memory tables = memory_open(raw);
    pair p = { .m = memory_open(url), .raw = raw, .microseconds = microseconds };
    bool file = loci_db_engine(p.m.db) == LOCI_SQLITE;

    memory_close(&tables);
    p.rate = file ? raw_sqlite_rate : raw_postgres_rate;
    for (int r = 0; r < rounds; r++) {
        f.sync[r] = raw_sync_rate(folder, microseconds);
        for (size_t i = 0; i < LOCI_COUNT(writers); i++) {
            /* Who comes first changes, so that a trend favours nobody. */
            if (r % 2) f.loci[i][r] = run_slice(&p, LOCI, writers[i]);
            f.raw[i][r] = run_slice(&p, HANDED, writers[i]);
            if (r % 2 == 0) f.loci[i][r] = run_slice(&p, LOCI, writers[i]);
            f.batch[i][r] = run_slice(&p, BATCH, writers[i]);
        }
    }
    memory_close(&p.m);
    show(engine, &f, rounds);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/loci-bench-XXXXXX", url[64], raw[64], command[64];
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;
    int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
    int64_t microseconds = (int64_t)(seconds * LOCI_SECOND);

    if (rounds < 1 || rounds > ROUNDS || microseconds < LOCI_MS || !mkdtemp(folder)) return 1;
    (void)snprintf(url, sizeof url, "%s/loci.db", folder);
    (void)snprintf(raw, sizeof raw, "%s/raw.db", folder);
    bench("SQLite", url, raw, folder, microseconds, rounds);
    if (pg_start(true)) {
        char *one = pg_new_database(), *two = pg_new_database();
        if (one && two) bench("PostgreSQL", one, two, folder, microseconds, rounds);
    } else {
        (void)printf("PostgreSQL: not installed, skipped\n");
    }
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}
