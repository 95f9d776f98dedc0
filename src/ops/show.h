/* ops/show.h -- how stored things look in an answer.
 *
 * Here:     times, absent texts and stored JSON as JSON values.
 * Not here: what is shown (the handlers).
 * Owns:     nothing.
 * Threads:  pure.
 * Errors:   sticky in the writer.
 */
#ifndef LOCI_OPS_SHOW_H
#define LOCI_OPS_SHOW_H

#include "base/arena.h"
#include "base/json.h"

/* "name": "2026-05-01T12:00:00.000000Z". */
void loci_show_time(loci_json_writer *w, const char *name, int64_t at);

/* "name": "text", or null when ptr is NULL. */
void loci_show_text(loci_json_writer *w, const char *name, loci_str text);

/* A stored JSON text as the value that it is; null when ptr is NULL, a string if it is damaged. */
void loci_show_json(loci_json_writer *w, const char *name, loci_str json, loci_arena *arena);

/* The schema of a text that may be absent, for outputs. */
#define LOCI_SHOW_TEXT "{\"type\":[\"string\",\"null\"]}"
#define LOCI_SHOW_TIME "{\"type\":\"string\",\"format\":\"date-time\"}"

#endif
