/* Reading a schema: one function per keyword, found in one table. */
#include "ops/schema.h"

#include <string.h>

enum { ALL_TYPES = (1 << (LOCI_JSON_OBJECT + 1)) - 1 };

typedef struct reader {
    loci_arena *arena;
    loci_err *err;
    size_t depth;
} reader;

static loci_rc read_schema(reader *r, const loci_json *value, loci_schema *ret_schema);

static loci_schema_types bit(loci_json_type type)
{
    return 1U << type;
}

/* A new schema from `value`. */
static loci_rc read_new(reader *r, const loci_json *value, loci_schema **ret_schema)
{
    loci_schema *schema = loci_arena_alloc(r->arena, sizeof *schema);
    if (!schema) return loci_arena_fail(r->arena, r->err);
    loci_rc rc = read_schema(r, value, schema);
    if (rc == LOCI_OK) *ret_schema = schema;
    return rc;
}

static loci_rc want(reader *r, const loci_json *value, loci_json_type type)
{
    if (value->type == type) return LOCI_OK;
    return loci_fail(r->err, LOCI_EINVAL, "must be %s, not %s", loci_json_type_name(type),
                     loci_json_type_name(value->type));
}

static loci_rc want_size(reader *r, const loci_json *value, size_t *ret)
{
    loci_rc rc = want(r, value, LOCI_JSON_INT);
    if (rc) return rc;
    if (value->integer < 0) return loci_fail(r->err, LOCI_EINVAL, "must not be negative");
    *ret = (size_t)value->integer;
    return LOCI_OK;
}

static loci_rc add_type(reader *r, const loci_json *value, loci_schema *s)
{
    static const struct {
        const char *name;
        loci_schema_types types;
    } names[] = {
        { "null", 1 << LOCI_JSON_NULL },     { "boolean", 1 << LOCI_JSON_BOOL },
        { "integer", 1 << LOCI_JSON_INT },   { "number", 1 << LOCI_JSON_INT | 1 << LOCI_JSON_REAL },
        { "string", 1 << LOCI_JSON_STRING }, { "array", 1 << LOCI_JSON_ARRAY },
        { "object", 1 << LOCI_JSON_OBJECT },
    };
    loci_rc rc = want(r, value, LOCI_JSON_STRING);
    if (rc) return rc;
    for (size_t i = 0; i < LOCI_COUNT(names); i++)
        if (loci_str_eq(value->string, loci_str_from(names[i].name))) {
            s->types |= names[i].types;
            return LOCI_OK;
        }
    return loci_fail(r->err, LOCI_EINVAL, "no type '%.*s'", LOCI_ARG(value->string));
}

static loci_rc read_type(reader *r, const loci_json *value, loci_schema *s)
{
    if (value->type != LOCI_JSON_ARRAY) return add_type(r, value, s);
    if (value->array.count == 0) return loci_fail(r->err, LOCI_EINVAL, "names no type");
    loci_rc rc = LOCI_OK;
    for (size_t i = 0; i < value->array.count && rc == LOCI_OK; i++)
        rc = add_type(r, &value->array.items[i], s);
    return rc;
}

static loci_rc want_text(reader *r, const loci_json *value, loci_str *ret)
{
    loci_rc rc = want(r, value, LOCI_JSON_STRING);
    if (rc == LOCI_OK) *ret = value->string;
    return rc;
}

static loci_rc read_title(reader *r, const loci_json *value, loci_schema *s)
{
    return want_text(r, value, &s->title);
}

static loci_rc read_description(reader *r, const loci_json *value, loci_schema *s)
{
    return want_text(r, value, &s->description);
}

static loci_rc read_properties(reader *r, const loci_json *value, loci_schema *s)
{
    loci_rc rc = want(r, value, LOCI_JSON_OBJECT);
    if (rc) return rc;
    size_t count = value->object.count;
    s->properties = loci_arena_array(r->arena, count, sizeof *s->properties);
    if (!s->properties) return loci_arena_fail(r->arena, r->err);
    for (size_t i = 0; i < count; i++) {
        const loci_json_member *member = &value->object.members[i];
        loci_schema_property *property = &s->properties[s->property_count++];
        property->name = member->name;
        rc = read_new(r, &member->value, &property->schema);
        if (rc) {
            loci_err_prefix(r->err, "%.*s", LOCI_ARG(member->name));
            return rc;
        }
    }
    s->closed = true;
    return LOCI_OK;
}

