/*
 * Koan in C99: see koan.h. Written from docs/format.md and docs/numerics.md, which have the
 * terms and the formulas; the parts come in their order.
 */
#include "koan.h"

#include <string.h>

/* Names in capitals begin with K_ here: headers of vendors have macros of all others, such as
 * BIN. Those of parts are behind ## only, which no macro gets hold of. */

/* ---- What is built ---------------------------------------------------------------------- */

/* A bit for each family, and each width of a weight, that macros did not leave out. */
enum { K_LINEAR, K_FOURIER, K_STUMP, K_BIN, K_MAXOUT, K_SIGMOID, K_CONV };
enum { K_FERN = K_CONV + 1, K_SERIES, K_FAMILIES };

enum { K_LAW_NONE, K_GAUSSIAN, K_CAUCHY_LAW, K_SIGN, K_HADAMARD, K_UNIFORM, K_GAMMA2 };

/* K_HAS(X) is 0 where the macro KOAN_NO_X is 1 or empty, else 1; in the preprocessor and behind
 * it. */
#define KOAN_LEFT_OUT_ 0, 0,
#define KOAN_LEFT_OUT_1 0, 0,
#define K_SECOND(a, b, ...) b
#define K_SECOND_OF(...) K_SECOND(__VA_ARGS__)
#define K_IS_BUILT(value) K_SECOND_OF(KOAN_LEFT_OUT_##value, 1, 1)
#define K_BUILT(value) K_IS_BUILT(value)
#define K_HAS(x) K_BUILT(KOAN_NO_##x)

/* Parts that models need, a bit each: families and widths of weights in the order of their
 * codes. */
/* clang-format off */
#define K_PARTS(X)                                                                      \
    X(LINEAR) X(FOURIER) X(STUMP) X(BIN) X(MAXOUT) X(SIGMOID) X(CONV) X(FERN) X(SERIES) \
    X(HADAMARD) X(DENSE) X(GROUPS) X(LISTS)                                             \
    X(BITS_2) X(BITS_3) X(BITS_4) X(BITS_8) X(BITS_16)
/* clang-format on */
#define K_NEED(x) K_NEEDS_##x,
enum { K_PARTS(K_NEED) };
#define K_BIT(n) ((uint32_t)1 << (n))
#define K_OR_IF_BUILT(x) | (uint32_t)K_BUILT(KOAN_NO_##x) << K_NEEDS_##x
#define K_ALL_BUILT (0 K_PARTS(K_OR_IF_BUILT))

/* Other values would leave nothing out, silently: an error. An undefined macro is its name. */
/* clang-format off */
#define KOAN_KNOWN_ 0, 1,
#define KOAN_KNOWN_0 0, 1,
#define KOAN_KNOWN_1 0, 1,
#define K_IS_KNOWN(value) K_SECOND_OF(KOAN_KNOWN_##value, 0, 0)
#define K_LENGTH(value) sizeof(#value)
#define K_VALID(value, name) (K_IS_KNOWN(value) || K_LENGTH(value) == sizeof(name) ? 1 : -1)
#define K_CHECK(x) typedef char KOAN_NO_##x##_is_empty_0_or_1[K_VALID(KOAN_NO_##x, "KOAN_NO_" #x)];
K_PARTS(K_CHECK)
typedef char KOAN_BLOB_IN_RAM_is_empty_0_or_1[K_VALID(KOAN_BLOB_IN_RAM, "KOAN_BLOB_IN_RAM")];
K_CHECK(MAPS) K_CHECK(LOGARITHM) K_CHECK(FEATURES) K_CHECK(F32) K_CHECK(PROBABILITIES) K_CHECK(TEXT)
/* clang-format on */

/* Families that hand over their features by `push`. */
#define K_PUSHING                                                                             \
    (K_BIT(K_FOURIER) | K_BIT(K_STUMP) | K_BIT(K_MAXOUT) | K_BIT(K_SIGMOID) | K_BIT(K_CONV) | \
     K_BIT(K_SERIES))

/* Right shifts of negative numbers must be arithmetic, and conversions to a signed type
 * modulo its range: C leaves both to the compiler. All that we know of do so. */
typedef char koan_shifts_are_arithmetic[(-2 >> 1) == -1 ? 1 : -1];
typedef char koan_conversions_wrap[(int16_t)(uint16_t)65535u == -1 ? 1 : -1];
typedef char koan_float_has_32_bits[sizeof(float) == 4 ? 1 : -1];

/* Inputs of every model that is run, where a macro says how many. */
#if defined(KOAN_INPUTS)
#define K_INPUTS(m) KOAN_INPUTS
#else
#define K_INPUTS(m) ((m)->inputs)
#endif

/* Functions whose loops want all the registers, of which small cores have few. */
#if defined(__GNUC__)
#define K_APART __attribute__((noinline))
/* Words of the blob, where they lie at whole words and in the order of this machine's bytes. */
typedef uint32_t __attribute__((may_alias)) lanes_t;
#else
#define K_APART
typedef uint32_t lanes_t;
#endif
#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(__AVR__)
#define K_ARE_WORDS(p) (((uintptr_t)(p)&3) == 0)
#else
#define K_ARE_WORDS(p) 0
#endif

/* ---- Tables ----------------------------------------------------------------------------- */

#if defined(__AVR__)
#define K_TABLE_BYTE(table, i) pgm_read_byte(&(table)[i])
#define K_TABLE_HALF(table, i) pgm_read_word(&(table)[i])
#define K_TABLE_WORD(table, i) pgm_read_dword(&(table)[i])
#else
#define K_TABLE_BYTE(table, i) ((table)[i])
#define K_TABLE_HALF(table, i) ((table)[i])
#define K_TABLE_WORD(table, i) ((table)[i])
#endif

/* clang-format off */
static const int8_t K_COSINE[256] KOAN_FLASH = {
    127, 127, 127, 127, 126, 126, 125, 125, 124, 124, 123, 122, 121, 120, 119, 118, 117, 115, 114,
    113, 111, 110, 108, 106, 105, 103, 101, 99, 97, 95, 93, 91, 89, 86, 84, 82, 79, 77, 74, 72, 69,
    67, 64, 61, 58, 56, 53, 50, 47, 44, 41, 38, 35, 32, 29, 26, 23, 20, 17, 14, 11, 8, 5, 2, -2, -5,
    -8, -11, -14, -17, -20, -23, -26, -29, -32, -35, -38, -41, -44, -47, -50, -53, -56, -58, -61,
    -64, -67, -69, -72, -74, -77, -79, -82, -84, -86, -89, -91, -93, -95, -97, -99, -101, -103,
    -105, -106, -108, -110, -111, -113, -114, -115, -117, -118, -119, -120, -121, -122, -123, -124,
    -124, -125, -125, -126, -126, -127, -127, -127, -127, -127, -127, -127, -127, -126, -126, -125,
    -125, -124, -124, -123, -122, -121, -120, -119, -118, -117, -115, -114, -113, -111, -110, -108,
    -106, -105, -103, -101, -99, -97, -95, -93, -91, -89, -86, -84, -82, -79, -77, -74, -72, -69,
    -67, -64, -61, -58, -56, -53, -50, -47, -44, -41, -38, -35, -32, -29, -26, -23, -20, -17, -14,
    -11, -8, -5, -2, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 41, 44, 47, 50, 53, 56, 58,
    61, 64, 67, 69, 72, 74, 77, 79, 82, 84, 86, 89, 91, 93, 95, 97, 99, 101, 103, 105, 106, 108,
    110, 111, 113, 114, 115, 117, 118, 119, 120, 121, 122, 123, 124, 124, 125, 125, 126, 126, 127,
    127, 127, 127,
};
static const int8_t K_NORMAL[256] KOAN_FLASH = {
    -127, -111, -103, -97, -93, -89, -86, -83, -81, -79, -77, -75, -73, -71, -70, -68, -67, -65,
    -64, -63, -62, -61, -60, -59, -57, -56, -56, -55, -54, -53, -52, -51, -50, -49, -49, -48, -47,
    -46, -46, -45, -44, -43, -43, -42, -41, -41, -40, -39, -39, -38, -37, -37, -36, -36, -35, -34,
    -34, -33, -33, -32, -32, -31, -30, -30, -29, -29, -28, -28, -27, -27, -26, -26, -25, -25, -24,
    -24, -23, -23, -22, -22, -21, -21, -20, -20, -19, -19, -18, -18, -17, -17, -17, -16, -16, -15,
    -15, -14, -14, -13, -13, -12, -12, -12, -11, -11, -10, -10, -9, -9, -8, -8, -8, -7, -7, -6, -6,
    -5, -5, -5, -4, -4, -3, -3, -2, -2, -2, -1, -1, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6, 6,
    7, 7, 8, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 17, 18,
    18, 19, 19, 20, 20, 21, 21, 22, 22, 23, 23, 24, 24, 25, 25, 26, 26, 27, 27, 28, 28, 29, 29, 30,
    30, 31, 32, 32, 33, 33, 34, 34, 35, 36, 36, 37, 37, 38, 39, 39, 40, 41, 41, 42, 43, 43, 44, 45,
    46, 46, 47, 48, 49, 49, 50, 51, 52, 53, 54, 55, 56, 56, 57, 59, 60, 61, 62, 63, 64, 65, 67, 68,
    70, 71, 73, 75, 77, 79, 81, 83, 86, 89, 93, 97, 103, 111, 127,
};
/* Of the bytes from 128 on; that of 255 - byte is the negative. */
static const int16_t K_CAUCHY[128] KOAN_FLASH = {
    1, 4, 6, 9, 11, 14, 16, 18, 21, 23, 26, 28, 31, 33, 36, 39, 41, 44, 46, 49, 51, 54, 57, 59, 62,
    65, 67, 70, 73, 76, 79, 81, 84, 87, 90, 93, 96, 99, 102, 105, 108, 112, 115, 118, 122, 125, 128,
    132, 135, 139, 143, 146, 150, 154, 158, 162, 166, 170, 175, 179, 184, 188, 193, 198, 202, 208,
    213, 218, 223, 229, 235, 241, 247, 253, 260, 266, 273, 280, 288, 295, 303, 312, 320, 329, 338,
    348, 358, 369, 380, 391, 403, 416, 430, 444, 459, 475, 491, 509, 528, 548, 570, 593, 618, 645,
    674, 706, 740, 778, 820, 866, 917, 974, 1039, 1112, 1196, 1294, 1408, 1544, 1708, 1910, 2167,
    2502, 2959, 3618, 4654, 6517, 10864, 32595,
};
static const uint16_t K_RECIPROCAL_GAMMA2[256] KOAN_FLASH = {
    64160, 36453, 27918, 23375, 20446, 18356, 16769, 15511, 14481, 13618, 12881, 12242, 11682,
    11184, 10739, 10337, 9972, 9639, 9333, 9051, 8789, 8546, 8319, 8107, 7908, 7720, 7543, 7376,
    7217, 7067, 6924, 6787, 6657, 6533, 6414, 6300, 6191, 6086, 5985, 5888, 5794, 5704, 5617, 5533,
    5452, 5373, 5297, 5223, 5151, 5082, 5015, 4949, 4885, 4823, 4763, 4705, 4647, 4592, 4537, 4484,
    4433, 4382, 4333, 4285, 4238, 4192, 4146, 4102, 4059, 4017, 3975, 3935, 3895, 3856, 3818, 3780,
    3744, 3707, 3672, 3637, 3603, 3569, 3536, 3504, 3472, 3440, 3409, 3379, 3349, 3319, 3290, 3262,
    3234, 3206, 3179, 3152, 3125, 3099, 3073, 3048, 3023, 2998, 2973, 2949, 2925, 2902, 2879, 2856,
    2833, 2811, 2789, 2767, 2746, 2724, 2703, 2682, 2662, 2641, 2621, 2601, 2582, 2562, 2543, 2524,
    2505, 2486, 2468, 2450, 2431, 2414, 2396, 2378, 2361, 2343, 2326, 2309, 2292, 2276, 2259, 2243,
    2227, 2211, 2195, 2179, 2163, 2147, 2132, 2117, 2101, 2086, 2071, 2056, 2042, 2027, 2012, 1998,
    1983, 1969, 1955, 1941, 1927, 1913, 1899, 1885, 1872, 1858, 1845, 1831, 1818, 1805, 1791, 1778,
    1765, 1752, 1739, 1726, 1714, 1701, 1688, 1675, 1663, 1650, 1638, 1625, 1613, 1601, 1588, 1576,
    1564, 1552, 1539, 1527, 1515, 1503, 1491, 1479, 1467, 1455, 1443, 1431, 1419, 1407, 1395, 1383,
    1371, 1360, 1348, 1336, 1324, 1312, 1300, 1288, 1276, 1264, 1252, 1240, 1228, 1216, 1204, 1191,
    1179, 1167, 1154, 1142, 1129, 1117, 1104, 1091, 1078, 1065, 1052, 1038, 1025, 1011, 997, 983,
    969, 954, 939, 924, 908, 892, 875, 858, 841, 822, 803, 782, 761, 738, 712, 684, 653, 614, 565,
    483,
};
/* Of arguments from 0 on; the function is odd. */
static const uint8_t K_SIGMOID_TABLE[128] KOAN_FLASH = {
    0, 4, 8, 12, 16, 20, 24, 27, 31, 35, 38, 42, 46, 49, 52, 56, 59, 62, 65, 68, 70, 73, 76, 78, 81,
    83, 85, 87, 89, 91, 93, 95, 97, 98, 100, 101, 103, 104, 105, 107, 108, 109, 110, 111, 112, 113,
    113, 114, 115, 116, 116, 117, 118, 118, 119, 119, 120, 120, 120, 121, 121, 122, 122, 122, 122,
    123, 123, 123, 123, 124, 124, 124, 124, 124, 125, 125, 125, 125, 125, 125, 125, 125, 125, 126,
    126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 126, 127, 127, 127,
    127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127,
    127, 127, 127, 127, 127, 127,
};
/* clang-format on */

