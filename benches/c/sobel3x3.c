// Edge strength after Sobel with 3x3 taps, sums of columns first; the image is continued at its edges.
#include "stencil.h"

static inline int16_t absolute(int16_t a) { return a < 0 ? -a : a; }

void sobel3x3(long h, long w, const uint8_t *restrict img, uint8_t *restrict out) {
    int16_t sum[w + 2], step[w + 2];
    for (long y = 0; y < h; y++) {
        const uint8_t *a = img + inside(y - 1, h) * w, *b = img + y * w, *c = img + inside(y + 1, h) * w;
        uint8_t *o = out + y * w;
        for (long x = 0; x < w; x++) {
            sum[x + 1] = a[x] + 2 * b[x] + c[x];
            step[x + 1] = a[x] - c[x];
        }
        sum[0] = sum[1], sum[w + 1] = sum[w];
        step[0] = step[1], step[w + 1] = step[w];
        for (long x = 0; x < w; x++) {
            int16_t along_x = sum[x] - sum[x + 2];
            int16_t along_y = step[x] + 2 * step[x + 1] + step[x + 2];
            int16_t total = absolute(along_x) + absolute(along_y);
            o[x] = total < 255 ? total : 255;
        }
    }
}
