/*
 * A target of libFuzzer: any bytes as a blob, with their checksum put right. What is accepted is
 * run, if it takes few steps.
 */
#include "../koan.h"

#include <stdlib.h>
#include <string.h>

#define MOST_WORK 100000
#define MOST_NUMBERS 200000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t crc_of(const uint8_t *bytes, size_t count) {
    uint32_t crc = 0xffffffffu;
    unsigned bit;
    for (; count > 0; count--) {
        crc ^= *bytes++;
        for (bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

/* Memory of exactly the sizes that the model names, for the sanitizers to watch. */
static void run(const koan_model *model) {
    uint32_t features = koan_feature_count(model), codes = koan_code_count(model), digest, i;
    koan_memory memory = {
        (int16_t *)malloc(model->halves * sizeof(int16_t)),
        (uint32_t *)malloc(model->words * sizeof(uint32_t)),
        (int64_t *)malloc(model->outputs * sizeof(int64_t)),
        model->halves,
        model->words,
        model->outputs,
    };
    float *row = (float *)calloc(model->inputs, sizeof(float));
    int16_t *phi = (int16_t *)malloc(features * sizeof(int16_t));
    uint16_t *code = (uint16_t *)malloc(codes * sizeof(uint16_t));
    int32_t scores[255];
    float probabilities[256];
    uint8_t class_;
    uint16_t length;
    /* Bits of the blob as numbers: infinities and others that are none among them. */
    for (i = 0; i < model->inputs; i++) memcpy(&row[i], model->blob + i % (model->size - 4), 4);
    (void)koan_self_test(model, &memory);
    (void)koan_digest(model, &digest, &memory);
    (void)koan_features_f32(model, row, phi, &memory);
    (void)koan_codes_f32(model, row, code, &memory);
    if (koan_scores_f32(model, row, scores, &memory) == KOAN_OK) {
        (void)koan_value(model, scores[0]);
        (void)koan_probabilities(model, scores, probabilities);
    }
    (void)koan_classify_f32(model, row, &class_, &memory);
    for (i = 0; i < 256; i++) (void)koan_class_name(model, (uint8_t)i, &length);
    free(memory.halves);
    free(memory.words);
    free(memory.sums);
    free(row);
    free(phi);
    free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    koan_model model;
    uint8_t *blob = (uint8_t *)malloc(size);
    memcpy(blob, data, size);
    if (size >= 4) {
        uint32_t crc = crc_of(blob, size - 4);
        unsigned i;
        for (i = 0; i < 4; i++) blob[size - 4 + i] = (uint8_t)(crc >> (8 * i));
    }
    if (koan_parse(&model, blob, size) == KOAN_OK && model.work <= MOST_WORK &&
        koan_feature_count(&model) <= MOST_NUMBERS && model.words <= MOST_NUMBERS)
        run(&model);
    free(blob);
    return 0;
}
