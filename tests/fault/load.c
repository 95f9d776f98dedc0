#include "load.h"

#include "base/clock.h"
#include "base/hash.h"
#include "db/stmt.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct line {
    load *load;
    memory *m;
    unsigned writer;
} line;

static loci_rc add_rows(loci_change *change, void *arg, loci_err *err)
{
    static char text[700];
    const passage *p = arg;
    loci_rc rc = LOCI_OK;

    if (!text[0]) memset(text, 'm', sizeof text - 1);
    for (int i = 0; !rc && i < LOAD_ROWS; i++) {
        char id[64];
        passage one = { .id = id, .text = text };
        (void)snprintf(id, sizeof id, "%s-%d", p->id, i);
        rc = memory_add(change, &one, err);
    }
    return rc;
}

static loci_rc write_one(const line *l, unsigned n, bool *ret_repeated, loci_err *err)
{
    char id[48];
    passage p = { .id = id };
    loci_write_request request = {
        .org = LOCI_DEFAULT_ORG, .run = add_rows, .arg = &p, .door = LOCI_STR("test")
    };

    (void)snprintf(id, sizeof id, "%u-%u-%u", l->load->round, l->writer, n);
    if (l->load->keys) {
        request.key = loci_str_from(id);
        request.input_hash = loci_str_from(id);
    }
    loci_write_result result = { 0 };
    loci_rc rc = loci_write(l->m->writer, &request, NULL, &result, err);
    *ret_repeated = result.repeated;
    return rc;
}

static void *write_line(void *arg)
{
    line *l = arg;
    load *all = l->load;

    for (unsigned n = 0; n < LOAD_EACH; n++) {
        load_outcome *o = &all->outcome[l->writer][n];
        uint8_t ack[2] = { (uint8_t)l->writer, (uint8_t)n };
        loci_err err = { 0 };
        if (all->again && o->rc == LOCI_OK) continue;
        o->rc = write_one(l, n, &o->repeated, &err);
        (void)snprintf(o->msg, sizeof o->msg, "%s", err.msg);
        if (!o->rc && all->acks >= 0 && write(all->acks, ack, sizeof ack) != sizeof ack)
            o->rc = LOCI_EIO;
        if (o->rc && !all->go_on) break;
    }
    return NULL;
}

loci_rc load_run(load *l, memory *m, loci_err *err)
{
    pthread_t threads[LOAD_WRITERS];
    line lines[LOAD_WRITERS];

    for (unsigned i = 0; !l->again && i < l->writers; i++)
        for (unsigned n = 0; n < LOAD_EACH; n++)
            l->outcome[i][n] = (load_outcome){ .rc = LOCI_DONE };
    for (unsigned i = 0; i < l->writers; i++) {
        lines[i] = (line){ .load = l, .m = m, .writer = i };
        if (pthread_create(&threads[i], NULL, write_line, &lines[i]) != 0) abort();
    }
    for (unsigned i = 0; i < l->writers; i++) (void)pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < l->writers; i++)
        for (unsigned n = 0; n < LOAD_EACH; n++) {
            const load_outcome *o = &l->outcome[i][n];
            if (o->rc && o->rc != LOCI_DONE) return loci_fail(err, o->rc, "%s", o->msg);
        }
    return LOCI_OK;
}

loci_db_options load_options(loci_durability durability)
{
    return (loci_db_options){
        .durability = durability, .checkpoint = 12, .connections = 3, .deadline = 5 * LOCI_SECOND
    };
}

void load_read_acks(load *l, int fd)
{
    uint8_t ack[2];

    while (read(fd, ack, sizeof ack) == sizeof ack)
        if (ack[0] < LOAD_WRITERS && ack[1] < LOAD_EACH) l->told[ack[0]][ack[1]] = true;
}

unsigned load_told(const load *l)
{
    unsigned n = 0;

    for (unsigned i = 0; i < LOAD_WRITERS; i++)
        for (unsigned k = 0; k < LOAD_EACH; k++) n += l->told[i][k];
    return n;
}

