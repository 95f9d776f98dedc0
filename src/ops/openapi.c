#include "ops/openapi.h"

#include <stdio.h>

/* The statuses that any operation may answer with, as components. */
static const struct failure {
    const char *status, *name, *what;
} failures[] = {
    { "400", "invalid", "A value is wrong" },
    { "401", "unauthorized", "No password or key, or a wrong one" },
    { "403", "forbidden", "Known, but not allowed: role, agent, node, host or path" },
    { "404", "not_found", "No such thing" },
    { "409", "conflict",
      "It exists already, was changed meanwhile, or the request id was used "
      "for another input" },
    { "413", "too_large", "Larger than a limit" },
    { "415", "unsupported_media", "The body is not application/json" },
    { "422", "wrong_shape",
      "Not JSON, a wrong type, an unknown or missing field, an unknown value "
      "of a closed list" },
    { "429", "busy", "Too much at once; try again" },
    { "500", "internal", "A fault of the server" },
    { "501", "not_implemented", "This build or store cannot do it" },
    { "503", "unavailable", "Something needed is away; try again later" },
};

static void write_ref(loci_json_writer *w, const char *kind, const char *name)
{
    char ref[96];

    (void)snprintf(ref, sizeof ref, "#/components/%s/%s", kind, name);
    loci_json_object(w);
    loci_json_member_cstr(w, "$ref", ref);
    loci_json_object_end(w);
}

static void open_object(loci_json_writer *w, const char *name)
{
    loci_json_name(w, loci_str_from(name));
    loci_json_object(w);
}

static void write_examples(const loci_op *row, loci_json_writer *w)
{
    open_object(w, "examples");
    for (size_t i = 0; i < LOCI_OP_EXAMPLES && row->examples[i].title; i++) {
        loci_json_name(w, loci_str_from(row->examples[i].title));
        loci_json_object(w);
        loci_json_name(w, LOCI_STR("value"));
        loci_json_raw(w, loci_str_from(row->examples[i].input));
        loci_json_object_end(w);
    }
    loci_json_object_end(w);
}

/* The content of a body: its schema, and examples when `row` is given. */
static void write_content(loci_json_writer *w, const loci_schema *schema, const loci_op *row)
{
    open_object(w, "content");
    open_object(w, "application/json");
    loci_json_name(w, LOCI_STR("schema"));
    loci_schema_write(schema, w);
    if (row) write_examples(row, w);
    loci_json_object_end(w);
    loci_json_object_end(w);
}

static void write_parameters(const loci_op *row, loci_json_writer *w)
{
    loci_json_name(w, LOCI_STR("parameters"));
    loci_json_array(w);
    if (row->flags & LOCI_OP_AGENT) write_ref(w, "parameters", "agent");
    if (row->flags & LOCI_OP_NODE) write_ref(w, "parameters", "node");
    if (row->flags & LOCI_OP_WRITES) write_ref(w, "parameters", "idempotency_key");
    loci_json_array_end(w);
}

static void write_responses(const loci_op_info *op, loci_json_writer *w)
{
    open_object(w, "responses");
    open_object(w, "200");
    loci_json_member_cstr(w, "description", "The output");
    write_content(w, op->output, NULL);
    loci_json_object_end(w);
    for (size_t i = 0; i < LOCI_COUNT(failures); i++) {
        loci_json_name(w, loci_str_from(failures[i].status));
        write_ref(w, "responses", failures[i].name);
    }
    loci_json_object_end(w);
}

static bool has_required(const loci_schema *schema)
{
    for (size_t i = 0; i < schema->property_count; i++)
        if (schema->properties[i].required) return true;
    return false;
}

static void write_path(const loci_op_info *op, loci_json_writer *w)
{
    char path[LOCI_OP_NAME_MAX + 16];

    (void)snprintf(path, sizeof path, "/v1/ops/%s", op->row->name);
    open_object(w, path);
    open_object(w, "post");
    loci_json_member_cstr(w, "operationId", op->row->name);
    loci_json_member_cstr(w, "summary", op->row->help);
    loci_json_member_cstr(w, "description", op->row->description);
    loci_json_name(w, LOCI_STR("tags"));
    loci_json_array(w);
    loci_json_string(w, loci_str_from(loci_toolsets_name(op->row->toolsets)));
    loci_json_array_end(w);
    write_parameters(op->row, w);
    open_object(w, "requestBody");
    loci_json_member_bool(w, "required", has_required(op->input));
    write_content(w, op->input, op->row);
    loci_json_object_end(w);
    write_responses(op, w);
    loci_json_object_end(w);
    loci_json_object_end(w);
}

