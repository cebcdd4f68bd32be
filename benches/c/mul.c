// The product of two quantised tensors; the shift is not negative.
#include "fixed_point.h"

void mul(long n, uint8_t zero1, uint8_t zero2, int32_t multiplier, int32_t shift, uint8_t out_zero, uint8_t low,
         uint8_t high, const uint8_t *restrict input1, const uint8_t *restrict input2,
         uint8_t *restrict out) {
    shift = shift < 15 ? shift : 15;
    for (long x = 0; x < n; x++) {
        int16_t a = input1[x] - zero1, b = input2[x] - zero2;
        // Both have a factor 64; the product fits in 32 bits and so does what it is scaled to.
        int32_t product = (uint64_t)((int64_t)(a * b * 4096) * multiplier + (1 << 30)) >> 31;
        out[x] = clamp32(rounding_shift(product, shift) + out_zero, low, high);
    }
}
