/* base/json.h -- JSON in and out.
 *
 * Here:     a strict parser into an arena, access to what was parsed, a streaming writer.
 * Not here: schemas (ops/), what the fields mean.
 * Owns:     nothing: values live in the caller's arena, output in the caller's buffer.
 * Threads:  parsed values are read-only and may be shared; a writer belongs to one thread.
 * Errors:   LOCI_ESHAPE for text that is not JSON (with line and column), LOCI_ELIMIT for text that
 * is too deep, has too many values or does not fit the arena.
 *
 * Integers are exact in all of int64; other numbers are doubles, and a number that neither can
 * hold is an error, never a different number. Written and parsed again, both come back the same.
 * A number with a fraction or an exponent is a double and stays one (1.0 is written as 1.0); it is
 * rounded to the nearest double, so 1e-400 is 0.0. -0 is the integer 0; -0.0 keeps its sign.
 *
 * A name with U+0000 in it is refused (LOCI_ESHAPE): nothing below could store it. Texts may have
 * U+0000, written as an escape.
 */
#ifndef LOCI_BASE_JSON_H
#define LOCI_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    LOCI_JSON_DEPTH = 256,      /* deepest nesting accepted */
    LOCI_JSON_VALUES = 2 << 20, /* most values in one text */
    LOCI_JSON_BYTES = 1 << 30,  /* longest text */

    /* The writer goes deeper, so that the deepest value accepted still fits inside an answer. */
    LOCI_JSON_WRITE_DEPTH = LOCI_JSON_DEPTH + 64,
};

typedef enum loci_json_type {
    LOCI_JSON_NULL,
    LOCI_JSON_BOOL,
    LOCI_JSON_INT,
    LOCI_JSON_REAL,
    LOCI_JSON_STRING,
    LOCI_JSON_ARRAY,
    LOCI_JSON_OBJECT,
} loci_json_type;

typedef struct loci_json loci_json;

typedef struct loci_json_member loci_json_member;

/* One value. Read the union member that `type` names. */
struct loci_json {
    loci_json_type type;
    union {
        bool boolean;
        int64_t integer;
        double real;
        loci_str string; /* UTF-8; may hold U+0000; a NUL stands behind it */
        struct {
            loci_json *items;
            size_t count;
        } array;
        struct {
            /* In the order of the text. A doubled name has its first place and its last value. */
            loci_json_member *members;
            size_t count;
        } object;
    };
};

struct loci_json_member {
    loci_str name;
    loci_json value;
};

/* Parse one whole JSON text (RFC 8259, any value at the top) of any bytes at all. On failure
 * *ret_value is untouched; what was taken from the arena stays taken.
 * Errors: LOCI_ESHAPE  not JSON, a number out of range, U+0000 in a name; with line and column
 *         LOCI_ELIMIT  over a limit above, or over the arena's ceiling
 *         LOCI_ENOMEM  out of memory */
LOCI_MUST loci_rc loci_json_parse(loci_arena *arena, loci_str text, const loci_json **ret_value,
                                  loci_err *err);

/* The member called `name`, or NULL when there is none or `object` is NULL or no object. */
const loci_json *loci_json_find(const loci_json *object, loci_str name);

/* "null", "a boolean", "an integer", "a number", "a string", "an array", "an object". */
const char *loci_json_type_name(loci_json_type type);

/* The writer puts commas and colons itself. It is sticky like its buffer: write freely, then check
 * with loci_json_check. Misuse (a value without a name inside an object, a missing end) is a bug
 * of ours and asserts. Strings must be UTF-8; bytes that are not become U+FFFD. Deeper than
 * LOCI_JSON_WRITE_DEPTH is a failure like a full buffer, because the data may be someone else's. */
typedef struct loci_json_writer {
    loci_buf *out;
    size_t depth;                                 /* private, as all below */
    bool after_value;                             /* a comma is due */
    bool after_name;                              /* the value of a member is due */
    bool too_deep;                                /* nothing more is written */
    uint8_t in_object[LOCI_JSON_WRITE_DEPTH / 8]; /* one bit per open level */
} loci_json_writer;

/* Append to `out`, which may hold something already. */
void loci_json_begin(loci_json_writer *w, loci_buf *out);

void loci_json_object(loci_json_writer *w);
void loci_json_object_end(loci_json_writer *w);
void loci_json_array(loci_json_writer *w);
void loci_json_array_end(loci_json_writer *w);
void loci_json_name(loci_json_writer *w, loci_str name);
void loci_json_null(loci_json_writer *w);
void loci_json_bool(loci_json_writer *w, bool value);
void loci_json_int(loci_json_writer *w, int64_t value);
void loci_json_uint(loci_json_writer *w, uint64_t value);
void loci_json_real(loci_json_writer *w, double value); /* shortest exact form; NaN, inf: null */
void loci_json_string(loci_json_writer *w, loci_str value);
void loci_json_value(loci_json_writer *w, const loci_json *value); /* a whole parsed value */
void loci_json_raw(loci_json_writer *w, loci_str json);            /* text that is JSON already */

/* Name and value in one call. */
void loci_json_member_str(loci_json_writer *w, const char *name, loci_str value);
void loci_json_member_cstr(loci_json_writer *w, const char *name,
                           const char *value); /* NULL: null */
void loci_json_member_int(loci_json_writer *w, const char *name, int64_t value);
void loci_json_member_bool(loci_json_writer *w, const char *name, bool value);

/* LOCI_OK when everything was closed and fitted the buffer. */
LOCI_MUST loci_rc loci_json_check(const loci_json_writer *w, loci_err *err);

#endif
