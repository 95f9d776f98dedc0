/* Any bytes as a file: they are refused with a line, or every row that was read is whole. */
#include "db/carry_check.h"
#include "db/lines.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CEILING = 256 << 20 };

static void demand(bool truth)
{
    if (!truth) abort();
}

/* What an importer relies on without looking again. */
static void check_row(const loci_carried *row)
{
    demand(row->table && row->table->carried && row->line > 1);
    if (row->table->kind == LOCI_TABLE_VERSIONED) {
        demand(row->rev >= 1 && row->born >= 0 && row->ended >= row->born && row->door.len);
        demand(row->table->has_id == (row->id.ptr != NULL));
    }
    for (size_t i = 0; i < row->table->column_count; i++) {
        const loci_column *c = &row->table->columns[i];
        const loci_carried_value *v = &row->own[i];
        bool text = v->there && (c->kind == 't' || c->ref);
        if (text) demand(v->bytes.ptr && !memchr(v->bytes.ptr, 0, v->bytes.len));
        if (v->there && c->ref) demand(v->bytes.len >= 1 && v->bytes.len <= LOCI_CARRY_ID);
        if ((c->flags & LOCI_COLUMN_REQUIRED) && !(c->flags & LOCI_COLUMN_ZERO) &&
            loci_carry_has(row->table, i))
            demand(v->there);
    }
}

static loci_rc read_lines(loci_lines_in *in, loci_carry_check *check, loci_arena *arena,
                          loci_err *err)
{
    loci_str line = { NULL, 0 };
    loci_rc rc;

    while ((rc = loci_lines_next(in, &line, err)) == LOCI_OK) {
        loci_carry_line kind = LOCI_CARRY_ROW;
        loci_carried row = { 0 };
        rc = loci_carry_check_line(check, arena, line, &kind, &row, err);
        if (rc) return rc;
        if (kind == LOCI_CARRY_ROW) check_row(&row);
        loci_arena_reset(arena);
    }
    return rc == LOCI_DONE ? loci_carry_check_end(check, err) : rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_lines_in_freep) loci_lines_in *in = NULL;
    LOCI_AUTO(loci_carry_check_freep) loci_carry_check *check = NULL;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    loci_err err = { 0 };

    demand(arena != NULL);
    demand(loci_lines_open_memory((loci_str){ (const char *)data, size }, &in, NULL) == LOCI_OK);
    demand(loci_carry_check_new(2000000000000000, NULL, NULL, &check, NULL) == LOCI_OK);
    loci_rc rc = read_lines(in, check, arena, &err);
    if (!rc) return 0;
    demand(rc == LOCI_ESHAPE || rc == LOCI_ELIMIT || rc == LOCI_ECORRUPT);
    demand(err.code == rc && strstr(err.msg, "line ") != NULL);
    return 0;
}
