/*
 * Koan in C99: runs a model (a seed and a few weights) where its bytes lie, with integers
 * only and without allocation. docs/format.md specifies every byte; docs/c.md is the way from
 * a CSV file to a board. Licence: MIT OR Apache-2.0.
 *
 * Macros leave parts out where they are 1 or empty, not where they are 0; `koan export --c` writes
 * those that a model does not need. A model that needs one of them is refused with
 * KOAN_NOT_BUILT:
 *   KOAN_NO_LINEAR, KOAN_NO_FOURIER, KOAN_NO_STUMP, KOAN_NO_BIN, KOAN_NO_MAXOUT,
 *   KOAN_NO_SIGMOID, KOAN_NO_CONV, KOAN_NO_FERN, KOAN_NO_SERIES    families
 *   KOAN_NO_HADAMARD       projections by Hadamard transforms (conv and series have their own)
 *   KOAN_NO_DENSE          projections by the laws gaussian, cauchy and sign
 *   KOAN_NO_GROUPS         groups of inputs
 *   KOAN_NO_LISTS          lists of kept features
 *   KOAN_NO_MAPS           input maps or gains of each input, maps of each channel
 *   KOAN_NO_LOGARITHM      input maps with logarithm
 *   KOAN_NO_FEATURES       models without outputs, koan_features and koan_codes
 *   KOAN_INPUTS=n          models of another number of inputs
 *   KOAN_NO_BITS_2, _3, _4, _8, _16    weights of so many bits
 * These leave functions out:
 *   KOAN_NO_F32            rows of float, and golden rows in the self test
 *   KOAN_NO_PROBABILITIES  koan_probabilities, which needs expf of the C library
 *   KOAN_NO_TEXT           koan_status_text
 * KOAN_BLOB_IN_RAM, 1 or empty: on AVR the blob lies in RAM, not in program memory.
 */
#ifndef KOAN_H
#define KOAN_H

#if defined(__AVR__)
#include <avr/pgmspace.h>
/* Where constants lie. */
#define KOAN_FLASH PROGMEM
#else
#define KOAN_FLASH
#endif

/* koan_config.h has macros: where it lies beside this file, or KOAN_CONFIG is defined. Without it
 * all is built, but on AVRs of at most 32 KB, which that would fill: three families less, unless
 * one of their macros is defined, if only as 0. */
#if defined(KOAN_CONFIG)
#include "koan_config.h"
#elif defined(__has_include)
#if __has_include("koan_config.h")
#include "koan_config.h"
#elif defined(FLASHEND) && FLASHEND < 0x8000 && \
    !defined(KOAN_NO_BIN) && !defined(KOAN_NO_CONV) && !defined(KOAN_NO_SERIES)
#define KOAN_NO_BIN 1
#define KOAN_NO_CONV 1
#define KOAN_NO_SERIES 1
#endif
#endif

#include <stddef.h>
#include <stdint.h>

/* Whether a macro that is defined leaves nothing out: of an empty one 1 - -1 is left. */
#define KOAN_IS_0(macro) (1 - macro - 1 == 0)

