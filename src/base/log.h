/* base/log.h -- events as logfmt lines on stderr.
 *
 * Here:     ts=... level=... room=... msg="..." key=value, one event, one line, one write(2).
 * Not here: what may be logged: rooms below ops/ return errors and log at debug only; memory text
 *           and secrets are never logged.
 * Owns:     nothing.
 * Threads:  safe from any thread; lines never mix.
 * Errors:   none: what cannot be written at once is lost, so that nobody who forgets to read our
 *           stderr stops us; the next line that goes out says how many with dropped=N. errno is
 *           kept.
 *
 *     loci_log(LOCI_LOG_WARN, "net", "slow client dropped", LOCI_KV("ip", ip), LOCI_KV("ms", ms));
 */
#ifndef LOCI_BASE_LOG_H
#define LOCI_BASE_LOG_H

#include "base/str.h"

/* In the order of the configuration's words for `log`. */
typedef enum loci_log_level {
    LOCI_LOG_ERROR,
    LOCI_LOG_WARN,
    LOCI_LOG_INFO,
    LOCI_LOG_DEBUG,
} loci_log_level;

enum {
    LOCI_LOG_LINE_MAX = 4096,  /* bytes of a line: what a pipe takes in one piece */
    LOCI_LOG_VALUE_MAX = 1024, /* bytes of one value before quoting; the rest becomes "..." */
};

/* One key and its value. Made by LOCI_KV. */
typedef struct loci_kv {
    const char *key;
    enum { LOCI_KV_TEXT, LOCI_KV_INT, LOCI_KV_UINT, LOCI_KV_REAL, LOCI_KV_BOOL } kind;
    union {
        loci_str text;
        int64_t integer;
        uint64_t natural;
        double real;
        bool flag;
    };
} loci_kv;

/* Only events of this level and above are written; at first LOCI_LOG_INFO. */
void loci_log_set_level(loci_log_level level);
bool loci_log_on(loci_log_level level);

/* Log one event. `room` is a bare word, `message` a constant sentence (no format), and the rest
 * LOCI_KV pairs, none or several. Nothing of it is evaluated when the level is off. */
#define loci_log(level, room, message, ...)                                                        \
    (loci_log_on(level)                                                                            \
         ? loci_log_write((level), (room), (message), (const loci_kv[]){ { 0 }, __VA_ARGS__ },     \
                          sizeof((const loci_kv[]){ { 0 }, __VA_ARGS__ }) / sizeof(loci_kv))       \
         : (void)0)

/* A pair; the key is a constant word. The value may be any integer, a double, a bool, a C string
 * (NULL is empty) or a loci_str; any bytes are fine. */
#define LOCI_KV(key, value)                                                                        \
    _Generic((value),                                                                              \
        bool: loci_kv_bool,                                                                        \
        char: loci_kv_int,                                                                         \
        signed char: loci_kv_int,                                                                  \
        short: loci_kv_int,                                                                        \
        int: loci_kv_int,                                                                          \
        long: loci_kv_int,                                                                         \
        long long: loci_kv_int,                                                                    \
        unsigned char: loci_kv_uint,                                                               \
        unsigned short: loci_kv_uint,                                                              \
        unsigned: loci_kv_uint,                                                                    \
        unsigned long: loci_kv_uint,                                                               \
        unsigned long long: loci_kv_uint,                                                          \
        float: loci_kv_real,                                                                       \
        double: loci_kv_real,                                                                      \
        char *: loci_kv_cstr,                                                                      \
        const char *: loci_kv_cstr,                                                                \
        loci_str: loci_kv_str)((key), (value))

/* What the macros call. The first pair of `pairs` is not used. */
void loci_log_write(loci_log_level level, const char *room, const char *message,
                    const loci_kv *pairs, size_t count);
loci_kv loci_kv_bool(const char *key, bool value);
loci_kv loci_kv_int(const char *key, int64_t value);
loci_kv loci_kv_uint(const char *key, uint64_t value);
loci_kv loci_kv_real(const char *key, double value);
loci_kv loci_kv_cstr(const char *key, const char *value);
loci_kv loci_kv_str(const char *key, loci_str value);

#endif
