/* The model tiny.koan: a classification of 2 inputs in 91 bytes. `koan export` made this file. */
#ifndef KOAN_TINY_H
#define KOAN_TINY_H

#include "koan.h"

/* Rows of int16_t (koan_classify_i16) are whole numbers from -32768 to 32767, of uint8_t
 * from 0 to 255, in the units of the data; rows of float (koan_classify_f32) are also
 * larger numbers and fractions. */
#define TINY_INPUTS 2
#define TINY_OUTPUTS 1
#define TINY_CLASSES 2
#define TINY_FEATURES 8
#define TINY_HALVES 2
#define TINY_WORDS 0
/* Declares the constant `memory`, what predictions work in. */
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

#endif
