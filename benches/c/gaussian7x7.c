// Gaussian blur with taps 1 6 15 20 15 6 1 in each direction, columns first in 16 bits, then rows in
// 32; the image is continued at its edges.
#include "stencil.h"

void gaussian7x7(long h, long w, const uint8_t *restrict img, uint8_t *restrict out) {
    uint16_t column[w + 6];
    for (long y = 0; y < h; y++) {
        const uint8_t *in[7];
        for (long i = 0; i < 7; i++)
            in[i] = img + inside(y + i - 3, h) * w;
        uint8_t *o = out + y * w;
        for (long x = 0; x < w; x++)
            column[x + 3] = in[0][x] + in[6][x] + 6 * (in[1][x] + in[5][x]) + 15 * (in[2][x] + in[4][x]) + 20 * in[3][x];
        column[0] = column[1] = column[2] = column[3];
        column[w + 5] = column[w + 4] = column[w + 3] = column[w + 2];
        for (long x = 0; x < w; x++) {
            const uint16_t *p = column + x;
            uint16_t outer = p[0] + p[6], middle = p[1] + p[5], inner = p[2] + p[4];
            int32_t sum = (outer + 6 * middle + 15 * inner + 20 * p[3]) >> 12;
            o[x] = sum < 255 ? sum : 255;
        }
    }
}
