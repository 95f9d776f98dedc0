#include "embed/builtin.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "embed/forward.h"
#include "embed/maker.h"
#include "embed/model_file.h"
#include "text/wordpiece.h"

#include <pthread.h>

enum {
    DEFAULT_PASSES = 2,
    MOST_PASSES = 64,
    GROUP = 64, /* texts whose tokens are held at once */
    GROUP_BYTES = 64 << 20,
};

typedef struct builtin {
    loci_embedder base;
    loci_embedder_info info;
    loci_model *model;
    const loci_model_info *about;
    loci_wordpiece words;
    char id[160];
    unsigned passes; /* how many there may be */

    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t returned;
    unsigned made;       /* passes that exist */
    unsigned idle_count; /* of them, how many nobody uses */
    loci_forward *idle[MOST_PASSES];
} builtin;

/* A pass of our own, until give_back: an idle one, or a new one, or the next that is returned. */
static loci_rc take_pass(builtin *b, loci_forward **ret, loci_err *err)
{
    (void)pthread_mutex_lock(&b->lock);
    while (b->idle_count == 0 && b->made == b->passes)
        (void)pthread_cond_wait(&b->returned, &b->lock);
    if (b->idle_count > 0) {
        *ret = b->idle[--b->idle_count];
        (void)pthread_mutex_unlock(&b->lock);
        return LOCI_OK;
    }
    b->made++;
    (void)pthread_mutex_unlock(&b->lock);

    loci_rc rc = loci_forward_new(b->model, ret, err);
    if (rc) {
        (void)pthread_mutex_lock(&b->lock);
        b->made--;
        (void)pthread_cond_signal(&b->returned);
        (void)pthread_mutex_unlock(&b->lock);
    }
    return rc;
}

static void give_back(builtin *b, loci_forward *pass)
{
    (void)pthread_mutex_lock(&b->lock);
    b->idle[b->idle_count++] = pass;
    (void)pthread_cond_signal(&b->returned);
    (void)pthread_mutex_unlock(&b->lock);
}

static size_t copy_ids(const loci_tokens *tokens, uint32_t *to)
{
    for (size_t i = 0; i < tokens->count; i++) to[i] = tokens->items[i].id;
    return tokens->count;
}

/* The first mark, the prefix, as much of the text as fits, the last mark. A prefix ends with a
 * blank, so its tokens and those of the text do not touch. */
static loci_rc read_text(const builtin *b, const loci_tokens *prefix, loci_str text,
                         loci_arena *arena, loci_ids *ret, loci_err *err)
{
    size_t most = b->about->max_tokens, marks = 2, count = 0;
    size_t ahead = prefix->count < most - marks ? prefix->count : most - marks;
    loci_tokens tokens = { 0 }, head = { prefix->items, ahead };

    if (most > marks + ahead) { /* a limit of 0 would mean none */
        loci_rc rc =
            loci_wordpiece_encode(&b->words, text, most - marks - ahead, arena, &tokens, err);
        if (rc) return rc;
    }
    uint32_t *ids = loci_arena_array(arena, tokens.count + ahead + marks, sizeof *ids);
    if (!ids) return loci_arena_fail(arena, err);

    ids[count++] = b->words.cls;
    count += copy_ids(&head, ids + count);
    count += copy_ids(&tokens, ids + count);
    ids[count++] = b->words.sep;
    *ret = (loci_ids){ ids, count };
    return LOCI_OK;
}

static loci_rc embed_group(builtin *b, const char *prefix, const loci_str *texts, size_t count,
                           loci_arena *arena, float *ret, loci_err *err)
{
    loci_ids ids[GROUP];
    loci_tokens ahead = { 0 };
    loci_forward *pass;
    loci_rc rc = LOCI_OK;

    if (prefix[0])
        rc = loci_wordpiece_encode(&b->words, loci_str_from(prefix), 0, arena, &ahead, err);
    for (size_t i = 0; i < count && !rc; i++)
        rc = read_text(b, &ahead, texts[i], arena, &ids[i], err);
    if (!rc) rc = take_pass(b, &pass, err);
    if (rc) return rc;

    rc = loci_forward_run(pass, ids, count, ret, err);
    give_back(b, pass);
    return rc;
}

