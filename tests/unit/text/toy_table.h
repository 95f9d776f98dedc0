/* A small token table for tests and fuzzing: every byte, and some merges of each shape. */
#ifndef LOCI_TESTS_TEXT_TOY_TABLE_H
#define LOCI_TESTS_TEXT_TOY_TABLE_H

#include "base/buf.h"
#include "text/dict.h"

enum { TOY_MERGES = 12 };

/* Ids 0..255 are the bytes, 256.. these in order. "zzzz" cannot be reached by merging. */
static const loci_str toy_merges[TOY_MERGES] = {
    { "aa", 2 },
    { "ab", 2 },
    { "bc", 2 },
    { "abc", 3 },
    { "aaaa", 4 },
    { "  ", 2 },
    { " a", 2 },
    { "\xc3\xa4", 2 },
    { "zzzz", 4 },
    { " abc", 4 },
    { "\xe4\xb8\xad\xe6", 4 },
    { "\xe4\xb8", 2 },
};

static inline loci_rc toy_table(loci_dict_kind kind, loci_buf *out, loci_err *err)
{
    static uint8_t bytes[256];
    loci_str words[256 + TOY_MERGES];

    for (size_t i = 0; i < 256; i++) {
        bytes[i] = (uint8_t)i;
        words[i] = (loci_str){ (const char *)&bytes[i], 1 };
    }
    for (size_t i = 0; i < TOY_MERGES; i++) words[256 + i] = toy_merges[i];
    return loci_dict_build(words, 256 + TOY_MERGES, kind, out, err);
}

#endif