static loci_schema_property *find_property(const loci_schema *schema, loci_str name)
{
    for (size_t i = 0; i < schema->property_count; i++)
        if (loci_str_eq(schema->properties[i].name, name)) return &schema->properties[i];
    return NULL;
}

/* Stands behind `properties` in the table, so they are known. */
static loci_rc read_required(reader *r, const loci_json *value, loci_schema *s)
{
    loci_rc rc = want(r, value, LOCI_JSON_ARRAY);
    if (rc) return rc;
    for (size_t i = 0; i < value->array.count; i++) {
        const loci_json *name = &value->array.items[i];
        rc = want(r, name, LOCI_JSON_STRING);
        if (rc) return rc;
        loci_schema_property *property = find_property(s, name->string);
        if (!property)
            return loci_fail(r->err, LOCI_EINVAL, "'%.*s' is no property", LOCI_ARG(name->string));
        property->required = true;
    }
    return LOCI_OK;
}

static loci_rc read_additional(reader *r, const loci_json *value, loci_schema *s)
{
    if (value->type == LOCI_JSON_BOOL) {
        s->closed = !value->boolean;
        return LOCI_OK;
    }
    s->closed = false;
    return read_new(r, value, &s->extra);
}

static loci_rc read_items(reader *r, const loci_json *value, loci_schema *s)
{
    return read_new(r, value, &s->items);
}

static loci_rc read_min_items(reader *r, const loci_json *value, loci_schema *s)
{
    return want_size(r, value, &s->min_items);
}

static loci_rc read_max_items(reader *r, const loci_json *value, loci_schema *s)
{
    return want_size(r, value, &s->max_items);
}

static loci_rc read_min_length(reader *r, const loci_json *value, loci_schema *s)
{
    return want_size(r, value, &s->min_length);
}

static loci_rc read_max_length(reader *r, const loci_json *value, loci_schema *s)
{
    return want_size(r, value, &s->max_length);
}

static loci_rc read_unique(reader *r, const loci_json *value, loci_schema *s)
{
    loci_rc rc = want(r, value, LOCI_JSON_BOOL);
    if (rc == LOCI_OK) s->unique = value->boolean;
    return rc;
}

static loci_rc read_bound(reader *r, const loci_json *value, const loci_json **ret)
{
    if (value->type != LOCI_JSON_INT && value->type != LOCI_JSON_REAL)
        return loci_fail(r->err, LOCI_EINVAL, "must be a number");
    *ret = value;
    return LOCI_OK;
}

static loci_rc read_minimum(reader *r, const loci_json *value, loci_schema *s)
{
    return read_bound(r, value, &s->minimum);
}

static loci_rc read_maximum(reader *r, const loci_json *value, loci_schema *s)
{
    return read_bound(r, value, &s->maximum);
}

static loci_rc read_enum(reader *r, const loci_json *value, loci_schema *s)
{
    loci_rc rc = want(r, value, LOCI_JSON_ARRAY);
    if (rc) return rc;
    if (value->array.count == 0) return loci_fail(r->err, LOCI_EINVAL, "allows nothing");
    for (size_t i = 0; i < value->array.count; i++)
        if (value->array.items[i].type >= LOCI_JSON_ARRAY)
            return loci_fail(r->err, LOCI_EINVAL, "only plain values can be listed");
    s->choices = value;
    return LOCI_OK;
}

static loci_rc read_const(reader *r, const loci_json *value, loci_schema *s)
{
    loci_json *list = loci_arena_alloc(r->arena, 2 * sizeof *list);
    if (!list) return loci_arena_fail(r->arena, r->err);
    list[1] = *value;
    list[0].type = LOCI_JSON_ARRAY;
    list[0].array.items = &list[1];
    list[0].array.count = 1;
    s->is_const = true;
    return read_enum(r, list, s);
}