/* The cosine of an angle of which a full turn is 2^32. */
static int8_t cosine(uint32_t angle) { return (int8_t)K_TABLE_BYTE(K_COSINE, angle >> 24); }

static int16_t normal(uint32_t byte) { return (int8_t)K_TABLE_BYTE(K_NORMAL, byte & 255); }

static int16_t cauchy(uint8_t byte) {
    int16_t value = (int16_t)K_TABLE_HALF(K_CAUCHY, (byte & 128 ? byte : ~byte) & 127);
    return (int16_t)(byte & 128 ? value : -value);
}

/* ---- Generator -------------------------------------------------------------------------- */

#define K_WYRNG_STEP 0xa0761d6478bd642full

#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
/* The product of two numbers on cores that multiply to 32 bits only: a fraction of the
 * library's. */
static K_APART uint64_t product_of(uint32_t a, uint32_t b) {
    uint32_t a0 = a & 0xffff, a1 = a >> 16, b0 = b & 0xffff, b1 = b >> 16;
    uint32_t low = a0 * b0, cross = a0 * b1 + (low >> 16), middle = a1 * b0 + (cross & 0xffff);
    uint32_t high = a1 * b1 + (cross >> 16) + (middle >> 16);
    return (uint64_t)high << 32 | (middle << 16 | (low & 0xffff));
}
#elif !defined(__SIZEOF_INT128__)
static uint64_t product_of(uint32_t a, uint32_t b) { return (uint64_t)a * b; }
#endif

/* High half XOR low half of the 128-bit product. */
static uint64_t mum(uint64_t a, uint64_t b) {
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
#else
    uint32_t a0 = (uint32_t)a, a1 = (uint32_t)(a >> 32), b0 = (uint32_t)b, b1 = (uint32_t)(b >> 32);
    uint64_t low = product_of(a0, b0), cross = product_of(a0, b1);
    /* At most (2^32 - 1)^2 + 2 * (2^32 - 1) = 2^64 - 1. */
    uint64_t middle = product_of(a1, b0) + (low >> 32) + (uint32_t)cross;
    uint64_t high = product_of(a1, b1) + (cross >> 32) + (middle >> 32);
    return high ^ (middle << 32 | (uint32_t)low);
#endif
}

static K_APART uint64_t wyrng(uint64_t state) {
    state += K_WYRNG_STEP;
    return mum(state, state ^ 0xe7037ed1a0b428dbull);
}

static uint64_t stream_of(uint64_t seed, uint64_t number) {
    return wyrng(seed + (number + 1) * 0x9e3779b97f4a7c15ull);
}

/* Draw i of a stream. */
static uint64_t draw_of(uint64_t stream, uint64_t i) { return wyrng(stream + i * K_WYRNG_STEP); }

/* u16 j of a draw. */
static uint16_t part_of(uint64_t draw, uint32_t j) { return (uint16_t)(draw >> (16 * j)); }

static uint16_t check_word(uint64_t seed) {
    uint64_t stream = stream_of(seed, 0xffffffffu), second = draw_of(stream, 1);
    uint64_t x = draw_of(stream, 0) ^ (second << 32 | second >> 32);
    return (uint16_t)(part_of(x, 0) ^ part_of(x, 1) ^ part_of(x, 2) ^ part_of(x, 3));
}

/* ---- Reading the blob ------------------------------------------------------------------- */

#if defined(__AVR__) && K_BUILT(KOAN_BLOB_IN_RAM)
#define K_BLOB_BYTE(p) pgm_read_byte(p)
#else
#define K_BLOB_BYTE(p) (*(p))
#endif

/* Where fields of the header are. */
enum {
    K_AT_FLAGS = 5,
    K_AT_INPUTS,
    K_AT_OUTPUTS = 8,
    K_AT_SEED,
    K_AT_CHECK_WORD = 17,
    K_AT_MAPS = 19
};
/* Bytes of a group, of a list's head, and of the golden digest and the CRC-32. */
enum { K_GROUP_BYTES = 5, K_LIST_BYTES = 3, K_TRAILER = 8 };
enum { K_FLAG_CLASSES = 1, K_FLAG_GAIN_EACH = 4, K_FLAG_CHANNEL = 6 };
enum { K_OPTION_ODD = 8, K_OPTION_GROUPS = 16, K_OPTION_MORE = 32, K_OPTION_LIST = 64 };

static uint8_t byte_at(const koan_model *m, uint32_t at) {
    return K_BLOB_BYTE(m->blob + (size_t)at);
}

static uint16_t half_at(const koan_model *m, uint32_t at) {
    return (uint16_t)(byte_at(m, at) | (uint16_t)((uint16_t)byte_at(m, at + 1) << 8));
}

static uint32_t word_at(const koan_model *m, uint32_t at) {
    return half_at(m, at) | (uint32_t)half_at(m, at + 2) << 16;
}

static uint64_t seed_of(const koan_model *m) {
    return word_at(m, K_AT_SEED) | (uint64_t)word_at(m, K_AT_SEED + 4) << 32;
}

/* Streams of a bank. */
enum { K_OF_WEIGHTS, K_OF_OFFSETS, K_OF_CHOICES };

typedef struct bank {
    uint32_t parameters, groups, list, next; /* where they are */
    uint16_t features, shared;               /* the projections that the units of maxout share */
    uint8_t index, family, law, options, mult, shift, group_count;
    uint8_t parameter; /* slot bits, pool or depth */
} bank;

/* Bytes of each family's parameters, also of those that there are not. */
static const uint8_t K_PARAMETER_BYTES[16] KOAN_FLASH = {0, 0, 0, 1, 3, 0, 5, 1, 7};

static uint8_t is_listed(const bank *b) {
    return K_HAS(LISTS) && (b->options & K_OPTION_LIST) != 0;
}

/* Reads the bank at `at`, which was checked. */
static void read_bank(const koan_model *m, uint32_t at, uint8_t index, bank *b) {
    uint8_t kind = byte_at(m, at);
    memset(b, 0, sizeof *b);
    b->index = index;
    b->family = kind & 15;
    b->law = (uint8_t)(kind >> 4);
    b->options = byte_at(m, at + 1);
    b->features = half_at(m, at + 2);
    b->mult = byte_at(m, at + 4);
    b->shift = byte_at(m, at + 5);
    b->parameters = at + 6;
    b->groups = b->parameters + K_TABLE_BYTE(K_PARAMETER_BYTES, b->family);
    if (b->groups > b->parameters) b->parameter = byte_at(m, b->parameters);
    if (b->family == K_MAXOUT) b->shared = half_at(m, b->parameters + 1);
    b->list = b->groups;
    if (K_HAS(GROUPS) && (b->options & K_OPTION_GROUPS)) {
        b->group_count = byte_at(m, b->groups++);
        b->list = b->groups + (uint32_t)K_GROUP_BYTES * b->group_count;
    }
    b->next = b->list;
    if (is_listed(b)) b->next += K_LIST_BYTES + (uint32_t)half_at(m, b->list + 1);
}

/* Whether its projections are rows of a Hadamard transform. */
static int by_hadamard(const bank *b) {
    return K_HAS(HADAMARD) && (!K_HAS(DENSE) || b->law == K_HADAMARD);
}

static uint64_t bank_stream(const koan_model *m, const bank *b, unsigned purpose) {
    return stream_of(seed_of(m), 4u * b->index + purpose);
}

static int is_one_hot(const bank *b) { return b->family == K_BIN || b->family == K_FERN; }

static uint32_t columns_of(const bank *b) {
    return (uint32_t)b->features << ((K_HAS(BIN) || K_HAS(FERN)) && is_one_hot(b) ? b->parameter
                                                                                  : 0);
}

static uint8_t bits_of(const bank *b) {
    uint8_t code = b->options & 7;
    return (uint8_t)(code == 3 ? 8 : code == 4 ? 16 : code + 2);
}

/* Bytes of the weights of one output. */
static uint32_t row_bytes(const bank *b) { return (columns_of(b) * bits_of(b) + 7) / 8; }

/* A run of inputs with a law and a scale of its own. */
typedef struct group {
    uint32_t first; /* input */
    uint16_t inputs;
    uint8_t law, mult, shift, number;
} group;

static const group K_NO_GROUP = {0, 0, 0, 0, 0, 0};

/* Goes on to the next group, from none to the first; 0 where there is no other. All inputs are one
 * group where a bank has none. */
static int next_group(const koan_model *m, const bank *b, group *g) {
    if (g->number > 0 && g->number >= b->group_count) return 0;
    uint32_t at = b->groups + (uint32_t)K_GROUP_BYTES * g->number++;
    g->first += g->inputs;
    g->inputs = m->inputs;
    g->law = b->law;
    g->mult = b->mult;
    g->shift = b->shift;
    if (K_HAS(GROUPS) && b->group_count > 0) {
        g->inputs = half_at(m, at);
        g->law = byte_at(m, at + 2);
        g->mult = byte_at(m, at + 3);
        g->shift = byte_at(m, at + 4);
    }
    return 1;
}

/* The logarithm of the inputs, rounded up to a power of two, at least 8. */
static uint8_t transform_log(uint16_t inputs) {
    uint8_t log = 3;
    while (inputs > K_BIT(log)) log++;
    return log;
}

/* ---- Kept features ---------------------------------------------------------------------- */

#define K_NO_INDEX 0xffffffffu
#define K_MOST_INDICES 0x100000u

/* The indices of a bank's features, rising. */
typedef struct indices {
    const koan_model *model;
    uint32_t codes, place, bits; /* where they are, the next bit, how many; none without a list */
    uint32_t least;              /* the least index that can follow */
    uint8_t low_bits;
} indices;

static void start_indices(indices *it, const koan_model *m, const bank *b) {
    memset(it, 0, sizeof *it);
    it->model = m;
    if (!is_listed(b)) return;
    it->low_bits = byte_at(m, b->list);
    it->codes = b->list + K_LIST_BYTES;
    it->bits = 8 * (b->next - it->codes);
}

/* The next bit of the codes; behind them there are ones, so that every index ends. */
static int next_bit(indices *it) {
    uint32_t place = it->place++;
    return place < it->bits ? byte_at(it->model, it->codes + place / 8) >> (place & 7) & 1 : 1;
}

/* The next index; K_NO_INDEX where it is far too large. */
static uint32_t listed_index(indices *it) {
    uint32_t gap = 0;
    while (!next_bit(it)) gap++;
    if (gap > K_MOST_INDICES >> it->low_bits) return K_NO_INDEX;
    gap <<= it->low_bits;
    for (uint8_t i = 0; i < it->low_bits; i++) gap |= (uint32_t)next_bit(it) << i;
    gap += it->least;
    it->least = gap + 1;
    return gap;
}

static uint32_t next_index(indices *it) {
    return K_HAS(LISTS) && it->bits > 0 ? listed_index(it) : it->least++;
}

/* ---- Convolutions: shapes --------------------------------------------------------------- */

/* One direction of a convolution. */
typedef struct axis {
    uint16_t length;
    uint8_t kernel, cells;
} axis;

typedef struct conv {
    axis down, along;
    uint16_t cells; /* N */
    uint8_t channels, stride, proportion, dilated;
    uint8_t log;              /* of R */
    uint32_t block, dilation; /* of the filters that are computed */
} conv;

static uint16_t positions_of(const axis *a, uint8_t stride, uint32_t dilation) {
    uint32_t reach = (a->kernel - 1u) * dilation;
    return (uint16_t)(reach < a->length ? (a->length - 1u - reach) / stride + 1 : 0);
}

/* Whether all cells have a position at a dilation. */
static int has_positions(const conv *c, uint32_t dilation) {
    return positions_of(&c->down, c->stride, dilation) >= c->down.cells &&
           positions_of(&c->along, c->stride, dilation) >= c->along.cells;
}