static loci_rc check_time(const loci_embed_call *call, loci_err *err)
{
    if (call->cancelled && call->cancelled(call->context))
        return loci_fail(err, LOCI_EUNAVAILABLE, "embedding was cancelled");
    if (call->deadline && loci_clock_steady() >= call->deadline)
        return loci_fail(err, LOCI_EUNAVAILABLE, "embedding did not end in time");
    return LOCI_OK;
}

static loci_rc builtin_embed(loci_embedder *e, const loci_embed_call *call, const loci_str *texts,
                             size_t count, float *ret_vectors, loci_err *err)
{
    builtin *b = (builtin *)e;
    const char *prefix =
        call->kind == LOCI_EMBED_QUERY ? b->about->query_prefix : b->about->document_prefix;
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(GROUP_BYTES);
    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    for (size_t first = 0; first < count; first += GROUP) {
        size_t some = count - first < GROUP ? count - first : GROUP;
        loci_arena_reset(arena);
        loci_rc rc = check_time(call, err);
        if (!rc)
            rc = embed_group(b, prefix, texts + first, some, arena,
                             ret_vectors + first * b->info.dim, err);
        if (rc) return rc;
    }
    return LOCI_OK;
}

static loci_rc builtin_tokens(loci_embedder *e, loci_str text, loci_arena *arena,
                              loci_tokens *ret_tokens, loci_err *err)
{
    return loci_wordpiece_encode(&((builtin *)e)->words, text, 0, arena, ret_tokens, err);
}

static void builtin_close(loci_embedder *e)
{
    builtin *b = (builtin *)e;

    for (unsigned i = 0; i < b->idle_count; i++) loci_forward_free(b->idle[i]);
    loci_model_close(b->model);
    (void)pthread_cond_destroy(&b->returned);
    (void)pthread_mutex_destroy(&b->lock);
    loci_free(b);
}

/* Vectors differ by model, by the file that its weights came from and by their precision. */
static void describe(builtin *b)
{
    const loci_model_info *m = b->about;

    (void)snprintf(b->id, sizeof b->id, "builtin/%s/%s/%.12s", m->name,
                   m->weights == LOCI_WEIGHTS_I8 ? "int8" : "fp32", m->sha256);
    b->info = (loci_embedder_info){ .id = b->id,
                                    .model = m->name,
                                    .licence = m->licence,
                                    .dim = m->hidden,
                                    .max_tokens = m->max_tokens,
                                    .cosine_low = m->cosine_low,
                                    .cosine_high = m->cosine_high };
    atomic_store(&b->base.info, &b->info);
}

static loci_rc open_model(builtin *b, const char *path, loci_err *err)
{
    loci_str table;

    loci_rc rc = loci_model_open(path, &b->model, err);
    if (!rc) rc = loci_model_get_vocab(b->model, &table, err);
    if (rc) return rc;

    b->about = loci_model_get_info(b->model);
    rc = loci_wordpiece_init(&b->words, table.ptr, table.len, err);
    if (rc == LOCI_OK && b->words.vocabulary.count != b->about->vocab)
        rc = loci_fail(err, LOCI_ECORRUPT, "its vocabulary is not that of its word table");
    if (rc) loci_err_prefix(err, "%s (run 'make setup')", path);
    return rc;
}

loci_rc loci_builtin_open(const loci_embedder_options *options, const char *file,
                          loci_embedder **ret_embedder, loci_err *err)
{
    static const loci_embedder_ops ops = { builtin_embed, NULL, builtin_tokens, builtin_close };
    LOCI_AUTO(loci_buf_done) loci_buf path;

    loci_buf_init(&path, 8192);
    if (options->passes > MOST_PASSES)
        return loci_fail(err, LOCI_EINVAL, "passes must be 0..%d, not %u", MOST_PASSES,
                         options->passes);
    loci_rc rc = loci_builtin_find(options->model_dir, file, &path, err);
    if (rc) return rc;

    builtin *b = loci_zalloc(sizeof *b);
    if (!b) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    b->base.ops = &ops;
    b->passes = options->passes ? options->passes : DEFAULT_PASSES;
    (void)pthread_mutex_init(&b->lock, NULL);
    (void)pthread_cond_init(&b->returned, NULL);
    rc = open_model(b, path.ptr, err);
    if (rc) {
        builtin_close(&b->base);
        return rc;
    }
    describe(b);
    *ret_embedder = &b->base;
    return LOCI_OK;
}
