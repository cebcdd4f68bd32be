// Box blur with 7x7 taps; sums are modulo 2^16 and each direction is divided by itself. What
// becomes of each row along x is made once and kept for 7 rows.
#include <stdint.h>

enum { TAPS = 7 };

static inline void along_x(long w, const uint16_t *restrict in, uint16_t *restrict o) {
    for (long x = 0; x < w; x++)
        o[x] = (uint16_t)(in[x] + in[x + 1] + in[x + 2] + in[x + 3] + in[x + 4] + in[x + 5] + in[x + 6]) / TAPS;
}

void blur7x7(long h, long w, const uint16_t *restrict r, uint16_t *restrict out) {
    uint16_t rows[TAPS][w];
    long pitch = w + TAPS - 1;
    for (long y = 0; y < TAPS - 1; y++)
        along_x(w, r + y * pitch, rows[y]);
    for (long y = 0; y < h; y++) {
        along_x(w, r + (y + TAPS - 1) * pitch, rows[(y + TAPS - 1) % TAPS]);
        uint16_t *o = out + y * w;
        for (long x = 0; x < w; x++)
            o[x] = (uint16_t)(rows[0][x] + rows[1][x] + rows[2][x] + rows[3][x] + rows[4][x] + rows[5][x] + rows[6][x]) / TAPS;
    }
}