/* Reads the shape at `at`. Whether rows of so many inputs can have it. */
static int read_conv(const koan_model *m, uint32_t at, conv *c) {
    uint8_t height = byte_at(m, at), kernel = byte_at(m, at + 2), mode = byte_at(m, at + 3);
    axis down = {height, kernel, byte_at(m, at + 4)};
    c->channels = byte_at(m, at + 1);
    c->stride = mode & 15;
    c->proportion = (mode & 16) != 0;
    c->dilated = (mode & 32) != 0;
    c->log = (uint8_t)(3 + (mode >> 6));
    uint32_t pixels = (uint32_t)height * c->channels;
    if (pixels == 0 || c->stride == 0 || down.cells == 0 || kernel <= c->dilated ||
        m->inputs % pixels != 0)
        return 0;
    c->along = down;
    c->along.length = (uint16_t)(m->inputs / pixels);
    if (height == 1) down.kernel = down.cells = 1;
    c->down = down;
    c->cells = (uint16_t)((uint16_t)down.cells * c->along.cells);
    return has_positions(c, 1);
}

static uint32_t taps_of(const conv *c) {
    return (uint32_t)c->down.kernel * c->along.kernel * c->channels;
}

/* The shape of a series, and what the filters of a block slide over. */
typedef struct series {
    uint16_t length; /* W */
    uint8_t channels, kernel, dilations;
    uint8_t difference, shift;
    int32_t factor;
    uint32_t positions, dilation;
    const int16_t *q; /* from the first number of the channel on */
} series;

/* The level of the gain at `at` at dilation 2^log; it may be none. */
static int16_t level_of(const koan_model *m, uint32_t at, uint8_t log) {
    return (int16_t)(byte_at(m, at) + (int8_t)byte_at(m, at + 1) * log);
}

/* Reads the shape at `at`. Whether rows of so many inputs can have it, and all levels are. */
static int read_series(const koan_model *m, uint32_t at, series *s) {
    s->channels = byte_at(m, at);
    s->kernel = byte_at(m, at + 1);
    s->dilations = byte_at(m, at + 2);
    s->length = 0;
    if (s->channels == 0 || m->inputs % s->channels != 0 || s->kernel < 2 || s->kernel > 64 ||
        s->dilations < 1 || s->dilations > 16)
        return 0;
    s->length = (uint16_t)(m->inputs / s->channels);
    uint8_t last = (uint8_t)(s->dilations - 1);
    /* The first level is a byte: a straight line leaves the range at its end. */
    int16_t samples = level_of(m, at + 3, last), differences = level_of(m, at + 5, last);
    return (s->kernel - 1u) * K_BIT(last) < s->length && samples >= 0 && samples <= 255 &&
           differences >= 0 && differences <= 255;
}

/* ---- Checking a blob -------------------------------------------------------------------- */

/* Reads a blob from front to back and keeps the first thing that is wrong. Beyond that what
 * is read is 0, so that a check is one call. */
typedef struct cursor {
    koan_model *model;
    uint32_t at, end;
    uint32_t features, columns; /* of the banks so far */
    koan_status status;
} cursor;

static void expect(cursor *c, int holds, koan_status status, uint32_t at) {
    if (!holds && c->status == KOAN_OK) {
        c->status = status;
        c->model->refused_at = at;
    }
}

/* Where the next field is, of so many bytes. */
static uint32_t skip(cursor *c, uint32_t length) {
    uint32_t at = c->at;
    expect(c, c->end - at >= length, KOAN_TRUNCATED, at);
    c->at = c->status == KOAN_OK ? at + length : c->end;
    return at;
}

static uint8_t next_byte(cursor *c) {
    uint32_t at = skip(c, 1);
    return c->status == KOAN_OK ? byte_at(c->model, at) : 0;
}

static uint16_t next_half(cursor *c) {
    uint32_t at = skip(c, 2);
    return c->status == KOAN_OK ? half_at(c->model, at) : 0;
}

/* A bit for each law that banks of a family may have; in the high byte those that its groups may
 * have. */
static const uint16_t K_LAWS[16] KOAN_FLASH = {0x0101, 0x071e, 0x2322, 0x4140, 0x001a,
                                               0x001a, 0x0010, 0x0022, 0x0010};

static void check_groups(cursor *c, const bank *b) {
    uint16_t inputs = c->model->inputs, laws = K_TABLE_HALF(K_LAWS, b->family) >> 8;
    uint8_t used = 0;
    group g = K_NO_GROUP;
    uint32_t at = b->groups;
    for (; b->group_count > 0 && next_group(c->model, b, &g); at += K_GROUP_BYTES) {
        expect(c, g.inputs > 0 && g.first + g.inputs <= inputs, KOAN_GROUP_INPUTS, at);
        expect(c, g.law < 7 && (laws >> g.law & 1), KOAN_GROUP_LAW, at + 2);
        used |= g.law;
        expect(c, g.mult > 0, KOAN_GROUP_SCALE, at + 3);
        expect(c, g.shift <= 16, KOAN_GROUP_SCALE, at + 4);
    }
    expect(c, g.first + g.inputs == inputs && used, KOAN_GROUP_INPUTS, b->groups);
}