#ifdef __cplusplus
extern "C" {
#endif

/* What came of a call, and what that means. Where a blob is refused, koan_model.refused_at says
 * where: statuses without a sentence are fields that hold what is not allowed. */
#define KOAN_STATUSES(X)                                                \
    X(OK, "fine")                                                       \
    X(NOT_KOAN, "the blob does not start with the bytes KOAN")          \
    X(VERSION, "unknown format version")                                \
    X(TRUNCATED, "the blob ends before a field")                        \
    X(CHECKSUM, "checksum mismatch: the blob is damaged")               \
    X(TOO_LONG, "the blob has 2^32 bytes or more")                      \
    X(FLAGS, "flags")                                                   \
    X(BAD_INPUTS, "inputs")                                             \
    X(INPUT_MAP, "input map")                                           \
    X(BANK_FAMILY, "bank family")                                       \
    X(BANK_LAW, "bank law")                                             \
    X(BANK_OPTIONS, "bank options")                                     \
    X(BANK_FEATURES, "bank features")                                   \
    X(BANK_SCALE, "bank scale")                                         \
    X(BIN_SLOT_BITS, "bin slot bits")                                   \
    X(MAXOUT_POOL, "maxout pool")                                       \
    X(CONV_SHAPE, "conv shape")                                         \
    X(FERN_DEPTH, "fern depth")                                         \
    X(SERIES_SHAPE, "series shape")                                     \
    X(GROUP_INPUTS, "group inputs")                                     \
    X(GROUP_LAW, "group law")                                           \
    X(GROUP_SCALE, "group scale")                                       \
    X(KEPT_FEATURES, "kept features")                                   \
    X(BANKS, "banks")                                                   \
    X(SCORE_SCALE, "score scale")                                       \
    X(SCORE_SHIFT, "score shift")                                       \
    X(CLASS_NAMES, "class names")                                       \
    X(GOLDEN_ROWS, "golden rows")                                       \
    X(CALIBRATION, "calibration")                                       \
    X(SECTION_TWICE, "section (twice)")                                 \
    X(REQUIRED_SECTION, "unknown section that must be understood")      \
    X(WORK, "the work of a prediction is above 2^28")                   \
    X(GENERATOR, "the model was made with another generator")           \
    X(NOT_BUILT, "the model needs what a macro left out of this build") \
    X(MEMORY, "the memory is smaller than the model needs")             \
    X(UNSUITED, "the call does not suit the model")                     \
    X(DIGEST, "self test: the golden digest differs on this build")     \
    X(GOLDEN_ROW, "self test: a golden row has other scores on this build")

#define KOAN_STATUS(name, text) KOAN_##name,
typedef enum koan_status { KOAN_STATUSES(KOAN_STATUS) KOAN_STATUS_COUNT } koan_status;

/* A model: a checked view of a blob, made by koan_parse or, as a constant, by
 * `koan export --c`. The blob must stay where it is. */
typedef struct koan_model {
    const uint8_t *blob;
    uint32_t size; /* bytes of the blob */
    uint32_t head; /* where the head is; the weights; the sections */
    uint32_t weights;
    uint32_t sections;
    uint32_t halves; /* lengths that koan_memory must have */
    uint32_t words;
    uint32_t work;       /* bound on the steps of a prediction, at most 2^28 */
    uint32_t refused_at; /* where what was refused is, in bytes from the start of the blob */
    uint16_t inputs;     /* numbers of a row */
    int16_t limit;       /* largest magnitude of an input's integer */
    uint8_t outputs;     /* scores of a row; 0 for a model that is features only */
    uint8_t flags;
    uint8_t banks;
} koan_model;

/* Working memory of a prediction; nothing is kept in it from one call to the next. */
typedef struct koan_memory {
    int16_t *halves;
    uint32_t *words;
    int64_t *sums; /* as many as outputs */
    uint32_t halves_length, words_length, sums_length;
} koan_memory;

/* Declares the constant `name`, memory of so many numbers (0 counts as 1). */
#define KOAN_MEMORY_OF(name, halves, words, outputs)                           \
    static int16_t name##_halves[(halves) > 0 ? (halves) : 1];                 \
    static uint32_t name##_words[(words) > 0 ? (words) : 1];                   \
    static int64_t name##_sums[(outputs) > 0 ? (outputs) : 1];                 \
    static const koan_memory name = {name##_halves, name##_words, name##_sums, \
                                     (halves),      (words),      (outputs)}

/* Tags of sections. */
#define KOAN_SECTION_NAMES 1
#define KOAN_SECTION_NOTES 2
#define KOAN_SECTION_GOLDEN_ROWS 3
#define KOAN_SECTION_CALIBRATION 4

/* Checks the blob and makes a model of it. Takes time in proportion to the blob's size.
 * A blob that is refused leaves a model with nothing in it but refused_at, which no call runs. */
koan_status koan_parse(koan_model *model, const uint8_t *blob, size_t size);

/* Proves that this build on this device computes what the trainer computed: checksum, golden
 * digest, and golden rows if there are any; nothing is computed from a blob whose checksum does
 * not hold. Takes as long as four predictions and one for each golden row. A prediction may take
 * 2^28 steps: compare model->work with what the device has time for before this is called with a
 * model that came while the program runs (docs/c.md). */
koan_status koan_self_test(const koan_model *model, const koan_memory *memory);

/* The scores of a row of model->inputs numbers: model->outputs of them. The same numbers give
 * the same scores in every type; a NaN gives those of the offset of its input map, so put in what
 * stands in for it (docs/c.md). KOAN_UNSUITED for a model without outputs. */
koan_status koan_scores_i16(const koan_model *model, const int16_t *row, int32_t *scores,
                            const koan_memory *memory);
koan_status koan_scores_u8(const koan_model *model, const uint8_t *row, int32_t *scores,
                           const koan_memory *memory);
/* The class of a row: that of the highest score, the first one of equals; with one output
 * class 1 if the score is above 0. KOAN_UNSUITED unless the model is a classification. */
koan_status koan_classify_i16(const koan_model *model, const int16_t *row, uint8_t *class_,
                              const koan_memory *memory);
koan_status koan_classify_u8(const koan_model *model, const uint8_t *row, uint8_t *class_,
                             const koan_memory *memory);
#if !defined(KOAN_NO_F32) || KOAN_IS_0(KOAN_NO_F32)
koan_status koan_scores_f32(const koan_model *model, const float *row, int32_t *scores,
                            const koan_memory *memory);
koan_status koan_classify_f32(const koan_model *model, const float *row, uint8_t *class_,
                              const koan_memory *memory);
#endif

#if !defined(KOAN_NO_FEATURES) || KOAN_IS_0(KOAN_NO_FEATURES)
/* All features of a row: koan_feature_count of them. */
koan_status koan_features_i16(const koan_model *model, const int16_t *row, int16_t *features,
                              const koan_memory *memory);
koan_status koan_features_u8(const koan_model *model, const uint8_t *row, int16_t *features,
                             const koan_memory *memory);
/* The codes of a row, which slot of its grid (bin), member of its pool (maxout) or leaf (fern)
 * each feature chose: koan_code_count of them. */
koan_status koan_codes_i16(const koan_model *model, const int16_t *row, uint16_t *codes,
                           const koan_memory *memory);
koan_status koan_codes_u8(const koan_model *model, const uint8_t *row, uint16_t *codes,
                          const koan_memory *memory);
#if !defined(KOAN_NO_F32) || KOAN_IS_0(KOAN_NO_F32)
koan_status koan_features_f32(const koan_model *model, const float *row, int16_t *features,
                              const koan_memory *memory);
koan_status koan_codes_f32(const koan_model *model, const float *row, uint16_t *codes,
                           const koan_memory *memory);
#endif
uint32_t koan_feature_count(const koan_model *model);
uint32_t koan_code_count(const koan_model *model);
#endif

/* The golden digest that this build computes. */
koan_status koan_digest(const koan_model *model, uint32_t *digest, const koan_memory *memory);

/* Classes of a classification, else 0. */
uint16_t koan_class_count(const koan_model *model);

/* The bytes of a section and how many; null and 0 where there is none. On AVR they lie where
 * the blob does. */
const uint8_t *koan_section(const koan_model *model, uint8_t tag, uint16_t *length);

/* The name of a class and its bytes (no zero follows); null where there is none. */
const uint8_t *koan_class_name(const koan_model *model, uint8_t class_, uint16_t *length);

/* A regression's value: the score times the model's scale. Uses float. */
float koan_value(const koan_model *model, int32_t score);

#if !defined(KOAN_NO_PROBABILITIES) || KOAN_IS_0(KOAN_NO_PROBABILITIES)
/* The probability of each class, from the model's scores and its calibration (slope 1,
 * intercept 0 where there is none). Uses float. KOAN_UNSUITED unless the model is a
 * classification; for a detector of anomalies, one score without calibration, too. */
koan_status koan_probabilities(const koan_model *model, const int32_t *scores,
                               float *probabilities);
#endif

#if !defined(KOAN_NO_TEXT) || KOAN_IS_0(KOAN_NO_TEXT)
/* What a status means, in a few words. */
const char *koan_status_text(koan_status status);
#endif

#ifdef __cplusplus
}
#endif

#endif
