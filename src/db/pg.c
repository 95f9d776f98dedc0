#include "db/pg.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "db/pg_class.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { HOSTS = 16, HOST_SHARE = 2 * LOCI_SECOND };

/* libpq's messages end in a newline and may have several lines: the first says it. */
static void add_reason(loci_err *err, loci_rc code, const char *name, const char *message)
{
    loci_str first = loci_str_from(message);

    first = loci_str_trim(loci_str_sub(first, 0, loci_str_find(first, LOCI_STR("\n"))));
    loci_err_set(err, code, "%s: %.*s", name, LOCI_ARG(first));
}

loci_rc loci_pg_fail(loci_tx *tx, const PGresult *result, loci_err *err)
{
    loci_pg_link *link = loci_pg_link_of(tx);
    const char *state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    const char *said = result ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    const loci_pg_class *class = loci_pg_classify(state);

    if (PQstatus(link->conn) != CONNECTION_OK) class = loci_pg_classify(NULL);
    if (class->failure == LOCI_TX_RECONNECT) tx->broken = true;
    if (class->advice)
        loci_err_set(err, class->code, "%s: %s", tx->db->name, class->advice);
    else
        add_reason(err, class->code, tx->db->name, said ? said : PQerrorMessage(link->conn));
    return loci_driver_fail(tx, class->failure, class->code);
}

/* Wait until the socket can be used as `events` says. */
static loci_rc wait_socket(loci_tx *tx, PGconn *conn, short events, loci_err *err)
{
    struct pollfd fd = { .fd = PQsocket(conn), .events = events };
    int64_t left = loci_driver_left(tx);
    int n = left > 0 ? poll(&fd, 1, (int)(left / LOCI_MS) + 1) : 0;

    if (n > 0 || (n < 0 && loci_driver_left(tx) > 0)) return LOCI_OK; /* EINTR: look again */
    tx->broken = true;
    loci_err_set(err, LOCI_EUNAVAILABLE, "%s: the server did not answer in time", tx->db->name);
    return loci_driver_fail(tx, LOCI_TX_RECONNECT, LOCI_EUNAVAILABLE);
}

loci_rc loci_pg_result(loci_tx *tx, PGresult **ret_result, loci_err *err)
{
    PGconn *conn = loci_pg_link_of(tx)->conn;
    loci_rc rc = LOCI_OK;

    for (;;) {
        int unsent = PQflush(conn);
        if (unsent < 0) return loci_pg_fail(tx, NULL, err);
        if (!PQisBusy(conn)) break;
        rc = wait_socket(tx, conn, (short)(POLLIN | (unsent ? POLLOUT : 0)), err);
        if (rc) return rc;
        if (!PQconsumeInput(conn)) return loci_pg_fail(tx, NULL, err);
    }
    *ret_result = PQgetResult(conn);
    return LOCI_OK;
}

loci_rc loci_pg_drain(loci_tx *tx, loci_err *err)
{
    unsigned silence = 0;

    for (;;) {
        PGresult *result = NULL;
        loci_rc rc = loci_pg_result(tx, &result, err);
        if (rc) return rc;
        bool over = result && PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        silence = result ? 0 : silence + 1;
        PQclear(result);
        if (over) return LOCI_OK;
        /* Between two queries there is one NULL; more mean that nothing will ever come. */
        if (silence > 2 || PQstatus(loci_pg_link_of(tx)->conn) != CONNECTION_OK)
            return loci_pg_fail(tx, NULL, err);
    }
}