/* Checks the list; gives the last index of the bank. */
static uint32_t check_list(cursor *c, const bank *b) {
    uint32_t index = 0, limit = b->family == K_LINEAR ? c->model->inputs : K_MOST_INDICES;
    indices it;
    start_indices(&it, c->model, b);
    expect(c, it.low_bits <= 15, KOAN_KEPT_FEATURES, b->list);
    for (uint16_t left = b->features; left > 0 && c->status == KOAN_OK; left--) {
        index = listed_index(&it);
        expect(c, index < limit, KOAN_KEPT_FEATURES, b->list);
    }
    /* Zeros fill the last byte up. */
    while (it.place & 7) expect(c, !next_bit(&it), KOAN_KEPT_FEATURES, b->list);
    expect(c, it.place == it.bits, KOAN_KEPT_FEATURES, b->list);
    return index;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* What a bank adds to the work. */
static uint64_t work_of(const koan_model *m, const bank *b, uint32_t last) {
    uint32_t log = transform_log(m->inputs), inputs = (uint32_t)m->inputs + b->group_count;
    /* What is computed in blocks of so many rows, and the work of a block. */
    uint32_t count = b->features, rows = 1;
    uint64_t each = 4 * inputs, work = (uint64_t)b->features * m->outputs;
    conv c;
    series s;
    if (is_listed(b)) work += 8 * (b->next - b->list - K_LIST_BYTES);
    if (b->family == K_MAXOUT) {
        count *= b->parameter;
        last = last * b->parameter + b->parameter - 1;
    }
    uint32_t units = count;
    if (b->shared > 0) {
        count = b->shared;
        last = count - 1;
    }
    switch (b->family) {
    case K_LINEAR: each = 1; break;
    case K_STUMP: each = 1u + b->group_count; break;
    case K_BIN: each = 16 * inputs; break;
    case K_FERN: each = 16; break;
    case K_CONV:
        (void)read_conv(m, b->parameters, &c);
        rows = (uint32_t)c.cells << c.log;
        each = (uint32_t)positions_of(&c.down, c.stride, 1) * positions_of(&c.along, c.stride, 1);
        each *= taps_of(&c) + ((c.log + 1u) << c.log);
        break;
    case K_SERIES:
        (void)read_series(m, b->parameters, &s);
        rows = 8;
        each = (uint32_t)s.length * (4u * s.kernel + 32);
        break;
    default:
        if (b->law != K_HADAMARD) break;
        rows = K_BIT(log);
        each = log << log;
    }
    if (rows > 1 || b->shared > 0) work += units;
    return work + smaller(count, last / rows + 1) * each;
}

/* Takes note of the memory that a bank needs, and of its limit of inputs. */
static void note_needs(koan_model *m, const bank *b) {
    uint32_t length = b->law == K_HADAMARD ? K_BIT(transform_log(m->inputs)) : 0;
    uint32_t words = length, halves = m->inputs;
    if (b->family == K_CONV) {
        words = (uint32_t)16 << (byte_at(m, b->parameters + 3) >> 6);
    } else if (b->family == K_SERIES) {
        words = 16;
    } else if (b->shared > 0) {
        length = larger(length, 1);
        words = (b->shared + length - 1) & ~(length - 1);
    } else if (b->family == K_FOURIER && length > 0) {
        words = m->inputs < 256 ? length / 2 : 0;
        halves += m->inputs < 256 ? 1 : length;
    }
    m->words = larger(m->words, words);
    m->halves = larger(m->halves, halves);
    if (b->family == K_MAXOUT || b->family == K_SIGMOID) {
        uint32_t weight = b->law == K_GAUSSIAN ? 127 : 1;
        uint32_t limit = (0x7fffffffu - (uint32_t)127 * 2048) / (m->inputs * weight);
        m->limit = (int16_t)smaller(limit, (uint32_t)m->limit);
    }
}

/* Whether what the bank needs is built. */
static int is_built(const koan_model *m, uint8_t family, uint8_t law, uint8_t options) {
    uint32_t needs = K_BIT(family);
    if (m->outputs > 0) needs |= K_BIT(K_NEEDS_BITS_2 + (options & 7));
    if (options & K_OPTION_GROUPS) needs |= K_BIT(K_NEEDS_GROUPS);
    if (options & K_OPTION_LIST) needs |= K_BIT(K_NEEDS_LISTS);
    if (family == K_FOURIER || family == K_MAXOUT || family == K_SIGMOID)
        needs |= K_BIT(law == K_HADAMARD ? K_NEEDS_HADAMARD : K_NEEDS_DENSE);
    return (needs & ~K_ALL_BUILT) == 0;
}

/* For each family what is wrong with its parameters. */
/* clang-format off */
static const uint8_t K_PARAMETER_STATUS[16] KOAN_FLASH = {
    0, 0, 0, KOAN_BIN_SLOT_BITS, KOAN_MAXOUT_POOL, 0, KOAN_CONV_SHAPE, KOAN_FERN_DEPTH,
    KOAN_SERIES_SHAPE};
/* clang-format on */

/* Whether the parameters of a family, from `at` on, are allowed. */
static int are_parameters(const koan_model *m, uint8_t family, uint32_t at, conv *c) {
    uint8_t first = byte_at(m, at);
    series s;
    switch (family) {
    case K_BIN: return first >= 1 && first <= 12;
    case K_MAXOUT: return first >= 1;
    case K_CONV: return read_conv(m, at, c);
    case K_FERN: return first >= 1 && first <= 4;
    case K_SERIES: return read_series(m, at, &s);
    default: return 1;
    }
}

/* Checks the next bank; gives the last index of its features. */
static uint32_t check_bank(cursor *c, uint8_t index, bank *b) {
    koan_model *m = c->model;
    uint32_t at = c->at;
    uint8_t kind = next_byte(c), options = next_byte(c);
    uint16_t features = next_half(c);
    uint8_t mult = next_byte(c), shift = next_byte(c), family = kind & 15;
    uint8_t law = (uint8_t)(kind >> 4), grouped = options & K_OPTION_GROUPS;
    uint8_t most = family == K_MAXOUT || family == K_SIGMOID ? 31 : 16;
    conv shape;
    shape.cells = 1;
    (void)skip(c, family == K_MAXOUT ? 1u : K_TABLE_BYTE(K_PARAMETER_BYTES, family));
    expect(c, c->status == KOAN_OK && are_parameters(m, family, at + 6, &shape),
           (koan_status)K_TABLE_BYTE(K_PARAMETER_STATUS, family), at + 6);
    if (family == K_MAXOUT) (void)skip(c, 2);
    if (c->status != KOAN_OK) return 0;
    expect(c, (options & K_OPTION_LIST) || features % shape.cells == 0, KOAN_BANK_FEATURES, at + 2);
    expect(c, family < K_FAMILIES, KOAN_BANK_FAMILY, at);
    expect(c, (options & 7) < 5 && options < 128 && (m->outputs > 0 || (options & 15) == 0),
           KOAN_BANK_OPTIONS, at + 1);
    expect(c, features > 0, KOAN_BANK_FEATURES, at + 2);
    expect(c, grouped ? law == K_LAW_NONE : law < 7 && (K_TABLE_HALF(K_LAWS, family) >> law & 1),
           KOAN_BANK_LAW, at);
    if (grouped) (void)skip(c, (uint32_t)K_GROUP_BYTES * next_byte(c));
    if (options & K_OPTION_LIST) {
        uint32_t list = skip(c, K_LIST_BYTES);
        (void)skip(c, c->status == KOAN_OK ? half_at(m, list + 1) : 0);
    }
    expect(c, family != K_LINEAR || features == m->inputs || (options & K_OPTION_LIST),
           KOAN_BANK_FEATURES, at + 2);
    if (mult != 1 || shift != 0)
        expect(c, !grouped && family != K_LINEAR && family != K_SERIES && mult > 0 && shift <= most,
               KOAN_BANK_SCALE, at + 4);
    expect(c, is_built(m, family, law, options), KOAN_NOT_BUILT, at);
    if (c->status != KOAN_OK) return 0;
    read_bank(m, at, index, b);
    c->features += features;
    c->columns += columns_of(b);
    expect(c, c->features <= 65535u && c->columns <= K_MOST_INDICES, KOAN_BANK_FEATURES, at + 2);
    if (grouped) check_groups(c, b);
    return is_listed(b) && c->status == KOAN_OK ? check_list(c, b) : features - 1u;
}

/* Checks all banks; gives the bytes of their weights. */
static uint32_t check_banks(cursor *c) {
    koan_model *m = c->model;
    uint32_t bytes = 0;
    bank b;
    b.options = 0;
    m->work = m->inputs;
    do {
        uint32_t at = c->at;
        expect(c, m->banks < 255, KOAN_BANKS, at);
        uint32_t last = check_bank(c, m->banks, &b);
        if (c->status != KOAN_OK) return 0;
        /* Below 2^30: at most 2^20 columns of 16 bits, 255 outputs. */
        bytes += row_bytes(&b) * m->outputs;
        uint64_t work = m->work + work_of(m, &b, last);
        expect(c, work <= K_BIT(28), KOAN_WORK, at);
        m->work = (uint32_t)work;
        note_needs(m, &b);
        m->banks++;
    } while ((b.options & K_OPTION_MORE) && c->status == KOAN_OK);
    return bytes;
}

/* Whether an f32 is finite and above 0, by its bits. */
static int is_positive(uint32_t bits) { return bits > 0 && bits < 0x7f800000u; }

/* Whether there is a name for each class. */
static int are_names(const koan_model *m, uint32_t at, uint16_t length) {
    uint32_t lines = length > 0;
    for (uint32_t i = 0; i < length; i++) lines += byte_at(m, at + i) == '\n';
    return lines > 0 && lines == koan_class_count(m);
}

static int is_calibration(const koan_model *m, uint32_t at, uint16_t length) {
    if (length != 8 || koan_class_count(m) == 0) return 0;
    uint32_t slope = word_at(m, at), scale = word_at(m, m->head);
    return is_positive(slope) && (slope >> 23) + (scale >> 23) < 127u + 127u + 127u &&
           word_at(m, at + 4) << 1 < 0xff000000u;
}

static void check_sections(cursor *c) {
    koan_model *m = c->model;
    uint8_t seen = 0;
    while (c->at < c->end && c->status == KOAN_OK) {
        uint32_t start = c->at;
        uint8_t tag = next_byte(c);
        uint16_t length = next_half(c);
        uint32_t at = skip(c, length);
        if (c->status != KOAN_OK) return;
        switch (tag) {
        case KOAN_SECTION_NAMES:
            expect(c, are_names(m, at, length), KOAN_CLASS_NAMES, start);
            break;
        case KOAN_SECTION_NOTES: break;
        case KOAN_SECTION_GOLDEN_ROWS:
            expect(c,
                   m->outputs > 0 && length > 0 &&
                       length % (4 * ((uint32_t)m->inputs + m->outputs)) == 0,
                   KOAN_GOLDEN_ROWS, start);
            break;
        case KOAN_SECTION_CALIBRATION:
            expect(c, is_calibration(m, at, length), KOAN_CALIBRATION, start);
            break;
        default: expect(c, tag < 128, KOAN_REQUIRED_SECTION, start); continue;
        }
        expect(c, !(seen >> tag & 1), KOAN_SECTION_TWICE, start);
        seen = (uint8_t)(seen | 1u << tag);
    }
}

/* Whether inputs have maps (2) or gains (4) of their own, or channels maps (6); else 0. */
static uint8_t map_flags(const koan_model *m) { return K_HAS(MAPS) ? m->flags & 6 : 0; }

/* After how many inputs their maps come again. */
static uint16_t map_period(const koan_model *m) {
    if (map_flags(m) == K_FLAG_CHANNEL) return byte_at(m, K_AT_MAPS);
    return map_flags(m) ? m->inputs : 1;
}

/* Where the map of a place in a period is: those of channels (6) behind a byte that counts them. */
static uint32_t map_at(const koan_model *m, uint16_t place) {
    return K_AT_MAPS + (uint32_t)(map_flags(m) > 4) + (map_flags(m) & 2 ? 6 * (uint32_t)place : 0);
}

/* Bytes of the input maps. */
static uint32_t map_bytes(const koan_model *m) {
    return map_flags(m) & 2 ? map_at(m, map_period(m)) - K_AT_MAPS : 5 + (uint32_t)map_period(m);
}

/* Whether logarithms are built, or no map has one. */
static int logarithms_are_built(const koan_model *m) {
    for (uint16_t i = 0; !K_HAS(LOGARITHM) && i < map_period(m); i++)
        if (byte_at(m, map_at(m, i) + 4) & 128) return 0;
    return 1;
}

/* CRC-32 of IEEE 802.3 of the lowest bytes of a number, a half of a byte at a time; begins with
 * ~0 and ends with ~. */
static uint32_t crc_of(uint32_t crc, uint32_t number, uint8_t bytes) {
    static const uint32_t table[16] KOAN_FLASH = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                                  0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                                  0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                                  0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    for (; bytes > 0; bytes--, number >>= 8) {
        crc ^= number & 255;
        crc = crc >> 4 ^ K_TABLE_WORD(table, crc & 15);
        crc = crc >> 4 ^ K_TABLE_WORD(table, crc & 15);
    }
    return crc;
}

/* The model's blob has four bytes at least. */
static int is_intact(const koan_model *m) {
    uint32_t crc = 0xffffffffu;
    for (uint32_t i = 0; i + 4 < m->size; i++) crc = crc_of(crc, byte_at(m, i), 1);
    return m->size > K_TRAILER && ~crc == word_at(m, m->size - 4);
}

/* Reads the header. The rest is read only where it is sound. */
static void check_header(cursor *c) {
    koan_model *m = c->model;
    (void)skip(c, 4);
    expect(c, c->status == KOAN_OK && word_at(m, 0) == 0x4e414f4bu, KOAN_NOT_KOAN, 0);
    expect(c, next_byte(c) == 1, KOAN_VERSION, 4);
    expect(c, c->end >= K_AT_MAPS, KOAN_TRUNCATED, K_AT_FLAGS);
    expect(c, c->end >= (uint32_t)K_AT_MAPS + K_TRAILER, KOAN_TRUNCATED, K_AT_MAPS);
    if (c->status != KOAN_OK) return;
    c->end -= K_TRAILER;
    (void)skip(c, K_AT_MAPS - K_AT_FLAGS);
    expect(c, is_intact(m), KOAN_CHECKSUM, 0);
    m->flags = byte_at(m, K_AT_FLAGS);
    m->inputs = half_at(m, K_AT_INPUTS);
    m->outputs = byte_at(m, K_AT_OUTPUTS);
    expect(c, m->flags < 8 && (m->outputs > 0 || !(m->flags & K_FLAG_CLASSES)), KOAN_FLAGS,
           K_AT_FLAGS);
    expect(c, m->inputs > 0, KOAN_BAD_INPUTS, K_AT_INPUTS);
    expect(c, K_INPUTS(m) == m->inputs, KOAN_NOT_BUILT, K_AT_INPUTS);
    expect(c, K_HAS(MAPS) || !(m->flags & K_FLAG_CHANNEL), KOAN_NOT_BUILT, K_AT_MAPS);
    const int maps = map_flags(m) != K_FLAG_CHANNEL || map_period(m) > 1;
    expect(c, maps && map_period(m) <= m->inputs, KOAN_INPUT_MAP, K_AT_MAPS);
    (void)skip(c, map_bytes(m));
}

static koan_status parse(koan_model *m, const uint8_t *blob, size_t size) {
    cursor c;
    memset(m, 0, sizeof *m);
    m->blob = blob;
    m->size = (uint32_t)size;
    m->limit = 32767;
    if (m->size != size) return KOAN_TOO_LONG;
    memset(&c, 0, sizeof c);
    c.model = m;
    c.end = m->size;
    check_header(&c);
    if (c.status != KOAN_OK) return c.status;
    uint32_t weights = check_banks(&c);
    m->head = c.at;
    if (m->outputs > 0) {
        uint32_t banks = (uint32_t)m->banks * m->outputs;
        (void)skip(&c, 5 + 4 * (uint32_t)m->outputs + (banks > 1 ? 2 * banks : 0));
        if (c.status == KOAN_OK) {
            expect(&c, is_positive(word_at(m, m->head)), KOAN_SCORE_SCALE, m->head);
            expect(&c, byte_at(m, m->head + 4) <= 40, KOAN_SCORE_SHIFT, m->head + 4);
        }
    }
    m->weights = skip(&c, weights);
    m->sections = c.at;
    check_sections(&c);
    expect(&c, logarithms_are_built(m), KOAN_NOT_BUILT, K_AT_MAPS);
    expect(&c, K_HAS(FEATURES) || m->outputs > 0, KOAN_NOT_BUILT, K_AT_OUTPUTS);
    expect(&c, check_word(seed_of(m)) == half_at(m, K_AT_CHECK_WORD), KOAN_GENERATOR,
           K_AT_CHECK_WORD);
    return c.status;
}

koan_status koan_parse(koan_model *m, const uint8_t *blob, size_t size) {
    const koan_status status = parse(m, blob, size);
    const uint32_t refused_at = m->refused_at;
    if (status == KOAN_OK) return KOAN_OK;
    /* What was read of it must not be run: it need not hold together. */
    memset(m, 0, sizeof *m);
    m->refused_at = refused_at;
    return status;
}

/* ---- Input maps ------------------------------------------------------------------------- */

static uint32_t extended(int16_t value) { return (uint32_t)(int32_t)value; }

static int32_t clamp(int32_t value, int32_t most) {
    return value > most ? most : value < -most ? -most : value;
}

/* magnitude * 2^exponent, rounded half up, saturated to 2^31 - 1; magnitude below 2^31. */
static uint32_t fixed_point(uint32_t magnitude, int16_t exponent) {
    if (exponent < 0) return exponent < -31 ? 0 : ((magnitude >> (-exponent - 1)) + 1) >> 1;
    if (exponent > 31) exponent = 31;
    return magnitude > 0x7fffffffu >> exponent ? 0x7fffffffu : magnitude << exponent;
}

/* L of magnitude * 2^exponent; magnitude below 2^24. */
static uint32_t logarithm(uint32_t magnitude, int16_t exponent) {
    static const int32_t c[10] KOAN_FLASH = {6,          1073740654, -536830372, 357361063,
                                             -264523392, 198307750,  -134504003, 71417231,
                                             -24737165,  4029350};
    uint64_t y = magnitude;
    int64_t p = (int32_t)K_TABLE_WORD(c, 9);
    int16_t e = (int16_t)(exponent + 63);
    if (exponent < 7) {
        /* Below 2^30 whatever the form of the number: 1 + |x| in units of 2^-32. */
        y = exponent >= -32 ? y << (exponent + 32) : exponent > -64 ? y >> (-exponent - 32) : 0;
        y += (uint64_t)1 << 32;
        e = 31;
    }
    for (; !(y >> 63); y <<= 1) e--;
    int64_t t = (int64_t)(y >> 33 & 0x3fffffffu);
    for (int16_t i = 8; i >= 0; i--)
        p = ((p * t + ((int32_t)1 << 29)) >> 30) + (int32_t)K_TABLE_WORD(c, i);
    return (uint32_t)(((e * (int64_t)2977044472u + 128) >> 8) + ((p + 32) >> 6));
}

typedef struct input_map {
    int32_t offset;
    int16_t shift;
    uint8_t logarithm, mult;
} input_map;

/* The map of a place in a period. */
static void read_map(const koan_model *m, uint16_t place, input_map *map) {
    const uint32_t at = map_at(m, place);
    const uint8_t kind = byte_at(m, at + 4);
    map->offset = (int32_t)word_at(m, at);
    map->shift = (int16_t)((kind & 127) - 64);
    map->logarithm = (uint8_t)(kind >> 7);
    map->mult = byte_at(m, at + 5 + (map_flags(m) == K_FLAG_GAIN_EACH ? place : 0));
}

/* q of +-magnitude * 2^exponent. */
static int16_t mapped(const input_map *map, int negative, uint32_t magnitude, int16_t exponent,
                      int16_t limit) {
    if (K_HAS(LOGARITHM) && map->logarithm) {
        magnitude = logarithm(magnitude, exponent);
        exponent = -24;
    }
    int32_t v = (int32_t)fixed_point(magnitude, (int16_t)(exponent + map->shift));
    if (negative) v = -v;
    int32_t c = (int32_t)((uint32_t)v - (uint32_t)map->offset);
    /* An overflow has the sign of v. */
    if (((v ^ map->offset) & (v ^ c)) < 0) c = v < 0 ? -0x7fffff : 0x7fffff;
    return (int16_t)clamp((clamp(c, 0x7fffff) * map->mult + ((int32_t)1 << 14)) >> 15, limit);
}

/* q of an f32, given by its bits. */
static int16_t mapped_float(const input_map *map, uint32_t bits, int16_t limit) {
    int negative = (bits & 0x80000000u) != 0;
    int16_t exponent = (int16_t)(bits >> 23 & 255);
    uint32_t magnitude = bits & 0x7fffff;
    if (exponent == 255) return (int16_t)(magnitude > 0 ? 0 : mapped(map, negative, 1, 128, limit));
    if (exponent == 0) exponent = 1;
    else magnitude |= 0x800000;
    return mapped(map, negative, magnitude, (int16_t)(exponent - 150), limit);
}

enum { K_ROW_I16, K_ROW_U8, K_ROW_F32 };

/* For a model of zeros, which was not parsed, nothing is. */
static int is_enough(const koan_memory *memory, const koan_model *m) {
    return m->size > 0 && memory->halves_length >= m->halves && memory->words_length >= m->words &&
           memory->sums_length >= m->outputs;
}

/* Those of a row, from number `first` on, that share a map. */
static K_APART void quantise_shared(const input_map *map, const void *row, uint8_t type,
                                    uint32_t first, uint16_t count, int16_t *q, int16_t limit) {
    const int16_t *words = type == K_ROW_I16 ? (const int16_t *)row + first : 0, *end = q + count;
    const uint8_t *bytes = type == K_ROW_U8 ? (const uint8_t *)row + first : 0;
    if (K_HAS(F32) && type == K_ROW_F32) {
        for (const float *x = (const float *)row + first; q < end; x++) {
            uint32_t bits;
            memcpy(&bits, x, sizeof bits);
            *q++ = mapped_float(map, bits, limit);
        }
        return;
    }
    const int32_t mult = map->mult;
    /* Integers from `least` on, so many and one, are on a line: nothing saturates where
     * (x * 2^shift - offset) * mult is within +-limit * 2^15 and the difference below 2^23. At
     * most 2^16 / mult and 512, by a step of Newton's from below: small cores do not divide. */
    const int32_t guess = 512 - mult;
    const int32_t inverse = mult > 128 ? (guess * (((int32_t)2 << 16) - mult * guess)) >> 16 : 512;
    const int32_t room = (limit * inverse) >> 1;
    const int is_line = !map->logarithm && map->shift >= 0 && map->shift <= 30 &&
                        clamp(map->offset, room) == map->offset;
    const int32_t least = is_line ? -((room - map->offset) >> map->shift) : 0x7fffffff;
    const uint32_t length = is_line ? (uint32_t)(((room + map->offset) >> map->shift) - least) : 0;
    const uint32_t slope = is_line ? (uint32_t)mult << map->shift : 0;
    const uint32_t constant = ((uint32_t)1 << 14) - (uint32_t)map->offset * (uint32_t)mult;
    while (q < end) {
        int32_t x = type == K_ROW_I16 ? *words++ : *bytes++;
        if ((uint32_t)x - (uint32_t)least <= length)
            *q++ = (int16_t)((int32_t)((uint32_t)x * slope + constant) >> 15);
        else *q++ = mapped(map, x < 0, (uint32_t)(x < 0 ? -x : x), 0, limit);
    }
}

/* Makes the integers q of a row, or says that the memory does not do. */
static koan_status quantise(const koan_model *m, const void *row, uint8_t type,
                            const koan_memory *memory) {
    const uint16_t period = map_period(m), count = (uint16_t)(map_flags(m) ? 1 : K_INPUTS(m));
    input_map map;
    if (!is_enough(memory, m)) return KOAN_MEMORY;
    for (uint32_t i = 0, place = 0; i < K_INPUTS(m); i += count, place++) {
        if (place == period) place = 0;
        read_map(m, (uint16_t)place, &map);
        quantise_shared(&map, row, type, i, count, memory->halves + (size_t)i, m->limit);
    }
    return KOAN_OK;
}

/* ---- What becomes of features ----------------------------------------------------------- */

/* Features that are weighed together; a multiple of 8, so that codes start with a byte. */
#define K_RUN 32

enum { K_TO_SCORES, K_TO_FEATURES, K_TO_CODES, K_TO_DIGEST };

/* A row on its way through the banks, and the bank that is at work. */
typedef struct job {
    const koan_model *model;
    const int16_t *q;
    uint32_t *words;
    uint16_t *halves;
    int64_t *sums;
    uint32_t column;          /* the first one of the run */
    uint8_t kind, log;        /* where features go; logarithm of a transform's length */
    uint8_t bits, odd, count; /* of the bank's weights; of the run */
    int8_t run[K_RUN];
    uint16_t *to; /* features or codes */
    uint32_t crc;
    uint32_t weights, row_bytes; /* of the bank */
    uint32_t multipliers;        /* of the bank; 0 where sums are multiplied at the end */
    const bank *of;
    indices list;
    uint64_t stream; /* of weights */
} job;

/* A model that has features only, or a caller who asks for them. */
#define K_GOES_TO(j, what) (K_HAS(FEATURES) ? (j)->kind == (what) : (what) == K_TO_SCORES)

/* Where the multipliers of a bank are. */
static uint32_t multipliers_of(const koan_model *m, uint8_t index) {
    return m->head + 5 + 4 * (uint32_t)m->outputs + 2 * (uint32_t)index * m->outputs;
}

/* The width of weights; a constant where macros leave just one. */
#define K_WIDTHS (K_HAS(BITS_2) + K_HAS(BITS_3) + K_HAS(BITS_4) + K_HAS(BITS_8) + K_HAS(BITS_16))
#define K_THE_WIDTH                                                                  \
    (2 * K_HAS(BITS_2) + 3 * K_HAS(BITS_3) + 4 * K_HAS(BITS_4) + 8 * K_HAS(BITS_8) + \
     16 * K_HAS(BITS_16))
#define K_BITS_OF(j) ((uint8_t)(K_WIDTHS == 1 ? K_THE_WIDTH : (j)->bits))

/* The sum of codes times features, one by one. */
static int32_t weigh(const uint8_t *codes, uint8_t bits, const int8_t *run, uint8_t count) {
    uint32_t word = 0, mask = K_BIT(bits) - 1;
    uint8_t left = 0;
    int32_t sum = 0;
    for (uint8_t i = 0; i < count; i++) {
        for (; left < bits; left = (uint8_t)(left + 8))
            word |= (uint32_t)K_BLOB_BYTE(codes++) << left;
        sum += (int32_t)(word & mask) * run[i];
        word >>= bits;
        left = (uint8_t)(left - bits);
    }
    return sum;
}

/* The codes of eight features: the first four from bit 0 on, the others from bit 16 on. */
static uint32_t lanes_of(const uint8_t *codes, uint8_t bits) {
    uint32_t word = 0;
    for (uint8_t i = 0; i < bits; i++) word |= (uint32_t)K_BLOB_BYTE(codes++) << (8 * i);
    return (word & (K_BIT(4 * bits) - 1)) | word >> (4 * bits) << 16;
}

/* The same for a run of K_RUN features and codes of at most 4 bits, two products at a time:
 * (a + b * 2^16) * (d + c * 2^16) has a * d in its low half, which is known by its sign, and
 * a * c + b * d above it. `pairs`: of each eight features i in the high and i + 4 in the low
 * half. The halves have room for the sums of 16 features. */
static K_APART int32_t weigh_pairs(const lanes_t *lanes, uint8_t bits, const uint32_t *pairs) {
    uint32_t mask = (K_BIT(bits) - 1) * 0x10001u, sum, now;
    int32_t total;
#define K_ADD_EIGHT(i)                                    \
    now = lanes[i];                                       \
    sum += (now & mask) * pairs[4 * i];                   \
    sum += (now >> bits & mask) * pairs[4 * i + 1];       \
    sum += (now >> (2 * bits) & mask) * pairs[4 * i + 2]; \
    sum += (now >> (3 * bits) & mask) * pairs[4 * i + 3]
    sum = 0;
    K_ADD_EIGHT(0);
    K_ADD_EIGHT(1);
    total = (int32_t)(sum - extended((int16_t)sum)) >> 16;
    sum = 0;
    K_ADD_EIGHT(2);
    K_ADD_EIGHT(3);
    return total + ((int32_t)(sum - extended((int16_t)sum)) >> 16);
}

/* Lays out the features of a whole run for them; gives their sum. */
static K_APART int32_t lay_out(const int8_t *run, uint32_t *pairs) {
    const int8_t *end = run + K_RUN;
    uint32_t total = 0, pair;
#define K_LAY_OUT(i)                                        \
    pair = (extended(run[i]) << 16) + extended(run[i + 4]); \
    total += pair;                                          \
    *pairs++ = pair
    for (; run < end; run += 8) {
        K_LAY_OUT(0);
        K_LAY_OUT(1);
        K_LAY_OUT(2);
        K_LAY_OUT(3);
    }
    /* As above: the sum of 16 features in each half. */
    return ((int32_t)(total - extended((int16_t)total)) >> 16) + (int16_t)total;
}

/* Adds the weighted features of the run, times factor, to the sums. */
static void add_run(job *j, int32_t factor) {
    const uint8_t bits = K_BITS_OF(j), paired = bits <= 4 && j->count == K_RUN;
    const uint8_t *codes = j->model->blob + (size_t)(j->weights + j->column / 8 * bits);
    const size_t step = (size_t)j->row_bytes;
    int64_t *sum = j->sums, *end = sum + j->model->outputs;
    uint32_t pairs[K_RUN / 2], multiplier = j->multipliers;
    int32_t total = 0;
    if (paired) total = lay_out(j->run, pairs);
    else
        for (uint8_t i = 0; i < j->count; i++) total += j->run[i];
    /* A code u stands for 2u - (2^bits - odd). */
    total *= (int32_t)K_BIT(bits) - j->odd;
    if (paired && bits == 4 && factor == 1 && multiplier == 0 && K_ARE_WORDS(codes) &&
        step % 4 == 0) {
        /* What is to be fast: one bank, words of codes. */
        for (; sum < end; sum++, codes += step)
            *sum += 2 * weigh_pairs((const lanes_t *)(const void *)codes, bits, pairs) - total;
        return;
    }
    for (; sum < end; sum++, codes += step) {
        lanes_t lanes[4];
        int32_t part;
        if (paired) {
            for (uint8_t i = 0; i < 4; i++) lanes[i] = lanes_of(codes + i * bits, bits);
            part = weigh_pairs(lanes, bits, pairs);
        } else part = weigh(codes, bits, j->run, j->count);
        part = 2 * part - total;
        *sum += (int64_t)part * factor * (multiplier > 0 ? half_at(j->model, multiplier) : 1);
        if (multiplier > 0) multiplier += 2;
    }
}

/* Hands a feature on where it is not weighed. */
static void put(job *j, int16_t feature) {
    if (K_GOES_TO(j, K_TO_FEATURES)) *j->to++ = (uint16_t)feature;
    else if (K_GOES_TO(j, K_TO_DIGEST)) j->crc = crc_of(j->crc, extended(feature), 2);
}

/* Ends the run. */
static void flush(job *j) {
    if (K_GOES_TO(j, K_TO_SCORES) && j->count > 0) add_run(j, 1);
    for (uint8_t i = 0; i < j->count; i++) put(j, j->run[i]);
    j->column += j->count;
    j->count = 0;
}

static void push(job *j, int8_t feature) {
    j->run[j->count++] = feature;
    if (j->count == K_RUN) flush(j);
}

static void push_code(job *j, uint16_t code) {
    if (K_GOES_TO(j, K_TO_CODES)) *j->to++ = code;
}

/* Of the next 2^log columns, log the bank's parameter, the one numbered `code` is 127, the others
 * are 0. */
static void push_one_hot(job *j, uint16_t code) {
    const koan_model *m = j->model;
    const uint8_t log = j->of->parameter;
    uint32_t column = j->column + code, bit = column * j->bits, at = j->weights + bit / 8;
    push_code(j, code);
    for (uint8_t i = 0; K_GOES_TO(j, K_TO_SCORES) && i < m->outputs; i++, at += j->row_bytes) {
        uint32_t word = byte_at(m, at);
        if ((bit & 7) + j->bits > 8) word |= (uint32_t)byte_at(m, at + 1) << 8;
        word = word >> (bit & 7) & (K_BIT(j->bits) - 1);
        int32_t weight = 127 * (2 * (int32_t)word - (int32_t)K_BIT(j->bits) + j->odd);
        j->sums[i] +=
            j->multipliers > 0 ? (int64_t)weight * half_at(m, j->multipliers + 2u * i) : weight;
    }
    if (K_GOES_TO(j, K_TO_FEATURES)) {
        memset(j->to, 0, sizeof *j->to << log);
        j->to[code] = 127;
        j->to += (size_t)1 << log;
    } else if (K_GOES_TO(j, K_TO_DIGEST)) j->crc = crc_of(j->crc, column, 4);
    j->column += K_BIT(log);
}

/* ---- Dense projections ------------------------------------------------------------------ */

/* bits modulo 2^32, as an i32, by a scale: wrap of the format. */
static int32_t wrapped(uint32_t z, uint8_t mult, uint8_t shift) {
    return (int32_t)(z * mult) >> shift;
}

/* Projection k by one of the laws gaussian, cauchy and sign of `count` inputs from `first`
 * on, modulo 2^32. */
static uint32_t project(const job *j, uint8_t law, uint32_t k, uint32_t first, uint16_t count) {
    uint8_t each = law == K_SIGN ? 64 : 8, place = (uint8_t)(first % each);
    uint64_t number = (uint64_t)k * (((uint32_t)j->model->inputs + each - 1u) / each) + first / each;
    uint64_t draw = draw_of(j->stream, number);
    const int16_t *q = j->q + (size_t)first;
    uint32_t z = 0;
    draw = law == K_SIGN ? draw << place : draw >> (8 * place);
    for (; count > 0; count--, q++, place++) {
        if (place == each) {
            place = 0;
            draw = draw_of(j->stream, ++number);
        }
        if (law == K_SIGN) {
            uint32_t n = extended(*q);
            z += draw >> 63 ? 0 - n : n;
            draw <<= 1;
        } else {
            int16_t weight = K_HAS(FOURIER) && law == K_CAUCHY_LAW ? cauchy((uint8_t)draw)
                                                                   : normal((uint8_t)draw);
            z += (uint32_t)((int32_t)weight * *q);
            draw >>= 8;
        }
    }
    return z;
}

/* ---- Hadamard transforms ---------------------------------------------------------------- */

/* Two stages of a transform on four numbers. */
#define K_TWO_STAGES(type, x0, x1, x2, x3)    \
    a = (type)(x0 + x1), b = (type)(x0 - x1); \
    c = (type)(x2 + x3), d = (type)(x2 - x3); \
    x0 = (type)(a + c);                       \
    x1 = (type)(b + d);                       \
    x2 = (type)(a - c);                       \
    x3 = (type)(b - d)

/* The transform of `length` numbers in place, at least 4, two stages a pass; the first pass has
 * no distance to keep. */
#define K_DEFINE_TRANSFORM(name, type)                                       \
    static K_APART void name(type *first, size_t length) {                   \
        type *const end = first + length, *x = first, *y, *last, a, b, c, d; \
        size_t h = 4;                                                        \
        do {                                                                 \
            K_TWO_STAGES(type, x[0], x[1], x[2], x[3]);                      \
        } while ((x += 4) < end);                                            \
        for (; 4 * h <= length; h *= 4) {                                    \
            x = first;                                                       \
            do {                                                             \
                last = x + h;                                                \
                y = last + h;                                                \
                do {                                                         \
                    K_TWO_STAGES(type, *x, x[h], *y, y[h]);                  \
                    y++;                                                     \
                } while (++x != last);                                       \
                x = y + h;                                                   \
            } while (x < end);                                               \
        }                                                                    \
        if (h == length) return;                                             \
        last = first + h;                                                    \
        do {                                                                 \
            a = *first, b = first[h];                                        \
            first[h] = (type)(a - b);                                        \
            *first++ = (type)(a + b);                                        \
        } while (first != last);                                             \
    }

K_DEFINE_TRANSFORM(transform, uint32_t)
K_DEFINE_TRANSFORM(transform_halves, uint16_t)

/* Signs from the draws of a stream, from number `next` on, the highest bit first. */
typedef struct signs {
    uint64_t stream, next;
    uint32_t now, later;
    uint8_t left;
} signs;

static void draw_signs(signs *s) {
    uint64_t draw = draw_of(s->stream, s->next++);
    s->now = (uint32_t)(draw >> 32);
    s->later = (uint32_t)draw;
    s->left = 64;
}

/* Those of block `number`, in which so many have a sign. */
static void start_signs(signs *s, uint64_t stream, uint32_t number, uint32_t count) {
    s->stream = stream;
    s->next = (uint64_t)number * ((count + 63) / 64);
    draw_signs(s);
}

/* Whether the next number is negative. */
static int next_sign(signs *s) {
    if (s->left == 0) draw_signs(s);
    if (s->left == 32) s->now = s->later;
    int negative = (int32_t)s->now < 0;
    s->now <<= 1;
    s->left--;
    return negative;
}

/* ---- Families --------------------------------------------------------------------------- */

/* Fills a block with the projections number `number` of inputs by a scale. */
#define K_DEFINE_PROJECT(name, type, transform)                                                 \
    static void name(const job *j, uint32_t number, uint8_t mult, uint8_t shift, type *block) { \
        const uint16_t inputs = K_INPUTS(j->model);                                             \
        const size_t length = (size_t)1 << j->log;                                              \
        signs s;                                                                                \
        start_signs(&s, j->stream, number, inputs);                                             \
        for (uint16_t i = 0; i < inputs; i++) {                                                 \
            type n = (type)wrapped(extended(j->q[i]), mult, shift);                             \
            block[i] = next_sign(&s) ? (type)(0u - n) : n;                                      \
        }                                                                                       \
        memset(block + inputs, 0, (length - inputs) * sizeof *block);                           \
        transform(block, length);                                                               \
    }
K_DEFINE_PROJECT(project_block, uint32_t, transform)
K_DEFINE_PROJECT(project_halves, uint16_t, transform_halves)

static K_APART void run_linear(job *j) {
    int8_t low[K_RUN];
    for (uint16_t left = j->of->features; left > 0; left--) {
        int16_t value = j->q[next_index(&j->list)];
        put(j, (int16_t)(value & ~1));
        low[j->count] = (int8_t)((value & 255) >> 1);
        j->run[j->count++] = (int8_t)(value >> 8);
        if (j->count < K_RUN && left > 1) continue;
        /* As two features of 8 bits. */
        if (K_GOES_TO(j, K_TO_SCORES)) {
            add_run(j, 256);
            memcpy(j->run, low, sizeof low);
            add_run(j, 2);
        }
        j->column += j->count;
        j->count = 0;
    }
}

/* The offsets b_k one after the other, in the upper halves. */
typedef struct offsets {
    uint32_t now, step, c;
} offsets;

/* From number k on; `draw`: draw 0 of the stream of offsets. */
static void start_offsets(offsets *o, uint64_t draw, uint32_t k) {
    uint32_t first = part_of(draw, 0) & 0xfff0u, a = part_of(draw, 1) & 0xfff0u;
    uint32_t c = part_of(draw, 2) & 0xfff0u;
    o->now = (first + a * k + c * (k * (k - 1) >> 1)) << 16;
    o->step = (a + c * k) << 16;
    o->c = c << 16;
}

static uint32_t next_offset(offsets *o) {
    uint32_t now = o->now;
    o->now += o->step;
    o->step += o->c;
    return now;
}

static uint64_t offset_draw(const job *j) {
    return draw_of(bank_stream(j->model, j->of, K_OF_OFFSETS), 0);
}

static K_APART void run_fourier_dense(job *j) {
    uint64_t draw = offset_draw(j);
    for (uint16_t left = j->of->features; left > 0; left--) {
        uint32_t k = next_index(&j->list), phase = 0;
        offsets o;
        group g = K_NO_GROUP;
        while (next_group(j->model, j->of, &g)) {
            if (g.law == K_LAW_NONE) continue;
            uint32_t z = project(j, g.law, k, g.first, g.inputs);
            phase += (uint32_t)wrapped(z, g.mult, g.shift);
        }
        start_offsets(&o, draw, k);
        push(j, cosine((phase << 16) + o.now));
    }
}

/* So many pairs of inputs, times `mult`, with their signs, the highest bit first. */
static K_APART void load_signed(const int16_t *q, uint32_t *words, size_t count, uint32_t mult,
                                uint32_t draw) {
    for (; count > 0; count--, q += 2, draw <<= 2) {
        uint32_t lower = (uint32_t)((int32_t)(extended(q[0]) * mult) >> 20);
        uint32_t upper = extended(q[1]) * mult >> 20 << 20;
        if ((int32_t)draw < 0) lower = 0 - lower;
        if ((int32_t)(draw << 1) < 0) upper = 0 - upper;
        *words++ = lower + upper;
    }
}

/* Fewer than 256 inputs: numbers have 12 bits, and two of them share a word, one in the low
 * 20 bits, the other above them. All stages but the first go over words: word i then stands
 * for phase 2i, the sum of its parts, and phase 2i + 1, their difference. The number behind the
 * last input is 0. */
static void load_pairs(const job *j, uint32_t number) {
    const uint16_t inputs = K_INPUTS(j->model);
    const uint64_t first = (uint64_t)number * ((inputs + 63u) / 64);
    const size_t length = (size_t)1 << (j->log - 1), pairs = (inputs + 1u) / 2;
    /* So that the 16 bits that the scale leaves are the upper ones. */
    const uint32_t mult = (uint32_t)j->of->mult << (16 - j->of->shift);
    uint64_t draw = 0;
    for (size_t i = 0; i < pairs; i += 16) {
        size_t count = pairs - i < 16 ? pairs - i : 16;
        if ((i & 31) == 0) draw = draw_of(j->stream, first + i / 32);
        load_signed(j->q + 2 * i, j->words + i, count, mult, (uint32_t)(draw >> 32));
        draw <<= 32;
    }
    for (size_t i = pairs; i < length; i++) j->words[i] = 0;
    transform(j->words, length);
}

/* The features of words, two of each; not none. */
static K_APART void cosines_of(offsets *o, const uint32_t *words, int8_t *run, const int8_t *end) {
    offsets next = *o;
    do {
        uint32_t word = *words++, lower = word << 20;
        *run++ = cosine(next_offset(&next) + lower + word);
        *run++ = cosine(next_offset(&next) + lower - word);
    } while (run != end);
    *o = next;
}

/* The phase at a place of a block, in the upper half. */
static uint32_t phase_at(const job *j, uint32_t place) {
    if (K_INPUTS(j->model) >= 256) return (uint32_t)j->halves[(size_t)place] << 16;
    uint32_t word = j->words[(size_t)(place / 2)];
    return (word << 20) + (place & 1 ? 0 - word : word);
}

static K_APART void run_fourier_hadamard(job *j) {
    const int paired = K_INPUTS(j->model) < 256, listed = K_HAS(LISTS) && j->list.bits > 0;
    uint64_t draw = offset_draw(j);
    uint32_t expected = K_NO_INDEX, block = K_NO_INDEX, count = 1;
    offsets o;
    if (paired) j->halves[0] = 0;
    for (uint32_t left = j->of->features; left > 0; left -= count) {
        uint32_t k = next_index(&j->list), place = k & (K_BIT(j->log) - 1);
        if (k >> j->log != block) {
            block = k >> j->log;
            if (paired) load_pairs(j, block);
            else project_halves(j, block, j->of->mult, j->of->shift, j->halves);
        }
        if (k != expected) {
            start_offsets(&o, draw, k);
            /* Gives the upper part back what the lower one's sign took. */
            o.now += paired ? K_BIT(19) : 0;
        }
        if (!listed) {
            /* As many as there is room for. */
            count = smaller(smaller(left, K_BIT(j->log) - place), (uint32_t)K_RUN - j->count);
            j->list.least += count - 1;
        }
        int8_t *run = j->run + j->count;
        if (paired && count > 1)
            cosines_of(&o, j->words + (size_t)(place / 2), run, run + ((count + 1) & ~1u));
        else
            for (uint32_t i = 0; i < count; i++)
                run[i] = cosine(next_offset(&o) + phase_at(j, place + i));
        j->count = (uint8_t)(j->count + count);
        if (j->count == K_RUN) flush(j);
        expected = k + count;
    }
}

/* Whether an input is above the threshold that a byte is drawn for. */
static int is_above(int16_t q, uint8_t byte, uint8_t law, uint8_t mult, uint8_t shift) {
    int32_t v = law == K_UNIFORM ? 2 * (int32_t)byte - 255 : normal(byte);
    return q > (v * mult) >> shift;
}

/* The group of input number `nth` of those that are not left out, and that input. */
static uint32_t find_input(const job *j, uint32_t nth, group *g) {
    *g = K_NO_GROUP;
    while (next_group(j->model, j->of, g)) {
        if (g->law == K_LAW_NONE) continue;
        if (nth < g->inputs) break;
        nth -= g->inputs;
    }
    return g->first + nth;
}

static K_APART void run_stump(job *j) {
    uint64_t stream = bank_stream(j->model, j->of, K_OF_CHOICES);
    uint32_t n = 0, last = 0;
    uint16_t first_byte = part_of(draw_of(stream, 2), 0);
    group g = K_NO_GROUP;
    while (next_group(j->model, j->of, &g)) n += g.law != K_LAW_NONE ? g.inputs : 0u;
    uint32_t place = (uint32_t)((uint64_t)(uint32_t)draw_of(stream, 0) * n >> 32);
    uint32_t step = (uint32_t)((uint64_t)(uint32_t)draw_of(stream, 1) * n >> 32);
    step = (40503u + (step << 16)) / n;
    for (uint16_t left = j->of->features; left > 0; left--) {
        uint32_t k = next_index(&j->list);
        uint8_t byte = (uint8_t)((first_byte + k * step) >> 8);
        place += k - last;
        last = k;
        if (place >= n) place -= n;
        if (place >= n) place %= n;
        /* The group was read above where there is just one. */
        uint32_t input = place;
        if (K_HAS(GROUPS) && j->of->group_count > 0) input = find_input(j, input, &g);
        push(j, is_above(j->q[input], byte, g.law, g.mult, g.shift) ? 127 : -127);
    }
}

static K_APART void run_bin(job *j) {
    const koan_model *m = j->model;
    uint64_t stream = j->stream, choices = bank_stream(m, j->of, K_OF_CHOICES);
    for (uint16_t left = j->of->features; left > 0; left--) {
        uint32_t k = next_index(&j->list);
        uint64_t next = (uint64_t)k * (((uint32_t)m->inputs + 3) / 4), draw = 0, cells = 0;
        uint64_t hash = draw_of(choices, k);
        group g = K_NO_GROUP;
        uint16_t i = 0;
        while (next_group(m, j->of, &g)) {
            for (; i < g.first + g.inputs; i++) {
                int32_t cell = 0;
                if ((i & 3) == 0) draw = draw_of(stream, next++);
                if (g.law != K_LAW_NONE) {
                    /* A product of 24 bits. */
                    int32_t x = j->q[i] * (int32_t)g.mult + (((int32_t)1 << g.shift) >> 1);
                    int32_t inverse = (int32_t)K_TABLE_HALF(K_RECIPROCAL_GAMMA2, (uint8_t)draw);
                    x = clamp(x >> g.shift, 32767);
                    cell = (x * inverse + ((int32_t)(draw >> 8 & 255) << 12)) >> 20;
                }
                draw >>= 16;
                cells |= (uint64_t)(uint16_t)cell << (16 * (i & 3));
                if ((i & 3) == 3 || i + 1u == m->inputs) {
                    hash = wyrng(hash ^ cells);
                    cells = 0;
                }
            }
        }
        push_one_hot(j, (uint16_t)(hash >> (64 - j->of->parameter)));
    }
}

static K_APART void run_fern(job *j) {
    const bank *b = j->of;
    uint64_t stream = bank_stream(j->model, b, K_OF_CHOICES);
    for (uint16_t left = b->features; left > 0; left--) {
        uint64_t draw = draw_of(stream, next_index(&j->list));
        uint16_t code = 0;
        for (uint8_t place = 0; place < b->parameter; place++) {
            uint32_t p = (uint32_t)(uint16_t)draw * j->model->inputs;
            if (is_above(j->q[p >> 16], (uint8_t)(p >> 8), b->law, b->mult, b->shift))
                code = (uint16_t)(code | 1u << place);
            draw >>= 16;
        }
        push_one_hot(j, code);
    }
}

/* Projections of maxout units and sigmoids: the draw of choices that is at hand, and its number;
 * under hadamard that of the block in memory. */
typedef struct projections {
    uint64_t choices, draw;
    uint32_t block, a, c, e; /* the order of its rows */
} projections;

/* Projection n; under hadamard in the scrambled order. */
static int32_t projection(const job *j, projections *p, uint32_t n) {
    if (!by_hadamard(j->of)) return (int32_t)project(j, j->of->law, n, 0, j->model->inputs);
    uint32_t block = n >> j->log, i = n & (K_BIT(j->log) - 1);
    if (block != p->block) {
        p->block = block;
        p->draw = draw_of(p->choices, block);
        p->a = part_of(p->draw, 0) | 1;
        p->c = part_of(p->draw, 1);
        p->e = part_of(p->draw, 2);
        project_block(j, block, 1, 0, j->words);
    }
    i = (p->c + p->a * i + 2 * p->e * (i * i)) & (K_BIT(j->log) - 1);
    return (int32_t)j->words[(size_t)i];
}

/* z by a scale, rounded, saturated to +-127: round8 of the format. */
static int8_t rounded(int32_t z, const bank *b) {
    int64_t x = ((int64_t)z * b->mult + (int64_t)(((uint32_t)1 << b->shift) >> 1)) >> b->shift;
    return (int8_t)(x > 127 ? 127 : x < -127 ? -127 : x);
}

/* Fills words with the pool that all units share. */
static void fill_pool(const job *j) {
    const uint8_t log = by_hadamard(j->of) ? j->log : 0;
    for (uint32_t i = 0; i < j->of->shared; i += K_BIT(log)) {
        uint32_t *words = j->words + (size_t)i;
        if (by_hadamard(j->of)) project_block(j, i >> log, 1, 0, words);
        else *words = project(j, j->of->law, i, 0, j->model->inputs);
    }
}

/* Number n of those that are chosen from a pool. */
static int32_t chosen(const job *j, projections *p, uint32_t n) {
    if (n / 4 != p->block) {
        p->block = n / 4;
        p->draw = draw_of(p->choices, n / 4);
    }
    return (int32_t)j->words[(uint32_t)part_of(p->draw, n & 3) * j->of->shared >> 16];
}

static K_APART void run_maxout(job *j) {
    const bank *b = j->of;
    projections p = {bank_stream(j->model, b, K_OF_CHOICES), 0, K_NO_INDEX, 0, 0, 0};
    fill_pool(j);
    for (uint16_t left = b->features; left > 0; left--) {
        uint32_t n = next_index(&j->list) * b->parameter;
        int32_t most = 0;
        uint8_t code = 0;
        for (uint8_t i = 0; i < b->parameter; i++) {
            int32_t z = b->shared > 0 ? chosen(j, &p, n + i) : projection(j, &p, n + i);
            if (i == 0 || z > most) {
                most = z;
                code = i;
            }
        }
        push_code(j, code);
        push(j, rounded(most, b));
    }
}

static K_APART void run_sigmoid(job *j) {
    const bank *b = j->of;
    uint64_t stream = bank_stream(j->model, b, K_OF_OFFSETS), draw = 0;
    uint32_t drawn = K_NO_INDEX;
    projections p = {bank_stream(j->model, b, K_OF_CHOICES), 0, K_NO_INDEX, 0, 0, 0};
    for (uint16_t left = b->features; left > 0; left--) {
        uint32_t k = next_index(&j->list);
        if (k / 8 != drawn) {
            drawn = k / 8;
            draw = draw_of(stream, drawn);
        }
        int32_t bias = normal((uint8_t)(draw >> (8 * (k & 7))));
        bias *= b->law == K_GAUSSIAN ? 2048 : 46;
        int8_t v = rounded(projection(j, &p, k) + bias, b);
        int16_t value = K_TABLE_BYTE(K_SIGMOID_TABLE, v < 0 ? -v : v);
        push(j, (int8_t)(v < 0 ? -value : value));
    }
}

/* The first position of a cell. */
static uint32_t start_of_cell(uint32_t positions, uint8_t cells, uint32_t cell) {
    return (cell * positions + cells - 1) / cells;
}

/* Fills words with the sums t of the window at position (y, x). */
static void fold_window(const job *j, const conv *c, uint32_t y, uint32_t x, signs s) {
    uint32_t *words = j->words, mask = K_BIT(c->log) - 1, place = 0;
    uint32_t step = c->channels * c->dilation, line = (uint32_t)c->along.length * c->channels;
    uint32_t row = (y * line + x * c->channels) * c->stride;
    const uint8_t mult = j->of->mult, shift = j->of->shift;
    for (uint32_t i = 0; i <= mask; i++) words[i] = 0;
    for (uint8_t u = 0; u < c->down.kernel; u++, row += line * c->dilation) {
        uint32_t at = row;
        for (uint8_t v = 0; v < c->along.kernel; v++, at += step) {
            const int16_t *q = j->q + (size_t)at;
            for (uint8_t channel = 0; channel < c->channels; channel++, place++) {
                uint32_t n = (uint32_t)wrapped(extended(q[channel]), mult, shift);
                n &= ~(uint32_t)15;
                words[place & mask] += next_sign(&s) ? 0 - n : n;
            }
        }
    }
}

/* Sums up the values of all filters of a block over a cell, behind the words of a transform;
 * gives the positions of the largest cell. */
static uint32_t sum_cell(const job *j, const conv *c, uint64_t draw, uint32_t cell) {
    uint32_t length = K_BIT(c->log), *words = j->words, *sums = words + length;
    uint8_t across = c->down.cells, cells = c->along.cells;
    uint16_t down = positions_of(&c->down, c->stride, c->dilation);
    uint16_t along = positions_of(&c->along, c->stride, c->dilation);
    uint32_t y_end = start_of_cell(down, across, cell / cells + 1);
    uint32_t x_end = start_of_cell(along, cells, cell % cells + 1);
    signs s;
    start_signs(&s, j->stream, c->block, taps_of(c));
    for (uint32_t row = 0; row < length; row++) sums[row] = 0;
    for (uint32_t y = start_of_cell(down, across, cell / cells); y < y_end; y++) {
        for (uint32_t x = start_of_cell(along, cells, cell % cells); x < x_end; x++) {
            offsets o;
            fold_window(j, c, y, x, s);
            transform(words, (size_t)length);
            start_offsets(&o, draw, c->block << c->log);
            for (uint32_t row = 0; row < length; row++) {
                /* A mode of the family that has other values has its place here. */
                uint32_t phase = next_offset(&o) + (words[row] << 16);
                sums[row] += extended(c->proportion ? (phase >> 31 ? 0 : 127) : cosine(phase));
            }
        }
    }
    return start_of_cell(down, across, 1) * start_of_cell(along, cells, 1);
}

static K_APART void run_conv(job *j) {
    conv c;
    uint64_t draw = offset_draw(j);
    uint32_t first = 0, end = 0, dilations = 1, inverse = 0;
    (void)read_conv(j->model, j->of->parameters, &c);
    uint32_t of_block = (uint32_t)c.cells << c.log, features = j->of->features;
    uint32_t filters = is_listed(j->of) ? K_NO_INDEX : features / c.cells;
    while (c.dilated && has_positions(&c, K_BIT(dilations))) dilations++;
    for (; features > 0; features--) {
        uint32_t k = next_index(&j->list);
        if (k >= end) {
            c.block = k / of_block;
            c.dilation = K_BIT(c.block % dilations);
            uint32_t rows = smaller(K_BIT(c.log), filters - (c.block << c.log));
            uint32_t cell = (k - c.block * of_block) / rows;
            first = c.block * of_block + cell * rows;
            end = first + rows;
            inverse = 65536u / sum_cell(j, &c, draw, cell);
        }
        int32_t sum = (int32_t)j->words[(size_t)(K_BIT(c.log) + (k - first))];
        push(j, (int8_t)((sum * (int32_t)inverse + ((int32_t)1 << 15)) >> 16));
    }
}

/* The sample or difference at a place, multiplied and saturated. */
static int32_t slid(const series *s, uint32_t place) {
    const int16_t *at = s->q + (size_t)(place * s->channels);
    int32_t value = *at;
    if (s->difference) value = at[(size_t)(s->dilation * s->channels)] - value;
    return clamp(value * s->factor >> s->shift, 32767);
}

/* Prepares them for block `number`. */
static void start_block(series *s, const job *j, uint32_t number) {
    uint8_t log = (uint8_t)(number % s->dilations);
    uint32_t turn = number / s->dilations;
    s->difference = turn & 1;
    int16_t level = level_of(j->model, j->of->parameters + 3 + 2u * s->difference, log);
    s->q = j->q + (size_t)((turn >> 1) % s->channels);
    s->dilation = K_BIT(log);
    s->positions = s->length - (s->difference ? s->dilation : 0);
    s->factor = (int32_t)(16 + (level & 15)) * 64;
    s->shift = (uint8_t)(15 - (level >> 4));
}

/* Counts for each filter of a block the positions at which its sum and its offset are not
 * negative, behind the words of a transform. */
static void count_positions(const series *s, uint64_t draw, offsets first, uint32_t *words) {
    uint32_t *counts = words + 8, before = (s->kernel - 1u) * s->dilation / 2;
    for (uint8_t row = 0; row < 8; row++) counts[row] = 0;
    for (uint32_t y = 0; y < s->positions; y++) {
        offsets o = first;
        for (uint8_t row = 0; row < 8; row++) words[row] = 0;
        for (uint8_t v = 0; v < s->kernel; v++) {
            uint32_t place = y + v * s->dilation;
            if (place >= before && place - before < s->positions) {
                uint32_t n = (uint32_t)slid(s, place - before);
                words[v & 7] += draw >> (63 - v) & 1 ? 0 - n : n;
            }
        }
        transform(words, 8);
        for (uint8_t row = 0; row < 8; row++) {
            int32_t offset = (int32_t)next_offset(&o) >> 16;
            if ((int32_t)words[row] + offset >= 0) counts[row]++;
        }
    }
}

static K_APART void run_series(job *j) {
    series s;
    uint64_t draw = offset_draw(j);
    uint32_t counted = K_NO_INDEX;
    (void)read_series(j->model, j->of->parameters, &s);
    s.positions = 1;
    for (uint16_t left = j->of->features; left > 0; left--) {
        uint32_t k = next_index(&j->list), number = k / 8;
        if (number != counted) {
            offsets o;
            start_offsets(&o, draw, number * 8);
            start_block(&s, j, number);
            count_positions(&s, draw_of(j->stream, number), o, j->words);
            counted = number;
        }
        k = (508 * j->words[(size_t)(8 + (k & 7))] + s.positions) / (2 * s.positions);
        push(j, (int8_t)((int16_t)k - 127));
    }
}

/* ---- Head ------------------------------------------------------------------------------- */

/* Makes the features of all banks of the row whose integers are in memory. */
static void run_banks(job *j, const koan_model *m, const koan_memory *memory) {
    uint32_t at = K_AT_MAPS + map_bytes(m);
    bank b;
    j->of = &b;
    j->model = m;
    j->q = memory->halves;
    j->words = memory->words;
    j->halves = (uint16_t *)(memory->halves + m->inputs);
    j->sums = memory->sums;
    j->log = transform_log(K_INPUTS(m));
    j->weights = m->weights;
    for (uint8_t i = 0; i < m->outputs; i++) j->sums[i] = 0;
    for (uint8_t index = 0; index < m->banks; index++, at = b.next) {
        read_bank(m, at, index, &b);
        j->stream = bank_stream(m, &b, K_OF_WEIGHTS);
        start_indices(&j->list, m, &b);
        j->row_bytes = row_bytes(&b);
        j->column = 0;
        j->count = 0;
        j->bits = bits_of(&b);
        j->odd = (b.options & K_OPTION_ODD) != 0;
        j->multipliers = m->banks > 1 ? multipliers_of(m, index) : 0;
        if (b.family == K_LINEAR && K_HAS(LINEAR)) run_linear(j);
        else if (b.family == K_FOURIER && K_HAS(FOURIER) && by_hadamard(&b))
            run_fourier_hadamard(j);
        else if (b.family == K_FOURIER && K_HAS(FOURIER)) run_fourier_dense(j);
        else if (b.family == K_STUMP && K_HAS(STUMP)) run_stump(j);
        else if (b.family == K_BIN && K_HAS(BIN)) run_bin(j);
        else if (b.family == K_MAXOUT && K_HAS(MAXOUT)) run_maxout(j);
        else if (b.family == K_SIGMOID && K_HAS(SIGMOID)) run_sigmoid(j);
        else if (b.family == K_CONV && K_HAS(CONV)) run_conv(j);
        else if (b.family == K_SERIES && K_HAS(SERIES)) run_series(j);
        else if (K_HAS(FERN)) run_fern(j);
        /* Without families that push there is nothing to weigh in runs. */
        if (K_ALL_BUILT & K_PUSHING) flush(j);
        j->weights += j->row_bytes * m->outputs;
    }
}

/* The score of an output whose sum is complete. INT32_MAX is not in the headers of every compiler
 * for C++. */
static int32_t score_of(const koan_model *m, const koan_memory *memory, uint8_t output) {
    uint8_t shift = byte_at(m, m->head + 4);
    int64_t sum = memory->sums[output];
    if (m->banks == 1 && m->outputs > 1) sum *= half_at(m, multipliers_of(m, 0) + 2u * output);
    sum = (sum + (((int64_t)1 << shift) >> 1)) >> shift;
    sum = sum > 0x7fffffff ? 0x7fffffff : sum < -0x7fffffff ? -0x7fffffff - 1 : sum;
    sum += (int32_t)word_at(m, m->head + 5 + 4 * (uint32_t)output);
    return (int32_t)(sum > 0x7fffffff ? 0x7fffffff : sum < -0x7fffffff ? -0x7fffffff - 1 : sum);
}

/* Makes the integers of a row and runs the banks on them. */
static koan_status run(const koan_model *m, const void *row, uint8_t type, uint8_t kind, void *to,
                       const koan_memory *memory) {
    koan_status status = quantise(m, row, type, memory);
    job j;
    j.kind = kind;
    j.to = (uint16_t *)to;
    if (status == KOAN_OK) run_banks(&j, m, memory);
    return status;
}

static koan_status scores(const koan_model *m, const void *row, uint8_t type, uint8_t kind,
                          int32_t *out, const koan_memory *memory) {
    if (m->outputs == 0) return KOAN_UNSUITED;
    koan_status status = run(m, row, type, kind, NULL, memory);
    for (uint8_t i = 0; i < m->outputs && status == KOAN_OK; i++) out[i] = score_of(m, memory, i);
    return status;
}

static koan_status classify(const koan_model *m, const void *row, uint8_t type, uint8_t kind,
                            uint8_t *class_, const koan_memory *memory) {
    if (!(m->flags & K_FLAG_CLASSES)) return KOAN_UNSUITED;
    koan_status status = run(m, row, type, kind, NULL, memory);
    if (status != KOAN_OK) return status;
    int32_t best = score_of(m, memory, 0);
    *class_ = (uint8_t)(m->outputs == 1 && best > 0);
    for (uint8_t i = 1; i < m->outputs; i++) {
        int32_t score = score_of(m, memory, i);
        if (score > best) {
            best = score;
            *class_ = i;
        }
    }
    return KOAN_OK;
}

/* A function of the interface, by one of those above, for rows of a type. */
#define K_DEFINE(name, by, kind, result, suffix, type, row_type)                          \
    koan_status koan_##name##_##suffix(const koan_model *m, const type *row, result *out, \
                                       const koan_memory *memory) {                       \
        return by(m, row, row_type, kind, out, memory);                                   \
    }
