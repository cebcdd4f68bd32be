// Gaussian blur with taps 1 4 6 4 1 in each direction, columns first; the image is continued at its
// edges. The greatest sum, 255 * 256, has 16 bits.
#include "stencil.h"

void gaussian5x5(long h, long w, const uint8_t *restrict img, uint8_t *restrict out) {
    uint16_t column[w + 4];
    for (long y = 0; y < h; y++) {
        const uint8_t *a = img + inside(y - 2, h) * w, *b = img + inside(y - 1, h) * w, *c = img + y * w;
        const uint8_t *d = img + inside(y + 1, h) * w, *e = img + inside(y + 2, h) * w;
        uint8_t *o = out + y * w;
        for (long x = 0; x < w; x++)
            column[x + 2] = a[x] + e[x] + 4 * (b[x] + d[x]) + 6 * c[x];
        column[0] = column[1] = column[2];
        column[w + 3] = column[w + 2] = column[w + 1];
        for (long x = 0; x < w; x++) {
            const uint16_t *p = column + x;
            o[x] = (uint16_t)(p[0] + p[4] + 4 * (p[1] + p[3]) + 6 * p[2]) >> 8;
        }
    }
}
