/* text/words.h -- the words of a text, as the full-text index and its queries see them.
 *
 * Here:     Unicode words, folded in case and accents, identifiers in parts and whole, bigrams
 * where a script has no blanks, stems, and the stop words of questions. Not here: postings and
 * ranking (index/), substrings (text/fold.h), model tokens (text/bpe.h). Owns:     a loci_words
 * owns its stemmer; words live in the caller's arena, or for the time of a call. Threads:  one
 * loci_words, one thread at a time; open one per thread. Errors:   LOCI_EINVAL an unknown language,
 * LOCI_ELIMIT text or result too long, LOCI_ENOMEM.
 *
 * Any bytes are a legal text; what is not UTF-8 is a border. Time is linear, no word is longer than
 * LOCI_WORD_BYTES. What comes out for a text depends on the text, the language and the version
 * below alone; an index stores both and is rebuilt when they change.
 *
 *   user_name  getUserName  user-name   user, name / get, user, name / user, name; and the joined
 *                                       username / getusername / username at the first part's
 * position 3.14  2024-05-01  v1.2              the parts, and joined with the sign where digits
 * meet over it Bob's  they're  don't  O'Brien      bob / they / dont / o, brien and obrien Müller
 * Straße  x²  ﬁ                muller / strasse / x2 / fi 東京都  สวัสดี  안녕 overlapping pairs of
 * characters; a lone one as it is
 */
#ifndef LOCI_TEXT_WORDS_H
#define LOCI_TEXT_WORDS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
    LOCI_WORDS_VERSION = 1, /* raise it with every change of what comes out */
    LOCI_WORD_BYTES = 128,  /* longer words are cut, longer joined forms left out */
};

#define LOCI_WORDS_TEXT_BYTES ((size_t)64 << 20)

typedef enum loci_words_flags {
    LOCI_WORDS_EXACT = 1 << 0, /* beside a stem also the unstemmed form, where they differ */
    LOCI_WORDS_QUERY = 1 << 1, /* a question: drop stop words, unless there is nothing else */
} loci_words_flags;

typedef struct loci_word {
    loci_str text;     /* folded, and stemmed unless `exact` */
    uint32_t start;    /* first byte in the source */
    uint32_t len;      /* bytes of the source */
    uint32_t position; /* counts from 0; a joined or exact form has that of its word */
    bool exact;        /* the unstemmed form beside a stem (LOCI_WORDS_EXACT) */
    bool stop;         /* a stop word; only looked up for a query */
} loci_word;

typedef struct loci_word_list {
    loci_word *items;
    size_t count;
} loci_word_list;

typedef struct loci_words loci_words;

/* Called for each word; word->text is gone after the call. A code other than LOCI_OK ends the
 * analysis, which returns it. */
typedef loci_rc (*loci_word_fn)(void *context, const loci_word *word, loci_err *err);

/* `language` is a name or ISO code that the stemmer library knows; empty means english, "none" no
 * stemming. The list of what there is stands in the error for another. */
LOCI_MUST loci_rc loci_words_open(loci_str language, loci_words **ret_words, loci_err *err);
void loci_words_close(loci_words *words); /* NULL is fine */
LOCI_DEFINE_CLEANUP(loci_words_closep, loci_words, loci_words_close)

/* The words of `text` in order, each handed to `fn`. With LOCI_WORDS_QUERY stop words are marked,
 * not dropped: only a list knows whether there is anything else. */
LOCI_MUST loci_rc loci_words_each(loci_words *words, loci_str text, loci_words_flags flags,
                                  loci_word_fn fn, void *context, loci_err *err);

/* The same as a list in `arena`; with LOCI_WORDS_QUERY without the stop words. */
LOCI_MUST loci_rc loci_words_list(loci_words *words, loci_str text, loci_words_flags flags,
                                  loci_arena *arena, loci_word_list *ret_list, loci_err *err);

/* Function words and small talk of English questions, folded ("dont", "what"). */
bool loci_words_is_stop(loci_str word);

#endif
