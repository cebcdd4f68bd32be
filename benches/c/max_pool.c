// The largest byte of a window, for every second place.
#include "pool.h"

void max_pool(long n, long h, long w, long c, long fh, long fw, uint8_t low, uint8_t high, const uint8_t *restrict input,
              uint8_t *restrict out) {
    long pitch = (2 * w + fw) * c;
    for (long b = 0; b < n; b++)
        for (long y = 0; y < h; y++)
            for (long x = 0; x < w; x++) {
                const uint8_t *in = input + (b * (2 * h + fh) + 2 * y) * pitch + 2 * x * c;
                long at = ((b * h + y) * w + x) * c;
                for (long z = 0; z < c; z += LANES) {
                    long lanes = least(LANES, c - z);
                    uint8_t most[LANES];
                    largest(lanes, c, fh, fw, pitch, in + z, low, most);
                    for (long i = 0; i < lanes; i++) {
                        uint8_t value = most[i];
                        out[at + z + i] = value < high ? value : high;
                    }
                }
            }
}
