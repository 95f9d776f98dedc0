/* Any bytes against one of a few schemas: the first byte chooses, the rest is the input. Whatever
 * comes, the answer is "fits" or a message that is short, whole UTF-8 and without control
 * characters; and a schema made of those bytes is accepted or refused. */
#include "base/utf8.h"
#include "ops/schema.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CEILING = 16 << 20 };

static const char *const schemas[] = {
    "{}",
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\",\"minLength\":2,"
    "\"maxLength\":8},\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,"
    "\"default\":10},\"weight\":{\"type\":\"number\",\"minimum\":-0.5,\"maximum\":1.5},"
    "\"mode\":{\"enum\":[\"hybrid\",\"vector\",\"text\"]}},\"required\":[\"text\"]}",
    "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":9},\"minItems\":1,"
    "\"maxItems\":5,\"uniqueItems\":true}",
    "{\"oneOf\":[{\"type\":\"string\",\"format\":\"moment\"},{\"type\":\"array\",\"items\":"
    "{\"type\":\"string\",\"format\":\"date-time\"}},{\"const\":true}]}",
    "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\",\"additionalProperties\":"
    "{\"type\":[\"integer\",\"null\"]}}}",
    "{\"type\":\"object\",\"properties\":{\"steps\":{\"type\":\"array\",\"items\":{\"type\":"
    "\"object\",\"properties\":{\"action\":{\"type\":\"string\"},\"id\":{\"type\":\"string\","
    "\"format\":\"step-id\"},\"path\":{\"type\":\"string\",\"format\":\"host-path\"}},"
    "\"required\":[\"action\"]}}}}",
};

static void check_message(const loci_err *err)
{
    loci_str message = loci_str_from(err->msg);

    assert(err->code == LOCI_ESHAPE && message.len > 0 && loci_utf8_valid(message));
    for (size_t i = 0; i < message.len; i++) assert((unsigned char)message.ptr[i] >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(CEILING);
    loci_schema *schema = NULL, *own = NULL;
    const loci_json *value = NULL;
    loci_err err = { 0 };

    if (size == 0 || !arena) return 0;
    loci_str text = { (const char *)data + 1, size - 1 };
    const char *chosen = schemas[data[0] % LOCI_COUNT(schemas)];
    if (loci_schema_parse(arena, loci_str_from(chosen), &schema, &err)) abort();
    if (loci_json_parse(arena, text, &value, &err)) return 0;
    if (loci_schema_check(schema, value, &err)) check_message(&err);

    /* A schema of any bytes: never ours, but the reader must stand it. */
    if (loci_schema_parse(arena, text, &own, &err) == LOCI_OK)
        (void)(loci_schema_check(own, value, &err) == LOCI_OK);
    return 0;
}
