/* ops/app.h -- the application that handlers work with: store, writer, settings.
 *
 * Here:     opening and closing it, the table of all operations, writing from a handler.
 * Not here: who asks (ops/call.h), sockets and options (the doors).
 * Owns:     a loci_app owns store, writer and table; the configuration is borrowed.
 * Threads:  open and close from one thread; everything else from any.
 * Errors:   those of loci_db_open; LOCI_EINVAL for a table that is wrong (a bug of ours).
 */
#ifndef LOCI_OPS_APP_H
#define LOCI_OPS_APP_H

#include "base/config.h"
#include "db/write.h"
#include "ops/call.h"

struct loci_app {
    loci_arena *arena; /* texts that live as long as this */
    const loci_config *config;
    loci_db *db;
    loci_writer *writer;
    loci_ops *ops;
    loci_str file_roots; /* folders that callers over HTTP may name */
    bool check_output;   /* every answer against its schema: for development */
};

/* Every operation there is: the one list. Needs no store. */
LOCI_MUST loci_rc loci_table_new(loci_ops **ret_ops, loci_err *err);

/* Where the store is and how to open it: the setting `db`, or the usual place, whose folder is
 * made.
 */
LOCI_MUST loci_rc loci_app_store(const loci_config *config, char *const *env, loci_arena *arena,
                                 const char **ret_url, loci_db_options *ret_options, loci_err *err);

/* Open the store that the setting `db` names, or the usual one. `env` is as environ; `config` must
 * outlive the app. */
LOCI_MUST loci_rc loci_app_open(const loci_config *config, char *const *env, loci_app **ret_app,
                                loci_err *err);

/* No call may be under way. NULL is fine. */
void loci_app_close(loci_app *app);
LOCI_DEFINE_CLEANUP(loci_app_closep, loci_app, loci_app_close)

/* What a status answer and the readiness of a server have in common. */
typedef struct loci_app_work {
    int64_t embedding_pending; /* texts that wait for their vectors, of all organizations */
    int64_t outbox_pending;    /* deliveries to an external store */
} loci_app_work;

LOCI_MUST loci_rc loci_app_pending(loci_app *app, loci_app_work *ret_work, loci_err *err);

/* ---- for handlers ---- */

/* Write as the caller of `call`: its organization, attribution and idempotency key. The closure
 * writes its answer, one JSON object, into change->answer; it goes to `out`, as does the first
 * answer when the request is a repeat. */
LOCI_MUST loci_rc loci_app_write(loci_call *call, loci_write_fn run, void *arg,
                                 loci_json_writer *out, loci_err *err);

/* The same for work that needs several writes of its own. It must change nothing more when it is
 * done again: of two equal requests at one time both may run. */
LOCI_MUST loci_rc loci_app_write_long(loci_call *call, loci_op_handler run, loci_json_writer *out,
                                      loci_err *err);

/* A read transaction that ends when the call's time does. The caller ends it. */
LOCI_MUST loci_rc loci_app_read(loci_call *call, loci_tx **ret_tx, loci_err *err);

/* "rest", "mcp", "cli", "library": the door as revisions remember it. */
loci_str loci_app_door(const loci_call *call);

#endif
