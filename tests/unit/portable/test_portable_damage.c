/* Damaged and hostile files: an error that names the line, and nothing imported. */
#include "fill.h"

#include "base/alloc.h"
#include "db/export.h"
#include "db/import.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

static void write_file(const char *path, loci_str bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.ptr, bytes.len), (ssize_t)bytes.len);
    (void)close(fd);
}

static void read_raw(const char *path, loci_buf *ret)
{
    FILE *f = fopen(path, "rb");
    int c;

    loci_buf_init(ret, 8 << 20);
    assert_non_null(f);
    while ((c = fgetc(f)) != EOF) loci_buf_add_char(ret, (char)c);
    (void)fclose(f);
}

typedef struct target {
    const store *store;
    loci_db *db;
    loci_writer *writer;
} target;

/* The file at `path` is refused, with a line in the message, and nothing is there. */
static void assert_refused(const target *t, const char *path, const char *what)
{
    loci_import_options o = { .org = 1, .keys = true };
    loci_err err = { 0 };
    loci_rc rc = loci_import(t->db, t->writer, path, &o, NULL, &err);

    if (!rc) fail_msg("%s: was imported", what);
    if (!strstr(err.msg, "line ")) fail_msg("%s: no line in '%s'", what, err.msg);
    if (rc != LOCI_ESHAPE && rc != LOCI_ECORRUPT && rc != LOCI_ELIMIT)
        fail_msg("%s: %s: %s", what, loci_rc_name(rc), err.msg);
    if (fill_number(t->store, "SELECT ver FROM org WHERE org = 1") != 0)
        fail_msg("%s: something was written", what);
}

static void open_target(const store *s, target *t)
{
    loci_err err = { 0 };

    t->store = s;
    t->db = fill_open(s->url);
    assert_ok(loci_writer_new(t->db, &t->writer, &err), err);
}

static void close_target(target *t)
{
    loci_writer_free(t->writer);
    loci_db_close(t->db);
}

/* An export of a small store, to `name` in the test's folder. */
static void make_export(const store *s, const char *name)
{
    loci_db *db = fill_open(fill_path(s, "source.db"));
    loci_export_options o = { .org = 1, .vectors = true, .keys = true };
    loci_err err = { 0 };

    store source = { .engine = LOCI_SQLITE };
    LOCI_AUTO(loci_buf_done) loci_buf url = { 0 };

    loci_buf_init(&url, 300);
    loci_buf_add_cstr(&url, fill_path(s, "source.db"));
    source.url = url.ptr;
    if (fill_number(&source, "SELECT ver FROM org") == 0) fill_store(db, 1, 17, 60);
    assert_ok(loci_export(db, fill_path(s, name), &o, NULL, &err), err);
    loci_db_close(db);
}

static void refuses_flipped_bits(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_buf_done) loci_buf all = { 0 };
    target t = { 0 };
    char what[64];
    size_t line = 0;

    make_export(s, "a.jsonl");
    read_raw(fill_path(s, "a.jsonl"), &all);
    open_target(s, &t);
    /* One bit somewhere in every line, but the first, which only describes. */
    for (size_t i = 0, start = 0; i < all.len; i++) {
        if (all.ptr[i] != '\n') continue;
        size_t at = start + (i - start) * (line % 7 + 1) / 9;
        if (line++) {
            all.ptr[at] ^= 4;
            write_file(fill_path(s, "b.jsonl"), loci_buf_str(&all));
            (void)snprintf(what, sizeof what, "bit in line %zu", line);
            assert_refused(&t, fill_path(s, "b.jsonl"), what);
            all.ptr[at] ^= 4;
        }
        start = i + 1;
    }
    assert_true(line > 40);
    close_target(&t);
}

static void refuses_cut_files(void **state)
{
    const store *s = store_of(state);
    static const char *const names[] = { "a.jsonl", "a.jsonl.gz" };
    target t = { 0 };
    char what[64];

    open_target(s, &t);
    for (size_t k = 0; k < LOCI_COUNT(names); k++) {
        LOCI_AUTO(loci_buf_done) loci_buf all = { 0 };
        make_export(s, names[k]);
        read_raw(fill_path(s, names[k]), &all);
        for (size_t i = 0; i < 60; i++) {
            size_t len = all.len * i / 60;
            /* Half of the cuts of the plain file lie between two lines. */
            while (k == 0 && i % 2 && len && all.ptr[len - 1] != '\n') len--;
            write_file(fill_path(s, "b"), loci_str_sub(loci_buf_str(&all), 0, len));
            (void)snprintf(what, sizeof what, "%s cut at %zu", names[k], len);
            assert_refused(&t, fill_path(s, "b"), what);
        }
    }
    close_target(&t);
}

