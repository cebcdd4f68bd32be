// Box blur with 5x5 taps; sums are modulo 2^16 and each direction is divided by itself. What
// becomes of each row along x is made once and kept for 5 rows.
#include <stdint.h>

enum { TAPS = 5 };

static inline void along_x(long w, const uint16_t *restrict in, uint16_t *restrict o) {
    for (long x = 0; x < w; x++)
        o[x] = (uint16_t)(in[x] + in[x + 1] + in[x + 2] + in[x + 3] + in[x + 4]) / TAPS;
}

void blur5x5(long h, long w, const uint16_t *restrict r, uint16_t *restrict out) {
    uint16_t rows[TAPS][w];
    long pitch = w + TAPS - 1;
    for (long y = 0; y < TAPS - 1; y++)
        along_x(w, r + y * pitch, rows[y]);
    for (long y = 0; y < h; y++) {
        along_x(w, r + (y + TAPS - 1) * pitch, rows[(y + TAPS - 1) % TAPS]);
        uint16_t *o = out + y * w;
        for (long x = 0; x < w; x++)
            o[x] = (uint16_t)(rows[0][x] + rows[1][x] + rows[2][x] + rows[3][x] + rows[4][x]) / TAPS;
    }
}
