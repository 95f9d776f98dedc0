#include "base/alloc.h"
#include "base/zone.h"
#include "test.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static loci_arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = loci_arena_new(4 << 20);
    return arena ? 0 : -1;
}

static int drop_arena(void **state)
{
    (void)state;
    loci_arena_free(arena);
    loci_zone_forget();
    return 0;
}

/* A TZif file built up piece by piece. */
typedef struct file {
    char bytes[2000];
    size_t len;
} file;

static void put(file *f, const void *bytes, size_t len)
{
    memcpy(f->bytes + f->len, bytes, len);
    f->len += len;
}

static void put_number(file *f, int64_t n, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        char byte = (char)((uint64_t)n >> 8 * (width - 1 - i) & 0xFF);
        put(f, &byte, 1);
    }
}

enum { TIMES = 2, TYPES = 3 };

/* LMT +00:53:28 until 1893, then CET, from 2024-03-31 CEST. */
static void put_block(file *f, char version, size_t width)
{
    static const int64_t times[TIMES] = { -2100000000, 1711846800 };
    static const char header[15] = { 0 };

    put(f, "TZif", 4);
    put(f, &version, 1);
    put(f, header, sizeof header);
    put_number(f, 0, 4);
    put_number(f, 0, 4);
    put_number(f, 0, 4);
    put_number(f, TIMES, 4);
    put_number(f, TYPES, 4);
    put_number(f, 13, 4);
    for (size_t i = 0; i < TIMES; i++) put_number(f, times[i], width);
    put(f, "\1\2", 2);
    put_number(f, 3208, 4), put(f, "\0\0", 2);
    put_number(f, 3600, 4), put(f, "\0\4", 2);
    put_number(f, 7200, 4), put(f, "\1\10", 2);
    put(f, "LMT\0CET\0CEST\0", 13);
}

static file make_file(const char *footer)
{
    file f = { .len = 0 };

    put_block(&f, footer ? '2' : '\0', 4);
    if (!footer) return f;
    put_block(&f, '2', 8);
    put(&f, footer, strlen(footer));
    return f;
}

static loci_rc parse(const file *f, const loci_zone **ret_zone)
{
    loci_err err = { 0 };
    loci_rc rc =
        loci_zone_parse(arena, LOCI_STR("Test"), (loci_str){ f->bytes, f->len }, ret_zone, &err);
    assert_int_equal(rc, err.code);
    return rc;
}

static void reads_transitions_and_rule(void **state)
{
    static const struct {
        const char *footer;
        int64_t at;
        int32_t offset;
        const char *abbreviation;
    } cases[] = {
        { NULL, -3000000000, 3208, "LMT" },
        { NULL, -2100000001, 3208, "LMT" },
        { NULL, -2100000000, 3600, "CET" },
        { NULL, 1711846799, 3600, "CET" },
        { NULL, 1711846800, 7200, "CEST" },
        { NULL, 4000000000, 7200, "CEST" }, /* no rule: the last goes on */
        { "\n\n", 4000000000, 7200, "CEST" },
        { "\nCET-1\n", 4000000000, 3600, "CET" },
        { "\n<+03>-3\n", 4000000000, 10800, "+03" },
        { "\nCET-1CEST,M3.5.0,M10.5.0/3\n", 2531955600 - 1, 3600, "CET" }, /* 2050-03-27 */
        { "\nCET-1CEST,M3.5.0,M10.5.0/3\n", 2531955600 + 3600, 7200, "CEST" },
        { "\nXXX3EDT4,0/0,J365/23\n", 4000000000, -14400, "EDT" }, /* summer all year */
        { "\nXXX3EDT4,0/0,J365/23\n", 4070919600 - 1, -14400, "EDT" },
        { "\nXXX3EDT4,0/0,J365/23\n", 4070919600, -14400, "EDT" },
        { "\nA0B,J60/0,J61/0\n", 1835395200, 0, "A" }, /* 2028-02-29, which J skips */
        { "\nA0B,J60/0,J61/0\n", 1835395200 + 86400, 3600, "B" },
        { "\nA0B,59/0,60/0\n", 1835395200, 3600, "B" }, /* counted from 0, leap day and all */
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        const loci_zone *zone = NULL;
        file f = make_file(cases[i].footer);

        assert_int_equal(parse(&f, &zone), LOCI_OK);
        loci_zone_span span = loci_zone_at(zone, cases[i].at);
        assert_string_equal(span.abbreviation, cases[i].abbreviation);
        assert_int_equal(span.offset, cases[i].offset);
        assert_string_equal(loci_zone_name(zone), "Test");
    }
}

