#include "ops/format.h"

#include "base/date.h"
#include "base/id.h"

#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

static bool is_date(loci_str name, loci_str text)
{
    loci_date date;
    (void)name;
    return loci_date_parse(text, NULL, &date, NULL) == LOCI_OK && date.date_only;
}

static bool is_date_time(loci_str name, loci_str text)
{
    loci_date date;
    (void)name;
    return loci_date_parse(text, NULL, &date, NULL) == LOCI_OK && !date.date_only && date.has_zone;
}

static bool is_moment(loci_str name, loci_str text)
{
    loci_date date;
    (void)name;
    return loci_date_parse(text, NULL, &date, NULL) == LOCI_OK;
}

static bool is_path(loci_str name, loci_str text)
{
    (void)name;
    return text.len > 0 && text.len < PATH_BYTES && !memchr(text.ptr, '\0', text.len);
}

/* The prefix of "passage-id" is "passage". */
static bool is_id(loci_str name, loci_str text)
{
    char prefix[LOCI_ID_PREFIX_MAX + 1];

    (void)snprintf(prefix, sizeof prefix, "%.*s", (int)(name.len - strlen("-id")), name.ptr);
    return loci_id_check(text, prefix);
}

static const loci_format formats[] = {
    { "date", "a date such as 2026-05-01", is_date },
    { "date-time", "a time with its zone such as 2026-05-01T12:00:00Z", is_date_time },
    { "moment", "a date or time such as 2026-05-01 or 2026-05-01T12:00:00Z", is_moment },
    { "host-path", "a path", is_path },
};

static const loci_format id_format = { "id", "an id (a prefix, '-' and a UUID)", is_id };

static bool names_ids(loci_str name)
{
    if (!loci_str_ends(name, LOCI_STR("-id"))) return false;
    size_t len = name.len - strlen("-id");
    for (size_t i = 0; i < len; i++)
        if (name.ptr[i] < 'a' || name.ptr[i] > 'z') return false;
    return len > 0 && len <= LOCI_ID_PREFIX_MAX;
}

const loci_format *loci_format_find(loci_str name)
{
    for (size_t i = 0; i < LOCI_COUNT(formats); i++)
        if (loci_str_eq(name, loci_str_from(formats[i].name))) return &formats[i];
    return names_ids(name) ? &id_format : NULL;
}

bool loci_format_is_path(const loci_format *format)
{
    return format && format->check == is_path;
}
