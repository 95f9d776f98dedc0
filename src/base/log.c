#include "base/log.h"

#include "base/clock.h"
#include "base/date.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { YIELDS = 100, NAPS = 1000, NAP = 1 * LOCI_MS }; /* how long a line waits for another's */

static atomic_int level_now = LOCI_LOG_INFO;
static atomic_flag writing = ATOMIC_FLAG_INIT; /* one thread is between poll and write */
static atomic_bool stuck;                      /* it has been there for too long */
static atomic_uint_fast64_t dropped;           /* lines since the last that went out */

/* A line on the stack. What does not fit is left out whole, and the line says so at its end, for
 * which room is kept, as for how many lines were lost before it. */
typedef struct line {
    char text[LOCI_LOG_LINE_MAX];
    size_t len;
    bool full;
} line;

static const char cut_mark[] = " cut=true";
enum {
    DROPPED_BYTES = sizeof " dropped=18446744073709551615",
    USABLE = LOCI_LOG_LINE_MAX - sizeof cut_mark - DROPPED_BYTES, /* a NUL is the newline's room */
};

void loci_log_set_level(loci_log_level level)
{
    atomic_store_explicit(&level_now, (int)level, memory_order_relaxed);
}

bool loci_log_on(loci_log_level level)
{
    return (int)level <= atomic_load_explicit(&level_now, memory_order_relaxed);
}

static void add(line *l, loci_str s)
{
    if (l->full || s.len > USABLE - l->len) {
        l->full = true;
        return;
    }
    if (s.len) memcpy(l->text + l->len, s.ptr, s.len);
    l->len += s.len;
}

/* A value may stand bare when nothing in it can be taken for syntax. */
static bool is_bare(loci_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c <= ' ' || c >= 0x7F || c == '"' || c == '=' || c == '\\') return false;
    }
    return s.len > 0;
}

/* One character inside quotes. Whatever could break the line, hide in it or steer a terminal is
 * escaped: what cannot be seen, turns the line around or ends it, and bytes that are no UTF-8. */
