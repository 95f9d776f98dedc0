#include "base/clock.h"
#include "base/id.h"
#include "db/stmt.h"
#include "memory.h"
#include "pg.h"
#include "raw.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Durable single-row writes per second through loci_write, beside the disk's sync rate and the same
 * group commit without loci. Slices of all candidates are interleaved and the medians of the rounds
 * are shown, because a shared disk changes its mind from second to second. */

enum { ROUNDS = 9 };

static const unsigned writers[] = { 1, 8, 32 };

typedef struct figures {
    double sync[ROUNDS], batch[3][ROUNDS], raw[3][ROUNDS], loci[3][ROUNDS];
} figures;

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

/* The median of the rounds' own ratios: both sides of each met the same disk. */
static double median_ratio(const double *a, const double *b, int rounds)
{
    double ratio[ROUNDS];

    for (int i = 0; i < rounds; i++) ratio[i] = a[i] / b[i];
    return median(ratio, rounds);
}

static void show(const char *engine, const figures *f, int rounds)
{
    double sync = median(f->sync, rounds);

    (void)printf("%s\n  4 kB overwrite + fdatasync      %8.0f per second\n", engine, sync);
    (void)printf(
        "  writers  batches of as many  handed to one writer  loci_write  of batches  of handed\n");
    for (size_t i = 0; i < LOCI_COUNT(writers); i++)
        (void)printf("  %7u  %18.0f  %20.0f  %10.0f  %10.2f  %9.2f\n", writers[i],
                     median(f->batch[i], rounds), median(f->raw[i], rounds),
                     median(f->loci[i], rounds), median_ratio(f->loci[i], f->batch[i], rounds),
                     median_ratio(f->loci[i], f->raw[i], rounds));
}

static void bench(const char *engine, const char *url, const char *raw, const char *folder,
                  int64_t slice, int rounds)
{
    static figures f;
    memory m = memory_open(url);
    double (*rate)(const char *, unsigned, bool, int64_t) =
        loci_db_engine(m.db) == LOCI_SQLITE ? raw_sqlite_rate : raw_postgres_rate;

    for (int r = 0; r < rounds; r++) {
        f.sync[r] = raw_sync_rate(folder, slice);
        for (size_t i = 0; i < LOCI_COUNT(writers); i++) {
            f.batch[i][r] = rate(raw, writers[i], true, slice);
            f.raw[i][r] = rate(raw, writers[i], false, slice);
            f.loci[i][r] = loci_rate(&m, writers[i], slice);
        }
    }
    memory_close(&m);
    show(engine, &f, rounds);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/loci-bench-XXXXXX", url[64], raw[64], command[64];
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.5;
    int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
    int64_t slice = (int64_t)(seconds * LOCI_SECOND);

    if (rounds < 1 || rounds > ROUNDS || slice < LOCI_MS || !mkdtemp(folder)) return 1;
    (void)snprintf(url, sizeof url, "%s/loci.db", folder);
    (void)snprintf(raw, sizeof raw, "%s/raw.db", folder);
    bench("SQLite", url, raw, folder, slice, rounds);
    if (pg_start(true)) {
        char *one = pg_new_database(), *two = pg_new_database();
        if (one && two) bench("PostgreSQL", one, two, folder, slice, rounds);
    } else {
        (void)printf("PostgreSQL: not installed, skipped\n");
    }
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}
