/* ops/schema.h -- the part of JSON Schema (2020-12) that our operations use.
 *
 * Here:     reading a schema, checking a value against it, writing it out again.
 * Not here: $ref, patterns, conditions; named formats (ops/format.h); typed access (ops/input.h).
 * Owns:     nothing: a schema lives in the arena that it was parsed into, with its JSON.
 * Threads:  a parsed schema is read-only and may be shared.
 * Errors:   LOCI_EINVAL for a schema that is wrong (a bug of ours), LOCI_ESHAPE for a value that
 *           does not fit, LOCI_ENOMEM or LOCI_ELIMIT from the arena.
 *
 * Stricter than the standard where that helps the caller: an object with `properties` is closed
 * unless it says "additionalProperties": true (or a schema); one without takes any names. The
 * alternatives of oneOf and anyOf must differ in their JSON types, so the value's type chooses
 * one, and a message is about that one. A default is documented and given by the getters; the
 * input itself is never rewritten. Keywords that we do not check are errors, never ignored.
 *
 * Checking visits no deeper than the schema is, whatever the input: LOCI_SCHEMA_DEPTH bounds it.
 */
#ifndef LOCI_OPS_SCHEMA_H
#define LOCI_OPS_SCHEMA_H

#include "base/json.h"
#include "ops/format.h"

enum {
    LOCI_SCHEMA_DEPTH = 16,    /* deepest nesting of a schema */
    LOCI_SCHEMA_ERRORS = 3,    /* problems that one message names */
    LOCI_SCHEMA_UNIQUE = 1000, /* largest maxItems that may stand beside uniqueItems */
};

/* A set of JSON types: 1 << LOCI_JSON_INT and so on. "number" is both INT and REAL. */
typedef unsigned loci_schema_types;

typedef struct loci_schema loci_schema;

typedef struct loci_schema_property {
    loci_str name;
    loci_schema *schema;
    bool required;
} loci_schema_property;

/* Read it freely, change it only through the functions below. What was not said is NULL, 0 or
 * empty, and a maximum SIZE_MAX. */
struct loci_schema {
    loci_str title, description;

    loci_schema_property *properties; /* in the order of the text */
    size_t property_count;
    loci_schema *extra; /* what the values of further names must be */

    loci_schema *items;
    size_t min_items, max_items;

    size_t min_length, max_length; /* in characters */
    const loci_format *format;
    loci_str format_name; /* "passage-id" for a family of formats */

    const loci_json *minimum, *maximum;
    const loci_json *choices;  /* the array of enum, or of the one value of const */
    const loci_json *fallback; /* default */

    loci_schema *alternatives; /* of oneOf or anyOf */
    size_t alternative_count;

    loci_schema_types types; /* never 0: what is not said is inferred, else all */
    bool closed;             /* names beyond the properties are errors */
    bool unique;             /* uniqueItems */
    bool is_const;           /* choices came from const */
    bool any_of;             /* alternatives came from anyOf */
};

/* Parse schema text. On failure the message has the place inside the schema. */
LOCI_MUST loci_rc loci_schema_parse(loci_arena *arena, loci_str text, loci_schema **ret_schema,
                                    loci_err *err);

/* Add one optional property to an object schema; the name must be new. Both live in `arena`. */
LOCI_MUST loci_rc loci_schema_add(loci_arena *arena, loci_schema *object, loci_str name,
                                  loci_schema *property, loci_err *err);

/* The property called `name`, or NULL. */
const loci_schema *loci_schema_find(const loci_schema *schema, loci_str name);

/* The alternative that a value of `type` must fit; `schema` itself when it has none, NULL when no
 * alternative takes such a value. */
const loci_schema *loci_schema_pick(const loci_schema *schema, loci_json_type type);

/* Whether `value` fits. The message names up to LOCI_SCHEMA_ERRORS problems, each with its path
 * and the value, cut short: "tags[3]: must be a string, not 7; text: is required". */
LOCI_MUST loci_rc loci_schema_check(const loci_schema *schema, const loci_json *value,
                                    loci_err *err);

/* Whether two values are equal; the integer 1 and the number 1.0 are. Arrays and objects never. */
bool loci_schema_same(const loci_json *a, const loci_json *b);

/* Whether a REAL is a whole number that an int64 holds. */
bool loci_schema_whole(double real);

/* The schema as standard JSON Schema, with what we assume said aloud (additionalProperties). */
void loci_schema_write(const loci_schema *schema, loci_json_writer *w);

/* Its types in words: "a string or an array of strings". */
void loci_schema_describe(const loci_schema *schema, loci_buf *out);

#endif
