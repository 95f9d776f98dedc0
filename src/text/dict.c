#include "text/dict.h"

#include "base/alloc.h"

#include <string.h>

/* The header of a block. Every field is written; there is no padding. */
typedef struct header {
    char magic[8];
    uint32_t version;
    uint32_t order; /* BYTE_ORDER_MARK, so that a block of another machine is recognised */
    uint32_t kind;
    uint32_t count;
    uint32_t slots;
    uint32_t probes;
    uint32_t longest;
    uint32_t bytes_len;
    uint64_t body_sum;
    uint64_t header_sum; /* of all bytes before it */
} header;

static const char MAGIC[8] = { 'l', 'o', 'c', 'i', 'd', 'i', 'c', 't' };
enum { BYTE_ORDER_MARK = 0x01020304, MOST_SLOTS = 2 * LOCI_DICT_WORDS };

static uint64_t load64(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* Multiply and fold, eight bytes at a time. Used for the slots and for the checksums; neither has
 * to withstand an attacker: the table is fixed, and `probes` bounds every search in it. */
static uint64_t hash(const uint8_t *p, size_t len)
{
    uint64_t h = UINT64_C(0x9E3779B97F4A7C15) ^ (len * UINT64_C(0xC2B2AE3D27D4EB4F));
    uint64_t tail = 0;

    for (; len >= 8; p += 8, len -= 8) {
        h = (h ^ load64(p)) * UINT64_C(0xD6E8FEB86659FD93);
        h ^= h >> 32;
    }
    for (size_t i = 0; i < len; i++) tail |= (uint64_t)p[i] << (8 * i);
    h = (h ^ tail) * UINT64_C(0xD6E8FEB86659FD93);
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return h ^ (h >> 29);
}

static uint64_t header_sum(const header *head)
{
    return hash((const uint8_t *)head, offsetof(header, header_sum));
}

static size_t body_size(size_t slots, size_t count, size_t bytes_len)
{
    size_t size = slots * sizeof(uint64_t) + (count + 1) * sizeof(uint32_t) + bytes_len;
    return (size + LOCI_DICT_ALIGN - 1) / LOCI_DICT_ALIGN * LOCI_DICT_ALIGN;
}

static loci_rc check_words(const loci_str *words, size_t count, header *head, loci_err *err)
{
    if (count == 0 || count > LOCI_DICT_WORDS)
        return loci_fail(err, LOCI_ELIMIT, "a word table holds 1..%d words, not %zu",
                         LOCI_DICT_WORDS, count);
    for (size_t i = 0; i < count; i++) {
        if (words[i].len == 0) return loci_fail(err, LOCI_EINVAL, "word %zu is empty", i);
        if (words[i].len > LOCI_DICT_WORD_BYTES)
            return loci_fail(err, LOCI_ELIMIT, "word %zu has %zu bytes, the most is %d", i,
                             words[i].len, LOCI_DICT_WORD_BYTES);
        if (words[i].len > head->longest) head->longest = (uint32_t)words[i].len;
        if (head->bytes_len + words[i].len > LOCI_DICT_BYTES / 2)
            return loci_fail(err, LOCI_ELIMIT, "the words are longer than %zu bytes together",
                             LOCI_DICT_BYTES / 2);
        head->bytes_len += (uint32_t)words[i].len;
    }
    head->count = (uint32_t)count;
    for (head->slots = 8; head->slots < 2 * count;) head->slots *= 2; /* at most half full */
    return LOCI_OK;
}

/* Put word `id` into the slots. Returns its distance from its first slot, or SIZE_MAX when the
 * same word is there already. */
static size_t place(uint64_t *slots, size_t mask, const loci_str *words, size_t id)
{
    uint64_t h = hash((const uint8_t *)words[id].ptr, words[id].len);
    size_t at = h & mask, distance = 0;

    for (; slots[at]; at = (at + 1) & mask, distance++)
        if (slots[at] >> 32 == h >> 32 && loci_str_eq(words[(uint32_t)slots[at] - 1], words[id]))
            return SIZE_MAX;
    slots[at] = (h >> 32) << 32 | (id + 1);
    return distance;
}

static loci_rc fill(header *head, const loci_str *words, uint8_t *body, loci_err *err)
{
    uint64_t *slots = (uint64_t *)(void *)body;
    uint32_t *starts = (uint32_t *)(void *)(slots + head->slots);
    uint8_t *bytes = (uint8_t *)(starts + head->count + 1);
    uint32_t used = 0;

    for (uint32_t id = 0; id < head->count; id++) {
        size_t distance = place(slots, head->slots - 1, words, id);
        if (distance == SIZE_MAX)
            return loci_fail(err, LOCI_EINVAL, "word %u stands twice in the list", id);
        if (distance + 1 > head->probes) head->probes = (uint32_t)distance + 1;
        starts[id] = used;
        memcpy(bytes + used, words[id].ptr, words[id].len);
        used += (uint32_t)words[id].len;
    }
    starts[head->count] = used;
    return LOCI_OK;
}

loci_rc loci_dict_build(const loci_str *words, size_t count, loci_dict_kind kind, loci_buf *out,
                        loci_err *err)
{
    header head = { .version = LOCI_DICT_VERSION, .order = BYTE_ORDER_MARK };

    loci_rc rc = check_words(words, count, &head, err);
    if (rc) return rc;
    size_t size = body_size(head.slots, head.count, head.bytes_len);
    LOCI_AUTO(loci_freep) uint8_t *body = loci_zalloc(size);
    if (!body) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    rc = fill(&head, words, body, err);
    if (rc) return rc;

    memcpy(head.magic, MAGIC, sizeof head.magic);
    head.kind = (uint32_t)kind;
    head.body_sum = hash(body, size);
    head.header_sum = header_sum(&head);
    loci_buf_add(out, (loci_str){ (const char *)&head, sizeof head });
    loci_buf_add(out, (loci_str){ (const char *)body, size });
    return loci_buf_check(out, err);
}

static loci_rc check_header(const header *head, size_t size, loci_dict_kind kind, loci_err *err)
{
    if (memcmp(head->magic, MAGIC, sizeof MAGIC) != 0)
        return loci_fail(err, LOCI_ECORRUPT, "not a word table");
    if (head->order != BYTE_ORDER_MARK)
        return loci_fail(err, LOCI_ECORRUPT, "word table of a machine with another byte order");
    if (head->version != LOCI_DICT_VERSION)
        return loci_fail(err, LOCI_ECORRUPT, "word table of version %u, this program reads %d",
                         head->version, LOCI_DICT_VERSION);
    if (head->header_sum != header_sum(head))
        return loci_fail(err, LOCI_ECORRUPT, "word table with a damaged header");
    if (head->kind != (uint32_t)kind)
        return loci_fail(err, LOCI_ECORRUPT, "word table of kind %u where %d was expected",
                         head->kind, (int)kind);
    if (head->count == 0 || head->count > LOCI_DICT_WORDS || head->slots < head->count ||
        head->slots > MOST_SLOTS || (head->slots & (head->slots - 1)) != 0 ||
        head->probes > head->slots || head->longest > LOCI_DICT_WORD_BYTES ||
        size != sizeof *head + body_size(head->slots, head->count, head->bytes_len))
        return loci_fail(err, LOCI_ECORRUPT, "word table cut short or with wrong sizes");
    return LOCI_OK;
}

loci_rc loci_dict_init(loci_dict *dict, const void *data, size_t size, loci_dict_kind kind,
                       loci_err *err)
{
    header head;

    if (!data || size < sizeof head) return loci_fail(err, LOCI_ECORRUPT, "not a word table");
    if ((uintptr_t)data % LOCI_DICT_ALIGN)
        return loci_fail(err, LOCI_EINVAL, "a word table must lie at a multiple of %d bytes",
                         LOCI_DICT_ALIGN);
    memcpy(&head, data, sizeof head);
    loci_rc rc = check_header(&head, size, kind, err);
    if (rc) return rc;

    const uint8_t *body = (const uint8_t *)data + sizeof head;
    *dict = (loci_dict){
        .slots = (const uint64_t *)(const void *)body,
        .starts = (const uint32_t *)(const void *)(body + head.slots * sizeof(uint64_t)),
        .bytes = body + head.slots * sizeof(uint64_t) + (head.count + 1) * sizeof(uint32_t),
        .bytes_len = head.bytes_len,
        .mask = head.slots - 1,
        .probes = head.probes,
        .count = head.count,
        .longest = head.longest,
        .checksum = head.body_sum,
    };
    return LOCI_OK;
}

loci_rc loci_dict_verify(const loci_dict *dict, loci_err *err)
{
    size_t size = body_size((size_t)dict->mask + 1, dict->count, dict->bytes_len);

    if (hash((const uint8_t *)dict->slots, size) != dict->checksum)
        return loci_fail(err, LOCI_ECORRUPT, "word table is damaged (checksum)");
    return LOCI_OK;
}

loci_str loci_dict_get(const loci_dict *dict, uint32_t id)
{
    if (id >= dict->count) return (loci_str){ NULL, 0 };
    uint32_t start = dict->starts[id], end = dict->starts[id + 1];
    if (start > end || end > dict->bytes_len) return (loci_str){ NULL, 0 }; /* damaged */
    return (loci_str){ (const char *)dict->bytes + start, end - start };
}

uint32_t loci_dict_find(const loci_dict *dict, const void *word, size_t len)
{
    if (len == 0 || len > dict->longest) return LOCI_DICT_NONE;

    uint64_t h = hash(word, len);
    uint32_t at = (uint32_t)h & dict->mask;
    for (uint32_t n = 0; n < dict->probes; n++, at = (at + 1) & dict->mask) {
        uint64_t slot = dict->slots[at];
        if (slot == 0) break;
        if (slot >> 32 != h >> 32) continue;
        loci_str found = loci_dict_get(dict, (uint32_t)slot - 1);
        if (found.len == len && memcmp(found.ptr, word, len) == 0) return (uint32_t)slot - 1;
    }
    return LOCI_DICT_NONE;
}
