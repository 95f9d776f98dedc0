#include "ops/show.h"

#include "base/date.h"

void loci_show_time(loci_json_writer *w, const char *name, int64_t at)
{
    loci_date_text text;

    loci_json_member_str(w, name, loci_date_print(LOCI_DATE_MICROS, at, NULL, &text));
}

void loci_show_text(loci_json_writer *w, const char *name, loci_str text)
{
    loci_json_name(w, loci_str_from(name));
    if (text.ptr)
        loci_json_string(w, text);
    else
        loci_json_null(w);
}

void loci_show_json(loci_json_writer *w, const char *name, loci_str json, loci_arena *arena)
{
    const loci_json *value = NULL;

    if (!json.ptr || loci_json_parse(arena, json, &value, NULL)) {
        loci_show_text(w, name, json);
        return;
    }
    loci_json_name(w, loci_str_from(name));
    loci_json_value(w, value);
}
