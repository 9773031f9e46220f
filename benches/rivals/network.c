/* A network of 8-bit integers, as network.py packs it. */
#include <stdint.h>

static int16_t buffers[2][256];

/* The class of a row; the last layer's sum, in a regression. */
int32_t predict(const uint8_t *model, const int16_t *row)
{
    unsigned inputs = model[0] + 1, outputs = model[1], depth = model[2], flags = model[3];
    const uint8_t *hidden = model + 4, *at = hidden + depth;
    for (unsigned i = 0; i < inputs; i++) {
        int32_t value = row[i] - (int16_t)(at[0] | at[1] << 8);
        value = value * (16 + (at[2] & 15)) * 4 >> (at[2] >> 4);
        buffers[0][i] = value < -128 ? -128 : value > 127 ? 127 : value;
        at += flags & 2 && i + 1 < inputs ? 0 : 3;
    }
    for (unsigned layer = 0;; layer++) {
        unsigned last = layer == depth, count = last ? outputs : hidden[layer], up = *at++;
        const int16_t *in = buffers[layer & 1];
        int16_t *out = buffers[~layer & 1];
        const uint8_t *factor = at;
        at += last ? 0 : flags & 1 ? 2 * count : 2;
        const uint8_t *bias = at;
        const int8_t *weight = (const int8_t *)(at + 2 * count);
        int32_t largest = 0;
        unsigned best = 0;
        for (unsigned i = 0; i < count; i++, bias += 2) {
            int32_t sum = (int32_t)((uint32_t)(int16_t)(bias[0] | bias[1] << 8) << up);
            for (unsigned j = 0; j < inputs; j++) {
                sum += in[j] * *weight++;
            }
            if (last) {
                if (i == 0 || sum > largest) {
                    largest = sum, best = i;
                }
                continue;
            }
            sum = sum < 0 ? 0 : sum > 0xffffff ? 0xffffff : sum;
            uint32_t value = (uint32_t)sum * factor[0] >> factor[1];
            factor += flags & 1 ? 2 : 0;
            out[i] = value > 255 ? 255 : value;
        }
        if (last) {
            /* Scale and mean follow a regression's weights. */
            return outputs > 1 ? (int32_t)best : flags & 4 ? largest : largest > 0;
        }
        at = (const uint8_t *)weight;
        inputs = count;
    }
}
