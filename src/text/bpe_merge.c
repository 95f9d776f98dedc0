/* The rule: as long as two neighbours together are a word of the table, merge the pair whose word
 * has the lowest id (the leftmost of equal ones). The id is the rank.
 *
 * A small piece keeps its parts in an array and scans it for the best pair; this is quadratic in
 * at most LOCI_BPE_SMALL. A large piece links its parts and keeps the pairs in a heap ordered by
 * (rank, place): every merge takes one pair out and puts at most two in, so n bytes cost
 * O(n log n) whatever they are. Pairs that a merge has outdated stay in the heap and are
 * recognised when they come up, because the rank at their place is another one by then.
 */
#include "text/bpe_merge.h"

#include "base/alloc.h"

#include <string.h>

#define NONE LOCI_DICT_NONE

typedef struct small_part {
    uint32_t start, id;
    uint32_t pair; /* rank of this part and the next one together */
} small_part;

static uint32_t rank_of(const loci_dict *dict, const uint8_t *bytes, uint32_t start, uint32_t end)
{
    return loci_dict_find(dict, bytes + start, end - start);
}

static size_t merge_small(const loci_dict *dict, const uint32_t byte_ids[256], loci_str piece,
                          loci_bpe_part *out)
{
    const uint8_t *bytes = (const uint8_t *)piece.ptr;
    small_part parts[LOCI_BPE_SMALL + 1];
    uint32_t n = (uint32_t)piece.len;

    for (uint32_t i = 0; i < n; i++)
        parts[i] = (small_part){ i, byte_ids[bytes[i]],
                                 i + 1 < n ? rank_of(dict, bytes, i, i + 2) : NONE };
    parts[n] = (small_part){ n, NONE, NONE };

    for (;;) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < n; i++)
            if (parts[i].pair < parts[best].pair) best = i;
        if (parts[best].pair == NONE) break;
        parts[best].id = parts[best].pair;
        memmove(parts + best + 1, parts + best + 2, (n - best - 1) * sizeof *parts);
        n--;
        parts[best].pair =
            best + 1 < n ? rank_of(dict, bytes, parts[best].start, parts[best + 2].start) : NONE;
        if (best > 0)
            parts[best - 1].pair =
                rank_of(dict, bytes, parts[best - 1].start, parts[best + 1].start);
    }
    for (uint32_t i = 0; i < n; i++) out[i] = (loci_bpe_part){ parts[i].id, parts[i + 1].start };
    return n;
}

/* The state of a large merge: parts are known by the offset of their first byte. */
typedef struct large {
    const loci_dict *dict;
    const uint8_t *bytes;
    uint32_t len;
    loci_bpe_part *parts; /* id and end; during the merge, [start] */
    uint32_t *before;     /* start of the part before */
    uint32_t *pair;       /* rank of this part and the next; NONE also for a part that is gone */
    uint64_t *heap;       /* rank << 32 | start, the smallest at [0] */
    size_t heaped;
} large;

static void heap_push(large *m, uint64_t entry)
{
    size_t at = m->heaped++;

    while (at > 0 && m->heap[(at - 1) / 2] > entry) {
        m->heap[at] = m->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    m->heap[at] = entry;
}

static uint64_t heap_pop(large *m)
{
    uint64_t top = m->heap[0], last = m->heap[--m->heaped];
    size_t at = 0, child;

    while ((child = 2 * at + 1) < m->heaped) {
        if (child + 1 < m->heaped && m->heap[child + 1] < m->heap[child]) child++;
        if (m->heap[child] >= last) break;
        m->heap[at] = m->heap[child];
        at = child;
    }
    m->heap[at] = last;
    return top;
}

/* Look up the pair that starts at `start` and remember it. */
static void rate(large *m, uint32_t start)
{
    uint32_t next = m->parts[start].end;

    m->pair[start] = next < m->len ? rank_of(m->dict, m->bytes, start, m->parts[next].end) : NONE;
    if (m->pair[start] != NONE) heap_push(m, (uint64_t)m->pair[start] << 32 | start);
}

static void merge_at(large *m, uint32_t start)
{
    uint32_t gone = m->parts[start].end, end = m->parts[gone].end;

    m->parts[start] = (loci_bpe_part){ m->pair[start], end };
    m->pair[gone] = NONE;
    if (end < m->len) m->before[end] = start;
    rate(m, start);
    if (start > 0) rate(m, m->before[start]);
}

static size_t merge_large(large *m, const uint32_t byte_ids[256])
{
    for (uint32_t i = 0; i < m->len; i++) {
        m->parts[i] = (loci_bpe_part){ byte_ids[m->bytes[i]], i + 1 };
        m->before[i] = i - 1; /* of the first it is never looked at */
    }
    for (uint32_t i = 0; i < m->len; i++) rate(m, i);
    while (m->heaped > 0) {
        uint64_t best = heap_pop(m);
        uint32_t start = (uint32_t)best;
        if (m->pair[start] == (uint32_t)(best >> 32)) merge_at(m, start);
    }

    size_t n = 0;
    for (uint32_t at = 0; at < m->len; n++) { /* n <= at: what is overwritten was read */
        loci_bpe_part part = m->parts[at];
        m->parts[n] = part;
        at = part.end;
    }
    return n;
}

/* Room for a piece of `len` bytes. The heap starts with a pair per byte and grows by at most one
 * with each of the len - 1 merges. */
static loci_rc make_room(loci_bpe_scratch *scratch, size_t len, loci_err *err)
{
    if (len > LOCI_BPE_PIECE_BYTES)
        return loci_fail(err, LOCI_ELIMIT,
                         "a run of %zu bytes without a border is too long to count its tokens "
                         "(the most is %zu)",
                         len, LOCI_BPE_PIECE_BYTES);
    if (len <= scratch->room) return LOCI_OK;
    size_t room = len + len / 2;
    loci_bpe_scratch_done(scratch);
    scratch->large = loci_realloc(NULL, room * sizeof *scratch->large);
    scratch->links = loci_realloc(NULL, 2 * room * sizeof *scratch->links);
    scratch->heap = loci_realloc(NULL, 2 * room * sizeof *scratch->heap);
    if (!scratch->large || !scratch->links || !scratch->heap) {
        loci_bpe_scratch_done(scratch);
        return loci_fail(err, LOCI_ENOMEM, "out of memory");
    }
    scratch->room = room;
    return LOCI_OK;
}

loci_rc loci_bpe_merge(const loci_dict *dict, const uint32_t byte_ids[256], loci_str piece,
                       loci_bpe_scratch *scratch, const loci_bpe_part **ret_parts,
                       size_t *ret_count, loci_err *err)
{
    if (piece.len <= LOCI_BPE_SMALL) {
        *ret_count = merge_small(dict, byte_ids, piece, scratch->small);
        *ret_parts = scratch->small;
        return LOCI_OK;
    }
    loci_rc rc = make_room(scratch, piece.len, err);
    if (rc) return rc;
    large m = {
        .dict = dict,
        .bytes = (const uint8_t *)piece.ptr,
        .len = (uint32_t)piece.len,
        .parts = scratch->large,
        .before = scratch->links,
        .pair = scratch->links + scratch->room,
        .heap = scratch->heap,
    };
    *ret_count = merge_large(&m, byte_ids);
    *ret_parts = scratch->large;
    return LOCI_OK;
}

void loci_bpe_scratch_done(loci_bpe_scratch *scratch)
{
    loci_free(scratch->large);
    loci_free(scratch->links);
    loci_free(scratch->heap);
    *scratch = (loci_bpe_scratch){ 0 };
}