static loci_rc read_format(reader *r, const loci_json *value, loci_schema *s)
{
    loci_rc rc = want_text(r, value, &s->format_name);
    if (rc) return rc;
    s->format = loci_format_find(value->string);
    if (s->format) return LOCI_OK;
    return loci_fail(r->err, LOCI_EINVAL, "no format '%.*s'", LOCI_ARG(value->string));
}

static loci_rc read_alternatives(reader *r, const loci_json *value, loci_schema *s)
{
    loci_schema_types seen = 0;
    loci_rc rc = want(r, value, LOCI_JSON_ARRAY);
    if (rc) return rc;
    if (s->alternatives) return loci_fail(r->err, LOCI_EINVAL, "oneOf and anyOf at once");
    if (value->array.count < 2) return loci_fail(r->err, LOCI_EINVAL, "needs two alternatives");
    s->alternatives = loci_arena_array(r->arena, value->array.count, sizeof *s->alternatives);
    if (!s->alternatives) return loci_arena_fail(r->arena, r->err);
    for (size_t i = 0; i < value->array.count; i++) {
        loci_schema *one = &s->alternatives[s->alternative_count++];
        rc = read_schema(r, &value->array.items[i], one);
        if (rc) return rc;
        if (one->alternatives) return loci_fail(r->err, LOCI_EINVAL, "nested alternatives");
        loci_schema_types types = one->types;
        if (types & bit(LOCI_JSON_INT)) types |= bit(LOCI_JSON_REAL); /* 1.0 is an integer too */
        if (types & seen)
            return loci_fail(r->err, LOCI_EINVAL, "alternatives must differ in their types");
        seen |= types;
    }
    return LOCI_OK;
}

static loci_rc read_any_of(reader *r, const loci_json *value, loci_schema *s)
{
    s->any_of = true;
    return read_alternatives(r, value, s);
}

static loci_rc read_default(reader *r, const loci_json *value, loci_schema *s)
{
    (void)r;
    s->fallback = value;
    return LOCI_OK;
}

/* In the order in which they are read. */
static const struct keyword {
    const char *name;
    loci_rc (*read)(reader *r, const loci_json *value, loci_schema *s);
} keywords[] = {
    { "type", read_type },
    { "title", read_title },
    { "description", read_description },
    { "properties", read_properties },
    { "required", read_required },
    { "additionalProperties", read_additional },
    { "items", read_items },
    { "minItems", read_min_items },
    { "maxItems", read_max_items },
    { "uniqueItems", read_unique },
    { "minLength", read_min_length },
    { "maxLength", read_max_length },
    { "format", read_format },
    { "minimum", read_minimum },
    { "maximum", read_maximum },
    { "enum", read_enum },
    { "const", read_const },
    { "oneOf", read_alternatives },
    { "anyOf", read_any_of },
    { "default", read_default },
};

static bool is_keyword(loci_str name)
{
    for (size_t i = 0; i < LOCI_COUNT(keywords); i++)
        if (loci_str_eq(name, loci_str_from(keywords[i].name))) return true;
    return false;
}

/* What the keywords say about the type when `type` itself is absent. */
static loci_schema_types inferred_types(const loci_schema *s)
{
    loci_schema_types types = 0;

    for (size_t i = 0; i < s->alternative_count; i++) types |= s->alternatives[i].types;
    for (size_t i = 0; s->choices && i < s->choices->array.count; i++)
        types |= bit(s->choices->array.items[i].type);
    if (s->properties) types |= bit(LOCI_JSON_OBJECT);
    return types ? types : ALL_TYPES;
}

