/* ops/past_show.h -- revisions, differences and undos as JSON.
 *
 * Here:     writing what tree/past.h, tree/diff.h and tree/undo.h found.
 * Not here: finding it.
 * Owns:     nothing.
 * Threads:  pure.
 * Errors:   sticky in the writer.
 */
#ifndef LOCI_OPS_PAST_SHOW_H
#define LOCI_OPS_PAST_SHOW_H

#include "base/json.h"
#include "tree/diff.h"
#include "tree/undo.h"

/* One revision: when, by whom, and its content as the object `values`. */
void loci_past_show_row(loci_json_writer *w, const loci_past_row *row, loci_arena *arena);

/* One difference, with the content of a change before and after. */
void loci_past_show_diff(loci_json_writer *w, const loci_diff_entry *entry, loci_arena *arena);

/* What was done, or would be. */
void loci_past_show_undo(loci_json_writer *w, const loci_undo_result *result);

/* The properties of a revision, for output schemas. */
#define LOCI_PAST_SHOW_ROW                                                                         \
    "\"rev\":{\"type\":\"integer\",\"minimum\":1},"                                                \
    "\"born\":{\"type\":\"string\",\"format\":\"date-time\"},"                                     \
    "\"ended\":{\"type\":[\"string\",\"null\"],\"description\":\"null while it is alive\"},"       \
    "\"who\":{\"type\":[\"string\",\"null\"]},\"door\":{\"type\":[\"string\",\"null\"]},"          \
    "\"ended_who\":{\"type\":[\"string\",\"null\"]},"                                              \
    "\"ended_door\":{\"type\":[\"string\",\"null\"]},"                                             \
    "\"name\":{\"type\":[\"string\",\"null\"]},\"node\":{\"type\":[\"string\",\"null\"]},"         \
    "\"text\":{\"type\":[\"string\",\"null\"]},\"values\":{\"type\":\"object\"}"

#endif
