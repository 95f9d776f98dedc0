#include "db/carry_check.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <assert.h>

enum {
    SET_START = 1 << 10, /* slots */
    SET_MOST = 1 << 28,  /* slots: two gigabytes */
    KEY_BYTES = 1 << 20  /* of what identifies a row */
};

/* Hashes that were seen: open addressing, at most half full. 0 is never stored. */
typedef struct hash_set {
    uint64_t *slots;
    size_t size, used;
} hash_set;

/* The newest revision of an object. */
typedef struct newest {
    uint64_t object;
    int64_t rev, ended;
} newest;

struct loci_carry_check {
    int64_t latest;
    loci_carry_known_fn known;
    void *arg;
    size_t line; /* the number of the last one */
    size_t orgs;
    int64_t rows;
    bool vectors, ended;
    const loci_table *table; /* of the last row */
    newest last;             /* of the last row */
    hash_set objects, living;
    /* Of tables whose revisions lie apart: the newest of each object, open addressing too. */
    newest *apart;
    size_t apart_size, apart_used;
    loci_hash *all, *one;
    loci_buf key;
};

loci_rc loci_carry_check_new(int64_t latest, loci_carry_known_fn known, void *arg,
                             loci_carry_check **ret_check, loci_err *err)
{
    LOCI_AUTO(loci_carry_check_freep) loci_carry_check *c = loci_zalloc(sizeof *c);
    if (!c) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    c->latest = latest;
    c->known = known;
    c->arg = arg;
    loci_buf_init(&c->key, KEY_BYTES);
    loci_rc rc = loci_hash_new(LOCI_SHA256, &c->all, err);
    if (!rc) rc = loci_hash_new(LOCI_SHA256, &c->one, err);
    if (rc) return rc;
    *ret_check = LOCI_TAKE(c);
    return LOCI_OK;
}

void loci_carry_check_free(loci_carry_check *check)
{
    if (!check) return;
    loci_free(check->objects.slots);
    loci_free(check->living.slots);
    loci_free(check->apart);
    loci_hash_free(check->all);
    loci_hash_free(check->one);
    loci_buf_done(&check->key);
    loci_free(check);
}

static size_t slot_of(const hash_set *set, uint64_t value)
{
    size_t at = (size_t)value & (set->size - 1);

    while (set->slots[at] && set->slots[at] != value) at = (at + 1) & (set->size - 1);
    return at;
}

static bool set_has(const hash_set *set, uint64_t value)
{
    return set->size && set->slots[slot_of(set, value)] == value;
}

static loci_rc set_grow(hash_set *set, loci_err *err)
{
    hash_set larger = { .size = set->size ? 2 * set->size : SET_START, .used = set->used };

    if (larger.size > SET_MOST) return loci_fail(err, LOCI_ELIMIT, "the file has too many objects");
    larger.slots = loci_zalloc(larger.size * sizeof *larger.slots);
    if (!larger.slots) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    for (size_t i = 0; i < set->size; i++)
        if (set->slots[i]) larger.slots[slot_of(&larger, set->slots[i])] = set->slots[i];
    loci_free(set->slots);
    *set = larger;
    return LOCI_OK;
}

static loci_rc set_add(hash_set *set, uint64_t value, loci_err *err)
{
    loci_rc rc = 2 * (set->used + 1) > set->size ? set_grow(set, err) : LOCI_OK;

    if (rc || set_has(set, value)) return rc;
    set->slots[slot_of(set, value)] = value;
    set->used++;
    return LOCI_OK;
}

/* A field of a key, so that no two different keys look alike. */
static void key_add(loci_carry_check *c, loci_str field)
{
    loci_buf_printf(&c->key, "%zu:", field.len);
    loci_buf_add(&c->key, field);
}

static void key_start(loci_carry_check *c, const char *what)
{
    loci_buf_clear(&c->key);
    loci_buf_printf(&c->key, "%zu/%s/", c->orgs, what);
}