#if K_HAS(F32)
#define K_DEFINE_F32(name, by, kind, result) K_DEFINE(name, by, kind, result, f32, float, K_ROW_F32)
#else
#define K_DEFINE_F32(name, by, kind, result)
#endif
#define K_DEFINE_ALL(name, by, kind, result)                  \
    K_DEFINE(name, by, kind, result, i16, int16_t, K_ROW_I16) \
    K_DEFINE(name, by, kind, result, u8, uint8_t, K_ROW_U8)   \
    K_DEFINE_F32(name, by, kind, result)
K_DEFINE_ALL(scores, scores, K_TO_SCORES, int32_t)
K_DEFINE_ALL(classify, classify, K_TO_SCORES, uint8_t)
#if K_HAS(FEATURES)
K_DEFINE_ALL(features, run, K_TO_FEATURES, int16_t)
K_DEFINE_ALL(codes, run, K_TO_CODES, uint16_t)

/* Columns, or codes, of all banks. */
static uint32_t count_of(const koan_model *m, int codes) {
    uint32_t at = K_AT_MAPS + map_bytes(m), count = 0;
    bank b;
    for (uint8_t index = 0; index < m->banks; index++, at = b.next) {
        read_bank(m, at, index, &b);
        if (!codes) count += columns_of(&b);
        else if (b.family == K_MAXOUT || is_one_hot(&b)) count += b.features;
    }
    return count;
}