static void write_header(loci_json_writer *w, const char *name, const char *header,
                         const char *what)
{
    open_object(w, name);
    loci_json_member_cstr(w, "name", header);
    loci_json_member_cstr(w, "in", "header");
    loci_json_member_cstr(w, "description", what);
    open_object(w, "schema");
    loci_json_member_cstr(w, "type", "string");
    loci_json_object_end(w);
    loci_json_object_end(w);
}

static void write_error_schema(loci_json_writer *w)
{
    open_object(w, "schemas");
    open_object(w, "error");
    loci_json_member_cstr(w, "type", "object");
    open_object(w, "properties");
    open_object(w, "detail");
    loci_json_member_cstr(w, "type", "string");
    loci_json_member_cstr(w, "description", "What was wrong, for a person");
    loci_json_object_end(w);
    open_object(w, "code");
    loci_json_member_cstr(w, "type", "string");
    loci_json_name(w, LOCI_STR("enum"));
    loci_json_array(w);
    for (size_t i = 0; i < LOCI_COUNT(failures); i++)
        loci_json_string(w, loci_str_from(failures[i].name));
    loci_json_array_end(w);
    loci_json_object_end(w);
    loci_json_object_end(w);
    loci_json_name(w, LOCI_STR("required"));
    loci_json_raw(w, LOCI_STR("[\"detail\",\"code\"]"));
    loci_json_object_end(w);
    loci_json_object_end(w);
}

static void write_failures(loci_json_writer *w)
{
    open_object(w, "responses");
    for (size_t i = 0; i < LOCI_COUNT(failures); i++) {
        open_object(w, failures[i].name);
        loci_json_member_cstr(w, "description", failures[i].what);
        open_object(w, "content");
        open_object(w, "application/json");
        loci_json_name(w, LOCI_STR("schema"));
        write_ref(w, "schemas", "error");
        loci_json_object_end(w);
        loci_json_object_end(w);
        loci_json_object_end(w);
    }
    loci_json_object_end(w);
}

static void write_components(loci_json_writer *w)
{
    open_object(w, "components");
    write_error_schema(w);
    write_failures(w);
    open_object(w, "parameters");
    write_header(w, "agent", "X-Loci-Agent", "Default for agent");
    write_header(w, "node", "X-Loci-Node", "Default for node");
    write_header(w, "idempotency_key", "Idempotency-Key",
                 "As request_id: a repeat gets the first answer and writes nothing");
    loci_json_object_end(w);
    open_object(w, "securitySchemes");
    open_object(w, "key");
    loci_json_member_cstr(w, "type", "http");
    loci_json_member_cstr(w, "scheme", "bearer");
    loci_json_member_cstr(w, "description", "The password or an API key, when the server has any");
    loci_json_object_end(w);
    loci_json_object_end(w);
    loci_json_object_end(w);
}

/* A key where there is one, and none on a server that has none. */
static void write_security(loci_json_writer *w)
{
    loci_json_name(w, LOCI_STR("security"));
    loci_json_raw(w, LOCI_STR("[{\"key\":[]},{}]"));
}

loci_rc loci_openapi_write(const loci_ops *ops, loci_buf *out, loci_err *err)
{
    loci_ops_filter all = { .toolsets = LOCI_TOOLSET_ALL };
    const loci_op_info *op;
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_json_object(&w);
    loci_json_member_cstr(&w, "openapi", "3.1.0");
    open_object(&w, "info");
    loci_json_member_cstr(&w, "title", "loci");
    loci_json_member_cstr(&w, "summary", "Memory for agents");
    loci_json_member_cstr(&w, "version", loci_version());
    loci_json_object_end(&w);
    open_object(&w, "paths");
    for (size_t cursor = 0; (op = loci_ops_next(ops, all, &cursor));) write_path(op, &w);
    loci_json_object_end(&w);
    write_components(&w);
    write_security(&w);
    loci_json_object_end(&w);
    return loci_json_check(&w, err);
}
