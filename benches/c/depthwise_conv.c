// A depthwise layer of a quantised network: each channel is filtered for itself. For BLOCK channels at a
// time weights and pixels are laid out in pairs of neighbouring columns, pixels for the rows that are
// seen at once; what the zero of the input takes away is part of the bias.
#include <stdlib.h>
#include "fixed_point.h"
#include "pairs.h"

enum { PLACES = 4, VECTORS = 2, BLOCK = VECTORS * LANES };

// Channel l of vector j is channel j * LANES + l, if there are so many; others may hold anything.
static inline void pack(long channels, const uint8_t *restrict first, const uint8_t *restrict second, int16_t zero,
                        paired packed[VECTORS]) {
    if (channels == BLOCK)
        for (long j = 0; j < VECTORS; j++, first += LANES, second += LANES)
            VECTOR for (long l = 0; l < LANES; l++)
                packed[j].v[l][0] = first[l] - zero, packed[j].v[l][1] = second[l] - zero;
    else
        for (long l = 0; l < channels; l++) {
            packed[l / LANES].v[l % LANES][0] = first[l] - zero;
            packed[l / LANES].v[l % LANES][1] = second[l] - zero;
        }
}

void depthwise_conv(long n, long h, long w, long c, long fh, long fw, uint8_t in_zero, uint8_t filter_zero,
                    int32_t multiplier, int32_t shift, uint8_t out_zero, uint8_t low, uint8_t high,
                    const uint8_t *restrict input, const uint8_t *restrict filter, const int32_t *restrict bias,
                    uint8_t *restrict out) {
    long width = w + fw - 1, height = h + fh - 1, room = width + PLACES, steps = (fw + 1) / 2;
    uint8_t none[BLOCK];
    memset(none, filter_zero, BLOCK);
    paired(*weights)[VECTORS] = malloc(fh * steps * sizeof *weights), (*rows)[VECTORS] = malloc(fh * room * sizeof *rows);
    for (long z = 0; z < c; z += BLOCK) {
        long channels = least(BLOCK, c - z);
        uint32_t start[BLOCK] = {0}, sum[PLACES][VECTORS][LANES];
        for (long l = 0; l < channels; l++)
            start[l] = bias[z + l];
        for (long dy = 0; dy < fh; dy++)
            for (long dx = 0; dx < fw; dx++) {
                const uint8_t *f = filter + (dy * fw + dx) * c + z;
                if (dx % 2 == 0)
                    pack(channels, f, dx + 1 < fw ? f + c : none, filter_zero, weights[dy * steps + dx / 2]);
                for (long l = 0; l < channels; l++)
                    start[l] -= in_zero * (f[l] - filter_zero);
            }
        for (long b = 0; b < n; b++)
            for (long y = 0; y < h; y++) {
                for (long r = y > 0 ? y + fh - 1 : 0; r < y + fh; r++)
                    for (long x = 0; x < width; x++) {
                        const uint8_t *in = input + ((b * height + r) * width + x) * c + z;
                        pack(channels, in, x + 1 < width ? in + c : in, 0, rows[r % fh * room + x]);
                    }
                for (long x = 0; x < w; x += PLACES) {
                    for (long i = 0; i < PLACES; i++)
                        for (long j = 0; j < VECTORS; j++)
                            VECTOR for (long l = 0; l < LANES; l++)
                                sum[i][j][l] = start[j * LANES + l];
                    for (long dy = 0; dy < fh; dy++)
                        for (long s = 0; s < steps; s++)
                            for (long i = 0; i < PLACES; i++)
                                for (long j = 0; j < VECTORS; j++)
                                    add_products(sum[i][j], &rows[(y + dy) % fh * room + x + i + 2 * s][j],
                                                 &weights[dy * steps + s][j]);
                    uint8_t result[PLACES][VECTORS][LANES];
                    for (long i = 0; i < PLACES; i++)
                        for (long j = 0; j < VECTORS; j++)
                            VECTOR for (long l = 0; l < LANES; l++)
                                result[i][j][l] = requantize(sum[i][j][l], multiplier, shift, out_zero, low, high);
                    for (long i = 0; i < least(PLACES, w - x); i++)
                        memcpy(out + (((b * h + y) * w) + x + i) * c + z, result[i], channels);
                }
            }
    }
    free(weights);
    free(rows);
}