static loci_rc key_hash(loci_carry_check *c, uint64_t *ret, loci_err *err)
{
    uint8_t digest[LOCI_HASH_MAX];
    loci_rc rc = loci_buf_check(&c->key, err);

    if (rc) return rc;
    loci_hash_add(c->one, loci_buf_str(&c->key));
    rc = loci_hash_end(c->one, digest, err);
    if (rc) return rc;
    memcpy(ret, digest, sizeof *ret);
    if (*ret == 0) *ret = 1;
    return LOCI_OK;
}

static loci_rc id_hash(loci_carry_check *c, const char *table, loci_str id, uint64_t *ret,
                       loci_err *err)
{
    key_start(c, table);
    key_add(c, id);
    return key_hash(c, ret, err);
}

static void key_add_column(loci_carry_check *c, const loci_carried *row, const char *name)
{
    const loci_carried_value *v = loci_carry_get(row, name);
    const loci_column *column = loci_table_column(row->table, name);

    if (column->kind == 'i' && !column->ref)
        loci_buf_printf(&c->key, "%lld;", (long long)v->number);
    else if (v->there)
        key_add(c, v->bytes);
    else
        loci_buf_add_cstr(&c->key, "-;");
}

/* What makes two lines the same object. */
static loci_rc object_hash(loci_carry_check *c, const loci_carried *row, uint64_t *ret,
                           loci_err *err)
{
    if (row->table->has_id) return id_hash(c, row->table->name, row->id, ret, err);
    key_start(c, row->table->name);
    for (size_t i = 0; i < LOCI_TABLE_KEYS && row->table->keys[i]; i++)
        key_add_column(c, row, row->table->keys[i]);
    loci_buf_printf(&c->key, "@%lld", (long long)row->first);
    return key_hash(c, ret, err);
}

/* Of living rows, some columns are unique beside the id. */
static loci_rc check_unique(loci_carry_check *c, const loci_carried *row, loci_err *err)
{
    uint64_t hash = 0;

    if (!row->table->unique[0] || row->ended != LOCI_NEVER) return LOCI_OK;
    key_start(c, row->table->name);
    for (size_t i = 0; i < LOCI_TABLE_KEYS && row->table->unique[i]; i++)
        key_add_column(c, row, row->table->unique[i]);
    loci_rc rc = key_hash(c, &hash, err);
    if (rc) return rc;
    if (set_has(&c->living, hash))
        return loci_fail(err, LOCI_ESHAPE, "another living row of %s has the same place",
                         row->table->name);
    return set_add(&c->living, hash, err);
}

static loci_rc check_reference(loci_carry_check *c, const loci_column *column, loci_str id,
                               loci_err *err)
{
    const loci_table *target = loci_table_find(loci_str_from(column->ref));
    uint64_t hash = 0;
    bool known = false;
    loci_rc rc = id_hash(c, column->ref, id, &hash, err);

    if (rc || set_has(&c->objects, hash) || (column->flags & LOCI_COLUMN_WEAK)) return rc;
    if (c->known) rc = c->known(target, id, c->arg, &known, err);
    if (rc || known) return rc;
    return loci_fail(err, LOCI_ESHAPE, "'%s' names %.*s, which is nowhere above", column->name,
                     LOCI_ARG(id));
}

static loci_rc check_references(loci_carry_check *c, const loci_carried *row, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    for (size_t i = 0; !rc && i < row->table->column_count; i++)
        if (row->table->columns[i].ref && row->own[i].there)
            rc = check_reference(c, &row->table->columns[i], row->own[i].bytes, err);
    return rc;
}