/* What no keyword sees alone. */
static loci_rc check_whole(reader *r, const loci_schema *s)
{
    if (s->unique && (!s->items || s->items->types != bit(LOCI_JSON_STRING)))
        return loci_fail(r->err, LOCI_EINVAL, "uniqueItems is for strings");
    if (s->unique && s->max_items > LOCI_SCHEMA_UNIQUE)
        return loci_fail(r->err, LOCI_EINVAL, "uniqueItems needs maxItems of at most %d",
                         LOCI_SCHEMA_UNIQUE);
    if (s->alternatives && s->properties)
        return loci_fail(r->err, LOCI_EINVAL, "alternatives beside properties");
    if (s->types == bit(LOCI_JSON_ARRAY) && !s->items)
        return loci_fail(r->err, LOCI_EINVAL, "an array needs items");
    if (!s->fallback) return LOCI_OK;
    loci_err why = { 0 };
    if (loci_schema_check(s, s->fallback, &why) == LOCI_OK) return LOCI_OK;
    return loci_fail(r->err, LOCI_EINVAL, "default: %s", why.msg);
}

static loci_rc read_keywords(reader *r, const loci_json *value, loci_schema *s)
{
    for (size_t i = 0; i < LOCI_COUNT(keywords); i++) {
        const loci_json *found = loci_json_find(value, loci_str_from(keywords[i].name));
        if (!found) continue;
        loci_rc rc = keywords[i].read(r, found, s);
        if (rc) {
            loci_err_prefix(r->err, "%s", keywords[i].name);
            return rc;
        }
    }
    return LOCI_OK;
}

static loci_rc read_schema(reader *r, const loci_json *value, loci_schema *ret_schema)
{
    loci_rc rc = want(r, value, LOCI_JSON_OBJECT);
    if (rc) return rc;
    if (r->depth == LOCI_SCHEMA_DEPTH)
        return loci_fail(r->err, LOCI_EINVAL, "nested deeper than %d", LOCI_SCHEMA_DEPTH);
    for (size_t i = 0; i < value->object.count; i++)
        if (!is_keyword(value->object.members[i].name))
            return loci_fail(r->err, LOCI_EINVAL, "keyword '%.*s' is not ours",
                             LOCI_ARG(value->object.members[i].name));

    *ret_schema = (loci_schema){ .max_items = SIZE_MAX, .max_length = SIZE_MAX };
    r->depth++;
    rc = read_keywords(r, value, ret_schema);
    r->depth--;
    if (rc) return rc;
    if (ret_schema->types == 0) ret_schema->types = inferred_types(ret_schema);
    return check_whole(r, ret_schema);
}

loci_rc loci_schema_parse(loci_arena *arena, loci_str text, loci_schema **ret_schema, loci_err *err)
{
    reader r = { arena, err, 0 };
    const loci_json *value = NULL;

    loci_rc rc = loci_json_parse(arena, text, &value, err);
    if (rc == LOCI_ESHAPE) { /* our own text: no fault of the caller's input */
        if (err) err->code = LOCI_EINVAL;
        return LOCI_EINVAL;
    }
    return rc ? rc : read_new(&r, value, ret_schema);
}

loci_rc loci_schema_add(loci_arena *arena, loci_schema *object, loci_str name,
                        loci_schema *property, loci_err *err)
{
    size_t count = object->property_count;

    if (find_property(object, name))
        return loci_fail(err, LOCI_EINVAL, "the property '%.*s' is there already", LOCI_ARG(name));
    loci_schema_property *more = loci_arena_array(arena, count + 1, sizeof *more);
    if (!more) return loci_arena_fail(arena, err);
    if (count) memcpy(more, object->properties, count * sizeof *more);
    more[count] = (loci_schema_property){ .name = name, .schema = property };
    object->properties = more;
    object->property_count = count + 1;
    return LOCI_OK;
}

const loci_schema *loci_schema_find(const loci_schema *schema, loci_str name)
{
    const loci_schema_property *property = find_property(schema, name);
    return property ? property->schema : NULL;
}

static bool takes(const loci_schema *schema, loci_json_type type)
{
    if (schema->types & bit(type)) return true;
    return type == LOCI_JSON_REAL && (schema->types & bit(LOCI_JSON_INT));
}

const loci_schema *loci_schema_pick(const loci_schema *schema, loci_json_type type)
{
    if (schema->alternative_count == 0) return schema;
    for (size_t i = 0; i < schema->alternative_count; i++)
        if (takes(&schema->alternatives[i], type)) return &schema->alternatives[i];
    return NULL;
}
