/* tests/fault/proxy.h -- a connection to PostgreSQL that breaks at a chosen message.
 *
 * Here:     a process between a client and the server's socket; it counts what the client sends.
 * Not here: the server.
 * Owns:     a child process and a folder with a socket; proxy_stop ends both.
 * Threads:  from one thread.
 * Errors:   a proxy that cannot start fails the test.
 */
#ifndef LOCI_FAULT_PROXY_H
#define LOCI_FAULT_PROXY_H

#include <stdbool.h>
#include <stdint.h>

typedef enum proxy_break {
    PROXY_PASS,
    PROXY_CUT_BEFORE, /* the message does not arrive, and both sides see the end */
    PROXY_CUT_WITHIN, /* half of it arrives */
    PROXY_CUT_AFTER,  /* it arrives; the client sees the end instead of an answer */
    PROXY_FREEZE,     /* it does not arrive; the client hears nothing more */
    PROXY_MUTE        /* it and what follows arrive; the client hears nothing more */
} proxy_break;

/* Listen for clients of the server whose socket is in `folder`. The folder to connect to. */
const char *proxy_start(const char *folder);

/* Count from 0 again, and break the connection that sends message `at`, from 1; 0 for none. Others,
 * and those that come later, are left alone. */
void proxy_plan(proxy_break how, int64_t at);
int64_t proxy_count(void);
bool proxy_was_hit(void);

void proxy_stop(void);

#endif
