// The average of a window of bytes, for every second place.
#include "pool.h"

void average_pool(long n, long h, long w, long c, long fh, long fw, uint8_t low, uint8_t high, const uint8_t *restrict input,
                  uint8_t *restrict out) {
    uint32_t inverse = inverse_of(fh * fw);
    long pitch = (2 * w + fw) * c;
    for (long b = 0; b < n; b++)
        for (long y = 0; y < h; y++)
            for (long x = 0; x < w; x++) {
                const uint8_t *in = input + (b * (2 * h + fh) + 2 * y) * pitch + 2 * x * c;
                long at = ((b * h + y) * w + x) * c;
                for (long z = 0; z < c; z += LANES) {
                    long lanes = least(LANES, c - z);
                    uint16_t sum[LANES];
                    sums(lanes, c, fh, fw, pitch, in + z, sum);
                    for (long i = 0; i < lanes; i++) {
                        uint16_t mean = (sum[i] * inverse + 0x8000) >> 16;
                        uint16_t value = mean;
                        value = value > low ? value : low;
                        out[at + z + i] = value < high ? value : high;
                    }
                }
            }
}