static void refuses_damaged_gzip(void **state)
{
    const store *s = store_of(state);
    LOCI_AUTO(loci_buf_done) loci_buf all = { 0 };
    target t = { 0 };
    char what[64];

    make_export(s, "a.gz");
    read_raw(fill_path(s, "a.gz"), &all);
    open_target(s, &t);
    for (size_t i = 20; i < all.len; i += all.len / 50 + 1) {
        all.ptr[i] ^= 16;
        write_file(fill_path(s, "b"), loci_buf_str(&all));
        (void)snprintf(what, sizeof what, "gzip bit at %zu", i);
        assert_refused(&t, fill_path(s, "b"), what);
        all.ptr[i] ^= 16;
    }
    /* Something behind the end of the last member. */
    loci_buf_add_cstr(&all, "trailing");
    write_file(fill_path(s, "b"), loci_buf_str(&all));
    assert_refused(&t, fill_path(s, "b"), "trailing bytes");
    close_target(&t);
}

/* clang-format off */
#define T "{\"table\":"
#define HEAD "{\"format\":\"loci-export\",\"version\":1,\"time\":1,\"store\":\"sqlite\",\"program\":\"0\"}\n"
#define ORG T "\"org\",\"id\":\"org-x\",\"name\":\"o\",\"created_at\":1}\n"
#define AGENT(id, rest) T "\"agent\",\"id\":\"" id "\"," rest "\"door\":\"rest\",\"name\":\"n\",\"agent_type\":\"t\",\"created_at\":1}\n"
#define REV1 "\"rev\":1,\"born\":5,"
#define A AGENT("agent-1", REV1)
#define BRANCH(id, node, parent) T "\"branch\",\"id\":\"" id "\"," REV1 "\"door\":\"d\",\"agent\":\"agent-1\",\"node\":\"" node "\"," parent "\"created_at\":1}\n"
#define ARCHIVE T "\"archive\",\"id\":\"archive-1\"," REV1 "\"door\":\"d\",\"name\":\"n\",\"provider\":\"p\",\"created_at\":1}\n"
#define LINK(rest) T "\"archive_link\"," REV1 rest "\"door\":\"d\",\"agent\":\"agent-1\",\"archive\":\"archive-1\",\"is_owner\":1}\n"
#define PASSAGE(rest) T "\"passage\",\"id\":\"passage-1\"," REV1 "\"door\":\"d\",\"archive\":\"archive-1\",\"kind\":\"k\",\"created_at\":1" rest "}\n"
#define END(n) "{\"end\":true,\"lines\":" n "}\n"

