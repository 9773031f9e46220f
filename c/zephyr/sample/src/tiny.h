/* The model tiny.koan: a classification of 2 inputs in 91 bytes. `koan export` made this file.
 * On a Cortex-M0 (gcc -Os) it takes about 4050 bytes of code, 16 of memory, about 460 of stack. */
#ifndef KOAN_TINY_H
#define KOAN_TINY_H

#include "koan.h"

/* Rows of int16_t (tiny_classify_i16) are whole numbers from -32768 to 32767, of uint8_t
 * from 0 to 255, in the units of the data; rows of float (tiny_classify_f32) are also
 * larger numbers and fractions. */
#define TINY_INPUTS 2
#define TINY_OUTPUTS 1
#define TINY_CLASSES 2
#define TINY_FEATURES 8
#define TINY_HALVES 2
#define TINY_WORDS 0
/* Declares the constant `memory`, what predictions work in: static, and one for each task or
 * thread that predicts. */
#define TINY_MEMORY(memory) \
    KOAN_MEMORY_OF(memory, TINY_HALVES, TINY_WORDS, TINY_OUTPUTS)

#define TINY_CLASS_LEFT 0 /* left */
#define TINY_CLASS_RIGHT 1 /* right */

#ifdef __cplusplus
extern "C" {
#endif
extern const koan_model tiny;
#ifdef __cplusplus
}
#endif

/* Calls that take arrays of the model's lengths: in C++ other lengths do not compile, in C gcc and
 * clang warn of shorter ones. */
#if defined(__cplusplus)
#define TINY_ARRAY(type, name, length) type (&name)[length]
#elif defined(__GNUC__)
#define TINY_ARRAY(type, name, length) type name[static length]
#else
#define TINY_ARRAY(type, name, length) type name[length]
#endif

static inline koan_status tiny_classify_i16(
    TINY_ARRAY(const int16_t, row, TINY_INPUTS),
    uint8_t *class_,
    const koan_memory *memory) {
    return koan_classify_i16(&tiny, row, class_, memory);
}

static inline koan_status tiny_scores_i16(
    TINY_ARRAY(const int16_t, row, TINY_INPUTS),
    TINY_ARRAY(int32_t, scores, TINY_OUTPUTS),
    const koan_memory *memory) {
    return koan_scores_i16(&tiny, row, scores, memory);
}

static inline koan_status tiny_classify_u8(
    TINY_ARRAY(const uint8_t, row, TINY_INPUTS),
    uint8_t *class_,
    const koan_memory *memory) {
    return koan_classify_u8(&tiny, row, class_, memory);
}

static inline koan_status tiny_scores_u8(
    TINY_ARRAY(const uint8_t, row, TINY_INPUTS),
    TINY_ARRAY(int32_t, scores, TINY_OUTPUTS),
    const koan_memory *memory) {
    return koan_scores_u8(&tiny, row, scores, memory);
}

#if !defined(KOAN_NO_F32) || KOAN_IS_0(KOAN_NO_F32)
static inline koan_status tiny_classify_f32(
    TINY_ARRAY(const float, row, TINY_INPUTS),
    uint8_t *class_,
    const koan_memory *memory) {
    return koan_classify_f32(&tiny, row, class_, memory);
}

static inline koan_status tiny_scores_f32(
    TINY_ARRAY(const float, row, TINY_INPUTS),
    TINY_ARRAY(int32_t, scores, TINY_OUTPUTS),
    const koan_memory *memory) {
    return koan_scores_f32(&tiny, row, scores, memory);
}
#endif

#if !defined(KOAN_NO_PROBABILITIES) || KOAN_IS_0(KOAN_NO_PROBABILITIES)
/* One for each class, also where two classes have one score. */
static inline koan_status tiny_probabilities(
    TINY_ARRAY(const int32_t, scores, TINY_OUTPUTS),
    TINY_ARRAY(float, probabilities, TINY_CLASSES)) {
    return koan_probabilities(&tiny, scores, probabilities);
}
#endif

/* The name of a class, which ends with a zero; null where there is no such class. On AVR it
 * lies in program memory: Serial.print((const __FlashStringHelper *)tiny_class_name(class_)).
 * Programs that do not call it do not have the names. */
static inline const char *tiny_class_name(uint8_t class_) {
    static const char names[TINY_CLASSES][6] KOAN_FLASH = {
        "left",
        "right",
    };
    return class_ < TINY_CLASSES ? names[class_] : NULL;
}

#endif
