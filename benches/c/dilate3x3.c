// The largest of 3x3 neighbours; the image is continued at its edges.
#include "stencil.h"

void dilate3x3(long h, long w, const uint8_t *restrict img, uint8_t *restrict out) {
    uint8_t column[w + 2];
    for (long y = 0; y < h; y++) {
        const uint8_t *a = img + inside(y - 1, h) * w, *b = img + y * w, *c = img + inside(y + 1, h) * w;
        uint8_t *o = out + y * w;
        for (long x = 0; x < w; x++)
            column[x + 1] = max8(max8(a[x], b[x]), c[x]);
        column[0] = column[1], column[w + 1] = column[w];
        for (long x = 0; x < w; x++)
            o[x] = max8(max8(column[x], column[x + 1]), column[x + 2]);
    }
}
