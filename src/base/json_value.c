/* Names of an object: made unique once it is closed, and found again.
 *
 * Few names are compared each with each. Many are sorted by a hash, and by the name itself where
 * hashes are equal, so that names chosen to collide cost no more than O(n log n), without a secret
 * in the hash. The sorted rows are kept as an index, for loci_json_find. */
#include "base/json_inside.h"

size_t loci_json_settle_few(loci_json_member *members, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (same < kept && !loci_str_eq(members[same].name, members[i].name)) same++;
        if (same < kept)
            members[same].value = members[i].value;
        else if (kept++ < i)
            members[kept - 1] = members[i];
    }
    return kept;
}

static uint32_t hash_of(loci_str name)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = name.len * odd;

    for (size_t i = 0; i < name.len; i += 8) {
        uint64_t part = 0;
        memcpy(&part, name.ptr + i, name.len - i < 8 ? name.len - i : 8);
        h = (h ^ part) * odd;
        h ^= h >> 29;
    }
    return (uint32_t)(h * odd >> 32);
}

/* Negative, 0 or positive, as (hash, name) comes before, is or comes after the row. */
static int compare(const loci_json_member *members, uint32_t hash, loci_str name, loci_json_row row)
{
    if (hash != row.hash) return hash < row.hash ? -1 : 1;
    return loci_str_cmp(name, members[row.at].name);
}

/* Members are far apart in memory: only equal hashes are worth a look at the names. */
static bool is_after(const loci_json_member *members, loci_json_row a, loci_json_row b)
{
    if (a.hash != b.hash) return a.hash > b.hash;
    return compare(members, a.hash, members[a.at].name, b) > 0;
}

/* Merge the sorted from[0..middle) and from[middle..end) into `to`; equal ones keep their order. */
static void merge(const loci_json_member *members, const loci_json_row *from, size_t middle,
                  size_t end, loci_json_row *to)
{
    size_t left = 0, right = middle;
    bool in_order = middle == end || !is_after(members, from[middle - 1], from[middle]);

    while (!in_order && left < middle && right < end) {
        bool take_right = is_after(members, from[left], from[right]);
        *to++ = take_right ? from[right++] : from[left++];
    }
    memcpy(to, from + left, (middle - left) * sizeof *to);
    memcpy(to + (middle - left), from + right, (end - right) * sizeof *to);
}

/* Merge sort, from single rows upwards; rows[count..2 * count) is where it works. */
static void sort(const loci_json_member *members, loci_json_row *rows, size_t count)
{
    loci_json_row *from = rows, *to = rows + count;

    for (size_t width = 1; width < count; width *= 2) {
        for (size_t i = 0; i < count; i += 2 * width) {
            size_t middle = count - i < width ? count - i : width;
            size_t end = count - i < 2 * width ? count - i : 2 * width;
            merge(members, from + i, middle, end, to + i);
        }
        loci_json_row *swap = from;
        from = to, to = swap;
    }
    if (from != rows) memcpy(rows, from, count * sizeof *rows);
}

static void make_rows(loci_json_member *members, size_t count)
{
    loci_json_row *rows = (loci_json_row *)(void *)(members + count);

    for (size_t i = 0; i < count; i++)
        rows[i] = (loci_json_row){ hash_of(members[i].name), (uint32_t)i };
    sort(members, rows, count);
}

static const loci_json_row *rows_of(const loci_json_member *members, size_t count)
{
    return (const loci_json_row *)(const void *)(members + count);
}

/* Rows of one name stand together, in the order of the text: the first gets the value of the last,
 * the others lose their name. Then the members with a name move together. */
static size_t drop_doubles(loci_json_member *members, size_t count)
{
    const loci_json_row *rows = rows_of(members, count);
    size_t first = 0, kept = 0;

    for (size_t i = 1; i < count; i++) {
        if (is_after(members, rows[i], rows[first])) {
            first = i;
            continue;
        }
        members[rows[first].at].value = members[rows[i].at].value;
        members[rows[i].at].name.ptr = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (!members[i].name.ptr) continue;
        if (kept < i) members[kept] = members[i];
        kept++;
    }
    return kept;
}

size_t loci_json_settle_many(loci_json_member *members, size_t count)
{
    make_rows(members, count);
    size_t kept = drop_doubles(members, count);
    if (kept < count) make_rows(members, kept); /* they moved */
    return kept;
}

static const loci_json *find_in_index(const loci_json *object, loci_str name)
{
    const loci_json_member *members = object->object.members;
    const loci_json_row *rows = rows_of(members, object->object.count);
    size_t low = 0, high = object->object.count;
    uint32_t hash = hash_of(name);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare(members, hash, name, rows[middle]);
        if (order == 0) return &members[rows[middle].at].value;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const loci_json *loci_json_find(const loci_json *object, loci_str name)
{
    if (!object || object->type != LOCI_JSON_OBJECT) return NULL;
    if (object->indexed) return find_in_index(object, name);
    for (size_t i = 0; i < object->object.count; i++)
        if (loci_str_eq(object->object.members[i].name, name))
            return &object->object.members[i].value;
    return NULL;
}

const char *loci_json_type_name(loci_json_type type)
{
    static const char *const names[] = {
        [LOCI_JSON_NULL] = "null",        [LOCI_JSON_BOOL] = "a boolean",
        [LOCI_JSON_INT] = "an integer",   [LOCI_JSON_REAL] = "a number",
        [LOCI_JSON_STRING] = "a string",  [LOCI_JSON_ARRAY] = "an array",
        [LOCI_JSON_OBJECT] = "an object",
    };

    return (size_t)type < LOCI_COUNT(names) ? names[type] : "nothing";
}
