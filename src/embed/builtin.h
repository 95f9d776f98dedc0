/* embed/builtin.h -- the embedder that needs no network: our own forward pass over a model file.
 *
 * Here:     finding and opening the file, tokens, several passes for several threads.
 * Not here: the pass itself (embed/forward.h), the file (embed/model_file.h).
 * Owns:     see embed/embed.h.
 * Threads:  as embed/embed.h says; at most options->passes compute at once, the others wait.
 * Errors:   as embed/embed.h says. Messages about files end with what to run.
 */
#ifndef LOCI_EMBED_BUILTIN_H
#define LOCI_EMBED_BUILTIN_H

#include "base/buf.h"
#include "embed/embed.h"

/* Open the model file called `file`: in options->model_dir, or else in the first of these folders
 * that has it: models, ../share/loci/models and ../../share/loci/models, beside the library and
 * beside the program. */
LOCI_MUST loci_rc loci_builtin_open(const loci_embedder_options *options, const char *file,
                                    loci_embedder **ret_embedder, loci_err *err);

/* Append the path of that file to `ret_path`; LOCI_ENOTFOUND names the folders that were tried. */
LOCI_MUST loci_rc loci_builtin_find(const char *model_dir, const char *file, loci_buf *ret_path,
                                    loci_err *err);

#endif