static void refuses_damaged_rules(void **state)
{
    static const char *const footers[] = {
        "",
        "\n",
        "CET-1\n",
        "\nCET-1",
        "\nCET\n",
        "\n-1\n",
        "\nCET-25\n",
        "\nCET-24\n",
        "\nCET-1CEST\n",
        "\nCET-1CEST,M3.5.0\n",
        "\nCET-1CEST,M13.5.0,M10.5.0\n",
        "\nCET-1CEST,M0.5.0,M10.5.0\n",
        "\nCET-1CEST,M3.6.0,M10.5.0\n",
        "\nCET-1CEST,M3.0.0,M10.5.0\n",
        "\nCET-1CEST,M3.5.7,M10.5.0\n",
        "\nCET-1CEST,J0,J5\n",
        "\nCET-1CEST,J366,J5\n",
        "\nCET-1CEST,366,5\n",
        "\nCET-1CEST,M3.5.0/168,M10.5.0\n",
        "\nCET-1CEST,M3.5.0,M10.5.0 \n",
        "\nCET-1:60\n",
        "\n<CET-1\n",
        "\n<>-1\n",
        "\nABCDEFGHIJK-1\n",
        "\n<A B>-1\n",
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(footers); i++) {
        const loci_zone *zone = NULL;
        file f = make_file(footers[i]);

        if (parse(&f, &zone) != LOCI_ECORRUPT) fail_msg("accepted: %s", footers[i]);
        assert_null(zone);
    }
}

/* Every shorter file is refused, and no single changed byte does harm (ASan looks on). */
static void bears_damaged_files(void **state)
{
    file good = make_file("\nCET-1CEST,M3.5.0,M10.5.0/3\n");
    size_t refused = 0;
    (void)state;

    for (size_t len = 0; len < good.len; len++) {
        const loci_zone *zone = NULL;
        LOCI_AUTO(loci_freep) char *exact = loci_realloc(NULL, len);
        memcpy(exact, good.bytes, len);
        assert_int_equal(
            loci_zone_parse(arena, LOCI_STR("Test"), (loci_str){ exact, len }, &zone, NULL),
            LOCI_ECORRUPT);
    }
    for (size_t i = 0; i < good.len; i++) {
        const loci_zone *zone = NULL;
        file f = good;

        loci_arena_reset(arena);
        f.bytes[i] = (char)~f.bytes[i];
        if (parse(&f, &zone))
            refused++;
        else
            (void)loci_zone_to_utc(zone, 1711846800, false);
    }
    assert_true(refused > good.len / 4);
}

static void refuses_leap_seconds(void **state)
{
    const loci_zone *zone = NULL;
    file f = make_file("\n\n");
    loci_err err = { 0 };
    (void)state;

    size_t second = (f.len - 2) - 44 - (TIMES * 9 + TYPES * 6 + 13); /* its header */
    f.bytes[second + 31] = 1;                                        /* one leap second */
    memmove(f.bytes + f.len - 2 + 12, f.bytes + f.len - 2, 2);
    memset(f.bytes + f.len - 2, 0, 12);
    f.len += 12;
    assert_int_equal(
        loci_zone_parse(arena, LOCI_STR("Test"), (loci_str){ f.bytes, f.len }, &zone, &err),
        LOCI_EINVAL);
    assert_non_null(strstr(err.msg, "leap"));
}

