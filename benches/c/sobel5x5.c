// Edge strength after Sobel with 5x5 taps; both strengths are added modulo 256, and the weak part of
// the vertical edges is summed along x like that of the horizontal ones. The strong sums are twice
// the weak ones, so those of each row are made once and kept for five rows.
#include "stencil.h"

static inline int16_t distance(int16_t a, int16_t b) { return a < b ? b - a : a - b; }
static inline uint8_t bounded(int16_t a) { return a < 255 ? a : 255; }

// The sums 1 1 2 1 1 along x, from the column before the first to the one behind the last.
static inline void weak(long w, const uint8_t *restrict row, uint8_t *restrict wide, int16_t *restrict sum) {
    continued(w, 3, row, wide);
    for (long x = 0; x < w + 2; x++)
        sum[x] = wide[x] + wide[x + 1] + 2 * wide[x + 2] + wide[x + 3] + wide[x + 4];
}

void sobel5x5(long h, long w, const uint8_t *restrict img, uint8_t *restrict out) {
    uint8_t wide[w + 6];
    int16_t sums[5][w + 2], column[w + 4];
    for (long y = 0; y < 2 && y < h; y++)
        weak(w, img + y * w, wide, sums[y]);
    for (long y = 0; y < h; y++) {
        if (y + 2 < h)
            weak(w, img + (y + 2) * w, wide, sums[(y + 2) % 5]);
        const uint8_t *in[5];
        const int16_t *s[5];
        for (long i = 0; i < 5; i++) {
            in[i] = img + inside(y + i - 2, h) * w;
            s[i] = sums[inside(y + i - 2, h) % 5] + 1;
        }
        for (long x = 0; x < w; x++)
            column[x + 2] = in[0][x] + in[1][x] + 2 * in[2][x] + in[3][x] + in[4][x];
        column[0] = column[1] = column[2];
        column[w + 3] = column[w + 2] = column[w + 1];
        uint8_t *o = out + y * w;
        for (long x = 0; x < w; x++) {
            int16_t gy = 2 * distance(s[0][x], s[4][x]) + distance(s[1][x], s[3][x]);
            int16_t gx = 2 * distance(column[x], column[x + 4]) + distance(s[2][x - 1], s[2][x + 1]);
            o[x] = bounded(gy) + bounded(gx);
        }
    }
}
