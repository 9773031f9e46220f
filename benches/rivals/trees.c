/* Boosted trees from a stream of bits, as trees.py packs them. */
#include <stdint.h>

static const uint8_t *stream;
static uint32_t at;

static uint32_t get(unsigned width)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++, at++) {
        value |= (uint32_t)(stream[at >> 3] >> (at & 7) & 1) << i;
    }
    return value;
}

static int32_t get_signed(unsigned width)
{
    uint32_t value = get(width), sign = width ? 1u << (width - 1) : 0;
    return (int32_t)(value ^ sign) - (int32_t)sign;
}

static uint8_t eight, threshold_bits, has_sign, index_bits, deepest, bare_roots, leaf_bits;
static uint8_t feature_bits, count_bits;
static uint32_t features_at, thresholds_at;
static const int16_t *row;

/* Whether a row goes left at a pair of feature and threshold. */
static int goes_left(uint32_t index)
{
    uint32_t back = at, feature, rest = index;
    int32_t value;
    at = features_at;
    for (;;) {
        feature = get(feature_bits);
        uint32_t count = get(count_bits) + 1;
        value = row[feature];
        if (eight) {
            value -= get_signed(16);
            value >>= get(4);
        }
        if (rest < count) {
            break;
        }
        rest -= count;
    }
    at = thresholds_at + index * threshold_bits;
    int left = value <= (has_sign ? get_signed(threshold_bits) : (int32_t)get(threshold_bits));
    at = back;
    return left;
}

/* The leaf that the row comes to; all of the tree is read, as nothing tells where it ends. */
static uint32_t leaf(unsigned level)
{
    if (level == deepest || ((level || bare_roots) && !get(1))) {
        return get(leaf_bits);
    }
    int left = goes_left(get(index_bits));
    uint32_t first = leaf(level + 1), second = leaf(level + 1);
    return left ? first : second;
}

/* The class of a row; the sum of the leaves, in a regression. */
int32_t predict(const uint8_t *model, const int16_t *inputs)
{
    int32_t scores[31];
    stream = model, row = inputs, at = 0;
    uint32_t outputs = get(5), most = get(8), trees = get(12), used = get(8);
    count_bits = get(4), eight = get(1), threshold_bits = get(5), has_sign = get(1);
    index_bits = get(4), deepest = get(5), bare_roots = get(1), leaf_bits = get(4);
    uint32_t table = get(1), regression = get(1);
    for (feature_bits = 0; most >> feature_bits; feature_bits++) {
    }
    for (uint32_t i = 0; i < outputs; i++) {
        scores[i] = regression ? 0 : get_signed(16);
    }
    at += regression ? 64 : 0; /* scale and mean, for who wants real units */
    uint32_t table_at = at;
    at += table ? 8u << leaf_bits : 0;
    features_at = thresholds_at = at;
    for (uint32_t i = 0, pairs = 0; i <= used; i++) {
        if (i == used) {
            thresholds_at = at;
            at += pairs * threshold_bits;
            break;
        }
        get(feature_bits);
        pairs += get(count_bits) + 1;
        at += eight ? 20 : 0;
    }
    for (uint32_t i = 0, output = 0; i < trees; i++) {
        uint32_t value = leaf(0), back = at, sign = 1u << (leaf_bits - 1);
        if (table) {
            at = table_at + 8 * value;
            scores[output] += get_signed(8);
            at = back;
        } else {
            scores[output] += (int32_t)(value ^ sign) - (int32_t)sign;
        }
        output = output + 1 == outputs ? 0 : output + 1;
    }
    if (outputs == 1) {
        return regression ? scores[0] : scores[0] > 0;
    }
    uint32_t best = 0;
    for (uint32_t i = 1; i < outputs; i++) {
        best = scores[i] > scores[best] ? i : best;
    }
    return best;
}