static void refuses_hostile_names(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {
        { "", 0 },
        { "Mars/Olympus", 12 },
        { "/etc/passwd", 11 },
        { "../../../etc/passwd", 19 },
        { "Europe/../../passwd", 19 },
        { "Europe/./Berlin", 15 },
        { "Europe//Berlin", 14 },
        { "Europe/Berlin/", 14 },
        { "/usr/share/zoneinfo/UTC", 23 },
        { "Europe", 6 },   /* a folder */
        { "zone.tab", 8 }, /* a file that is no zone */
        { "Europe/Berlin\0x", 15 },
        { "Europe/\xC3\xA4", 9 },
        { "europe berlin", 13 },
        { "utc\n", 4 },
        { "A234567890123456789012345678901234567890123456789012345678901234", 64 },
    };
    (void)state;

    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        const loci_zone *zone = NULL;
        loci_err err = { 0 };

        assert_int_equal(
            loci_zone_load(arena, (loci_str){ cases[i].bytes, cases[i].len }, &zone, &err),
            LOCI_EINVAL);
        assert_non_null(strstr(err.msg, "unknown time zone '"));
        assert_null(strchr(err.msg, '\n'));
        assert_null(zone);
    }
    const loci_zone *zone = NULL;
    assert_int_equal(loci_zone_load(arena, (loci_str){ NULL, 0 }, &zone, NULL), LOCI_EINVAL);
}

/* Another folder of zones: UTC needs no file, loops and damage are errors, the cache remembers. */
static void respects_the_folder(void **state)
{
    char folder[] = "/tmp/loci-test-zone-XXXXXX", path[100];
    const loci_zone *zone = NULL;
    loci_err err = { 0 };
    file f = make_file("\nCET-1\n");
    (void)state;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TZDIR", folder, 1), 0);
    assert_ok(loci_zone_load(arena, LOCI_STR("UTC"), &zone, &err), err);
    assert_null(zone);
    assert_string_equal(loci_zone_name(zone), "UTC");
    assert_int_equal(loci_zone_load(arena, LOCI_STR("Here"), &zone, &err), LOCI_EINVAL);

    (void)snprintf(path, sizeof path, "%s/Loop", folder);
    assert_int_equal(symlink(path, path), 0);
    assert_int_equal(loci_zone_load(arena, LOCI_STR("Loop"), &zone, &err), LOCI_EINVAL);
    assert_int_equal(unlink(path), 0);

    (void)snprintf(path, sizeof path, "%s/Here", folder);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(f.bytes, 1, f.len, out), f.len);
    assert_int_equal(fclose(out), 0);
    assert_ok(loci_zone_load(arena, LOCI_STR("Here"), &zone, &err), err);
    assert_int_equal(loci_zone_at(zone, 4000000000).offset, 3600);

    assert_int_equal(truncate(path, 100), 0);
    assert_ok(loci_zone_load(arena, LOCI_STR("Here"), &zone, &err), err); /* from the cache */
    loci_zone_forget();
    assert_int_equal(loci_zone_load(arena, LOCI_STR("Here"), &zone, &err), LOCI_ECORRUPT);
    assert_non_null(strstr(err.msg, "'Here'"));

    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(loci_zone_load(arena, LOCI_STR("Here"), &zone, &err), LOCI_EUNAVAILABLE);
    assert_non_null(strstr(err.msg, "tzdata"));
    assert_int_equal(unsetenv("TZDIR"), 0);
}

static void names_gap_and_overlap(void **state)
{
    const loci_zone *zone = NULL;
    file f = make_file("\nCET-1CEST,M3.5.0,M10.5.0/3\n");
    int64_t gap = 1711846800 + 3600;     /* local 02:00 on 2024-03-31, the first that is skipped */
    int64_t overlap = 1729990800 + 3600; /* local 02:00 on 2024-10-27, the first that comes twice */
    (void)state;

    assert_int_equal(parse(&f, &zone), LOCI_OK);
    assert_int_equal(loci_zone_to_utc(zone, gap - 1, false), 1711846799);
    assert_int_equal(loci_zone_to_utc(zone, gap, false), 1711846800);
    assert_int_equal(loci_zone_to_utc(zone, gap + 1800, false), 1711846800 + 1800);
    assert_int_equal(loci_zone_to_utc(zone, gap + 1800, true), 1711846800 - 1800);
    assert_int_equal(loci_zone_to_utc(zone, gap + 3600, false), 1711846800);
    assert_int_equal(loci_zone_to_utc(zone, overlap - 1, true), 1729990800 - 3601);
    assert_int_equal(loci_zone_to_utc(zone, overlap, false), 1729990800 - 3600);
    assert_int_equal(loci_zone_to_utc(zone, overlap, true), 1729990800);
    assert_int_equal(loci_zone_to_utc(zone, overlap + 3599, false), 1729990799);
    assert_int_equal(loci_zone_to_utc(zone, overlap + 3600, false), 1729990800 + 3600);
    assert_int_equal(loci_zone_to_utc(NULL, 5, true), 5);
}

