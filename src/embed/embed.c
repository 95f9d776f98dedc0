#include "embed/embed.h"

#include "embed/builtin.h"
#include "embed/maker.h"

#include <string.h>

/* Every embedder there is. */
static const struct maker {
    const char *name, *file;
} makers[] = {
    { "builtin", "default.locim" },
    { "builtin:fast", "fast.locim" },
};

loci_rc loci_embedder_open(const loci_embedder_options *options, loci_embedder **ret_embedder,
                           loci_err *err)
{
    const char *name = options->name ? options->name : makers[0].name;

    for (size_t i = 0; i < LOCI_COUNT(makers); i++)
        if (strcmp(makers[i].name, name) == 0)
            return loci_builtin_open(options, makers[i].file, ret_embedder, err);
    return loci_fail(err, LOCI_EINVAL, "no embedder '%.100s'; there are builtin and builtin:fast",
                     name);
}

void loci_embedder_close(loci_embedder *embedder)
{
    if (embedder) embedder->ops->close(embedder);
}

const loci_embedder_info *loci_embedder_get_info(const loci_embedder *embedder)
{
    return &embedder->info;
}

loci_rc loci_embedder_embed(loci_embedder *embedder, loci_embed_kind kind, const loci_str *texts,
                            size_t count, float *ret_vectors, loci_err *err)
{
    return embedder->ops->embed(embedder, kind, texts, count, ret_vectors, err);
}

loci_rc loci_embedder_tokens(loci_embedder *embedder, loci_str text, loci_arena *arena,
                             loci_tokens *ret_tokens, loci_err *err)
{
    return embedder->ops->tokens(embedder, text, arena, ret_tokens, err);
}
