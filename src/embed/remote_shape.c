#include "embed/remote_shape.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

enum { COMPLAINT_BYTES = 120 };

/* OpenAI refuses a text of nothing; a blank means as much. */
static loci_str fit_text(loci_remote_shape shape, loci_str text)
{
    if (text.len == 0 && shape == LOCI_REMOTE_OPENAI) return LOCI_STR(" ");
    return loci_utf8_cut(text, LOCI_REMOTE_TEXT_BYTES);
}

loci_rc loci_remote_ask(loci_remote_shape shape, const char *model, const loci_str *texts,
                        size_t count, loci_buf *out, loci_err *err)
{
    loci_json_writer w;

    loci_json_begin(&w, out);
    loci_json_object(&w);
    if (shape != LOCI_REMOTE_TEI) loci_json_member_cstr(&w, "model", model);
    loci_json_name(&w, shape == LOCI_REMOTE_TEI ? LOCI_STR("inputs") : LOCI_STR("input"));
    loci_json_array(&w);
    for (size_t i = 0; i < count; i++) loci_json_string(&w, fit_text(shape, texts[i]));
    loci_json_array_end(&w);
    if (shape == LOCI_REMOTE_OPENAI)
        loci_json_member_cstr(&w, "encoding_format", "float");
    else
        loci_json_member_bool(&w, "truncate", true);
    loci_json_object_end(&w);
    return loci_json_check(&w, err);
}

/* What is read while the vectors of one answer are gathered. */
typedef struct reading {
    loci_arena *arena;
    size_t count; /* of vectors */
    size_t dim;   /* of the first vector; 0 before it */
    float *values;
    loci_err *err;
} reading;

/* Memory is taken when the first vector tells the length of all. */
static loci_rc check_dim(reading *r, size_t index, size_t dim)
{
    if (dim == 0 || dim > LOCI_REMOTE_DIM)
        return loci_fail(r->err, LOCI_ECORRUPT, "vector %zu has %zu values; 1..%d are possible",
                         index, dim, LOCI_REMOTE_DIM);
    if (!r->values) {
        r->values = loci_arena_array(r->arena, r->count * dim, sizeof *r->values);
        if (!r->values) return loci_arena_fail(r->arena, r->err);
        r->dim = dim;
    }
    if (dim != r->dim)
        return loci_fail(r->err, LOCI_ECORRUPT, "vector %zu has %zu values, another one %zu", index,
                         dim, r->dim);
    return LOCI_OK;
}

/* Sums are in double: no float is so large or so small that its square is lost there. */
static loci_rc normalise(reading *r, size_t index, float *vector)
{
    double sum = 0;

    for (size_t i = 0; i < r->dim; i++) {
        if (!isfinite(vector[i]))
            return loci_fail(r->err, LOCI_ECORRUPT, "value %zu of vector %zu is not a number", i,
                             index);
        sum += (double)vector[i] * (double)vector[i];
    }
    if (sum <= 0) return loci_fail(r->err, LOCI_ECORRUPT, "vector %zu is all zeros", index);
    double length = sqrt(sum);
    for (size_t i = 0; i < r->dim; i++) vector[i] = (float)((double)vector[i] / length);
    return LOCI_OK;
}

static loci_rc read_numbers(reading *r, size_t index, const loci_json *array)
{
    loci_rc rc = check_dim(r, index, array->array.count);
    if (rc) return rc;
    float *vector = r->values + index * r->dim;
    for (size_t i = 0; i < r->dim; i++) {
        const loci_json *v = &array->array.items[i];
        if (v->type != LOCI_JSON_INT && v->type != LOCI_JSON_REAL)
            return loci_fail(r->err, LOCI_ECORRUPT, "value %zu of vector %zu is %s, not a number",
                             i, index, loci_json_type_name(v->type));
        double value = v->type == LOCI_JSON_INT ? (double)v->integer : v->real;
        if (value > 3.4e38 || value < -3.4e38)
            return loci_fail(r->err, LOCI_ECORRUPT, "value %zu of vector %zu is %g: too large", i,
                             index, value);
        vector[i] = (float)value;
    }
    return normalise(r, index, vector);
}

