#include "embed/embed.h"

#include "embed/builtin.h"
#include "embed/maker.h"
#include "embed/remote.h"

#include <string.h>

/* Every embedder there is. */
static const struct maker {
    const char *name, *file;
} makers[] = {
    { "builtin", "default.locim" },
    { "builtin:fast", "fast.locim" },
};

/* What the person wrote, up to an address: there may be a password in one. */
static int shown_bytes(const char *name)
{
    size_t len = loci_str_find(loci_str_from(name), LOCI_STR("://"));
    return len < 100 ? (int)len : 100;
}

loci_rc loci_embedder_open(const loci_embedder_options *options, loci_embedder **ret_embedder,
                           loci_err *err)
{
    const char *name = options->name ? options->name : makers[0].name;

    for (size_t i = 0; i < LOCI_COUNT(makers); i++)
        if (strcmp(makers[i].name, name) == 0)
            return loci_builtin_open(options, makers[i].file, ret_embedder, err);
    if (loci_remote_knows(name)) return loci_remote_open(options, ret_embedder, err);
    return loci_fail(err, LOCI_EINVAL,
                     "no embedder '%.*s'; there are builtin, builtin:fast, openai:URL#MODEL, "
                     "ollama:URL#MODEL and tei:URL",
                     shown_bytes(name), name);
}

void loci_embedder_close(loci_embedder *embedder)
{
    if (embedder) embedder->ops->close(embedder);
}

const loci_embedder_info *loci_embedder_get_info(const loci_embedder *embedder)
{
    return atomic_load(&embedder->info);
}

loci_rc loci_embedder_learn(loci_embedder *embedder, const loci_embed_call *call,
                            const loci_embedder_info **ret_info, loci_err *err)
{
    loci_rc rc = LOCI_OK;

    if (loci_embedder_get_info(embedder)->dim == 0) rc = embedder->ops->learn(embedder, call, err);
    if (!rc) *ret_info = loci_embedder_get_info(embedder);
    return rc;
}

loci_rc loci_embedder_embed_call(loci_embedder *embedder, const loci_embed_call *call,
                                 const loci_str *texts, size_t count, float *ret_vectors,
                                 loci_err *err)
{
    if (loci_embedder_get_info(embedder)->dim == 0)
        return loci_fail(err, LOCI_EINVAL, "the length of the vectors is not known yet");
    return embedder->ops->embed(embedder, call, texts, count, ret_vectors, err);
}

loci_rc loci_embedder_embed(loci_embedder *embedder, loci_embed_kind kind, const loci_str *texts,
                            size_t count, float *ret_vectors, loci_err *err)
{
    return loci_embedder_embed_call(embedder, &(loci_embed_call){ .kind = kind }, texts, count,
                                    ret_vectors, err);
}

loci_rc loci_embedder_tokens(loci_embedder *embedder, loci_str text, loci_arena *arena,
                             loci_tokens *ret_tokens, loci_err *err)
{
    return embedder->ops->tokens(embedder, text, arena, ret_tokens, err);
}
