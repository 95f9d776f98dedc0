/* Streams: a buffer between a writer, who may be any thread, and the network thread.
 *
 * The library asks for bytes (on_read). When there are none the connection is suspended, and the
 * next write resumes it. Two sides hold the stream: the writer until it closes it, the network side
 * until the request is over; the last one frees it. */
#include "base/alloc.h"
#include "base/clock.h"
#include "net/http_int.h"

#include <string.h>
#include <time.h>

enum { BLOCK = 16 << 10 }; /* most bytes of one chunk on the wire */

struct loci_http_stream {
    pthread_mutex_t lock; /* over everything below */
    pthread_cond_t drained;
    struct MHD_Connection *mhd; /* NULL before the head goes out and after the end */
    loci_http_server *server;   /* NULL after the end */
    loci_buf waiting;
    size_t taken;   /* bytes of `waiting` that went out already */
    int holders;    /* writer and network side */
    bool suspended; /* the connection is, because there was nothing to send */
    bool ended;     /* the writer has closed it */
    bool gone;      /* the client has left, or the server stops */
};

static void init_lock(loci_http_stream *stream)
{
    pthread_condattr_t attr;

    (void)pthread_mutex_init(&stream->lock, NULL);
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&stream->drained, &attr);
    (void)pthread_condattr_destroy(&attr);
}

/* Unlocks; the last holder frees. */
static void release(loci_http_stream *stream)
{
    bool last = --stream->holders == 0;

    (void)pthread_mutex_unlock(&stream->lock);
    if (!last) return;
    loci_buf_done(&stream->waiting);
    (void)pthread_cond_destroy(&stream->drained);
    (void)pthread_mutex_destroy(&stream->lock);
    loci_free(stream);
}

/* With the lock held. */
static void wake(loci_http_stream *stream)
{
    if (!stream->suspended || !stream->mhd) return;
    stream->suspended = false;
    MHD_resume_connection(stream->mhd);
    loci_http_wake(stream->server);
}

loci_rc loci_http_stream_open(loci_http_request *request, int status, const char *content_type,
                              loci_http_stream **ret_stream, loci_err *err)
{
    if (!(request->match.route->flags & LOCI_ROUTE_STREAM) || request->stream)
        return loci_fail(err, LOCI_EINVAL, "this route cannot open a stream here");
    loci_http_stream *stream = loci_zalloc(sizeof *stream);
    if (!stream) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    init_lock(stream);
    loci_buf_init(&stream->waiting, LOCI_HTTP_STREAM_BYTES);
    stream->server = request->server;
    stream->holders = 2;
    loci_http_reply(request, status, content_type, (loci_str){ NULL, 0 });
    request->stream = stream;
    *ret_stream = stream;
    return LOCI_OK;
}

static size_t unsent(const loci_http_stream *stream)
{
    return stream->waiting.len - stream->taken;
}

static loci_rc gone(loci_err *err)
{
    return loci_fail(err, LOCI_EUNAVAILABLE, "nobody reads this stream any more");
}

/* Wait, with the lock held, until `need` more bytes fit. */
static loci_rc wait_for_room(loci_http_stream *stream, size_t need, int64_t wait, loci_err *err)
{
    int64_t until;
    if (LOCI_ADD_OVERFLOWS(loci_clock_steady(), wait, &until)) until = INT64_MAX;
    struct timespec t = { until / LOCI_SECOND, until % LOCI_SECOND * 1000 };

    while (!stream->gone && need > LOCI_HTTP_STREAM_BYTES - unsent(stream)) {
        if (wait <= 0 || loci_clock_steady() >= until)
            return loci_fail(err, LOCI_EBUSY, "the client reads too slowly");
        (void)pthread_cond_timedwait(&stream->drained, &stream->lock, &t);
    }
    return stream->gone ? gone(err) : LOCI_OK;
}

/* Forget what went out, so that the buffer's maximum counts only what waits. */
static void compact(loci_http_stream *stream)
{
    size_t left = unsent(stream);

    if (stream->taken == 0) return;
    if (left) memmove(stream->waiting.ptr, stream->waiting.ptr + stream->taken, left);
    loci_buf_cut(&stream->waiting, left);
    stream->taken = 0;
}

loci_rc loci_http_stream_write(loci_http_stream *stream, loci_str bytes, int64_t wait,
                               loci_err *err)
{
    if (bytes.len > LOCI_HTTP_STREAM_BYTES)
        return loci_fail(err, LOCI_ELIMIT, "one piece of a stream has at most %d bytes",
                         LOCI_HTTP_STREAM_BYTES);
    (void)pthread_mutex_lock(&stream->lock);
    loci_rc rc = wait_for_room(stream, bytes.len, wait, err);
    if (!rc) {
        compact(stream);
        loci_buf_add(&stream->waiting, bytes);
        rc = loci_buf_check(&stream->waiting, err);
        wake(stream);
    }
    (void)pthread_mutex_unlock(&stream->lock);
    return rc;
}

