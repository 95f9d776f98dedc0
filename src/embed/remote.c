#include "embed/remote.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/config.h"
#include "embed/builtin.h"
#include "embed/remote_int.h"

#include <string.h>
#include <unistd.h>

enum {
    DEFAULT_CONCURRENCY = 3,
    MOST_CONCURRENCY = 16,
    DEFAULT_TIMEOUT = 30 * LOCI_SECOND,
    DEFAULT_RETRY = 250 * LOCI_MS,
};

/* Every kind of service there is. */
static const struct service {
    const char *prefix;
    loci_remote_shape shape;
    const char *path; /* behind the address */
    bool has_model;
    bool may_have_path;
} services[] = {
    /* clang-format off */
    { "openai:", LOCI_REMOTE_OPENAI, "/embeddings", true,  true },
    { "ollama:", LOCI_REMOTE_OLLAMA, "/api/embed",  true,  false },
    { "tei:",    LOCI_REMOTE_TEI,    "/embed",      false, false },
    /* clang-format on */
};

static const struct service *find_service(const char *name)
{
    for (size_t i = 0; i < LOCI_COUNT(services); i++)
        if (strncmp(name, services[i].prefix, strlen(services[i].prefix)) == 0) return &services[i];
    return NULL;
}

bool loci_remote_knows(const char *name)
{
    return find_service(name) != NULL;
}

static loci_rc check_parts(const struct service *s, loci_str model, bool has_mark, loci_err *err)
{
    if (s->has_model && model.len == 0)
        return loci_fail(err, LOCI_EINVAL, "it has no model; write %sURL#MODEL", s->prefix);
    if (!s->has_model && has_mark)
        return loci_fail(err, LOCI_EINVAL, "the server has one model: write %sURL without a #",
                         s->prefix);
    return LOCI_OK;
}

static loci_rc check_place(const struct service *s, const loci_url *place, loci_err *err)
{
    if (place->has_query) return loci_fail(err, LOCI_EINVAL, "the address must have no '?' in it");
    if (place->has_path && !s->may_have_path)
        return loci_fail(err, LOCI_EINVAL, "the address must end behind host and port");
    return LOCI_OK;
}

/* Cut "prefix:URL#MODEL"; the name is kept without slashes at the end of its URL, so that it is the
 * same id with and without. */
static loci_rc read_name(loci_remote *r, const struct service *s, const char *name, loci_err *err)
{
    loci_str rest = loci_str_from(name + strlen(s->prefix));
    size_t mark = loci_str_find(rest, LOCI_STR("#"));
    loci_str url = loci_str_sub(rest, 0, mark), model = loci_str_sub(rest, mark + 1, rest.len);

    if (strlen(name) >= LOCI_REMOTE_NAME_BYTES)
        return loci_fail(err, LOCI_EINVAL, "it is longer than %d bytes",
                         LOCI_REMOTE_NAME_BYTES - 1);
    while (url.len && url.ptr[url.len - 1] == '/') url.len--;
    loci_rc rc = check_parts(s, model, mark < rest.len, err);
    if (rc) return rc;
    (void)snprintf(r->url, sizeof r->url, "%.*s", LOCI_ARG(url));
    rc = loci_url_parse(r->url, &r->place, err);
    if (!rc) rc = check_place(s, &r->place, err);
    if (rc) return rc;
    (void)snprintf(r->url + url.len, sizeof r->url - url.len, "%s", s->path);
    int len = snprintf(r->name, sizeof r->name, "%s%.*s%s%.*s", s->prefix, LOCI_ARG(url),
                       s->has_model ? "#" : "", LOCI_ARG(model));
    r->model = r->name + ((size_t)len - model.len);
    r->shape = s->shape;
    return LOCI_OK;
}

/* A key that is meant for all of OpenAI's clients goes nowhere unencrypted; one that is meant for
 * this embedder goes where its address says. */
static loci_rc read_key(loci_remote *r, char *const *env, loci_err *err)
{
    const char *name = "LOCI_EMBEDDER_KEY";
    loci_str key = loci_str_trim(loci_config_env(env, name));

    if (!key.len && r->shape == LOCI_REMOTE_OPENAI && (r->place.tls || r->place.loopback)) {
        name = "OPENAI_API_KEY";
        key = loci_str_trim(loci_config_env(env, name));
    }
    if (key.len >= sizeof r->key)
        return loci_fail(err, LOCI_EINVAL, "%s is longer than %zu bytes", name, sizeof r->key - 1);
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] <= ' ' || key.ptr[i] > '~')
            return loci_fail(err, LOCI_EINVAL, "%s has a character in it that no key has", name);
    if (key.len) memcpy(r->key, key.ptr, key.len);
    return LOCI_OK;
}

