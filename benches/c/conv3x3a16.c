// A 3x3 convolution with signed 8-bit weights in 16 bits; the image is continued at its edges. Each
// row is widened once, with its edges, and kept for three rows.
#include "stencil.h"

static inline void widen(long w, const uint8_t *restrict row, int16_t *restrict wide) {
    for (long x = 0; x < w; x++)
        wide[x + 1] = row[x];
    wide[0] = wide[1], wide[w + 1] = wide[w];
}

void conv3x3a16(long h, long w, const uint8_t *restrict img, const int8_t *restrict mask, uint8_t *restrict out) {
    int16_t rows[3][w + 2];
    int16_t m[9];
    for (long i = 0; i < 9; i++)
        m[i] = mask[i];
    if (h > 0)
        widen(w, img, rows[0]);
    for (long y = 0; y < h; y++) {
        if (y + 1 < h)
            widen(w, img + (y + 1) * w, rows[(y + 1) % 3]);
        const int16_t *a = rows[inside(y - 1, h) % 3], *b = rows[y % 3], *c = rows[inside(y + 1, h) % 3];
        uint8_t *o = out + y * w;
        for (long x = 0; x < w; x++) {
            int16_t sum = a[x] * m[0] + a[x + 1] * m[1] + a[x + 2] * m[2] + b[x] * m[3] + b[x + 1] * m[4] + b[x + 2] * m[5]
                        + c[x] * m[6] + c[x + 1] * m[7] + c[x + 2] * m[8];
            sum >>= 4;
            o[x] = sum < 0 ? 0 : sum > 255 ? 255 : sum;
        }
    }
}
