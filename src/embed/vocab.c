#include "embed/vocab.h"

#include "base/buf.h"
#include "base/json.h"

enum { LARGEST = 16 << 20 };

static loci_rc from_lines(loci_str file, size_t count, loci_arena *arena, loci_str *ret,
                          loci_err *err)
{
    loci_buf buf;
    loci_str rest = file, line;
    size_t lines = 0;

    loci_buf_init_arena(&buf, arena, LARGEST);
    while (rest.len > 0 && loci_str_cut(&rest, '\n', &line)) {
        if (line.len && line.ptr[line.len - 1] == '\r') line.len--;
        if (line.len == 0 || memchr(line.ptr, 0, line.len))
            return loci_fail(err, LOCI_ECORRUPT, "the vocabulary has no word in line %zu",
                             lines + 1);
        loci_buf_add(&buf, line);
        loci_buf_add_char(&buf, '\n');
        lines++;
    }
    if (lines != count)
        return loci_fail(err, LOCI_ECORRUPT, "the vocabulary has %zu words in place of %zu", lines,
                         count);
    *ret = loci_buf_str(&buf);
    return loci_buf_check(&buf, err);
}

/* Put the words of a JSON object into an array by their ids. */
static loci_rc sort_words(const loci_json *vocab, loci_str *words, size_t count, loci_err *err)
{
    for (size_t i = 0; i < vocab->object.count; i++) {
        const loci_json_member *m = &vocab->object.members[i];
        int64_t id = m->value.type == LOCI_JSON_INT ? m->value.integer : -1;
        if (id < 0 || (size_t)id >= count || words[id].len || m->name.len == 0 ||
            memchr(m->name.ptr, '\n', m->name.len) || memchr(m->name.ptr, 0, m->name.len))
            return loci_fail(err, LOCI_ECORRUPT, "word %zu of the vocabulary is of no use", i);
        words[id] = m->name;
    }
    return LOCI_OK;
}

static loci_rc from_json(loci_str file, size_t count, loci_arena *arena, loci_str *ret,
                         loci_err *err)
{
    const loci_json *json;
    loci_buf buf;
    loci_rc rc = loci_json_parse(arena, file, &json, err);
    if (rc) return rc;

    const loci_json *vocab =
        loci_json_find(loci_json_find(json, LOCI_STR("model")), LOCI_STR("vocab"));
    if (!vocab || vocab->type != LOCI_JSON_OBJECT)
        return loci_fail(err, LOCI_ECORRUPT, "the tokenizer has no model.vocab");
    loci_str *words = loci_arena_array(arena, count, sizeof *words);
    if (!words) return loci_arena_fail(arena, err);
    rc = sort_words(vocab, words, count, err);
    if (rc) return rc;

    loci_buf_init_arena(&buf, arena, LARGEST);
    for (size_t i = 0; i < count; i++) {
        if (!words[i].len) return loci_fail(err, LOCI_ECORRUPT, "the vocabulary lacks id %zu", i);
        loci_buf_add(&buf, words[i]);
        loci_buf_add_char(&buf, '\n');
    }
    *ret = loci_buf_str(&buf);
    return loci_buf_check(&buf, err);
}

loci_rc loci_vocab_lines(loci_str file, size_t count, loci_arena *arena, loci_str *ret_lines,
                         loci_err *err)
{
    /* A word list starts with "[PAD]" or the like, never with a lone brace. */
    loci_str start = loci_str_trim(loci_str_sub(file, 0, 16));
    return start.len > 1 && start.ptr[0] == '{' ? from_json(file, count, arena, ret_lines, err)
                                                : from_lines(file, count, arena, ret_lines, err);
}
