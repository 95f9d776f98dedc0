#include "ops/input.h"

#include <assert.h>

static const loci_schema *schema_of(loci_in in, const char *name)
{
    const loci_schema *schema = in.schema ? loci_schema_find(in.schema, loci_str_from(name)) : NULL;
    assert(schema && "the schema has no such field");
    return schema;
}

static const loci_json *given(loci_in in, const char *name)
{
    return loci_json_find(in.value, loci_str_from(name));
}

bool loci_in_given(loci_in in, const char *name)
{
    (void)schema_of(in, name);
    return given(in, name);
}

bool loci_in_has(loci_in in, const char *name)
{
    (void)schema_of(in, name);
    const loci_json *value = given(in, name);
    return value && value->type != LOCI_JSON_NULL;
}

const loci_json *loci_in_value(loci_in in, const char *name)
{
    const loci_schema *schema = schema_of(in, name);
    const loci_json *value = given(in, name);

    if (!value || value->type == LOCI_JSON_NULL) value = schema->fallback;
    return value && value->type != LOCI_JSON_NULL ? value : NULL;
}

loci_str loci_in_text(loci_in in, const char *name)
{
    const loci_json *value = loci_in_value(in, name);
    return value && value->type == LOCI_JSON_STRING ? value->string : LOCI_STR("");
}

int64_t loci_in_int(loci_in in, const char *name)
{
    const loci_json *value = loci_in_value(in, name);

    if (!value) return 0;
    if (value->type == LOCI_JSON_INT) return value->integer;
    if (value->type == LOCI_JSON_REAL && loci_schema_whole(value->real))
        return (int64_t)value->real; /* 5.0 */
    return 0;
}

double loci_in_real(loci_in in, const char *name)
{
    const loci_json *value = loci_in_value(in, name);

    if (!value) return 0;
    if (value->type == LOCI_JSON_INT) return (double)value->integer;
    return value->type == LOCI_JSON_REAL ? value->real : 0;
}

bool loci_in_bool(loci_in in, const char *name)
{
    const loci_json *value = loci_in_value(in, name);
    return value && value->type == LOCI_JSON_BOOL && value->boolean;
}

loci_rc loci_in_date(loci_in in, const char *name, const loci_zone *zone, loci_date *ret_date,
                     loci_err *err)
{
    loci_str text = loci_in_text(in, name);
    if (text.len == 0) return LOCI_OK;
    loci_rc rc = loci_date_parse(text, zone, ret_date, err);
    if (rc) loci_err_prefix(err, "%s", name);
    return rc;
}

int loci_in_choice(loci_in in, const char *name)
{
    const loci_json *choices = schema_of(in, name)->choices;
    const loci_json *value = loci_in_value(in, name);

    assert(choices && "the schema lists no values");
    for (size_t i = 0; value && i < choices->array.count; i++)
        if (loci_schema_same(value, &choices->array.items[i])) return (int)i;
    return -1;
}

loci_in_list loci_in_items(loci_in in, const char *name)
{
    const loci_json *value = loci_in_value(in, name);

    if (!value) return (loci_in_list){ 0 };
    const loci_schema *schema = loci_schema_pick(schema_of(in, name), value->type);
    if (value->type != LOCI_JSON_ARRAY) return (loci_in_list){ value, 1, schema };
    return (loci_in_list){ value->array.items, value->array.count, schema ? schema->items : NULL };
}

loci_in loci_in_item(loci_in_list list, size_t index)
{
    assert(index < list.count);
    const loci_json *item = &list.items[index];
    const loci_schema *schema = list.schema ? loci_schema_pick(list.schema, item->type) : NULL;
    return (loci_in){ item, schema };
}

loci_str loci_in_item_text(loci_in_list list, size_t index)
{
    assert(index < list.count);
    const loci_json *item = &list.items[index];
    return item->type == LOCI_JSON_STRING ? item->string : LOCI_STR("");
}

loci_in loci_in_object(loci_in in, const char *name)
{
    const loci_schema *schema = schema_of(in, name);
    const loci_json *value = loci_in_value(in, name);
    return (loci_in){ value, loci_schema_pick(schema, LOCI_JSON_OBJECT) };
}
