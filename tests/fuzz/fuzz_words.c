/* Any bytes as a text or question: words are UTF-8, bounded, in place; case folding keeps its
 * promise. The first byte chooses language and flags. */
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/utf8.h"
#include "text/fold.h"
#include "text/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct seen {
    size_t text_len;
    uint32_t position;
} seen;

static void check(bool holds)
{
    if (!holds) abort();
}

static loci_rc look(void *context, const loci_word *word, loci_err *err)
{
    seen *s = context;

    (void)err;
    check(word->text.len > 0 && word->text.len <= LOCI_WORD_BYTES && loci_utf8_valid(word->text));
    check(word->len > 0 && (size_t)word->start + word->len <= s->text_len);
    check(word->position <= s->position + 1);
    if (word->position > s->position) s->position = word->position;
    return LOCI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const languages[] = { "english", "none",    "german", "russian",
                                             "arabic",  "turkish", "hindi",  "greek" };
    LOCI_AUTO(loci_words_closep) loci_words *words = NULL;
    LOCI_AUTO(loci_buf_done) loci_buf folded;

    if (size == 0) return 0;
    loci_str text = { (const char *)data + 1, size - 1 };
    loci_buf_init(&folded, 3 * text.len);
    loci_fold_case(text, &folded);
    check(loci_buf_check(&folded, NULL) == LOCI_OK);
    if (loci_words_open(loci_str_from(languages[data[0] & 7]), &words, NULL)) abort();
    seen s = { text.len, 0 };
    check(loci_words_each(words, text, (loci_words_flags)(data[0] >> 3 & 3), look, &s, NULL) ==
          LOCI_OK);
    return 0;
}