static loci_rc check_order(loci_carry_check *c, const loci_carried *row, loci_err *err)
{
    bool org = row->table == &loci_tables[0];

    assert(strcmp(loci_tables[0].name, "org") == 0);
    if (!c->table && !org)
        return loci_fail(err, LOCI_ESHAPE, "the first row must be one of the table org");
    if (row->table == c->table && !org) return LOCI_OK;
    if (c->table && !org && row->table < c->table)
        return loci_fail(err, LOCI_ESHAPE, "rows of %s come before those of %s", row->table->name,
                         c->table->name);
    if (org) c->orgs++;
    c->table = row->table;
    c->last = (newest){ 0 };
    return LOCI_OK;
}

static newest *apart_slot(newest *slots, size_t size, uint64_t object)
{
    size_t at = (size_t)object & (size - 1);

    while (slots[at].object && slots[at].object != object) at = (at + 1) & (size - 1);
    return &slots[at];
}

static loci_rc apart_grow(loci_carry_check *c, loci_err *err)
{
    size_t size = c->apart_size ? 2 * c->apart_size : SET_START;

    if (size > SET_MOST / 4) return loci_fail(err, LOCI_ELIMIT, "the file has too many objects");
    newest *larger = loci_zalloc(size * sizeof *larger);
    if (!larger) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    for (size_t i = 0; i < c->apart_size; i++)
        if (c->apart[i].object) *apart_slot(larger, size, c->apart[i].object) = c->apart[i];
    loci_free(c->apart);
    c->apart = larger;
    c->apart_size = size;
    return LOCI_OK;
}

/* Where the newest revision of the object stands; its rev is 0 when there was none. */
static loci_rc find_newest(loci_carry_check *c, const loci_carried *row, uint64_t object,
                           newest **ret, loci_err *err)
{
    *ret = &c->last;
    if (!row->table->by_row) {
        if (c->last.object != object) c->last = (newest){ .object = object };
        return LOCI_OK;
    }
    loci_rc rc = 2 * (c->apart_used + 1) > c->apart_size ? apart_grow(c, err) : LOCI_OK;
    if (rc) return rc;
    *ret = apart_slot(c->apart, c->apart_size, object);
    if (!(*ret)->object) c->apart_used++;
    (*ret)->object = object;
    return LOCI_OK;
}

/* Revisions of one object come in order; an object comes once. */
static loci_rc check_revision(loci_carry_check *c, const loci_carried *row, loci_err *err)
{
    uint64_t object = 0;
    newest *before = NULL;
    loci_rc rc = object_hash(c, row, &object, err);

    if (!rc) rc = find_newest(c, row, object, &before, err);
    if (rc) return rc;
    if (before->rev && row->rev <= before->rev)
        return loci_fail(err, LOCI_ESHAPE, "revision %lld comes behind revision %lld",
                         (long long)row->rev, (long long)before->rev);
    if (before->rev && before->ended > row->born)
        return loci_fail(err, LOCI_ESHAPE,
                         "revision %lld is born before the one above it has ended",
                         (long long)row->rev);
    if (!before->rev && set_has(&c->objects, object))
        return loci_fail(err, LOCI_ESHAPE, "the same object came further above");
    before->rev = row->rev;
    before->ended = row->ended;
    return set_add(&c->objects, object, err);
}

/* Rows without revisions: the key comes once. */
static loci_rc check_plain(loci_carry_check *c, const loci_carried *row, loci_err *err)
{
    uint64_t hash = 0;

    key_start(c, row->table->name);
    for (size_t i = 0; i < LOCI_TABLE_KEYS && row->table->keys[i]; i++)
        key_add_column(c, row, row->table->keys[i]);
    if (row->table == &loci_tables[0]) {
        /* Organizations are not inside one. */
        loci_buf_clear(&c->key);
        key_add_column(c, row, "id");
    }
    loci_rc rc = key_hash(c, &hash, err);
    if (rc) return rc;
    if (set_has(&c->objects, hash))
        return loci_fail(err, LOCI_ESHAPE, "the same row of %s came further above",
                         row->table->name);
    return set_add(&c->objects, hash, err);
}

