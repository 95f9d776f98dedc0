/* bench-tokens SCHEME TABLE FILE: how fast tokens are counted, in MB/s of one thread. */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "text/bpe.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 5, HOSTILE_BYTES = 1000000 };

/* The best of several rounds in MB/s; *ret_count is the number of tokens. */
static double measure(const loci_bpe *bpe, loci_str text, size_t *ret_count)
{
    double best = 0;

    for (int i = 0; i < ROUNDS; i++) {
        int64_t start = loci_clock_steady();
        if (loci_bpe_count(bpe, text, ret_count, NULL)) return 0;
        double taken = (double)(loci_clock_steady() - start + 1);
        if ((double)text.len / taken > best) best = (double)text.len / taken;
    }
    return best;
}

static void report(const loci_bpe *bpe, const char *name, loci_str text)
{
    size_t count = 0;
    double speed = measure(bpe, text, &count);

    (void)printf("loci      %-22s %9zu bytes %8zu tokens %8.1f MB/s\n", name, text.len, count,
                 speed);
}

/* The ids as well, which is what the reference gives: it has no call that only counts. */
static void report_ids(const loci_bpe *bpe, loci_str text)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new((size_t)1 << 30);
    loci_tokens tokens = { 0 };
    double best = 0;

    for (int i = 0; arena && i < ROUNDS; i++) {
        loci_arena_reset(arena);
        int64_t start = loci_clock_steady();
        if (loci_bpe_encode(bpe, text, arena, &tokens, NULL)) return;
        double speed = (double)text.len / (double)(loci_clock_steady() - start + 1);
        if (speed > best) best = speed;
    }
    (void)printf("loci      %-22s %9zu bytes %8zu tokens %8.1f MB/s\n", "ordinary text, ids",
                 text.len, tokens.count, best);
}

static void report_hostile(const loci_bpe *bpe, const char *name, const char *unit)
{
    LOCI_AUTO(loci_freep) char *text = loci_zalloc(HOSTILE_BYTES);
    if (!text) return;
    for (size_t i = 0, n = strlen(unit); i < HOSTILE_BYTES; i++) text[i] = unit[i % n];
    report(bpe, name, (loci_str){ text, HOSTILE_BYTES });
}

int main(int argc, char **argv)
{
    static char text[32 << 20];
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = NULL;
    loci_bpe_scheme scheme;
    loci_err err = { 0 };

    FILE *file = argc == 4 ? fopen(argv[3], "rb") : NULL;
    if (!file || loci_bpe_scheme_parse(loci_str_from(argv[1]), &scheme, &err) ||
        loci_bpe_open(argv[2], scheme, &bpe, &err)) {
        (void)fprintf(stderr, "usage: bench-tokens SCHEME TABLE FILE %s\n", err.msg);
        return 2;
    }
    size_t len = fread(text, 1, sizeof text, file);
    (void)fclose(file);
    report(bpe, "ordinary text", (loci_str){ text, len });
    report_ids(bpe, (loci_str){ text, len });
    report_hostile(bpe, "1 MB of 'a'", "a");
    report_hostile(bpe, "1 MB of spaces", " ");
    report_hostile(bpe, "1 MB of 'ab=-'", "ab=-");
    report_hostile(bpe, "1 MB of letters", "qzjxkvwpybfgmucldhrsnioate");
    return 0;
}