uint32_t koan_feature_count(const koan_model *model) { return count_of(model, 0); }

uint32_t koan_code_count(const koan_model *model) { return count_of(model, 1); }
#endif

/* ---- Self test -------------------------------------------------------------------------- */

/* Draws row `number` of the golden digest. */
static void draw_golden(const koan_model *m, uint8_t number, int16_t *q) {
    uint64_t stream = stream_of(seed_of(m), 0xfffffffeu), draw = 0;
    uint32_t n = (uint32_t)number * m->inputs;
    for (uint16_t i = 0; i < m->inputs; i++, n++) {
        if (i == 0 || (n & 3) == 0) draw = draw_of(stream, n / 4);
        q[i] = (int16_t)clamp((int16_t)part_of(draw, n & 3) >> (2 * number), m->limit);
    }
}

koan_status koan_digest(const koan_model *m, uint32_t *digest, const koan_memory *memory) {
    job j;
    if (!is_enough(memory, m)) return KOAN_MEMORY;
    j.crc = 0xffffffffu;
    j.kind = K_HAS(FEATURES) && m->outputs == 0 ? K_TO_DIGEST : K_TO_SCORES;
    for (uint8_t number = 0; number < 4; number++) {
        draw_golden(m, number, memory->halves);
        run_banks(&j, m, memory);
        for (uint8_t i = 0; i < m->outputs; i++)
            j.crc = crc_of(j.crc, (uint32_t)score_of(m, memory, i), 4);
    }
    *digest = ~j.crc;
    return KOAN_OK;
}

