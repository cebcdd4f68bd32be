// The largest of 5 neighbours along x; the image is continued at its edges, each row in a copy.
#include "stencil.h"

enum { REACH = 2 };

void dilate5x5(long h, long w, const uint8_t *restrict img, uint8_t *restrict out) {
    uint8_t wide[w + 2 * REACH];
    for (long y = 0; y < h; y++) {
        uint8_t *o = out + y * w;
        continued(w, REACH, img + y * w, wide);
        for (long x = 0; x < w; x++) {
            const uint8_t *p = wide + x;
            o[x] = max8(max8(max8(p[0], p[1]), max8(p[2], p[3])), p[4]);
        }
    }
}
