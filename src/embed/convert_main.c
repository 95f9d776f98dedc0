/* loci-convert-model: makes a model file out of a package's file; used by tools/setup-models. */
#include "embed/convert.h"

#include <stdio.h>
#include <string.h>

static int usage(void)
{
    (void)fprintf(stderr, "usage: loci-convert-model [--weights int8|fp32] SOURCE VOCAB RESULT\n"
                          "SOURCE  an ONNX or safetensors file that loci knows\n"
                          "VOCAB   vocab.txt or tokenizer.json\n"
                          "RESULT  the model file to write\n");
    return 2;
}

int main(int argc, char **argv)
{
    loci_convert_job job = { .weights = LOCI_WEIGHTS_I8 };
    loci_model_info info;
    loci_err err = { 0 };
    int at = 1;

    if (argc == 6 && strcmp(argv[1], "--weights") == 0) {
        if (strcmp(argv[2], "fp32") == 0)
            job.weights = LOCI_WEIGHTS_F32;
        else if (strcmp(argv[2], "int8") != 0)
            return usage();
        at = 3;
    }
    if (argc - at != 3) return usage();
    job.source = argv[at];
    job.vocab = argv[at + 1];
    job.result = argv[at + 2];

    if (loci_convert_file(&job, &info, &err)) {
        (void)fprintf(stderr, "loci-convert-model: %s\n", err.msg);
        return 1;
    }
    (void)printf("%s: %s, %u layers, %s weights, from %s\n", job.result, info.name, info.layers,
                 info.weights == LOCI_WEIGHTS_I8 ? "int8" : "fp32", info.package);
    return 0;
}
