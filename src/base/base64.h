/* base/base64.h -- bytes as base64 text and back (RFC 4648).
 *
 * Here:     the standard form (+ / with padding) and the form for URLs (- _ without padding).
 * Not here: hex (base/hash.h).
 * Owns:     nothing; results are appended to the caller's buffer.
 * Threads:  pure functions.
 * Errors:   LOCI_EINVAL for text that is not exactly what the encoder writes: other characters,
 *           blanks, missing or extra padding, bits left over. So one text has one meaning.
 */
#ifndef LOCI_BASE_BASE64_H
#define LOCI_BASE_BASE64_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

typedef enum loci_base64_form { LOCI_BASE64, LOCI_BASE64_URL } loci_base64_form;

/* Append the text of `in`; the buffer is sticky, check it at the end. */
void loci_base64_encode(loci_base64_form form, loci_str in, loci_buf *out);

/* Append the bytes that `text` stands for. On LOCI_EINVAL nothing was appended; LOCI_ELIMIT or
 * LOCI_ENOMEM when the buffer could not hold them. */
LOCI_MUST loci_rc loci_base64_decode(loci_base64_form form, loci_str text, loci_buf *out,
                                     loci_err *err);

#endif
