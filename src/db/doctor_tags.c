#include "base/alloc.h"
#include "base/id.h"
#include "db/carry.h"
#include "db/doctor_checks.h"

enum { PAGE = 500, ARENA = 256 << 20 };

/* One page of rows, with the tags that each should have and those that it has. */
typedef struct page {
    int64_t rows[PAGE], archives[PAGE];
    loci_str names[PAGE], tags[PAGE]; /* tags.ptr is NULL when there are none */
    loci_str have[PAGE];              /* of the junction table, each with a NUL behind it */
    size_t count;
    loci_arena *arena;
} page;

static loci_rc read_page(loci_tx *tx, const loci_table *t, int64_t org, int64_t behind, page *p,
                         loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc =
        loci_stmt_begin(tx, &loci_doctor_room, loci_doctor_tags_stmt(t, LOCI_TAGS_PAGE), &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, behind);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK && p->count < PAGE) {
        size_t i = p->count++;
        p->rows[i] = loci_stmt_i64(q, 0);
        p->archives[i] = loci_stmt_i64(q, 3);
        p->have[i] = (loci_str){ NULL, 0 };
        rc = loci_stmt_copy(q, 1, p->arena, &p->tags[i], err);
        if (!rc) rc = loci_stmt_copy(q, 2, p->arena, &p->names[i], err);
        if (rc) return rc;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

/* Tags come sorted by row, so those of one row lie together in the buffer. */
static loci_rc read_have(loci_tx *tx, const loci_table *t, int64_t org, page *p, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_buf all;
    size_t at = 0, start = 0;
    loci_rc rc =
        loci_stmt_begin(tx, &loci_doctor_room, loci_doctor_tags_stmt(t, LOCI_TAGS_HAVE), &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64s(q, 2, p->rows, p->count);
    loci_buf_init_arena(&all, p->arena, ARENA / 4);
    while ((rc = loci_stmt_next(q, err)) == LOCI_OK) {
        int64_t row = loci_stmt_i64(q, 0);
        if (p->rows[at] != row) {
            p->have[at].len = all.len - start;
            start = all.len;
            while (at + 1 < p->count && p->rows[at] != row) at++;
        }
        loci_buf_add(&all, loci_stmt_text(q, 1));
        loci_buf_add_char(&all, '\0');
    }
    if (rc == LOCI_DONE) rc = loci_buf_check(&all, err);
    if (rc) return rc;
    p->have[at].len = all.len - start;
    /* The buffer has stopped moving. */
    for (size_t i = 0, from = 0; i < p->count; i++) {
        p->have[i].ptr = all.ptr + from;
        from += p->have[i].len;
    }
    return LOCI_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return loci_str_cmp(*(const loci_str *)a, *(const loci_str *)b);
}

/* Sorted and each once, as the junction table has them. */
static bool is_same(loci_str *tags, size_t count, loci_str have)
{
    if (count) qsort(tags, count, sizeof *tags, by_bytes);
    for (size_t i = 0; i < count; i++) {
        if (i && loci_str_eq(tags[i], tags[i - 1])) continue;
        loci_str one = loci_str_from(have.len ? have.ptr : NULL);
        if (!have.len || !loci_str_eq(one, tags[i])) return false;
        have = loci_str_sub(have, one.len + 1, have.len);
    }
    return have.len == 0;
}

static loci_rc put_tag(loci_tx *tx, const loci_table *t, int64_t org, const page *p, size_t i,
                       loci_str tag, loci_err *err)
{
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_id id;
    loci_rc rc = loci_table_begin(tx, t, LOCI_TABLE_TAG, &q, err);

    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_text(q, 2, tag);
    loci_stmt_bind_i64(q, 3, p->rows[i]);
    if (loci_table_column(t, "archive")) {
        rc = loci_id_make("passage_tag", &id, err);
        if (rc) return rc;
        loci_stmt_bind_i64(q, 4, p->archives[i]);
        loci_stmt_bind_text(q, 5, loci_str_from(id.text));
    }
    return loci_stmt_run(q, err);
}

/* The tags in the row are the truth; the junction rows are made from them again. */
static loci_rc mend(loci_db *db, const loci_table *t, int64_t org, const page *p, size_t i,
                    const loci_str *tags, size_t count, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    LOCI_AUTO(loci_stmt_endp) loci_stmt *q = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_WRITE, &tx, err);

    if (!rc)
        rc = loci_stmt_begin(tx, &loci_doctor_room, loci_doctor_tags_stmt(t, LOCI_TAGS_DROP), &q,
                             err);
    if (rc) return rc;
    loci_stmt_bind_i64(q, 1, org);
    loci_stmt_bind_i64(q, 2, p->rows[i]);
    rc = loci_stmt_run(q, err);
    for (size_t k = 0; !rc && k < count; k++) rc = put_tag(tx, t, org, p, i, tags[k], err);
    loci_stmt_endp(&q);
    return rc ? rc : loci_tx_commit(tx, err);
}

static loci_rc compare_row(loci_db *db, bool fix, const loci_table *t, int64_t org, page *p,
                           size_t i, loci_finding *finding, loci_err *err)
{
    loci_str *tags = NULL;
    size_t count = 0;

    if (p->tags[i].ptr && loci_carry_tags(p->arena, p->tags[i], &tags, &count, NULL)) {
        loci_finding_add(finding, p->names[i]);
        finding->fixable = finding->fixed = false;
        return LOCI_OK;
    }
    if (is_same(tags, count, p->have[i])) return LOCI_OK;
    loci_finding_add(finding, p->names[i]);
    return fix ? mend(db, t, org, p, i, tags, count, err) : LOCI_OK;
}

static loci_rc compare_page(loci_db *db, bool fix, const loci_table *t, int64_t org, page *p,
                            int64_t *behind, loci_finding *finding, loci_err *err)
{
    LOCI_AUTO(loci_tx_endp) loci_tx *tx = NULL;
    loci_rc rc = loci_tx_begin(db, LOCI_TX_READ, &tx, err);

    loci_arena_reset(p->arena);
    p->count = 0;
    if (!rc) rc = read_page(tx, t, org, *behind, p, err);
    if (!rc && p->count) rc = read_have(tx, t, org, p, err);
    loci_tx_endp(&tx);
    for (size_t i = 0; !rc && i < p->count; i++)
        rc = compare_row(db, fix, t, org, p, i, finding, err);
    if (p->count) *behind = p->rows[p->count - 1];
    return rc;
}

loci_rc loci_doctor_tags(loci_db *db, bool fix, const loci_table *table, int64_t org,
                         loci_finding *finding, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(ARENA);
    LOCI_AUTO(loci_freep) page *p = loci_zalloc(sizeof *p);
    int64_t behind = INT64_MIN;
    loci_rc rc = LOCI_OK;

    if (!arena || !p) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    p->arena = arena;
    finding->fixable = true;
    finding->fixed = fix;
    do rc = compare_page(db, fix, table, org, p, &behind, finding, err);
    while (!rc && p->count);
    return rc;
}