/* Whole small files; `line` is the one that is wrong, 0 for a good one. */
static const struct {
    const char *what, *text, *line;
} cases[] = {
    { "good", HEAD ORG A END("2"), NULL },
    { "good, with everything",
      HEAD ORG A BRANCH("branch-1", "a", "") BRANCH("branch-2", "b", "\"parent\":\"branch-1\",") ARCHIVE
          LINK("\"first\":5,") PASSAGE(",\"text\":\"x\",\"text_hash\":\"AAEC\",\"tags\":\"[\\\"a\\\"]\"") END("7"),
      NULL },
    { "empty", "", "line 1" },
    { "an empty line", "\n", "line 1" },
    { "no JSON", "hello\n", "line 1" },
    { "another format", "{\"format\":\"x\",\"version\":1}\n", "line 1" },
    { "a newer version", "{\"format\":\"loci-export\",\"version\":2}\n", "line 1" },
    { "a row first", ORG, "line 1" },
    { "no end", HEAD ORG, "line 3" },
    { "a wrong count", HEAD ORG END("7"), "line 3" },
    { "a wrong hash", HEAD ORG "{\"end\":true,\"lines\":1,\"sha256\":\"00\"}\n", "line 3" },
    { "lines behind the end", HEAD ORG END("1") ORG, "line 4" },
    { "two heads", HEAD HEAD ORG END("1"), "line 2" },
    { "no organization", HEAD A END("1"), "line 2" },
    { "an unknown table", HEAD ORG T "\"sqlite_schema\"}\n" END("2"), "line 3" },
    { "a table that is not carried", HEAD ORG T "\"version\"}\n" END("2"), "line 3" },
    { "a number for the table", HEAD ORG T "7}\n" END("2"), "line 3" },
    { "an unknown field", HEAD ORG AGENT("agent-1", REV1 "\"row\":7,") END("2"), "line 3" },
    { "a text for rev", HEAD ORG AGENT("agent-1", "\"rev\":\"1\",\"born\":5,") END("2"), "line 3" },
    { "rev 0", HEAD ORG AGENT("agent-1", "\"rev\":0,\"born\":5,") END("2"), "line 3" },
    { "a real for born", HEAD ORG AGENT("agent-1", "\"rev\":1,\"born\":5.0,") END("2"), "line 3" },
    { "no born", HEAD ORG AGENT("agent-1", "\"rev\":1,") END("2"), "line 3" },
    { "an end before the birth", HEAD ORG AGENT("agent-1", REV1 "\"ended\":4,") END("2"), "line 3" },
    { "a time in the future", HEAD ORG AGENT("agent-1", "\"rev\":1,\"born\":9223372036854775806,") END("2"), "line 3" },
    { "no id", HEAD ORG T "\"agent\"," REV1 "\"door\":\"d\"}\n" END("2"), "line 3" },
    { "an empty id", HEAD ORG AGENT("", REV1) END("2"), "line 3" },
    { "a NUL in a text", HEAD ORG AGENT("agent-1", REV1 "\"system\":\"a\\u0000b\",") END("2"), "line 3" },
    { "half a surrogate pair", HEAD ORG AGENT("agent-1", REV1 "\"system\":\"\\ud800\",") END("2"), "line 3" },
    { "bytes that are not UTF-8", HEAD ORG AGENT("agent-1", REV1 "\"system\":\"\xff\",") END("2"), "line 3" },
    { "a null", HEAD ORG AGENT("agent-1", REV1 "\"system\":null,") END("2"), "line 3" },
    { "metadata that is no JSON", HEAD ORG AGENT("agent-1", REV1 "\"metadata\":\"{\",") END("2"), "line 3" },
    { "tags that are no array", HEAD ORG AGENT("agent-1", REV1 "\"tags\":\"{}\",") END("2"), "line 3" },
    { "a tag that is no text", HEAD ORG AGENT("agent-1", REV1 "\"tags\":\"[1]\",") END("2"), "line 3" },
    { "the same revision twice", HEAD ORG A A END("3"), "line 4" },
    { "two living revisions", HEAD ORG A AGENT("agent-1", "\"rev\":2,\"born\":6,") END("3"), "line 4" },
    { "revisions that overlap", HEAD ORG AGENT("agent-1", REV1 "\"ended\":9,") AGENT("agent-1", "\"rev\":2,\"born\":8,") END("3"), "line 4" },
    { "an object that comes again", HEAD ORG AGENT("agent-1", REV1 "\"ended\":9,") AGENT("agent-2", REV1) AGENT("agent-1", "\"rev\":2,\"born\":9,") END("4"), "line 5" },
    { "tables out of order", HEAD ORG ARCHIVE A END("3"), "line 4" },
    { "a link before its agent", HEAD ORG ARCHIVE LINK("\"first\":5,") END("3"), "line 4" },
    { "a link without first", HEAD ORG A ARCHIVE LINK("") END("4"), "line 5" },
    { "a link made after its birth", HEAD ORG A ARCHIVE LINK("\"first\":6,") END("4"), "line 5" },
    { "two living links", HEAD ORG A ARCHIVE LINK("\"first\":5,") LINK("\"first\":4,") END("5"), "line 6" },
    { "first on what is no link", HEAD ORG AGENT("agent-1", REV1 "\"first\":5,") END("2"), "line 3" },
    { "a parent that is nowhere", HEAD ORG A BRANCH("branch-1", "a", "\"parent\":\"branch-9\",") END("3"), "line 4" },
    { "a parent further below", HEAD ORG A BRANCH("branch-1", "a", "\"parent\":\"branch-2\",") BRANCH("branch-2", "b", "") END("4"), "line 4" },
    { "its own parent", HEAD ORG A BRANCH("branch-1", "a", "\"parent\":\"branch-1\",") END("3"), "line 4" },
    { "one node twice", HEAD ORG A BRANCH("branch-1", "a", "") BRANCH("branch-2", "a", "") END("4"), "line 5" },
    { "a number for a parent", HEAD ORG A BRANCH("branch-1", "a", "\"parent\":0,") END("3"), "line 4" },
    { "no text", HEAD ORG ARCHIVE PASSAGE(",\"text_hash\":\"AAEC\"") END("3"), "line 4" },
    { "a hash that is no base64", HEAD ORG ARCHIVE PASSAGE(",\"text\":\"x\",\"text_hash\":\"AAE\"") END("3"), "line 4" },
    { "the same user twice", HEAD ORG T "\"users\",\"id\":\"user-1\",\"name\":\"n\",\"created_at\":1}\n" T "\"users\",\"id\":\"user-1\",\"name\":\"n\",\"created_at\":1}\n" END("3"), "line 4" },
};
/* clang-format on */

