/*
 * Flips bits of blobs behind models that were parsed before, as a worn flash does with the constant
 * of a program: damaged FILE... The self test must find every one of them and run none, which the
 * sanitizers see: memory and blob are of exactly the sizes that the model names. These sizes are not
 * above what docs/c.md says.
 */
#include "../koan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 70000
/* All bits of so many bytes, where header and banks are; then one of each of so many more. */
#define ALL_BITS 120
#define ONE_BIT 1500

static uint8_t room[MOST_BYTES];
static unsigned long models, flips, missed;

static void *memory_of(size_t count, size_t bytes) {
    return malloc((count > 0 ? count : 1) * bytes);
}

/* Whether the model does with the memory that docs/c.md names for all of its number of inputs, but
 * for those with pools that are shared. */
static int does_with_usual(const koan_model *model) {
    uint32_t power = 8;
    while (power < model->inputs) power *= 2;
    return model->halves <= model->inputs + (model->inputs < 256 ? 1 : power) &&
           model->words <= (power < 128 ? 128 : power);
}

/* The blob of so many bytes, with each of its bits flipped in turn. */
static void damage(const char *name, size_t size) {
    uint8_t *blob = (uint8_t *)memory_of(size, 1);
    size_t at, end = size < ALL_BITS + ONE_BIT ? size : ALL_BITS + ONE_BIT;
    koan_model model;
    koan_memory memory;
    memcpy(blob, room, size);
    if (koan_parse(&model, blob, size) != KOAN_OK) {
        printf("%s: refused as it is\n", name);
        missed++;
        free(blob);
        return;
    }
    if (!does_with_usual(&model) && !strstr(name, "pools")) {
        printf("%s: needs more memory than docs/c.md says\n", name);
        missed++;
    }
    memory.halves_length = model.halves;
    memory.words_length = model.words;
    memory.sums_length = model.outputs;
    memory.halves = (int16_t *)memory_of(model.halves, sizeof(int16_t));
    memory.words = (uint32_t *)memory_of(model.words, sizeof(uint32_t));
    memory.sums = (int64_t *)memory_of(model.outputs, sizeof(int64_t));
    models++;
    for (at = 0; at < end; at++) {
        unsigned bit, bits = at < ALL_BITS ? 8 : 1;
        for (bit = 0; bit < bits; bit++, flips++) {
            uint8_t flipped = (uint8_t)(1u << (bits == 1 ? at & 7 : bit));
            blob[at] ^= flipped;
            if (koan_self_test(&model, &memory) != KOAN_CHECKSUM) {
                printf("%s: byte %lu, bit %u was not found\n", name, (unsigned long)at, bit);
                missed++;
            }
            blob[at] ^= flipped;
        }
    }
    if (koan_self_test(&model, &memory) != KOAN_OK) {
        printf("%s: the self test fails of what is sound\n", name);
        missed++;
    }
    free(memory.halves);
    free(memory.words);
    free(memory.sums);
    free(blob);
}

/* A model of zeros, which docs/c.md has until the first that is sound, or one that was refused. */
static void nothing_parsed(koan_model model) {
    static koan_memory memory;
    static const uint8_t row[1];
    uint16_t length = 1;
    int32_t score = 0;
    float probability;
    uint8_t class_;
    uint32_t digest;
    int16_t feature;
    if (koan_self_test(&model, &memory) != KOAN_CHECKSUM ||
        koan_digest(&model, &digest, &memory) == KOAN_OK ||
        koan_section(&model, KOAN_SECTION_NAMES, &length) || length != 0 ||
        koan_class_name(&model, 0, &length) || koan_class_count(&model) != 0 ||
        koan_scores_u8(&model, row, &score, &memory) != KOAN_UNSUITED ||
        koan_classify_u8(&model, row, &class_, &memory) != KOAN_UNSUITED ||
        koan_features_u8(&model, row, &feature, &memory) == KOAN_OK ||
        koan_probabilities(&model, &score, &probability) != KOAN_UNSUITED) {
        printf("a model that was not parsed is not refused\n");
        missed++;
    }
}

/* A sound model whose place is taken by one that is refused: its blob with other inputs. */
static void another_is_refused(const char *name, size_t size) {
    koan_model model;
    if (koan_parse(&model, room, size) != KOAN_OK) return;
    room[7] ^= 0xff;
    if (koan_parse(&model, room, size) != KOAN_CHECKSUM) {
        printf("%s: taken with other inputs\n", name);
        missed++;
    }
    nothing_parsed(model);
    room[7] ^= 0xff;
}

int main(int argc, char **argv) {
    static const koan_model zeros;
    int i;
    nothing_parsed(zeros);
    for (i = 1; i < argc; i++) {
        size_t size;
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            printf("cannot open %s\n", argv[i]);
            return 1;
        }
        size = fread(room, 1, sizeof room, file);
        fclose(file);
        damage(argv[i], size);
        another_is_refused(argv[i], size);
    }
    printf("%lu models, %lu flipped bits, %lu not found\n", models, flips, missed);
    return missed > 0 || models == 0;
}
