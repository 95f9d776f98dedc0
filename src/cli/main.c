#include <loci.h>
#include <stdio.h>

int main(void)
{
    (void)printf("loci %s\n", loci_version());
    return 0;
}
