#include "net/sse.h"

#include <string.h>

void loci_lines_init(loci_lines *lines, size_t limit, loci_line_handler *handler, void *context)
{
    *lines = (loci_lines){ .handler = handler, .context = context };
    loci_buf_init(&lines->partial, limit);
}

void loci_lines_done(loci_lines *lines)
{
    loci_buf_done(&lines->partial);
}

static loci_rc too_long(const loci_buf *buf, const char *what, loci_err *err)
{
    loci_rc rc = loci_buf_check(buf, err);
    if (rc == LOCI_ELIMIT)
        return loci_fail(err, LOCI_ELIMIT, "%s of the answer is longer than %zu bytes", what,
                         buf->max);
    return rc;
}

static size_t find_end(loci_str bytes)
{
    size_t i = 0;
    while (i < bytes.len && bytes.ptr[i] != '\n' && bytes.ptr[i] != '\r') i++;
    return i;
}

/* A line that lies whole in the bytes is not copied, but is held to the same limit. */
static loci_rc hand_on(loci_lines *lines, loci_str rest, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    if (lines->partial.len || rest.len > lines->partial.max) {
        loci_buf_add(&lines->partial, rest);
        rc = too_long(&lines->partial, "a line", err);
        rest = loci_buf_str(&lines->partial);
    }
    if (!rc) rc = lines->handler(lines->context, rest, err);
    loci_buf_clear(&lines->partial);
    return rc;
}

loci_rc loci_lines_feed(loci_lines *lines, loci_str bytes, loci_err *err)
{
    while (bytes.len) {
        if (lines->after_cr && bytes.ptr[0] == '\n') bytes = loci_str_sub(bytes, 1, bytes.len);
        lines->after_cr = false;
        size_t end = find_end(bytes);
        if (end == bytes.len) break;

        loci_rc rc = hand_on(lines, loci_str_sub(bytes, 0, end), err);
        if (rc) return rc;
        lines->after_cr = bytes.ptr[end] == '\r';
        bytes = loci_str_sub(bytes, end + 1, bytes.len);
    }
    loci_buf_add(&lines->partial, bytes);
    return too_long(&lines->partial, "a line", err);
}

loci_rc loci_lines_end(loci_lines *lines, loci_err *err)
{
    return lines->partial.len ? hand_on(lines, (loci_str){ NULL, 0 }, err) : LOCI_OK;
}

/* An empty line ends an event. */
static loci_rc end_event(loci_sse *sse, loci_err *err)
{
    loci_str name = loci_buf_str(&sse->name);
    loci_sse_event event = { .name = name.len ? name : LOCI_STR("message"),
                             .id = loci_buf_str(&sse->id),
                             .data = loci_buf_str(&sse->data) };

    loci_rc rc = sse->has_data ? sse->handler(sse->context, &event, err) : LOCI_OK;
    loci_buf_clear(&sse->name);
    loci_buf_clear(&sse->data);
    sse->has_data = false;
    return rc;
}

static loci_rc set_field(loci_buf *field, loci_str value, const char *what, loci_err *err)
{
    loci_buf_clear(field);
    loci_buf_add(field, value);
    return too_long(field, what, err);
}

static loci_rc add_data(loci_sse *sse, loci_str value, loci_err *err)
{
    if (sse->has_data) loci_buf_add_char(&sse->data, '\n');
    sse->has_data = true;
    loci_buf_add(&sse->data, value);
    return too_long(&sse->data, "an event", err);
}

static loci_rc read_line(void *context, loci_str line, loci_err *err)
{
    static const loci_str mark = { "\xef\xbb\xbf", 3 };
    loci_sse *sse = context;

    if (!sse->started && loci_str_starts(line, mark)) line = loci_str_sub(line, 3, line.len);
    sse->started = true;
    if (line.len == 0) return end_event(sse, err);

    size_t colon = loci_str_find(line, LOCI_STR(":"));
    loci_str name = loci_str_sub(line, 0, colon), value = loci_str_sub(line, colon + 1, line.len);
    if (value.len && value.ptr[0] == ' ') value = loci_str_sub(value, 1, value.len);
    if (loci_str_eq(name, LOCI_STR("data"))) return add_data(sse, value, err);
    if (loci_str_eq(name, LOCI_STR("event")))
        return set_field(&sse->name, value, "an event's name", err);
    if (loci_str_eq(name, LOCI_STR("id")) && !(value.len && memchr(value.ptr, '\0', value.len)))
        return set_field(&sse->id, value, "an event's id", err);
    return LOCI_OK;
}

void loci_sse_init(loci_sse *sse, size_t limit, loci_sse_handler *handler, void *context)
{
    *sse = (loci_sse){ .handler = handler, .context = context };
    loci_lines_init(&sse->lines, limit, read_line, sse);
    loci_buf_init(&sse->name, limit);
    loci_buf_init(&sse->id, limit);
    loci_buf_init(&sse->data, limit);
}

void loci_sse_done(loci_sse *sse)
{
    loci_lines_done(&sse->lines);
    loci_buf_done(&sse->name);
    loci_buf_done(&sse->id);
    loci_buf_done(&sse->data);
}

loci_rc loci_sse_feed(loci_sse *sse, loci_str bytes, loci_err *err)
{
    return loci_lines_feed(&sse->lines, bytes, err);
}