/* Whether the golden rows of the blob have the scores that lie beside them. */
static int golden_rows_hold(const koan_model *m, const koan_memory *memory) {
    uint16_t length;
    const uint8_t *bytes = koan_section(m, KOAN_SECTION_GOLDEN_ROWS, &length);
    job j;
    input_map map;
    if (!bytes) return 1;
    j.kind = K_TO_SCORES;
    for (uint32_t at = (uint32_t)(bytes - m->blob), end = at + length; at < end;) {
        for (uint16_t i = 0, place = 0; i < m->inputs; i++, place++, at += 4) {
            if (place == map_period(m)) place = 0;
            read_map(m, place, &map);
            memory->halves[i] = mapped_float(&map, word_at(m, at), m->limit);
        }
        run_banks(&j, m, memory);
        for (uint16_t i = 0; i < m->outputs; i++, at += 4)
            if ((uint32_t)score_of(m, memory, (uint8_t)i) != word_at(m, at)) return 0;
    }
    return 1;
}

koan_status koan_self_test(const koan_model *m, const koan_memory *memory) {
    uint32_t digest;
    /* First: a bank whose bytes are damaged leads out of the memory. */
    if (!is_intact(m)) return KOAN_CHECKSUM;
    koan_status status = koan_digest(m, &digest, memory);
    if (status != KOAN_OK) return status;
    if (digest != word_at(m, m->size - K_TRAILER)) return KOAN_DIGEST;
    if (K_HAS(F32) && !golden_rows_hold(m, memory)) return KOAN_GOLDEN_ROW;
    return KOAN_OK;
}