static bool went_well(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* The answers of one posted query, up to the NULL behind them. The first failure counts. */
static loci_rc take_posted(loci_tx *tx, loci_err *err)
{
    loci_rc failed = LOCI_OK;

    for (;;) {
        PGresult *result = NULL;
        loci_rc rc = loci_pg_result(tx, &result, err);
        if (rc) return rc;
        if (!result) return failed;
        if (!failed && !went_well(result)) failed = loci_pg_fail(tx, result, err);
        bool lost = PQstatus(loci_pg_link_of(tx)->conn) != CONNECTION_OK;
        PQclear(result);
        if (lost) return failed ? failed : loci_pg_fail(tx, NULL, err);
    }
}

loci_rc loci_pg_sync(loci_tx *tx, bool own, loci_err *err)
{
    loci_pg_link *link = loci_pg_link_of(tx);
    loci_rc rc = LOCI_OK;

    if (!PQpipelineSync(link->conn)) return loci_pg_fail(tx, NULL, err);
    while (!rc && link->posted) {
        link->posted--;
        rc = take_posted(tx, err);
    }
    link->posted = 0;
    if (tx->broken) return rc;
    if (rc || !own) {
        loci_rc drained = loci_pg_drain(tx, rc ? NULL : err);
        if (!rc) rc = drained;
    }
    return rc;
}

static void on_notice(void *arg, const PGresult *result)
{
    loci_pg_link *link = arg;
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    if (state && strcmp(state, "01000") == 0) link->unsure = true;
}

/* The n-th of "a,b,c"; the only one when there is one; the default (empty) when there is none. */
static loci_str nth(const char *list, size_t n)
{
    loci_str rest = loci_str_from(list), part = { NULL, 0 };

    if (rest.len && loci_str_find(rest, LOCI_STR(",")) == rest.len) return rest;
    for (size_t i = 0; i <= n; i++)
        if (!loci_str_cut(&rest, ',', &part)) return (loci_str){ NULL, 0 };
    return part;
}

static size_t count_parts(const char *list)
{
    size_t n = 1;

    for (const char *c = list ? list : ""; *c; c++) n += *c == ',';
    return n;
}

static const char *option(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword; options++)
        if (strcmp(options->keyword, keyword) == 0) return options->val;
    return NULL;
}

/* The message of libpq may quote the URL, and with it the password: only what stands before the
 * first quote is shown. */
static loci_rc parse_url(const char *url, PQconninfoOption **ret_options, loci_err *err)
{
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &message);

    if (!options) {
        loci_str said = loci_str_from(message ? message : "out of memory");
        said = loci_str_trim(loci_str_sub(said, 0, loci_str_find(said, LOCI_STR("\""))));
        loci_err_set(err, LOCI_EINVAL,
                     "the PostgreSQL URL is wrong (%.*s): write "
                     "postgres://USER:PASSWORD@HOST:PORT/DATABASE, special characters as %%XX",
                     LOCI_ARG(said));
        PQfreemem(message);
        return LOCI_EINVAL;
    }
    *ret_options = options;
    return LOCI_OK;
}

static loci_rc check_ports(const char *ports, loci_err *err)
{
    loci_str rest = loci_str_from(ports), port;
    int64_t number = 0;

    while (ports && loci_str_cut(&rest, ',', &port))
        if (port.len && (!loci_str_to_i64(port, &number) || number < 1 || number > 65535))
            return loci_fail(err, LOCI_EINVAL,
                             "the PostgreSQL URL is wrong: a port must be a number up to 65535");
    return LOCI_OK;
}

static loci_rc open_place(loci_db *db, loci_err *err)
{
    PQconninfoOption *options = NULL;
    LOCI_AUTO(loci_buf_done) loci_buf name = { 0 };
    loci_rc rc = parse_url(db->url, &options, err);

    loci_buf_init(&name, LOCI_DB_PATH);
    if (rc) return rc;
    const char *host = option(options, "host"), *database = option(options, "dbname");
    loci_buf_printf(&name, "postgres://%s/%s", host ? host : "", database ? database : "");
    rc = check_ports(option(options, "port"), err);
    if (!rc && count_parts(host) > HOSTS)
        rc = loci_fail(err, LOCI_ELIMIT, "the PostgreSQL URL names more than %d hosts", HOSTS);
    PQconninfoFree(options);
    db->name = loci_buf_take(&name);
    if (!rc && !db->name) rc = loci_fail(err, LOCI_ENOMEM, "out of memory");
    return rc;
}

static void close_place(loci_db *db)
{
    (void)db;
}