static void add_escaped(line *l, loci_str bytes, uint32_t code)
{
    char text[16];
    int n = 0;

    if (code == '"' || code == '\\')
        n = snprintf(text, sizeof text, "\\%c", (char)code);
    else if (code == '\n' || code == '\t' || code == '\r')
        n = snprintf(text, sizeof text, "\\%c", code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
    else if (code == LOCI_UTF8_BAD)
        for (size_t i = 0; i < bytes.len; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "\\x%02x", (uint8_t)bytes.ptr[i]);
    else if (!loci_utf8_visible(code))
        n = snprintf(text, sizeof text, "\\u%04x", (unsigned)code);
    add(l, n > 0 ? (loci_str){ text, (size_t)n } : bytes);
}

static void add_text(line *l, loci_str s)
{
    bool cut = s.len > LOCI_LOG_VALUE_MAX;
    if (cut) s = loci_utf8_cut(s, LOCI_LOG_VALUE_MAX);

    if (!cut && is_bare(s)) {
        add(l, s);
        return;
    }
    add(l, LOCI_STR("\""));
    while (s.len > 0) {
        uint32_t code;
        size_t n = loci_utf8_decode(s, &code);
        add_escaped(l, loci_str_sub(s, 0, n), code);
        s = loci_str_sub(s, n, s.len);
    }
    add(l, cut ? LOCI_STR("...\"") : LOCI_STR("\""));
}

static void add_number(line *l, const loci_kv *pair)
{
    char text[40];
    int n = 0;

    if (pair->kind == LOCI_KV_INT) n = snprintf(text, sizeof text, "%" PRId64, pair->integer);
    if (pair->kind == LOCI_KV_UINT) n = snprintf(text, sizeof text, "%" PRIu64, pair->natural);
    if (pair->kind == LOCI_KV_REAL) n = snprintf(text, sizeof text, "%.6g", pair->real);
    add(l, (loci_str){ text, n > 0 ? (size_t)n : 0 });
}

/* A pair that does not fit is taken back as a whole. */
static void add_pair(line *l, const loci_kv *pair)
{
    size_t before = l->len;

    add(l, LOCI_STR(" "));
    add(l, loci_str_from(pair->key));
    add(l, LOCI_STR("="));
    if (pair->kind == LOCI_KV_TEXT)
        add_text(l, pair->text);
    else if (pair->kind == LOCI_KV_BOOL)
        add(l, pair->flag ? LOCI_STR("true") : LOCI_STR("false"));
    else
        add_number(l, pair);
    if (l->full) l->len = before;
}

static void add_time(line *l)
{
    loci_date_text text;

    add(l, LOCI_STR("ts="));
    add(l, loci_date_print(LOCI_DATE_MICROS, loci_clock_now(), NULL, &text));
}

/* Two threads must not both see room for one line. A thread that hangs in its write (the room may
 * be taken by another program) is waited for once; until it is back, the others drop theirs. */
static bool take_turn(void)
{
    for (int i = 0; atomic_flag_test_and_set_explicit(&writing, memory_order_acquire); i++) {
        if (i == YIELDS + NAPS) atomic_store(&stuck, true);
        if (atomic_load(&stuck)) return false;
        if (i < YIELDS)
            (void)sched_yield();
        else
            loci_clock_sleep(NAP);
    }
    return true;
}

static void give_turn(void)
{
    atomic_store(&stuck, false);
    atomic_flag_clear_explicit(&writing, memory_order_release);
}

/* Files and terminals always have room; a pipe that does takes a line of ours whole. */
static bool has_room(void)
{
    struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

    return poll(&p, 1, 0) == 1 && (p.revents & (POLLOUT | POLLERR | POLLNVAL)) == POLLOUT;
}

/* End the line and write it, with the turn taken. False when it is lost. */
static bool put(line *l)
{
    uint_fast64_t lost = atomic_load(&dropped);

    if (!has_room()) return false;
    if (lost) {
        int n = snprintf(l->text + l->len, DROPPED_BYTES, " dropped=%" PRIuFAST64, lost);
        l->len += n > 0 ? (size_t)n : 0;
    }
    l->text[l->len++] = '\n';
    ssize_t n;
    do n = write(STDERR_FILENO, l->text, l->len);
    while (n < 0 && errno == EINTR);
    if (n > 0) (void)atomic_fetch_sub(&dropped, lost);
    return n > 0;
}

void loci_log_write(loci_log_level level, const char *room, const char *message,
                    const loci_kv *pairs, size_t count)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    int kept_errno = errno;
    line l;

    l.len = 0;
    l.full = false;
    add_time(&l);
    add(&l, LOCI_STR(" level="));
    add(&l, loci_str_from(names[level]));
    add(&l, LOCI_STR(" room="));
    add_text(&l, loci_str_from(room));
    const loci_kv first = loci_kv_cstr("msg", message);
    add_pair(&l, &first);
    for (size_t i = 1; i < count; i++) add_pair(&l, &pairs[i]);

    if (l.full) {
        memcpy(l.text + l.len, cut_mark, sizeof cut_mark - 1);
        l.len += sizeof cut_mark - 1;
    }
    bool ours = take_turn();
    if (!ours || !put(&l)) (void)atomic_fetch_add(&dropped, 1);
    if (ours) give_turn();
    errno = kept_errno;
}

loci_kv loci_kv_bool(const char *key, bool value)
{
    return (loci_kv){ .key = key, .kind = LOCI_KV_BOOL, .flag = value };
}

loci_kv loci_kv_int(const char *key, int64_t value)
{
    return (loci_kv){ .key = key, .kind = LOCI_KV_INT, .integer = value };
}

loci_kv loci_kv_uint(const char *key, uint64_t value)
{
    return (loci_kv){ .key = key, .kind = LOCI_KV_UINT, .natural = value };
}

loci_kv loci_kv_real(const char *key, double value)
{
    return (loci_kv){ .key = key, .kind = LOCI_KV_REAL, .real = value };
}

loci_kv loci_kv_cstr(const char *key, const char *value)
{
    return loci_kv_str(key, loci_str_from(value));
}

loci_kv loci_kv_str(const char *key, loci_str value)
{
    return (loci_kv){ .key = key, .kind = LOCI_KV_TEXT, .text = value };
}