/* ---- Sections and what scores mean ------------------------------------------------------ */

uint16_t koan_class_count(const koan_model *m) {
    if (!(m->flags & K_FLAG_CLASSES)) return 0;
    return (uint16_t)(m->outputs == 1 ? 2 : m->outputs);
}

const uint8_t *koan_section(const koan_model *m, uint8_t tag, uint16_t *length) {
    for (uint32_t at = m->sections; at + K_TRAILER < m->size; at += 3 + (uint32_t)*length) {
        *length = half_at(m, at + 1);
        if (byte_at(m, at) == tag) return m->blob + (size_t)at + 3;
    }
    *length = 0;
    return NULL;
}

const uint8_t *koan_class_name(const koan_model *m, uint8_t class_, uint16_t *length) {
    uint16_t left;
    const uint8_t *name = koan_section(m, KOAN_SECTION_NAMES, &left);
    *length = 0;
    if (!name || class_ >= koan_class_count(m)) return NULL;
    for (; class_ > 0; left--, name++)
        if (K_BLOB_BYTE(name) == '\n') class_--;
    while (*length < left && K_BLOB_BYTE(name + *length) != '\n') ++*length;
    return name;
}

/* The f32 at `at`. */
static float float_at(const koan_model *m, uint32_t at) {
    uint32_t bits = word_at(m, at);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float koan_value(const koan_model *m, int32_t score) {
    return (float)score * (m->outputs > 0 ? float_at(m, m->head) : 1);
}

#if K_HAS(PROBABILITIES)
#include <math.h>
koan_status koan_probabilities(const koan_model *m, const int32_t *scores, float *probabilities) {
    uint16_t length;
    const uint8_t *calibration = koan_section(m, KOAN_SECTION_CALIBRATION, &length);
    float intercept = 0, sum = 0;
    if (!(m->flags & K_FLAG_CLASSES) || (m->outputs == 1 && !calibration)) return KOAN_UNSUITED;
    int32_t highest = scores[0];
    float scale = float_at(m, m->head);
    if (calibration) {
        uint32_t at = (uint32_t)(calibration - m->blob);
        scale *= float_at(m, at);
        intercept = float_at(m, at + 4);
    }
    if (m->outputs == 1) {
        float z = (float)scores[0] * scale + intercept;
        /* The exponential of the smaller side: nothing overflows. */
        float small = expf(z > 0 ? -z : z);
        probabilities[z > 0] = 1 / (1 + small);
        probabilities[z <= 0] = small / (1 + small);
        return KOAN_OK;
    }
    for (uint8_t i = 0; i < m->outputs; i++) highest = scores[i] > highest ? scores[i] : highest;
    for (uint8_t i = 0; i < m->outputs; i++) {
        probabilities[i] = expf((float)((int64_t)scores[i] - highest) * scale);
        sum += probabilities[i];
    }
    for (uint8_t i = 0; i < m->outputs; i++) probabilities[i] /= sum;
    return KOAN_OK;
}
#endif

#if K_HAS(TEXT)
const char *koan_status_text(koan_status status) {
#define K_TEXT(name, text) text,
    static const char *const texts[] = {KOAN_STATUSES(K_TEXT)};
    return (unsigned)status < sizeof texts / sizeof *texts ? texts[status] : "unknown status";
}
#endif
