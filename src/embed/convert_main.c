/* loci-convert-model: makes a model file out of a package's file, and checks one; used by
 * tools/setup-models. */
#include "embed/convert.h"

#include <stdio.h>
#include <string.h>

static int usage(void)
{
    (void)fprintf(stderr, "usage: loci-convert-model [--weights int8|fp32] SOURCE VOCAB RESULT\n"
                          "       loci-convert-model --check RESULT\n"
                          "SOURCE  an ONNX or safetensors file that loci knows\n"
                          "VOCAB   vocab.txt or tokenizer.json\n"
                          "RESULT  the model file to write\n");
    return 2;
}

static void show(const loci_model_info *info)
{
    (void)printf("%s, %u layers, %s weights, from %s\n", info->name, info->layers,
                 info->weights == LOCI_WEIGHTS_I8 ? "int8" : "fp32", info->package);
}

static int fail(const loci_err *err)
{
    (void)fprintf(stderr, "loci-convert-model: %s\n", err->msg);
    return 1;
}

/* Read every part of a model file and say what it is. */
static int check(const char *path)
{
    LOCI_AUTO(loci_model_closep) loci_model *model = NULL;
    loci_model_tables tables;
    loci_model_layer layer;
    loci_str vocab;
    loci_err err = { 0 };

    loci_rc rc = loci_model_open(path, &model, &err);
    if (!rc) rc = loci_model_get_vocab(model, &vocab, &err);
    if (!rc) rc = loci_model_get_tables(model, &tables, &err);
    for (size_t i = 0; !rc && i < loci_model_get_info(model)->layers; i++)
        rc = loci_model_get_layer(model, i, &layer, &err);
    if (rc) return fail(&err);
    show(loci_model_get_info(model));
    return 0;
}

int main(int argc, char **argv)
{
    loci_convert_job job = { .weights = LOCI_WEIGHTS_I8 };
    loci_model_info info;
    loci_err err = { 0 };
    int at = 1;

    if (argc == 3 && strcmp(argv[1], "--check") == 0) return check(argv[2]);
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

    if (loci_convert_file(&job, &info, &err)) return fail(&err);
    show(&info);
    return 0;
}