static void refuses_hostile_lines(void **state)
{
    const store *s = store_of(state);
    target t = { 0 };

    open_target(s, &t);
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_import_options o = { .org = 1 };
        loci_err err = { 0 };
        write_file(fill_path(s, "b"), loci_str_from(cases[i].text));
        if (cases[i].line) {
            loci_rc rc = loci_import(t.db, t.writer, fill_path(s, "b"), &o, NULL, &err);
            if (!rc || !strstr(err.msg, cases[i].line))
                fail_msg("%s: %s: %s", cases[i].what, loci_rc_name(rc), err.msg);
            assert_refused(&t, fill_path(s, "b"), cases[i].what);
        }
    }
    /* The good ones last: the store must have been empty all the time. */
    for (size_t i = 0; i < LOCI_COUNT(cases); i++) {
        loci_import_options o = { .org = 1 };
        loci_err err = { 0 };
        if (cases[i].line) continue;
        write_file(fill_path(s, "b"), loci_str_from(cases[i].text));
        assert_ok(loci_import(t.db, t.writer, fill_path(s, "b"), &o, NULL, &err), err);
    }
    assert_int_equal(fill_number(s, "SELECT count(*) FROM branch"), 2);
    close_target(&t);
}

/* A small file that unpacks to a line without end costs no more memory than a line may have. */
static void refuses_a_bomb(void **state)
{
    const store *s = store_of(state);
    target t = { 0 };
    static char zeros[1 << 20];

    memset(zeros, 'a', sizeof zeros);
    gzFile f = gzopen(fill_path(s, "bomb"), "wb9");
    assert_non_null(f);
    assert_true(gzputs(f, HEAD) > 0);
    for (int i = 0; i < 70; i++) assert_int_equal(gzwrite(f, zeros, sizeof zeros), sizeof zeros);
    assert_int_equal(gzclose(f), Z_OK);
    open_target(s, &t);
    assert_refused(&t, fill_path(s, "bomb"), "bomb");
    close_target(&t);
}

static void refuses_what_is_no_file(void **state)
{
    const store *s = store_of(state);
    loci_import_options o = { .org = 1 };
    loci_err err = { 0 };
    target t = { 0 };

    open_target(s, &t);
    assert_int_equal(loci_import(t.db, t.writer, s->folder, &o, NULL, &err), LOCI_EINVAL);
    assert_int_equal(loci_import(t.db, t.writer, fill_path(s, "none"), &o, NULL, &err),
                     LOCI_ENOTFOUND);
    o.org = 77;
    make_export(s, "a");
    assert_int_equal(loci_import(t.db, t.writer, fill_path(s, "a"), &o, NULL, &err),
                     LOCI_ENOTFOUND);
    close_target(&t);
}

/* Every allocation fails in turn: an error each time, and in the end the whole import. */
static void survives_failing_allocations(void **state)
{
    const store *s = store_of(state);
    loci_import_options o = { .org = 1, .keys = true };
    loci_err err = { 0 };
    target t = { 0 };
    loci_rc rc = LOCI_ENOMEM;
    unsigned long n = 1;

    make_export(s, "a.gz");
    open_target(s, &t);
    for (; rc && n < 20000; n += n < 100 ? 1 : 37) {
        (void)loci_alloc_fail_at(n);
        rc = loci_import(t.db, t.writer, fill_path(s, "a.gz"), &o, NULL, &err);
        (void)loci_alloc_fail_at(0);
        if (rc && rc != LOCI_ENOMEM) fail_msg("%lu: %s: %s", n, loci_rc_name(rc), err.msg);
    }
    assert_ok(rc, err);
    assert_true(n > 20); /* else the import allocates nothing that could fail */
    loci_export_options e = { .org = 1, .vectors = true, .keys = true, .replace = true };
    for (n = 1, rc = LOCI_ENOMEM; rc && n < 20000; n++) {
        (void)loci_alloc_fail_at(n);
        rc = loci_export(t.db, fill_path(s, "b.jsonl"), &e, NULL, &err);
        (void)loci_alloc_fail_at(0);
        if (rc && access(fill_path(s, "b.jsonl"), F_OK) == 0) fail_msg("half a file is there");
    }
    assert_ok(rc, err);
    close_target(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(refuses_flipped_bits),
        ON_BOTH(refuses_cut_files),
        ON_BOTH(refuses_damaged_gzip),
        ON_BOTH(refuses_hostile_lines),
        ON_BOTH(refuses_a_bomb),
        ON_BOTH(refuses_what_is_no_file),
        ON_SQLITE(survives_failing_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
