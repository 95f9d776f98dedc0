/* Reading the records of strings.mjs: a text and the ids that a reference tokenizer gave for it. */
#ifndef LOCI_TESTS_TEXT_RECORDS_H
#define LOCI_TESTS_TEXT_RECORDS_H

#include "base/buf.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

typedef struct record {
    loci_str text;
    const char *ids;
    size_t count;
} record;

static inline bool records_read(const char *path, loci_buf *out)
{
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    loci_buf_init(out, (size_t)256 << 20);
    for (size_t n = 1; n > 0;) {
        char *room = loci_buf_reserve(out, 65536);
        n = room ? fread(room, 1, 65536, file) : 0;
        loci_buf_advance(out, n);
    }
    (void)fclose(file);
    return loci_buf_check(out, NULL) == LOCI_OK;
}

static inline uint32_t record_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint32_t record_id(const record *r, size_t i)
{
    return record_u32(r->ids + 4 * i);
}

/* The next record; false at the end. The file is our own script's, so it is taken at its word. */
static inline bool records_next(loci_str data, size_t *at, record *ret)
{
    if (*at + 8 > data.len) return false;
    ret->text = (loci_str){ data.ptr + *at + 4, record_u32(data.ptr + *at) };
    *at += 4 + ret->text.len;
    ret->count = record_u32(data.ptr + *at);
    ret->ids = data.ptr + *at + 4;
    *at += 4 + 4 * ret->count;
    return true;
}

static inline void record_print(const record *r)
{
    for (size_t i = 0; i < r->text.len && i < 120; i++)
        (void)printf("%02x", (unsigned char)r->text.ptr[i]);
    (void)printf(" wanted");
    for (size_t i = 0; i < r->count && i < 30; i++) (void)printf(" %u", record_id(r, i));
    (void)printf("\n");
}

#endif
