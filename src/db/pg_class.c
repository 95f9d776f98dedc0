#include "db/pg_class.h"

#include <string.h>

/* Whole codes stand before their class. */
static const loci_pg_class classes[] = {
    /* clang-format off */
    { "40001", LOCI_EBUSY,        LOCI_TX_RETRY,     "others were writing the same: try again" },
    { "40P01", LOCI_EBUSY,        LOCI_TX_RETRY,     "others were writing the same: try again" },
    { "55P03", LOCI_EBUSY,        LOCI_TX_RETRY,     "others were writing the same: try again" },
    { "57P01", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT, "the server is shutting down" },
    { "57P02", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT, "the server crashed and is starting again" },
    { "57P03", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT, "the server is starting up" },
    { "57014", LOCI_EUNAVAILABLE, LOCI_TX_FINAL,     "the server cancelled it" },
    { "25006", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT, "the server only lets us read: it may be a standby" },
    { "25P02", LOCI_EIO,          LOCI_TX_FINAL,     NULL },
    { "26000", LOCI_EIO,          LOCI_TX_RECONNECT, "a prepared statement is gone: behind a pooler, switch noprepare on" },
    { "42P05", LOCI_EIO,          LOCI_TX_RECONNECT, "a prepared statement exists already: behind a pooler, switch noprepare on" },
    { "42501", LOCI_EDENIED,      LOCI_TX_FINAL,     NULL },
    { "42710", LOCI_ECONFLICT,    LOCI_TX_FINAL,     NULL },
    { "42P07", LOCI_ECONFLICT,    LOCI_TX_FINAL,     NULL },
    { "3D000", LOCI_ENOTFOUND,    LOCI_TX_FINAL,     NULL },
    { "22021", LOCI_EINVAL,       LOCI_TX_FINAL,     "text is not UTF-8" },
    { "53100", LOCI_EUNAVAILABLE, LOCI_TX_FINAL,     "the server's disk is full" },
    { "XX001", LOCI_ECORRUPT,     LOCI_TX_FINAL,     NULL },
    { "XX002", LOCI_ECORRUPT,     LOCI_TX_FINAL,     NULL },
    { "08",    LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT, "the connection to the server was lost" },
    { "23",    LOCI_ECONFLICT,    LOCI_TX_FINAL,     NULL },
    { "28",    LOCI_EAUTH,        LOCI_TX_FINAL,     NULL },
    { "53",    LOCI_EUNAVAILABLE, LOCI_TX_FINAL,     NULL },
    { "54",    LOCI_ELIMIT,       LOCI_TX_FINAL,     NULL },
    { "0A",    LOCI_ENOSYS,       LOCI_TX_FINAL,     NULL },
    /* clang-format on */
};

static const loci_pg_class no_answer = { "", LOCI_EUNAVAILABLE, LOCI_TX_RECONNECT, NULL };
static const loci_pg_class other = { "", LOCI_EIO, LOCI_TX_FINAL, NULL };

const loci_pg_class *loci_pg_classify(const char *sqlstate)
{
    if (!sqlstate) return &no_answer;
    for (size_t i = 0; i < LOCI_COUNT(classes); i++)
        if (strncmp(sqlstate, classes[i].state, strlen(classes[i].state)) == 0) return &classes[i];
    return &other;
}
