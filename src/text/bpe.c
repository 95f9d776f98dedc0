#include "text/bpe.h"

#include "base/alloc.h"
#include "base/utf8.h"
#include "text/bpe_merge.h"
#include "text/bpe_split.h"
#include "text/dict.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct loci_bpe {
    loci_dict dict;
    uint32_t byte_ids[256];
    size_t (*split)(loci_str text, size_t at);
    void *map; /* NULL when the table is borrowed */
    size_t map_size;
};

static const struct {
    const char *name;
    loci_dict_kind kind;
    size_t (*split)(loci_str text, size_t at);
} schemes[] = {
    [LOCI_BPE_O200K] = { "o200k_base", LOCI_DICT_O200K, loci_bpe_split_o200k },
    [LOCI_BPE_CL100K] = { "cl100k_base", LOCI_DICT_CL100K, loci_bpe_split_cl100k },
};

loci_rc loci_bpe_scheme_parse(loci_str name, loci_bpe_scheme *ret_scheme, loci_err *err)
{
    for (size_t i = 0; i < LOCI_COUNT(schemes); i++) {
        loci_str full = loci_str_from(schemes[i].name);
        loci_str bare = loci_str_sub(full, 0, full.len - strlen("_base"));
        if (!loci_str_eq(name, full) && !loci_str_eq(name, bare)) continue;
        *ret_scheme = (loci_bpe_scheme)i;
        return LOCI_OK;
    }
    return loci_fail(err, LOCI_EINVAL, "no token scheme '%.*s': there are o200k_base, cl100k_base",
                     LOCI_ARG(loci_str_sub(name, 0, 40)));
}

const char *loci_bpe_scheme_name(loci_bpe_scheme scheme)
{
    return schemes[scheme].name;
}

/* Every text can only be encoded when every byte is a token. */
static loci_rc find_bytes(loci_bpe *bpe, loci_err *err)
{
    for (size_t i = 0; i < LOCI_COUNT(bpe->byte_ids); i++) {
        uint8_t byte = (uint8_t)i;
        bpe->byte_ids[i] = loci_dict_find(&bpe->dict, &byte, 1);
        if (bpe->byte_ids[i] == LOCI_DICT_NONE)
            return loci_fail(err, LOCI_ECORRUPT, "token table has no token for byte %zu", i);
    }
    return LOCI_OK;
}

static loci_rc init(loci_bpe *bpe, loci_str table, loci_bpe_scheme scheme, loci_err *err)
{
    loci_rc rc = loci_dict_init(&bpe->dict, table.ptr, table.len, schemes[scheme].kind, err);
    if (rc) return rc;
    bpe->split = schemes[scheme].split;
    return find_bytes(bpe, err);
}

loci_rc loci_bpe_open_memory(loci_str table, loci_bpe_scheme scheme, loci_bpe **ret_bpe,
                             loci_err *err)
{
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = loci_zalloc(sizeof *bpe);
    if (!bpe) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    loci_rc rc = init(bpe, table, scheme, err);
    if (rc) return rc;
    *ret_bpe = LOCI_TAKE(bpe);
    return LOCI_OK;
}

static loci_rc map_file(const char *path, loci_bpe *bpe, loci_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return loci_fail(err, LOCI_ENOTFOUND, "no token table at %s: run tools/setup-tokens", path);
    if (fd < 0) return loci_fail(err, LOCI_EIO, "cannot open %s: %s", path, strerror(errno));
    bool sized = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    void *map = sized ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    (void)close(fd);
    if (!sized) return loci_fail(err, LOCI_ECORRUPT, "%s is not a file or is empty", path);
    if (map == MAP_FAILED) return loci_fail(err, LOCI_EIO, "cannot map %s", path);
    bpe->map = map;
    bpe->map_size = (size_t)st.st_size;
    return LOCI_OK;
}

loci_rc loci_bpe_open(const char *path, loci_bpe_scheme scheme, loci_bpe **ret_bpe, loci_err *err)
{
    LOCI_AUTO(loci_bpe_closep) loci_bpe *bpe = loci_zalloc(sizeof *bpe);
    if (!bpe) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    loci_rc rc = map_file(path, bpe, err);
    if (rc) return rc;
    rc = init(bpe, (loci_str){ bpe->map, bpe->map_size }, scheme, err);
    if (rc) {
        loci_err_prefix(err, "%s", path);
        return rc;
    }
    *ret_bpe = LOCI_TAKE(bpe);
    return LOCI_OK;
}

void loci_bpe_close(loci_bpe *bpe)
{
    if (!bpe) return;
    if (bpe->map) (void)munmap(bpe->map, bpe->map_size);
    loci_free(bpe);
}

loci_rc loci_bpe_verify(const loci_bpe *bpe, loci_err *err)
{
    return loci_dict_verify(&bpe->dict, err);
}

/* A walk over a text, piece by piece. */
typedef struct walk {
    const loci_bpe *bpe;
    loci_str text;
    size_t start, end; /* of the current piece */
    loci_bpe_part whole;
    const loci_bpe_part *parts; /* of the current piece; their ends count from its start */
    size_t count;
    loci_bpe_scratch scratch;
} walk;