/* Poll a connection that was started until it stands. */
static loci_rc finish_connecting(loci_tx *tx, PGconn *conn, loci_err *err)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;

    while (status != PGRES_POLLING_OK) {
        if (status == PGRES_POLLING_FAILED || PQstatus(conn) == CONNECTION_BAD) {
            const loci_pg_class *c = loci_pg_classify(NULL);
            add_reason(err, c->code, tx->db->name, PQerrorMessage(conn));
            return loci_driver_fail(tx, c->failure, c->code);
        }
        short events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT;
        loci_rc rc = wait_socket(tx, conn, events, err);
        if (rc) return rc;
        status = PQconnectPoll(conn);
    }
    return LOCI_OK;
}

/* Connect to the n-th host of the URL. Words before dbname are defaults that the URL may change,
 * words behind it are not. Hosts are tried one by one, each with its share of the time: left to
 * itself, libpq would spend it all on the first that is frozen. */
static loci_rc connect_host(loci_tx *tx, const PQconninfoOption *options, size_t n,
                            PGconn **ret_conn, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf host = { 0 }, port = { 0 }, address = { 0 };
    const char *words[10] = { "target_session_attrs",
                              "fallback_application_name",
                              "tcp_user_timeout",
                              "dbname",
                              "client_encoding",
                              "host",
                              "port",
                              "hostaddr" };
    const char *values[10] = { "read-write", "loci", "10000", tx->db->url, "UTF8" };

    loci_buf_init(&host, LOCI_DB_PATH);
    loci_buf_init(&port, LOCI_DB_PATH);
    loci_buf_init(&address, LOCI_DB_PATH);
    loci_buf_add(&host, nth(option(options, "host"), n));
    loci_buf_add(&port, nth(option(options, "port"), n));
    loci_buf_add(&address, nth(option(options, "hostaddr"), n));
    values[5] = host.ptr;
    values[6] = port.ptr;
    values[7] = address.ptr;

    PGconn *conn = PQconnectStartParams(words, values, 1);
    if (!conn) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = finish_connecting(tx, conn, err);
    if (rc)
        PQfinish(conn);
    else
        *ret_conn = conn;
    return rc;
}

static loci_rc connect_any(loci_tx *tx, PGconn **ret_conn, loci_err *err)
{
    PQconninfoOption *options = NULL;
    int64_t end = tx->call_end;
    loci_rc rc = parse_url(tx->db->url, &options, err);

    if (rc) return rc;
    size_t count = count_parts(option(options, "host"));
    for (size_t i = 0; i < count; i++) {
        int64_t now = loci_clock_steady();
        int64_t share = now + (i + 1 < count ? HOST_SHARE : end - now);
        tx->call_end = share < end ? share : end;
        rc = connect_host(tx, options, i, ret_conn, err);
        if (!rc || now >= end) break;
    }
    tx->call_end = end;
    tx->broken = false;
    PQconninfoFree(options);
    return rc;
}

static void disconnect(loci_tx *tx)
{
    loci_pg_link *link = tx->link;

    for (size_t i = 0; i < tx->db->stmt_count; i++) {
        if (!tx->stmts[i]) continue;
        tx->db->driver->finalize(tx->stmts[i]);
        tx->stmts[i] = NULL;
    }
    PQfinish(link->conn);
    loci_free(link);
    tx->link = NULL;
}

static loci_rc connect_server(loci_tx *tx, loci_err *err)
{
    PGconn *conn = NULL;
    loci_pg_link *link = loci_zalloc(sizeof *link);

    if (!link) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = connect_any(tx, &conn, err);
    if (rc) {
        loci_free(link);
        return rc;
    }
    link->conn = conn;
    tx->link = link;
    (void)PQsetNoticeReceiver(conn, on_notice, link);
    if (PQsetnonblocking(conn, 1) == 0 && PQenterPipelineMode(conn) == 1) return LOCI_OK;
    rc = loci_pg_fail(tx, NULL, err);
    disconnect(tx);
    return rc;
}

/* Something to read on a connection that asked nothing is the answer of the last posted command,
 * or the server's farewell. */