static loci_rc read_options(loci_remote *r, const loci_embedder_options *o, loci_err *err)
{
    if (o->concurrency > MOST_CONCURRENCY)
        return loci_fail(err, LOCI_EINVAL, "concurrency must be 0..%d, not %u", MOST_CONCURRENCY,
                         o->concurrency);
    if (o->dim > LOCI_REMOTE_DIM)
        return loci_fail(err, LOCI_EINVAL, "dim must be 0..%d, not %zu", LOCI_REMOTE_DIM, o->dim);
    if (o->timeout < 0 || o->retry_wait < 0 || o->retry_wait > DEFAULT_TIMEOUT)
        return loci_fail(err, LOCI_EINVAL, "a time of the embedder is out of range");
    r->concurrency = o->concurrency ? o->concurrency : DEFAULT_CONCURRENCY;
    r->timeout = o->timeout ? o->timeout : DEFAULT_TIMEOUT;
    r->retry_wait = o->retry_wait ? o->retry_wait : DEFAULT_RETRY;
    return LOCI_OK;
}

/* Without the table everything but tokens works. */
static void open_tokens(loci_remote *r, const char *model_dir)
{
    LOCI_AUTO(loci_buf_done) loci_buf path;

    loci_buf_init(&path, 8192);
    loci_rc rc = loci_builtin_find(model_dir, "o200k_base.tokens", &path, &r->bpe_error);
    if (!rc) rc = loci_bpe_open(path.ptr, LOCI_BPE_O200K, &r->bpe, &r->bpe_error);
    if (rc) r->bpe = NULL;
}

static loci_rc remote_tokens(loci_embedder *e, loci_str text, loci_arena *arena,
                             loci_tokens *ret_tokens, loci_err *err)
{
    const loci_remote *r = (const loci_remote *)e;

    if (r->bpe) return loci_bpe_encode(r->bpe, text, arena, ret_tokens, err);
    if (err) *err = r->bpe_error;
    return r->bpe_error.code;
}

/* The first answer fixes the length; a later one that differs is refused where it arrives. */
static void set_dim(loci_remote *r, size_t dim)
{
    (void)pthread_mutex_lock(&r->lock);
    if (r->after.dim == 0) {
        r->after = r->before;
        r->after.dim = dim;
        atomic_store(&r->base.info, &r->after);
    }
    (void)pthread_mutex_unlock(&r->lock);
}

static loci_rc remote_learn(loci_embedder *e, const loci_embed_call *call, loci_err *err)
{
    loci_remote *r = (loci_remote *)e;
    loci_remote_limits limits = loci_remote_limits_of(r, call);
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_remote_arena(r, 1);
    loci_str text = LOCI_STR("memory");
    loci_remote_vectors vectors;
    bool refused;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = loci_remote_send(r, &limits, &text, 1, arena, &vectors, &refused, err);
    if (!rc) set_dim(r, vectors.dim);
    return rc;
}

static void remote_close(loci_embedder *e)
{
    loci_remote *r = (loci_remote *)e;

    loci_client_free(r->client);
    loci_bpe_close(r->bpe);
    (void)pthread_mutex_destroy(&r->lock);
    explicit_bzero(r->key, sizeof r->key);
    loci_free(r);
}

static loci_rc open_parts(loci_remote *r, const loci_embedder_options *options, loci_err *err)
{
    const struct service *s = find_service(options->name);
    char *const *env = options->env ? options->env : environ;

    if (!s) return loci_fail(err, LOCI_EINVAL, "no such service");
    loci_rc rc = read_name(r, s, options->name, err);
    if (!rc) rc = read_options(r, options, err);
    if (!rc) rc = read_key(r, env, err);
    if (!rc)
        rc = loci_client_new(&(loci_client_options){ .connections = r->concurrency }, &r->client,
                             err);
    if (rc) return rc;
    open_tokens(r, options->model_dir);
    r->before = (loci_embedder_info){ .id = r->name,
                                      .model = r->model[0] ? r->model : "tei",
                                      .licence = "",
                                      .max_tokens = LOCI_REMOTE_TEXT_BYTES / 4 };
    atomic_store(&r->batch, LOCI_REMOTE_BATCH);
    atomic_store(&r->base.info, &r->before);
    if (options->dim) set_dim(r, options->dim);
    return LOCI_OK;
}

loci_rc loci_remote_open(const loci_embedder_options *options, loci_embedder **ret_embedder,
                         loci_err *err)
{
    static const loci_embedder_ops ops = { loci_remote_embed, remote_learn, remote_tokens,
                                           remote_close };
    loci_remote *r = loci_zalloc(sizeof *r);
    if (!r) return loci_fail(err, LOCI_ENOMEM, "out of memory");

    r->base.ops = &ops;
    (void)pthread_mutex_init(&r->lock, NULL);
    loci_rc rc = open_parts(r, options, err);
    if (rc) {
        loci_err_prefix(err, "embedder %.*s", (int)strcspn(options->name, ":"), options->name);
        remote_close(&r->base);
        return rc;
    }
    *ret_embedder = &r->base;
    return LOCI_OK;
}