static void walk_done(walk *w)
{
    loci_bpe_scratch_done(&w->scratch);
}

static loci_rc walk_init(walk *w, const loci_bpe *bpe, loci_str text, loci_err *err)
{
    *w = (walk){ .bpe = bpe, .text = text };
    if (text.len > LOCI_TOKEN_TEXT_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "text of %zu bytes: tokens are counted up to %zu",
                         text.len, LOCI_TOKEN_TEXT_BYTES);
    return LOCI_OK;
}

/* Most pieces are words of the table as they stand; only the others are merged. LOCI_DONE at the
 * end of the text. */
static loci_rc walk_next(walk *w, loci_err *err)
{
    if (w->end >= w->text.len) return LOCI_DONE;
    w->start = w->end;
    w->end = w->bpe->split(w->text, w->start);

    loci_str piece = { w->text.ptr + w->start, w->end - w->start };
    w->whole.id = loci_dict_find(&w->bpe->dict, piece.ptr, piece.len);
    if (w->whole.id == LOCI_DICT_NONE)
        return loci_bpe_merge(&w->bpe->dict, w->bpe->byte_ids, piece, &w->scratch, &w->parts,
                              &w->count, err);
    w->whole.end = (uint32_t)piece.len;
    w->parts = &w->whole;
    w->count = 1;
    return LOCI_OK;
}

loci_rc loci_bpe_count(const loci_bpe *bpe, loci_str text, size_t *ret_count, loci_err *err)
{
    LOCI_AUTO(walk_done) walk w;
    size_t count = 0;

    loci_rc rc = walk_init(&w, bpe, text, err);
    if (rc) return rc;
    while ((rc = walk_next(&w, err)) == LOCI_OK) count += w.count;
    if (rc != LOCI_DONE) return rc;
    *ret_count = count;
    return LOCI_OK;
}

static loci_rc append_parts(loci_tokens *tokens, size_t *room, const walk *w, loci_arena *arena,
                            loci_err *err)
{
    if (tokens->count + w->count > *room) {
        size_t larger = 2 * *room + w->count + 64;
        loci_token *items =
            loci_arena_grow(arena, tokens->items, *room * sizeof *items, larger * sizeof *items);
        if (!items) return loci_arena_fail(arena, err);
        tokens->items = items;
        *room = larger;
    }
    size_t at = w->start;
    for (size_t i = 0; i < w->count; i++) {
        size_t end = w->start + w->parts[i].end;
        tokens->items[tokens->count++] =
            (loci_token){ w->parts[i].id, (uint32_t)at, (uint32_t)end };
        at = end;
    }
    return LOCI_OK;
}

loci_rc loci_bpe_encode(const loci_bpe *bpe, loci_str text, loci_arena *arena,
                        loci_tokens *ret_tokens, loci_err *err)
{
    LOCI_AUTO(walk_done) walk w;
    loci_tokens tokens = { 0 };
    size_t room = 0;

    loci_rc rc = walk_init(&w, bpe, text, err);
    if (rc) return rc;
    while ((rc = walk_next(&w, err)) == LOCI_OK) {
        rc = append_parts(&tokens, &room, &w, arena, err);
        if (rc) return rc;
    }
    if (rc != LOCI_DONE) return rc;
    *ret_tokens = tokens;
    return LOCI_OK;
}

/* The offset after the first `limit` tokens; text.len when there are no more. */
static loci_rc offset_of(const loci_bpe *bpe, loci_str text, size_t limit, size_t *ret_offset,
                         loci_err *err)
{
    LOCI_AUTO(walk_done) walk w;
    size_t count = 0;

    loci_rc rc = walk_init(&w, bpe, text, err);
    if (rc) return rc;
    *ret_offset = 0;
    if (limit == 0) return LOCI_OK;
    while ((rc = walk_next(&w, err)) == LOCI_OK) {
        if (count + w.count > limit) {
            if (limit > count) *ret_offset = w.start + w.parts[limit - count - 1].end;
            return LOCI_OK;
        }
        count += w.count;
        *ret_offset = w.end;
    }
    return rc == LOCI_DONE ? LOCI_OK : rc;
}

/* What is cut off may have shaped the tokens before it, so the rest is counted again; when it is
 * too long, one token less is taken, then two less, then four, which ends after few rounds. */
loci_rc loci_bpe_cut(const loci_bpe *bpe, loci_str text, size_t limit, size_t *ret_len,
                     loci_err *err)
{
    for (size_t less = 0;; less = 2 * less + 1) {
        size_t offset, count;
        loci_rc rc = offset_of(bpe, text, limit > less ? limit - less : 0, &offset, err);
        if (rc) return rc;
        loci_str head = loci_utf8_cut(text, offset);
        rc = loci_bpe_count(bpe, head, &count, err);
        if (rc) return rc;
        if (count > limit) continue;
        *ret_len = head.len;
        return LOCI_OK;
    }
}

size_t loci_bpe_estimate(size_t bytes)
{
    return bytes / 4 + (bytes % 4 != 0);
}
