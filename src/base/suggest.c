#include "base/suggest.h"

#include <stdio.h>

/* Two slips of a finger; one in a short name; none in a single letter, where any other letter
 * would do. */
static size_t slips_for(size_t len)
{
    if (len < 2) return 0;
    return len < 4 ? 1 : 2;
}

enum { LONGEST = 64 }; /* as loci_str_distance has it */

static loci_str fold(loci_str s, char ret_bytes[LONGEST])
{
    for (size_t i = 0; i < s.len; i++) ret_bytes[i] = s.ptr[i] == '-' ? '_' : s.ptr[i];
    return (loci_str){ ret_bytes, s.len };
}

void loci_suggest_try(loci_suggest *s, loci_str candidate)
{
    char a[LONGEST], b[LONGEST];
    size_t limit = slips_for(s->wanted.len);

    if (s->wanted.len == 0 || s->wanted.len > LONGEST || candidate.len > LONGEST) return;
    size_t distance = loci_str_distance(fold(s->wanted, a), fold(candidate, b), limit);
    if (distance > limit) return;
    if (s->best.len && distance >= s->distance) return;
    s->best = candidate;
    s->distance = distance;
}

loci_suggest_words loci_suggest_text(const loci_suggest *s)
{
    loci_suggest_words words = { "" };

    if (s->best.len) /* near names have at most 64 bytes: see loci_str_distance */
        (void)snprintf(words.text, sizeof words.text, "; did you mean '%.*s'?", LOCI_ARG(s->best));
    return words;
}