static void *load_many(void *arg)
{
    static const char *const names[] = { "Europe/Berlin", "America/New_York", "Asia/Tokyo",
                                         "Africa/Cairo", "Etc/GMT+5" };
    LOCI_AUTO(loci_arena_freep) loci_arena *own = loci_arena_new(1 << 20);
    const loci_zone *zone;

    for (size_t i = 0; own && i < 500; i++) {
        const char *name = names[i % LOCI_COUNT(names)];
        loci_arena_reset(own);
        if (loci_zone_load(own, loci_str_from(name), &zone, NULL)) return NULL;
        if (strcmp(loci_zone_name(zone), name) != 0) return NULL;
        if (i % 100 == 99) loci_zone_forget();
    }
    return arg;
}

static void threads_share_the_cache(void **state)
{
    pthread_t threads[4];
    void *done;
    (void)state;

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, load_many, &threads), 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &done), 0);
        assert_non_null(done);
    }
}

/* Loads "Z0", "Z1" and so on from TZDIR, where they are links to one zone. */
static loci_rc load_numbered(int number)
{
    const loci_zone *zone = NULL;
    char name[16];

    loci_arena_reset(arena);
    (void)snprintf(name, sizeof name, "Z%d", number);
    loci_rc rc = loci_zone_load(arena, loci_str_from(name), &zone, NULL);
    if (!rc) assert_int_equal(loci_zone_at(zone, 0).offset, -5 * 3600);
    return rc;
}

/* One zone more than there are places: the one that was not used for longest has to go. */
static void the_cache_is_bounded(void **state)
{
    char folder[] = "/tmp/loci-test-zone-XXXXXX", path[100];
    (void)state;

    loci_zone_forget();
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("TZDIR", folder, 1), 0);
    for (int i = 0; i <= LOCI_ZONE_CACHE; i++) {
        (void)snprintf(path, sizeof path, "%s/Z%d", folder, i);
        assert_int_equal(symlink("/usr/share/zoneinfo/Etc/GMT+5", path), 0);
        if (i == LOCI_ZONE_CACHE) assert_int_equal(load_numbered(0), LOCI_OK); /* used again */
        assert_int_equal(load_numbered(i), LOCI_OK);
    }
    for (int i = 0; i <= LOCI_ZONE_CACHE; i++) {
        (void)snprintf(path, sizeof path, "%s/Z%d", folder, i);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(load_numbered(i), i == 1 ? LOCI_EINVAL : LOCI_OK);
    }
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(unsetenv("TZDIR"), 0);
}

static void bears_no_memory(void **state)
{
    loci_rc rc = LOCI_ENOMEM;
    (void)state;

    for (unsigned long n = 1; rc == LOCI_ENOMEM; n++) {
        LOCI_AUTO(loci_arena_freep) loci_arena *small = loci_arena_new(1 << 20);
        const loci_zone *zone = NULL;

        loci_zone_forget();
        (void)loci_alloc_fail_at(n);
        rc = loci_zone_load(small, LOCI_STR("Europe/Berlin"), &zone, NULL);
        (void)loci_alloc_fail_at(0);
        assert_int_equal(zone != NULL, rc == LOCI_OK);
    }
    assert_int_equal(rc, LOCI_OK);
    LOCI_AUTO(loci_arena_freep) loci_arena *full = loci_arena_new(500);
    const loci_zone *zone = NULL;
    assert_int_equal(loci_zone_load(full, LOCI_STR("Europe/Berlin"), &zone, NULL), LOCI_ELIMIT);
    assert_int_equal(loci_zone_load(full, LOCI_STR("Europe/Berlin"), &zone, NULL), LOCI_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_transitions_and_rule), cmocka_unit_test(refuses_damaged_rules),
        cmocka_unit_test(bears_damaged_files),        cmocka_unit_test(refuses_leap_seconds),
        cmocka_unit_test(refuses_hostile_names),      cmocka_unit_test(respects_the_folder),
        cmocka_unit_test(names_gap_and_overlap),      cmocka_unit_test(threads_share_the_cache),
        cmocka_unit_test(the_cache_is_bounded),       cmocka_unit_test(bears_no_memory),
    };
    return cmocka_run_group_tests_name("base/zone", tests, make_arena, drop_arena);
}