static float read_float(const unsigned char *b)
{
    uint32_t bits =
        (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Base64 of 32-bit floats, the lowest byte first. */
static loci_rc read_base64(reading *r, size_t index, loci_str text)
{
    loci_buf bytes;

    loci_buf_init_arena(&bytes, r->arena, (size_t)4 * LOCI_REMOTE_DIM);
    loci_rc rc = loci_base64_decode(LOCI_BASE64, text, &bytes, r->err);
    if (rc == LOCI_ENOMEM) return rc;
    if (rc || bytes.len % 4)
        return loci_fail(r->err, LOCI_ECORRUPT, "vector %zu is a text, but not base64 of floats",
                         index);
    rc = check_dim(r, index, bytes.len / 4);
    if (rc) return rc;
    float *vector = r->values + index * r->dim;
    for (size_t i = 0; i < r->dim; i++)
        vector[i] = read_float((const unsigned char *)bytes.ptr + 4 * i);
    return normalise(r, index, vector);
}

static loci_rc read_vector(reading *r, size_t index, const loci_json *value)
{
    if (value && value->type == LOCI_JSON_ARRAY) return read_numbers(r, index, value);
    if (value && value->type == LOCI_JSON_STRING) return read_base64(r, index, value->string);
    return loci_fail(r->err, LOCI_ECORRUPT, "vector %zu is %s, not an array of numbers", index,
                     value ? loci_json_type_name(value->type) : "missing");
}

/* The array that must have one entry per text. */
static loci_rc check_list(const reading *r, const loci_json *list, const char *what)
{
    if (!list || list->type != LOCI_JSON_ARRAY)
        return loci_fail(r->err, LOCI_ECORRUPT, "%s is %s, not an array", what,
                         list ? loci_json_type_name(list->type) : "missing");
    if (list->array.count != r->count)
        return loci_fail(r->err, LOCI_ECORRUPT, "%zu vectors came back for %zu texts",
                         list->array.count, r->count);
    return LOCI_OK;
}

static loci_rc read_in_order(reading *r, const loci_json *list, const char *what)
{
    loci_rc rc = check_list(r, list, what);

    for (size_t i = 0; i < r->count && !rc; i++) rc = read_vector(r, i, &list->array.items[i]);
    return rc;
}

static loci_rc read_index(const reading *r, size_t place, const loci_json *item, size_t *ret)
{
    const loci_json *index = loci_json_find(item, LOCI_STR("index"));

    if (!index || index->type != LOCI_JSON_INT)
        return loci_fail(r->err, LOCI_ECORRUPT, "entry %zu has no index", place);
    if (index->integer < 0 || (uint64_t)index->integer >= r->count)
        return loci_fail(r->err, LOCI_ECORRUPT, "entry %zu has index %lld, but there are %zu texts",
                         place, (long long)index->integer, r->count);
    *ret = (size_t)index->integer;
    return LOCI_OK;
}

/* As many entries as texts and no index twice: then every index is there. */
static loci_rc read_by_index(reading *r, const loci_json *list)
{
    loci_rc rc = check_list(r, list, "\"data\"");
    if (rc) return rc;
    bool *seen = loci_arena_array(r->arena, r->count, sizeof *seen);
    if (!seen) return loci_arena_fail(r->arena, r->err);

    for (size_t i = 0; i < r->count; i++) {
        const loci_json *item = &list->array.items[i];
        size_t index;
        rc = read_index(r, i, item, &index);
        if (rc) return rc;
        if (seen[index])
            return loci_fail(r->err, LOCI_ECORRUPT, "index %zu came back twice", index);
        seen[index] = true;
        rc = read_vector(r, index, loci_json_find(item, LOCI_STR("embedding")));
        if (rc) return rc;
    }
    return LOCI_OK;
}

loci_rc loci_remote_read(loci_remote_shape shape, loci_str answer, size_t count, loci_arena *arena,
                         loci_remote_vectors *ret_vectors, loci_err *err)
{
    reading r = { .arena = arena, .count = count, .err = err };
    const loci_json *root;

    loci_rc rc = loci_json_parse(arena, answer, &root, err);
    if (rc == LOCI_ESHAPE) {
        loci_err_prefix(err, "the answer is not JSON");
        if (err) err->code = LOCI_ECORRUPT;
        return LOCI_ECORRUPT;
    }
    if (rc) return rc;
    if (shape == LOCI_REMOTE_OPENAI)
        rc = read_by_index(&r, loci_json_find(root, LOCI_STR("data")));
    else if (shape == LOCI_REMOTE_OLLAMA)
        rc = read_in_order(&r, loci_json_find(root, LOCI_STR("embeddings")), "\"embeddings\"");
    else
        rc = read_in_order(&r, root, "the answer");
    if (!rc) *ret_vectors = (loci_remote_vectors){ r.values, r.dim };
    return rc;
}

/* {"error": {"message": …}}, {"error": …}, {"message": …} or {"detail": …}. */
static loci_str find_message(const loci_json *root)
{
    static const char *const names[] = { "error", "message", "detail" };

    for (size_t i = 0; i < LOCI_COUNT(names); i++) {
        const loci_json *v = loci_json_find(root, loci_str_from(names[i]));
        if (v && v->type == LOCI_JSON_OBJECT) v = loci_json_find(v, LOCI_STR("message"));
        if (v && v->type == LOCI_JSON_STRING) return v->string;
    }
    return (loci_str){ NULL, 0 };
}

static bool holds(loci_str text, const char *key)
{
    return key && key[0] && loci_str_find(text, loci_str_from(key)) < text.len;
}

loci_str loci_remote_complaint(loci_str answer, const char *key, loci_arena *arena)
{
    const loci_json *root;
    loci_buf out;

    loci_str text = loci_json_parse(arena, answer, &root, NULL) ? answer : find_message(root);
    text = loci_str_trim(text);
    if (holds(text, key) || !loci_utf8_valid(text)) return (loci_str){ NULL, 0 };
    text = loci_utf8_cut(text, COMPLAINT_BYTES);
    loci_buf_init_arena(&out, arena, COMPLAINT_BYTES);
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        loci_buf_add_char(&out, c < ' ' || c == 0x7f ? ' ' : text.ptr[i]);
    }
    return loci_buf_check(&out, NULL) ? (loci_str){ NULL, 0 } : loci_buf_str(&out);
}