static bool one_line(loci_str s)
{
    return s.len == 0 || !(memchr(s.ptr, '\n', s.len) || memchr(s.ptr, '\r', s.len) ||
                           memchr(s.ptr, '\0', s.len));
}

/* Take a line off the front of *rest, whatever ends it: clients take CR, LF and both for an end.
 * False when it is used up; what ends with a line end has an empty line behind it. */
static bool cut_line(loci_str *rest, loci_str *ret_line)
{
    size_t len = 0;

    if (!rest->ptr) return false;
    while (len < rest->len && rest->ptr[len] != '\n' && rest->ptr[len] != '\r') len++;
    *ret_line = loci_str_sub(*rest, 0, len);
    if (len == rest->len) {
        *rest = (loci_str){ NULL, 0 };
        return true;
    }
    bool both = rest->ptr[len] == '\r' && len + 1 < rest->len && rest->ptr[len + 1] == '\n';
    *rest = (loci_str){ rest->ptr + len + 1 + both, rest->len - len - 1 - both };
    return true;
}

static void add_field(loci_buf *out, const char *name, loci_str value)
{
    loci_buf_add_cstr(out, name);
    loci_buf_add(out, value);
    loci_buf_add_char(out, '\n');
}

loci_rc loci_http_stream_event(loci_http_stream *stream, loci_str name, loci_str id, loci_str data,
                               int64_t wait, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf out;
    loci_str line;

    loci_buf_init(&out, LOCI_HTTP_STREAM_BYTES);
    if (!one_line(name) || !one_line(id))
        return loci_fail(err, LOCI_EINVAL, "an event's name and id must be one line each");
    if (name.len) add_field(&out, "event: ", name);
    if (id.len) add_field(&out, "id: ", id);
    if (!data.ptr) data = LOCI_STR("");
    while (cut_line(&data, &line)) add_field(&out, "data: ", line);
    loci_buf_add_char(&out, '\n');
    loci_rc rc = loci_buf_check(&out, err);
    return rc ? rc : loci_http_stream_write(stream, loci_buf_str(&out), wait, err);
}

bool loci_http_stream_gone(loci_http_stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    bool is_gone = stream->gone;
    (void)pthread_mutex_unlock(&stream->lock);
    return is_gone;
}

void loci_http_stream_close(loci_http_stream *stream)
{
    if (!stream) return;
    (void)pthread_mutex_lock(&stream->lock);
    stream->ended = true;
    wake(stream);
    release(stream);
}

/* The library wants up to `max` bytes. */
static ssize_t on_read(void *cls, uint64_t position, char *bytes, size_t max)
{
    loci_http_stream *stream = cls;
    ssize_t n;
    (void)position;

    (void)pthread_mutex_lock(&stream->lock);
    size_t left = unsent(stream);
    if (left) {
        size_t part = left < max ? left : max;
        memcpy(bytes, stream->waiting.ptr + stream->taken, part);
        stream->taken += part;
        n = (ssize_t)part;
        (void)pthread_cond_signal(&stream->drained);
    } else if (stream->ended || stream->gone) {
        n = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        stream->suspended = true;
        MHD_suspend_connection(stream->mhd);
        n = 0;
    }
    (void)pthread_mutex_unlock(&stream->lock);
    return n;
}

struct MHD_Response *loci_http_stream_response(loci_http_stream *stream)
{
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_read, stream, NULL);
}

void loci_http_stream_attach(loci_http_stream *stream, struct MHD_Connection *mhd)
{
    (void)pthread_mutex_lock(&stream->lock);
    stream->mhd = mhd;
    stream->server->stream_count++;
    (void)pthread_mutex_unlock(&stream->lock);
}

void loci_http_stream_detach(loci_http_stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    if (stream->mhd) stream->server->stream_count--;
    stream->mhd = NULL;
    stream->server = NULL;
    stream->gone = true;
    (void)pthread_cond_broadcast(&stream->drained);
    release(stream);
}

void loci_http_stream_lose(loci_http_stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    stream->gone = true;
    (void)pthread_cond_broadcast(&stream->drained);
    wake(stream);
    (void)pthread_mutex_unlock(&stream->lock);
}

bool loci_http_stream_over(loci_http_stream *stream)
{
    (void)pthread_mutex_lock(&stream->lock);
    bool over = stream->gone || stream->ended;
    (void)pthread_mutex_unlock(&stream->lock);
    return over;
}
