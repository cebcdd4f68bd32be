// Rows divided by their Euclidean length, as bytes around 128.
#include "fixed_point.h"

void l2norm(long rows, long n, uint8_t zero, const uint8_t *restrict input, uint8_t *restrict out) {
    for (long y = 0; y < rows; y++, input += n, out += n) {
        uint32_t sum = 0;
        for (long k = 0; k < n; k++) {
            int16_t t = input[k] - zero;
            sum += t * t;
        }
        // 1 / sqrt(sum) = 2^(-log2(sum) / 2): 14 bits read as 15 are the half. At most 2^16.
        int32_t inverse = exp2_31(15, -log2_14(sum));
        int32_t rounding = (1 << 7) - zero * inverse;
        for (long x = 0; x < n; x++)
            out[x] = clamp32(((input[x] * inverse + rounding) >> 8) + 128, 0, 255);
    }
}
