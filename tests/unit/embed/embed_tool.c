/* embed-tool: the built-in embedder on a pipe, for the comparison with ONNX Runtime.
 *
 *   embed-tool MODEL            MODEL is a model file
 *
 * Reads one command per line and answers with one line:
 *   text "…"        a JSON string: {"ids":[…],"vector":[…]}
 *   speed T N MS    texts of T tokens, N at a time, for MS milliseconds of processor time:
 *                   {"texts":n,"seconds":s}
 *   memory          {"open_ms":t,"anonymous_kb":n}: opening the model, and memory that is not
 * mapped
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/json.h"
#include "embed/forward.h"
#include "text/wordpiece.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LONGEST_LINE = 4 << 20, MOST_TOKENS = 512, MOST_TEXTS = 64 };

typedef struct tool {
    loci_model *model;
    loci_forward *pass;
    loci_wordpiece words;
    loci_arena *arena;
    const loci_model_info *info;
    double open_ms;
} tool;

static double seconds(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static loci_rc run_text(tool *t, loci_str line, loci_err *err)
{
    LOCI_AUTO(loci_buf_done) loci_buf out;
    static uint32_t ids[MOST_TOKENS];
    static float vector[LOCI_MODEL_HIDDEN];
    loci_json_writer w;
    loci_tokens tokens;
    const loci_json *text;

    loci_buf_init(&out, 1 << 20);
    loci_rc rc = loci_json_parse(t->arena, line, &text, err);
    if (rc) return rc;
    if (text->type != LOCI_JSON_STRING) return loci_fail(err, LOCI_ESHAPE, "not a string");
    rc = loci_wordpiece_input(&t->words, text->string, t->info->max_tokens, t->arena, &tokens, err);
    if (rc) return rc;
    for (size_t i = 0; i < tokens.count; i++) ids[i] = tokens.items[i].id;
    rc = loci_forward_run(t->pass, &(loci_ids){ ids, tokens.count }, 1, vector, err);
    if (rc) return rc;

    loci_json_begin(&w, &out);
    loci_json_object(&w);
    loci_json_name(&w, LOCI_STR("ids"));
    loci_json_array(&w);
    for (size_t i = 0; i < tokens.count; i++) loci_json_int(&w, ids[i]);
    loci_json_array_end(&w);
    loci_json_name(&w, LOCI_STR("vector"));
    loci_json_array(&w);
    for (size_t i = 0; i < t->info->hidden; i++) loci_json_real(&w, (double)vector[i]);
    loci_json_array_end(&w);
    loci_json_object_end(&w);
    rc = loci_json_check(&w, err);
    if (!rc) (void)printf("%.*s\n", LOCI_ARG(loci_buf_str(&out)));
    return rc;
}

static loci_rc run_speed(tool *t, size_t count, size_t together, double limit, loci_err *err)
{
    static uint32_t ids[MOST_TOKENS];
    static float vectors[MOST_TEXTS * LOCI_MODEL_HIDDEN];
    loci_ids texts[MOST_TEXTS];
    double start, spent;
    size_t done = 0;

    if (count < 2 || count > t->info->max_tokens || count > MOST_TOKENS || together < 1 ||
        together > MOST_TEXTS)
        return loci_fail(err, LOCI_EINVAL, "a number is out of range");
    for (size_t i = 0; i < count; i++) ids[i] = (uint32_t)(2000 + i * 37);
    ids[0] = t->words.cls;
    ids[count - 1] = t->words.sep;
    for (size_t i = 0; i < together; i++) texts[i] = (loci_ids){ ids, count };

    start = seconds(CLOCK_PROCESS_CPUTIME_ID);
    do {
        loci_rc rc = loci_forward_run(t->pass, texts, together, vectors, err);
        if (rc) return rc;
        done += together;
        spent = seconds(CLOCK_PROCESS_CPUTIME_ID) - start;
    } while (spent < limit);
    (void)printf("{\"texts\":%zu,\"seconds\":%.6f}\n", done, spent);
    return LOCI_OK;
}

static void run_memory(const tool *t)
{
    long anonymous = -1;
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "RssAnon:", 8) == 0) anonymous = strtol(line + 8, NULL, 10);
    if (file) (void)fclose(file);
    (void)printf("{\"open_ms\":%.3f,\"anonymous_kb\":%ld}\n", t->open_ms, anonymous);
}

static loci_rc run_line(tool *t, const char *line, loci_err *err)
{
    if (strncmp(line, "text ", 5) == 0) return run_text(t, loci_str_from(line + 5), err);
    if (strncmp(line, "speed ", 6) == 0) {
        char *rest;
        size_t count = strtoul(line + 6, &rest, 10), together = strtoul(rest, &rest, 10);
        return run_speed(t, count, together, strtod(rest, NULL) / 1000, err);
    }
    if (strncmp(line, "memory", 6) != 0) return loci_fail(err, LOCI_EINVAL, "unknown command");
    run_memory(t);
    return LOCI_OK;
}

static loci_rc open_tool(tool *t, const char *path, loci_err *err)
{
    double start = seconds(CLOCK_MONOTONIC);
    loci_str table;

    loci_rc rc = loci_model_open(path, &t->model, err);
    if (!rc) rc = loci_model_get_vocab(t->model, &table, err);
    if (!rc) rc = loci_wordpiece_init(&t->words, table.ptr, table.len, err);
    if (!rc) rc = loci_forward_new(t->model, &t->pass, err);
    if (rc) return rc;
    t->info = loci_model_get_info(t->model);
    t->open_ms = (seconds(CLOCK_MONOTONIC) - start) * 1000;
    t->arena = loci_arena_new(64 << 20);
    return t->arena ? LOCI_OK : loci_fail(err, LOCI_ENOMEM, "out of memory");
}

int main(int argc, char **argv)
{
    tool t = { 0 };
    loci_err err = { 0 };
    LOCI_AUTO(loci_freep) char *line = loci_zalloc(LONGEST_LINE);
    loci_rc rc = LOCI_OK;

    if (argc != 2 || !line) {
        (void)fprintf(stderr, "usage: embed-tool MODEL\n");
        return 2;
    }
    rc = open_tool(&t, argv[1], &err);
    while (!rc && fgets(line, LONGEST_LINE, stdin)) {
        loci_arena_reset(t.arena);
        rc = run_line(&t, line, &err);
        (void)fflush(stdout);
    }
    if (rc) (void)fprintf(stderr, "embed-tool: %s\n", err.msg);
    loci_arena_free(t.arena);
    loci_forward_free(t.pass);
    loci_model_close(t.model);
    return rc ? 1 : 0;
}
