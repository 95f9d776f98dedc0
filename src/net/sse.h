/* net/sse.h -- an answer that comes in pieces: its lines, or its server-sent events.
 *
 * Here:     two readers that are fed bytes as they come and hand on whole lines or events.
 * Not here: fetching the bytes (net/client.h), what lines and events mean, reconnecting.
 * Owns:     a reader owns what it has of an unfinished line or event; done frees it.
 * Threads:  one reader, one thread at a time.
 * Errors:   LOCI_ELIMIT a line or an event is longer than allowed, LOCI_ENOMEM, and what the
 *           handler fails with. After a failure a reader must be fed no more.
 *
 * Lines end with LF, CRLF or CR. Events are those of the HTML standard: fields data, event and id;
 * lines of data are joined by LF; comments, unknown fields and events without data are skipped; an
 * event that the end cuts short is dropped.
 */
#ifndef LOCI_NET_SSE_H
#define LOCI_NET_SSE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Gets a line without its end; the slice dies with the call. */
typedef loci_rc loci_line_handler(void *context, loci_str line, loci_err *err);

typedef struct loci_lines {
    loci_buf partial; /* private, as all below */
    loci_line_handler *handler;
    void *context;
    bool after_cr; /* a LF now belongs to the end before it */
} loci_lines;

/* `limit` is the most bytes of a line that is not whole yet. */
void loci_lines_init(loci_lines *lines, size_t limit, loci_line_handler *handler, void *context);
void loci_lines_done(loci_lines *lines); /* fine on a zeroed reader */
/* The next bytes, of any number. */
LOCI_MUST loci_rc loci_lines_feed(loci_lines *lines, loci_str bytes, loci_err *err);
/* No more will come: a last line without an end is handed on. */
LOCI_MUST loci_rc loci_lines_end(loci_lines *lines, loci_err *err);

typedef struct loci_sse_event {
    loci_str name; /* "message" when the event has none */
    loci_str id;   /* the last one that was given, also by an earlier event */
    loci_str data; /* any bytes: UTF-8 is for the handler to check */
} loci_sse_event;

/* The slices die with the call. */
typedef loci_rc loci_sse_handler(void *context, const loci_sse_event *event, loci_err *err);

typedef struct loci_sse {
    loci_lines lines; /* private, as all below */
    loci_buf name, id, data;
    loci_sse_handler *handler;
    void *context;
    bool has_data;
    bool started; /* the first line, which may have a mark in front, is over */
} loci_sse;

/* `limit` is the most bytes of one line, and of the data of one event. The reader must not be
 * moved afterwards. */
void loci_sse_init(loci_sse *sse, size_t limit, loci_sse_handler *handler, void *context);
void loci_sse_done(loci_sse *sse);
LOCI_MUST loci_rc loci_sse_feed(loci_sse *sse, loci_str bytes, loci_err *err);

#endif
