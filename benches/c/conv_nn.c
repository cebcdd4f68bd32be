// A layer of a quantised convolutional network: pairs of input channels against blocks of 16 output
// channels, whose filters lie interleaved. What PLACES neighbours see of the image is laid out once
// for all blocks, in pairs of channels that are in all lanes.
#include <stdlib.h>
#include "fixed_point.h"
#include "pairs.h"

enum { PLACES = LANES / 2, BLOCK = 16, VECTORS = BLOCK / LANES };

void conv_nn(long h, long w, long pairs, long blocks, long fh, long fw, uint8_t in_zero, int32_t multiplier,
             int32_t shift, uint8_t out_zero, uint8_t low, uint8_t high, const uint8_t *restrict img,
             const int16_t *restrict filter, const int32_t *restrict bias, uint8_t *restrict out) {
    long columns = PLACES + fw - 1, width = w + fw - 1;
    long size = (h + fh - 1) * width * 2 * pairs;
    int16_t *pixels = malloc(size * sizeof *pixels);
    for (long i = 0; i < size; i++)
        pixels[i] = img[i] - in_zero;
    paired *seen = malloc(fh * columns * pairs * sizeof *seen);
    for (long y = 0; y < h; y++)
        for (long x = 0; x < w; x += PLACES) {
            long places = least(PLACES, w - x);
            for (long dy = 0; dy < fh; dy++)
                for (long dx = 0; dx < columns; dx++) {
                    const int16_t *in = pixels + ((y + dy) * width + least(x + dx, width - 1)) * 2 * pairs;
                    for (long c = 0; c < pairs; c++)
                        spread(&seen[(dy * columns + dx) * pairs + c], in + 2 * c);
                }
            for (long b = 0; b < blocks; b++) {
                uint32_t sum[PLACES][VECTORS][LANES];
                for (long i = 0; i < PLACES; i++)
                    for (long j = 0; j < VECTORS; j++)
                        VECTOR for (long l = 0; l < LANES; l++)
                            sum[i][j][l] = bias[b * BLOCK + j * LANES + l];
                for (long dy = 0; dy < fh; dy++)
                    for (long dx = 0; dx < fw; dx++) {
                        const paired *f = (const paired *)filter + ((dy * fw + dx) * blocks + b) * pairs * VECTORS;
                        const paired *s = seen + (dy * columns + dx) * pairs;
                        for (long c = 0; c < pairs; c++)
                            for (long i = 0; i < PLACES; i++)
                                for (long j = 0; j < VECTORS; j++)
                                    add_products(sum[i][j], &s[i * pairs + c], &f[c * VECTORS + j]);
                    }
                int32_t result[PLACES][BLOCK];
                for (long i = 0; i < PLACES; i++)
                    for (long j = 0; j < VECTORS; j++)
                        VECTOR for (long l = 0; l < LANES; l++)
                            result[i][j * LANES + l] = sum[i][j][l];
                for (long i = 0; i < places; i++)
                    for (long v = 0; v < BLOCK; v++)
                        out[((y * w + x + i) * blocks + b) * BLOCK + v] =
                            requantize(result[i][v], multiplier, shift, out_zero, low, high);
            }
        }
    free(pixels);
    free(seen);
}
