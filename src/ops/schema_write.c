/* A schema as JSON and in words. */
#include "ops/schema.h"

static bool all_types(loci_schema_types types)
{
    return types == (1U << (LOCI_JSON_OBJECT + 1)) - 1;
}

/* The standard's names; "number" covers both kinds. */
static const char *const type_names[] = {
    [LOCI_JSON_NULL] = "null",     [LOCI_JSON_BOOL] = "boolean",  [LOCI_JSON_INT] = "integer",
    [LOCI_JSON_REAL] = "number",   [LOCI_JSON_STRING] = "string", [LOCI_JSON_ARRAY] = "array",
    [LOCI_JSON_OBJECT] = "object",
};

static bool is_named(loci_schema_types types, size_t type)
{
    if (type == LOCI_JSON_INT && types & 1U << LOCI_JSON_REAL) return false; /* "number" says it */
    return types & 1U << type;
}

static size_t count_named(loci_schema_types types)
{
    size_t n = 0;
    for (size_t i = 0; i < LOCI_COUNT(type_names); i++) n += is_named(types, i);
    return n;
}

static void write_types(const loci_schema *s, loci_json_writer *w)
{
    /* Where values are listed they say it better, and alternatives say it themselves. */
    if (all_types(s->types) || s->alternatives) return;
    bool list = count_named(s->types) > 1;

    loci_json_name(w, LOCI_STR("type"));
    if (list) loci_json_array(w);
    for (size_t i = 0; i < LOCI_COUNT(type_names); i++)
        if (is_named(s->types, i)) loci_json_string(w, loci_str_from(type_names[i]));
    if (list) loci_json_array_end(w);
}

static void write_properties(const loci_schema *s, loci_json_writer *w)
{
    size_t required = 0;

    if (!s->properties) return;
    loci_json_name(w, LOCI_STR("properties"));
    loci_json_object(w);
    for (size_t i = 0; i < s->property_count; i++) {
        required += s->properties[i].required;
        loci_json_name(w, s->properties[i].name);
        loci_schema_write(s->properties[i].schema, w);
    }
    loci_json_object_end(w);
    if (required == 0) return;
    loci_json_name(w, LOCI_STR("required"));
    loci_json_array(w);
    for (size_t i = 0; i < s->property_count; i++)
        if (s->properties[i].required) loci_json_string(w, s->properties[i].name);
    loci_json_array_end(w);
}

static void write_object(const loci_schema *s, loci_json_writer *w)
{
    write_properties(s, w);
    if (s->closed) loci_json_member_bool(w, "additionalProperties", false);
    if (!s->extra) return;
    loci_json_name(w, LOCI_STR("additionalProperties"));
    loci_schema_write(s->extra, w);
}

static void write_size(loci_json_writer *w, const char *name, size_t size, size_t absent)
{
    if (size != absent) loci_json_member_int(w, name, (int64_t)size);
}

static void write_array(const loci_schema *s, loci_json_writer *w)
{
    if (s->items) {
        loci_json_name(w, LOCI_STR("items"));
        loci_schema_write(s->items, w);
    }
    write_size(w, "minItems", s->min_items, 0);
    write_size(w, "maxItems", s->max_items, SIZE_MAX);
    if (s->unique) loci_json_member_bool(w, "uniqueItems", true);
}

static void write_value(loci_json_writer *w, const char *name, const loci_json *value)
{
    if (!value) return;
    loci_json_name(w, loci_str_from(name));
    loci_json_value(w, value);
}

static void write_scalars(const loci_schema *s, loci_json_writer *w)
{
    write_size(w, "minLength", s->min_length, 0);
    write_size(w, "maxLength", s->max_length, SIZE_MAX);
    if (s->format) loci_json_member_str(w, "format", s->format_name);
    write_value(w, "minimum", s->minimum);
    write_value(w, "maximum", s->maximum);
    if (s->is_const)
        write_value(w, "const", &s->choices->array.items[0]);
    else
        write_value(w, "enum", s->choices);
    write_value(w, "default", s->fallback);
}

void loci_schema_write(const loci_schema *schema, loci_json_writer *w)
{
    loci_json_object(w);
    write_types(schema, w);
    if (schema->title.len) loci_json_member_str(w, "title", schema->title);
    if (schema->description.len) loci_json_member_str(w, "description", schema->description);
    write_object(schema, w);
    write_array(schema, w);
    write_scalars(schema, w);
    if (schema->alternatives) {
        loci_json_name(w, schema->any_of ? LOCI_STR("anyOf") : LOCI_STR("oneOf"));
        loci_json_array(w);
        for (size_t i = 0; i < schema->alternative_count; i++)
            loci_schema_write(&schema->alternatives[i], w);
        loci_json_array_end(w);
    }
    loci_json_object_end(w);
}

/* "an array of strings" where the items have one type that has a plural. */
static void describe_array(const loci_schema *s, loci_buf *out)
{
    static const char *const plurals[] = {
        [LOCI_JSON_BOOL] = "booleans", [LOCI_JSON_INT] = "integers",
        [LOCI_JSON_REAL] = "numbers",  [LOCI_JSON_STRING] = "strings",
        [LOCI_JSON_ARRAY] = "arrays",  [LOCI_JSON_OBJECT] = "objects",
    };

    loci_buf_add(out, LOCI_STR("an array"));
    if (!s->items || all_types(s->items->types) || count_named(s->items->types) != 1) return;
    for (size_t i = LOCI_JSON_BOOL; i < LOCI_COUNT(plurals); i++)
        if (is_named(s->items->types, i)) loci_buf_printf(out, " of %s", plurals[i]);
}

void loci_schema_describe(const loci_schema *schema, loci_buf *out)
{
    size_t left = count_named(schema->types);

    if (all_types(schema->types)) {
        loci_buf_add(out, LOCI_STR("any value"));
        return;
    }
    /* Null reads best as the last. */
    for (size_t k = 1; k <= LOCI_COUNT(type_names); k++) {
        loci_json_type type = (loci_json_type)(k % LOCI_COUNT(type_names));
        if (!is_named(schema->types, type)) continue;
        const loci_schema *one = loci_schema_pick(schema, type);
        if (type == LOCI_JSON_ARRAY && one)
            describe_array(one, out);
        else
            loci_buf_add_cstr(out, loci_json_type_name(type));
        left--;
        if (left) loci_buf_add_cstr(out, left == 1 ? " or " : ", ");
    }
}
