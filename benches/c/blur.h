// Box blur with TAPS taps in each direction, as the function BLUR; SUM(at) is at(0) + … + at(TAPS - 1). Sums are
// modulo 2^16 and each direction is divided by itself. What becomes of each row along x is made once and
// kept for TAPS rows.
#include <stdint.h>

static inline void along_x(long w, const uint16_t *restrict in, uint16_t *restrict o) {
#define AT(i) in[x + i]
    for (long x = 0; x < w; x++)
        o[x] = (uint16_t)(SUM(AT)) / TAPS;
#undef AT
}

void BLUR(long h, long w, const uint16_t *restrict r, uint16_t *restrict out) {
    uint16_t rows[TAPS][w];
    long pitch = w + TAPS - 1;
    for (long y = 0; y < TAPS - 1; y++)
        along_x(w, r + y * pitch, rows[y]);
    for (long y = 0; y < h; y++) {
        along_x(w, r + (y + TAPS - 1) * pitch, rows[(y + TAPS - 1) % TAPS]);
        uint16_t *o = out + y * w;
#define AT(i) rows[i][x]
        for (long x = 0; x < w; x++)
            o[x] = (uint16_t)(SUM(AT)) / TAPS;
#undef AT
    }
}
