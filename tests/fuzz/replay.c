/* Runs a fuzz harness over every file of one folder, as an ordinary test (TAP on stdout). */
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/alloc.h"

enum { LARGEST_INPUT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is copied to a block of its exact size, so that ASan sees a read past its end. */
static int replay(const char *folder, const char *name)
{
    static uint8_t data[LARGEST_INPUT + 1]; /* one more tells a file that is too large */
    char path[4096];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) return -1;
    size_t size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    if (size > LARGEST_INPUT) {
        (void)fprintf(stderr, "%s has more than %d bytes\n", path, LARGEST_INPUT);
        return -1;
    }

    LOCI_AUTO(loci_freep) uint8_t *exact = loci_realloc(NULL, size);
    if (!exact) return -1;
    memcpy(exact, data, size);
    (void)LLVMFuzzerTestOneInput(exact, size);
    return 0;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (!folder) {
        (void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
        return 2;
    }
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') continue;
        int failed = replay(argv[1], entry->d_name);
        (void)printf("%s %zu - %s\n", failed ? "not ok" : "ok", ++count, entry->d_name);
    }
    (void)closedir(folder);
    (void)printf("1..%zu\n", count);
    return count == 0;
}
