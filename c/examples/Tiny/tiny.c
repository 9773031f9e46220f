/* The model tiny.koan. `koan export` made this file. */
#include "tiny.h"

/* What koan_config.h says must suit this model: docs/c.md, several models. */
#if defined(KOAN_INPUTS) && KOAN_INPUTS != 2
#error "koan_config.h is another model's: this one has 2 inputs, not KOAN_INPUTS"
#endif
#if defined(KOAN_NO_FOURIER) && !KOAN_IS_0(KOAN_NO_FOURIER)
#error "this model needs what KOAN_NO_FOURIER leaves out: koan_config.h is another model's, or the library leaves it out on small boards"
#endif
#if defined(KOAN_NO_DENSE) && !KOAN_IS_0(KOAN_NO_DENSE)
#error "this model needs what KOAN_NO_DENSE leaves out: koan_config.h is another model's, or the library leaves it out on small boards"
#endif
#if defined(KOAN_NO_BITS_4) && !KOAN_IS_0(KOAN_NO_BITS_4)
#error "this model needs what KOAN_NO_BITS_4 leaves out: koan_config.h is another model's, or the library leaves it out on small boards"
#endif

#if defined(__GNUC__)
#define AT_WHOLE_WORDS __attribute__((aligned(4)))
#else
#define AT_WHOLE_WORDS
#endif

/* Behind 0 zeros, so that the weights lie at whole words. */
static const uint8_t bytes[] KOAN_FLASH AT_WHOLE_WORDS = {
    0x4b, 0x4f, 0x41, 0x4e, 0x01, 0x01, 0x02, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x2d, 0xd1, 0x00, 0x00, 0x00, 0x00, 0x53, 0xfa, 0x11, 0x0a, 0x08, 0x00, 0x5d, 0x0c, 0x6f,
    0x12, 0x83, 0x3a, 0x00, 0x00, 0x00, 0x00, 0x00, 0xc7, 0x8c, 0x70, 0x1a, 0x01, 0x0a, 0x00, 0x6c,
    0x65, 0x66, 0x74, 0x0a, 0x72, 0x69, 0x67, 0x68, 0x74, 0x04, 0x08, 0x00, 0x00, 0x00, 0x80, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x03, 0x0c, 0x00, 0x00, 0x00, 0x00, 0x3f, 0x00, 0x00, 0xa0, 0xbf, 0xb8,
    0x06, 0x00, 0x00, 0xdd, 0xd2, 0xc5, 0x64, 0x31, 0x07, 0xa2, 0xfd,
};

/* As koan_parse makes it. */
const koan_model tiny = {
    bytes + 0,
    91,
    31,
    40,
    44,
    2,
    0,
    74,
    0,
    2,
    32767,
    1,
    1,
    1
};
