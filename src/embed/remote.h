/* embed/remote.h -- the embedders that are services of others, reached over HTTP.
 *
 * Here:     opening "openai:URL#MODEL", "ollama:URL#MODEL" and "tei:URL".
 * Not here: what goes over the wire (embed/remote_shape.h), the connection (net/client.h).
 * Owns:     see embed/embed.h. A key is wiped when the embedder is closed.
 * Threads:  as embed/embed.h says; at most options->concurrency requests run at once, over all
 *           threads that use the embedder. A call with many texts takes some threads for itself.
 * Errors:   as embed/embed.h says. Messages name the host; neither addresses nor keys are shown.
 *
 * The id is the name: the same model behind another address may give other vectors.
 */
#ifndef LOCI_EMBED_REMOTE_H
#define LOCI_EMBED_REMOTE_H

#include "embed/embed.h"

/* Whether `name` starts as one of ours. */
bool loci_remote_knows(const char *name);

/* Open by options->name. Nothing is sent. */
LOCI_MUST loci_rc loci_remote_open(const loci_embedder_options *options,
                                   loci_embedder **ret_embedder, loci_err *err);

#endif
