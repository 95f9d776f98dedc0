/* ops/input.h -- typed access to a checked input.
 *
 * Here:     one short call per field; defaults come from the schema.
 * Not here: checking (ops/schema.h): what arrives here fits its schema already.
 * Owns:     nothing: everything is borrowed from the input and the schema.
 * Threads:  pure functions.
 * Errors:   none but loci_in_date's. A field that is absent, or null, gives its default, or else
 *           nothing: an empty text, 0, false, an empty list. Asking for a field that the schema
 *           does not have is a bug of ours and asserts.
 *
 *     loci_str text = loci_in_text(call->in, "text");
 *     loci_in_list steps = loci_in_items(call->in, "next_steps");
 *     for (size_t i = 0; i < steps.count; i++)
 *         add_step(loci_in_text(loci_in_item(steps, i), "action"));
 */
#ifndef LOCI_OPS_INPUT_H
#define LOCI_OPS_INPUT_H

#include "base/date.h"
#include "base/json.h"
#include "ops/schema.h"

/* An object of the input with its schema. `value` is NULL when the object is not there; all its
 * fields are then absent. */
typedef struct loci_in {
    const loci_json *value;
    const loci_schema *schema;
} loci_in;

typedef struct loci_in_list {
    const loci_json *items;
    size_t count;
    const loci_schema *schema; /* of one item */
} loci_in_list;

/* Whether the caller gave it, and not null. */
bool loci_in_has(loci_in in, const char *name);
/* Whether the caller gave it, null included: for updates, where null clears. */
bool loci_in_given(loci_in in, const char *name);

/* The value itself, or its default, or NULL. */
const loci_json *loci_in_value(loci_in in, const char *name);

loci_str loci_in_text(loci_in in, const char *name);
int64_t loci_in_int(loci_in in, const char *name);
double loci_in_real(loci_in in, const char *name);
bool loci_in_bool(loci_in in, const char *name);

/* A field of format date, date-time or moment. A time without a zone is local in `zone` (NULL:
 * UTC). When the field is absent, *ret_date is untouched; the only error is LOCI_EINVAL, for a time
 * that the zone moves out of all years. */
LOCI_MUST loci_rc loci_in_date(loci_in in, const char *name, const loci_zone *zone,
                               loci_date *ret_date, loci_err *err);

/* The position of the value in the schema's enum, for a C enum in the same order; -1 when there is
 * neither a value nor a default. */
int loci_in_choice(loci_in in, const char *name);

/* A list. A single value where a list is allowed too counts as a list of one. */
loci_in_list loci_in_items(loci_in in, const char *name);
/* One item: as an object for further getters, or its text ("" when it is no string). */
loci_in loci_in_item(loci_in_list list, size_t index);
loci_str loci_in_item_text(loci_in_list list, size_t index);

/* An object inside the object. */
loci_in loci_in_object(loci_in in, const char *name);

#endif