static bool usable(loci_tx *tx)
{
    PGconn *conn = loci_pg_link_of(tx)->conn;
    struct pollfd fd = { .fd = PQsocket(conn), .events = POLLIN };

    /* Twice: the farewell and the end behind it are two things to read. */
    for (int i = 0; i < 2 && PQstatus(conn) == CONNECTION_OK && poll(&fd, 1, 0) > 0; i++)
        if (!PQconsumeInput(conn)) return false;
    return PQstatus(conn) == CONNECTION_OK;
}

static loci_rc command(loci_tx *tx, const char *text, loci_err *err)
{
    loci_pg_link *link = loci_pg_link_of(tx);

    if (!PQsendQueryParams(link->conn, text, 0, NULL, NULL, NULL, NULL, 1) ||
        PQflush(link->conn) < 0)
        return loci_pg_fail(tx, NULL, err);
    link->posted++;
    return LOCI_OK;
}

static loci_rc begin(loci_tx *tx, loci_err *err)
{
    if (tx->mode == LOCI_TX_READ)
        return command(tx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
    return command(tx, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE", err);
}

static loci_rc settle(loci_tx *tx, loci_err *err)
{
    return loci_pg_link_of(tx)->posted ? loci_pg_sync(tx, false, err) : LOCI_OK;
}

/* The answer to COMMIT itself. The server answers ROLLBACK when the transaction had failed. */
static loci_rc take_commit(loci_tx *tx, loci_err *err)
{
    PGresult *result = NULL;
    loci_rc rc = loci_pg_result(tx, &result, err);

    if (rc) return rc;
    if (!went_well(result)) {
        rc = loci_pg_fail(tx, result, err);
    } else if (strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        loci_err_set(err, LOCI_EIO, "%s: the transaction had failed", tx->db->name);
        rc = loci_driver_fail(tx, LOCI_TX_FINAL, LOCI_EIO);
    }
    PQclear(result);
    loci_rc drained = tx->broken ? LOCI_OK : loci_pg_drain(tx, rc ? NULL : err);
    return rc ? rc : drained;
}

static loci_rc commit(loci_tx *tx, loci_err *err)
{
    loci_pg_link *link = loci_pg_link_of(tx);

    link->unsure = false;
    if (!PQsendQueryParams(link->conn, "COMMIT", 0, NULL, NULL, NULL, NULL, 1))
        return loci_pg_fail(tx, NULL, err);
    loci_rc rc = loci_pg_sync(tx, true, err);
    if (!rc) rc = take_commit(tx, err);
    if (rc && tx->broken) return loci_driver_fail(tx, LOCI_TX_UNKNOWN, rc);
    if (rc || !link->unsure) return rc;
    tx->broken = true;
    loci_err_set(err, LOCI_EUNAVAILABLE, "%s: the commit may not have reached its standby",
                 tx->db->name);
    return loci_driver_fail(tx, LOCI_TX_UNKNOWN, LOCI_EUNAVAILABLE);
}

/* Nobody waits for it: its answer is taken before the next one. */
static void rollback(loci_tx *tx)
{
    if (tx->broken) return;
    /* A failure among what was posted would take the ROLLBACK with it. */
    (void)settle(tx, NULL);
    if (tx->broken) return;
    if (command(tx, "ROLLBACK", NULL)) tx->broken = true;
}

static void idle(loci_tx *tx)
{
    (void)tx;
}

static loci_rc checkpoint(loci_db *db, bool quiet, loci_err *err)
{
    (void)db;
    (void)quiet;
    (void)err;
    return LOCI_OK;
}

const loci_driver loci_pg_driver = {
    .engine = LOCI_POSTGRES,
    .open = open_place,
    .close = close_place,
    .connect = connect_server,
    .disconnect = disconnect,
    .usable = usable,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .idle = idle,
    .command = command,
    .settle = settle,
    .prepare = loci_pg_prepare,
    .finalize = loci_pg_finalize,
    .bind = loci_pg_bind,
    .step = loci_pg_step,
    .post = loci_pg_post,
    .reset = loci_pg_reset,
    .is_null = loci_pg_is_null,
    .i64 = loci_pg_i64,
    .bytes = loci_pg_bytes,
    .checkpoint = checkpoint,
};
