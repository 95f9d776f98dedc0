/* A configuration file of any bytes, against the program's own keys. */
#include "base/config.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char home[] = "HOME=/home/u";
    static char *const env[] = { home, NULL };
    LOCI_AUTO(loci_config_freep) loci_config *config = NULL;
    LOCI_AUTO(loci_buf_done) loci_buf out = { 0 };
    loci_err err = { 0 };

    loci_buf_init(&out, 1 << 20);
    if (loci_config_new(loci_config_keys, loci_config_key_count, env, &config, &err)) return 0;
    loci_rc rc = loci_config_read_text(config, (loci_str){ (const char *)data, size }, "f", &err);
    assert(rc == LOCI_OK || (err.code == rc && err.msg[0]));
    loci_config_list(config, &out);
    return 0;
}
