#include <loci.h>

const char *loci_version(void)
{
    return LOCI_VERSION;
}
