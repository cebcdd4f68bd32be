// The median of 3x3 neighbours, by columns; the image is continued at its edges.
#include "stencil.h"

static inline uint8_t middle(uint8_t a, uint8_t b, uint8_t c) { return max8(min8(max8(a, b), c), min8(a, b)); }
static inline uint8_t least(uint8_t a, uint8_t b, uint8_t c) { return min8(min8(a, b), c); }
static inline uint8_t most(uint8_t a, uint8_t b, uint8_t c) { return max8(max8(a, b), c); }

void median3x3(long h, long w, const uint8_t *restrict img, uint8_t *restrict out) {
    uint8_t low[w + 2], mid[w + 2], high[w + 2];
    for (long y = 0; y < h; y++) {
        const uint8_t *a = img + inside(y - 1, h) * w, *b = img + y * w, *c = img + inside(y + 1, h) * w;
        uint8_t *o = out + y * w;
        for (long x = 0; x < w; x++) {
            low[x + 1] = least(a[x], b[x], c[x]);
            mid[x + 1] = middle(a[x], b[x], c[x]);
            high[x + 1] = most(a[x], b[x], c[x]);
        }
        low[0] = low[1], low[w + 1] = low[w];
        mid[0] = mid[1], mid[w + 1] = mid[w];
        high[0] = high[1], high[w + 1] = high[w];
        for (long x = 0; x < w; x++)
            o[x] = middle(least(high[x], high[x + 1], high[x + 2]), most(low[x], low[x + 1], low[x + 2]),
                          middle(mid[x], mid[x + 1], mid[x + 2]));
    }
}