/* How many rows of each write are there. */
static void count_rows(const load *l, loci_db *db, unsigned rows[LOAD_WRITERS][LOAD_EACH])
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_err err = { 0 };
    loci_rc rc;

    assert_ok(loci_tx_begin(db, LOCI_TX_READ, &tx, &err), err);
    assert_ok(loci_stmt_begin(tx, &memory_room, MEMORY_IDS, &q, &err), err);
    while ((rc = loci_stmt_next(q, &err)) == LOCI_OK) {
        loci_str id = loci_stmt_text(q, 0), part;
        int64_t at[3] = { -1, -1, -1 };
        for (int i = 0; i < 3 && loci_str_cut(&id, '-', &part); i++)
            if (!loci_str_to_i64(part, &at[i])) break;
        if (at[0] != l->round || at[1] < 0 || at[2] < 0) continue;
        if (at[1] < LOAD_WRITERS && at[2] < LOAD_EACH) rows[at[1]][at[2]]++;
    }
    if (rc != LOCI_DONE) fail_msg("%s", err.msg);
}

void load_check(const load *l, loci_db *db, bool all)
{
    unsigned rows[LOAD_WRITERS][LOAD_EACH] = { 0 };

    count_rows(l, db, rows);
    for (unsigned i = 0; i < LOAD_WRITERS; i++)
        for (unsigned n = 0; n < LOAD_EACH; n++) {
            if (rows[i][n] != 0 && rows[i][n] != LOAD_ROWS)
                fail_msg("write %u-%u is there by half: %u rows", i, n, rows[i][n]);
            if (all && l->told[i][n] && rows[i][n] == 0)
                fail_msg("write %u-%u was acknowledged and is lost", i, n);
        }
    int64_t passages = memory_ask(db, MEMORY_PASSAGES);
    assert_int_equal(passages, memory_ask(db, MEMORY_VERSIONS) * LOAD_ROWS);
    assert_int_equal(memory_ask(db, MEMORY_VERSION_GAPS), 0);
    assert_int_equal(memory_ask(db, MEMORY_BORN_FALLS), 0);
}

static void assert_answer(sqlite3 *db, const char *sql, const char *want)
{
    sqlite3_stmt *q = NULL;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &q, NULL), SQLITE_OK);
    if (sqlite3_step(q) == SQLITE_ROW)
        assert_string_equal((const char *)sqlite3_column_text(q, 0), want);
    else
        assert_string_equal("", want);
    (void)sqlite3_finalize(q);
}

void load_check_file(const char *path)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_answer(db, "PRAGMA integrity_check", "ok");
    assert_answer(db, "PRAGMA foreign_key_check", "");
    (void)sqlite3_close(db);
}

void load_in_memory(void)
{
    if (access("/dev/shm", W_OK) == 0) (void)setenv("TMPDIR", "/dev/shm", 0);
}

bool load_every(void)
{
    const char *value = getenv("LOCI_FAULT");

    return value && strcmp(value, "all") == 0;
}

unsigned load_seed(void)
{
    const char *value = getenv("LOCI_FAULT_SEED");
    int64_t seed = 0;

    return value && loci_str_to_i64(loci_str_from(value), &seed) ? (unsigned)seed : 20;
}

void load_points(int64_t count, int64_t sample, void (*try)(int64_t n, void *arg), void *arg)
{
    unsigned seed = load_seed();

    if (load_every() || sample >= count) {
        for (int64_t n = 1; n <= count; n++) try(n, arg);
        return;
    }
    /* One of each stretch, so that the sample is spread over the whole run. */
    for (int64_t i = 0; i < sample; i++) {
        int64_t from = count * i / sample, to = count * (i + 1) / sample;
        try(from + 1 + rand_r(&seed) % (to - from), arg);
    }
}
