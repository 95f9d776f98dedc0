#include "embed/make.h"

#include "base/utf8.h"
#include "text/chunk.h"

/* Bytes of one pass: little when somebody waits, because a pass cannot be stopped. */
enum { PASS_PATIENT = 64 << 10, PASS_URGENT = 8 << 10 };

typedef struct work {
    loci_embed_service *service;
    const loci_make_options *options;
    size_t dim;
    loci_chunk_size size;
    loci_arena *arena, *scratch;
} work;

static loci_rc set_chunks(const work *w, loci_make_item *item, const loci_chunk *chunks,
                          size_t count, loci_err *err)
{
    float *values = loci_arena_array(w->arena, count * w->dim, sizeof *values);
    loci_vector *vectors = loci_arena_array(w->arena, count, sizeof *vectors);

    if (!values || !vectors) return loci_arena_fail(w->arena, err);
    for (size_t i = 0; i < count; i++)
        vectors[i] = (loci_vector){ .start = chunks[i].start,
                                    .len = chunks[i].end - chunks[i].start,
                                    .values = values + i * w->dim };
    item->vectors = (loci_vectors){ .items = vectors, .count = count, .dim = w->dim };
    return LOCI_OK;
}

/* Where the vectors of a text stand. */
static loci_rc cut(const work *w, loci_make_item *item, loci_err *err)
{
    loci_str text = loci_utf8_cut(item->text, LOCI_MAKE_TEXT);
    loci_chunk whole = { .end = item->text.len };
    loci_tokens tokens = { 0 };
    loci_chunk_list list = { 0 };

    loci_rc rc = loci_embed_service_tokens(w->service, text, w->scratch, &tokens, err);
    if (rc) return rc;
    if (tokens.count <= w->size.tokens) return set_chunks(w, item, &whole, 1, err);
    rc = loci_chunk_split(text, &tokens, w->size, w->scratch, &list, err);
    if (rc) return rc;
    size_t count = list.count < LOCI_VECTOR_CHUNKS ? list.count : LOCI_VECTOR_CHUNKS;
    return set_chunks(w, item, list.items, count, err);
}

static loci_rc init(work *w, const loci_make_options *o, loci_err *err)
{
    const loci_embedder_info *info = NULL;
    loci_rc rc = loci_embed_service_learn(w->service, o->deadline, &info, err);

    if (rc) return rc;
    size_t most = info->max_tokens > LOCI_CHUNK_LEAST + 2 ? info->max_tokens - 2 : LOCI_CHUNK_LEAST;

    w->options = o;
    w->dim = info->dim;
    w->size.tokens = o->tokens ? o->tokens : LOCI_MAKE_TOKENS;
    if (w->size.tokens > most) w->size.tokens = most;
    if (w->size.tokens < LOCI_CHUNK_LEAST) w->size.tokens = LOCI_CHUNK_LEAST;
    w->size.overlap = o->overlap <= w->size.tokens / 2 ? o->overlap : w->size.tokens / 2;
    w->scratch = loci_arena_new(LOCI_MAKE_ARENA);
    return w->scratch ? LOCI_OK : loci_fail(err, LOCI_ENOMEM, "out of memory");
}

/* Where a pass is in the list of all chunks of all items. */
typedef struct place {
    size_t item, chunk;
} place;

/* Step over items that failed and that are done. False at the end. */
static bool settle(const loci_make_item *items, size_t count, place *p)
{
    while (p->item < count && (items[p->item].rc || p->chunk == items[p->item].vectors.count)) {
        p->item++;
        p->chunk = 0;
    }
    return p->item < count;
}

static loci_str chunk_text(const loci_make_item *item, size_t chunk)
{
    const loci_vector *v = &item->vectors.items[chunk];

    return loci_str_sub(item->text, v->start, v->len);
}

/* Embed a few texts and put the values where they belong. */
static loci_rc pass(const work *w, loci_make_item *items, const place *places, size_t count,
                    loci_err *err)
{
    loci_str texts[LOCI_EMBED_BATCH];
    float *values = loci_arena_array(w->scratch, count * w->dim, sizeof *values);

    if (!values) return loci_arena_fail(w->scratch, err);
    for (size_t i = 0; i < count; i++)
        texts[i] = chunk_text(&items[places[i].item], places[i].chunk);
    loci_rc rc = loci_embed_service_embed(w->service, LOCI_EMBED_DOCUMENT, texts, count,
                                          w->options->deadline, values, err);
    for (size_t i = 0; !rc && i < count; i++) {
        float *to = items[places[i].item].vectors.items[places[i].chunk].values;
        for (size_t j = 0; j < w->dim; j++) to[j] = values[i * w->dim + j];
    }
    return rc;
}

static void set_failed(loci_make_item *item, loci_rc rc, const loci_err *err)
{
    item->rc = rc;
    item->err = *err;
    item->vectors = (loci_vectors){ 0 };
}

/* Something among them was refused: each alone, so that only that one fails. */
static loci_rc one_by_one(const work *w, loci_make_item *items, const place *places, size_t count,
                          loci_err *err)
{
    for (size_t i = 0; i < count; i++) {
        loci_make_item *item = &items[places[i].item];
        if (item->rc) continue;
        loci_rc rc = pass(w, items, &places[i], 1, err);
        if (rc && loci_embed_is_down(rc)) return rc;
        if (rc) set_failed(item, rc, err);
    }
    return LOCI_OK;
}

/* The next texts for one pass, as many as fit. */
static size_t gather(const work *w, const loci_make_item *items, size_t count, place *at,
                     place *ret_places)
{
    size_t most = w->options->deadline ? PASS_URGENT : PASS_PATIENT, bytes = 0, n = 0;

    while (n < LOCI_EMBED_BATCH && settle(items, count, at)) {
        size_t len = chunk_text(&items[at->item], at->chunk).len;
        if (n && bytes + len > most) break;
        bytes += len;
        ret_places[n++] = *at;
        at->chunk++;
    }
    return n;
}

static loci_rc run(const work *w, loci_make_item *items, size_t count, loci_err *err)
{
    place places[LOCI_EMBED_BATCH], at = { 0, 0 };
    loci_rc rc = LOCI_OK;
    size_t n;

    while (!rc && (n = gather(w, items, count, &at, places)) > 0) {
        loci_arena_reset(w->scratch);
        rc = pass(w, items, places, n, err);
        if (rc && !loci_embed_is_down(rc)) rc = one_by_one(w, items, places, n, err);
        /* What the pass began with is the first that is not done. */
        if (rc) at = places[0];
        if (!rc && w->options->tick) rc = w->options->tick(w->options->arg, err);
    }
    for (size_t i = at.item; rc && i < count; i++)
        if (!items[i].rc && (i > at.item || at.chunk < items[i].vectors.count))
            set_failed(&items[i], rc, err);
    return rc;
}

void loci_make_vectors(loci_embed_service *service, const loci_make_options *options,
                       loci_make_item *items, size_t count, loci_arena *arena)
{
    work w = { .service = service, .arena = arena };
    loci_err err = { 0 };
    loci_rc rc = init(&w, options, &err);

    for (size_t i = 0; i < count; i++) {
        loci_rc own = rc ? rc : cut(&w, &items[i], &err);
        items[i].rc = LOCI_OK;
        if (own) set_failed(&items[i], own, &err);
        if (!rc) loci_arena_reset(w.scratch);
    }
    if (!rc) (void)run(&w, items, count, &err);
    loci_arena_free(w.scratch);
}
