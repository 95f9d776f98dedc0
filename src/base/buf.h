/* base/buf.h -- text that grows, up to a maximum named at birth.
 *
 * Here:     a sticky builder: append freely, check once at the end.
 * Not here: JSON (base/json.h builds on this).
 * Owns:     its bytes: on the heap (then loci_buf_done), or in an arena (then nothing to free).
 * Threads:  one buffer, one thread at a time.
 * Errors:   after the first failure every append does nothing and loci_buf_check tells.
 */
#ifndef LOCI_BASE_BUF_H
#define LOCI_BASE_BUF_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

typedef struct loci_buf {
    char *ptr;         /* a NUL always stands behind the text, once something was appended */
    size_t len;        /* without that NUL */
    size_t cap;        /* private */
    size_t max;        /* private: most bytes of text */
    loci_arena *arena; /* private: NULL for the heap */
    loci_rc failed;    /* private: LOCI_OK, LOCI_ELIMIT, LOCI_ENOMEM or LOCI_EINVAL */
    bool arena_failed; /* private: it was the arena that had no room */
} loci_buf;

/* On the heap; nothing is allocated yet. */
void loci_buf_init(loci_buf *buf, size_t max);
/* In `arena`, which must outlive the text. */
void loci_buf_init_arena(loci_buf *buf, loci_arena *arena, size_t max);
/* Free and make empty; fine on a zeroed or arena buffer. Works as LOCI_AUTO(loci_buf_done). */
void loci_buf_done(loci_buf *buf);
/* Forget the text and the failure, keep the memory. */
void loci_buf_clear(loci_buf *buf);

void loci_buf_add(loci_buf *buf, loci_str s);
void loci_buf_add_cstr(loci_buf *buf, const char *text);
void loci_buf_add_char(loci_buf *buf, char c);
void loci_buf_printf(loci_buf *buf, const char *fmt, ...) LOCI_PRINTF(2, 3);

/* Room for `n` more bytes to write into directly, or NULL (then the buffer has failed); call
 * loci_buf_advance with how many were written. */
char *loci_buf_reserve(loci_buf *buf, size_t n);
void loci_buf_advance(loci_buf *buf, size_t n);

/* Cut the text to `len` bytes; longer does nothing. */
void loci_buf_cut(loci_buf *buf, size_t len);

/* LOCI_OK when every append worked. Else LOCI_ELIMIT (the maximum, or the arena's ceiling),
 * LOCI_ENOMEM, or LOCI_EINVAL for a value that printf cannot print. */
LOCI_MUST loci_rc loci_buf_check(const loci_buf *buf, loci_err *err);

/* What was built so far; borrowed, valid until the next append. */
loci_str loci_buf_str(const loci_buf *buf);

/* Hand over the heap text as a C string to loci_free; NULL if it failed or nothing was added. */
LOCI_MUST char *loci_buf_take(loci_buf *buf);

#endif
