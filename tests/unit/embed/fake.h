/* A fake embedder: words are tokens, a vector depends on model and text alone. How it behaves and
 * what it was asked is in memory that forked children share. */
#ifndef LOCI_TEST_FAKE_H
#define LOCI_TEST_FAKE_H

#include "test.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "embed/maker.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FAKE_DIM = 8, FAKE_TOKENS = 64 };

typedef struct fake_control {
    _Atomic int fail;        /* a loci_rc that every call fails with */
    _Atomic int64_t delay;   /* microseconds that every call takes */
    _Atomic int calls;       /* so far */
    _Atomic int texts;       /* so far */
    _Atomic int broken_open; /* opening fails */
} fake_control;

static fake_control *fake;

/* Texts with this in them are refused. */
#define FAKE_POISON "poison"

static LOCI_UNUSED int fake_setup(void **state)
{
    (void)state;
    fake = mmap(NULL, sizeof *fake, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return fake == MAP_FAILED ? -1 : 0;
}

static LOCI_UNUSED void fake_reset(void)
{
    fake->fail = LOCI_OK;
    fake->delay = 0;
    fake->calls = fake->texts = fake->broken_open = 0;
}

typedef struct fake_embedder {
    loci_embedder base;
    loci_embedder_info info;
    char id[32];
} fake_embedder;

/* Thirty-two bytes of a hash, as eight numbers of length 1 in all. */
static void fake_vector(const char *id, loci_str text, float *ret)
{
    uint8_t digest[LOCI_SHA256_LEN];
    LOCI_AUTO(loci_buf_done) loci_buf b = { 0 };
    float sum = 0;

    loci_buf_init(&b, (size_t)64 << 20);
    loci_buf_add_cstr(&b, id);
    loci_buf_add(&b, text);
    if (loci_hash_bytes(LOCI_SHA256, loci_buf_str(&b), digest, NULL)) abort();
    for (size_t i = 0; i < FAKE_DIM; i++) {
        ret[i] = (float)digest[i] - 127.5F;
        sum += ret[i] * ret[i];
    }
    for (size_t i = 0; i < FAKE_DIM; i++) ret[i] /= sqrtf(sum);
}

static loci_rc fake_embed(loci_embedder *e, const loci_embed_call *call, const loci_str *texts,
                          size_t count, float *ret, loci_err *err)
{
    (void)call;
    fake->calls++;
    if (fake->delay) loci_clock_sleep(fake->delay);
    loci_rc fail = (loci_rc)fake->fail;
    if (fail) return loci_fail(err, fail, "the fake embedder is told to fail");
    for (size_t i = 0; i < count; i++)
        if (loci_str_find(texts[i], LOCI_STR(FAKE_POISON)) < texts[i].len)
            return loci_fail(err, LOCI_EINVAL, "the fake embedder does not like this text");
    for (size_t i = 0; i < count; i++)
        fake_vector(loci_embedder_get_info(e)->id, texts[i], ret + i * FAKE_DIM);
    fake->texts += (int)count;
    return LOCI_OK;
}

static loci_rc fake_tokens(loci_embedder *e, loci_str text, loci_arena *arena, loci_tokens *ret,
                           loci_err *err)
{
    loci_tokens t = { 0 };

    (void)e;
    t.items = loci_arena_array(arena, text.len / 2 + 1, sizeof *t.items);
    if (!t.items) return loci_arena_fail(arena, err);
    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        while (i < text.len && (unsigned char)text.ptr[i] > ' ') i++;
        if (i > start)
            t.items[t.count++] = (loci_token){ .start = (uint32_t)start, .end = (uint32_t)i };
        else
            i++;
    }
    *ret = t;
    return LOCI_OK;
}

static void fake_close(loci_embedder *e)
{
    loci_free(e);
}

static const loci_embedder_ops fake_ops = { .embed = fake_embed,
                                            .tokens = fake_tokens,
                                            .close = fake_close };

/* options->name becomes the model's id. Has the type of loci_embedder_open. */
static LOCI_UNUSED loci_rc fake_open(const loci_embedder_options *options, loci_embedder **ret,
                                     loci_err *err)
{
    fake_embedder *f = fake->broken_open ? NULL : loci_zalloc(sizeof *f);

    if (!f) return loci_fail(err, LOCI_ENOTFOUND, "no such model file");
    (void)snprintf(f->id, sizeof f->id, "%s", options->name);
    f->base.ops = &fake_ops;
    f->info = (loci_embedder_info){
        .id = f->id, .model = f->id, .licence = "none", .dim = FAKE_DIM, .max_tokens = FAKE_TOKENS
    };
    f->base.info = &f->info;
    *ret = &f->base;
    return LOCI_OK;
}

#endif