static loci_rc check_clock(const loci_carry_check *c, const loci_carried *row, loci_err *err)
{
    int64_t last = row->ended != LOCI_NEVER ? row->ended : row->born;

    if (last <= c->latest) return LOCI_OK;
    return loci_fail(err, LOCI_ESHAPE, "the time %lld lies in the future: check the clock",
                     (long long)last);
}

static loci_rc check_row(loci_carry_check *c, const loci_carried *row, loci_err *err)
{
    loci_rc rc = check_order(c, row, err);

    c->rows++;
    if (rc) return rc;
    if (row->table->kind != LOCI_TABLE_VERSIONED) return check_plain(c, row, err);
    rc = check_clock(c, row, err);
    if (!rc) rc = check_references(c, row, err); /* before the object itself can be one */
    if (!rc) rc = check_revision(c, row, err);
    return rc ? rc : check_unique(c, row, err);
}

static loci_rc check_last(loci_carry_check *c, const loci_carry_end *end, loci_err *err)
{
    uint8_t digest[LOCI_HASH_MAX];
    char hex[LOCI_HASH_HEX_MAX];
    loci_rc rc = loci_hash_end(c->all, digest, err);

    if (rc) return rc;
    loci_hash_to_hex(digest, LOCI_SHA256_LEN, hex);
    if (end->lines != c->rows)
        return loci_fail(err, LOCI_ESHAPE, "%lld lines should stand above, and %lld do",
                         (long long)end->lines, (long long)c->rows);
    if (end->sha256.ptr && !loci_str_eq(end->sha256, loci_str_from(hex)))
        return loci_fail(err, LOCI_ESHAPE,
                         "the lines above were changed since they were written (sha256 differs)");
    c->ended = true;
    return LOCI_OK;
}

static loci_rc check_line(loci_carry_check *c, loci_arena *arena, loci_str line,
                          loci_carry_line *ret_kind, loci_carried *ret_row, loci_err *err)
{
    loci_carry_head head = { 0 };
    loci_carry_end end = { 0 };

    if (c->ended) return loci_fail(err, LOCI_ESHAPE, "nothing may follow the last line");
    loci_rc rc = loci_carry_read(arena, line, ret_kind, &head, ret_row, &end, err);
    if (rc) return rc;
    if ((c->line == 1) != (*ret_kind == LOCI_CARRY_HEAD))
        return loci_fail(err, LOCI_ESHAPE,
                         c->line == 1 ? "this is not an export of loci"
                                      : "only the first line may describe the export");
    if (*ret_kind == LOCI_CARRY_END) return check_last(c, &end, err);
    if (*ret_kind == LOCI_CARRY_HEAD) {
        c->vectors = head.vectors;
        return LOCI_OK;
    }
    ret_row->line = c->line;
    loci_hash_add(c->all, line);
    loci_hash_add(c->all, LOCI_STR("\n"));
    return check_row(c, ret_row, err);
}

loci_rc loci_carry_check_line(loci_carry_check *check, loci_arena *arena, loci_str line,
                              loci_carry_line *ret_kind, loci_carried *ret_row, loci_err *err)
{
    check->line++;
    loci_rc rc = check_line(check, arena, line, ret_kind, ret_row, err);
    if (rc) loci_err_prefix(err, "line %zu", check->line);
    return rc;
}

loci_rc loci_carry_check_end(loci_carry_check *check, loci_err *err)
{
    if (check->ended) return LOCI_OK;
    if (check->line == 0) return loci_fail(err, LOCI_ESHAPE, "line 1: the file is empty");
    return loci_fail(err, LOCI_ESHAPE, "line %zu: the last line is missing: the file was cut off",
                     check->line + 1);
}

bool loci_carry_check_vectors(const loci_carry_check *check)
{
    return check->vectors;
}

size_t loci_carry_check_orgs(const loci_carry_check *check)
{
    return check->orgs;
}

int64_t loci_carry_check_rows(const loci_carry_check *check)
{
    return check->rows;
}
